"""Axes renamed, split, merged, repeated and broadcast: expand, permute, repeat, (un)flatten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from checker.graph.dims import Dim, dim_mul, equal, same
from checker.graph.lanes import ELEMENTWISE
from checker.graph.rules import (
    Attrs,
    Axes,
    Rule,
    Rules,
    arity,
    axes_attr,
    axis_of,
    dims_attr,
    int_attr,
    need,
    with_axis,
)

if TYPE_CHECKING:
    from checker.graph.terms import Shape, Term


def _expand(b: Rules, args: tuple[Term, ...], attrs: Attrs) -> Term:
    arity("expand", args, 1)
    x = args[0]
    axes, shape = axes_attr(attrs, x.rank), dims_attr(attrs, "shape")
    need(len(axes) == len(shape), f"expand to {shape} with axes {axes}")
    used = [axis for axis in axes if axis is not None]
    need(sorted(used) == list(range(x.rank)), f"expand of {x.rank} axes with axes {axes}")
    for axis, size in zip(axes, shape, strict=True):
        fits = axis is None or equal(x.shape[axis], size) is not False
        need(fits, f"expand of {x.shape} to {shape}")
    if axes == tuple(range(x.rank)):
        return x
    if None not in axes:
        return b.op("permute", x, axes=tuple(used))
    inside = None if b.deep else _expand_inside(b, x, axes, shape)
    return inside if inside is not None else b.make("expand", (x,), shape, axes=axes)


def _expand_inside(b: Rules, x: Term, axes: Axes, shape: Shape) -> Term | None:
    if x.op in ("const", "full"):
        return b.make("full", (), shape, value=x.attr("value"))
    if x.op in ("expand", "permute"):
        inner = axes_attr(dict(x.attrs), x.args[0].rank)
        composed = tuple(None if axis is None else inner[axis] for axis in axes)
        return b.op("expand", x.args[0], axes=composed, shape=shape)
    if x.op in ELEMENTWISE and x.shape:
        wide = [b.op("expand", a, axes=axes, shape=shape) if a.shape else a for a in x.args]
        return b.rebuild(x, tuple(wide))
    if x.op == "concat":
        at = int_attr(dict(x.attrs), "axis") % x.rank
        to = axes.index(at)
        parts = (
            b.op("expand", part, axes=axes, shape=(*shape[:to], part.shape[at], *shape[to + 1 :]))
            for part in x.args
        )
        return b.op("concat", *parts, axis=to - len(shape))
    return None


def _permute(b: Rules, args: tuple[Term, ...], attrs: Attrs) -> Term:
    arity("permute", args, 1)
    x = args[0]
    axes = tuple(axis for axis in axes_attr(attrs, x.rank) if axis is not None)
    need(sorted(axes) == list(range(x.rank)), f"permute of {x.rank} axes to {axes}")
    if axes == tuple(range(x.rank)):
        return x
    shape = tuple(x.shape[axis] for axis in axes)
    if not b.deep:
        if x.op == "full":
            return b.make("full", (), shape, value=x.attr("value"))
        if x.op == "empty":
            return b.empty(shape)
        if x.op in ("permute", "expand"):
            inner = axes_attr(dict(x.attrs), x.args[0].rank)
            composed = tuple(inner[axis] for axis in axes)
            return b.op("expand", x.args[0], axes=composed, shape=shape)
        if x.op in ELEMENTWISE:
            return b.rebuild(
                x, tuple(b.op("permute", a, axes=axes) if a.shape else a for a in x.args)
            )
        if x.op == "linear" and x.rank == len(x.args) == 2:
            return b.op("linear", x.args[1], x.args[0])
        if x.op == "concat":
            to = axes.index(int_attr(dict(x.attrs), "axis") % x.rank) - x.rank
            return b.op("concat", *(b.op("permute", p, axes=axes) for p in x.args), axis=to)
    return b.make("permute", (x,), shape, axes=axes)


def _transpose(b: Rules, args: tuple[Term, ...], _attrs: Attrs) -> Term:
    arity("transpose", args, 1)
    need(args[0].rank == 2, f"transpose of {args[0].shape}")
    return b.op("permute", args[0], axes=(1, 0))


def _repeat(b: Rules, args: tuple[Term, ...], attrs: Attrs) -> Term:
    """Every lane of an axis, `times` times in a row."""
    arity("repeat", args, 1)
    x = args[0]
    axis, times = axis_of(x, int_attr(attrs, "axis")), int_attr(attrs, "times")
    need(times >= 1, f"repeat {times} times")
    if times == 1:
        return x
    shape = with_axis(x.shape, axis, x.shape[axis] * times)
    if x.op in ("full", "empty"):
        return b.make(x.op, (), shape, **dict(x.attrs))
    if x.op == "repeat" and x.attr("axis") == axis:
        return b.op("repeat", x.args[0], axis=axis, times=times * int_attr(dict(x.attrs), "times"))
    return b.make("repeat", (x,), shape, axis=axis, times=times)


def _flatten(b: Rules, args: tuple[Term, ...], attrs: Attrs) -> Term:
    """`count` axes that end at `axis` become one."""
    arity("flatten", args, 1)
    x = args[0]
    axis, count = axis_of(x, int_attr(attrs, "axis")), int_attr(attrs, "count")
    need(1 <= count <= x.rank + axis + 1, f"flatten of {count} axes of {x.shape}")
    if count == 1:
        return x
    first = axis - count + 1
    merged = x.shape[first : axis + 1 or None]
    at = x.rank + first
    shape = (*x.shape[:at], dim_mul(merged), *x.shape[at + count :])
    inside = None if b.deep else _flatten_inside(b, x, axis, count, shape)
    return inside if inside is not None else b.make("flatten", (x,), shape, axis=axis, count=count)


def _flatten_inside(b: Rules, x: Term, axis: int, count: int, shape: Shape) -> Term | None:
    attrs = dict(x.attrs)
    if x.op in ("full", "empty"):
        return b.make(x.op, (), shape, **attrs)
    if x.op == "flatten" and axis - count < int_attr(attrs, "axis") <= axis:
        return b.op("flatten", x.args[0], axis=axis, count=count + int_attr(attrs, "count") - 1)
    if x.op in ELEMENTWISE:
        return b.rebuild(
            x, tuple(b.op("flatten", a, axis=axis, count=count) if a.shape else a for a in x.args)
        )
    if x.op == "unflatten":
        return _merge_split(b, x, axis, count)
    if x.op == "concat":
        at, first = int_attr(attrs, "axis"), axis - count + 1
        if at > axis or at <= first:
            parts = (b.op("flatten", part, axis=axis, count=count) for part in x.args)
            return b.op("concat", *parts, axis=at if at > axis else at + count - 1)
        return None
    return _flatten_expand(b, x, axis, count, shape) if x.op == "expand" else None


def _flatten_expand(b: Rules, x: Term, axis: int, count: int, shape: Shape) -> Term | None:
    """Merging broadcast axes is broadcasting; (axis, broadcast) merged is a repetition."""
    source = x.args[0]
    axes = axes_attr(dict(x.attrs), source.rank)
    end = x.rank + axis + 1
    merged = axes[end - count : end]
    if all(a is None for a in merged):
        rest = (*axes[: end - count], None, *axes[end:])
        return b.op("expand", source, axes=rest, shape=shape)
    single = next((i for i in range(end - count, end) if axes[i] is None and x.shape[i] == 1), None)
    if single is not None:  # an axis of one that was put in is taken out again
        narrow = (*x.shape[:single], *x.shape[single + 1 :])
        below = b.op("expand", source, axes=(*axes[:single], *axes[single + 1 :]), shape=narrow)
        return b.op("flatten", below, axis=axis, count=count - 1)
    start = merged[0]
    if start is not None and merged == tuple(range(start, start + count)):
        below = b.op("flatten", source, axis=start + count - 1 - source.rank, count=count)
        rest = (*axes[: end - count], start, *axes[end:])
        moved = tuple(a - count + 1 if a is not None and a > start else a for a in rest)
        return b.op("expand", below, axes=moved, shape=shape)
    times = x.shape[axis]
    if count == 2 and start is not None and merged[1] is None and isinstance(times, int):
        narrow = (*x.shape[: end - 1], *x.shape[end:])
        below = b.op("expand", source, axes=(*axes[: end - 1], *axes[end:]), shape=narrow)
        return b.op("repeat", below, axis=axis, times=times)
    return None


def _merge_split(b: Rules, x: Term, axis: int, count: int) -> Term | None:
    """Merging axes of which a split made some: undo the split as far as both agree."""
    source, split = x.args[0], int_attr(dict(x.attrs), "axis")
    parts = x.rank - source.rank + 1
    first, split_first = axis - count + 1, split - parts + 1
    sizes = list(x.shape[split_first : split + 1 or None])
    if split_first <= first and axis <= split:
        low = first - split_first
        sizes[low : low + count] = [dim_mul(sizes[low : low + count])]
        return b.op("unflatten", source, axis=split, sizes=tuple(sizes))
    if first <= split_first and split <= axis:
        return b.op("flatten", source, axis=axis, count=count - parts + 1)
    return None


def _unflatten(b: Rules, args: tuple[Term, ...], attrs: Attrs) -> Term:
    arity("unflatten", args, 1)
    x = args[0]
    axis, sizes = axis_of(x, int_attr(attrs, "axis")), dims_attr(attrs, "sizes")
    need(bool(sizes), "unflatten to no axes")
    whole = x.shape[axis]
    need(equal(dim_mul(sizes), whole) is not False, f"unflatten of {whole} to {sizes}")
    if len(sizes) == 1:
        return x
    at = x.rank + axis
    shape = (*x.shape[:at], *sizes, *x.shape[at + 1 :])
    inside = None if b.deep else _unflatten_inside(b, x, axis, sizes, shape)
    return (
        inside if inside is not None else b.make("unflatten", (x,), shape, axis=axis, sizes=sizes)
    )


def _unflatten_inside(b: Rules, x: Term, axis: int, sizes: Shape, shape: Shape) -> Term | None:
    attrs = dict(x.attrs)
    if x.op in ("full", "empty"):
        return b.make(x.op, (), shape, **attrs)
    if x.op == "unflatten":
        split = int_attr(attrs, "axis")
        first = split - (x.rank - x.args[0].rank)
        if first <= axis <= split:
            inner = list(x.shape[first : split + 1 or None])
            inner[axis - first : axis - first + 1] = sizes
            return b.op("unflatten", x.args[0], axis=split, sizes=tuple(inner))
    if x.op in ELEMENTWISE:
        return b.rebuild(
            x, tuple(b.op("unflatten", a, axis=axis, sizes=sizes) if a.shape else a for a in x.args)
        )
    if x.op == "expand":
        return _unflatten_expand(b, x, axis, sizes, shape)
    if x.op == "flatten" and attrs["axis"] == axis:
        return _split_merged(b, x.args[0], axis, int_attr(attrs, "count"), sizes)
    return None


def _unflatten_expand(b: Rules, x: Term, axis: int, sizes: Shape, shape: Shape) -> Term:
    """Splitting a broadcast axis is broadcasting; splitting a kept one is splitting its source."""
    source = x.args[0]
    axes = axes_attr(dict(x.attrs), source.rank)
    at, extra = x.rank + axis, len(sizes) - 1
    split = axes[at]
    if split is None:
        wide: Axes = (*axes[:at], *(None for _ in sizes), *axes[at + 1 :])
        return b.op("expand", source, axes=wide, shape=shape)
    below = b.op("unflatten", source, axis=split - source.rank, sizes=sizes)
    moved = [a + extra if a is not None and a > split else a for a in axes]
    moved[at : at + 1] = range(split, split + extra + 1)
    return b.op("expand", below, axes=tuple(moved), shape=shape)


def _split_merged(b: Rules, source: Term, axis: int, count: int, sizes: Shape) -> Term | None:
    """Splitting what was merged: group both lists of sizes into runs of equal product."""
    have = list(source.shape[axis - count + 1 : axis + 1 or None])
    want = list(sizes)
    runs: list[tuple[list[Dim], list[Dim]]] = []
    while have and want:
        left, right = [have.pop(0)], [want.pop(0)]
        while not same(dim_mul(left), dim_mul(right)):
            if have and len(right) == 1:
                left.append(have.pop(0))
            elif want and len(left) == 1:
                right.append(want.pop(0))
            else:
                return _split_finer(b, source, axis, count, sizes)
        runs.append((left, right))
    if have or want:
        return None
    term, at = source, axis
    for left, right in reversed(runs):
        term = b.op("flatten", term, axis=at, count=len(left))
        term = b.op("unflatten", term, axis=at, sizes=tuple(right))
        at -= len(right)
    return term


def _split_finer(b: Rules, source: Term, axis: int, count: int, sizes: Shape) -> Term | None:
    """The case in which one merged axis is split into several of the wanted sizes."""
    have, want = list(source.shape[axis - count + 1 : axis + 1 or None]), list(sizes)
    runs: list[list[Dim]] = []
    for size in have:
        run: list[Dim] = []
        while want and not (run and same(dim_mul(run), size)):
            run.append(want.pop(0))
        if not same(dim_mul(run), size):
            return None
        runs.append(run)
    if want:
        return None
    term, at = source, axis
    for run in reversed(runs):
        if run:
            term = b.op("unflatten", term, axis=at, sizes=tuple(run))
        else:  # an axis of one for which none of the wanted sizes is left
            term = b.op("select", term, axis=at, index=0)
        at -= len(run)
    return term


RULES: Final[dict[str, Rule]] = {
    "expand": _expand,
    "permute": _permute,
    "transpose": _transpose,
    "repeat": _repeat,
    "flatten": _flatten,
    "unflatten": _unflatten,
}
