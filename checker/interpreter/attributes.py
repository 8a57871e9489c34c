"""Attribute access.

Descriptors, MRO, `super()`, `__getattr__`, recorded reads of configurations.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from checker.interpreter import calls, containers, host_methods, imports
from checker.interpreter.tensors import Tensor
from checker.interpreter.values import (
    BoundMethod,
    ClassMethod,
    ClassValue,
    External,
    Function,
    Instance,
    ModuleValue,
    Native,
    Partial,
    Property,
    Raised,
    StaticMethod,
    SuperValue,
    Unknown,
    Value,
    type_name,
)

if TYPE_CHECKING:
    from checker.interpreter.machine import Machine

MISSING = host_methods.MISSING
_CODE = (Function, Native, ClassMethod, StaticMethod)


def get(m: Machine, value: Value, name: str, special: bool = False) -> Value:
    """`value.name`.

    `special` looks past a custom `__getattribute__`, as Python's own machinery does.

    Raises:
        Raised: AttributeError of the checked program.
    """
    found = _find(m, value, name, special)
    if found is MISSING:
        raise _no_attribute(m, value, name)
    return found


def _no_attribute(m: Machine, value: Value, name: str) -> Raised:
    kind = f"'{type_name(value)}' object"
    if isinstance(value, ModuleValue):
        kind = f"module '{value.name}'"
    elif isinstance(value, ClassValue):
        kind = f"type object '{value.name}'"
    return m.exception("AttributeError", f"{kind} has no attribute '{name}'")


def has(m: Machine, value: Value, name: str) -> bool | Unknown:
    """`hasattr(value, name)`."""
    try:
        found = _find(m, value, name, False, absent=True)
    except Raised as raised:
        if raised.type_name == "AttributeError":
            return False
        raise
    if isinstance(found, Unknown):
        return True if _holds(value, name) else found
    if isinstance(value, External) and isinstance(found, External) and not found.is_dtype:
        return m.unknown(f"fact: whether {value.path} has {name}", harmless=True)
    return found is not MISSING


def _holds(value: Value, name: str) -> bool:
    """Whether an object certainly has an attribute, though its value is not known."""
    if isinstance(value, Instance):
        found = value.cls.lookup(name)
        plain = found is not None and not isinstance(found[0], Property)
        return value.tainted is None and (name in value.attrs or plain)
    if isinstance(value, ClassValue):
        return value.lookup(name) is not None
    return isinstance(value, ModuleValue) and name in value.scope.names


def get_default(m: Machine, value: Value, name: str, default: Value) -> Value:
    """`getattr(value, name, default)`."""
    mark = len(m.reads)
    try:
        found = _find(m, value, name, False, absent=True)
    except Raised as raised:
        if raised.type_name != "AttributeError":
            raise
        found = MISSING
    for index in range(mark, len(m.reads)):
        read = m.reads[index]
        if read.key == name and not read.found:
            m.reads[index] = type(read)(read.place, read.key, False, default, read.location)
    if isinstance(value, External) and isinstance(found, External) and not found.is_dtype:
        return m.unknown(f"{found.path}, if there is one")
    return default if found is MISSING else found


def _find(m: Machine, value: Value, name: str, special: bool, absent: bool = False) -> Value:
    """The attribute or `MISSING`. `absent`: the code asks whether there is one."""
    match value:
        case Instance():
            return _of_instance(m, value, name, special)
        case Unknown():
            return value
        case ClassValue():
            return _of_class(m, value, name)
        case SuperValue():
            return _of_super(m, value, name)
        case ModuleValue():
            found = imports.attribute_of_module(m, value, name)
            return MISSING if imports.is_missing(found) else found
        case External(path=path):
            return imports.external(m, f"{path}.{name}")
        case Tensor():
            from checker.interpreter import tensor_methods

            return tensor_methods.attribute(m, value, name, absent)
        case Function():
            return _of_function(m, value, name)
        case BoundMethod():
            simple = {"__self__": value.instance, "__func__": value.function}
            return simple[name] if name in simple else _find(m, value.function, name, special)
        case Partial():
            parts = {"func": value.function, "args": value.args, "keywords": value.kwargs}
            return parts.get(name, MISSING)
        case Native():
            return _of_native(m, value, name)
        case Property():
            return _of_property(m, value, name)
        case ClassMethod(function=function) | StaticMethod(function=function):
            if name == "__func__":
                return function
            return _find(m, function, name, special)
        case _:
            return host_methods.attribute(m, value, name)


def _of_function(m: Machine, value: Function, name: str) -> Value:
    if name in value.attrs:
        return value.attrs[name]
    match name:
        case "__name__":
            return value.name
        case "__qualname__":
            return value.qualname.removeprefix(f"{value.module.name}.")
        case "__module__":
            return value.module.name
        case "__dict__":
            return value.attrs
        case "__doc__":
            return None  # documentation is not part of a function's meaning
        case "__call__":
            return value
        case "__get__":
            return Native(name, lambda m, args, kwargs: BoundMethod(args[0], value))
        case "__wrapped__":
            return MISSING
        case _:
            special = name.startswith("__") and name.endswith("__")
            return m.unknown(f"{name} of a function") if special else MISSING


def _of_native(m: Machine, value: Native, name: str) -> Value:
    if name in ("__name__", "__qualname__"):
        return value.name
    special = name.startswith("__") and name.endswith("__")
    return m.unknown(f"{name} of {value.name}") if special else MISSING


def _of_property(m: Machine, value: Property, name: str) -> Value:
    match name:
        case "setter":
            return Native(name, lambda m, a, k: Property(value.getter, a[0], value.cached))
        case "getter":
            return Native(name, lambda m, a, k: Property(a[0], value.setter, value.cached))
        case "deleter":
            return Native(name, lambda m, a, k: value)
        case "fget":
            return value.getter
        case "fset":
            return value.setter
        case _:
            return MISSING


# -- instances -------------------------------------------------------------------------------------


def _of_instance(m: Machine, value: Instance, name: str, special: bool) -> Value:
    cls = value.cls
    if name == "__class__":
        return cls
    if not special:
        custom = cls.lookup("__getattribute__")
        if custom is not None and isinstance(custom[0], Function):
            return _with_fallback(m, value, name, custom[0])
    return plain_get(m, value, name)


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
        return value.tainted if value.tainted is not None else value.attrs
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
        return _bound(m, value, value.cls, found)
    if value.tainted is not None and not isinstance(found, (*_CODE, Property)):
        return value.tainted
    if name in value.attrs:
        if value.config is not None:
            m.read(value.config, name, True)
        return value.attrs[name]
    if isinstance(found, Property):
        result = value.attrs[name] = _from_property(m, value, found)
        return result
    if found is MISSING:
        return MISSING
    if value.config is not None and not isinstance(found, _CODE):
        m.read(value.config, name, True)
    return _bound(m, value, value.cls, found)


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
    if value.cls.unknown_base is not None:
        base = value.cls.unknown_base
        return m.unknown(f"'{name}' may come from {base}, which is not described")
    return _of_object(m, value, name)


def _of_object(m: Machine, value: Instance, name: str) -> Value:
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
            return Native(name, lambda m, args, kwargs: plain_put(m, value, args[0], args[1]))
        case "__hash__" | "__ne__" | "__reduce__" | "__sizeof__" | "__dir__":
            return m.unknown(f"{name} of an object")
        case _:
            return MISSING


def _bound(m: Machine, instance: Value, cls: ClassValue, found: Value) -> Value:
    match found:
        case Function() | Native():
            return BoundMethod(instance, found)
        case ClassMethod(function=inner):
            return BoundMethod(cls, inner)
        case StaticMethod(function=inner):
            return inner
        case Property():
            return calls.call(m, found.getter, [instance], {})
        case Instance() if found.cls.lookup("__get__"):
            method = get(m, found, "__get__", special=True)
            return calls.call(m, method, [instance, cls], {})
        case _:
            return found


# -- classes ---------------------------------------------------------------------------------------


def _of_class(m: Machine, value: ClassValue, name: str) -> Value:
    found = value.lookup(name)
    if found is not None:
        return _from_class(m, value, found[0])
    simple = _class_facts(m, value, name)
    if simple is not MISSING:
        return simple
    if value.meta is not None:
        inherited = value.meta.lookup(name)
        if inherited is not None:
            return _bound(m, value, value.meta, inherited[0])
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
            return BoundMethod(value, inner)
        case StaticMethod(function=inner):
            return inner
        case Instance() if found.cls.lookup("__get__"):
            method = get(m, found, "__get__", special=True)
            return calls.call(m, method, [None, value], {})
        case _:
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
        return calls.call(m, get(m, target, name), args[1:], kwargs)

    return Native(name, method)


def _class_facts(m: Machine, value: ClassValue, name: str) -> Value:
    """What Python says of every class."""
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
            from checker.interpreter import classes

            found = classes.fields(value)
            return dict.fromkeys(found) if found else MISSING
        case "__class_vars__":
            return {
                n
                for c in value.mro
                for n, a in c.annotations.items()
                if "ClassVar" in ast.unparse(a)
            }
        case "mro":
            return Native(name, lambda m, a, k: [*value.mro, m.builtins["object"]])
        case "__subclasses__":
            return Native(name, lambda m, a, k: m.unknown("__subclasses__()"))
        case _:
            return MISSING


# -- super() ---------------------------------------------------------------------------------------


def _of_super(m: Machine, value: SuperValue, name: str) -> Value:
    start = value.start
    cls = start.cls if isinstance(start, Instance) else start
    if isinstance(cls, ClassValue) and value.after not in cls.mro and cls.meta is not None:
        return _of_meta_super(m, value, cls, name)
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
        return _bound(m, start, cls, found)
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
            start.tainted = start.tainted or unknown
        return Native(name, lambda m, args, kwargs: calls.call(m, unknown, args, kwargs))
    match name:
        case "__init_subclass__" | "__init__":
            return Native(name, lambda m, args, kwargs: None)
        case "__new__":
            return Native(name, lambda m, args, kwargs: Instance(args[0]))
        case "__getattribute__":
            return Native(name, lambda m, args, kwargs: get(m, start, args[0], special=True))
        case "__delattr__":
            return Native(name, lambda m, args, kwargs: remove(m, start, args[0]))
        case _ if isinstance(start, Instance):
            return _of_object(m, start, name)
        case _:
            return MISSING


def _of_wrapped(m: Machine, start: Instance, name: str) -> Value:
    """A method of the builtin that an instance wraps."""
    if name == "__init__":

        def fill(m: Machine, args: list[Value], kwargs: dict[str, Value]) -> Value:
            assert start.cls.host is not None
            if isinstance(start.data, (list, dict, set)):
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
                return _bound(m, cls, cls.meta, parent.namespace[name])
    if name == "__call__":
        return Native(name, lambda m, args, kwargs: calls.instantiate(m, cls, args, kwargs))
    if name == "__init__":
        return Native(name, lambda m, args, kwargs: None)
    return m.unknown(f"'{name}' of a metaclass")


# -- setting ---------------------------------------------------------------------------------------


def put(m: Machine, value: Value, name: str, new: Value) -> None:
    """`value.name = new`."""
    match value:
        case Instance():
            custom = value.cls.lookup("__setattr__")
            if custom is not None and isinstance(custom[0], Function):
                calls.call(m, custom[0], [value, name, new], {})
                return
            plain_put(m, value, name, new)
        case ClassValue():
            value.namespace[name] = new
        case ModuleValue():
            value.scope.names[name] = new
            value.done_names.add(name)
        case Function():
            value.attrs[name] = new
        case Native():
            return  # only names and documentation are set on builtins
        case Tensor():
            from checker.interpreter import tensor_methods

            tensor_methods.put(m, value, name, new)
        case Unknown() | External():
            return  # what is done to something unknown stays unknown
        case SuperValue(start=Instance() as start):
            plain_put(m, start, name, new)
        case _:
            kind = type_name(value)
            raise m.exception("AttributeError", f"'{kind}' object has no attribute '{name}'")


def plain_put(m: Machine, value: Instance, name: str, new: Value) -> None:
    """`object.__setattr__`."""
    found = value.cls.lookup(name)
    if found is not None:
        target = found[0]
        if isinstance(target, Property) and not target.cached:
            if target.setter is None:
                text = f"property '{name}' of '{value.cls.name}' object has no setter"
                raise m.exception("AttributeError", text)
            calls.call(m, target.setter, [value, new], {})
            return
        if isinstance(target, Instance) and target.cls.lookup("__set__"):
            method = get(m, target, "__set__", special=True)
            calls.call(m, method, [value, new], {})
            return
    if name == "__class__":
        raise m.stuck("an assignment to __class__")
    value.attrs[name] = new


def remove(m: Machine, value: Value, name: str) -> None:
    """`del value.name`."""
    if isinstance(value, Instance):
        custom = value.cls.lookup("__delattr__")
        if custom is not None and isinstance(custom[0], Function):
            calls.call(m, custom[0], [value, name], {})
            return
    plain_remove(m, value, name)


def plain_remove(m: Machine, value: Value, name: str) -> None:
    """`object.__delattr__`."""
    match value:
        case Instance(attrs=attrs) | Function(attrs=attrs):
            held = attrs
        case ClassValue(namespace=namespace):
            held = namespace
        case Tensor():
            held = value.extra
        case Unknown() | External():
            return
        case _:
            raise m.stuck(f"an attribute of a {type_name(value)} is deleted")
    if name not in held and not (isinstance(value, Instance) and value.tainted is not None):
        raise m.exception("AttributeError", name)
    held.pop(name, None)
