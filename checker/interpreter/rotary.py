"""What summaries say of rotary embeddings, and whether the numbers of the source agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.graph.frequencies import ROWS, close, rates, turned, vector
from checker.interpreter.storages import Root
from checker.interpreter.tensors import Tensor, arranged, from_term, op, regroup

if TYPE_CHECKING:
    from collections.abc import Iterator

    from checker.interpreter.machine import Machine
    from checker.interpreter.values import Value


def rope(m: Machine, x: Tensor, positions: Tensor, **attrs: Value) -> Value:
    """Rotary embedding of `x` (tokens, heads, head_dim)."""
    attrs["scaling"] = _frozen(attrs.get("scaling"))
    x = one_axis_each(m, x)
    return x.alike(Root(op(m, "rope", x.term(m), arranged(m, positions).term(m), **attrs)))


def inv_freq(m: Machine, base: Value, dim: Value, scaling: Value) -> Value:
    """Inverse frequencies by what they are called."""
    return from_term(op(m, "inv_freq", base=base, dim=dim, scaling=_frozen(scaling)))


def frequencies(m: Machine, found: Value, descriptions: Value) -> Value:
    """The first of some descriptions that gives these inverse frequencies; None if none does."""
    if not isinstance(found, Tensor):
        return None
    numbers = vector(arranged(m, found).term(m))
    if numbers is None:
        return None
    for description, expected in _numbers(descriptions):
        if close(numbers, expected):
            return description
    return None


def angles(m: Machine, table: Value, descriptions: Value) -> Value:
    """The first description whose angles a table has, and by what its numbers are multiplied.

    The table has a row for each position: the cosines of its angles, then their sines. None if
    no description gives them.
    """
    if not isinstance(table, Tensor) or len(table.axes) != 2:
        return None
    whole = arranged(m, table).term(m)
    count = whole.shape[0]
    rows = {at: vector(op(m, "select", whole, axis=-2, index=at)) for at in _rows(count)}
    first = rows.get(0)
    if not first or any(row is None for row in rows.values()):
        return None
    amplitude = first[0]
    for description, expected in _numbers(descriptions):
        if all(row and close(row, turned(expected, at, amplitude)) for at, row in rows.items()):
            return (description, amplitude)
    return None


def _rows(count: object) -> list[int]:
    return [at for at in ROWS if not isinstance(count, int) or at < count]


def _numbers(descriptions: Value) -> Iterator[tuple[Value, list[float]]]:
    for description in descriptions:
        base, dim = description["base"], description["dim"]
        scaling = _frozen(description["scaling"])
        if isinstance(base, (int, float)) and isinstance(dim, int) and dim > 0:
            try:
                expected = rates(base, dim, scaling)
            except (ArithmeticError, LookupError, TypeError, ValueError):
                continue  # this is not what the source computed without an exception
            if expected is not None:
                yield description, expected


def one_axis_each(m: Machine, t: Tensor) -> Tensor:
    """The same tensor with every axis held by one logical axis or none, in order."""
    for axis in range(len(t.axes)):
        t = regroup(m, t, axis)
    return arranged(m, t)


def _frozen(scaling: Value) -> Value:
    if not isinstance(scaling, dict):
        return None
    return tuple(sorted((k, _fixed(v)) for k, v in scaling.items()))


def _fixed(value: Value) -> Value:
    return tuple(_fixed(v) for v in value) if isinstance(value, list) else value
