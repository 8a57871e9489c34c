"""What engines define beneath a summary, on real tensors."""

from __future__ import annotations

import ast
import builtins
import importlib
from typing import TYPE_CHECKING, Any

from checker.graph.frequencies import ROWS, close, rates, turned
from checker.trace.lazy import missing
from checker.trace.parsed import compiled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

WITHIN = 1e-4
"""Tables are made in single precision."""


def _names(module: str) -> dict[str, Any]:
    """The names of a module; none where there is no such module."""
    try:
        return importlib.import_module(module).__dict__
    except ImportError:
        return {}


def defined(module: str, name: str) -> Any:
    """What a module's own statements give a name; None where there is no such module or name."""
    space = _names(module)
    lazy = space.get("__lazy__")
    value = space.get(name) if lazy is None else lazy.value(name)
    return None if value is None or missing(value) else value


def original(module: str, name: str) -> Any:
    """A function as its module defines it, where a summary stands for it; None if there is none."""
    space = _names(module)
    lazy = space.get("__lazy__")
    if lazy is None:
        return space.get(name)
    for stmt in lazy.file.body:
        if isinstance(stmt, ast.FunctionDef) and stmt.name == name:
            made: dict[str, Any] = {}
            builtins.exec(compiled(stmt, lazy.file.path), lazy, made)
            return made[name]
    return None


def agreeing(found: Any, descriptions: Iterable[Any]) -> Any:
    """The first description that gives these inverse frequencies; None if none does."""
    numbers = found.flatten().tolist()
    for description, expected in _numbers(descriptions):
        if close(numbers, expected, WITHIN):
            return description
    return None


def angles(table: Any, descriptions: Iterable[Any]) -> Any:
    """The first description whose angles a table has, and what multiplies them."""
    rows = {at: table[at].tolist() for at in ROWS if at < len(table)}
    amplitude = rows[0][0]
    for description, expected in _numbers(descriptions):
        wanted = {at: turned(expected, at, amplitude) for at in rows}
        if all(_near(row, wanted[at]) for at, row in rows.items()):
            return (description, amplitude)
    return None


def _near(a: list[float], b: list[float]) -> bool:
    """Sines and cosines are near by what they differ, not by what part of them."""
    return len(a) == len(b) and all(abs(x - y) < WITHIN for x, y in zip(a, b, strict=True))


def _numbers(descriptions: Iterable[Any]) -> Iterator[tuple[Any, list[float]]]:
    for description in descriptions:
        given = description["scaling"]
        scaling = None if given is None else tuple(sorted(given.items()))
        try:
            expected = rates(description["base"], description["dim"], scaling)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            continue
        if expected is not None:
            yield description, expected
