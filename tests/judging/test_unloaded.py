"""Parameters that nothing reached are paired with dropped tensors by how they are used."""

from checker.graph.builder import Builder
from checker.graph.dims import symbol
from checker.graph.terms import Pool, Term
from checker.judging.unloaded import stand_ins, substituted

S = symbol("S")


def draft(b: Builder, names: dict[str, str], loaded: bool, eps: float = 1e-5) -> Term:
    """A small draft whose tensors go by the given names."""

    def param(name: str, shape: tuple[int, ...]) -> Term:
        return b.param(names[name], shape, loaded=loaded)

    x = b.input("x", (S, 8))
    embeds = b.op("rms_norm", b.input("e", (S, 8)), param("first", (8,)), eps=eps)
    hidden = b.op("rms_norm", x, param("second", (8,)), eps=eps)
    both = b.op("concat", embeds, hidden, axis=-1)
    key = b.op("linear", both, param("k", (8, 16)))
    value = b.op("linear", both, param("v", (8, 16)))
    gate = b.op("silu", b.op("linear", key, param("gate", (8, 8))))
    return b.op("add", b.op("mul", gate, b.op("linear", value, param("up", (8, 8)))), x)


NAMES = ("first", "second", "k", "v", "gate", "up")
TRAINED = {name: f"layers.0.{name}" for name in NAMES}
SERVED = {name: f"unloaded:somewhere.{index}" for index, name in enumerate(NAMES)}


def test_every_parameter_finds_its_tensor_by_structure_alone() -> None:
    b = Builder(Pool())
    train, serve = draft(b, TRAINED, True), draft(b, SERVED, False)
    found = stand_ins([train], [serve], TRAINED.values())
    assert {str(m.attr("name")): str(t.attr("name")) for m, t in found.items()} == {
        SERVED[name]: TRAINED[name] for name in NAMES
    }
    assert substituted(b, [serve], found, {}) == [train]


def test_another_difference_does_not_stop_the_pairing() -> None:
    b = Builder(Pool())
    train, serve = draft(b, TRAINED, True), draft(b, SERVED, False, eps=1e-6)
    found = stand_ins([train], [serve], TRAINED.values())
    assert len(found) == len(NAMES)
    assert substituted(b, [serve], found, {}) == [draft(b, TRAINED, True, eps=1e-6)]


def test_a_tensor_that_was_not_dropped_stands_for_nothing() -> None:
    b = Builder(Pool())
    train, serve = draft(b, TRAINED, True), draft(b, SERVED, False)
    found = stand_ins([train], [serve], [TRAINED["k"]])
    assert {str(t.attr("name")) for t in found.values()} <= {TRAINED["k"]}
