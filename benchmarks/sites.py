"""Where a file can be edited: the nodes of functions under test, with what can be named there."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

Changes = list[tuple[int, int, str]]
"""Spans of bytes and what takes their place."""


@dataclass(slots=True)
class Site:
    """A node within a function under test."""

    node: ast.AST
    parent: ast.AST
    function: Function


@dataclass(slots=True)
class Function:
    """A function under test, with what can be named in it."""

    place: str
    node: ast.FunctionDef
    names: list[str] = field(default_factory=list)
    attributes: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    guards: list[ast.expr] = field(default_factory=list)


class Writer:
    """Spans of nodes in a text."""

    def __init__(self, text: str) -> None:
        self.data = text.encode()
        self._starts = [0]
        for line in self.data.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where a node's text begins and ends."""
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        stop, end = getattr(node, "end_lineno", 1), getattr(node, "end_col_offset", 0)
        return self._starts[line - 1] + column, self._starts[stop - 1] + end

    def of(self, node: ast.AST) -> str:
        """A node's text."""
        start, stop = self.span(node)
        return self.data[start:stop].decode()

    def put(self, node: ast.AST, text: str) -> tuple[int, int, str]:
        """Another text in a node's place."""
        return (*self.span(node), text)

    def swap(self, one: ast.AST, other: ast.AST) -> list[tuple[int, int, str]]:
        """Two nodes' texts exchanged."""
        return [self.put(one, self.of(other)), self.put(other, self.of(one))]


def sites(tree: ast.Module, places: tuple[str, ...]) -> Iterator[Site]:
    """The nodes of the functions and classes named, in the order of the text."""
    for function in _functions(tree.body, ""):
        if any(function.place == p or function.place.startswith(p + ".") for p in places):
            yield from _within(function.node, function)


def _functions(
    body: list[ast.stmt], prefix: str, cls: ast.ClassDef | None = None
) -> Iterator[Function]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{prefix}{node.name}.", node)
        elif isinstance(node, ast.FunctionDef):
            place = prefix + node.name
            yield Function(place, node, _names(node), _attributes(cls), _keys(node), _guards(node))


def _names(function: ast.FunctionDef) -> list[str]:
    """What is bound in a function, in the order of the text."""
    bound = [a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)]
    stores = [
        n for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    ]
    bound += [n.id for n in sorted(stores, key=lambda n: (n.lineno, n.col_offset))]
    return [n for n in dict.fromkeys(bound) if n != "self"]


def _attributes(cls: ast.ClassDef | None) -> list[str]:
    """Attributes of `self` that a class uses."""
    if cls is None:
        return []
    found = [
        n.attr
        for n in ast.walk(cls)
        if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == "self"
    ]
    return sorted(dict.fromkeys(found))


def _keys(function: ast.FunctionDef) -> list[str]:
    """The texts of a function that look like names or parts of them: keys, prefixes, suffixes."""
    found = [n.value for n in ast.walk(function) if isinstance(n, ast.Constant)]
    texts = [t for t in found if isinstance(t, str) and t and " " not in t and "\n" not in t]
    return sorted(dict.fromkeys(texts))


def _guards(function: ast.FunctionDef) -> list[ast.expr]:
    """The conditions of a function, in the order of the text."""
    found = [n.test for n in ast.walk(function) if isinstance(n, (ast.If, ast.IfExp))]
    return sorted(found, key=lambda n: (n.lineno, n.col_offset))


_LEFT_ALONE = (ast.Raise, ast.JoinedStr, ast.Assert)


def _within(node: ast.AST, function: Function) -> Iterator[Site]:
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, _LEFT_ALONE):
                continue
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                continue
            yield Site(child, node, function)
            yield from _within(child, function)
