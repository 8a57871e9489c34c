"""Attributes of objects: descriptors, the object's own, what its class has, `__getattr__`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.interpreter import attributes, calls, host_methods
from checker.interpreter.host_methods import MISSING
from checker.interpreter.looks import show
from checker.interpreter.values import (
    BoundMethod,
    ClassMethod,
    ClassValue,
    Function,
    Instance,
    Native,
    Property,
    Raised,
    StaticMethod,
    Value,
)

if TYPE_CHECKING:
    from checker.interpreter.machine import Machine

_CODE = (Function, Native, ClassMethod, StaticMethod)
_DESCRIBING = frozenset((Property, Instance))
"""What a class may have that comes before an attribute of the object itself."""


def of_instance(m: Machine, value: Instance, name: str, special: bool) -> Value:
    """`instance.name`."""
    cls = value.cls
    is_plain = name[:2] != "__"
    if not is_plain:
        _tell(m, cls, name)
        if name == "__class__":
            return cls
    outline = m.outline
    if outline is not None:
        key = id(value)
        if m.loop is not None and key in outline.indices:
            m.loop.touched(m, value, name)
        if key in outline.passed:
            outline.check_passed(m, value)
        if key in outline.pending and not _is_code(cls, name):
            outline.ensure(m, value)
    if not special:
        custom = hook(m, cls, "__getattribute__")
        if custom is not None:
            return _with_fallback(m, value, name, custom)
    if is_plain and value.tainted is None and value.config is None:
        found = cls.lookup(name)  # as `plain_get`, which this spares what is asked most often
        if found is None:
            if name in value.attrs:
                return value.attrs[name]
        elif name in value.attrs:
            if type(found[0]) not in _DESCRIBING:
                return value.attrs[name]
        elif type(found[0]) is Function:
            return BoundMethod(value, found[0])
    return plain_get(m, value, name)


def _tell(m: Machine, cls: ClassValue, name: str) -> None:
    """A special name of an object, which tells of its class, is asked for."""
    if m.watch is not None and not _is_code(cls, name):
        m.watch.saw(cls)


def hook(m: Machine, cls: ClassValue, name: str) -> Function | None:
    """What a class of the checked code does at each access of an attribute, or at each setting."""
    key = (cls, name)
    if key in m.hooks:
        return m.hooks[key]
    found = cls.lookup(name)
    m.hooks[key] = found[0] if found is not None and isinstance(found[0], Function) else None
    return m.hooks[key]


def _is_code(cls: ClassValue, name: str) -> bool:
    """Whether a class has a function of that name, which needs no built object."""
    found = cls.lookup(name)
    return found is not None and isinstance(found[0], _CODE)


def _with_fallback(m: Machine, value: Instance, name: str, custom: Function) -> Value:
    """A custom `__getattribute__`; where it raises AttributeError, `__getattr__` is asked."""
    try:
        return calls.call(m, custom, [value, name], {})
    except Raised as raised:
        fallback = value.cls.lookup("__getattr__")
        if raised.type_name != "AttributeError" or fallback is None:
            raise
        return calls.call(m, fallback[0], [value, name], {})


def plain_get(m: Machine, value: Instance, name: str) -> Value:
    """`object.__getattribute__`, then `__getattr__`; `MISSING` when there is neither."""
    if name == "__dict__":
        m.look(value.attrs)
        return value.tainted if value.tainted is not None else show(m, value)
    if name[:2] == "__":
        _tell(m, value.cls, name)
    if name == "__class__":
        return value.cls
    found = value.cls.lookup(name)
    try:
        result = _own(m, value, name, found[0] if found is not None else MISSING)
    except Raised as raised:
        fallback = value.cls.lookup("__getattr__")
        if raised.type_name != "AttributeError" or fallback is None or found is None:
            raise
        return calls.call(m, fallback[0], [value, name], {})
    return result if result is not MISSING else _last_resort(m, value, name)


def _own(m: Machine, value: Instance, name: str, found: Value) -> Value:
    """Data descriptors, then the object's own attributes, then what the class has."""
    if isinstance(found, Property) and not found.cached:
        return _from_property(m, value, found)
    if _is_data_descriptor(found):
        return bound(m, value, value.cls, found)
    if value.tainted is not None and not isinstance(found, (*_CODE, Property)):
        return value.tainted
    if name in value.attrs:
        if value.config is not None:
            m.read(value.config, name, True)
        return value.attrs[name]
    if isinstance(found, Property):
        m.changes(value)
        result = value.attrs[name] = _from_property(m, value, found)
        return result
    if found is MISSING:
        return MISSING
    if found is None and value.partial and m.outline is not None:
        return m.unknown(f"{name} of a {value.cls.name}", harmless=True)
    if value.config is not None and not isinstance(found, _CODE):
        m.read(value.config, name, True)
    return bound(m, value, value.cls, found)


def _from_property(m: Machine, value: Instance, found: Property) -> Value:
    if found.getter is None:
        raise m.exception("AttributeError", "unreadable attribute")
    return calls.call(m, found.getter, [value], {})


def _is_data_descriptor(found: Value) -> bool:
    return (
        isinstance(found, Instance)
        and found.cls.lookup("__set__") is not None
        and found.cls.lookup("__get__") is not None
    )


def _last_resort(m: Machine, value: Instance, name: str) -> Value:
    """What the wrapped builtin, `__getattr__` or an undescribed base may give."""
    if value.data is not None:
        data = host_methods.attribute(m, value.data, name)
        if data is not MISSING:
            return data
    if value.config is not None:
        m.read(value.config, name, False)
    fallback = value.cls.lookup("__getattr__")
    if fallback is not None:
        return calls.call(m, fallback[0], [value, name], {})
    if value.tainted is not None:
        return value.tainted
    if value.partial and m.outline is not None and not name.startswith("__"):
        return m.unknown(f"{name} of a {value.cls.name}", harmless=True)
    if value.cls.unknown_base is not None:
        base = value.cls.unknown_base
        return m.unknown(f"'{name}' may come from {base}, which is not described")
    return of_object(m, value, name)


def of_object(m: Machine, value: Instance, name: str) -> Value:
    """What every object has."""
    from checker.interpreter import equality, texts

    match name:
        case "__doc__":
            return None
        case "__module__":
            return value.cls.module.name if value.cls.module else "builtins"
        case "__eq__":
            return Native(name, lambda m, args, kwargs: equality.identical(m, value, args[0]))
        case "__repr__" | "__str__":
            return Native(name, lambda m, args, kwargs: texts.repr_of(m, value))
        case "__setattr__":
            return Native(
                name,
                lambda m, args, kwargs: attributes.plain_put(m, value, args[0], args[1]),
                pure=True,
            )
        case "__hash__" | "__ne__" | "__reduce__" | "__sizeof__" | "__dir__":
            return m.unknown(f"{name} of an object")
        case _:
            return MISSING


def bound(m: Machine, instance: Value, cls: ClassValue, found: Value) -> Value:
    """What an attribute found in the class gives for an object."""
    if m.loop is not None:
        m.loop.saw(found)
    match found:
        case Function() | Native():
            return BoundMethod(instance, found)
        case ClassMethod(function=inner):
            if m.watch is not None:
                m.watch.saw(cls)
            return BoundMethod(cls, inner)
        case StaticMethod(function=inner):
            return inner
        case Property():
            return calls.call(m, found.getter, [instance], {})
        case Instance() if found.cls.lookup("__get__"):
            if m.watch is not None:
                m.watch.saw(cls)
            method = attributes.get(m, found, "__get__", special=True)
            return calls.call(m, method, [instance, cls], {})
        case _:
            return found
