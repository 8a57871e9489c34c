"""Tensors repeated and padded: joins of a tensor with itself or with numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.graph.dims import Poly
from checker.interpreter import joining, shaping
from checker.interpreter.casting import copied
from checker.interpreter.hosting import unwrapped
from checker.interpreter.tensors import Tensor, filled
from checker.interpreter.values import Unknown, Value

if TYPE_CHECKING:
    from checker.interpreter.machine import Machine


def column_stack(m: Machine, tensors: Value) -> Value:
    """torch.column_stack: vectors are columns, the rest is joined side by side."""
    items = joining.operands(m, tensors, "column_stack")
    if isinstance(items, Unknown):
        return items
    columns = [t if len(t.axes) > 1 else t.alike(t.storage, (*t.axes, ())) for t in items]
    columns = [t if len(t.axes) > 1 else t.alike(t.storage, ((), ())) for t in columns]
    return joining.join(m, columns, 1)


def roll(m: Machine, t: Tensor, shifts: Value, dims: Value = None) -> Value:
    """torch.roll along one axis: what falls off one end comes in at the other."""
    given, axes = shaping.flat_sizes((shifts,)), shaping.flat_sizes(() if dims is None else (dims,))
    if len(given) != 1 or len(axes or t.axes) != 1:
        return m.unknown("a roll over several axes")
    where, shift = joining.axis_index(m, t, axes[0] if axes else 0), given[0]
    if not isinstance(shift, int):
        return m.unknown("a roll by a number that is not known")
    size = t.shape(m)[where]
    if shift == 0 or size == 0:
        return copied(m, t)
    if isinstance(size, int):
        shift %= size
    at = size - shift if shift > 0 else -shift
    parts = [(at, size - at), (0, at)]
    return joining.join(m, [joining.narrow(m, t, where, *part) for part in parts], where)


def repeat(m: Machine, t: Tensor, *sizes: Value, **named: Value) -> Value:
    """Tensor.repeat: the whole tensor so many times along each axis; new axes come in front."""
    given = shaping.flat_sizes(sizes or (named.pop("repeats"),))
    if len(given) < len(t.axes):
        text = (
            "Number of dimensions of repeat dims can not be smaller than number of dimensions"
            " of tensor"
        )
        raise m.exception("RuntimeError", text)
    return _tiled(m, t.alike(t.storage, ((),) * (len(given) - len(t.axes)) + t.axes), given)


def tile(m: Machine, t: Tensor, *dims: Value, **named: Value) -> Value:
    """torch.tile: the same, but where few numbers are given they are those of the last axes."""
    given = shaping.flat_sizes(dims or (named.pop("dims"),))
    return repeat(m, t, *[1] * (len(t.axes) - len(given)), *given)


def _tiled(m: Machine, t: Tensor, times: list[Value]) -> Value:
    found: Value = t
    for axis, count in enumerate(times):
        if isinstance(count, Unknown):
            return count
        assert isinstance(found, Tensor)
        if isinstance(count, Poly) and not t.axes[axis]:
            shape = list(found.shape(m))
            found = shaping.expand(m, found, *shape[:axis], count, *shape[axis + 1 :])
            continue
        if not isinstance(count, int) or count < 1:
            return m.unknown("a tensor repeated a number of times that is not known, or never")
        m.check_size(count)
        if count > 1:
            found = joining.join(m, [found] * count, axis)
        if not isinstance(found, Tensor):
            return found
    assert isinstance(found, Tensor)
    return copied(m, found)


def pad(
    m: Machine, input: Value, pad: Value, mode: Value = "constant", value: Value = None
) -> Value:
    """torch.nn.functional.pad with numbers; from the last axis on, two counts for each axis."""
    counts = unwrapped(pad)
    if not isinstance(input, Tensor) or mode != "constant" or not isinstance(counts, (list, tuple)):
        return m.unknown("a padding that is not by numbers")
    filling = 0 if value is None else value
    if not isinstance(filling, (int, float)) or not all(isinstance(n, int) for n in counts):
        return m.unknown("a padding by numbers that are not known")
    if len(counts) % 2 or len(counts) > 2 * len(input.axes):
        raise m.exception("RuntimeError", "Padding length must be divisible by 2 and fit the input")
    found: Value = input
    for index in range(0, len(counts), 2):
        axis = len(input.axes) - 1 - index // 2
        for before, count in ((True, counts[index]), (False, counts[index + 1])):
            assert isinstance(found, Tensor)
            found = _one(m, found, axis, before, int(count), filling)
            if not isinstance(found, Tensor):
                return found
    return copied(m, found)


def _one(m: Machine, t: Tensor, axis: int, before: bool, count: int, filling: float) -> Value:
    """One side of one axis; a negative count cuts."""
    shape = t.shape(m)
    if count < 0:
        return joining.narrow(m, t, axis, -count if before else 0, shape[axis] + count)
    if count == 0:
        return t
    m.check_size(count)
    sizes = (*shape[:axis], count, *shape[axis + 1 :])
    if t.kind == "int" and isinstance(filling, float):
        return m.unknown("whole numbers padded with a fraction")
    numbers = filled(m, bool(filling) if t.kind == "bool" else filling, sizes, t.kind)
    return joining.join(m, [numbers, t] if before else [t, numbers], axis)
