"""`copy.copy` and `copy.deepcopy` of values of the checked program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.interpreter.tensors import Root, Tensor
from checker.interpreter.values import (
    BoundMethod,
    ConfigDict,
    Instance,
    Partial,
    Value,
)

if TYPE_CHECKING:
    from checker.interpreter.machine import Machine


def copy(m: Machine, value: Value) -> Value:
    """A shallow copy."""
    from checker.interpreter import attributes, calls

    m.look(value)
    match value:
        case Instance() if value.cls.defines("__copy__"):
            return calls.call(m, attributes.get(m, value, "__copy__", special=True), [], {})
        case Instance() if value.cls.is_enum:
            return value
        case Instance():
            _whole(m, value)
            made = Instance(value.cls, dict(value.attrs), value.data, value.config, value.tainted)
            if isinstance(value.data, (list, dict, set)):
                made.data = copy(m, value.data)
            return made
        case ConfigDict():
            return ConfigDict(value, value.place)
        case list() | dict() | set():
            return value.copy()
        case Tensor():
            return value.alike(value.storage)
        case _:
            return value


def deepcopy(m: Machine, value: Value, memo: dict[int, Value] | None = None) -> Value:
    """A deep copy.

    Immutable values, classes and functions are shared; tensors get storages of their own.
    """
    memo = {} if memo is None else memo
    if id(value) in memo:
        return memo[id(value)]
    m.tick()
    m.look(value)
    match value:
        case Instance():
            return _instance(m, value, memo)
        case Tensor():
            return _tensor(m, value, memo)
        case dict():
            made: Value = ConfigDict({}, value.place) if isinstance(value, ConfigDict) else {}
            memo[id(value)] = made
            for key, item in value.items():
                made[deepcopy(m, key, memo)] = deepcopy(m, item, memo)
            return made
        case list():
            memo[id(value)] = items = []  # type: ignore[var-annotated]
            items.extend(deepcopy(m, item, memo) for item in value)
            return items
        case set():
            return {deepcopy(m, item, memo) for item in value}
        case tuple():
            copied = tuple(deepcopy(m, item, memo) for item in value)
            same = all(a is b for a, b in zip(copied, value, strict=True))
            return memo.setdefault(id(value), value if same else copied)
        case BoundMethod(instance=instance, function=function):
            return BoundMethod(deepcopy(m, instance, memo), function)
        case Partial(function=function, args=args, kwargs=kwargs):
            return Partial(function, deepcopy(m, args, memo), deepcopy(m, kwargs, memo))
        case _:
            return value


def _instance(m: Machine, value: Instance, memo: dict[int, Value]) -> Value:
    from checker.interpreter import attributes, calls

    if value.cls.is_enum:
        return value
    if value.cls.defines("__deepcopy__"):
        method = attributes.get(m, value, "__deepcopy__", special=True)
        made = memo[id(value)] = calls.call(m, method, [{}], {})
        return made
    if value.cls.defines("__reduce__") or value.cls.defines("__setstate__"):
        raise m.stuck(f"a deep copy of a {value.cls.name}, which says how it is pickled")
    _whole(m, value)
    instance = Instance(value.cls, {}, None, value.config, value.tainted)
    memo[id(value)] = instance
    instance.attrs.update({k: deepcopy(m, v, memo) for k, v in value.attrs.items()})
    if value.data is not None:
        instance.data = deepcopy(m, value.data, memo)
    return instance


def _whole(m: Machine, value: Instance) -> None:
    """An object is looked at as a whole: one that is not built yet is built first."""
    if m.outline is not None:
        m.outline.look_into(m, value)


def _tensor(m: Machine, value: Tensor, memo: dict[int, Value]) -> Tensor:
    """Copies of tensors that share their storage as a whole share that of one copy."""
    root = memo.get(id(value.storage))
    if root is None:
        root = memo[id(value.storage)] = Root(value.term(m))
    made = Tensor(root, value.axes, value.kind)
    made.parameter, made.buffer = value.parameter, value.buffer
    made.requires_grad = value.requires_grad
    made.extra = {k: deepcopy(m, v, memo) for k, v in value.extra.items()}
    memo[id(value)] = made
    return made
