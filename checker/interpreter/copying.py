"""`copy.copy` and `copy.deepcopy` of values of the checked program."""

from __future__ import annotations

from checker.interpreter.tensors import Tensor
from checker.interpreter.values import ConfigDict, Instance, Value


def copy(value: Value, deep: bool, memo: dict[int, Value] | None = None) -> Value:
    """A shallow or deep copy. Immutable values and functions are shared, tensors keep their term."""
    memo = {} if memo is None else memo
    if id(value) in memo:
        return memo[id(value)]
    match value:
        case Instance():
            made = Instance(value.cls, {}, value.data, value.config, value.tainted)
            memo[id(value)] = made
            made.attrs.update(
                {k: copy(v, True, memo) if deep else v for k, v in value.attrs.items()}
            )
            if value.data is not None:
                made.data = copy(value.data, deep, memo)
            return made
        case ConfigDict():
            items = {k: copy(v, True, memo) if deep else v for k, v in value.items()}
            return ConfigDict(items, value.place)
        case dict():
            return {k: copy(v, True, memo) if deep else v for k, v in value.items()}
        case list():
            return [copy(v, True, memo) if deep else v for v in value]
        case set():
            return set(value)
        case tuple() if deep:
            return tuple(copy(v, True, memo) for v in value)
        case Tensor() if deep:
            from checker.interpreter.tensors import Root

            made_tensor = Tensor(value.storage, value.axes, value.kind)
            if isinstance(value.storage, Root):
                made_tensor.storage = Root(value.storage._term)
            made_tensor.parameter, made_tensor.extra = value.parameter, dict(value.extra)
            return made_tensor
        case _:
            return value
