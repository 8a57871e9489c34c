"""Operators that mix the lanes of one axis: norms, means, softmax, argmax."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from checker.graph.dims import equal
from checker.graph.rules import (
    Attrs,
    Rule,
    Rules,
    arity,
    axis_of,
    filled,
    int_attr,
    need,
    number_attr,
    value_of,
)
from checker.graph.terms import summands

if TYPE_CHECKING:
    from checker.graph.terms import Term


def _over_parts(b: Rules, op: str, args: tuple[Term, ...], axis: int, attrs: Attrs) -> Term | None:
    """Lanes that are concatenated along another axis are taken one part at a time."""
    x = args[0]
    along = x.attr("axis")
    if x.op != "concat" or b.deep or not isinstance(along, int) or along == axis:
        return None
    dropped = op in ("mean", "argmax") and along < axis
    parts = (b.op(op, part, *args[1:], **attrs) for part in x.args)
    return b.op("concat", *parts, axis=along + 1 if dropped else along)


def _stacked(b: Rules, x: Term, axis: int) -> Term | None:
    """The sum over an axis along which single lanes were put together: the sum of those lanes."""
    if x.op != "concat" or b.deep or x.attr("axis") != axis:
        return None
    if any(part.shape[axis] != 1 for part in x.args):
        return None
    return b.op("add", *(b.op("mean", part, axis=axis) for part in x.args))


def _vector(op: str, x: Term, vector: Term) -> None:
    fits = vector.rank == 1 and equal(vector.shape[0], x.shape[-1]) is not False
    need(fits, f"{op} of {x.shape} with a vector of {vector.shape}")


def _rms_norm(b: Rules, args: tuple[Term, ...], attrs: Attrs) -> Term:
    """`x / sqrt(mean(x**2) + eps)`, times `offset + w` if there is a weight."""
    arity("rms_norm", args, 1, 2)
    x = args[0]
    need(x.rank >= 1, "rms_norm of a scalar")
    eps, offset = number_attr(attrs, "eps"), number_attr(attrs, "offset", 0)
    for weight in args[1:]:
        _vector("rms_norm", x, weight)
        value = filled(weight)
        if isinstance(value, (int, float)) and value + offset == 1:
            return b.op("rms_norm", x, eps=eps)
        numbers = [value_of(arg) for arg in weight.args] if weight.op == "add" else []
        if len(numbers) == 2 and numbers.count(None) == 1:  # one plus weight, added beforehand
            at = numbers.index(None)
            more = numbers[1 - at]
            if isinstance(more, (int, float)) and weight.args[at].rank == 1:
                return b.op("rms_norm", x, weight.args[at], eps=eps, offset=offset + more)
    if len(args) == 1:
        offset = 0
    full: Attrs = {"eps": eps, "offset": offset}
    parts = _over_parts(b, "rms_norm", args, -1, full)
    if parts is not None:
        return parts
    if x.op == "repeat" and x.attr("axis") != -1 and not b.deep:
        return b.op("repeat", b.op("rms_norm", x.args[0], *args[1:], **full), **dict(x.attrs))
    return b.make("rms_norm", args, x.shape, **full)


def _layer_norm(b: Rules, args: tuple[Term, ...], attrs: Attrs) -> Term:
    arity("layer_norm", args, 1, 2, 3)
    for vector in args[1:]:
        _vector("layer_norm", args[0], vector)
    full: Attrs = {"eps": number_attr(attrs, "eps")}
    parts = _over_parts(b, "layer_norm", args, -1, full)
    return b.make("layer_norm", args, args[0].shape, **full) if parts is None else parts


def _mean(b: Rules, args: tuple[Term, ...], attrs: Attrs) -> Term:
    arity("mean", args, 1)
    x = args[0]
    axis = axis_of(x, int_attr(attrs, "axis"))
    at = x.rank + axis
    shape = (*x.shape[:at], *x.shape[at + 1 :])
    if x.op == "full":
        return b.full(filled(x) or 0, shape)
    axes = x.attr("axes") if x.op == "expand" else None
    if isinstance(axes, tuple) and axes[at] is None:
        return b.op("expand", x.args[0], axes=(*axes[:at], *axes[at + 1 :]), shape=shape)
    total = _stacked(b, x, axis)
    if total is not None:
        return b.op("mul", b.const(1 / len(x.args)), total)
    if x.op in ("add", "mul") and any(_constant_along(arg, at) for arg in summands(x)):
        return _spread(b, x, axis, at)
    parts = _over_parts(b, "mean", args, axis, {"axis": axis})
    return b.make("mean", (x,), shape, axis=axis) if parts is None else parts


def _constant_along(x: Term, at: int) -> bool:
    """Whether an axis was made by repeating what is there."""
    axes = x.attr("axes") if x.op == "expand" else None
    return isinstance(axes, tuple) and axes[at] is None


def _spread(b: Rules, x: Term, axis: int, at: int) -> Term:
    """The mean of a sum, or of a product, of which some operands do not vary along the axis."""
    if x.op == "add":
        means = (b.op("mean", arg, axis=axis) if arg.rank else arg for arg in summands(x))
        return b.op("add", *means)
    still = [arg for arg in x.args if _constant_along(arg, at) or not arg.rank]
    rest = [arg for arg in x.args if arg not in still]
    factors = [b.op("mean", arg, axis=axis) if arg.rank else arg for arg in still]
    if rest:
        factors.append(b.op("mean", b.op("mul", *rest) if len(rest) > 1 else rest[0], axis=axis))
    return b.op("mul", *factors)


def _sum(b: Rules, args: tuple[Term, ...], attrs: Attrs) -> Term:
    arity("sum", args, 1)
    axis = axis_of(args[0], int_attr(attrs, "axis"))
    total = _stacked(b, args[0], axis)
    if total is not None:
        return total
    return b.op("mul", b.const(args[0].shape[axis]), b.op("mean", args[0], axis=axis))


def _softmax(b: Rules, args: tuple[Term, ...], attrs: Attrs) -> Term:
    arity("softmax", args, 1)
    axis = axis_of(args[0], int_attr(attrs, "axis"))
    parts = _over_parts(b, "softmax", args, axis, {"axis": axis})
    return b.make("softmax", args, args[0].shape, axis=axis) if parts is None else parts


def _argmax(b: Rules, args: tuple[Term, ...], attrs: Attrs) -> Term:
    arity("argmax", args, 1)
    x = args[0]
    axis = axis_of(x, int_attr(attrs, "axis"))
    if x.op == "softmax" and x.attr("axis") == axis:  # which keeps the order
        return b.op("argmax", x.args[0], axis=axis)
    at = x.rank + axis
    parts = _over_parts(b, "argmax", args, axis, {"axis": axis})
    shape = (*x.shape[:at], *x.shape[at + 1 :])
    return b.make("argmax", args, shape, axis=axis) if parts is None else parts


RULES: Final[dict[str, Rule]] = {
    "rms_norm": _rms_norm,
    "layer_norm": _layer_norm,
    "mean": _mean,
    "sum": _sum,
    "softmax": _softmax,
    "argmax": _argmax,
}
