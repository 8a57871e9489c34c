"""Attributes of classes, and what `super()` finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.interpreter import attributes, calls, containers, host_methods, instance_attributes
from checker.interpreter.host_methods import MISSING
from checker.interpreter.values import (
    BoundMethod,
    ClassMethod,
    ClassValue,
    External,
    Instance,
    Native,
    StaticMethod,
    SuperValue,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from checker.interpreter.machine import Machine


def of_class(m: Machine, value: ClassValue, name: str) -> Value:
    """`cls.name`."""
    if m.watch is not None and name[:2] == "__":
        m.watch.saw(value)
    found = value.lookup(name)
    if found is not None:
        return _from_class(m, value, found[0])
    simple = _class_facts(m, value, name)
    if simple is not MISSING:
        return simple
    if value.meta is not None:
        inherited = value.meta.lookup(name)
        if inherited is not None:
            return instance_attributes.bound(m, value, value.meta, inherited[0])
        hook = value.meta.lookup("__getattr__")
        if hook is not None:
            return calls.call(m, hook[0], [value, name], {})
    if value.unknown_base is not None:
        return m.unknown(f"'{name}' may come from {value.unknown_base}, which is not described")
    if value.host is not None:
        return _of_host_class(m, value, name)
    root: ClassValue = m.builtins["object"]
    return _from_class(m, value, root.namespace.get(name, MISSING))


def _from_class(m: Machine, value: ClassValue, found: Value) -> Value:
    match found:
        case ClassMethod(function=inner):
            if m.watch is not None:
                m.watch.saw(value)
            return BoundMethod(value, inner)
        case StaticMethod(function=inner):
            return inner
        case Instance() if found.cls.lookup("__get__"):
            if m.watch is not None:
                m.watch.saw(value)
            method = attributes.get(m, found, "__get__", special=True)
            return calls.call(m, method, [None, value], {})
        case _:
            if m.loop is not None:
                m.loop.saw(found)
            return found


def _of_host_class(m: Machine, value: ClassValue, name: str) -> Value:
    """`str.lower`, `dict.get`: the first argument is the object."""
    hosts = {"str": "", "dict": {}, "list": [], "int": 0, "float": 0.0, "tuple": (), "set": set()}
    sample = hosts.get(value.host or "", MISSING)
    if sample is MISSING or not hasattr(sample, name):
        return MISSING

    def method(m: Machine, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if not args:
            raise m.exception("TypeError", f"unbound method {name}() needs an argument")
        target = args[0].data if isinstance(args[0], Instance) else args[0]
        return calls.call(m, attributes.get(m, target, name), args[1:], kwargs)

    return Native(name, method)


def _class_facts(m: Machine, value: ClassValue, name: str) -> Value:
    """What Python says of every class."""
    from checker.interpreter import classes

    match name:
        case "__name__" | "__qualname__":
            return value.name
        case "__module__":
            return value.module.name if value.module else "builtins"
        case "__mro__":
            return (*value.mro, m.builtins["object"])
        case "__bases__":
            return value.bases or (m.builtins["object"],)
        case "__dict__":
            return value.namespace
        case "__doc__":
            return None
        case "__class__":
            return value.meta or m.builtins["type"]
        case "__annotations__":
            return dict(value.annotations)
        case "model_fields" | "__dataclass_fields__":
            found = [
                field  # pydantic keeps private attributes apart
                for field in classes.fields(value)
                if name != "model_fields" or not field.startswith("_")
            ]
            return dict.fromkeys(found) if found else MISSING
        case "__class_vars__":
            return {
                n
                for c in value.mro
                for n, a in c.annotations.items()
                if "ClassVar" in classes.annotation_head(a)
            }
        case "mro":
            return Native(name, lambda m, a, k: [*value.mro, m.builtins["object"]])
        case "__subclasses__":
            return Native(name, lambda m, a, k: m.unknown("__subclasses__()"))
        case _:
            return MISSING


# -- super() ---------------------------------------------------------------------------------------


def of_super(m: Machine, value: SuperValue, name: str) -> Value:
    """`super().name`."""
    start = value.start
    cls = start.cls if isinstance(start, Instance) else start
    if isinstance(cls, ClassValue) and value.after not in cls.mro and cls.meta is not None:
        return _of_meta_super(m, value, cls, name)
    if m.watch is not None:
        m.watch.asked(value.after)
    if not isinstance(cls, ClassValue) or value.after not in cls.mro:
        if isinstance(start, (Unknown, External)):
            return m.unknown("super() of an object that is not known")
        raise m.exception(
            "TypeError", "super(type, obj): obj must be an instance or subtype of type"
        )
    mro = cls.mro
    for parent in mro[mro.index(value.after) + 1 :]:
        if name not in parent.namespace:
            continue
        found = parent.namespace[name]
        if isinstance(start, ClassValue):
            return _from_class(m, start, found)
        if isinstance(found, Native) and parent.module is None and parent.host is not None:
            break
        return instance_attributes.bound(m, start, cls, found)
    return _after_all_bases(m, start, cls, name)


def _after_all_bases(m: Machine, start: Value, cls: ClassValue, name: str) -> Value:
    """What `super()` finds where no base of the trees has the name.

    `object`, a builtin, an undescribed base.
    """
    if isinstance(start, Instance) and start.data is not None:
        found = _of_wrapped(m, start, name)
        if found is not MISSING:
            return found
    if cls.unknown_base is not None:
        unknown = m.unknown(f"'{name}' of {cls.unknown_base}, which is not described")
        if isinstance(start, Instance) and name in ("__init__", "__post_init__", "__setattr__"):
            m.changes(start)
            start.tainted = start.tainted or unknown
        return Native(name, lambda m, args, kwargs: calls.call(m, unknown, args, kwargs))
    match name:
        case "__init_subclass__" | "__init__":
            return Native(name, lambda m, args, kwargs: None, pure=True)
        case "__new__":
            return Native(name, lambda m, args, kwargs: Instance(args[0]), pure=True)
        case "__getattribute__":
            return Native(
                name, lambda m, args, kwargs: attributes.get(m, start, args[0], special=True)
            )
        case "__delattr__":
            return Native(name, lambda m, args, kwargs: attributes.remove(m, start, args[0]))
        case _ if isinstance(start, Instance):
            return instance_attributes.of_object(m, start, name)
        case _:
            return MISSING


def _of_wrapped(m: Machine, start: Instance, name: str) -> Value:
    """A method of the builtin that an instance wraps."""
    if name == "__init__":

        def fill(m: Machine, args: list[Value], kwargs: dict[str, Value]) -> Value:
            assert start.cls.host is not None
            if isinstance(start.data, (list, dict, set)):
                m.changes(start)
                start.data = containers.new_host(m, start.cls.host, args, kwargs)

        return Native(name, fill)
    return host_methods.attribute(m, start.data, name)


def _of_meta_super(m: Machine, value: SuperValue, cls: ClassValue, name: str) -> Value:
    """`super()` inside a method of a metaclass."""
    assert cls.meta is not None
    if value.after in cls.meta.mro:
        mro = cls.meta.mro
        for parent in mro[mro.index(value.after) + 1 :]:
            if name in parent.namespace and parent.module is not None:
                return instance_attributes.bound(m, cls, cls.meta, parent.namespace[name])
    if name == "__call__":
        return Native(name, lambda m, args, kwargs: calls.instantiate(m, cls, args, kwargs))
    if name == "__init__":
        return Native(name, lambda m, args, kwargs: None)
    return m.unknown(f"'{name}' of a metaclass")
