"""Indexing tensors: slices, integers, None, Ellipsis; gathers by tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.graph import dims
from checker.graph.dims import Dim, Poly
from checker.interpreter.broadcasting import as_tensor, check_same
from checker.interpreter.hosting import unwrapped
from checker.interpreter.storages import SelectOf, SliceOf
from checker.interpreter.tensors import (
    Tensor,
    arranged,
    filled,
    from_term,
    op,
    regroup,
    split_axis,
)
from checker.interpreter.values import Unknown, Value, type_name

if TYPE_CHECKING:
    from checker.graph.terms import Term
    from checker.interpreter.machine import Machine

_LONG = 64
"""Symbolic sizes (of tokens) are taken to be larger than this where slices are clamped."""


def get(m: Machine, t: Tensor, key: Value) -> Value:
    """`t[key]`."""
    keys = _keys(key)
    for k in keys:
        if isinstance(k, Unknown):
            return k
        if isinstance(k, slice) and m.outline is not None and t.kind != "float":
            for bound in (k.start, k.stop):
                if isinstance(bound, Unknown):
                    return bound  # of numbers of tokens nothing depends that is handed over
    if any(isinstance(k, (Tensor, list, bool)) for k in keys):
        return _gather(m, t, keys)
    return _basic(m, t, keys)


def put(m: Machine, t: Tensor, key: Value, value: Value) -> None:
    """`t[key] = value`."""
    keys = _keys(key)
    if isinstance(value, (list, tuple)):
        value = m.unknown("a list is assigned to a part of a tensor")
    source = as_tensor(m, value)
    if source is None or any(isinstance(k, (Tensor, Unknown, list, bool)) for k in keys):
        t.forget(m, m.unknown("an assignment to computed places of a tensor"))
        return
    _basic(m, t, keys).write(m, source)


def _keys(key: Value) -> list[Value]:
    return [unwrapped(k) for k in (key if isinstance(key, tuple) else (key,))]


def _basic(m: Machine, t: Tensor, keys: list[Value]) -> Tensor:
    """Indexing that gives a view."""
    explicit = sum(1 for k in keys if k is not None and k is not Ellipsis)
    if explicit > len(t.axes):
        raise m.exception("IndexError", f"too many indices for tensor of dimension {len(t.axes)}")
    axis = 0
    for position, k in enumerate(keys):
        if k is Ellipsis:
            axis = len(t.axes) - sum(1 for x in keys[position + 1 :] if x is not None)
        elif k is None:
            t = t.alike(t.storage, (*t.axes[:axis], (), *t.axes[axis:]))
            axis += 1
        elif isinstance(k, slice):
            t = slice_axis(m, t, axis, k)
            axis += 1
        elif isinstance(k, (int, Poly)):
            t = select(m, t, axis, k)
        else:
            raise m.stuck(f"an index of type {type_name(k)}")
    return t


def bounds(m: Machine, size: Dim, key: slice) -> tuple[Dim, Dim]:
    """Start and stop of a slice along an axis of `size`, clamped as Python does."""
    start, stop = _bound(m, size, key.start, 0), _bound(m, size, key.stop, size)
    return start, stop if _at_most(m, start, stop) else start


def _bound(m: Machine, size: Dim, value: Value, default: Dim) -> Dim:
    if value is None:
        return default
    value = unwrapped(value)
    if not isinstance(value, (int, Poly)):
        raise m.stuck("a slice bound that is not a known size")
    result: Dim = value
    if not _at_most(m, 0, result):
        result = size + result
        if not _at_most(m, 0, result):
            return 0
    return result if _at_most(m, result, size) else size


def _at_most(m: Machine, a: Dim, b: Dim) -> bool:
    """Whether `a <= b`, for tensors whose symbolic sizes are not tiny."""
    verdict = dims.at_most(a, b)
    if verdict is None:
        verdict = dims.at_most(_enlarged(a), _enlarged(b))
    if verdict is None:
        raise m.stuck(f"whether {a} is at most {b}")
    return verdict


def _enlarged(dim: Dim) -> Dim:
    """The size with every symbol at least `_LONG` larger than it may be."""
    if isinstance(dim, int):
        return dim
    total: Dim = 0
    for monomial, coefficient in dim.terms:
        product: Dim = coefficient
        for name, power in monomial:
            for _ in range(power):
                product = product * (dims.symbol(name) + _LONG)
        total = total + product
    return total


def slice_axis(m: Machine, t: Tensor, axis: int, key: slice) -> Tensor:
    """`t[..., start:stop:step, ...]` along one tensor axis: a view."""
    size = t.shape(m)[axis]
    step = 1 if key.step is None else key.step
    start, stop = bounds(m, size, key)
    if step != 1:
        return _stepped(m, t, axis, start, stop, step)
    if dims.equal(start, 0) is True and dims.equal(stop, size) is True:
        return t
    if not t.axes[axis] or dims.equal(start, stop) is True:
        raise m.stuck("a slice that leaves nothing of an axis")
    t = regroup(m, t, axis)
    (logical,) = t.axes[axis]
    rank = len(t.term(m).shape)
    if dims.equal(stop - start, 1) is True:
        axes = _without(t.axes, logical)  # the axis stays, as one of size one
        return t.alike(SelectOf(t.storage, logical - rank, start), axes)
    return t.alike(SliceOf(t.storage, logical - rank, start, stop))


def _stepped(m: Machine, t: Tensor, axis: int, start: Dim, stop: Dim, step: Value) -> Tensor:
    """Every `step`-th element of a whole axis: one column of the axis split in two."""
    size = t.shape(m)[axis]
    if not isinstance(step, int) or step < 1:
        raise m.exception("ValueError", "step must be greater than zero")
    rows = dims.exact_div(size, step)
    if (
        rows is None
        or not isinstance(start, int)
        or start >= step
        or dims.equal(stop, size) is not True
    ):
        raise m.stuck("a slice with a step that does not divide its axis")
    t = regroup(m, t, axis)
    (logical,) = t.axes[axis]
    t = split_axis(m, t, logical, (rows, step))
    rank = len(t.term(m).shape)
    storage = SelectOf(t.storage, logical + 1 - rank, start)
    return t.alike(storage, _without(t.axes, logical + 1))


def _without(axes: tuple[tuple[int, ...], ...], logical: int) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(x - (x > logical) for x in g if x != logical) for g in axes)


def select(m: Machine, t: Tensor, axis: int, index: Dim) -> Tensor:
    """`t[..., index, ...]`: a view without the axis."""
    size = t.shape(m)[axis]
    if dims.less(index, 0) is True:
        index = size + index
    if dims.less(index, size) is False or dims.less(index, 0) is True:
        text = f"index {index} is out of bounds for dimension {axis} with size {size}"
        raise m.exception("IndexError", text)
    if not _at_most(m, 0, index) or not _at_most(m, index + 1, size):
        raise m.stuck(f"whether index {index} is within {size}")
    if not t.axes[axis]:
        return t.alike(t.storage, (*t.axes[:axis], *t.axes[axis + 1 :]))
    t = regroup(m, t, axis)
    (logical,) = t.axes[axis]
    rank = len(t.term(m).shape)
    axes = _without((*t.axes[:axis], *t.axes[axis + 1 :]), logical)
    return t.alike(SelectOf(t.storage, logical - rank, index), axes)


def _gather(m: Machine, t: Tensor, keys: list[Value]) -> Value:
    """Indexing by one tensor of integers.

    Rows of a matrix are an embedding; otherwise an opaque gather.
    """
    index = keys[0]
    while len(keys) > 1 and isinstance(keys[-1], slice) and keys[-1] == slice(None):
        keys = keys[:-1]
    if len(keys) != 1 or not isinstance(index, Tensor):
        return m.unknown("advanced indexing with several keys is not interpreted")
    if not t.axes:
        raise m.exception("IndexError", "too many indices for tensor of dimension 0")
    if index.kind != "int":
        return _selected(m, t, index)
    if not t.axes[0]:
        from checker.interpreter.picking import row_of_one

        if not _within(m, index.term(m), 1):
            m.unknown("an index that may be out of bounds")  # a doubt: the row itself is known
        return row_of_one(m, t, index)
    shape = (*index.shape(m), *t.shape(m)[1:])
    value = constant(m, t)
    if value is not None:
        if not _within(m, index.term(m), t.shape(m)[0]):
            m.unknown("an index that may be out of bounds")  # a doubt: the value itself is known
        return filled(m, value, shape, t.kind)
    source, places = arranged(m, t), arranged(m, index)
    logical = tuple(d for d in shape if d != 1)
    if len(source.axes) == 2 and all(len(g) == 1 for g in source.axes):
        return from_term(op(m, "embedding", places.term(m), source.term(m)), shape, t.kind)
    rows = len(source.axes[0])
    term = op(m, "opaque", source.term(m), places.term(m), name="gather", rows=rows, shape=logical)
    return from_term(term, shape, t.kind)


def _selected(m: Machine, t: Tensor, mask: Tensor) -> Value:
    """The rows that a mask over the first axis shows, where it is known how many there are."""
    count = m.counts.get(mask.term(m))
    if mask.kind != "bool" or count is None or len(mask.axes) != 1:
        return m.unknown("a selection by a mask has no known size")
    check_same(m, mask.shape(m)[0], t.shape(m)[0], 0)
    shape = (count, *t.shape(m)[1:])
    logical = tuple(d for d in shape if d != 1)
    source = arranged(m, t)
    term = op(m, "opaque", source.term(m), mask.term(m), name="select rows", shape=logical)
    return from_term(term, shape, t.kind)


def _within(m: Machine, index: Term, size: Dim) -> bool:
    """Whether indices are known to be at least 0 and less than a size."""
    below = m.ranges.get(index)
    if below is None and index.op == "mod" and index.args[1].op == "const":
        below = index.args[1].attr("value")
    return isinstance(below, (int, Poly)) and dims.at_most(below, size) is True


def constant(m: Machine, t: Tensor) -> float | bool | None:
    """The number a tensor is filled with, if it is filled with one."""
    term = t.term(m)
    if term.op in ("const", "full"):
        value = term.attr("value")
        return value if isinstance(value, (int, float)) else None
    return None
