"""Storages: where the term of a tensor lives, and what of it a view shows.

Views keep their base: what is written through one is seen through all others, as in torch. Reading
a view computes its term from its base's; writing sets the base's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from checker.graph import dims
from checker.graph.terms import Attr, ShapeError, Term
from checker.interpreter.births import births

if TYPE_CHECKING:
    from checker.graph.dims import Dim
    from checker.interpreter.machine import Machine


def op(m: Machine, name: str, /, *terms: Term, **attrs: Attr) -> Term:
    """One operator at the current place.

    A shape the checked program could not compute raises there.
    """
    m.mark()
    if not m.grad_disabled:
        for term in terms:
            if term.op == "param":
                m.grad_used.add(str(term.attr("name")))
    try:
        made = m.builder.op(name, *terms, **attrs)
        return m.aliases.get(made, made)
    except ShapeError as error:
        wider = _as_wide(m, name, terms)
        if wider is not None:
            return m.builder.op(name, *wider, **attrs)
        raised = m.exception("RuntimeError", str(error))
        raised.terms = terms
        raise raised from None


def _as_wide(m: Machine, name: str, terms: tuple[Term, ...]) -> tuple[Term, ...] | None:
    """The operands of a projection with its weight as wide as its input, where that is asked for.

    None where it is not, or where it is not the width of one parameter that is wrong.
    """
    if m.widened is None or name != "linear" or len(terms) < 2:
        return None
    given, weight, *bias = terms
    if weight.op != "param" or weight.rank != 2 or given.rank < 1:
        return None
    shape = (weight.shape[0], given.shape[-1])
    loaded = weight.attr("loaded", True) is not False
    made = m.builder.param(str(weight.attr("name")), shape, loaded)
    m.widened[made] = None
    return given, made, *bias


class Storage(Protocol):
    """Where a term lives: a root, or a part of another storage."""

    def term(self, m: Machine) -> Term:
        """The values."""

    def set(self, m: Machine, term: Term) -> None:
        """Overwrites the values."""

    def version(self) -> int:
        """A number that grows with each write."""


class Root:
    """A storage of its own."""

    __slots__ = ("_term", "_version", "number")

    def __init__(self, term: Term) -> None:
        self._term = term
        self._version = 0
        self.number = next(births)

    def term(self, m: Machine) -> Term:
        """The values."""
        return self._term

    def set(self, m: Machine, term: Term) -> None:
        """Overwrites the values."""
        if m.journal is not None:
            m.journal.writes.append((self, self._term))
        self.put(term)

    def put(self, term: Term) -> None:
        """Puts in other values, as if they had been there."""
        self._term = term
        self._version += 1

    def version(self) -> int:
        """The number of writes so far."""
        return self._version


class _View:
    """Another storage, seen otherwise. The term is kept until the base is written to."""

    __slots__ = ("_known", "_seen", "parent")

    def __init__(self, parent: Storage) -> None:
        self.parent = parent
        self._known: Term | None = None
        self._seen = -1

    def term(self, m: Machine) -> Term:
        """What the view shows of its base's values."""
        version = self.parent.version()
        if self._known is None or self._seen != version:
            self._known = self.seen(m, self.parent.term(m))
            self._seen = version
        return self._known

    def seen(self, m: Machine, whole: Term) -> Term:
        """The view's term, out of its base's."""
        raise NotImplementedError

    def version(self) -> int:
        """The base's."""
        return self.parent.version()


class SliceOf(_View):
    """The range `start:stop` of a logical axis (negative) of another storage."""

    __slots__ = ("axis", "start", "stop")

    def __init__(self, parent: Storage, axis: int, start: Dim, stop: Dim) -> None:
        super().__init__(parent)
        self.axis, self.start, self.stop = axis, start, stop

    def seen(self, m: Machine, whole: Term) -> Term:
        """The part of the base's values."""
        return op(m, "slice", whole, axis=self.axis, start=self.start, stop=self.stop)

    def set(self, m: Machine, term: Term) -> None:
        """Overwrites that part of the base."""
        whole = self.parent.term(m)
        self.parent.set(m, _replaced(m, whole, self.axis, self.start, self.stop, term))


class SelectOf(_View):
    """One place along a logical axis (negative) of another storage; the axis is gone."""

    __slots__ = ("axis", "index")

    def __init__(self, parent: Storage, axis: int, index: Dim) -> None:
        super().__init__(parent)
        self.axis, self.index = axis, index

    def seen(self, m: Machine, whole: Term) -> Term:
        """The base's values at that place."""
        return op(m, "select", whole, axis=self.axis, index=self.index)

    def set(self, m: Machine, term: Term) -> None:
        """Overwrites the base at that place."""
        whole = self.parent.term(m)
        part = with_axis(m, term, len(whole.shape) + self.axis)
        replaced = _replaced(m, whole, self.axis, self.index, self.index + 1, part)
        self.parent.set(m, replaced)


class Permuted(_View):
    """Another storage with its logical axes in another order."""

    __slots__ = ("order",)

    def __init__(self, parent: Storage, order: tuple[int, ...]) -> None:
        super().__init__(parent)
        self.order = order

    def seen(self, m: Machine, whole: Term) -> Term:
        """The base's values with axes permuted."""
        return op(m, "permute", whole, axes=self.order)

    def set(self, m: Machine, term: Term) -> None:
        """Overwrites the base."""
        inverse = tuple(self.order.index(i) for i in range(len(self.order)))
        self.parent.set(m, op(m, "permute", term, axes=inverse))


class Regrouped(_View):
    """Another storage with one logical axis split (`sizes`) or `count` axes merged."""

    __slots__ = ("axis", "count", "sizes")

    def __init__(
        self, parent: Storage, axis: int, sizes: tuple[Dim, ...] = (), count: int = 0
    ) -> None:
        super().__init__(parent)
        self.axis, self.sizes, self.count = axis, sizes, count

    def seen(self, m: Machine, whole: Term) -> Term:
        """The base's values with axes split or merged."""
        if self.sizes:
            return op(m, "unflatten", whole, axis=self.axis, sizes=self.sizes)
        return op(m, "flatten", whole, axis=self.axis, count=self.count)

    def set(self, m: Machine, term: Term) -> None:
        """Overwrites the base."""
        if self.sizes:
            count = len(self.sizes)
            self.parent.set(m, op(m, "flatten", term, axis=self.axis, count=count))
            return
        shape = self.parent.term(m).shape
        last = len(shape) + self.axis
        sizes = shape[last - self.count + 1 : last + 1]
        self.parent.set(m, op(m, "unflatten", term, axis=self.axis, sizes=tuple(sizes)))


class Expanded(_View):
    """Another storage with axes broadcast (`axes`.

    For each logical axis that of the base, or None).
    """

    __slots__ = ("axes", "shape")

    def __init__(
        self, parent: Storage, axes: tuple[int | None, ...], shape: tuple[Dim, ...]
    ) -> None:
        super().__init__(parent)
        self.axes, self.shape = axes, shape

    def seen(self, m: Machine, whole: Term) -> Term:
        """The base's values, repeated."""
        return op(m, "expand", whole, axes=self.axes, shape=self.shape)

    def set(self, m: Machine, term: Term) -> None:
        """Several elements of an expanded tensor are one: torch refuses most such writes."""
        raise m.stuck("a write to an expanded tensor")


class Loose:
    """A copy of another storage, possibly reshaped, or that storage itself.

    Which of the two is not known.

    `x.contiguous()`, `x.to(dtype)` and `x.reshape(…)` copy only where they must. As long as neither
    side is written to it makes no difference; after that the other side is unknown.
    """

    __slots__ = ("_seen", "_term", "_version", "parent")

    def __init__(self, m: Machine, parent: Storage, term: Term | None = None) -> None:
        self.parent = parent
        self._term = parent.term(m) if term is None else term
        self._seen = parent.version()
        self._version = 0

    def term(self, m: Machine) -> Term:
        """The values, unknown once the other side was written to."""
        if self.parent.version() != self._seen:
            m.mark()
            reason = "a copy of a tensor that was written to, which may be no copy"
            self._term = m.builder.unknown(reason, self._term.shape)
            self._seen = self.parent.version()
        return self._term

    def set(self, m: Machine, term: Term) -> None:
        """Overwrites the values; the other side's are unknown from now on."""
        m.mark()
        reason = "a tensor whose copy, which may be no copy, was written to"
        self.parent.set(m, m.builder.unknown(reason, self.parent.term(m).shape))
        self._seen = self.parent.version()
        self._term = term
        self._version += 1

    def version(self) -> int:
        """Grows with the writes to either side."""
        return self._version + self.parent.version()


def may_overlap(a: Storage, b: Storage) -> bool:
    """Whether two different views of one storage may show the same places differently.

    What an in-place operator then reads has perhaps been written already.
    """
    if a is b or root_of(a) is not root_of(b):
        return False
    one, two = _range(a), _range(b)
    if one is None or two is None or one[0] is not two[0] or one[1] != two[1]:
        return True
    (start, stop), (other_start, other_stop) = one[2:], two[2:]
    if (start, stop) == (other_start, other_stop) and type(a) is type(b):
        return False
    apart = dims.at_most(stop, other_start) is True or dims.at_most(other_stop, start) is True
    return not apart


def _range(storage: Storage) -> tuple[Storage, int, Dim, Dim] | None:
    """The base, axis, start and stop of a part of a storage."""
    match storage:
        case SliceOf():
            return storage.parent, storage.axis, storage.start, storage.stop
        case SelectOf():
            return storage.parent, storage.axis, storage.index, storage.index + 1
        case _:
            return None


def root_of(storage: Storage) -> Storage:
    """The storage that a view shows a part of."""
    while isinstance(storage, (_View, Loose)):
        storage = storage.parent
    return storage


def is_whole(storage: Storage) -> bool:
    """Whether a storage surely shows all of its base in the order in which it lies in memory."""
    while isinstance(storage, Regrouped):
        storage = storage.parent
    return isinstance(storage, Root)


def with_axis(m: Machine, term: Term, place: int) -> Term:
    """The term with an axis of size one put in, so that it can be joined along it."""
    shape = (*term.shape[:place], 1, *term.shape[place:])
    axes = tuple(None if i == place else i - (i > place) for i in range(len(shape)))
    return op(m, "expand", term, axes=axes, shape=shape)


def _replaced(m: Machine, whole: Term, axis: int, start: Dim, stop: Dim, part: Term) -> Term:
    """`whole` with the range `start:stop` of an axis replaced."""
    size = whole.shape[axis]
    parts = [part]
    if dims.equal(start, 0) is not True:
        parts.insert(0, op(m, "slice", whole, axis=axis, start=0, stop=start))
    if dims.equal(stop, size) is not True:
        parts.append(op(m, "slice", whole, axis=axis, start=stop, stop=size))
    return op(m, "concat", *parts, axis=axis) if len(parts) > 1 else part
