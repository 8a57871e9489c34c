"""Constructors in an outline run, statement by statement, and conditions that nothing decides."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from checker.interpreter import conditions, expressions, havoc, outline_kinds, statements
from checker.interpreter import outline_parts as parts
from checker.interpreter.outline import MISSING, said
from checker.interpreter.tensors import Tensor
from checker.interpreter.values import Instance, Raised, Stuck, Value

if TYPE_CHECKING:
    from checker.interpreter.machine import Frame, Machine
    from checker.interpreter.statements import Signal

UNBUILT = "while it is built: "
"""How the reason of what a constructor could not bind begins."""


def run_statement(m: Machine, frame: Frame, stmt: ast.stmt) -> Signal | None:
    """A statement of a constructor: what it cannot bind is unknown, and it goes on.

    What it certainly refuses to build is refused.
    """
    outline = m.outline
    assert outline is not None
    if isinstance(stmt, ast.Raise) and not outline.is_sure(m):
        if m.trying and not outline.doubtful:
            return statements.plain_statement(m, frame, stmt)
        return statements.Signal("raise")  # no object comes of this way: the other one counts
    if isinstance(stmt, ast.If):
        try:
            taken = m.truth(expressions.evaluate(m, frame, stmt.test), "if")
        except (Raised, Stuck) as error:
            if is_refusal(m, error):
                raise
            m.check_budget()
            return both(m, frame, stmt)
        return statements.run_block(m, frame, stmt.body if taken else stmt.orelse)
    if isinstance(stmt, ast.Expr):
        outline.initialiser = stmt.value
    try:
        return statements.plain_statement(m, frame, stmt)
    except (Raised, Stuck) as error:
        if is_refusal(m, error):
            raise
        if isinstance(stmt, ast.Raise):
            return statements.Signal("raise")
        outline.skipped = True
        m.check_budget()
        if m.debug:
            parts.note(m, said(error), error)
        unknown = m.unknown(f"{UNBUILT}{said(error)}", harmless=True)
        for target in _targets(stmt):
            try:
                statements.assign(m, frame, target, unknown)
            except (Raised, Stuck):
                m.check_budget()
        return None


REFUSALS = frozenset(
    ("TypeError", "ValueError", "RuntimeError", "IndexError", "KeyError", "NotImplementedError")
)
"""Exceptions with which code says that it does not take what it is given."""


def is_refusal(m: Machine, error: Exception) -> bool:
    """Whether the target is certainly not built: its own code says so, or names what is not there.

    Only where everything before was followed, and nothing around it could have gone another way.
    """
    if not isinstance(error, Raised) or m.outline is None:
        return False
    says = error.explicit and error.type_name in REFUSALS
    if not error.certain and (says or error.unbound):
        error.certain = m.outline.is_sure(m)
    return error.certain


def argument(m: Machine, frame: Frame, node: ast.expr) -> Value:
    """What a constructor hands on: of what cannot be followed nothing is known.

    What is built with it is of its class all the same.
    """
    try:
        return expressions.evaluate(m, frame, node)
    except Stuck as stuck:
        m.check_budget()
        return m.unknown(f"{UNBUILT}{said(stuck)}", harmless=True)


def _targets(stmt: ast.stmt) -> list[ast.expr]:
    """What a statement binds; of compound ones nothing (their own statements see to it)."""
    match stmt:
        case ast.Assign(targets=targets):
            return targets
        case ast.AnnAssign(target=target, value=value) if value is not None:
            return [target]
        case ast.AugAssign(target=target):
            return [target]
        case _:
            return []


def both(m: Machine, frame: Frame, stmt: ast.If) -> Signal | None:
    """A condition of a constructor that nothing decides: both branches run.

    Where they differ, what they set is unknown, or a part of one of several classes.
    """
    places, ways = _both_ways(m, frame, stmt)
    possible = [way for way in ways if way.signal is None or way.signal.kind != "raise"]
    _settle(m, places, possible or ways)
    return None if possible else ways[0].signal


def joined(m: Machine, frame: Frame, stmt: ast.If, test: Value) -> bool:
    """A condition elsewhere, both branches of which only bind names.

    False, and nothing done, where what they bind may be changed: one of two things is neither.
    """
    assert m.outline is not None
    places, ways = _both_ways(m, frame, stmt, test)
    for one, two in zip(*(way.names for way in ways), strict=True):
        for name in dict.fromkeys([*one, *two]):
            a, b = one.get(name, MISSING), two.get(name, MISSING)
            if a is b:
                continue
            if isinstance(a, Tensor) or isinstance(b, Tensor):
                return False
            if not m.outline.building and (havoc.is_container(a) or havoc.is_container(b)):
                return False
    _settle(m, places, ways)
    return True


_Names = dict[str, Value]


@dataclass(frozen=True, slots=True)
class _Way:
    """What a branch left: how it ended, and the names of the function and of the object."""

    signal: Signal | None
    names: list[_Names]


def _both_ways(
    m: Machine, frame: Frame, stmt: ast.If, test: Value = None
) -> tuple[list[_Names], list[_Way]]:
    """Runs both branches from the same state, which is restored."""
    holder = frame.first_argument
    places = [frame.scope.names]
    if frame.lenient and isinstance(holder, Instance):
        places.append(holder.attrs)
    before = [dict(place) for place in places]
    ways: list[_Way] = []
    assert m.outline is not None
    for holds, body in ((True, stmt.body), (False, stmt.orelse)):
        try:
            with m.outline.in_doubt(), conditions.assuming(m, test, holds):
                signal = statements.run_block(m, frame, body)
            ways.append(_Way(signal, [dict(place) for place in places]))
        finally:
            for place, old in zip(places, before, strict=True):
                place.clear()
                place.update(old)
    return places, ways


def _settle(m: Machine, places: list[_Names], ways: list[_Way]) -> None:
    """Leaves what both ways left, or what the only one did."""
    assert m.outline is not None
    for place, one, two in zip(places, ways[0].names, ways[-1].names, strict=True):
        for name in dict.fromkeys([*one, *two]):
            a, b = one.get(name, MISSING), two.get(name, MISSING)
            place[name] = a if a is b else outline_kinds.either(m, m.outline, a, b, name)


def is_constructor(m: Machine, function: str, first: Value) -> bool:
    """Whether a function is what sets up the object which is being built.

    Its `__init__`, or a method that a statement of its constructor calls for nothing but its
    effect.
    """
    outline = m.outline
    if outline is None or not outline.building or first is not outline.building[-1]:
        return False
    if function == "__init__":
        return True
    caller = m.frames[-1] if m.frames else None
    return caller is not None and caller.lenient and caller.node is outline.initialiser
