"""Indexing tensors: slices, integers, None, Ellipsis; gathers by tensors."""

from __future__ import annotations

from checker.graph import dims
from checker.graph.dims import Dim, Poly
from checker.interpreter.machine import Machine
from checker.interpreter.tensors import (
    Root,
    SliceOf,
    Tensor,
    filled,
    from_term,
    op,
    regroup,
    unknown_tensor,
)
from checker.interpreter.values import Unknown, Value


def get(m: Machine, t: Tensor, key: Value) -> Value:
    """`t[key]`."""
    keys = list(key) if isinstance(key, tuple) else [key]
    for k in keys:
        if isinstance(k, Unknown):
            return k
    if any(isinstance(k, (Tensor, list)) for k in keys):
        return _gather(m, t, keys)
    return _basic(m, t, keys)


def _basic(m: Machine, t: Tensor, keys: list[Value]) -> Tensor:
    explicit = sum(1 for k in keys if k is not None and k is not Ellipsis)
    if explicit > len(t.axes):
        raise m.exception("IndexError", "too many indices for tensor")
    axis = 0
    for k in keys:
        if k is Ellipsis:
            remaining = sum(1 for x in keys[keys.index(Ellipsis) + 1 :] if x is not None)
            axis = len(t.axes) - remaining
        elif k is None:
            t = t.alike(t.storage, (*t.axes[:axis], (), *t.axes[axis:]))
            axis += 1
        elif isinstance(k, slice):
            t = slice_axis(m, t, axis, k)
            axis += 1
        elif isinstance(k, (int, Poly)) and not isinstance(k, bool):
            t = select(m, t, axis, k)
        else:
            raise m.stuck(f"an index of type {type(k).__name__}")
    return t


def bounds(m: Machine, size: Dim, key: slice) -> tuple[Dim, Dim]:
    """Start and stop of a slice along an axis of `size`, clamped as Python does."""
    if key.step not in (None, 1):
        raise m.stuck("a slice with a step")
    return _bound(m, size, key.start, 0), _bound(m, size, key.stop, size)


def _bound(m: Machine, size: Dim, value: Value, default: Dim) -> Dim:
    if value is None:
        return default
    if isinstance(value, (Unknown, Tensor)) or not isinstance(value, (int, Poly)):
        raise m.stuck("a slice bound that is not a known size")
    result: Dim = value
    if dims.less(result, 0) is True:
        result = size + result
        if dims.less(result, 0) is True:
            return 0
    if isinstance(size, int) and isinstance(result, int):
        return max(0, min(result, size))
    return size if dims.less(size, result) is True else result


def slice_axis(m: Machine, t: Tensor, axis: int, key: slice) -> Tensor:
    """`t[..., start:stop, ...]` along one tensor axis: a view."""
    size = t.shape(m)[axis]
    start, stop = bounds(m, size, key)
    if dims.equal(start, 0) is True and dims.equal(stop, size) is True:
        return t
    if not t.axes[axis]:
        raise m.stuck("a slice that empties an axis of size one")
    t = regroup(m, t, axis)
    (logical,) = t.axes[axis]
    rank = len(t.term(m).shape)
    if stop - start == 1:
        one = t.alike(Root(op(m, "select", t.term(m), axis=logical - rank, index=start)), _without(t.axes, logical))
        return one.alike(one.storage, (*one.axes[:axis], (), *one.axes[axis + 1 :]))
    return t.alike(SliceOf(t.storage, logical - rank, start, stop))


def _without(axes: tuple[tuple[int, ...], ...], logical: int) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(x - (x > logical) for x in g if x != logical) for g in axes)


def select(m: Machine, t: Tensor, axis: int, index: Dim) -> Tensor:
    """`t[..., index, ...]`: the axis is dropped."""
    size = t.shape(m)[axis]
    if dims.less(index, 0) is True:
        index = size + index
    if dims.less(index, size) is False or dims.less(index, 0) is True:
        raise m.exception("IndexError", f"index {index} is out of bounds for dimension {axis} with size {size}")
    group = t.axes[axis]
    if not group:
        return t.alike(t.storage, (*t.axes[:axis], *t.axes[axis + 1 :]))
    t = regroup(m, t, axis)
    (logical,) = t.axes[axis]
    rank = len(t.term(m).shape)
    storage = Root(op(m, "select", t.term(m), axis=logical - rank, index=index))
    axes = _without((*t.axes[:axis], *t.axes[axis + 1 :]), logical)
    return t.alike(storage, axes)


def _gather(m: Machine, t: Tensor, keys: list[Value]) -> Value:
    """Advanced indexing. A constant tensor gives its constant; anything else is an opaque gather."""
    tensors = [k for k in keys if isinstance(k, Tensor)]
    if len(tensors) != len(keys) or len(keys) != 1:
        return _opaque_gather(m, t, keys)
    index = tensors[0]
    value = constant(m, t)
    rest = t.shape(m)[1:]
    if index.kind == "bool":
        return unknown_tensor(m, "a selection by a mask has no known size", rest, t.kind)
    shape = (*index.shape(m), *rest)
    if value is not None:
        return filled(m, value, shape, t.kind)
    term = op(m, "opaque", t.term(m), index.term(m), name="gather", shape=tuple(d for d in shape if d != 1))
    return from_term(term, shape, t.kind)


def _opaque_gather(m: Machine, t: Tensor, keys: list[Value]) -> Value:
    return unknown_tensor(m, "advanced indexing with several keys is not interpreted", t.shape(m), t.kind)


def constant(m: Machine, t: Tensor) -> float | bool | None:
    """The number a tensor is filled with, if it is filled with one."""
    term = t.term(m)
    if term.op in ("const", "full"):
        value = term.attr("value")
        return value if isinstance(value, (int, float)) else None
    return None


def put(m: Machine, t: Tensor, key: Value, value: Value) -> None:
    """`t[key] = value`."""
    from checker.interpreter.tensors import as_tensor

    keys = list(key) if isinstance(key, tuple) else [key]
    source = as_tensor(m, value)
    if source is None or any(isinstance(k, (Tensor, Unknown, list)) for k in keys):
        t.forget(m, m.unknown("an assignment to computed places of a tensor"))
        return
    view = _basic(m, t, keys)
    if isinstance(view.storage, Root) and view.storage is not t.storage:
        t.forget(m, m.unknown("an assignment to one element of a tensor"))
        return
    view.write(m, source)
