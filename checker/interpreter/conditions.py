"""Conditions on something unknown in an outline run: what was answered once holds from then on.

A target's configuration is mostly not given. A value of it that was taken for None is not taken for
a text later on, and what was taken for one text is no other one.
"""

from __future__ import annotations

import ast
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from checker.interpreter.open_values import Open, Several
from checker.interpreter.values import Unknown, Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from checker.interpreter.machine import Machine
    from checker.location import Location

Fact = tuple[str, "Location | None"]
"""Why something is unknown, and where."""
_CONSTANTS = frozenset((bool, int, float, str, type(None)))


@dataclass(frozen=True, slots=True)
class Condition(Unknown):
    """Whether an unknown value is a constant, or true where `constants` is empty; or is not."""

    of: Unknown | None = None
    constants: tuple[Value, ...] = ()
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Junction(Unknown):
    """`and` or `or` of several values, of which nothing decides two or more.

    `holds`: whether it is true, where another operand decides that.
    """

    operands: tuple[Unknown, ...] = ()
    conjunction: bool = True
    holds: bool | None = None
    things: tuple[Value, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True, eq=False)
class OpenJunction(Open):
    """The same where the first is a configuration: what is asked of it is asked of that."""

    operands: tuple[Unknown, ...] = ()
    conjunction: bool = True
    holds: bool | None = None
    things: tuple[Value, ...] = field(default=(), compare=False)


@dataclass(slots=True)
class Belief:
    """What was answered of one unknown value: what it is, what it is not, whether it is true."""

    equal: list[Value] = field(default_factory=list)
    other: list[Value] = field(default_factory=list)
    holds: bool | None = None

    def of(self, constants: tuple[Value, ...]) -> bool | None:
        """Whether it is a constant (or true), as far as that follows."""
        if not constants:
            return bool(self.equal[0]) if self.equal else self.holds
        (constant,) = constants
        if self.equal:
            return _is(self.equal[0], constant)
        if any(_is(known, constant) for known in self.other):
            return False
        return False if self.holds is not None and bool(constant) != self.holds else None

    def note(self, constants: tuple[Value, ...], answer: bool) -> None:
        """Keeps an answer."""
        if not constants:
            self.holds = answer
        else:
            (self.equal if answer else self.other).append(constants[0])


class Beliefs:
    """What was answered of each unknown value, in order, so that it can be taken back."""

    __slots__ = ("_known", "_order")

    def __init__(self) -> None:
        self._known: dict[Fact, Belief] = {}
        self._order: list[tuple[Fact, Belief | None]] = []

    def __len__(self) -> int:
        """How many answers there were."""
        return len(self._order)

    def of(self, fact: Fact) -> Belief:
        """What was answered of one, to be changed by itself."""
        known = self._known.get(fact)
        if known is None:
            return Belief()
        return Belief([*known.equal], [*known.other], known.holds)

    def keep(self, fact: Fact, belief: Belief) -> None:
        """Another answer."""
        self._order.append((fact, self._known.get(fact)))
        self._known[fact] = belief

    def since(self, count: int) -> dict[Fact, Belief]:
        """What has been answered after so many answers."""
        return {fact: self.of(fact) for fact, _ in self._order[count:]}

    def go_back(self, count: int) -> None:
        """Only so many answers were given."""
        while len(self._order) > count:
            fact, before = self._order.pop()
            if before is None:
                del self._known[fact]
            else:
                self._known[fact] = before


def compared(op: ast.cmpop, left: Value, right: Value) -> Unknown | None:
    """Whether something unknown is a constant; None for other comparisons."""
    known, asked = (right, left) if isinstance(left, Unknown) else (left, right)
    if not isinstance(op, (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)):
        return None
    if type(known) not in _CONSTANTS or not isinstance(asked, Unknown):
        return None  # what is another number in each iteration of a loop is no constant
    negated = isinstance(op, (ast.NotEq, ast.IsNot))
    if isinstance(asked, Condition):
        return None
    said = f"whether {asked.reason} is {'not ' if negated else ''}{known!r}"
    return Condition(said, asked.location, asked, (known,), negated)


def junction(
    operands: tuple[Unknown, ...],
    conjunction: bool,
    holds: bool | None = None,
    things: tuple[Value, ...] = (),
) -> Unknown:
    """`and` or `or` of what is unknown, in order; `things`: what else it may be, to be changed."""
    first = operands[0]
    things = (*things, *(thing for part in operands for thing in getattr(part, "things", ())))
    if len(operands) == 1 and holds is None and not things:
        return first
    words = [operand.reason for operand in operands]
    if holds is not None:
        words.append("something else")  # it is another fact than the first of them
    reason = (" and " if conjunction else " or ").join(words)
    if isinstance(first, Open):
        known = first.names, first.everywhere, frozenset[str]()
        return OpenJunction(reason, first.location, *known, operands, conjunction, holds, things)
    return Junction(reason, first.location, operands, conjunction, holds, things)


def opposite(value: Unknown) -> Unknown:
    """`not` of something unknown."""
    if isinstance(value, (Junction, OpenJunction)):
        holds = None if value.holds is None else not value.holds
        opposites = tuple(opposite(part) for part in value.operands)
        return junction(opposites, not value.conjunction, holds)
    if not isinstance(value, Condition):
        said = f"whether not {value.reason}"
        return Condition(said, value.location, value, (), negated=True)
    said = f"not {value.reason}"
    return Condition(said, value.location, value.of, value.constants, not value.negated)


def truth(m: Machine, value: Unknown, text: str) -> bool:
    """The truth of something unknown, in agreement with what was answered before."""
    if isinstance(value, (Junction, OpenJunction)):
        if value.holds is not None:
            return value.holds
        for operand in value.operands:
            if truth(m, operand, text) != value.conjunction:
                return not value.conjunction
        return value.conjunction
    if not isinstance(value, Condition):
        value = Condition(value.reason, value.location, value)
    assert m.outline is not None
    if _is_another(value):
        return value.negated
    fact = _fact(value.of)
    belief = m.beliefs.of(fact)
    known = None if m.outline.building else belief.of(value.constants)
    if known is None:
        known = m.decide(f"{text}: {value.reason}", value.location) != value.negated
        belief.note(value.constants, known)
        m.beliefs.keep(fact, belief)
    return known != value.negated


def _is_another(value: Condition) -> bool:
    """Whether something is no such constant because the one is true and the other is not."""
    asked = value.of
    if not isinstance(asked, (Junction, OpenJunction)) or asked.holds is None:
        return False
    return any(bool(constant) != asked.holds for constant in value.constants)


@contextmanager
def assuming(m: Machine, value: Value, holds: bool) -> Iterator[None]:
    """What is done in there is done only where something is true, or is not."""
    count = len(m.beliefs)
    facts = _assume(m, value, holds)
    try:
        yield
    finally:
        answered = m.beliefs.since(count)
        m.beliefs.go_back(count)
        for fact, belief in answered.items():
            if fact not in facts:
                m.beliefs.keep(fact, belief)


def _assume(m: Machine, value: Value, holds: bool) -> set[Fact]:
    """Takes something for true, or not, as if it had been answered; gives what that is about."""
    if isinstance(value, (Junction, OpenJunction)):
        operands = value.operands if value.conjunction == holds else ()  # for each it follows
        return {fact for operand in operands for fact in _assume(m, operand, holds)}
    if not isinstance(value, Unknown):
        return set()
    if not isinstance(value, Condition):
        value = Condition(value.reason, value.location, value)
    fact = _fact(value.of)
    belief = m.beliefs.of(fact)
    if belief.of(value.constants) is None:
        belief.note(value.constants, holds != value.negated)
        m.beliefs.keep(fact, belief)
    return {fact}


def is_constant(m: Machine, value: Unknown, constant: Value) -> bool:
    """Whether something unknown is a constant, in agreement with what was answered before."""
    asked = compared(ast.Eq(), value, constant)
    return (
        m.decide(f"whether {value.reason} is {constant!r}")
        if asked is None
        else truth(m, asked, "")
    )


def is_for_sure(m: Machine, value: Unknown, constant: Value) -> None:
    """Something unknown is a constant: it can be nothing else."""
    belief = m.beliefs.of(_fact(value))
    belief.note((constant,), True)
    m.beliefs.keep(_fact(value), belief)


def _fact(value: Unknown | None) -> Fact:
    """One unknown fact, however often it is met: what is unknown for one reason at one place."""
    return ("", None) if value is None else (value.reason, value.location)


def identity(value: Unknown) -> tuple[Value, ...]:
    """What is equal for two unknown values of which the same is answered."""
    if isinstance(value, Condition):
        return *_fact(value.of), value.constants, value.negated
    if isinstance(value, Junction):
        operands = tuple(map(identity, value.operands))
        return *_fact(value), operands, value.conjunction, value.holds
    return _fact(value)


def check(m: Machine, value: Value, what: str, *, apart: bool = True) -> None:
    """Refuses what is an error with one of several values; `apart`: with a number, too."""
    if not isinstance(value, Several):
        return
    none = value.none and m.beliefs.of(_fact(value)).of((None,)) is not False
    if none or (apart and value.number):
        if m.outline is not None and m.outline.merging is not None:
            m.outline.merging.undo(value)
        raise m.stuck(f"{what} of {value.reason}")


def _is(one: Value, two: Value) -> bool:
    return type(one) is type(two) and one == two
