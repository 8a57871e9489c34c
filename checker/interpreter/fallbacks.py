"""Reads of the configuration that fail inside a `try`: what the `except` leaves is the default.

A key that is read where its absence is swallowed is read with a default like any other, only that
the default stands some lines further down.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from checker.interpreter.values import Instance, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from checker.interpreter.machine import Frame, Machine
    from checker.interpreter.values import Raised
    from checker.location import Location


_MARK = " (by the except at "


@dataclass(frozen=True, slots=True)
class Fallback:
    """What stands in for a missing key: a value as Python spells it, and its `except`."""

    text: str
    location: Location | None

    def __repr__(self) -> str:
        return f"{self.text}{_MARK}{self.location})" if self.location else self.text


def is_fallback(default: Any) -> bool:
    """Whether a read's default is what an `except` leaves, also where the read was kept as text."""
    return _MARK in repr(default)


def noted(
    m: Machine, frame: Frame, mark: int, raised: Raised, stmt: ast.Try, handler: ast.ExceptHandler
) -> None:
    """Gives the reads that the handler has swallowed their default.

    Args:
        m: the machine, in which the handler has just run.
        frame: where it ran.
        mark: how many reads there had been before the `try`.
        raised: what was caught.
        stmt: the whole statement.
        handler: the `except` that took it.
    """
    missing = [
        index
        for index in range(mark, len(m.reads))
        if not m.reads[index].found and m.reads[index].default is None
    ]
    here = raised.location
    lines = {(here.path, here.line)} if here is not None else set()
    for index in missing:
        place = m.reads[index].location
        if place is None or (place.path, place.line) not in lines:
            continue
        text = _left(frame, stmt, handler)
        found = Fallback(text, _place(frame, handler))
        m.reads[index] = replace(m.reads[index], default=found)


def _left(frame: Frame, stmt: ast.Try, handler: ast.ExceptHandler) -> str:
    """What the names hold that the body would have bound."""
    bound = {ast.unparse(target) for target in _targets(stmt.body)}
    for target in _targets(handler.body):
        if ast.unparse(target) in bound:
            value = _value(frame, target)
            if isinstance(value, (bool, int, float, str, list, tuple, dict)) or value is None:
                return repr(value)
            return "something"
    return "nothing"


def _targets(body: list[ast.stmt]) -> Iterator[ast.expr]:
    for node in body:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Assign):
                yield from inner.targets
            elif isinstance(inner, (ast.AnnAssign, ast.AugAssign)):
                yield inner.target


def _value(frame: Frame, target: ast.expr) -> Any:
    match target:
        case ast.Name(id=name):
            return frame.scope.names.get(name, Unknown("unbound", None))
        case ast.Attribute(value=ast.Name(id=base), attr=name):
            holder = frame.scope.names.get(base)
            if isinstance(holder, Instance) and name in holder.attrs:
                return holder.attrs[name]
    return Unknown("not looked at", None)


def _place(frame: Frame, handler: ast.ExceptHandler) -> Location | None:
    from checker.location import Location

    file = frame.module.file
    if file is None or frame.module.is_stub:
        return None
    return Location(file.tree.label, file.path, handler.lineno, handler.col_offset + 1)
