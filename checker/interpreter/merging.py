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
from typing import TYPE_CHECKING

from checker.interpreter import outline_building
from checker.interpreter.joins import SEVERAL, Differ, Ended, Join
from checker.interpreter.journal import Mark, Saved, fill
from checker.interpreter.values import Raised, Stuck, Unknown, Value
from checker.interpreter.ways import Ways

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable

    from checker.graph.terms import Term
    from checker.interpreter.journal import Journal
    from checker.interpreter.machine import Frame, Machine
    from checker.interpreter.open_values import Several
    from checker.interpreter.outline import Outline, Stored
    from checker.interpreter.statements import Signal
    from checker.interpreter.storages import Root

_MOST = 8
"""Conditions that one call may meet; the work grows with their number."""
_STEPS = 4096
"""What following all other ways of a call may take, unless the first one took much."""
_TIMES = 8
"""How many times the steps of the first way following all others may take."""


@dataclass(slots=True, eq=False)
class Merging:
    """What is merged in all runs of a target: calls and conditions, by function and statement.

    `apart` are those that cannot be; `conditions` says what was answered both ways. `stale`:
    something that was merged is among those now, or a run met conditions for which it had other
    answers: all runs have to be begun anew. `tried`: less may be known than without.
    """

    apart: set[ast.AST] = field(default_factory=set)
    merged: set[ast.AST] = field(default_factory=set)
    conditions: dict[str, None] = field(default_factory=dict)
    stale: bool = False
    tried: bool = False

    def begin(self) -> None:
        """The runs begin anew."""
        self.merged.clear()
        self.conditions.clear()
        self.stale = False

    def undo(self, value: Several) -> None:
        """What gave one of several values stays open in all runs, which begin anew."""
        if value.origin is not None:
            self.apart.add(value.origin)
            self.stale = True

    def leave_open(self, m: Machine, node: ast.AST, before: Mark) -> None:
        """What a call or an `if` has met since stays open, now and in all runs.

        All of it was taken to hold, as it is in the first run.
        """
        self.apart.add(node)
        answers = m.script[before.decisions : len(m.decisions)]
        self.stale = self.stale or node in self.merged or not all(answers)


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


def mark(m: Machine) -> Mark:
    """The place at which a run is."""
    assert m.outline is not None
    assert m.journal is not None
    return Mark(m, m.outline, m.journal)


def is_left_open(m: Machine, before: Mark, test: Value) -> bool:
    """Whether a condition that was looked at since is not decided, and nothing was changed."""
    if len(m.decisions) == before.decisions and not isinstance(test, Unknown):
        return False
    assert m.outline is not None
    assert m.journal is not None
    kept = before.is_kept(m, m.outline, m.journal)
    return kept and not before.written(m.journal)  # the condition is looked at once more


def condition(
    m: Machine, frame: Frame, stmt: ast.If, before: Mark, work: Callable[[], Signal | None]
) -> Signal | None:
    """An `if` that nothing decides, whose condition was looked at since a mark.

    What its ways leave in the names of the function is merged.
    """
    from checker.interpreter.statements import ended

    outline = m.outline
    assert outline is not None
    assert outline.merging is not None
    asked = [decision.text for decision in m.decisions[before.decisions :]]
    before.go_back(m, outline)
    names = frame.scope.names
    old = dict(dict.items(names))

    def run() -> Value:
        fill(names, old)
        signal = work()
        kind, value = ("", None) if signal is None else (signal.kind, signal.value)
        return Ended(kind, value, dict(dict.items(names)))

    try:
        end = call(m, stmt, run)
    finally:
        now = [decision.text for decision in m.decisions[before.decisions :]]
        if stmt in outline.merging.apart and now[: len(asked)] != asked:
            outline.merging.stale = True  # a run that does not merge it asks in another order
    fill(names, end.names)
    return ended(end.kind, end.value) if end.kind else None


def call(m: Machine, node: ast.AST, work: Callable[[], Value]) -> Value:
    """What comes of a call, or of an `if`, whatever the answers to the conditions met in it.

    Where that cannot be said they stay open, and it is what comes of it if each of them holds.
    """
    outline, journal = m.outline, m.journal
    assert outline is not None
    assert outline.merging is not None
    assert journal is not None
    merging, before, outer = outline.merging, Mark(m, outline, journal), m.script
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
        merged = _merged(m, outline, node, before, found, work)
    except (Raised, Stuck, Differ):
        m.script = outer
        answered.restore(m, outline, before)
        merging.leave_open(m, node, before)
        return found
    finally:
        m.script = outer
    merging.conditions.update(dict.fromkeys(d.text for d in answered.decisions))
    merging.merged.add(node)
    merging.tried = True
    return merged


class _Answered:
    """What was asked since a mark, and answered, and what was put into lists meanwhile."""

    def __init__(self, m: Machine, outline: Outline, before: Mark) -> None:
        self.stored = outline.stored[before.stored :]
        self.decisions = m.decisions[before.decisions :]
        self.answers = list(m.answers.items())[before.answers :]
        self.beliefs = m.beliefs.since(before.beliefs)

    def restore(self, m: Machine, outline: Outline, before: Mark) -> None:
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
    node: ast.AST,
    before: Mark,
    found: Value,
    work: Callable[[], Value],
) -> Value:
    """What stands for the results of all ways to answer what was asked since a mark.

    Raises:
        Differ: nothing does.
    """
    merging, journal, asked = outline.merging, m.journal, m.decisions[before.decisions :]
    assert merging is not None
    assert journal is not None
    took = m.steps - before.steps
    if len(asked) > _MOST or not before.is_kept(m, outline, journal):
        raise Differ
    given = m.script + (True,) * (before.decisions - len(m.script))
    written, kept = _Written(m, merging, before, journal), _Kept(outline, before, journal)
    ways = Ways()
    ways.next()
    ways.learn((), asked, refused=False)
    saved = Saved(m, outline, journal, before)
    around, journal.saved = journal.saved, saved
    most, m.most_steps = m.most_steps, min(m.most_steps, m.steps + max(_STEPS, _TIMES * took))
    try:
        while (script := ways.next()) is not None:
            before.go_back(m, outline)
            written.go_back()
            m.script = given + script
            refused = False
            try:
                other = work()
            except Raised as raised:
                refused = True
                if not _refuses(m, journal, raised):
                    raise
            if not before.is_kept(m, outline, journal):
                raise Differ
            ways.learn(script, m.decisions[before.decisions :], refused=refused)
            if not refused:
                kept.add()
                written.add()
                found = Join(m, node, journal, before, kept.tensors).of(found, other)
    except (Raised, Stuck, Differ):
        saved.restore(m, outline, journal)
        written.go_back()
        written.go_on()
        if not before.is_level(m, outline, journal):
            merging.stale = True  # something of another way is left
        raise
    finally:
        journal.saved = around
        m.most_steps = most
    before.go_back(m, outline)
    kept.go_on()
    written.merge()
    return found


def _refuses(m: Machine, journal: Journal, raised: Raised) -> bool:
    """Whether the server ends with what was raised, on purpose: it does not take these answers."""
    says = raised.explicit or raised.type_name not in outline_building.REFUSALS
    heard = any(cls.name in _HEARD for cls in raised.value.cls.mro)
    return says and not heard and not m.trying and not journal.managed


_HEARD = frozenset(("AttributeError", "StopIteration", "GeneratorExit", "LookupError"))
"""Exceptions by which Python itself is told something: `hasattr`, a loop, `in`."""


class _Kept:
    """What each way has put into lists: tensors that were there are the same in all of them."""

    def __init__(self, outline: Outline, before: Mark, journal: Journal) -> None:
        self._outline = outline
        self._before = before
        self._journal = journal
        self.tensors: list[Stored] = []
        self._old = self._added()

    def add(self) -> None:
        """Another way has ended.

        Raises:
            Differ: it has put in other ones.
        """
        old = [(id(tensor), term) for tensor, term, _ in self._old]
        if [(id(tensor), term) for tensor, term, _ in self._added()] != old:
            raise Differ

    def _added(self) -> list[Stored]:
        added = self._outline.stored[self._before.stored :]
        self.tensors += added
        return [entry for entry in added if not self._before.is_new(self._journal, entry[0])]

    def go_on(self) -> None:
        """Those are in lists."""
        self._outline.stored += self._old


class _Written:
    """The values of tensors that were there, as each way has left them."""

    def __init__(self, m: Machine, merging: Merging, before: Mark, journal: Journal) -> None:
        self._m = m
        self._merging = merging
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
                self._merging.tried = True  # what may be a copy of it is not known any more
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
                root.set(self._m, self._m.builder.unknown(f"what {SEVERAL}", old.shape))


__all__ = ["Merging", "call", "condition", "is_left_open", "is_open", "mark"]
