"""Conditions in an outline run that do not matter outside of the call, or `if`, that meets them.

What comes of a call is compared for each answer to the conditions that nothing decides within it.
Where the call changes nothing that was there before, and the results differ in nothing but what was
computed within it, such a result stands for all of them: something of which nothing is known. The
conditions need not be followed through the rest of the run then, both ways each.

What cannot be merged once is not merged again, so that every run of a target meets the remaining
conditions in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from checker.graph.dims import Poly
from checker.interpreter import conditions, outline_kinds
from checker.interpreter import outline_parts as parts
from checker.interpreter.births import births
from checker.interpreter.open_values import Open
from checker.interpreter.outline import MISSING, is_summarised
from checker.interpreter.storages import Root, root_of
from checker.interpreter.tensors import Tensor, fresh_input
from checker.interpreter.values import (
    ClassValue,
    External,
    Function,
    Instance,
    ModuleValue,
    Raised,
    Stuck,
    Unknown,
    Value,
)
from checker.interpreter.ways import Ways

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable

    from checker.graph.terms import Term
    from checker.interpreter.machine import Frame, Machine
    from checker.interpreter.outline import Outline
    from checker.interpreter.statements import Signal

_MOST = 8
"""Conditions that one call may meet; the work grows with their number."""
_SEVERAL = "depends on conditions that nothing decides"


class _Differ(Exception):
    """Two results for which nothing can stand."""


@dataclass(slots=True, eq=False)
class Merging:
    """What is merged in all runs of a target: calls and conditions, by function and statement.

    `apart` are those that cannot be. `stale`: something that was merged is among them now, or a run
    met conditions for which it had other answers: all runs have to be begun anew. `tried`: some
    other way was followed, which may leave less known than there was.
    """

    apart: set[ast.AST] = field(default_factory=set)
    merged: set[ast.AST] = field(default_factory=set)
    stale: bool = False
    tried: bool = False

    def begin(self) -> None:
        """The runs begin anew."""
        self.merged.clear()
        self.stale = False

    def leave_open(self, m: Machine, node: ast.AST, before: _Mark) -> None:
        """What a call or an `if` has met since stays open, now and in all runs.

        All of it was taken to hold, as it is in the first run.
        """
        self.apart.add(node)
        answers = m.script[before.decisions : len(m.decisions)]
        self.stale = self.stale or node in self.merged or not all(answers)


class Journal:
    """What a run changes, in order, and the containers that it has made.

    `writes`: tensors' values that were overwritten, with those. `unsettled` counts the conditions
    met where a result is kept for later: following the call again would not meet them again.
    """

    __slots__ = ("changed", "made", "unsettled", "writes")

    def __init__(self) -> None:
        self.changed: list[Any] = []
        self.writes: list[tuple[Root, Term]] = []
        self.made: dict[int, tuple[Value, int]] = {}
        self.unsettled = 0

    def makes(self, value: Value) -> None:
        """A container was made."""
        self.made[id(value)] = value, next(births)


class _Mark:
    """A place in a run: what was there then, and what has been answered."""

    __slots__ = ("answers", "beliefs", "born", "changed", "decisions", "state", "stored", "writes")

    def __init__(self, m: Machine, outline: Outline, journal: Journal) -> None:
        self.born = next(births)
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
        if isinstance(value, (list, dict, set)):
            made = journal.made.get(id(value))
            return made is not None and made[1] > self.born
        number: int = getattr(value, "number", -1)
        return number > self.born

    def written(self, journal: Journal) -> dict[Root, Term]:
        """The tensors' values that were there and have been overwritten, with what they were."""
        found: dict[Root, Term] = {}
        for root, term in journal.writes[self.writes :]:
            if root.number < self.born:
                found.setdefault(root, term)
        return found

    def is_kept(self, m: Machine, outline: Outline, journal: Journal) -> bool:
        """Whether everything that was there is as it was, but for values of tensors."""
        return self.state == _state(m, outline, journal) and all(
            self.is_new(journal, value) for value in journal.changed[self.changed :]
        )

    def is_open(self, m: Machine, test: Value) -> bool:
        """Whether a condition that was looked at since is not decided, and nothing was changed."""
        if len(m.decisions) == self.decisions and not isinstance(test, Unknown):
            return False
        assert m.outline is not None
        assert m.journal is not None
        return self.is_kept(m, m.outline, m.journal)

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


def is_open(m: Machine, node: ast.AST) -> bool:
    """Whether it is tried to merge what comes of a call, or of an `if`."""
    outline = m.outline
    return (
        outline is not None
        and outline.merging is not None
        and m.journal is not None
        and not outline.building
        and node not in outline.merging.apart
        and m.account is None
        and not m.attempting
    )


def mark(m: Machine) -> _Mark:
    """The place at which a run is."""
    assert m.outline is not None
    assert m.journal is not None
    return _Mark(m, m.outline, m.journal)


def condition(
    m: Machine, frame: Frame, stmt: ast.If, before: _Mark, work: Callable[[], Signal | None]
) -> Signal | None:
    """An `if` that nothing decides, whose condition was looked at since a mark.

    What its ways leave in the names of the function is merged.
    """
    from checker.interpreter.statements import ended

    assert m.outline is not None
    before.go_back(m, m.outline)
    names = frame.scope.names
    old = dict(dict.items(names))

    def run() -> Value:
        _put(names, old)
        signal = work()
        kind, value = ("", None) if signal is None else (signal.kind, signal.value)
        return _Ended(kind, value, dict(dict.items(names)))

    end = call(m, stmt, run)
    _put(names, end.names)
    return ended(end.kind, end.value) if end.kind else None


@dataclass(frozen=True, slots=True, eq=False)
class _Ended:
    """How an `if` ended, and what the function's names were then."""

    kind: str
    value: Value
    names: dict[str, Value]


def _put(names: dict[str, Value], new: dict[str, Value]) -> None:
    names.clear()
    names.update(new)


def call(m: Machine, node: ast.AST, work: Callable[[], Value]) -> Value:
    """What comes of a call, or of an `if`, whatever the answers to the conditions met in it.

    Where that cannot be said they stay open, and it is what comes of it if each of them holds.
    """
    outline, journal = m.outline, m.journal
    assert outline is not None
    assert outline.merging is not None
    assert journal is not None
    merging, before, outer = outline.merging, _Mark(m, outline, journal), m.script
    m.script = outer[: before.decisions]
    try:
        found = work()
    except (Raised, Stuck):
        m.script = outer
        if len(m.decisions) > before.decisions:
            merging.leave_open(m, node, before)
        raise
    finally:
        m.script = outer
    if len(m.decisions) == before.decisions:
        return found
    answered = _Answered(m, outline, before)
    try:
        merged = _merged(m, outline, journal, before, found, work)
    except (Raised, Stuck, _Differ):
        m.script = outer
        answered.restore(m, outline, before)
        merging.leave_open(m, node, before)
        return found
    finally:
        m.script = outer
    before.go_back(m, outline)
    merging.merged.add(node)
    return merged


class _Answered:
    """What was asked since a mark, and answered, and what was put into lists meanwhile."""

    def __init__(self, m: Machine, outline: Outline, before: _Mark) -> None:
        self.stored = outline.stored[before.stored :]
        self.decisions = m.decisions[before.decisions :]
        self.answers = list(m.answers.items())[before.answers :]
        self.beliefs = m.beliefs.since(before.beliefs)

    def restore(self, m: Machine, outline: Outline, before: _Mark) -> None:
        """Has it asked and answered again."""
        before.go_back(m, outline)
        outline.stored += self.stored
        m.decisions += self.decisions
        m.answers.update(self.answers)
        for fact, belief in self.beliefs.items():
            m.beliefs.keep(fact, belief)


def _merged(
    m: Machine,
    outline: Outline,
    journal: Journal,
    before: _Mark,
    found: Value,
    work: Callable[[], Value],
) -> Value:
    """What stands for the results of all ways to answer what was asked since a mark.

    Raises:
        _Differ: nothing does.
    """
    merging, asked = outline.merging, m.decisions[before.decisions :]
    assert merging is not None
    if len(asked) > _MOST or not before.is_kept(m, outline, journal):
        raise _Differ
    merging.tried = True
    given = m.script + (True,) * (before.decisions - len(m.script))
    written = _Written(m, before, journal)
    ways = Ways()
    ways.next()
    ways.learn((), asked, refused=False)
    try:
        while (script := ways.next()) is not None:
            before.go_back(m, outline)
            written.go_back()
            m.script = given + script
            other = work()
            if not before.is_kept(m, outline, journal):
                raise _Differ
            written.add()
            ways.learn(script, m.decisions[before.decisions :], refused=False)
            found = _Join(m, outline, journal, before).of(found, other)
    except (Raised, Stuck, _Differ):
        written.go_back()
        written.go_on()
        if not before.is_kept(m, outline, journal):
            merging.stale = True  # something of another way is left
        raise
    written.merge()
    return found


class _Written:
    """The values of tensors that were there, as each way has left them."""

    def __init__(self, m: Machine, before: _Mark, journal: Journal) -> None:
        self._m = m
        self._before = before
        self._journal = journal
        self._old: dict[Root, Term] = {}
        self._left: list[dict[Root, Term]] = []
        self.add()

    def add(self) -> None:
        """Another way has ended."""
        for root, term in self._before.written(self._journal).items():
            self._old.setdefault(root, term)
        self._left.append({root: root.term(self._m) for root in self._old})

    def go_back(self) -> None:
        """All are what they were before."""
        self._old = {**self._before.written(self._journal), **self._old}
        for root, term in self._old.items():
            if root.term(self._m) is not term:
                root.put(term)

    def go_on(self) -> None:
        """All are what the first way has left."""
        for root, term in self._left[0].items():
            root.put(term)

    def merge(self) -> None:
        """Of those that are not the same after each way nothing is known."""
        self.go_back()
        for root, old in self._old.items():
            terms = {left.get(root, old) for left in self._left}
            if len(terms) == 1:
                root.set(self._m, terms.pop())
            else:
                root.set(self._m, self._m.builder.unknown(f"what {_SEVERAL}", old.shape))


class _Join:
    """Puts two results together, of which either may be what comes of something.

    Of what differs nothing is known, if it was made in there.
    """

    def __init__(self, m: Machine, outline: Outline, journal: Journal, before: _Mark) -> None:
        self._m = m
        self._outline = outline
        self._journal = journal
        self._before = before
        self._known: dict[tuple[int, int], Value] = {}

    def of(self, one: Value, two: Value) -> Value:
        """What stands for both.

        Raises:
            _Differ: nothing does.
        """
        if one is two or (parts.is_plain(one) and type(one) is type(two) and one == two):
            return one
        key = id(one), id(two)  # the same pair is the same value
        if key not in self._known:
            self._known[key] = self._new(one, two)
        return self._known[key]

    def _new(self, one: Value, two: Value) -> Value:
        if type(one) is type(two):
            if type(one) in _UNKNOWN and conditions.identity(one) == conditions.identity(two):
                return one
            if isinstance(one, tuple) and len(one) == len(two):
                return tuple(self.of(a, b) for a, b in zip(one, two, strict=True))
            if isinstance(one, _Ended) and one.kind == two.kind:
                names = self._names(one.names, two.names)
                return _Ended(one.kind, self.of(one.value, two.value), names)
            if isinstance(one, Instance):
                return self._module(one, two)
            if isinstance(one, Tensor) and self._is_anything(one) and self._is_anything(two):
                return self._tensor(one, two)
        if self._is_lost(one) and self._is_lost(two):
            return self._m.unknown(f"what {_SEVERAL}", harmless=True)
        raise _Differ

    def _names(self, one: dict[str, Value], two: dict[str, Value]) -> dict[str, Value]:
        every = dict.fromkeys([*one, *two])
        return {name: self.of(one.get(name, MISSING), two.get(name, MISSING)) for name in every}

    def _module(self, one: Instance, two: Instance) -> Value:
        made = outline_kinds.either(self._m, self._outline, one, two, "a module")
        if isinstance(made, Unknown):
            raise _Differ
        return made

    def _tensor(self, one: Tensor, two: Tensor) -> Value:
        """A tensor that may be anything, like what parts of layers give."""
        shape = one.shape(self._m)
        if one.kind != two.kind or shape != two.shape(self._m):
            return self._m.unknown(f"what {_SEVERAL}", harmless=True)
        self._outline.calls += 1
        return fresh_input(self._m, f"one of several {self._outline.calls}", shape, one.kind)

    def _is_anything(self, tensor: Tensor) -> bool:
        """Whether a tensor was made in there, shares its values with none, and is one for sure."""
        return (
            type(tensor.storage) is Root
            and self._before.is_new(self._journal, tensor)
            and self._outline.several(tensor) is None
        )

    def _is_lost(self, value: Value) -> bool:
        """Whether it may be forgotten what a value is: nothing else is changed through it."""
        if isinstance(value, tuple):
            return all(map(self._is_lost, value))
        if isinstance(value, Tensor):
            return self._before.is_new(self._journal, value)
        if isinstance(value, Open):
            return not value.names
        if isinstance(value, Instance):  # of a class of ours, whose methods touch nothing else
            new = self._before.is_new(self._journal, value) and value.data is None
            return (
                new and is_summarised(value.cls) and all(map(self._is_lost, value.attrs.values()))
            )
        return value is MISSING or parts.is_plain(value) or type(value) in _LOST


_UNKNOWN = frozenset((Unknown, conditions.Condition, conditions.Junction))
_LOST = _UNKNOWN | {Poly, External, Function, ClassValue, ModuleValue}
"""Values that are never changed; a function of which nothing is known is one that may be called."""

__all__ = ["Journal", "Merging", "call", "condition", "is_open", "mark"]
