"""Statements: one function per kind.

A block returns None when it falls through, else the signal that ended it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from checker.interpreter import (
    attributes,
    classes,
    containers,
    exceptions,
    expressions,
    idle,
    imports,
    looping,
    merging,
    operators,
    outline_building,
    outline_choices,
    patterns,
    scopes,
    slicing,
)
from checker.interpreter.iteration import Generator, iterate, lazily
from checker.interpreter.machine import Frame, Machine
from checker.interpreter.values import Unknown, Value
from checker.syntax.nodes import walk
from checker.syntax.remembering import remembered


@dataclass(slots=True, eq=False)
class Signal:
    """How a block ended: ``return`` (with its value), ``break`` or ``continue``."""

    kind: str
    value: Value = None


BREAK = Signal("break")
CONTINUE = Signal("continue")


def ended(kind: str, value: Value) -> Signal:
    """How a block ended that ended so."""
    return {"break": BREAK, "continue": CONTINUE}.get(kind) or Signal(kind, value)


Statement = Callable[[Machine, Frame, Any], "Signal | None"]


def run_block(m: Machine, frame: Frame, stmts: list[ast.stmt]) -> Signal | None:
    """Runs statements in order."""
    for stmt in stmts:
        handler = _STATEMENTS.get(type(stmt))
        if handler is not None and m.slice is None and not frame.lenient:
            m.steps += 1  # as `run_statement`, without its calls: here is where the time goes
            if not m.steps & 1023:
                m.check_budget()
            frame.node = stmt
            signal = handler(m, frame, stmt)
        else:
            signal = run_statement(m, frame, stmt)
        if signal is not None:
            return signal
    return None


def run_statement(m: Machine, frame: Frame, stmt: ast.stmt) -> Signal | None:
    """Runs one statement."""
    m.tick()
    frame.node = stmt
    if m.slice is not None and stmt in m.slice.passing:
        return slicing.bind_only(m, frame, stmt)
    if frame.lenient:
        return outline_building.run_statement(m, frame, stmt)
    return plain_statement(m, frame, stmt)


def plain_statement(m: Machine, frame: Frame, stmt: ast.stmt) -> Signal | None:
    """Runs one statement as Python does."""
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
    def updated(current: Value) -> Value:
        value = expressions.evaluate(m, frame, stmt.value)
        frame.node = stmt
        made = operators.in_place(m, type(stmt.op), current, value)
        if m.results is not None:
            m.results.note(m, stmt, made)
        return made

    match stmt.target:
        case ast.Name(id=name):
            scopes.bind(m, frame, name, updated(scopes.lookup(m, frame, name)))
        case ast.Attribute(value=base, attr=attr):
            holder, attr = expressions.evaluate(m, frame, base), scopes.mangled(frame, attr)
            attributes.put(m, holder, attr, updated(attributes.get(m, holder, attr)))
        case ast.Subscript(value=base, slice=index):
            holder = expressions.evaluate(m, frame, base)
            key = expressions.evaluate(m, frame, index)
            current = containers.get_item(m, holder, key)
            containers.set_item(m, holder, key, updated(current))


def assign(m: Machine, frame: Frame, target: ast.expr, value: Value) -> None:
    """Binds `value` to an assignment target."""
    match target:
        case ast.Name():
            scope = frame.scope
            if scope.code.is_plain:
                scope.names[target.id] = value
            else:
                scopes.bind(m, frame, target.id, value)
        case ast.Attribute(value=base, attr=attr):
            holder = expressions.evaluate(m, frame, base)
            name = scopes.mangled(frame, attr) if attr[:2] == "__" else attr
            attributes.put(m, holder, name, value)
        case ast.Subscript(value=base, slice=index):
            holder = expressions.evaluate(m, frame, base)
            containers.set_item(m, holder, expressions.evaluate(m, frame, index), value)
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            _unpack(m, frame, elts, value)
        case _:
            raise m.stuck("this assignment target is not interpreted")


def _unpack(m: Machine, frame: Frame, elts: list[ast.expr], value: Value) -> None:
    if isinstance(value, Unknown):
        for elt in elts:
            assign(m, frame, elt.value if isinstance(elt, ast.Starred) else elt, value)
        return
    if m.outline is not None:
        value = m.outline.several(value) or value
    if m.outline is not None and m.outline.is_batch(m, value):
        raise m.exception("ValueError", f"too many values to unpack (expected {len(elts)})")
    star = next((i for i, elt in enumerate(elts) if isinstance(elt, ast.Starred)), None)
    if star is None:
        for elt, item in zip(elts, _exactly(m, value, len(elts)), strict=True):
            assign(m, frame, elt, item)
        return
    items = iterate(m, value)
    after = len(elts) - star - 1
    if len(items) < len(elts) - 1:
        raise m.exception("ValueError", "not enough values to unpack")
    for elt, item in zip(elts[:star], items, strict=False):
        assign(m, frame, elt, item)
    starred = elts[star]
    assert isinstance(starred, ast.Starred)
    assign(m, frame, starred.value, items[star : len(items) - after])
    for elt, item in zip(elts[star + 1 :], items[len(items) - after :], strict=True):
        assign(m, frame, elt, item)


def _exactly(m: Machine, value: Value, count: int) -> list[Value]:
    """The items to unpack into `count` targets; at most one more is asked for."""
    items: list[Value] = []
    for item in lazily(m, value):
        items.append(item)
        if len(items) > count:
            raise m.exception("ValueError", f"too many values to unpack (expected {count})")
    if len(items) < count:
        text = f"not enough values to unpack (expected {count}, got {len(items)})"
        raise m.exception("ValueError", text)
    return items


def _return(m: Machine, frame: Frame, stmt: ast.Return) -> Signal:
    return Signal("return", expressions.evaluate(m, frame, stmt.value) if stmt.value else None)


def _if(m: Machine, frame: Frame, stmt: ast.If) -> Signal | None:
    mark = len(m.reads)
    merges = m.journal is not None and merging.is_open(m, stmt)
    before = merging.mark(m) if merges and not outline_choices.binds_within(stmt.test) else None
    test = expressions.evaluate(m, frame, stmt.test)
    if isinstance(test, Unknown):
        if m.outline is not None:
            m.asked += 1
            calls_too = bool(m.outline.building)
            only_binds = outline_choices.only_binds(stmt, calls_too)
            if only_binds and outline_building.joined(m, frame, stmt, test):
                return None
        if idle.is_idle(m, frame, stmt):
            return None
    if before is not None and merging.is_left_open(m, before, test):
        return merging.condition(m, frame, stmt, before, lambda: _decided(m, frame, stmt))
    return _followed(m, frame, stmt, test, mark)


def _decided(m: Machine, frame: Frame, stmt: ast.If) -> Signal | None:
    """One way through an `if` that nothing decides."""
    mark = len(m.reads)
    return _followed(m, frame, stmt, expressions.evaluate(m, frame, stmt.test), mark)


def _followed(m: Machine, frame: Frame, stmt: ast.If, test: Value, mark: int) -> Signal | None:
    """The branch that a condition takes, which has been looked at since a mark."""
    taken = test if test is True or test is False else m.truth(test, "if")
    keys = m.keys_read_since(mark) if len(m.reads) > mark else ()
    keys = keys or _texts_in(frame, stmt.test)
    outer = frame.guard_keys
    frame.guard_keys = keys or outer
    try:
        return run_block(m, frame, stmt.body if taken else stmt.orelse)
    finally:
        frame.guard_keys = outer


def _texts_in(frame: Frame, test: ast.expr) -> tuple[str, ...]:
    """The texts that a condition's local names hold, as ``=text``.

    A condition that reads no configuration key often tests one that was handed in: what it says
    can be told from the configuration later.
    """
    asked = _names_in(test)
    if not asked:
        return ()
    names = frame.scope.names
    texts = [value for name in asked if isinstance(value := names.get(name), str)]
    return tuple(f"={text}" for text in texts) if texts else ()


@remembered()
def _names_in(test: ast.expr) -> tuple[str, ...]:
    return tuple(n.id for n in walk(test) if isinstance(n, ast.Name))


def _for(m: Machine, frame: Frame, stmt: ast.For) -> Signal | None:
    source = expressions.evaluate(m, frame, stmt.iter)
    frame.node = stmt
    rows = looping.rows(m, stmt, source) if m.outline is not None else None
    if rows is not None:
        return looping.run(m, frame, stmt, rows)
    for item in lazily(m, source):
        m.tick()
        assign(m, frame, stmt.target, item)
        signal = run_block(m, frame, stmt.body)
        if m.item_done is not None:
            m.item_done(m, frame, item)
        if signal is not None and signal is not CONTINUE:
            abandon(m, stmt, source)
            return None if signal is BREAK else signal
        frame.node = stmt
    return run_block(m, frame, stmt.orelse)


def abandon(m: Machine, stmt: ast.For, source: Value) -> None:
    """A loop was left early: a generator that nothing else refers to is closed, as Python does."""
    if isinstance(source, Generator) and isinstance(stmt.iter, (ast.Call, ast.GeneratorExp)):
        source.close(m)


def _while(m: Machine, frame: Frame, stmt: ast.While) -> Signal | None:
    while m.truth(expressions.evaluate(m, frame, stmt.test), "while"):
        m.tick()
        signal = run_block(m, frame, stmt.body)
        if signal is BREAK:
            return None
        if signal is not None and signal is not CONTINUE:
            return signal
    return run_block(m, frame, stmt.orelse)


def _import(m: Machine, frame: Frame, stmt: ast.Import) -> None:
    for alias in stmt.names:
        whole = imports.import_module(m, alias.name)
        if alias.asname:
            scopes.bind(m, frame, alias.asname, whole)
        else:
            top = alias.name.partition(".")[0]
            scopes.bind(m, frame, top, imports.import_module(m, top))


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
        scopes.bind(m, frame, bound, imports.import_from(m, base, alias.name))


def _delete(m: Machine, frame: Frame, stmt: ast.Delete) -> None:
    for target in stmt.targets:
        _delete_target(m, frame, target)


def _delete_target(m: Machine, frame: Frame, target: ast.expr) -> None:
    match target:
        case ast.Name(id=name):
            scopes.delete(m, frame, name)
        case ast.Attribute(value=base, attr=attr):
            holder = expressions.evaluate(m, frame, base)
            attributes.remove(m, holder, scopes.mangled(frame, attr))
        case ast.Subscript(value=base, slice=index):
            holder = expressions.evaluate(m, frame, base)
            containers.delete_item(m, holder, expressions.evaluate(m, frame, index))
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            for elt in elts:
                _delete_target(m, frame, elt)
        case _:
            raise m.stuck("this del target is not interpreted")


def _match(m: Machine, frame: Frame, stmt: ast.Match) -> Signal | None:
    subject = expressions.evaluate(m, frame, stmt.subject)
    for case in stmt.cases:
        if patterns.matches(m, frame, case.pattern, subject) and (
            case.guard is None or m.truth(expressions.evaluate(m, frame, case.guard), "case")
        ):
            return run_block(m, frame, case.body)
    return None


def _type_alias(m: Machine, frame: Frame, stmt: Any) -> None:
    scopes.bind(m, frame, stmt.name.id, m.unknown("a type alias", harmless=True))


def _later(home: Any, name: str) -> Statement:
    """A handler of a module which itself runs statements: it may not be there yet."""

    def run(m: Machine, frame: Frame, stmt: Any) -> Signal | None:
        signal: Signal | None = getattr(home, name)(m, frame, stmt)
        return signal

    return run


def _nothing(m: Machine, frame: Frame, stmt: ast.stmt) -> None:
    """`pass`, and declarations that were read before the body ran."""


_STATEMENTS: dict[type[ast.stmt], Statement] = {
    ast.Expr: _expr,
    ast.Assign: _assign,
    ast.AnnAssign: _ann_assign,
    ast.AugAssign: _aug_assign,
    ast.Return: _return,
    ast.If: _if,
    ast.For: _for,
    ast.While: _while,
    ast.With: _later(exceptions, "run_with"),
    ast.Raise: _later(exceptions, "run_raise"),
    ast.Try: _later(exceptions, "run_try"),
    ast.Assert: _later(exceptions, "run_assert"),
    ast.FunctionDef: _later(classes, "define_function"),
    ast.AsyncFunctionDef: _later(classes, "define_function"),
    ast.ClassDef: _later(classes, "define_class"),
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Global: _nothing,
    ast.Nonlocal: _nothing,
    ast.Delete: _delete,
    ast.Match: _match,
    ast.Pass: _nothing,
    ast.Break: lambda m, frame, stmt: BREAK,
    ast.Continue: lambda m, frame, stmt: CONTINUE,
}
if hasattr(ast, "TypeAlias"):
    _STATEMENTS[ast.TypeAlias] = _type_alias

__all__ = ["BREAK", "CONTINUE", "Signal", "abandon", "assign", "run_block", "run_statement"]
