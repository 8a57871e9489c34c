"""Truth: what `if`, `and`, `while` and `bool()` make of a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.graph.dims import Poly
from checker.graph.dims import sign as sign_of
from checker.interpreter import conditions
from checker.interpreter.values import External, Instance, Unknown, Value

if TYPE_CHECKING:
    from collections.abc import Collection

    from checker.interpreter.machine import Machine

_VIEWS: tuple[type[Collection[Value]], ...] = (type({}.keys()), type({}.values()), type({}.items()))


def truth(m: Machine, value: Value, text: str) -> bool:
    """The truth of a value. What nothing decides is decided both ways, one after the other."""
    from checker.interpreter.tensors import Tensor

    match value:
        case None | bool() | int() | float() | str() | tuple():
            return bool(value)
        case list() | dict() | set():
            m.look(value)
            return bool(value)
        case Unknown() if m.outline is not None:
            return conditions.truth(m, value, text)
        case Unknown(reason=reason):
            return m.decide(f"{text}: {reason}")
        case Poly():
            sign = sign_of(value)
            return m.decide(f"{text}: whether {value} is zero") if sign is None else sign != 0
        case Tensor():
            return m.decide(f"{text} depends on a tensor's values")
        case Instance():
            return _of_instance(m, value, text)
        case External(path=path):
            return True if value.is_object else m.decide(f"{text}: {path} is not described")
        case frozenset() | bytes() | range() | complex():
            return bool(value)
        case _ if isinstance(value, _VIEWS):
            return len(value) > 0
        case _:
            return True


def _of_instance(m: Machine, value: Instance, text: str) -> bool:
    from checker.interpreter import attributes, calls

    for name in ("__bool__", "__len__"):
        if value.cls.defines(name):
            method = attributes.get(m, value, name, special=True)
            return truth(m, calls.call(m, method, [], {}), text)
    if value.data is not None:
        return bool(value.data)
    reason = value.tainted.reason if value.tainted else value.cls.unknown_base
    return True if reason is None else m.decide(f"{text}: {reason}")
