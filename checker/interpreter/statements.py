"""Statements: one function per kind. A block returns None when it falls through, else the signal that ended it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from checker.interpreter import attributes, calls, classes, containers, expressions, imports
from checker.interpreter.machine import Frame, Machine
from checker.interpreter.values import (
    ClassValue,
    External,
    Instance,
    Raised,
    Unknown,
    Value,
)


@dataclass(frozen=True, slots=True)
class Signal:
    """How a block ended: ``return`` (with its value), ``break`` or ``continue``."""

    kind: str
    value: Value = None


_BREAK = Signal("break")
_CONTINUE = Signal("continue")


def run_block(m: Machine, frame: Frame, stmts: list[ast.stmt]) -> Signal | None:
    for stmt in stmts:
        signal = run_statement(m, frame, stmt)
        if signal is not None:
            return signal
    return None


def run_statement(m: Machine, frame: Frame, stmt: ast.stmt) -> Signal | None:
    m.tick()
    frame.node = stmt
    handler = _STATEMENTS.get(type(stmt))
    if handler is None:
        raise m.stuck(f"the statement {type(stmt).__name__} is not interpreted")
    return handler(m, frame, stmt)


def _expr(m: Machine, frame: Frame, stmt: ast.Expr) -> None:
    expressions.evaluate(m, frame, stmt.value)


def _assign(m: Machine, frame: Frame, stmt: ast.Assign) -> None:
    value = expressions.evaluate(m, frame, stmt.value)
    frame.node = stmt
    for target in stmt.targets:
        assign(m, frame, target, value)


def _ann_assign(m: Machine, frame: Frame, stmt: ast.AnnAssign) -> None:
    if frame.scope.is_class and isinstance(stmt.target, ast.Name):
        frame.scope.names.setdefault("__annotations__", {})[stmt.target.id] = stmt.annotation
    if stmt.value is not None:
        assign(m, frame, stmt.target, expressions.evaluate(m, frame, stmt.value))


def _aug_assign(m: Machine, frame: Frame, stmt: ast.AugAssign) -> None:
    load: ast.expr
    match stmt.target:
        case ast.Name(id=name):
            load = ast.copy_location(ast.Name(name, ast.Load()), stmt.target)
            current = expressions.evaluate(m, frame, load)
        case ast.Attribute(value=base, attr=attr):
            holder = expressions.evaluate(m, frame, base)
            current = attributes.get(m, holder, attr)
            result = expressions.in_place(m, type(stmt.op), current, expressions.evaluate(m, frame, stmt.value))
            attributes.put(m, holder, attr, result)
            return
        case ast.Subscript(value=base, slice=index):
            holder = expressions.evaluate(m, frame, base)
            key = expressions.evaluate(m, frame, index)
            current = containers.get_item(m, holder, key)
            result = expressions.in_place(m, type(stmt.op), current, expressions.evaluate(m, frame, stmt.value))
            containers.set_item(m, holder, key, result)
            return
        case _:
            raise m.stuck("this augmented assignment is not interpreted")
    result = expressions.in_place(m, type(stmt.op), current, expressions.evaluate(m, frame, stmt.value))
    assign(m, frame, stmt.target, result)


def assign(m: Machine, frame: Frame, target: ast.expr, value: Value) -> None:
    """Binds `value` to an assignment target."""
    match target:
        case ast.Name(id=name):
            _bind(m, frame, name, value)
        case ast.Attribute(value=base, attr=attr):
            attributes.put(m, expressions.evaluate(m, frame, base), attr, value)
        case ast.Subscript(value=base, slice=index):
            holder = expressions.evaluate(m, frame, base)
            containers.set_item(m, holder, expressions.evaluate(m, frame, index), value)
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            _unpack(m, frame, elts, value)
        case ast.Starred(value=inner):
            assign(m, frame, inner, value)
        case _:
            raise m.stuck("this assignment target is not interpreted")


def _bind(m: Machine, frame: Frame, name: str, value: Value) -> None:
    scope = frame.scope
    if name in scope.global_names:
        frame.module.scope.names[name] = value
        frame.module.done_names.add(name)
        return
    if name in scope.nonlocal_names:
        outer = scope.parent
        while outer is not None:
            if name in outer.names:
                outer.names[name] = value
                return
            outer = outer.parent
    scope.names[name] = value


def _unpack(m: Machine, frame: Frame, elts: list[ast.expr], value: Value) -> None:
    if isinstance(value, Unknown):
        for elt in elts:
            assign(m, frame, elt, value)
        return
    items = containers.iterate(m, value)
    star = next((i for i, elt in enumerate(elts) if isinstance(elt, ast.Starred)), None)
    if star is None:
        if len(items) != len(elts):
            few = "not enough" if len(items) < len(elts) else "too many"
            raise m.exception("ValueError", f"{few} values to unpack (expected {len(elts)})")
        for elt, item in zip(elts, items, strict=True):
            assign(m, frame, elt, item)
        return
    after = len(elts) - star - 1
    if len(items) < len(elts) - 1:
        raise m.exception("ValueError", "not enough values to unpack")
    for elt, item in zip(elts[:star], items, strict=False):
        assign(m, frame, elt, item)
    assign(m, frame, elts[star], items[star : len(items) - after])
    for elt, item in zip(elts[star + 1 :], items[len(items) - after :], strict=True):
        assign(m, frame, elt, item)


def _return(m: Machine, frame: Frame, stmt: ast.Return) -> Signal:
    return Signal("return", expressions.evaluate(m, frame, stmt.value) if stmt.value else None)


def _if(m: Machine, frame: Frame, stmt: ast.If) -> Signal | None:
    mark = len(m.reads)
    taken = m.truth(expressions.evaluate(m, frame, stmt.test), "if")
    keys = m.keys_read_since(mark)
    outer = frame.guard_keys
    frame.guard_keys = keys or outer
    try:
        return run_block(m, frame, stmt.body if taken else stmt.orelse)
    finally:
        frame.guard_keys = outer


def _for(m: Machine, frame: Frame, stmt: ast.For) -> Signal | None:
    items = containers.iterate(m, expressions.evaluate(m, frame, stmt.iter))
    for item in items:
        m.tick()
        assign(m, frame, stmt.target, item)
        signal = run_block(m, frame, stmt.body)
        if signal is _BREAK:
            return None
        if signal is not None and signal is not _CONTINUE:
            return signal
    return run_block(m, frame, stmt.orelse)


def _while(m: Machine, frame: Frame, stmt: ast.While) -> Signal | None:
    while m.truth(expressions.evaluate(m, frame, stmt.test), "while"):
        m.tick()
        signal = run_block(m, frame, stmt.body)
        if signal is _BREAK:
            return None
        if signal is not None and signal is not _CONTINUE:
            return signal
    return run_block(m, frame, stmt.orelse)


def _with(m: Machine, frame: Frame, stmt: ast.With) -> Signal | None:
    return _with_items(m, frame, stmt.items, stmt.body)


def _with_items(
    m: Machine, frame: Frame, items: list[ast.withitem], body: list[ast.stmt]
) -> Signal | None:
    if not items:
        return run_block(m, frame, body)
    item, rest = items[0], items[1:]
    manager = expressions.evaluate(m, frame, item.context_expr)
    result: list[Signal | None] = [None]

    def run_body(entered: Value) -> None:
        if item.optional_vars is not None:
            assign(m, frame, item.optional_vars, entered)
        result[0] = _with_items(m, frame, rest, body)

    if isinstance(manager, calls.GeneratorCall):
        calls.run_generator(m, manager, lambda value: run_body(value))
        return result[0]
    if isinstance(manager, (Unknown, External)):
        run_body(manager if isinstance(manager, Unknown) else m.unknown(f"{manager.path} is not described"))
        return result[0]
    enter = attributes.get(m, manager, "__enter__")
    leave = attributes.get(m, manager, "__exit__")
    entered = calls.call(m, enter, [], {})
    try:
        run_body(entered)
    except Raised as raised:
        if m.truth(calls.call(m, leave, [raised.value.cls, raised.value, None], {}), "__exit__"):
            return None
        raise
    calls.call(m, leave, [None, None, None], {})
    return result[0]


def _raise(m: Machine, frame: Frame, stmt: ast.Raise) -> None:
    if stmt.exc is None:
        if frame.handling:
            raise frame.handling[-1]
        raise m.exception("RuntimeError", "No active exception to reraise")
    value = expressions.evaluate(m, frame, stmt.exc)
    if isinstance(value, ClassValue):
        value = calls.call(m, value, [], {})
    if not isinstance(value, Instance):
        value = m.exception("Exception", "an exception that could not be determined").value
    frame.node = stmt
    raise Raised(value, m.location(), frame.guard_keys)


def _try(m: Machine, frame: Frame, stmt: ast.Try) -> Signal | None:
    signal: Signal | None = None
    try:
        try:
            signal = run_block(m, frame, stmt.body)
        except Raised as raised:
            handler = _matching(m, frame, stmt.handlers, raised)
            if handler is None:
                raise
            frame.handling.append(raised)
            if handler.name:
                frame.scope.names[handler.name] = raised.value
            try:
                signal = run_block(m, frame, handler.body)
            finally:
                frame.handling.pop()
        else:
            if signal is None:
                signal = run_block(m, frame, stmt.orelse)
    except Raised:
        final = run_block(m, frame, stmt.finalbody)
        if final is not None:
            return final
        raise
    final = run_block(m, frame, stmt.finalbody)
    return final if final is not None else signal


def _matching(
    m: Machine, frame: Frame, handlers: list[ast.ExceptHandler], raised: Raised
) -> ast.ExceptHandler | None:
    for handler in handlers:
        if handler.type is None:
            return handler
        kinds = expressions.evaluate(m, frame, handler.type)
        for kind in kinds if isinstance(kinds, tuple) else (kinds,):
            if isinstance(kind, ClassValue) and raised.value.cls.is_subclass(kind):
                return handler
            if not isinstance(kind, ClassValue) and m.decide("whether an except clause matches"):
                return handler
    return None


def _assert(m: Machine, frame: Frame, stmt: ast.Assert) -> None:
    mark = len(m.reads)
    value = expressions.evaluate(m, frame, stmt.test)
    if isinstance(value, Unknown):
        return  # an assertion that cannot be decided is assumed to pass: it computes nothing
    if not m.truth(value, "assert"):
        outer = frame.guard_keys
        frame.guard_keys = m.keys_read_since(mark) or outer
        try:
            raise m.exception("AssertionError", _assert_message(m, frame, stmt))
        finally:
            frame.guard_keys = outer


def _assert_message(m: Machine, frame: Frame, stmt: ast.Assert) -> str:
    if stmt.msg is None:
        return ast.unparse(stmt.test)[:120]
    message = expressions.evaluate(m, frame, stmt.msg)
    return message if isinstance(message, str) else ""


def _function(m: Machine, frame: Frame, stmt: ast.FunctionDef) -> None:
    classes.define_function(m, frame, stmt)


def _class(m: Machine, frame: Frame, stmt: ast.ClassDef) -> None:
    classes.define_class(m, frame, stmt)


def _import(m: Machine, frame: Frame, stmt: ast.Import) -> None:
    for alias in stmt.names:
        whole = imports.import_module(m, alias.name)
        if alias.asname:
            _bind(m, frame, alias.asname, whole)
        else:
            top = alias.name.partition(".")[0]
            _bind(m, frame, top, imports.import_module(m, top))


def _import_from(m: Machine, frame: Frame, stmt: ast.ImportFrom) -> None:
    base = imports.absolute_name(frame.module, stmt)
    if base == "__future__":
        return
    for alias in stmt.names:
        if alias.name == "*":
            continue  # star imports are followed name by name
        bound = alias.asname or alias.name
        if frame.scope is frame.module.scope and bound in frame.module.done_names:
            continue
        _bind(m, frame, bound, imports.import_from(m, base, alias.name))


def _global(m: Machine, frame: Frame, stmt: ast.Global) -> None:
    frame.scope.global_names.update(stmt.names)


def _nonlocal(m: Machine, frame: Frame, stmt: ast.Nonlocal) -> None:
    frame.scope.nonlocal_names.update(stmt.names)


def _delete(m: Machine, frame: Frame, stmt: ast.Delete) -> None:
    for target in stmt.targets:
        match target:
            case ast.Name(id=name):
                frame.scope.names.pop(name, None)
            case ast.Attribute(value=base, attr=attr):
                attributes.remove(m, expressions.evaluate(m, frame, base), attr)
            case ast.Subscript(value=base, slice=index):
                holder = expressions.evaluate(m, frame, base)
                containers.delete_item(m, holder, expressions.evaluate(m, frame, index))
            case _:
                raise m.stuck("this del target is not interpreted")


def _match(m: Machine, frame: Frame, stmt: ast.Match) -> Signal | None:
    from checker.interpreter import patterns

    subject = expressions.evaluate(m, frame, stmt.subject)
    for case in stmt.cases:
        if patterns.matches(m, frame, case.pattern, subject) and (
            case.guard is None or m.truth(expressions.evaluate(m, frame, case.guard), "case")
        ):
            return run_block(m, frame, case.body)
    return None


_STATEMENTS: dict[type[ast.stmt], Callable[[Machine, Frame, ast.stmt], Signal | None]] = {
    ast.Expr: _expr,
    ast.Assign: _assign,
    ast.AnnAssign: _ann_assign,
    ast.AugAssign: _aug_assign,
    ast.Return: _return,
    ast.If: _if,
    ast.For: _for,
    ast.While: _while,
    ast.With: _with,
    ast.Raise: _raise,
    ast.Try: _try,
    ast.Assert: _assert,
    ast.FunctionDef: _function,
    ast.ClassDef: _class,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Global: _global,
    ast.Nonlocal: _nonlocal,
    ast.Delete: _delete,
    ast.Match: _match,
    ast.Pass: lambda m, frame, stmt: None,
    ast.Break: lambda m, frame, stmt: _BREAK,
    ast.Continue: lambda m, frame, stmt: _CONTINUE,
}  # type: ignore[assignment,dict-item]
