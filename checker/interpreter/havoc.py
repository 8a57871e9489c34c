"""What an undescribed function may have done to what it was given."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from checker.interpreter.open_values import Untouching
from checker.interpreter.values import (
    BoundMethod,
    ConfigDict,
    Function,
    Instance,
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
            case tuple() | frozenset():
                stack += value
            case BoundMethod():
                stack += (value.instance, value.function)
            case Partial():
                stack += (value.function, *value.args, *value.kwargs.values())
            case Function():
                stack += _closure(m, value, unknown)


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
