"""Functions of the tensor language (`torch.*`, `torch.nn.functional.*`) that take and give tensors."""

from __future__ import annotations

from typing import Any

from checker.graph import dims
from checker.graph.dims import Dim, Poly
from checker.interpreter.indexing import constant, select, slice_axis
from checker.interpreter.machine import Machine
from checker.interpreter.tensors import (
    Root,
    Tensor,
    aligned,
    arranged,
    elementwise,
    filled,
    from_term,
    last_axis,
    op,
    regroup,
    split_axis,
    unknown_tensor,
)
from checker.interpreter.values import Unknown, Value


def axis_index(m: Machine, t: Tensor, dim: Value, extra: int = 0) -> int:
    """A tensor axis as a non-negative number."""
    rank = len(t.axes) + extra
    if not isinstance(dim, int) or not -rank <= dim < max(rank, 1):
        raise m.exception("IndexError", f"Dimension out of range (got {dim})")
    return dim % rank if rank else 0


# -- joining and cutting -------------------------------------------------------------------------------


def cat(m: Machine, tensors: Value, dim: Value = 0, axis: Value = None, out: Value = None) -> Value:
    """torch.cat."""
    from checker.interpreter import containers

    items = containers.iterate(m, tensors)
    for item in items:
        if isinstance(item, Unknown):
            return item
    parts = [t for t in items if isinstance(t, Tensor)]
    if len(parts) != len(items) or not parts:
        raise m.exception("TypeError", "cat(): expected a sequence of tensors")
    where = axis_index(m, parts[0], dim if axis is None else axis)
    return join(m, parts, where)


def join(m: Machine, parts: list[Tensor], where: int) -> Value:
    """Concatenation along tensor axis `where`; operands are brought to one logical order first."""
    if len(parts) == 1:
        return parts[0].alike(Root(parts[0].term(m)))
    if any(len(p.axes) != len(parts[0].axes) for p in parts):
        raise m.exception("RuntimeError", "Tensors must have same number of dimensions")
    parts = [regroup(m, p, where) for p in parts]
    parts = _same_order(m, parts)
    parts = [_with_axis(m, p, where) for p in parts]
    logical = parts[0].axes[where][0]
    rank = len(parts[0].term(m).shape)
    for p in parts[1:]:
        if p.axes != parts[0].axes:
            return unknown_tensor(m, "a concatenation of differently arranged tensors", parts[0].shape(m))
    term = op(m, "concat", *(p.term(m) for p in parts), axis=logical - rank)
    return parts[0].alike(Root(term))


def _same_order(m: Machine, parts: list[Tensor]) -> list[Tensor]:
    """Regroups axes that some operands have split and others not, and aligns orders that differ."""
    for i in range(len(parts[0].axes)):
        if len({len(p.axes[i]) for p in parts}) > 1:
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
    shape = t.term(m).shape
    new_shape = (*shape[:before], 1, *shape[before:])
    mapping = tuple(
        None if i == before else (i if i < before else i - 1) for i in range(len(new_shape))
    )
    term = op(m, "expand", t.term(m), axes=mapping, shape=new_shape)
    axes = tuple(
        (before,) if i == where else tuple(x + (x >= before) for x in g) for i, g in enumerate(t.axes)
    )
    return t.alike(Root(term), axes)


def stack(m: Machine, tensors: Value, dim: Value = 0) -> Value:
    """torch.stack."""
    from checker.interpreter import containers

    items = containers.iterate(m, tensors)
    for item in items:
        if isinstance(item, Unknown):
            return item
    where = axis_index(m, items[0], dim, extra=1)
    return join(m, [t.alike(t.storage, (*t.axes[:where], (), *t.axes[where:])) for t in items], where)


def split_sizes(m: Machine, t: Tensor, sizes: Value, dim: Value) -> Value:
    """torch.split: views along an axis."""
    where = axis_index(m, t, dim)
    total = t.shape(m)[where]
    if isinstance(sizes, (int, Poly)):
        count = dims.exact_div(total, sizes)
        if isinstance(count, int):
            sizes = [sizes] * count
        elif isinstance(total, int) and isinstance(sizes, int):
            sizes = [sizes] * (total // sizes) + [total % sizes]
        else:
            raise m.stuck("a split whose number of parts is not known")
    sizes = list(sizes)
    if dims.equal(dims.dim_sum(sizes), total) is False:
        raise m.exception(
            "RuntimeError", f"split_with_sizes expects split_sizes to sum exactly to {total}, but got {sizes}"
        )
    parts: list[Tensor] = []
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
    return split_sizes(m, t, size, dim)


def narrow(m: Machine, t: Tensor, dim: Value, start: Value, length: Value) -> Value:
    """torch.narrow."""
    where = axis_index(m, t, dim)
    if isinstance(start, Tensor):
        raise m.stuck("a narrow at a computed place")
    size = t.shape(m)[where]
    if dims.less(size, start + length) is True:
        raise m.exception("RuntimeError", f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return slice_axis(m, t, where, slice(start, start + length))


def unbind(m: Machine, t: Tensor, dim: Value = 0) -> list[Value]:
    """torch.unbind."""
    where = axis_index(m, t, dim)
    size = t.shape(m)[where]
    if not isinstance(size, int):
        raise m.stuck("iteration over an axis whose size is not known")
    m.check_size(size)
    return [select(m, t, where, i) for i in range(size)]


# -- shape ------------------------------------------------------------------------------------------------


def flat_sizes(m: Machine, sizes: tuple[Value, ...] | list[Value]) -> list[Value]:
    """`view(a, b)` and `view((a, b))` alike."""
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        return list(sizes[0])
    return list(sizes)


def reshape(m: Machine, t: Tensor, sizes: list[Value]) -> Value:
    """torch.reshape and view: a change of layout wherever the logical axes allow it."""
    for size in sizes:
        if isinstance(size, Unknown):
            return size
    target = _resolve(m, t, sizes)
    atoms = [x for g in t.axes for x in g]
    groups: list[tuple[int, ...]] = []
    position = 0
    for size in target:
        group: list[int] = []
        current: Dim = 1
        while dims.equal(current, size) is not True:
            if position >= len(atoms):
                return _opaque_reshape(m, t, target)
            atom = atoms[position]
            whole = t.term(m).shape[atom]
            if dims.exact_div(size, current * whole) is not None:
                group.append(atom)
                current = current * whole
                position += 1
                continue
            need = dims.exact_div(size, current)
            rest = dims.exact_div(whole, need) if need is not None else None
            if need is None or rest is None:
                return _opaque_reshape(m, t, target)
            t = split_axis(m, t, atom, (need, rest))
            atoms = [x + 1 if x > atom else x for x in atoms]
            atoms[position : position + 1] = [atom, atom + 1]
            groups = [tuple(x + 1 if x > atom else x for x in g) for g in groups]
            group = [x + 1 if x > atom else x for x in group]
        groups.append(tuple(group))
    if position != len(atoms):
        return _opaque_reshape(m, t, target)
    return t.alike(t.storage, tuple(groups))


def _resolve(m: Machine, t: Tensor, sizes: list[Value]) -> list[Dim]:
    total = dims.dim_mul(t.shape(m))
    if -1 in [s for s in sizes if isinstance(s, int)]:
        known = dims.dim_mul(s for s in sizes if not (isinstance(s, int) and s == -1))
        missing = dims.exact_div(total, known)
        if missing is None:
            raise m.exception("RuntimeError", f"shape '{sizes}' is invalid for input of size {total}")
        return [missing if isinstance(s, int) and s == -1 else s for s in sizes]
    if dims.equal(dims.dim_mul(sizes), total) is False:
        raise m.exception("RuntimeError", f"shape '{sizes}' is invalid for input of size {total}")
    return sizes


def _opaque_reshape(m: Machine, t: Tensor, sizes: list[Dim]) -> Tensor:
    source = arranged(m, t)
    logical = tuple(d for d in sizes if d != 1)
    return from_term(op(m, "opaque", source.term(m), name="reshape", shape=logical), tuple(sizes), t.kind)


def permute(t: Tensor, order: list[int]) -> Tensor:
    return t.alike(t.storage, tuple(t.axes[i] for i in order))


def transpose(m: Machine, t: Tensor, a: Value, b: Value) -> Tensor:
    i, j = axis_index(m, t, a), axis_index(m, t, b)
    order = list(range(len(t.axes)))
    order[i], order[j] = order[j], order[i]
    return permute(t, order)


def squeeze(m: Machine, t: Tensor, dim: Value = None) -> Tensor:
    if dim is None:
        return t.alike(t.storage, tuple(g for g in t.axes if g))
    where = axis_index(m, t, dim)
    if t.axes[where]:
        return t
    return t.alike(t.storage, (*t.axes[:where], *t.axes[where + 1 :]))


def unsqueeze(m: Machine, t: Tensor, dim: Value) -> Tensor:
    where = axis_index(m, t, dim, extra=1)
    return t.alike(t.storage, (*t.axes[:where], (), *t.axes[where:]))


def expand(m: Machine, t: Tensor, sizes: list[Value]) -> Value:
    """Tensor.expand: broadcasts axes of size one."""
    if len(sizes) > len(t.axes):
        t = t.alike(t.storage, ((),) * (len(sizes) - len(t.axes)) + t.axes)
    for axis, size in enumerate(sizes):
        if (isinstance(size, int) and size in (-1, 1)) or t.axes[axis]:
            continue
        before = _insertion(t, axis)
        shape = t.term(m).shape
        new_shape = (*shape[:before], size, *shape[before:])
        mapping = tuple(None if i == before else i - (i > before) for i in range(len(new_shape)))
        term = op(m, "expand", t.term(m), axes=mapping, shape=new_shape)
        axes = [tuple(x + (x >= before) for x in g) for g in t.axes]
        axes[axis] = (before,)
        t = t.alike(Root(term), tuple(axes))
    return t


def _insertion(t: Tensor, axis: int) -> int:
    """Where a new logical axis goes: right after those of the tensor axis before it."""
    for group in reversed(t.axes[:axis]):
        if group:
            return group[-1] + 1
    return 0


# -- products and reductions -----------------------------------------------------------------------------


def matmul(m: Machine, left: Value, right: Value) -> Value:
    """torch.matmul: a projection when the right side is a matrix; otherwise an opaque product."""
    for side in (left, right):
        if isinstance(side, Unknown):
            return side
        if not isinstance(side, Tensor):
            raise m.exception("TypeError", "matmul(): argument must be Tensor")
    if len(right.axes) == 2 and all(len(g) == 1 for g in right.axes):
        x = last_axis(m, left)
        w = right.term(m)
        if right.axes == ((1,), (0,)):
            return _projected(m, x, op(m, "linear", x.term(m), w), right.shape(m)[1])
        return _projected(m, x, op(m, "matmul", x.term(m), w), right.shape(m)[1])
    a, b = arranged(m, left), arranged(m, right)
    shape = (*left.shape(m)[:-1], right.shape(m)[-1])
    term = op(m, "opaque", a.term(m), b.term(m), name="matmul", shape=tuple(d for d in shape if d != 1))
    return from_term(term, shape)


def _projected(m: Machine, x: Tensor, term: Any, size: Dim) -> Tensor:
    if len(term.shape) == len(x.term(m).shape):
        return x.alike(Root(term))
    return from_term(term, (*x.shape(m)[:-1], size))


def linear(m: Machine, x: Value, weight: Value, bias: Value = None) -> Value:
    """torch.nn.functional.linear."""
    for value in (x, weight, bias):
        if isinstance(value, Unknown):
            return value
    if not isinstance(x, Tensor) or not isinstance(weight, Tensor):
        raise m.exception("TypeError", "linear(): argument 'input' must be Tensor")
    x = last_axis(m, x)
    w = arranged(m, weight)
    terms = [x.term(m), w.term(m)] + ([bias.term(m)] if isinstance(bias, Tensor) else [])
    return _projected(m, x, op(m, "linear", *terms), weight.shape(m)[0])


def rms_norm(m: Machine, x: Value, weight: Value = None, eps: Value = 1e-6, offset: Value = 0) -> Value:
    """RMSNorm over the last axis."""
    for value in (x, weight):
        if isinstance(value, Unknown):
            return value
    if not isinstance(x, Tensor):
        raise m.exception("TypeError", "rms_norm(): argument 'input' must be Tensor")
    x = last_axis(m, x)
    terms = [x.term(m)] + ([weight.term(m)] if isinstance(weight, Tensor) else [])
    return x.alike(Root(op(m, "rms_norm", *terms, eps=eps, offset=offset)))


def embedding(m: Machine, ids: Value, weight: Value) -> Value:
    """torch.nn.functional.embedding."""
    for value in (ids, weight):
        if isinstance(value, Unknown):
            return value
    if not isinstance(ids, Tensor) or not isinstance(weight, Tensor):
        raise m.exception("TypeError", "embedding(): argument 'indices' must be Tensor")
    shape = (*ids.shape(m), weight.shape(m)[1])
    return from_term(op(m, "embedding", arranged(m, ids).term(m), weight.term(m)), shape)


def reduce(m: Machine, name: str, t: Tensor, dim: Value, keepdim: Value = False) -> Value:
    """A reduction over one axis."""
    if dim is None or isinstance(dim, (tuple, list)):
        if isinstance(dim, (tuple, list)) and len(dim) == 1:
            dim = dim[0]
        else:
            t = arranged(m, t)
            return from_term(op(m, "opaque", t.term(m), name=name, shape=()), (), t.kind)
    where = axis_index(m, t, dim)
    t = regroup(m, t, where)
    if not t.axes[where]:
        return t if keepdim else squeeze(m, t, where)
    (logical,) = t.axes[where]
    rank = len(t.term(m).shape)
    term = op(m, name, t.term(m), axis=logical - rank)
    axes = tuple(tuple(x - (x > logical) for x in g if x != logical) for g in t.axes)
    if not keepdim:
        axes = (*axes[:where], *axes[where + 1 :])
    kind = "int" if name == "argmax" else t.kind
    return Tensor(Root(term), axes, kind)


def softmax(m: Machine, t: Tensor, dim: Value = -1) -> Value:
    where = axis_index(m, t, dim)
    t = regroup(m, t, where)
    if not t.axes[where]:
        return t
    rank = len(t.term(m).shape)
    return t.alike(Root(op(m, "softmax", t.term(m), axis=t.axes[where][0] - rank)))


def arange(m: Machine, *args: Value, **kwargs: Value) -> Value:
    """torch.arange."""
    values = list(args) + [kwargs[k] for k in ("start", "end", "step") if k in kwargs]
    for value in values:
        if isinstance(value, Unknown):
            return value
    start, stop, step = (0, values[0], 1) if len(values) == 1 else (*values, 1)[:3]
    m.mark()
    term = op(m, "arange", start=start, stop=stop, step=step)
    return from_term(term, None, "int")


def full_like(m: Machine, t: Tensor, value: float | None) -> Tensor:
    return filled(m, value, t.shape(m), t.kind)


def where(m: Machine, condition: Value, a: Value, b: Value) -> Value:
    return elementwise(m, "where", [condition, a, b])


def clamp(m: Machine, t: Value, low: Value = None, high: Value = None) -> Value:
    result = t
    if low is not None:
        result = elementwise(m, "maximum", [result, low])
    if high is not None:
        result = elementwise(m, "minimum", [result, high])
    return result


__all__ = ["aligned", "constant"]
