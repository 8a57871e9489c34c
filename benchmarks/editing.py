"""Edits of sources that are said in terms of syntax: which call of which method, never which text.

Nothing of the edited files is kept here. A place is found by walking to a class, a function and
then a call, an assignment or the like; its text is replaced and everything else stays as it was,
byte for byte.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

N = TypeVar("N", bound=ast.AST)
Edit = Callable[["Source"], None]


@dataclass
class Source:
    """A file under edit. `put`, `before`, `after` and `drop` take effect in `result`."""

    text: str
    tree: ast.Module = field(init=False)
    _changes: list[tuple[int, int, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tree = ast.parse(self.text)
        self._starts = [0]
        for line in self.text.encode().splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    # -- finding -------------------------------------------------------------------------------

    def at(self, dotted: str) -> ast.AST:
        """The last class or function of this dotted name."""
        node: ast.AST = self.tree
        for part in dotted.split("."):
            node = next(
                child
                for child in reversed(list(ast.walk(node)))
                if isinstance(child, (ast.ClassDef, ast.FunctionDef)) and child.name == part
            )
        return node

    def calls(self, place: str, function: str) -> list[ast.Call]:
        """The calls, in the order of the text, of what is spelled so."""
        return [c for c in self.walk(place, ast.Call) if ast.unparse(c.func) == function]

    def call(self, place: str, function: str, nth: int = 0) -> ast.Call:
        return self.calls(place, function)[nth]

    def keyword(self, call: ast.Call, name: str) -> ast.keyword:
        return next(k for k in call.keywords if k.arg == name)

    def assigns(self, place: str, target: str) -> list[ast.Assign]:
        return [
            a
            for a in self.walk(place, ast.Assign)
            if any(ast.unparse(t).strip("()") == target for t in a.targets)
        ]

    def assign(self, place: str, target: str, nth: int = 0) -> ast.Assign:
        return self.assigns(place, target)[nth]

    def walk(self, place: str, kind: type[N]) -> list[N]:
        found = [n for n in ast.walk(self.at(place)) if isinstance(n, kind)]
        return sorted(found, key=lambda n: (n.lineno, n.col_offset))

    def spelled(self, place: str, text: str) -> list[ast.expr]:
        """The expressions that read so, in the order of the text."""
        return [n for n in self.walk(place, ast.expr) if ast.unparse(n) == text]

    def of(self, node: ast.AST) -> str:
        """A node's text as it stands in the file."""
        start, stop = self._span(node)
        return self.text.encode()[start:stop].decode()

    # -- changing ------------------------------------------------------------------------------

    def put(self, node: ast.AST, text: str) -> None:
        """Another text in a node's place; further lines are indented like the node's own."""
        start, stop = self._span(node)
        self._changes.append((start, stop, self._indented(node, text)))

    def drop(self, node: ast.stmt) -> None:
        self.put(node, "pass")

    def before(self, node: ast.stmt, text: str) -> None:
        start, _ = self._span(node)
        indent = "\n" + " " * node.col_offset
        self._changes.append((start, start, self._indented(node, text) + indent))

    def after(self, node: ast.stmt, text: str) -> None:
        _, stop = self._span(node)
        indent = "\n" + " " * node.col_offset
        self._changes.append((stop, stop, indent + self._indented(node, text)))

    def swap(self, one: ast.AST, other: ast.AST) -> None:
        texts = self.of(one), self.of(other)
        self.put(one, texts[1])
        self.put(other, texts[0])

    def append(self, text: str) -> None:
        """Adds definitions at the end of the file."""
        end = len(self.text.encode())
        self._changes.append((end, end, "\n\n" + textwrap.dedent(text)))

    def prepend(self, text: str) -> None:
        """Adds statements before the first class."""
        first = next(n for n in self.tree.body if isinstance(n, ast.ClassDef))
        self.before(first, textwrap.dedent(text).strip() + "\n\n")

    def body(self, place: str, text: str) -> None:
        """Another body for a function."""
        function = self.at(place)
        assert isinstance(function, ast.FunctionDef)
        first, last = function.body[0], function.body[-1]
        start, stop = self._span(first)[0], self._span(last)[1]
        self._changes.append((start, stop, self._indented(first, textwrap.dedent(text).strip())))

    def result(self) -> str:
        """The text with all changes, which must parse."""
        data = self.text.encode()
        for start, stop, text in sorted(self._changes, reverse=True, key=lambda c: c[:2]):
            data = data[:start] + text.encode() + data[stop:]
        edited = data.decode()
        assert self._changes, "nothing was edited"
        ast.parse(edited)
        return edited

    # -- places in the text ----------------------------------------------------------------------

    def _span(self, node: ast.AST) -> tuple[int, int]:
        line, stop = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
        column, end = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", 0)
        return self._starts[line - 1] + column, self._starts[stop - 1] + end

    def _indented(self, node: ast.AST, text: str) -> str:
        lines = textwrap.dedent(text).strip("\n").split("\n")
        pad = " " * getattr(node, "col_offset", 0)
        return ("\n").join([lines[0], *(pad + line if line else line for line in lines[1:])])
