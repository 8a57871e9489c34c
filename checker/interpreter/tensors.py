"""Tensors: a graph term in a storage, seen through a layout.

A term has a canonical logical shape without axes of size one. A tensor's own shape is a layout over it: each of
its axes is an ordered group of logical axes (an empty group is an axis of size one). Views, transposes and batch
dimensions of one are changes of layout and leave the term alone, so two programs that arrange the same numbers
differently still build the same term.

Storages are shared between views; a write through a view reaches the tensor it was taken from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from checker.graph import dims
from checker.graph.dims import Dim, Poly
from checker.graph.terms import Attr, ShapeError, Term
from checker.interpreter.values import Raised, Unknown, Value

if TYPE_CHECKING:
    from checker.interpreter.machine import Machine

Axes = tuple[tuple[int, ...], ...]


class Storage(Protocol):
    """Where a term lives: a root, or a part of another storage."""

    def term(self, m: Machine) -> Term: ...

    def set(self, m: Machine, term: Term) -> None: ...


class Root:
    """A storage of its own."""

    __slots__ = ("_term",)

    def __init__(self, term: Term) -> None:
        self._term = term

    def term(self, m: Machine) -> Term:
        return self._term

    def set(self, m: Machine, term: Term) -> None:
        self._term = term


class SliceOf:
    """The range `start:stop` of a logical axis (negative) of another storage."""

    __slots__ = ("axis", "parent", "start", "stop")

    def __init__(self, parent: Storage, axis: int, start: Dim, stop: Dim) -> None:
        self.parent, self.axis, self.start, self.stop = parent, axis, start, stop

    def term(self, m: Machine) -> Term:
        return op(m, "slice", self.parent.term(m), axis=self.axis, start=self.start, stop=self.stop)

    def set(self, m: Machine, term: Term) -> None:
        whole = self.parent.term(m)
        size = whole.shape[self.axis]
        parts = [term]
        if dims.equal(self.start, 0) is not True:
            parts.insert(0, op(m, "slice", whole, axis=self.axis, start=0, stop=self.start))
        if dims.equal(self.stop, size) is not True:
            parts.append(op(m, "slice", whole, axis=self.axis, start=self.stop, stop=size))
        self.parent.set(m, op(m, "concat", *parts, axis=self.axis) if len(parts) > 1 else term)


class Regrouped:
    """Another storage with one logical axis split (`sizes`) or `count` axes merged."""

    __slots__ = ("axis", "count", "parent", "sizes")

    def __init__(self, parent: Storage, axis: int, sizes: tuple[Dim, ...] = (), count: int = 0) -> None:
        self.parent, self.axis, self.sizes, self.count = parent, axis, sizes, count

    def term(self, m: Machine) -> Term:
        whole = self.parent.term(m)
        if self.sizes:
            return op(m, "unflatten", whole, axis=self.axis, sizes=self.sizes)
        return op(m, "flatten", whole, axis=self.axis, count=self.count)

    def set(self, m: Machine, term: Term) -> None:
        if self.sizes:
            merged = self.axis if self.axis == -1 else self.axis
            self.parent.set(m, op(m, "flatten", term, axis=merged, count=len(self.sizes)))
            return
        shape = self.parent.term(m).shape
        last = len(shape) + self.axis
        sizes = shape[last - self.count + 1 : last + 1]
        self.parent.set(m, op(m, "unflatten", term, axis=self.axis, sizes=tuple(sizes)))


class Tensor:
    """A tensor of the checked program.

    `kind` is "float", "int" or "bool". `parameter` says it is an nn.Parameter; `extra` holds attributes that the
    checked code set on it (weight loaders, flags).
    """

    __slots__ = ("axes", "buffer", "extra", "kind", "parameter", "requires_grad", "storage")

    def __init__(self, storage: Storage, axes: Axes, kind: str = "float") -> None:
        self.storage = storage
        self.axes = axes
        self.kind = kind
        self.parameter = False
        self.buffer = False
        self.requires_grad = False
        self.extra: dict[str, Value] = {}

    def term(self, m: Machine) -> Term:
        return self.storage.term(m)

    def shape(self, m: Machine) -> tuple[Dim, ...]:
        logical = self.term(m).shape
        return tuple(dims.dim_mul(logical[i] for i in group) for group in self.axes)

    def write(self, m: Machine, value: Tensor) -> None:
        """Overwrites the tensor's values in place."""
        terms, axes = aligned(m, [self, value])
        if axes != self.axes or terms[0] is not self.term(m):
            self.forget(m, m.unknown("a write through a layout that is not followed"))
            return
        self.storage.set(m, terms[1])

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
        return Tensor(storage, self.axes if axes is None else axes, self.kind)


# -- making ------------------------------------------------------------------------------------------


def op(m: Machine, name: str, /, *terms: Term, **attrs: Attr) -> Term:
    """One operator at the current place; a shape the checked program could not compute raises there."""
    m.mark()
    if not m.grad_disabled:
        for term in terms:
            if term.op == "param":
                m.grad_used.add(str(term.attr("name")))
    try:
        made = m.builder.op(name, *terms, **attrs)
        return m.aliases.get(made, made)
    except ShapeError as error:
        raised = m.exception("RuntimeError", str(error))
        raised.terms = terms
        raise raised from None


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
    logical, axes = layout_of(shape)
    m.mark()
    return Tensor(Root(m.builder.input(name, logical)), axes, kind)


def filled(m: Machine, value: float | bool | None, shape: tuple[Dim, ...], kind: str = "float") -> Tensor:
    """A tensor filled with a number; None: uninitialised."""
    logical, axes = layout_of(shape)
    m.mark()
    term = m.builder.empty(logical) if value is None else m.builder.const(value, logical)
    return Tensor(Root(term), axes, kind)


def unknown_tensor(m: Machine, reason: str, shape: tuple[Dim, ...], kind: str = "float") -> Tensor:
    logical, axes = layout_of(shape)
    m.mark()
    return Tensor(Root(m.builder.unknown(reason, logical)), axes, kind)


# -- regrouping --------------------------------------------------------------------------------------


def regroup(m: Machine, t: Tensor, axis: int) -> Tensor:
    """The same tensor with tensor axis `axis` held by one logical axis (or none)."""
    group = t.axes[axis]
    if len(group) <= 1:
        return t
    if any(b != a + 1 for a, b in zip(group, group[1:], strict=False)):
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
    axes = tuple(
        tuple(
            x2
            for x in g
            for x2 in (range(x, x + len(sizes)) if x == logical else ((x + extra,) if x > logical else (x,)))
        )
        for g in t.axes
    )
    return t.alike(storage, axes)


def arranged(m: Machine, t: Tensor) -> Tensor:
    """The same values with logical axes in the order in which the layout has them."""
    order = tuple(x for g in t.axes for x in g)
    term = t.term(m)
    if order == tuple(range(len(order))):
        return t
    permuted = op(m, "permute", term, axes=order)
    axes: list[tuple[int, ...]] = []
    index = 0
    for group in t.axes:
        axes.append(tuple(range(index, index + len(group))))
        index += len(group)
    return t.alike(Root(permuted), tuple(axes))


def last_axis(m: Machine, t: Tensor) -> Tensor:
    """The same values with the last tensor axis held by the last logical axis alone."""
    if not t.axes:
        raise m.exception("IndexError", "Dimension out of range (a scalar has no axes)")
    t = regroup(m, t, len(t.axes) - 1)
    rank = len(t.term(m).shape)
    if t.axes[-1] and t.axes[-1] != (rank - 1,):
        t = arranged(m, t)
    return t


# -- elementwise -------------------------------------------------------------------------------------


def aligned(m: Machine, operands: list[Tensor]) -> tuple[list[Term], Axes]:
    """Broadcasts operands against each other.

    Returns: their terms, all with one logical shape, and the layout of the result. The logical order is that of
    the operand that covers the whole result, so that a permuted layout costs nothing.
    """
    rank = max(len(t.axes) for t in operands)
    operands = _same_factors(m, operands, rank)
    padded = [((),) * (rank - len(t.axes)) + t.axes for t in operands]
    _check_sizes(m, operands, padded, rank)
    widest = [max((p[i] for p in padded), key=len) for i in range(rank)]
    reference = next(
        (n for n, p in enumerate(padded) if all(len(p[i]) == len(widest[i]) for i in range(rank))), None
    )
    if reference is not None:
        axes: Axes = padded[reference]
        shape = operands[reference].term(m).shape
    else:
        count = 0
        groups: list[tuple[int, ...]] = []
        sizes: list[Dim] = []
        for i in range(rank):
            owner = next(n for n, p in enumerate(padded) if len(p[i]) == len(widest[i]))
            groups.append(tuple(range(count, count + len(widest[i]))))
            count += len(widest[i])
            sizes.extend(operands[owner].term(m).shape[x] for x in padded[owner][i])
        axes, shape = tuple(groups), tuple(sizes)
    return [_spread(m, t, p, axes, shape) for t, p in zip(operands, padded, strict=True)], axes


def _same_factors(m: Machine, operands: list[Tensor], rank: int) -> list[Tensor]:
    """Merges the logical axes of a tensor axis where operands have it split differently."""
    result = list(operands)
    for i in range(1, rank + 1):
        groups = []
        for t in result:
            if i <= len(t.axes):
                logical = t.term(m).shape
                groups.append(tuple(logical[x] for x in t.axes[-i]))
        if len({g for g in groups if g}) > 1:
            result = [regroup(m, t, len(t.axes) - i) if i <= len(t.axes) else t for t in result]
    return result


def _check_sizes(m: Machine, operands: list[Tensor], padded: list[Axes], rank: int) -> None:
    for i in range(rank):
        seen: Dim | None = None
        for t, p in zip(operands, padded, strict=True):
            if not p[i]:
                continue
            logical = t.term(m).shape
            size = dims.dim_mul(logical[x] for x in p[i])
            if seen is not None and dims.equal(seen, size) is False:
                raise m.exception(
                    "RuntimeError",
                    f"The size of tensor a ({seen}) must match the size of tensor b ({size}) at dimension {i}",
                )
            if seen is not None and dims.equal(seen, size) is None:
                raise m.stuck(f"whether sizes {seen} and {size} are equal")
            seen = size


def _spread(m: Machine, t: Tensor, own: Axes, axes: Axes, shape: tuple[Dim, ...]) -> Term:
    """One operand's term, expanded or permuted to the result's logical axes."""
    term = t.term(m)
    if not term.shape:
        return term
    mapping: list[int | None] = [None] * len(shape)
    for mine, theirs in zip(own, axes, strict=True):
        if mine:
            for x, y in zip(mine, theirs, strict=True):
                mapping[y] = x
    if mapping == list(range(len(term.shape))) and len(mapping) == len(shape):
        return term
    if None not in mapping:
        return op(m, "permute", term, axes=tuple(mapping))
    return op(m, "expand", term, axes=tuple(mapping), shape=shape)


_BOOLEAN = frozenset(("eq", "ne", "lt", "le", "gt", "ge", "and_", "or_", "not_"))


def elementwise(m: Machine, name: str, values: list[Value], **attrs: Any) -> Value:
    """An elementwise operator over tensors and numbers."""
    for value in values:
        if isinstance(value, Unknown):
            return value
    operands = [as_tensor(m, value) for value in values]
    if any(t is None for t in operands):
        return m.unknown(f"{name} of a tensor and {[type(v).__name__ for v in values]}")
    tensors = [t for t in operands if t is not None]
    terms, axes = aligned(m, tensors)
    if name == "pow" and len(terms) == 2 and isinstance(values[1], (int, float)):
        term = op(m, "pow", terms[0], exponent=values[1])
    else:
        term = op(m, name, *terms, **attrs)
    kind = "bool" if name in _BOOLEAN else next((t.kind for t in tensors if t.axes), tensors[0].kind)
    if kind == "int" and name in ("div", "mean", "rsqrt", "sqrt", "cos", "sin"):
        kind = "float"
    if not term.shape and axes and any(axes):
        term = op(m, "expand", term, axes=tuple(None for g in axes for _ in g), shape=_shape_of(m, tensors, axes))
    return Tensor(Root(term), axes, kind)


def _shape_of(m: Machine, tensors: list[Tensor], axes: Axes) -> tuple[Dim, ...]:
    for t in tensors:
        if t.axes == axes:
            return t.term(m).shape
    raise m.stuck("a broadcast that is not followed")


def as_tensor(m: Machine, value: Value) -> Tensor | None:
    """A tensor, or a number as a scalar tensor."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, bool):
        return Tensor(Root(m.builder.const(value)), (), "bool")
    if isinstance(value, (int, float)):
        return Tensor(Root(m.builder.const(value)), (), "int" if isinstance(value, int) else "float")
    if isinstance(value, Poly):
        return Tensor(Root(m.builder.const(value)), (), "int")
    return None


__all__ = ["Raised", "Tensor", "aligned", "elementwise", "from_term", "op"]
