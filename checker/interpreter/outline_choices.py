"""Conditions that nothing decides, in an outline run: where both ways are harmless, both are taken.

What then may be one thing or another is unknown, or a part of one of several classes; only where a
branch does more than bind names are the two ways followed one after the other.
"""

from __future__ import annotations

import ast
from contextlib import ExitStack
from typing import TYPE_CHECKING

from checker.interpreter import conditions, exceptions, expressions, havoc, outline_kinds
from checker.interpreter.outline import said
from checker.interpreter.values import Raised, Stuck, Unknown, Value
from checker.syntax.remembering import remembered

if TYPE_CHECKING:
    from checker.interpreter.machine import Frame, Machine

_HARMLESS = frozenset(
    ("getattr", "hasattr", "isinstance", "len", "int", "float", "bool", "min", "max")
)


def bool_op(m: Machine, frame: Frame, node: ast.BoolOp) -> Value:
    """`and`, `or`: after something unknown the rest is looked at, for it may decide `and`."""
    conjunction = isinstance(node.op, ast.And)
    unknown: list[Unknown] = []
    things: list[Value] = []
    value: Value = None
    with ExitStack() as assumed:
        for operand in node.values:
            try:
                with exceptions.swallowing(m, bool(unknown)):
                    value = expressions.evaluate(m, frame, operand)
                frame.node = node
                if isinstance(value, Unknown):
                    m.asked += 1
                    unknown.append(value)
                    assumed.enter_context(conditions.assuming(m, value, conjunction))
                    continue
                if operand is node.values[-1] and not unknown:
                    return value
                with exceptions.swallowing(m, bool(unknown)):
                    holds = m.truth(value, "and/or")
            except (Raised, Stuck) as error:
                m.check_budget()
                if not unknown:
                    raise
                unknown.append(m.unknown(f"what is not followed ({said(error)})", harmless=True))
                break
            things += [value] if havoc.may_change(value) else []
            if holds != conjunction:
                if not unknown or conjunction:
                    return value
                return conditions.junction(tuple(unknown), conjunction, True, tuple(things))
    if not unknown:
        return value
    return conditions.junction(tuple(unknown), conjunction, None, tuple(things))


def if_exp(m: Machine, frame: Frame, node: ast.IfExp, test: Unknown) -> Value:
    """`a if unknown else b`."""
    assert m.outline is not None
    m.asked += 1
    if not m.outline.building and not (_is_harmless(node.body) and _is_harmless(node.orelse)):
        taken = m.truth(test, "conditional expression")
        return expressions.evaluate(m, frame, node.body if taken else node.orelse)
    with m.outline.in_doubt():
        with conditions.assuming(m, test, True):
            one = expressions.evaluate(m, frame, node.body)
        with conditions.assuming(m, test, False):
            two = expressions.evaluate(m, frame, node.orelse)
    changeable = one is not two and any(map(havoc.is_container, (one, two)))
    if changeable and not m.outline.building:
        return one if m.truth(test, "conditional expression") else two
    return outline_kinds.either(m, m.outline, one, two, "a conditional expression")


@remembered()
def binds_within(test: ast.expr) -> bool:
    """Whether a condition binds names: to look at it once more would bind them anew."""
    return any(isinstance(inner, ast.NamedExpr) for inner in ast.walk(test))


@remembered()
def only_binds(stmt: ast.If, calls_too: bool) -> bool:
    """Whether a statement's branches do nothing but bind names.

    To what is at hand, or, with `calls_too`, to what some function gives.
    """
    return all(_binds(inner, calls_too) for inner in (*stmt.body, *stmt.orelse))


def _binds(stmt: ast.stmt, calls_too: bool) -> bool:
    match stmt:
        case ast.Pass():
            return True
        case ast.Import() | ast.ImportFrom():
            return calls_too
        case ast.Assign(targets=targets, value=value):
            names = all(isinstance(t, ast.Name) for t in targets)
            return names and (calls_too or _is_harmless(value))
        case ast.If(test=test):
            return (calls_too or _is_harmless(test)) and only_binds(stmt, calls_too)
        case _:
            return False


@remembered()
def _is_harmless(node: ast.expr) -> bool:
    """Whether evaluating an expression has no effect."""
    for inner in ast.walk(node):
        if isinstance(inner, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)):
            return False
        if isinstance(inner, ast.Call) and not (
            isinstance(inner.func, ast.Name) and inner.func.id in _HARMLESS
        ):
            return False
    return True
