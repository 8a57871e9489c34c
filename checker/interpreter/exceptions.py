"""Exceptions and context managers: `try`, `raise`, `with`, `assert`."""

from __future__ import annotations

import ast
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from checker.interpreter import attributes, calls, expressions, fallbacks
from checker.interpreter.values import (
    ClassValue,
    External,
    Instance,
    Raised,
    Unknown,
    Value,
)
from checker.syntax.remembering import remembered

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from checker.interpreter.journal import Journal
    from checker.interpreter.machine import Frame, Machine
    from checker.interpreter.statements import Signal


def run_try(m: Machine, frame: Frame, stmt: ast.Try) -> Signal | None:
    """`try`. Only exceptions of the checked program are caught by it: `Stuck` is ours."""
    from checker.interpreter.statements import run_block

    try:
        with swallowing(m, leads_on(stmt)):
            signal = _guarded(m, frame, stmt)
    except Raised:
        final = run_block(m, frame, stmt.finalbody)
        if final is not None:
            return final
        raise
    final = run_block(m, frame, stmt.finalbody)
    return final if final is not None else signal


@remembered()
def leads_on(stmt: ast.Try) -> bool:
    """Whether the `finally` block may go on somewhere else, whatever was raised."""
    parts = (part for inner in stmt.finalbody for part in ast.walk(inner))
    return any(isinstance(part, (ast.Return, ast.Break, ast.Continue)) for part in parts)


def _guarded(m: Machine, frame: Frame, stmt: ast.Try) -> Signal | None:
    """The body of a `try` with its handlers."""
    from checker.interpreter.statements import run_block

    m.trying += bool(stmt.handlers)
    mark = len(m.reads)
    try:
        signal = run_block(m, frame, stmt.body)
    except Raised as raised:
        handler = matching(m, frame, stmt.handlers, raised)
        if handler is None:
            raise
        with handling(m, frame, handler, raised):
            signal = run_block(m, frame, handler.body)
        fallbacks.noted(m, frame, mark, raised, stmt, handler)
        return signal
    finally:
        m.trying -= bool(stmt.handlers)
    if signal is None:
        signal = run_block(m, frame, stmt.orelse)
    return signal


@contextmanager
def handling(
    m: Machine, frame: Frame, handler: ast.ExceptHandler, raised: Raised
) -> Iterator[None]:
    """The body of an `except` clause: its name is bound, and unbound again at the end."""
    from checker.interpreter import scopes

    frame.handling.append(raised)
    if handler.name:
        scopes.bind(m, frame, handler.name, raised.value)
    try:
        yield
    finally:
        frame.handling.pop()
        if handler.name:
            frame.scope.names.pop(handler.name, None)


def matching(
    m: Machine, frame: Frame, handlers: list[ast.ExceptHandler], raised: Raised
) -> ast.ExceptHandler | None:
    """The first handler that takes the exception."""
    for handler in handlers:
        if handler.type is None or _matches(
            m, expressions.evaluate(m, frame, handler.type), raised
        ):
            return handler
    return None


def _matches(m: Machine, kinds: Value, raised: Raised) -> bool:
    cls = raised.value.cls
    for kind in kinds if isinstance(kinds, tuple) else (kinds,):
        if isinstance(kind, tuple):
            if _matches(m, kind, raised):
                return True
        elif isinstance(kind, ClassValue):
            if cls.is_subclass(kind):
                return True
            if cls.unknown_base is not None and m.decide(f"whether {cls.name} is a {kind.name}"):
                return True
        elif m.decide(f"whether an except clause takes {cls.name}"):
            return True
    return False


def run_raise(m: Machine, frame: Frame, stmt: ast.Raise) -> None:
    """`raise`."""
    if stmt.exc is None:
        for active in reversed(m.frames):
            if active.handling:
                raise active.handling[-1]
        raise m.exception("RuntimeError", "No active exception to reraise")
    value = expressions.evaluate(m, frame, stmt.exc)
    if isinstance(value, ClassValue):
        value = calls.call(m, value, [], {})
    frame.node = stmt
    if isinstance(value, (Unknown, External)):
        raise unknown_exception(m, value)
    if not isinstance(value, Instance) or not value.cls.is_subclass(m.builtins["BaseException"]):
        raise m.exception("TypeError", "exceptions must derive from BaseException")
    if stmt.cause is not None:
        m.changes(value)
        value.attrs["__cause__"] = expressions.evaluate(m, frame, stmt.cause)
    raised = Raised(value, m.location(), frame.guard_keys)
    raised.explicit = True
    raise raised


def unknown_exception(m: Machine, value: Unknown | External) -> Raised:
    """An exception of which nothing but its being one is known."""
    base: ClassValue = m.builtins["Exception"]
    reason = value.path if isinstance(value, External) else value.reason
    cls = ClassValue("an exception that is not known", None, (base,), unknown_base=reason)
    cls.mro = (cls, *base.mro)
    return Raised(Instance(cls), m.location(), m.frames[-1].guard_keys)


def run_assert(m: Machine, frame: Frame, stmt: ast.Assert) -> None:
    """`assert`. One that nothing decides is assumed to pass: it computes nothing."""
    mark = len(m.reads)
    value = expressions.evaluate(m, frame, stmt.test)
    if isinstance(value, Unknown) or m.truth(value, "assert"):
        return
    outer = frame.guard_keys
    frame.guard_keys = m.keys_read_since(mark) or outer
    try:
        failed = m.exception("AssertionError", *_message(m, frame, stmt))
        failed.note = ast.unparse(stmt.test)[:120]
        raise failed
    finally:
        frame.guard_keys = outer


def _message(m: Machine, frame: Frame, stmt: ast.Assert) -> list[Value]:
    if stmt.msg is None:
        return []
    return [expressions.evaluate(m, frame, stmt.msg)]


def run_with(m: Machine, frame: Frame, stmt: ast.With) -> Signal | None:
    """`with`."""
    return _with_items(m, frame, stmt.items, stmt.body)


def _with_items(
    m: Machine, frame: Frame, items: list[ast.withitem], body: list[ast.stmt]
) -> Signal | None:
    from checker.interpreter.statements import run_block

    if not items:
        return run_block(m, frame, body)
    manager = enter(m, frame, items[0])
    try:
        with swallowing(m):
            signal = _with_items(m, frame, items[1:], body)
    except Raised as raised:
        if leave(m, manager, raised):
            return None
        raise
    leave(m, manager, None)
    return signal


def swallowing(m: Machine, here: bool = True) -> AbstractContextManager[None]:
    """What is raised in there may go no further: by a context manager, or a `finally` block."""
    return _NOTHING if m.journal is None or not here else _swallowing(m.journal)


@contextmanager
def _swallowing(journal: Journal) -> Iterator[None]:
    journal.managed += 1
    try:
        yield
    finally:
        journal.managed -= 1


_NOTHING = nullcontext()


def enter(m: Machine, frame: Frame, item: ast.withitem) -> Value:
    """Enters a context manager, binds what it gives, and returns it for `leave`."""
    from checker.interpreter import statements

    manager = expressions.evaluate(m, frame, item.context_expr)
    entered: Value
    if isinstance(manager, External):
        entered = manager = m.unknown(f"{manager.path} is not described")
    elif isinstance(manager, Unknown):
        entered = manager
    else:
        attributes.get(m, manager, "__exit__", special=True)
        entered = calls.call(m, attributes.get(m, manager, "__enter__", special=True), [], {})
    if item.optional_vars is not None:
        statements.assign(m, frame, item.optional_vars, entered)
    return manager


def leave(m: Machine, manager: Value, raised: Raised | None) -> bool:
    """Leaves a context manager; whether it swallows the exception."""
    if isinstance(manager, Unknown):
        return raised is not None and m.decide(
            f"whether a context manager swallows an exception: {manager.reason}"
        )
    leaving = attributes.get(m, manager, "__exit__", special=True)
    if raised is None:
        calls.call(m, leaving, [None, None, None], {})
        return False
    value = raised.value
    return m.truth(calls.call(m, leaving, [value.cls, value, None], {}), "__exit__")
