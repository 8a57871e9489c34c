"""What slices ask of syntax alone: statements, what they bind, what they call."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from checker.interpreter.values import (
    BoundMethod,
    ClassMethod,
    ClassValue,
    Function,
    StaticMethod,
    Value,
)
from checker.syntax.nodes import walk
from checker.syntax.remembering import remembered

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


@remembered(1 << 15)
def nodes(node: ast.AST) -> tuple[ast.AST, ...]:
    """A node and all below it; they are looked at again and again."""
    return tuple(walk(node))


def leaves(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The simple statements of a body, at any depth; a `try` that only binds is one."""
    for stmt in body:
        match stmt:
            case ast.If() | ast.For() | ast.While():
                yield from leaves([*stmt.body, *stmt.orelse])
            case ast.With():
                yield from leaves(stmt.body)
            case ast.Raise() | ast.Assert() | ast.Pass():
                pass
            case _:
                yield stmt


def filtered(
    body: list[ast.stmt], chosen: set[ast.stmt], bare: Collection[ast.stmt]
) -> list[ast.stmt]:
    """A body with the chosen statements only, under the conditions they stand under.

    Of `bare` returns only that they end the function is kept.
    """
    found: list[ast.stmt] = []
    for stmt in body:
        if stmt in chosen:
            found.append(stmt)
        elif stmt in bare:
            found.append(ast.copy_location(ast.Return(None), stmt))
        elif isinstance(stmt, ast.If):
            one = filtered(stmt.body, chosen, bare)
            two = filtered(stmt.orelse, chosen, bare)
            if one or two:
                made = ast.If(stmt.test, one or [ast.Pass()], two)
                found.append(ast.copy_location(made, stmt))
        elif isinstance(stmt, (ast.For, ast.While, ast.With)):
            found += filtered(stmt.body, chosen, bare)  # as if it ran once
    return found


@remembered(1 << 13)
def binds(stmt: ast.stmt) -> set[str]:
    """The local names that a statement binds."""
    from checker.interpreter.excerpts import bound

    return bound(stmt)


def called(node: ast.AST) -> str | None:
    """The last name of what is called."""
    if not isinstance(node, ast.Call):
        return None
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return None


def function(value: Value) -> Function | None:
    """The function that calling something runs."""
    if isinstance(value, ClassValue):
        value = next(iter(value.lookup("__init__") or ()), None)
    while isinstance(value, (BoundMethod, StaticMethod, ClassMethod)):
        value = value.function
    return value if isinstance(value, Function) else None


def receiver(function: Function) -> str | None:
    """What a method calls the object that it is called on."""
    if function.owner is None or isinstance(function.node, ast.Lambda):
        return None
    if isinstance(function.owner.namespace.get(function.name), StaticMethod):
        return None
    spec = function.node.args
    return next((a.arg for a in (*spec.posonlyargs, *spec.args)), None)


def imported(function: Function) -> dict[str, tuple[str, str]]:
    """Names that imports inside a function bind: module and name."""
    from checker.interpreter import imports

    return {
        alias.asname or alias.name: (imports.absolute_name(function.module, node), alias.name)
        for node in nodes(function.node)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
