"""What a target hands over, told from the outline of its run: which boundary each value is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from checker.graph.dims import symbol
from checker.graph.terms import postorder, unknowns
from checker.interpreter import calls, indexing, outline_kinds
from checker.interpreter.open_values import Untouching
from checker.interpreter.outline_parts import like, note, tensors_of
from checker.interpreter.tensors import Tensor, arranged, from_term, op, unknown_tensor
from checker.interpreter.values import Instance, Native, Unknown, Value

if TYPE_CHECKING:
    from checker.graph.dims import Dim
    from checker.graph.terms import Term
    from checker.interpreter.machine import Machine
    from checker.interpreter.outline import Outline

NOT_A_BOUNDARY = "not-a-boundary"


def natives() -> dict[str, Value]:
    """What stages and summaries of an outline can call beside the usual operators."""
    functions = {
        "layers": _layers,
        "entered": _entered,
        "anything": _anything,
        "unclear": _unclear,
        "apart": _apart,
        "one_of": _one_of,
        "reduced": _reduced,
        "handed_over": _handed_over,
        "is_taken_from": _is_taken_from,
        "is_kept": _is_kept,
        "untouching": _untouching,
        "normed": _normed,
        "norm_of": _norm_of,
    }
    return {name: _native(name, function) for name, function in functions.items()}


def _native(name: str, function: Any) -> Native:
    return Native(name, lambda m, args, kwargs: function(m, *args, **kwargs))


def _outline(m: Machine) -> Outline:
    if m.outline is None:
        raise m.stuck("an outline's operator outside of an outline")
    return m.outline


def _layers(m: Machine, items: Value) -> None:
    _outline(m).mark_layers(items)


def _one_of(m: Machine, items: Value) -> Value:
    return outline_kinds.one_of(m, _outline(m), items)


def _entered(m: Machine, value: Value) -> None:
    _outline(m).entered(m, value if isinstance(value, Tensor) else None)


def _anything(m: Machine, what: Value, value: Value) -> Value:
    """A tensor like another one, of which nothing else is known."""
    found = tensors_of([value])
    if not found:
        if m.debug:
            note(m, f"{what} of {value}", m.trail()[-2])
        return m.unknown(f"{what} of something that is no tensor", harmless=True)
    outline = _outline(m)
    outline.calls += 1
    return like(m, found[0], f"{what} {outline.calls}")


def _unclear(m: Machine, why: Value, value: Value) -> Value:
    """A tensor like another one that may be anything, for a reason of ours."""
    found = tensors_of([value])
    if not found:
        return m.unknown(str(why), harmless=True)
    return unknown_tensor(m, str(why), found[0].shape(m))


def _reduced(m: Machine, value: Value) -> Value:
    """The sum over ranks of what each of them holds; with one rank the value itself."""
    if m.settings.get("tp", 1) == 1 or not isinstance(value, Tensor):
        return value
    source = arranged(m, value)
    logical = source.term(m).shape
    term = op(m, "opaque", source.term(m), name="sum over ranks", shape=logical)
    return from_term(term, value.shape(m), value.kind)


def _apart(m: Machine, function: Value, index: Value, prefix: Value) -> Value:
    """The layer that a function makes; what nothing decides there is followed both ways."""
    outline = _outline(m)
    building = outline.apart()
    try:
        return calls.call(m, function, [], {"idx": index, "prefix": prefix})
    finally:
        outline.building = building


def _is_taken_from(m: Machine, part: Value, whole: Value) -> bool:
    """Whether a tensor is another one, or some rows of it; what was put together is none."""
    if not isinstance(part, Tensor) or not isinstance(whole, Tensor):
        return False
    joined = _outline(m).joined.get(id(whole))
    if joined is not None and joined.whole is whole:
        return False
    term, wanted = part.term(m), whole.term(m)
    return term is wanted or (term.op == "embedding" and term.args[1] is wanted)


def _untouching(m: Machine, what: Value) -> Value:
    """Something of which nothing is known but that it changes nothing that it is given."""
    return Untouching(str(what), m.location())


def _normed(m: Machine, value: Value, norm: Value) -> None:
    """A norm gave this tensor."""
    if isinstance(value, Tensor):
        _outline(m).norms[value.term(m)] = norm


def _norm_of(m: Machine, part: Value) -> Value:
    """The norm that gave a tensor, or one of which it is some rows; None where none did."""
    if not isinstance(part, Tensor):
        return None
    term, norms = part.term(m), _outline(m).norms
    rows_of = term.args[1] if term.op == "embedding" else term
    return norms.get(term, norms.get(rows_of))


def _is_kept(m: Machine, value: Value) -> bool:
    """Whether a tensor itself was put into a list."""
    return any(tensor is value for tensor, _, _ in _outline(m).stored)


def _handed_over(m: Machine, aux: Value) -> Value:
    """The boundaries of what is handed over, in order, and the places of those overwritten later.

    Each is a number, `NOT_A_BOUNDARY`, or None where it cannot be told.
    """
    items = _items(m, aux)
    outline = _outline(m)
    kept: dict[int, list[Term]] = {}
    for tensor, term, _ in outline.stored:
        kept.setdefault(id(tensor), []).append(term)
    boundaries: list[int | str | None] = []
    overwritten: list[int] = []
    for index, (item, final) in enumerate(items):
        if final is None:
            boundaries.append(None)
            continue
        terms = kept.get(id(item))
        first = terms.pop(0) if terms else final
        found = _which(first, outline)
        boundaries.append(found)
        if isinstance(found, int) and first is not final:
            overwritten.append(index)
    return boundaries, overwritten


def _items(m: Machine, aux: Value) -> list[tuple[Value, Term | None]]:
    """The values that are concatenated, with what they are then; the parts of a packed tensor."""
    if isinstance(aux, Unknown):
        raise m.stuck(f"what is handed over is not known: {aux.reason}")
    if aux is None:
        return []
    if isinstance(aux, Instance) and isinstance(aux.data, list):
        aux = aux.data
    if isinstance(aux, (list, tuple)):
        return [part for item in aux for part in _parts(m, item)]
    if not isinstance(aux, Tensor):
        raise m.stuck("what is handed over is neither a list of tensors nor a tensor")
    found = _parts(m, aux)
    if len(found) == 1 and symbol("H") != aux.shape(m)[-1]:
        raise m.stuck("what is handed over is no whole number of hidden states wide")
    return found


def _parts(m: Machine, item: Value) -> list[tuple[Value, Term | None]]:
    """What a packed tensor was made of, or is cut into; a tensor of one state as it is."""
    if not isinstance(item, Tensor):
        return [(item, None)]
    joined = _joined(m, item, item.term(m))
    if joined is not None:
        return joined
    shape = item.shape(m)
    width, count = symbol("H"), _states(shape[-1]) if shape else 0
    if count < 2:
        return [(item, _plain(m, item))]
    cut = (slice(width * i, width * (i + 1)) for i in range(count))
    parts = [indexing.get(m, item, (Ellipsis, part)) for part in cut]
    return [(part, _plain(m, part)) for part in parts]


def _joined(m: Machine, whole: Tensor, term: Term) -> list[tuple[Value, Term | None]] | None:
    """The tensors that were concatenated, those of which they were again included."""
    joined = _outline(m).joined.get(id(whole))
    if joined is None or joined.whole is not whole or joined.term is not term:
        return None
    found: list[tuple[Value, Term | None]] = []
    for part, held in joined.parts:
        if not _states(part.shape(m)[-1]):
            return None  # it was put together of less than states
        found += _joined(m, part, held) or [(part, held)]
    return found


def _states(width: Dim) -> int:
    """How many hidden states wide something is; 0 where it is no whole number of them."""
    return next((n for n in range(1, 65) if symbol("H") * n == width), 0)


def _plain(m: Machine, tensor: Tensor) -> Term:
    return arranged(m, tensor).term(m)


def _which(term: Term, outline: Outline) -> int | str | None:
    """The boundary a value is."""
    for boundary, entry in outline.entries.items():
        if entry is term:
            return boundary
    if unknowns(term):
        outline.unclear += [str(part.attr("reason")) for part in unknowns(term)]
        return None
    known = [outline.entries.get(b) for b in range(outline.layers + 1)]
    if any(entry is None or unknowns(entry) for entry in known):
        for entry in known:
            outline.unclear += [str(u.attr("reason")) for u in unknowns(entry)] if entry else []
        outline.unclear.append("what some layers are given could not be told")
        return None
    if any(_is_rearranged(term, entry) for entry in known if entry is not None):
        outline.unclear.append("whether what was taken apart is put together again")
        return None
    return NOT_A_BOUNDARY


_MOVING = frozenset(
    (
        *("concat", "embedding", "expand", "flatten", "iota", "maximum", "minimum", "permute"),
        *("select", "slice", "unflatten"),
    )
)
"""Operators that choose or move values, and leave each what it is."""


def _is_rearranged(term: Term, entry: Term) -> bool:
    """Whether a value may be a boundary whose parts were moved about: no more is done to it."""
    made, held = postorder(term), postorder(entry)
    if {part for part in made if not part.args} - _constants(made) != {
        part for part in held if not part.args
    }:
        return False
    done, moved = _done(made)
    return moved and done == _done(held)[0]


def _done(terms: list[Term]) -> tuple[set[str], bool]:
    """What is done to values in some terms besides moving them, and whether they are moved."""
    names = [
        str(part.attr("name")) if part.op == "opaque" else part.op for part in terms if part.args
    ]
    done = {name for name in names if name not in _MOVING and name != "reshape"}
    return done, len(done) < len(set(names))


def _constants(terms: list[Term]) -> set[Term]:
    """Numbers, by which values may be chosen."""
    return {part for part in terms if part.op in ("const", "iota")}


__all__ = ["NOT_A_BOUNDARY", "natives"]
