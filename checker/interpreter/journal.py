"""What a run changes, noted so that a part of it can be judged, and taken back."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

from checker.interpreter.births import births
from checker.interpreter.looks import items_of
from checker.interpreter.open_values import Open
from checker.interpreter.storages import Root, root_of
from checker.interpreter.tensors import Tensor
from checker.interpreter.values import (
    ClassValue,
    Function,
    Instance,
    SuperValue,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from checker.graph.terms import Term
    from checker.interpreter.machine import Machine
    from checker.interpreter.outline import Outline


class Journal:
    """What a run changes, in order, and the containers that it has made.

    `writes`: tensors' values that were overwritten, with those. `saved`: what was changed in a part
    that may be taken back. `unsettled` counts what cannot be: conditions met where a result is kept
    for later, so that following the call again would not meet them again; iterators that went on.
    `managed` counts the context managers that are entered, which may swallow what is raised.
    `built`: the numbers of what was made for something that a run builds, or evaluates, only when
    it comes to it, and the number of that.
    """

    __slots__ = ("built", "changed", "made", "managed", "saved", "unsettled", "writes")

    def __init__(self) -> None:
        self.changed: list[Any] = []
        self.writes: list[tuple[Root, Term]] = []
        self.made: dict[int, tuple[Value, int]] = {}
        self.saved: Saved | None = None
        self.unsettled = 0
        self.managed = 0
        self.built: list[tuple[int, int, int]] = []

    def builds(self, first: int, owner: int = -1) -> None:
        """What was made since the first number is as old as its owner, or as modules are."""
        self.built.append((first, next(births), owner))

    def age(self, number: int) -> int:
        """The number of what something was made for; its own where that is nothing else."""
        place = bisect_right(self.built, (number,)) - 1
        if place >= 0:
            first, last, owner = self.built[place]
            if first < number < last:
                return self.age(owner)
        return number

    def makes(self, value: Value) -> None:
        """A container was made."""
        self.made[id(value)] = value, next(births)

    def changes(self, value: Any) -> None:
        """Something is about to be changed."""
        # a tensor may be given another storage: it counts which one it has until then
        self.changed.append(root_of(value.storage) if isinstance(value, Tensor) else value)
        if self.saved is not None:
            self.saved.add(self, value)


class Mark:
    """A place in a run: what was there then, and what has been answered."""

    __slots__ = (
        *("answers", "beliefs", "born", "changed", "decisions", "state", "steps", "stored"),
        "writes",
    )

    def __init__(self, m: Machine, outline: Outline, journal: Journal) -> None:
        self.born = next(births)
        self.steps = m.steps
        self.changed = len(journal.changed)
        self.writes = len(journal.writes)
        self.decisions = len(m.decisions)
        self.answers = len(m.answers)
        self.beliefs = len(m.beliefs)
        self.stored = len(outline.stored)
        self.state = _state(m, outline, journal)

    def is_new(self, journal: Journal, value: Any) -> bool:
        """Whether something was made after this."""
        if isinstance(value, Tensor):
            value = root_of(value.storage)
        if isinstance(value, Unknown) and not isinstance(value, Open):
            return True  # what is done to something unknown changes nothing
        if isinstance(value, (list, dict, set)):
            made = journal.made.get(id(value))
            return made is not None and made[1] > self.born
        number: int = getattr(value, "number", -1)
        return number > self.born and journal.age(number) > self.born

    def written(self, journal: Journal) -> dict[Root, Term]:
        """The tensors' values that were there and have been overwritten, with what they were."""
        found: dict[Root, Term] = {}
        for root, term in journal.writes[self.writes :]:
            if journal.age(root.number) < self.born:
                found.setdefault(root, term)
        return found

    def is_kept(self, m: Machine, outline: Outline, journal: Journal) -> bool:
        """Whether everything that was there is as it was, but for values of tensors."""
        return self.is_level(m, outline, journal) and all(
            self.is_new(journal, value) for value in journal.changed[self.changed :]
        )

    def is_level(self, m: Machine, outline: Outline, journal: Journal) -> bool:
        """Whether what was changed since is nothing but values."""
        return self.state == _state(m, outline, journal)

    def go_back(self, m: Machine, outline: Outline) -> None:
        """Forgets what was asked since, and what was answered."""
        del m.decisions[self.decisions :]
        while len(m.answers) > self.answers:
            m.answers.popitem()
        m.beliefs.go_back(self.beliefs)
        del outline.stored[self.stored :]


def _state(m: Machine, outline: Outline, journal: Journal) -> tuple[Any, ...]:
    """What a run changes elsewhere than in values: what of it is the same has not been touched."""
    return (
        outline.runs,
        outline.awaited,
        outline.depth,
        len(outline.unclear),
        len(m.lost),
        len(m.aliases),
        len(m.ranges),
        len(m.counts),
        m.grad_disabled,
        m.trying,
        journal.unsettled,
    )


class Saved:
    """What is changed from now on of what there was at a mark, with what it holds now."""

    def __init__(self, m: Machine, outline: Outline, journal: Journal, before: Mark) -> None:
        self._before = before
        self._values: dict[int, tuple[Value, Any]] = {}
        self._changed = len(journal.changed)
        self._lost, self._unclear = len(m.lost), len(outline.unclear)

    def has(self, values: Iterable[Value]) -> bool:
        """Whether one of several things is changed."""
        return any(id(value) in self._values for value in values)

    def add(self, journal: Journal, value: Any) -> None:
        """Something is about to be changed."""
        if isinstance(value, SuperValue):
            value = value.start
        if id(value) in self._values or self._before.is_new(journal, value):
            return
        held = _content(value)
        if held is None:
            journal.unsettled += 1
        else:
            self._values[id(value)] = value, held

    def restore(self, m: Machine, outline: Outline, journal: Journal) -> None:
        """Everything holds again what it held."""
        for value, held in self._values.values():
            _put_back(value, held)
        self._values.clear()
        m.hooks.clear()  # classes may have got one
        while len(m.lost) > self._lost:
            m.lost.popitem()
        del outline.unclear[self._unclear :]
        del journal.changed[self._changed :]


def _content(value: Value) -> Any:
    """What something holds; None where that is not known."""
    match value:
        case Instance():
            return dict(items_of(value.attrs)), value.tainted, value.data
        case ClassValue():
            return dict(value.namespace)
        case Function():
            return dict(value.attrs)
        case Open():
            return dict(value.names)
        case Tensor():
            return dict(value.extra), value.storage, value.axes, value.kind, value.requires_grad
        case dict():
            return dict(items_of(value))
        case list() | set():
            return value.copy()
        case _:
            return None


def _put_back(value: Value, held: Any) -> None:
    match value:
        case Instance():
            attrs, value.tainted, value.data = held
            fill(value.attrs, attrs)
        case ClassValue():
            fill(value.namespace, held)
        case Function():
            fill(value.attrs, held)
        case Open():
            fill(value.names, held)
        case Tensor():
            extra, value.storage, value.axes, value.kind, value.requires_grad = held
            fill(value.extra, extra)
        case list():
            value[:] = held
        case _:
            fill(value, held)


def fill(place: Any, held: Any) -> None:
    """Has a container hold that, and nothing else."""
    place.clear()
    place.update(held)


__all__ = ["Journal", "Mark", "Saved", "fill"]
