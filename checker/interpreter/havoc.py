"""What an undescribed function may have done to what it was given."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from checker.interpreter.open_values import OneOf, Untouching
from checker.interpreter.values import (
    BoundMethod,
    ConfigDict,
    Function,
    Instance,
    Native,
    Partial,
    Scope,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from checker.interpreter.machine import Machine


def forget(m: Machine, unknown: Unknown, values: Iterable[Value]) -> None:
    """Everything reachable from `values` is unknown from now on, if `unknown` may have changed it.

    Tensors lose their terms, objects their attributes; to look into lists, dictionaries and sets is
    stuck. Classes, modules and functions are assumed to stay what they are, except for what
    closures hold.
    """
    from checker.interpreter.tensors import Tensor

    if isinstance(unknown, Untouching):
        return
    seen: set[int] = set()
    stack = list(values)
    while stack:
        value = stack.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        m.tick()
        if isinstance(value, (Instance, list, dict, set)):
            m.changes(value)
        if isinstance(value, (Tensor, list, dict, set)):
            m.asked += 1
        match value:
            case Tensor():
                value.forget(m, unknown)
            case Instance():
                stack += _instance(value, unknown)
            case dict():
                stack += value.values()
                if not isinstance(value, ConfigDict):  # what the files say stays what it is
                    m.lost[id(value)] = (value, unknown)
            case list() | set():
                stack += value
                m.lost[id(value)] = (value, unknown)
            case Function():
                stack += _closure(m, value, unknown)
            case _:
                stack += _parts(value)


def _parts(value: Value) -> tuple[Value, ...]:
    """What something holds that cannot be changed itself."""
    match value:
        case tuple() | frozenset():
            return tuple(value)
        case Unknown():
            return _used(value)
        case BoundMethod():
            return value.instance, value.function
        case Partial():
            return value.function, *value.args, *value.kwargs.values()
        case _:
            return ()


def changed(m: Machine, value: Value) -> None:
    """Something is done to a value: where it is one of several things, to any of them."""
    if isinstance(value, Unknown) and (things := things_of(value)):
        forget(m, value, things)


def used(m: Machine, value: Value) -> None:
    """A value is called, or handed to something: that may change it, but for parts of a target."""
    if isinstance(value, Unknown) and (things := _used(value)):
        forget(m, value, things)


def _used(value: Unknown) -> tuple[Value, ...]:
    from checker.interpreter.outline import is_module

    return tuple(
        thing
        for thing in things_of(value)
        if not (isinstance(thing, Instance) and is_module(thing.cls))
    )


def things_of(value: Value) -> tuple[Value, ...]:
    """What something unknown may be that can be changed."""
    return getattr(value, "things", ())


def one_of(unknown: Unknown, values: Iterable[Value]) -> Unknown:
    """One of several values, nothing tells which."""
    things = tuple(value for value in values if may_change(value))
    return OneOf(unknown.reason, unknown.location, things) if things else unknown


_READING = frozenset(("copy", "count", "get", "index", "items", "keys", "values"))


def read_by(value: Unknown, name: str) -> Unknown:
    """An attribute of something unknown; a method that only reads leaves open what is in it."""
    things = things_of(value)
    if name not in _READING or not all(isinstance(thing, (list, dict, set)) for thing in things):
        return value
    held: list[Value] = []
    for thing in things:
        held += thing.values() if isinstance(thing, dict) else thing
    return one_of(Unknown(value.reason, value.location), held) if things else value


def is_container(value: Value) -> bool:
    """Whether a value is a container, or a method of one."""
    if isinstance(value, Native):
        return bool(getattr(value.call, "__closure__", None))
    return isinstance(value, (list, dict, set)) and not isinstance(value, ConfigDict)


def may_change(value: Value) -> bool:
    """Whether something can be done to a value that others see."""
    from checker.interpreter.iteration import Iterator
    from checker.interpreter.tensors import Tensor

    match value:
        case Instance():  # what stands for something summarised is changed by nobody else
            return not value.cls.is_enum and not (value.cls.module and value.cls.module.is_stub)
        case ConfigDict():
            return False
        case list() | dict() | set() | Tensor() | Iterator():
            return True
        case Unknown():
            return bool(things_of(value))
        case BoundMethod():
            return may_change(value.instance)
        case tuple():
            return any(may_change(item) for item in value)
        case Partial():
            return any(may_change(item) for item in (*value.args, *value.kwargs.values()))
        case Native():
            return bool(getattr(value.call, "__closure__", None))  # a method of something
        case _:
            return False


def _instance(value: Instance, unknown: Unknown) -> list[Value]:
    """Taints an object; what it holds."""
    held: list[Value] = list(value.attrs.values())
    if value.data is not None and not isinstance(value.data, (str, int, float, bytes)):
        held.append(value.data)
    if value.tainted is None and not (value.cls.is_enum and "_name_" in value.attrs):
        value.tainted = unknown
    return held


def _closure(m: Machine, function: Function, unknown: Unknown) -> list[Value]:
    """What a function that is handed out can reach and rebind through its closure."""
    from checker.interpreter import scopes

    held: list[Value] = [*function.defaults, *function.kw_defaults.values()]
    scope: Scope | None = function.closure
    if scope is None:
        return held
    code = scopes.code_of(m, function.node)
    used = {node.id for node in ast.walk(function.node) if isinstance(node, ast.Name)}
    while scope is not None:
        held += [value for name, value in scope.names.items() if name in used]
        for name in code.nonlocal_names & scope.names.keys():
            m.changes(scope.names)
            scope.names[name] = unknown
        scope = scope.parent
    return held
