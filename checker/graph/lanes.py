"""Along which axes an operator works lane by lane.

If result lane i of an operator depends on lane i of its operands only (or on all of an operand
that has no such axis), then slices and selections of that axis go into the operands, and a
concatenation along it comes out of them. One table serves all these rewrites.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from checker.graph.rules import axes_attr, axis_attr
from checker.graph.terms import summands

if TYPE_CHECKING:
    from checker.graph.rules import Rules
    from checker.graph.terms import Shape, Term

UNARY: Final = frozenset(
    [
        "exp",
        "cos",
        "sin",
        "tanh",
        "sigmoid",
        "silu",
        "relu",
        "gelu",
        "abs",
        "log",
        "erf",
        "floor",
        "not_",
        "pow",
    ]
)
NARY: Final = frozenset(("add", "mul"))
BINARY: Final = frozenset(
    [
        "power",
        "mod",
        "floordiv",
        "ge",
        "gt",
        "le",
        "lt",
        "eq",
        "ne",
        "and_",
        "or_",
        "maximum",
        "minimum",
    ]
)
ELEMENTWISE: Final = UNARY | NARY | BINARY | {"where"}

Lanes = tuple["int | None", ...]


def lanes(term: Term, axis: int) -> Lanes | None:
    """For each operand the axis that runs along the result's `axis`; None: the operand is constant.

    A sum has as many as it has summands. The whole is None if the operator mixes the lanes of that
    axis. Axes are negative.
    """
    if term.op in ELEMENTWISE:
        return tuple(axis if arg.shape else None for arg in summands(term))
    match term.op:
        case "linear":
            last = (None, -2, -1)
            return last[: len(term.args)] if axis == -1 else _first(term, axis)
        case "rms_norm" | "layer_norm":
            return None if axis == -1 else _first(term, axis)
        case "embedding":
            return None if axis == -1 else (axis + 1, None)
        case "softmax" | "repeat" | "slice":
            return None if axis == term.attr("axis") else _first(term, axis)
        case "concat":
            return None if axis == term.attr("axis") else (axis,) * len(term.args)
        case "mean" | "argmax" | "select":
            return _first(term, _before_drop(term, axis))
        case "rope":
            if axis == -1:
                return None
            return (axis, -1 if axis == -term.rank else None)
        case "choose":
            return (None, axis, axis)
        case "expand" | "permute":
            return (_source_axis(term, axis),)
        case "unflatten" | "flatten":
            at = _reshaped_axis(term, axis)
            return None if at is None else (at,)
    return None


def rebuild_along(b: Rules, term: Term, args: tuple[Term, ...], shape: Shape) -> Term:
    """The operator over operands cut or joined along an axis; `shape` is the new result's."""
    if term.op == "expand":
        return b.op("expand", *args, axes=term.attr("axes"), shape=shape)
    return b.rebuild(term, args)


def _first(term: Term, axis: int) -> Lanes:
    return (axis,) + (None,) * (len(term.args) - 1)


def _before_drop(term: Term, axis: int) -> int:
    dropped = axis_attr(term)
    return axis if axis > dropped else axis - 1


def _source_axis(term: Term, axis: int) -> int | None:
    source = axes_attr(dict(term.attrs), term.args[0].rank)[axis]
    return None if source is None else source - term.args[0].rank


def _reshaped_axis(term: Term, axis: int) -> int | None:
    """The operand's axis that a result axis of `unflatten` or `flatten` simply is, if it is one."""
    at = axis_attr(term)
    if axis > at:
        return axis
    extra = term.rank - term.args[0].rank
    if term.op == "unflatten":
        return axis + extra if axis < at - extra else None
    return axis + extra if axis < at else None
