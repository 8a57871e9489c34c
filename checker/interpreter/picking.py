"""Picking out of tensors: the largest along an axis, gathers, repetition.

What chooses among the rows of an axis of size one chooses that row, whatever its index is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.graph import dims
from checker.graph.dims import Poly
from checker.graph.rules import filled as filled_with
from checker.interpreter import products, shaping, tiling
from checker.interpreter.casting import copied
from checker.interpreter.joining import axis_index
from checker.interpreter.storages import is_whole
from checker.interpreter.tensors import Root, Tensor, arranged, op, regroup, unknown_tensor
from checker.interpreter.values import Unknown, Value

if TYPE_CHECKING:
    from checker.interpreter.machine import Machine


def largest(
    m: Machine, t: Value, dim: Value = None, keepdim: Value = False, **options: Value
) -> Value:
    """torch.max along an axis: the values, and where they stand."""
    if not isinstance(t, Tensor) or not isinstance(dim, int) or isinstance(dim, bool) or options:
        return m.unknown("torch.max otherwise than of one tensor along one axis")
    where = axis_index(m, t, dim)
    indices = products.reduce(m, "argmax", t, dim, keepdim)
    t = regroup(m, t, where) if t.axes else t
    keep = m.truth(keepdim, "keepdim")
    if not t.axes or not t.axes[where]:
        kept = t.axes if keep or not t.axes else (*t.axes[:where], *t.axes[where + 1 :])
        return copied(m, t.alike(t.storage, kept)), indices
    (logical,) = t.axes[where]
    shape = t.term(m).shape
    left = (*shape[:logical], *shape[logical + 1 :])
    term = op(m, "opaque", t.term(m), name="max", axis=logical - len(shape), shape=left)
    axes = [tuple(x - (x > logical) for x in g if x != logical) for g in t.axes]
    if not keep:
        del axes[where]
    return t.alike(Root(term), tuple(axes)), indices


def largest_few(
    m: Machine, t: Value, k: Value, dim: Value = -1, largest_: Value = True, **options: Value
) -> Value:
    """torch.topk of one: what torch.max gives, the axis kept."""
    if k != 1 or largest_ is not True or options.keys() - {"sorted"}:
        return m.unknown("torch.topk of several")
    return largest(m, t, dim, True)


def row_of_one(m: Machine, t: Tensor, index: Tensor) -> Value:
    """`t[index]` where the first axis has one row: that row, once for each index."""
    rest = t.alike(t.storage, t.axes[1:])
    return copied(m, shaping.expand(m, rest, *index.shape(m), *rest.shape(m)))


def gather(m: Machine, t: Value, dim: Value, index: Value, **options: Value) -> Value:
    """torch.gather."""
    if not isinstance(t, Tensor) or not isinstance(index, Tensor) or options:
        return m.unknown("a gather of something that is no tensor")
    where = axis_index(m, t, dim)
    wanted, shape = list(index.shape(m)), list(t.shape(m))
    if len(wanted) == len(shape):
        others = (i for i in range(len(shape)) if i != where)
        if not t.axes[where] and all(dims.equal(shape[i], wanted[i]) is True for i in others):
            return copied(m, shaping.expand(m, t, *wanted))
    source, places = arranged(m, t), arranged(m, index)
    logical = tuple(d for d in wanted if d != 1)
    layout = str((source.axes, places.axes))
    term = op(
        m,
        "opaque",
        source.term(m),
        places.term(m),
        name="gather along",
        axis=where,
        layout=layout,
        shape=logical,
    )
    made = unknown_tensor(m, "", tuple(wanted), t.kind)
    return made.alike(Root(term))


def repeat(m: Machine, t: Tensor, *sizes: Value, **named: Value) -> Value:
    """Tensor.repeat: axes of size one are broadcast by any size, others are put side by side."""
    whole = t
    times = shaping.flat_sizes(sizes or (named.pop("repeats"),))
    for size in times:
        if isinstance(size, Unknown):
            return size
        if not isinstance(size, (int, Poly)):
            return m.unknown("a repetition by something that is no number")
    if len(times) < len(t.axes):
        raise m.exception("RuntimeError", "repeat(): fewer sizes than dimensions")
    t = t.alike(t.storage, ((),) * (len(times) - len(t.axes)) + t.axes)
    once = [isinstance(n, int) and n == 1 for n in times]
    if all(alone or not axes for alone, axes in zip(once, t.axes, strict=True)):
        return copied(
            m, shaping.expand(m, t, *[-1 if o else n for o, n in zip(once, times, strict=True)])
        )
    if not all(isinstance(n, int) for n in times):
        shape = tuple(n * size for n, size in zip(times, t.shape(m), strict=True))
        return unknown_tensor(m, "a repetition of several rows", shape, t.kind)
    return tiling.repeat(m, whole, *times)


def stride(m: Machine, t: Tensor, dim: Value = None) -> Value:
    """Tensor.stride, of a tensor that lies in memory as it is shown."""
    shown = [x for group in t.axes for x in group]
    if not is_whole(t.storage) or shown != sorted(shown):
        return m.unknown("the strides of a view", harmless=True)
    shape = t.shape(m)
    steps = tuple(dims.dim_mul(shape[i + 1 :]) for i in range(len(shape)))
    return steps if dim is None else steps[axis_index(m, t, dim)]


def masked_select(m: Machine, t: Tensor, mask: Value) -> Value:
    """torch.masked_select: which elements these are is known where a mask is true everywhere."""
    if not isinstance(mask, Tensor) or mask.kind != "bool":
        raise m.exception("RuntimeError", "masked_select: expected BoolTensor for mask")
    if mask.shape(m) == t.shape(m) and filled_with(mask.term(m)) == 1:
        return shaping.flatten(m, t)
    return m.unknown("which elements a mask selects")
