"""The contract's wires: the terms that they mean, and what each switch changes."""

from __future__ import annotations

from typing import Any

import pytest
from switches import BASE, ON, document

from checker.contract.terms import ContractTerms, contract_terms
from checker.errors import InputError
from checker.graph.builder import Builder
from checker.graph.difference import Difference, difference
from checker.graph.dims import symbol
from checker.graph.labels import Wire
from checker.graph.matching import Kind
from checker.graph.terms import Pool, Term

S = symbol("S")


def terms(
    pool: Pool, changed: dict[str, Any], doc: dict[str, Any] | None = None, steps: int = 2
) -> ContractTerms:
    return contract_terms(doc or document(), Builder(pool), {**BASE, **changed}, steps)


def differ(left: dict[str, Any], right: dict[str, Any], steps: int = 2) -> Difference:
    pool = Pool()
    a, c = terms(pool, left, steps=steps), terms(pool, right, steps=steps)
    return difference(a.outputs, c.outputs, a.labels)


class Draft:
    """The plain architecture, written by hand with fused and stacked operators."""

    def __init__(self, b: Builder, switches: dict[str, Any]) -> None:
        self.b = b
        self.c = switches
        self.cache: list[tuple[Term, Term]] = []

    def norm(self, name: str, x: Term) -> Term:
        """Written out: x * rsqrt(mean(x * x) + eps), then the weight."""
        b, width = self.b, x.shape[-1]
        mean = b.op("mean", b.op("mul", x, x), axis=-1)
        scale = b.op("rsqrt", b.op("add", mean, b.const(self.c["rms_norm_eps"])))
        axes = (*range(x.rank - 1), None)
        normed = b.op("mul", x, b.op("expand", scale, axes=axes, shape=x.shape))
        weight = b.param(f"{name}.weight", (width,))
        axes = (*(None,) * (x.rank - 1), 0)
        return b.op("mul", b.op("expand", weight, axes=axes, shape=x.shape), normed)

    def stacked(self, x: Term, names: dict[str, int], where: str) -> list[Term]:
        """One linear with the weights one above the other, then split."""
        b, width = self.b, x.shape[-1]
        weights = [b.param(f"layers.0.{where}.{n}.weight", (k, width)) for n, k in names.items()]
        y = b.op("linear", x, b.op("concat", *weights, axis=-2))
        result, at = [], 0
        for size in names.values():
            result.append(b.op("slice", y, axis=-1, start=at, stop=at + size))
            at += size
        return result

    def heads(self, x: Term, count: int, name: str) -> Term:
        y = self.b.op("unflatten", x, axis=-1, sizes=(count, self.c["head_dim"]))
        if self.c["qk_norm"] and name in "qk":
            return self.norm(f"layers.0.self_attn.{name}_norm", y)
        return y

    def attend(self, x: Term, step: int) -> Term:
        b, c = self.b, self.c
        h, kv, d = c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"]
        q, k, v = self.stacked(
            x, {"q_proj": h * d, "k_proj": kv * d, "v_proj": kv * d}, "self_attn"
        )
        where = b.op("add", b.input("positions", (S,)), b.const(1 + step))
        attrs = {"base": float(c["rope_base"]), "dim": d, "style": "half", "scaling": None}
        q = b.op("rope", self.heads(q, h, "q"), where, **attrs)
        k = b.op("rope", self.heads(k, kv, "k"), where, **attrs)
        groups = h // kv
        self.cache.append(
            tuple(b.op("repeat", y, axis=-2, times=groups) for y in (k, self.heads(v, kv, "v")))  # type: ignore[arg-type]
        )
        flat = [y for pair in reversed(self.cache) for y in pair]
        bands = [(0, 0)] * (len(self.cache) - 1) + [(0, None)]
        y = b.op("attention", q, *flat, visible=tuple(bands), scale=d**-0.5)
        weight = b.param("layers.0.self_attn.o_proj.weight", (c["hidden_size"], h * d))
        flat_y = b.op("flatten", y, axis=-1, count=2)
        return b.op("matmul", flat_y, b.op("transpose", weight))

    def step(self, hidden: Term, step: int) -> tuple[Term, Term]:
        """Fused add-norms: every norm takes hidden and residual, and returns both."""
        b, c, n = self.b, self.c, self.c["hidden_size"]
        table = b.param("embed_tokens.weight", (c["vocab_size"], n))
        embeds = b.op("embedding", b.input(f"tokens.{step}", (S,)), table)
        normed = self.norm("layers.0.hidden_norm", hidden)
        residual = normed if c["norm_before_residual"] else hidden
        buffer = b.empty((S, 2 * n))
        for i, half in enumerate((self.norm("layers.0.input_layernorm", embeds), normed)):
            attrs = {"axis": -1, "start": i * n, "stop": (i + 1) * n}
            buffer = b.op("slice_update", buffer, half, **attrs)
        residual = b.op("add", self.attend(buffer, step), residual)
        x = self.norm("layers.0.post_attention_layernorm", residual)
        size = c["intermediate_size"]
        gate, up = self.stacked(x, {"gate_proj": size, "up_proj": size}, "mlp")
        x = b.op("mul", b.op("mul", gate, b.op("sigmoid", gate)), up)
        x = b.op("linear", x, b.param("layers.0.mlp.down_proj.weight", (n, size)))
        stream = b.op("add", x, residual)
        output = self.norm("norm", stream)
        head = b.param("lm_head.weight", (c["draft_vocab_size"], n))
        return b.op("linear", output, head), (output if c["norm_output"] else stream)


@pytest.mark.parametrize(
    "changed",
    [{}, {"norm_before_residual": True}, {"qk_norm": True, "norm_output": True}],
    ids=str,
)
def test_the_contract_means_what_is_written_by_hand(changed: dict[str, Any]) -> None:
    """Three steps, with every operator spelled in another way, give the identical terms."""
    pool = Pool()
    contract = terms(pool, changed, steps=3)
    b = Builder(pool)
    switches = {**BASE, **changed}
    draft = Draft(b, switches)
    width = switches["aux_count"] * switches["target_hidden_size"]
    fc = b.param("fc.weight", (switches["hidden_size"], width))
    hidden = b.op("linear", b.input("features", (S, width)), fc)
    for step in range(3):
        logits, hidden = draft.step(hidden, step)
        assert logits is contract.logits[step]
        assert hidden is contract.feedback[step]


OWNERS: dict[str, set[tuple[str, str, str]]] = {
    "norm_before_residual": {("residual", "operator", "rms_norm")},
    "norm_before_fc": {("fc-input", "operator", "rms_norm")},
    "norm_output": {("feedback", "operator", "rms_norm")},
    "qk_norm": {("q", "operator", "rms_norm"), ("k", "operator", "rms_norm")},
    "attention_bias": {
        (wire, "bias", "param")
        for wire in ("q-projected", "k-projected", "v-projected", "attention-output")
    },
    "mlp_bias": {("mlp", "bias", "param")},
    "sliding_window": {("attention", "visible", "attention")},
}


@pytest.mark.parametrize("switch", OWNERS)
@pytest.mark.parametrize("reverse", [False, True], ids=["trained", "served"])
def test_a_switch_changes_its_own_wires(switch: str, reverse: bool) -> None:
    sides = [{switch: ON[switch]}, {}]
    found = differ(*(sides[::-1] if reverse else sides))
    assert {(e.wire, e.aspect, e.operator) for e in found.edits} == OWNERS[switch]
    assert found.hidden == ()
    assert not found.exhausted


@pytest.mark.parametrize("switch", OWNERS)
def test_a_switch_changes_its_own_wires_whatever_else_is_on(switch: str) -> None:
    rest = {name: value for name, value in ON.items() if name not in (switch, "fc_norm")}
    found = differ({**rest, switch: ON[switch]}, rest)
    assert {edit.wire for edit in found.edits} == {wire for wire, _, _ in OWNERS[switch]}


@pytest.mark.parametrize("reverse", [False, True], ids=["trained", "served"])
def test_norms_of_single_aux_states_are_another_input_of_fc(reverse: bool) -> None:
    sides = [{"fc_norm": True}, {}]
    found = differ(*(sides[::-1] if reverse else sides))
    assert [(e.kind, e.wire) for e in found.edits] == [(Kind.REPLACED, "fc-input")]


@pytest.mark.parametrize(
    ("changed", "wires"),
    [
        ({"rope_base": 10000}, {("q", "base"), ("k", "base")}),
        ({"rope_dim": 8}, {("q", "dim"), ("k", "dim")}),
        ({"aux_count": 4}, {("features", "shape"), ("fused", "shape")}),
        ({"intermediate_size": 100}, {("mlp", "shape")}),
        ({"draft_vocab_size": 400}, {("logits", "shape")}),
        ({"activation": "gelu"}, {("mlp", "operator")}),
        (
            {"rms_norm_eps": 1e-5},
            {
                (wire, "eps")
                for wire in ("embeds-normed", "hidden-normed", "post-attention-normed", "output")
            },
        ),
        (
            {"num_key_value_heads": 4},
            {
                ("k", "sizes"),
                ("v", "sizes"),
                ("k-projected", "shape"),
                ("v-projected", "shape"),
            },
        ),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_a_value_changes_its_own_wires(
    changed: dict[str, Any], wires: set[tuple[str, str]]
) -> None:
    found = differ({}, changed)
    assert {(edit.wire, edit.aspect) for edit in found.edits} == wires


def test_a_layer_less_is_one_edit_a_step() -> None:
    found = differ({"num_hidden_layers": 2}, {})
    assert [(e.kind, e.aspect, e.layer) for e in found.edits] == [(Kind.MISSING, "layer", 1)] * 2


def test_a_layer_more_is_extra_operands_of_the_stream() -> None:
    found = differ({}, {"num_hidden_layers": 2})
    assert {(e.kind, e.wire, e.aspect) for e in found.edits} <= {
        (Kind.EXTRA, "stream", "operand"),
        (Kind.EXTRA, "post-attention-residual", "operand"),
    }


def test_all_switches_at_once_are_still_told_apart() -> None:
    found = differ({}, {**ON, "num_hidden_layers": 1}, steps=3)
    assert not found.exhausted
    assert {edit.wire for edit in found.edits} == {
        "fc-input", "residual", "feedback", "q", "k", "mlp", "attention",
        "q-projected", "k-projected", "v-projected", "attention-output",
    }  # fmt: skip


def test_the_same_switches_differ_in_nothing() -> None:
    for changed in ({}, ON):
        assert differ(changed, changed).edits == ()


def test_every_wire_has_its_term_and_its_partner() -> None:
    pool = Pool()
    a, c = terms(pool, {}), terms(pool, {"norm_before_residual": True})
    found = difference(a.outputs, c.outputs, a.labels)
    first = Wire("residual", 0, 0)
    assert found.aligned[first] == (a.wires[first], c.wires[first])
    assert set(found.aligned) == set(a.wires)


@pytest.mark.parametrize(
    ("wire", "definition"),
    [
        ("mlp", "linear(down_proj"),
        ("mlp", "unheard(post_attention_normed)"),
        ("mlp", "linear(unheard, post_attention_normed)"),
        ("mlp", "linear(down_proj, unheard)"),
        ("mlp", "mlp"),
        ("mlp", "__import__('os').system('true')"),
        ("mlp", "(lambda: 1)()"),
        ("mlp", "[x for x in residual]"),
        ("mlp", "concat()"),
        ("mlp", "heads(residual)"),
        ("mlp", "residual - residual"),
        ("mlp", "linear(down_proj, residual)"),
        ("mlp", "residual[step - 5]"),
        ("mlp", "1 // 0"),
        ("mlp", {"if": "hidden_size", "then": "residual", "else": "residual"}),
        ("mlp", {"next-step": "residual"}),
        ("mlp", "rms_norm(norm, residual, eps=residual)"),
        ("mlp", "x" * 5000),
        ("mlp", "(" * 900 + ")" * 900),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_bad_expression_is_one_clear_error(wire: str, definition: Any) -> None:
    doc = document()
    doc["wires"][wire] = definition
    with pytest.raises(InputError) as caught:
        terms(Pool(), {}, doc)
    assert caught.value.place is not None
    assert caught.value.place.startswith("wires.")
    assert "\n" not in str(caught.value)
