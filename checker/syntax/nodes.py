"""Walking over syntax trees, quicker than `ast` does: only fields that can hold nodes are read."""

from __future__ import annotations

import ast
from functools import cache
from typing import Final

_LEAVES: Final = frozenset(("Constant", "Name"))
_TEXTS: Final = frozenset(
    [
        "ctx",
        "op",
        "ops",
        "id",
        "attr",
        "arg",
        "module",
        "level",
        "asname",
        "conversion",
        "simple",
        "is_async",
        "type_comment",
        "kind",
        "lineno",
        "tag",
    ]
)


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below, in order, without operators and contexts."""
    found: list[ast.AST] = []
    kind = type(node)
    for field in _fields(kind.__name__, kind._fields):
        value = getattr(node, field, None)
        if isinstance(value, list):
            found += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def walk(node: ast.AST) -> list[ast.AST]:
    """A node and all below it, level by level as `ast.walk` has them."""
    found = [node]
    for inner in found:  # which grows meanwhile
        found += children(inner)
    return found


@cache
def _fields(kind: str, fields: tuple[str, ...]) -> tuple[str, ...]:
    if kind in _LEAVES:
        return ()
    return tuple(field for field in fields if field not in _TEXTS)
