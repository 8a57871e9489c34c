"""Cutting and joining: slice, select, concat, stack, slice_update."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from checker.graph.dims import Dim, at_most, dim_mul, dim_sum, equal, exact_div, same
from checker.graph.joining import join
from checker.graph.lanes import ELEMENTWISE, lanes, rebuild_along
from checker.graph.rotary import rotated
from checker.graph.rules import (
    Attrs,
    Rule,
    Rules,
    arity,
    axes_attr,
    axis_of,
    dim_attr,
    int_attr,
    is_dim,
    need,
    with_axis,
)
from checker.graph.terms import summands

if TYPE_CHECKING:
    from checker.graph.terms import Attr, Shape, Term

_SELECTABLE: Final = ELEMENTWISE | {
    "linear",
    "rms_norm",
    "layer_norm",
    "embedding",
    "concat",
    "slice",
    "rope",
}


def _bound(value: Attr, size: Dim, default: Dim) -> Dim:
    """A slice bound as Python takes it: None, negative, or beyond the end."""
    if value is None:
        return default
    need(is_dim(value), f"a slice bound is {value}")
    bound: Dim = dim_attr({"bound": value}, "bound")
    if isinstance(bound, int) and bound < 0:
        bound = bound + size
    if at_most(size, bound):
        return size
    return 0 if at_most(bound, 0) else bound


def _slice(b: Rules, args: tuple[Term, ...], attrs: Attrs) -> Term:
    arity("slice", args, 1)
    x = args[0]
    axis = axis_of(x, int_attr(attrs, "axis"))
    size = x.shape[axis]
    start = _bound(attrs.get("start"), size, 0)
    stop = _bound(attrs.get("stop"), size, size)
    if at_most(stop, start):
        stop = start
    if same(start, 0) and same(stop, size):
        return x
    shape = with_axis(x.shape, axis, stop - start)
    inside = None if b.deep else _slice_inside(b, x, axis, start, stop)
    if inside is not None:
        return inside
    return b.make("slice", (x,), shape, axis=axis, start=start, stop=stop)


def _slice_inside(b: Rules, x: Term, axis: int, start: Dim, stop: Dim) -> Term | None:
    shape = with_axis(x.shape, axis, stop - start)
    if x.op == "full":
        return b.make("full", (), shape, value=x.attr("value"))
    if x.op == "empty":
        return b.empty(shape)
    if x.op == "slice":
        return _slice_of_slice(b, x, axis, start, stop)
    if x.op == "concat" and x.attr("axis") == axis:
        return _slice_of_concat(b, x, axis, start, stop)
    if x.op == "rope" and axis == -1:
        return _slice_of_rope(b, x, start, stop)
    if x.op in ("unflatten", "flatten"):
        reshaped = _slice_of_reshape(b, x, axis, start, stop)
        if reshaped is not None:
            return reshaped
    along = lanes(x, axis)
    if along is None:
        return None
    cut = tuple(
        arg if lane is None else b.op("slice", arg, axis=lane, start=start, stop=stop)
        for arg, lane in zip(summands(x), along, strict=True)
    )
    return rebuild_along(b, x, cut, shape)


def _slice_of_slice(b: Rules, x: Term, axis: int, start: Dim, stop: Dim) -> Term | None:
    attrs = dict(x.attrs)
    inner = int_attr(attrs, "axis")
    if inner == axis:
        first = dim_attr(attrs, "start")
        return b.op("slice", x.args[0], axis=axis, start=first + start, stop=first + stop)
    below = b.op("slice", x.args[0], axis=axis, start=start, stop=stop)
    if below.op == "slice" and below.args[0] is x.args[0] and inner > axis:
        return None
    return b.op("slice", below, **attrs)


def _slice_of_rope(b: Rules, x: Term, start: Dim, stop: Dim) -> Term | None:
    """What is not turned is as it was; what is turned whole is turned by itself."""
    dim = int_attr(dict(x.attrs), "dim")
    outside, whole = at_most(dim, start), same(start, 0) and at_most(dim, stop)
    if not outside and not whole:
        return None
    cut = b.op("slice", x.args[0], axis=-1, start=start, stop=stop)
    return cut if outside else b.rebuild(x, (cut, x.args[1]))


def _slice_of_concat(b: Rules, x: Term, axis: int, start: Dim, stop: Dim) -> Term | None:
    """The parts between the bounds, if it is known which they are."""
    pieces: list[Term] = []
    at: Dim = 0
    for part in x.args:
        end = at + part.shape[axis]
        if not (at_most(end, start) or at_most(stop, at)):
            low = 0 if at_most(start, at) else start - at if at_most(at, start) else None
            high = end - at if at_most(end, stop) else stop - at if at_most(stop, end) else None
            if low is None or high is None:
                return None
            pieces.append(b.op("slice", part, axis=axis, start=low, stop=high))
        at = end
    if not pieces or not same(dim_sum(p.shape[axis] for p in pieces), stop - start):
        return None
    return b.op("concat", *pieces, axis=axis)


def _slice_of_reshape(b: Rules, x: Term, axis: int, start: Dim, stop: Dim) -> Term | None:
    """Whole blocks of the outermost of merged or split axes are one range of the other layout."""
    at = int_attr(dict(x.attrs), "axis")
    source = x.args[0]
    if x.op == "unflatten":
        outer = at - (x.rank - source.rank)
        if axis != outer:
            return None
        sizes = x.shape[outer : at + 1 or None]
        inner = dim_mul(sizes[1:])
        cut = b.op("slice", source, axis=at, start=start * inner, stop=stop * inner)
        return b.op("unflatten", cut, axis=at, sizes=(stop - start, *sizes[1:]))
    if axis != at:
        return None
    count = source.rank - x.rank + 1
    outer = at - count + 1
    inner = dim_mul(source.shape[outer + 1 : at + 1 or None])
    low, high = exact_div(start, inner), exact_div(stop, inner)
    if low is None or high is None:
        return None
    cut = b.op("slice", source, axis=outer, start=low, stop=high)
    return b.op("flatten", cut, axis=at, count=count)


def _select(b: Rules, args: tuple[Term, ...], attrs: Attrs) -> Term:
    arity("select", args, 1)
    x = args[0]
    axis = axis_of(x, int_attr(attrs, "axis"))
    index = dim_attr(attrs, "index")
    size = x.shape[axis]
    if isinstance(index, int) and index < 0:
        index = index + size
    need(at_most(size, index) is not True and at_most(0, index) is not False, f"index {index}")
    at = x.rank + axis
    shape = (*x.shape[:at], *x.shape[at + 1 :])
    inside = None if b.deep else _select_inside(b, x, axis, index, shape)
    if inside is not None:
        return inside
    return b.make("select", (x,), shape, axis=axis, index=index)


def _select_inside(b: Rules, x: Term, axis: int, index: Dim, shape: Shape) -> Term | None:
    attrs = dict(x.attrs)
    match x.op:
        case "full":
            return b.make("full" if shape else "const", (), shape, value=x.attr("value"))
        case "slice" if attrs["axis"] == axis:
            start = dim_attr(attrs, "start")
            return b.op("select", x.args[0], axis=axis, index=start + index)
        case "concat" if attrs["axis"] == axis:
            return _select_of_concat(b, x, axis, index)
        case "unflatten":
            return _select_of_unflatten(b, x, axis, index)
        case "stack" if attrs["axis"] == axis and isinstance(index, int):
            return x.args[index]
        case "expand":
            return _select_of_expand(b, x, axis, index, shape)
        case "iota":
            return b.const(index)
        case "rope" if axis != -2 or x.rank != 3:
            return None
    along = lanes(x, axis) if x.op in _SELECTABLE else None
    if along is None or (x.op == "linear" and axis == -1):
        return None
    cut = tuple(
        arg if lane is None else b.op("select", arg, axis=lane, index=index)
        for arg, lane in zip(summands(x), along, strict=True)
    )
    if "axis" in attrs and axis > int_attr(attrs, "axis"):
        attrs["axis"] = int_attr(attrs, "axis") + 1
    return b.op(x.op, *cut, **attrs)


def _select_of_concat(b: Rules, x: Term, axis: int, index: Dim) -> Term | None:
    at: Dim = 0
    for part in x.args:
        end = at + part.shape[axis]
        if at_most(end, index) is None or at_most(at, index) is None:
            return None
        if at_most(at, index) and not at_most(end, index):
            return b.op("select", part, axis=axis, index=index - at)
        at = end
    return None


def _select_of_unflatten(b: Rules, x: Term, axis: int, index: Dim) -> Term | None:
    at = int_attr(dict(x.attrs), "axis")
    source = x.args[0]
    outer = at - (x.rank - source.rank)
    if axis != outer:
        return None
    rest = x.shape[outer + 1 : at + 1 or None]
    inner = dim_mul(rest)
    cut = b.op("slice", source, axis=at, start=index * inner, stop=(index + 1) * inner)
    return cut if len(rest) == 1 else b.op("unflatten", cut, axis=at, sizes=rest)


def _select_of_expand(b: Rules, x: Term, axis: int, index: Dim, shape: Shape) -> Term:
    below = x.args[0]
    axes = list(axes_attr(dict(x.attrs), below.rank))
    source = axes.pop(x.rank + axis)
    if source is not None:
        below = b.op("select", below, axis=source - below.rank, index=index)
        axes = [a - 1 if a is not None and a > source else a for a in axes]
    return b.op("expand", below, axes=tuple(axes), shape=shape)


def _concat(b: Rules, args: tuple[Term, ...], attrs: Attrs) -> Term:
    need(bool(args), "concat takes at least one operand")
    axis = axis_of(args[0], int_attr(attrs, "axis", -1))
    shape = args[0].shape
    for part in args[1:]:
        need(part.rank == len(shape), "concat of tensors of different ranks")
        for i in range(-len(shape), 0):
            fits = i == axis or equal(part.shape[i], shape[i]) is not False
            need(fits, f"concat along axis {axis} of {shape} and {part.shape}")
    parts: list[Term] = []
    for part in args:
        nested = part.op == "concat" and part.attr("axis") == axis
        for piece in part.args if nested else (part,):
            if same(piece.shape[axis], 0):
                continue
            joined = join(b, parts[-1], piece, axis) if parts and not b.deep else None
            if joined is None:
                parts.append(piece)
            else:
                parts[-1] = joined
    if not parts:
        return args[0]
    if len(parts) == 1:
        return parts[0]
    known = None if b.deep or axis != -1 else rotated(b, tuple(parts))
    if known is not None:
        return known
    total = dim_sum(part.shape[axis] for part in parts)
    return b.make("concat", tuple(parts), with_axis(shape, axis, total), axis=axis)


def _slice_update(b: Rules, args: tuple[Term, ...], attrs: Attrs) -> Term:
    """A buffer with a range replaced is its head, the new value and its tail."""
    arity("slice_update", args, 2)
    base, value = args
    axis = axis_of(base, int_attr(attrs, "axis"))
    size = base.shape[axis]
    start = _bound(attrs.get("start"), size, 0)
    stop = _bound(attrs.get("stop"), size, size)
    expected = with_axis(base.shape, axis, stop - start)
    if not value.shape:
        value = b.op("expand", value, axes=(None,) * base.rank, shape=expected)
    need(value.rank == base.rank, f"a value of {value.shape} for a range of {expected}")
    for have, want in zip(value.shape, expected, strict=True):
        need(equal(have, want) is not False, f"a value of {value.shape} for a range of {expected}")
    head = b.op("slice", base, axis=axis, start=0, stop=start)
    tail = b.op("slice", base, axis=axis, start=stop, stop=size)
    return b.op("concat", head, value, tail, axis=axis)


def _stack(b: Rules, args: tuple[Term, ...], attrs: Attrs) -> Term:
    """Tensors along a new axis; `axis` is the new axis' place in the result."""
    need(bool(args), "stack takes at least one operand")
    rank = args[0].rank + 1
    axis = int_attr(attrs, "axis")
    axis = axis - rank if axis >= 0 else axis
    need(-rank <= axis < 0, f"stack along axis {axis} of {rank}")
    for part in args[1:]:
        need(part.shape == args[0].shape, f"stack of {args[0].shape} and {part.shape}")
    count = len(args)
    if axis < -1:
        size = args[0].shape[axis + 1]
        joined = b.op("concat", *args, axis=axis + 1)
        return b.op("unflatten", joined, axis=axis + 1, sizes=(count, size))
    return b.make("stack", args, (*args[0].shape, count), axis=axis)


RULES: Final[dict[str, Rule]] = {
    "slice": _slice,
    "select": _select,
    "concat": _concat,
    "slice_update": _slice_update,
    "stack": _stack,
}
