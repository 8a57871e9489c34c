"""Statements that change nothing: calls of functions that are described as doing nothing.

A condition that nothing decides matters only through what its branches do. Where neither does
anything (a barrier for a compiler, a synchronisation under `if torch.__version__ >= …`) it is not
followed both ways, which would double the work of the whole run.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from checker.interpreter.values import Function
from checker.syntax.remembering import remembered

if TYPE_CHECKING:
    from checker.interpreter.machine import Frame, Machine


def is_idle(m: Machine, frame: Frame, stmt: ast.If) -> bool:
    """Whether both branches of a condition do nothing."""
    return _may_idle(stmt) and all(
        _calls_nothing(m, frame, inner) for inner in (*stmt.body, *stmt.orelse)
    )


@remembered()
def _may_idle(stmt: ast.If) -> bool:
    """Whether the branches are nothing but calls of named functions with plain arguments."""
    return all(_is_plain(inner) for inner in (*stmt.body, *stmt.orelse))


def _is_plain(stmt: ast.stmt) -> bool:
    match stmt:
        case ast.Pass():
            return True
        case ast.Expr(value=ast.Call(func=function, args=args, keywords=keywords)):
            values = [*args, *(k.value for k in keywords)]
            return _is_path(function) and all(
                isinstance(v, (ast.Constant, ast.Name)) for v in values
            )
        case _:
            return False


def _is_path(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _calls_nothing(m: Machine, frame: Frame, stmt: ast.stmt) -> bool:
    """Whether a plain statement calls a summary without a body."""
    from checker.interpreter import expressions

    if not isinstance(stmt, ast.Expr) or not isinstance(stmt.value, ast.Call):
        return True
    function = expressions.evaluate(m, frame, stmt.value.func)
    if not isinstance(function, Function) or not function.module.is_stub:
        return False
    node = function.node
    return isinstance(node, ast.FunctionDef) and all(_is_empty(inner) for inner in node.body)


def _is_empty(stmt: ast.stmt) -> bool:
    match stmt:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Return(value=None | ast.Constant()):
            return True
        case _:
            return False
