"""Values that are the same in every run once what they hold is put back."""

from __future__ import annotations

from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any

from checker.interpreter.outline import is_module
from checker.interpreter.values import (
    BoundMethod,
    ClassMethod,
    ClassValue,
    ConfigDict,
    External,
    Function,
    Instance,
    ModuleValue,
    Native,
    Partial,
    Property,
    StaticMethod,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Container

MISSING = object()
"""What a module does not have."""

_CONSTANTS = (bool, int, float, str, bytes, type(None), type(...), External, ModuleValue)


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """Something that can be changed, and what it held when it was made."""

    place: Any
    content: Any

    def is_same(self) -> bool:
        """Whether it holds what it held."""
        place, content = self.place, self.content
        if len(place) != len(content):
            return False
        if isinstance(place, dict):
            return all(place.get(key, MISSING) is value for key, value in content.items())
        if isinstance(place, list):
            return all(one is two for one, two in zip(place, content, strict=True))
        return bool(place == content)

    def restore(self) -> None:
        """Puts back what it held."""
        self.place.clear()
        if isinstance(self.place, list):
            self.place.extend(self.content)
        else:
            self.place.update(self.content)


class Steady:
    """Tells which values are the same in every run.

    `settled` are the numbers of objects that are known to be; all others are new. `found` are the
    new ones of those that were asked about, `held` what they hold.
    """

    def __init__(self, settled: Container[int]) -> None:
        self._settled = settled
        self.held: list[Held] = []
        self.found: dict[int, Value] = {}

    def are(self, values: Any) -> bool:
        """Whether all of some values are such, with what they hold."""
        return all(map(self.includes, values))

    def includes(self, value: Value) -> bool:
        """Whether a value is one, with all that it holds."""
        if isinstance(value, _CONSTANTS) or type(value) is Unknown:
            return True
        if id(value) in self.found or id(value) in self._settled:
            return True
        match value:
            case tuple() | frozenset():
                return self.are(value)
            case StaticMethod(function=inner) | ClassMethod(function=inner):
                return self.includes(inner)
            case Property(getter=getter, setter=setter):
                return self.are((getter, setter))
            case BoundMethod(instance=instance, function=inner):
                return self.are((instance, inner))
            case Partial(function=inner, args=args, kwargs=kwargs):
                return self.are((inner, args, kwargs))
            case Native():
                return all(_is_fixed(cell.cell_contents) for cell in value.call.__closure__ or ())
            case ClassValue(module=None):
                return True  # one of Python's own
            case _:
                self.found[id(value)] = value
                return self._includes_new(value)

    def _includes_new(self, value: Value) -> bool:
        match value:
            case ConfigDict():
                return False
            case list():
                self.held.append(Held(value, list(value)))
                return self.are(value)
            case dict() | set():
                self.held.append(Held(value, value.copy()))
                inner = value.values() if isinstance(value, dict) else ()
                return all(map(_is_key, value)) and self.are(value) and self.are(inner)
            case Function(closure=scope):
                while scope is not None:
                    if not self.includes(scope.names):
                        return False
                    scope = scope.parent
                return self.are((value.defaults, value.kw_defaults, value.attrs))
            case ClassValue():
                return self.are((*value.mro[1:], value.meta, value.namespace))
            case Instance(config=None, tainted=None):
                return _is_plain(value) and self.are((value.cls, value.attrs, value.data))
            case _:
                return False


def _is_plain(value: Instance) -> bool:
    """Whether an object is the same for every run.

    Modules are built in another way in an outline, and flags that are put together are made once a
    run.
    """
    if value.cls.is_enum:
        return any(
            value is member for member in value.cls.namespace.get("__members__", {}).values()
        )
    return not is_module(value.cls)


def _is_key(key: Value) -> bool:
    """Whether a key is found again in another run: of equal objects each run chooses one."""
    if isinstance(key, (tuple, frozenset)):
        return all(map(_is_key, key))
    return not isinstance(key, Instance) or not key.cls.defines("__eq__")


def _is_fixed(cell: Any) -> bool:
    """Whether what one of our functions holds is the same in every run."""
    if isinstance(cell, FunctionType):
        return cell.__closure__ is None
    return isinstance(cell, (bool, int, float, str, type(None), BuiltinFunctionType, type))


__all__ = ["MISSING", "Held", "Steady"]
