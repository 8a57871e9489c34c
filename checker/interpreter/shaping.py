"""Changes of shape: reshape, permute, squeeze, expand.

Where the layout can say it, the term stays.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from checker.graph import dims
from checker.graph.dims import Dim, Poly
from checker.interpreter.hosting import unwrapped
from checker.interpreter.joining import axis_index
from checker.interpreter.storages import Expanded, Loose, is_whole
from checker.interpreter.tensors import Axes, Tensor, arranged, from_term, op, split_axis
from checker.interpreter.values import Unknown, Value

if TYPE_CHECKING:
    from checker.interpreter.machine import Machine


def flat_sizes(sizes: tuple[Value, ...] | list[Value]) -> list[Value]:
    """`view(a, b)` and `view((a, b))` alike."""
    first = unwrapped(sizes[0]) if len(sizes) == 1 else None
    return list(first) if isinstance(first, (tuple, list)) else list(sizes)


def view(m: Machine, t: Tensor, *sizes: Value, **kwargs: Value) -> Value:
    """Tensor.view: shares its storage, whatever it looks like."""
    given = flat_sizes(sizes)
    if kwargs or (given and not isinstance(given[0], (int, Poly, Unknown))):
        return m.unknown("a view as another element type")
    return _reshaped(m, t, given, copies=False)


def reshape(m: Machine, t: Tensor, *sizes: Value, **kwargs: Value) -> Value:
    """torch.reshape: a view where the storage allows it, else a copy."""
    given = kwargs.get("shape")
    return _reshaped(m, t, flat_sizes(sizes if given is None else (given,)), copies=True)


def _reshaped(m: Machine, t: Tensor, sizes: list[Value], copies: bool) -> Value:
    target: list[Dim] = []
    for size in sizes:
        if isinstance(size, Unknown):
            return size
        if isinstance(size, Tensor):  # one integer in a tensor will do for torch
            return m.unknown("a size that is computed by tensors")
        if not isinstance(size, (int, Poly)):
            raise m.exception("TypeError", "reshape(): sizes must be integers")
        target.append(size)
    target = _resolve(m, t, target)
    found = _regrouped(m, t, target)
    if found is None:
        source = arranged(m, t)
        logical = tuple(d for d in target if d != 1)
        term = op(m, "opaque", source.term(m), name="reshape", shape=logical)
        made = from_term(term, tuple(target), t.kind)
        return made.alike(Loose(m, source.storage, term))
    return merged(m, *found, copies)


def merged(m: Machine, t: Tensor, groups: Axes, copies: bool) -> Tensor:
    """The tensor under a layout that may merge axes.

    Where that may take a copy, it is not known to share.
    """
    adjacent = all(b == a + 1 for g in groups for a, b in itertools.pairwise(g))
    merges = any(len(g) > 1 for g in groups)
    if copies and merges and not (adjacent and is_whole(t.storage)):
        return t.alike(Loose(m, t.storage), groups)
    return t.alike(t.storage, groups)


def _resolve(m: Machine, t: Tensor, sizes: list[Dim]) -> list[Dim]:
    """The sizes with -1 worked out."""
    total = dims.dim_mul(t.shape(m))
    invalid = f"shape '{[str(s) for s in sizes]}' is invalid for input of size {total}"
    open_ = [i for i, size in enumerate(sizes) if isinstance(size, int) and size == -1]
    if len(open_) > 1:
        raise m.exception("RuntimeError", "only one dimension can be inferred")
    if open_:
        known = dims.dim_mul(s for i, s in enumerate(sizes) if i != open_[0])
        missing = dims.exact_div(total, known)
        if missing is None:
            if isinstance(total, int) and isinstance(known, int):
                raise m.exception("RuntimeError", invalid)
            raise m.stuck(f"whether {known} divides {total}")
        return [missing if i == open_[0] else s for i, s in enumerate(sizes)]
    same = dims.equal(dims.dim_mul(sizes), total)
    if same is False:
        raise m.exception("RuntimeError", invalid)
    if same is None:
        raise m.stuck(f"whether {dims.dim_mul(sizes)} equals {total}")
    return sizes


def _regrouped(m: Machine, t: Tensor, target: list[Dim]) -> tuple[Tensor, Axes] | None:
    """The tensor with logical axes split so that each target axis is a group of them.

    None where that fails.
    """
    atoms = [x for g in t.axes for x in g]
    groups: list[tuple[int, ...]] = []
    position = 0
    for size in target:
        group: list[int] = []
        current: Dim = 1
        while dims.equal(current, size) is not True:
            if position >= len(atoms):
                return None
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
                return None
            t = split_axis(m, t, atom, (need, rest))
            atoms = [x + 1 if x > atom else x for x in atoms]
            atoms[position : position + 1] = [atom, atom + 1]
            groups = [tuple(x + 1 if x > atom else x for x in g) for g in groups]
            group = [x + 1 if x > atom else x for x in group]
        groups.append(tuple(group))
    return (t, tuple(groups)) if position == len(atoms) else None


def flatten(m: Machine, t: Tensor, start_dim: Value = 0, end_dim: Value = -1) -> Value:
    """torch.flatten."""
    if not t.axes:
        return t.alike(t.storage, ((),))
    start, stop = axis_index(m, t, start_dim), axis_index(m, t, end_dim)
    if start > stop:
        raise m.exception("RuntimeError", "flatten() has invalid args: start_dim after end_dim")
    group = tuple(x for g in t.axes[start : stop + 1] for x in g)
    return merged(m, t, (*t.axes[:start], group, *t.axes[stop + 1 :]), copies=True)


def unflatten(m: Machine, t: Tensor, dim: Value, sizes: Value) -> Value:
    """Tensor.unflatten."""
    where = axis_index(m, t, dim)
    shape: list[Value] = list(t.shape(m))
    parts = list(flat_sizes((sizes,)))
    if any(isinstance(part, int) and part == -1 for part in parts):
        known = dims.dim_mul(s for s in parts if not (isinstance(s, int) and s == -1))
        missing = dims.exact_div(shape[where], known)
        if missing is None:
            raise m.stuck(f"whether {known} divides {shape[where]}")
        parts = [missing if isinstance(s, int) and s == -1 else s for s in parts]
    return _reshaped(m, t, [*shape[:where], *parts, *shape[where + 1 :]], copies=False)


def permute(m: Machine, t: Tensor, *dims_: Value) -> Tensor:
    """Tensor.permute."""
    order = [axis_index(m, t, d) for d in flat_sizes(dims_)]
    if sorted(order) != list(range(len(t.axes))):
        raise m.exception("RuntimeError", "permute(): the dims do not match the tensor's")
    return t.alike(t.storage, tuple(t.axes[i] for i in order))


def transpose(m: Machine, t: Tensor, dim0: Value, dim1: Value) -> Tensor:
    """torch.transpose."""
    i, j = axis_index(m, t, dim0), axis_index(m, t, dim1)
    axes = list(t.axes)
    if axes:
        axes[i], axes[j] = axes[j], axes[i]
    return t.alike(t.storage, tuple(axes))


def reversed_axes(m: Machine, t: Tensor) -> Tensor:
    """`t.T` and `t.t()`."""
    return t.alike(t.storage, t.axes[::-1])


def squeeze(m: Machine, t: Tensor, dim: Value = None) -> Tensor:
    """torch.squeeze."""
    if dim is None:
        return t.alike(t.storage, tuple(g for g in t.axes if g))
    places = {axis_index(m, t, d) for d in (dim if isinstance(dim, (tuple, list)) else (dim,))}
    return t.alike(t.storage, tuple(g for i, g in enumerate(t.axes) if g or i not in places))


def unsqueeze(m: Machine, t: Tensor, dim: Value) -> Tensor:
    """torch.unsqueeze."""
    where = axis_index(m, t, dim, extra=1)
    return t.alike(t.storage, (*t.axes[:where], (), *t.axes[where:]))


def expand(m: Machine, t: Tensor, *sizes: Value) -> Value:
    """Tensor.expand: broadcasts axes of size one; a view."""
    given = flat_sizes(sizes)
    for size in given:
        if isinstance(size, Unknown):
            return size
    if len(given) < len(t.axes):
        raise m.exception("RuntimeError", "expand(): fewer sizes than dimensions")
    t = t.alike(t.storage, ((),) * (len(given) - len(t.axes)) + t.axes)
    for axis, (size, old) in enumerate(zip(given, t.shape(m), strict=True)):
        if (isinstance(size, int) and size == -1) or dims.equal(size, old) is True:
            continue
        if t.axes[axis]:
            if dims.equal(size, old) is None:
                raise m.stuck(f"whether sizes {size} and {old} are equal")
            text = f"The expanded size of the tensor ({size}) must match the existing size ({old})"
            raise m.exception("RuntimeError", text)
        t = _broadcast_axis(m, t, axis, size)
    return t


def _broadcast_axis(m: Machine, t: Tensor, axis: int, size: Dim) -> Tensor:
    before = _insertion(t, axis)
    shape = t.term(m).shape
    new_shape = (*shape[:before], size, *shape[before:])
    mapping = tuple(None if i == before else i - (i > before) for i in range(len(new_shape)))
    axes = [tuple(x + (x >= before) for x in g) for g in t.axes]
    axes[axis] = (before,)
    return t.alike(Expanded(t.storage, mapping, new_shape), tuple(axes))


def _insertion(t: Tensor, axis: int) -> int:
    """Where a new logical axis goes: right after those of the tensor axis before it."""
    for group in reversed(t.axes[:axis]):
        if group:
            return group[-1] + 1
    return 0
