"""Generators: bodies that stop at each `yield` and go on when they are resumed.

The statements here are those of `statements`, for blocks that contain a `yield`: each is a host
generator, so the place at which a body stands is kept by Python itself. Everything without a
`yield` runs as usual.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from collections.abc import Generator as HostGenerator
from typing import TYPE_CHECKING, Any

from checker.interpreter import exceptions, expressions, statements
from checker.interpreter.iteration import Generator, lazily
from checker.interpreter.statements import BREAK, CONTINUE, Signal
from checker.interpreter.values import Finished, Raised, Unknown, Value

if TYPE_CHECKING:
    from checker.interpreter.machine import Frame, Machine

Body = HostGenerator[Value, Value, "Signal | None"]


def of_function(m: Machine, frame: Frame, body: list[ast.stmt]) -> Generator:
    """The generator that a call of a generator function makes."""

    def run() -> HostGenerator[Value, Value, Value]:
        signal = yield from _block(m, frame, body)
        return signal.value if signal is not None else None

    return Generator(frame, run())


def of_expression(m: Machine, frame: Frame, node: ast.GeneratorExp, outermost: Value) -> Generator:
    """A generator expression; its outermost iterable has been evaluated."""

    def loop(index: int, source: Value) -> HostGenerator[Value, Value, None]:
        generator = node.generators[index]
        for item in lazily(m, source):
            m.tick()
            statements.assign(m, frame, generator.target, item)
            if not all(m.truth(expressions.evaluate(m, frame, t), "filter") for t in generator.ifs):
                continue
            if index + 1 < len(node.generators):
                inner = expressions.evaluate(m, frame, node.generators[index + 1].iter)
                yield from loop(index + 1, inner)
            else:
                yield expressions.evaluate(m, frame, node.elt)

    return Generator(frame, loop(0, outermost))


def yields(m: Machine, node: ast.AST) -> bool:
    """Whether a `yield` of the same function is in `node`."""
    found = m.yielding.get(node)
    if found is None:
        found = m.yielding[node] = _yields(node)
    return found


def _yields(node: ast.AST) -> bool:
    stack: list[ast.AST] = [node]
    while stack:
        item = stack.pop()
        if isinstance(item, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            stack.extend(ast.iter_child_nodes(item))
    return False


def _block(m: Machine, frame: Frame, stmts: list[ast.stmt]) -> Body:
    for stmt in stmts:
        if yields(m, stmt):
            m.tick()
            frame.node = stmt
            handler = _STATEMENTS.get(type(stmt))
            if handler is None:
                raise m.stuck(
                    f"yield within the statement {type(stmt).__name__} is not interpreted"
                )
            signal = yield from handler(m, frame, stmt)
        else:
            signal = statements.run_statement(m, frame, stmt)
        if signal is not None:
            return signal
    return None


def _value(m: Machine, frame: Frame, node: ast.expr | None) -> HostGenerator[Value, Value, Value]:
    """An expression that is a `yield` or has none."""
    match node:
        case None:
            return None
        case ast.Yield(value=inner):
            result = yield from _value(m, frame, inner)
            frame.node = node
            return (yield result)
        case ast.YieldFrom(value=inner):
            source = yield from _value(m, frame, inner)
            return (yield from _delegate(m, source))
        case _ if yields(m, node):
            raise m.stuck("yield inside a larger expression is not interpreted")
        case _:
            return expressions.evaluate(m, frame, node)


def _delegate(m: Machine, source: Value) -> HostGenerator[Value, Value, Value]:
    """`yield from source`."""
    if isinstance(source, Unknown):
        raise m.stuck(f"iteration over an unknown value ({source.reason})")
    if not isinstance(source, Generator):
        for item in lazily(m, source):
            yield item
        return None
    sent: Value = None
    error: Raised | None = None
    while True:
        try:
            item = source.resume(m, sent, error)
        except Finished as finished:
            return finished.value
        error = None
        try:
            sent = yield item
        except Raised as raised:
            if raised.type_name == "GeneratorExit":
                source.close(m)
                raise
            error, sent = raised, None


def _expr(m: Machine, frame: Frame, stmt: ast.Expr) -> Body:
    yield from _value(m, frame, stmt.value)
    return None


def _assign(m: Machine, frame: Frame, stmt: ast.Assign) -> Body:
    value = yield from _value(m, frame, stmt.value)
    for target in stmt.targets:
        statements.assign(m, frame, target, value)
    return None


def _ann_assign(m: Machine, frame: Frame, stmt: ast.AnnAssign) -> Body:
    value = yield from _value(m, frame, stmt.value)
    statements.assign(m, frame, stmt.target, value)
    return None


def _return(m: Machine, frame: Frame, stmt: ast.Return) -> Body:
    value = yield from _value(m, frame, stmt.value)
    return Signal("return", value)


def _if(m: Machine, frame: Frame, stmt: ast.If) -> Body:
    test = yield from _value(m, frame, stmt.test)
    return (yield from _block(m, frame, stmt.body if m.truth(test, "if") else stmt.orelse))


def _for(m: Machine, frame: Frame, stmt: ast.For) -> Body:
    source = yield from _value(m, frame, stmt.iter)
    for item in lazily(m, source):
        m.tick()
        statements.assign(m, frame, stmt.target, item)
        signal = yield from _block(m, frame, stmt.body)
        if signal is not None and signal is not CONTINUE:
            statements.abandon(m, stmt, source)
            return None if signal is BREAK else signal
    return (yield from _block(m, frame, stmt.orelse))


def _while(m: Machine, frame: Frame, stmt: ast.While) -> Body:
    while m.truth((yield from _value(m, frame, stmt.test)), "while"):
        m.tick()
        signal = yield from _block(m, frame, stmt.body)
        if signal is BREAK:
            return None
        if signal is not None and signal is not CONTINUE:
            return signal
    return (yield from _block(m, frame, stmt.orelse))


def _with(m: Machine, frame: Frame, stmt: ast.With) -> Body:
    return (yield from _with_items(m, frame, stmt.items, stmt.body))


def _with_items(m: Machine, frame: Frame, items: list[ast.withitem], body: list[ast.stmt]) -> Body:
    if not items:
        return (yield from _block(m, frame, body))
    manager = exceptions.enter(m, frame, items[0])
    try:
        with exceptions.swallowing(m):
            signal = yield from _with_items(m, frame, items[1:], body)
    except Raised as raised:
        if exceptions.leave(m, manager, raised):
            return None
        raise
    exceptions.leave(m, manager, None)
    return signal


def _try(m: Machine, frame: Frame, stmt: ast.Try) -> Body:
    try:
        with exceptions.swallowing(m):
            signal = yield from _guarded(m, frame, stmt)
    except Raised:
        final = yield from _block(m, frame, stmt.finalbody)
        if final is not None:
            return final
        raise
    final = yield from _block(m, frame, stmt.finalbody)
    return final if final is not None else signal


def _guarded(m: Machine, frame: Frame, stmt: ast.Try) -> Body:
    """The body of a `try` with its handlers."""
    try:
        signal = yield from _block(m, frame, stmt.body)
    except Raised as raised:
        handler = exceptions.matching(m, frame, stmt.handlers, raised)
        if handler is None:
            raise
        with exceptions.handling(m, frame, handler, raised):
            return (yield from _block(m, frame, handler.body))
    if signal is None:
        signal = yield from _block(m, frame, stmt.orelse)
    return signal


_STATEMENTS: dict[type[ast.stmt], Callable[[Machine, Frame, Any], Body]] = {
    ast.Expr: _expr,
    ast.Assign: _assign,
    ast.AnnAssign: _ann_assign,
    ast.Return: _return,
    ast.If: _if,
    ast.For: _for,
    ast.While: _while,
    ast.With: _with,
    ast.Try: _try,
}
