"""Joining and cutting tensors: cat, stack, split, chunk, narrow, unbind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.graph import dims
from checker.graph.dims import Dim, Poly
from checker.interpreter.broadcasting import check_same, common_integer, factors_of
from checker.interpreter.casting import copied
from checker.interpreter.indexing import select, slice_axis
from checker.interpreter.iteration import iterate
from checker.interpreter.storages import Root, with_axis
from checker.interpreter.tensors import Tensor, arranged, op, regroup
from checker.interpreter.values import Unknown, Value, type_name

if TYPE_CHECKING:
    from checker.interpreter.machine import Machine


def axis_index(m: Machine, t: Tensor, dim: Value, extra: int = 0) -> int:
    """A tensor axis as a non-negative number."""
    rank = len(t.axes) + extra
    if isinstance(dim, bool) or not isinstance(dim, int):
        raise m.exception("TypeError", f"dim must be an int, not {type_name(dim)}")
    if not -max(rank, 1) <= dim < max(rank, 1):
        raise m.exception("IndexError", f"Dimension out of range (got {dim})")
    return dim % rank if rank else 0


def cat(m: Machine, tensors: Value, dim: Value = 0, axis: Value = None, out: Value = None) -> Value:
    """torch.cat."""
    items = operands(m, tensors, "cat")
    if isinstance(items, Unknown):
        return items
    where = axis_index(m, items[0], dim if axis is None else axis)
    made = join(m, items, where)
    if isinstance(out, Tensor):
        out.update(m, made)
        return out
    if m.outline is not None and isinstance(made, Tensor):
        m.outline.join(m, items, made, where == len(items[0].axes) - 1)
    return made


def operands(m: Machine, tensors: Value, name: str) -> list[Tensor] | Unknown:
    """The operands of a join, or why they are not known."""
    if isinstance(tensors, (Unknown, Tensor)):
        return tensors if isinstance(tensors, Unknown) else m.unknown(f"{name} of one tensor")
    items = iterate(m, tensors)
    for item in items:
        if isinstance(item, Unknown):
            return item
    parts = [item for item in items if isinstance(item, Tensor)]
    if not items:
        raise m.exception("ValueError", f"torch.{name}(): expected a non-empty list of Tensors")
    if len(parts) != len(items):
        raise m.exception("TypeError", f"{name}(): expected a sequence of tensors")
    return parts


def join(m: Machine, parts: list[Tensor], where: int) -> Value:
    """Concatenation along tensor axis `where`; operands are brought to one logical order first."""
    if any(len(p.axes) != len(parts[0].axes) for p in parts):
        raise m.exception("RuntimeError", "Tensors must have same number of dimensions")
    if not parts[0].axes:
        raise m.exception("RuntimeError", "zero-dimensional tensor cannot be concatenated")
    _check_other_axes(m, parts, where)
    kind = max((p.kind for p in parts), key=("bool", "int", "float").index)
    parts = [p for p in parts if not is_empty(p.shape(m)[where])] or parts[:1]
    if len(parts) == 1:
        return copied(m, parts[0])
    parts = [regroup(m, p, where) for p in parts]
    parts = [_with_axis(m, p, where) for p in _same_order(m, parts, where)]
    if any(p.axes != parts[0].axes for p in parts[1:]):
        parts = [arranged(m, p) for p in parts]
    logical = parts[0].axes[where][0]
    rank = len(parts[0].term(m).shape)
    term = op(m, "concat", *(p.term(m) for p in parts), axis=logical - rank)
    made = Tensor(Root(term), parts[0].axes, kind)
    if kind == "int":
        made.integer = common_integer(parts)
    return made


def is_empty(size: Dim) -> bool:
    """Whether an axis has no elements."""
    return isinstance(size, int) and size == 0


def _check_other_axes(m: Machine, parts: list[Tensor], where: int) -> None:
    first = parts[0].shape(m)
    for part in parts[1:]:
        for axis, (a, b) in enumerate(zip(first, part.shape(m), strict=True)):
            if axis != where:
                check_same(m, a, b, axis)


def _same_order(m: Machine, parts: list[Tensor], where: int) -> list[Tensor]:
    """Regroups axes that operands have split differently, and aligns orders that differ."""
    for i in range(len(parts[0].axes)):
        if i != where and len({factors_of(m, p, i) for p in parts}) > 1:
            parts = [regroup(m, p, i) for p in parts]
    reference = next((p for p in parts if all(p.axes)), parts[0])
    if all(p.axes == reference.axes for p in parts):
        return parts
    return [arranged(m, p) for p in parts]


def _with_axis(m: Machine, t: Tensor, where: int) -> Tensor:
    """Gives an axis of size one a logical axis, so that it can be joined along."""
    if t.axes[where]:
        return t
    t = arranged(m, t)
    before = sum(len(g) for g in t.axes[:where])
    axes = tuple(
        (before,) if i == where else tuple(x + (x >= before) for x in g)
        for i, g in enumerate(t.axes)
    )
    return t.alike(Root(with_axis(m, t.term(m), before)), axes)


def stack(m: Machine, tensors: Value, dim: Value = 0) -> Value:
    """torch.stack."""
    items = operands(m, tensors, "stack")
    if isinstance(items, Unknown):
        return items
    where = axis_index(m, items[0], dim, extra=1)
    widened = [t.alike(t.storage, (*t.axes[:where], (), *t.axes[where:])) for t in items]
    return join(m, widened, where)


def hstack(m: Machine, tensors: Value) -> Value:
    """torch.hstack."""
    items = operands(m, tensors, "hstack")
    if isinstance(items, Unknown):
        return items
    items = [t if t.axes else t.alike(t.storage, ((),)) for t in items]
    return join(m, items, 0 if len(items[0].axes) == 1 else 1)


def vstack(m: Machine, tensors: Value) -> Value:
    """torch.vstack: rows."""
    items = operands(m, tensors, "vstack")
    if isinstance(items, Unknown):
        return items
    rows = [t.alike(t.storage, ((),) * (2 - len(t.axes)) + t.axes) for t in items]
    return join(m, rows, 0)


def split(m: Machine, t: Tensor, split_size: Value, dim: Value = 0) -> Value:
    """torch.split: views along an axis."""
    where = axis_index(m, t, dim)
    total = t.shape(m)[where]
    if isinstance(split_size, (int, Poly)):
        return _cut(m, t, where, _even(m, total, split_size))
    sizes = iterate(m, split_size)
    if not all(isinstance(s, (int, Poly)) for s in sizes):
        return m.unknown("a split into sizes that are not known")
    whole = dims.equal(dims.dim_sum(sizes), total)
    if whole is False:
        text = f"split_with_sizes expects split_sizes to sum exactly to {total}, but got {sizes}"
        raise m.exception("RuntimeError", text)
    if whole is None:
        raise m.stuck(f"whether a split into {sizes} covers {total}")
    return _cut(m, t, where, sizes)


def _even(m: Machine, total: Dim, size: Dim) -> list[Dim]:
    """Parts of one size, the last one what is left."""
    if dims.less(0, size) is not True:
        raise m.exception("RuntimeError", "split expects split_size to be positive")
    count = dims.exact_div(total, size)
    if isinstance(count, int):
        m.check_size(count)
        return [size] * count
    if isinstance(total, int) and isinstance(size, int):
        m.check_size(total // size)
        parts: list[Dim] = [size] * (total // size)
        return [*parts, total % size]
    raise m.stuck("a split whose number of parts is not known")


def _cut(m: Machine, t: Tensor, where: int, sizes: list[Dim]) -> tuple[Value, ...]:
    parts: list[Value] = []
    start: Dim = 0
    for size in sizes:
        parts.append(slice_axis(m, t, where, slice(start, start + size)))
        start = start + size
    return tuple(parts)


def chunk(m: Machine, t: Tensor, chunks: Value, dim: Value = 0) -> Value:
    """torch.chunk."""
    total = t.shape(m)[axis_index(m, t, dim)]
    if not isinstance(chunks, int) or chunks < 1:
        raise m.exception("RuntimeError", "chunk expects `chunks` to be greater than 0")
    size = dims.exact_div(total, chunks)
    if size is None:
        if not isinstance(total, int):
            raise m.stuck("a chunk whose size is not known")
        size = -(-total // chunks)
    return split(m, t, size, dim)


def tensor_split(m: Machine, t: Tensor, indices_or_sections: Value, dim: Value = 0) -> Value:
    """torch.tensor_split into a number of parts: the first ones are the larger ones."""
    where = axis_index(m, t, dim)
    total = t.shape(m)[where]
    count = indices_or_sections
    if not isinstance(count, int) or count < 1:
        return m.unknown("tensor_split at given places")
    size = dims.exact_div(total, count)
    if size is not None:
        return _cut(m, t, where, [size] * count)
    if not isinstance(total, int):
        raise m.stuck("a split whose sizes are not known")
    larger = total % count
    sizes: list[Dim] = [total // count + (i < larger) for i in range(count)]
    return _cut(m, t, where, sizes)


def narrow(m: Machine, t: Tensor, dim: Value, start: Value, length: Value) -> Value:
    """torch.narrow."""
    where = axis_index(m, t, dim)
    if not isinstance(start, (int, Poly)) or not isinstance(length, (int, Poly)):
        raise m.stuck("a narrow at a computed place")
    size = t.shape(m)[where]
    if dims.less(start, 0) is True:
        start = start + size
    if dims.less(size, start + length) is True:
        text = f"start ({start}) + length ({length}) exceeds dimension size ({size})."
        raise m.exception("RuntimeError", text)
    return slice_axis(m, t, where, slice(start, start + length))


def unbind(m: Machine, t: Tensor, dim: Value = 0) -> tuple[Value, ...]:
    """torch.unbind, and iteration over a tensor."""
    if not t.axes:
        raise m.exception("TypeError", "iteration over a 0-d tensor")
    where = axis_index(m, t, dim)
    size = t.shape(m)[where]
    if not isinstance(size, int):
        raise m.stuck("iteration over an axis whose size is not known")
    m.check_size(size)
    return tuple(select(m, t, where, i) for i in range(size))


def repeat_interleave(m: Machine, t: Tensor, repeats: Value, dim: Value = None) -> Value:
    """torch.repeat_interleave by a number along an axis; a tensor with one number will do."""
    from checker.interpreter import shaping

    if isinstance(repeats, Tensor) and not repeats.term(m).shape:
        term = repeats.term(m)
        repeats = term.attr("value") if term.op == "const" else repeats
    if not isinstance(repeats, (int, dims.Poly)):
        return m.unknown("repeat_interleave by tensors")
    if dim is None and len(t.axes) != 1:
        return m.unknown("repeat_interleave over all axes")
    where = axis_index(m, t, 0 if dim is None else dim)
    if isinstance(repeats, int) and repeats == 1:
        return copied(m, t)
    if not t.axes[where]:  # one row, many times
        sizes = [repeats if i == where else size for i, size in enumerate(t.shape(m))]
        return copied(m, shaping.expand(m, t, *sizes))
    if not isinstance(repeats, int):
        return m.unknown("repeat_interleave of several rows by a size")
    t = _with_axis(m, regroup(m, t, where), where)
    logical = t.axes[where][0]
    rank = len(t.term(m).shape)
    return t.alike(Root(op(m, "repeat", t.term(m), axis=logical - rank, times=repeats)))


__all__ = ["axis_index", "cat", "chunk", "join", "narrow", "split", "stack", "unbind"]
