"""Tensors: a graph term in a storage, seen through a layout.

A term has a canonical logical shape without axes of size one. A tensor's own shape is a layout over
it: each of its axes is an ordered group of logical axes (an empty group is an axis of size one).
Views, transposes and batch dimensions of one are changes of layout and leave the term alone, so two
programs that arrange the same numbers differently still build the same term.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from checker.graph import dims
from checker.interpreter.storages import Permuted, Regrouped, Root, Storage, may_overlap, op
from checker.interpreter.values import Unknown, Value

if TYPE_CHECKING:
    from checker.graph.dims import Dim
    from checker.graph.terms import Term
    from checker.interpreter.machine import Machine

Axes = tuple[tuple[int, ...], ...]


class Tensor:
    """A tensor of the checked program.

    `kind` is "float", "int" or "bool"; `integer` is the element type of integers ("int32"), None
    where it is not followed: some operators refuse two of them together. `parameter` says it is an
    nn.Parameter; `extra` holds attributes that the checked code set on it (weight loaders, flags).
    """

    __slots__ = (
        "axes",
        "buffer",
        "extra",
        "integer",
        "kind",
        "parameter",
        "requires_grad",
        "storage",
    )

    def __init__(self, storage: Storage, axes: Axes, kind: str = "float") -> None:
        self.storage = storage
        self.axes = axes
        self.kind = kind
        self.integer: str | None = None
        self.parameter = False
        self.buffer = False
        self.requires_grad = False
        self.extra: dict[str, Value] = {}

    def term(self, m: Machine) -> Term:
        """The term over the logical axes."""
        return self.storage.term(m)

    def shape(self, m: Machine) -> tuple[Dim, ...]:
        """The sizes of the tensor's own axes."""
        logical = self.term(m).shape
        return tuple(dims.dim_mul(logical[i] for i in group) for group in self.axes)

    def write(self, m: Machine, value: Tensor) -> None:
        """Overwrites the tensor's values in place, broadcasting and casting as torch does."""
        from checker.interpreter import broadcasting, casting

        if self.overlaps(value):
            self.forget(m, m.unknown("a part of a tensor is copied over an overlapping part"))
            return
        self.storage.set(m, broadcasting.fitted(m, casting.cast(m, value, self.kind), self))

    def overlaps(self, other: Value) -> bool:
        """Whether `other` shows some of this tensor's places otherwise than this one does."""
        if not isinstance(other, Tensor):
            return False
        if other.storage is self.storage:
            return tuple(g for g in other.axes if g) != tuple(g for g in self.axes if g)
        return may_overlap(self.storage, other.storage)

    def update(self, m: Machine, result: Value) -> None:
        """Overwrites the tensor's values with the result of an operator, or forgets them."""
        if isinstance(result, Tensor):
            self.write(m, result)
        else:
            reason = result if isinstance(result, Unknown) else m.unknown("an in-place operator")
            self.forget(m, reason)

    def forget(self, m: Machine, unknown: Unknown) -> None:
        """The tensor's values are unknown from now on."""
        m.mark()
        self.storage.set(m, m.builder.unknown(unknown.reason, self.term(m).shape))

    def alike(self, storage: Storage, axes: Axes | None = None) -> Tensor:
        """A tensor of the same kind over another storage or layout."""
        made = Tensor(storage, self.axes if axes is None else axes, self.kind)
        made.integer = self.integer
        return made


# -- making ----------------------------------------------------------------------------------------


def layout_of(shape: tuple[Dim, ...]) -> tuple[tuple[Dim, ...], Axes]:
    """The logical shape (without ones) and the layout of a fresh tensor."""
    logical = tuple(d for d in shape if d != 1)
    axes: list[tuple[int, ...]] = []
    index = 0
    for size in shape:
        axes.append(() if size == 1 else (index,))
        index += size != 1
    return logical, tuple(axes)


def from_term(term: Term, shape: tuple[Dim, ...] | None = None, kind: str = "float") -> Tensor:
    """A tensor over a term; `shape` may add axes of size one."""
    _, axes = layout_of(term.shape if shape is None else shape)
    return Tensor(Root(term), axes, kind)


def fresh_input(m: Machine, name: str, shape: tuple[Dim, ...], kind: str = "float") -> Tensor:
    """A tensor that is given from outside."""
    logical, axes = layout_of(shape)
    return Tensor(Root(m.builder.input(name, logical)), axes, kind)


def filled(
    m: Machine, value: float | bool | None, shape: tuple[Dim, ...], kind: str = "float"
) -> Tensor:
    """A tensor filled with a number; None: uninitialised."""
    logical, axes = layout_of(shape)
    m.mark()
    if kind == "bool" and value is not None:
        value = bool(value)
    term = m.builder.empty(logical) if value is None else m.builder.const(value, logical)
    return Tensor(Root(term), axes, kind)


def unknown_tensor(m: Machine, reason: str, shape: tuple[Dim, ...], kind: str = "float") -> Tensor:
    """A tensor of a known shape whose values are not known."""
    logical, axes = layout_of(shape)
    m.mark()
    return Tensor(Root(m.builder.unknown(reason, logical)), axes, kind)


# -- regrouping ------------------------------------------------------------------------------------


def regroup(m: Machine, t: Tensor, axis: int) -> Tensor:
    """The same tensor with tensor axis `axis` held by one logical axis (or none)."""
    group = t.axes[axis]
    if len(group) <= 1:
        return t
    if any(b != a + 1 for a, b in itertools.pairwise(group)):
        return regroup(m, arranged(m, t), axis)
    rank = len(t.term(m).shape)
    storage = Regrouped(t.storage, group[-1] - rank, count=len(group))
    shift = len(group) - 1
    axes = tuple(
        (group[0],) if i == axis else tuple(x - shift if x > group[-1] else x for x in g)
        for i, g in enumerate(t.axes)
    )
    return t.alike(storage, axes)


def split_axis(m: Machine, t: Tensor, logical: int, sizes: tuple[Dim, ...]) -> Tensor:
    """The same tensor with a logical axis split into axes of the given sizes."""
    rank = len(t.term(m).shape)
    storage = Regrouped(t.storage, logical - rank, sizes=sizes)
    extra = len(sizes) - 1

    def moved(x: int) -> tuple[int, ...]:
        if x == logical:
            return tuple(range(x, x + len(sizes)))
        return (x + extra,) if x > logical else (x,)

    return t.alike(storage, tuple(tuple(y for x in g for y in moved(x)) for g in t.axes))


def arranged(m: Machine, t: Tensor) -> Tensor:
    """The same tensor with logical axes in the order in which the layout has them."""
    order = tuple(x for g in t.axes for x in g)
    if order == tuple(range(len(order))):
        return t
    axes: list[tuple[int, ...]] = []
    index = 0
    for group in t.axes:
        axes.append(tuple(range(index, index + len(group))))
        index += len(group)
    return t.alike(Permuted(t.storage, order), tuple(axes))


def last_axis(m: Machine, t: Tensor) -> Tensor:
    """The same tensor with its last axis held by the last logical axis alone.

    An axis of size one has no logical axis: then the operators that work along it are stuck.
    """
    if not t.axes:
        raise m.exception("IndexError", "Dimension out of range (a scalar has no axes)")
    if not t.axes[-1]:
        raise m.stuck("an operator along a last axis of size one")
    t = regroup(m, t, len(t.axes) - 1)
    rank = len(t.term(m).shape)
    return t if t.axes[-1] == (rank - 1,) else arranged(m, t)


__all__ = [
    "Axes",
    "Root",
    "Tensor",
    "arranged",
    "filled",
    "fresh_input",
    "from_term",
    "last_axis",
    "layout_of",
    "op",
    "regroup",
    "split_axis",
    "unknown_tensor",
]
