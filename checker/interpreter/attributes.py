"""Attribute access: descriptors, MRO, `super()`, `__getattr__`, recorded reads of configurations."""

from __future__ import annotations

from checker.graph.dims import Poly
from checker.interpreter import calls, containers, imports
from checker.interpreter.machine import Machine
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

_MISSING = object()


def get(m: Machine, value: Value, name: str, special: bool = False) -> Value:
    """`value.name`.

    Raises:
        Raised: AttributeError of the checked program.
    """
    found = _find(m, value, name, special)
    if found is _MISSING:
        kind = f"module '{value.name}'" if isinstance(value, ModuleValue) else f"'{type_name(value)}' object"
        if isinstance(value, ClassValue):
            kind = f"type object '{value.name}'"
        raise m.exception("AttributeError", f"{kind} has no attribute '{name}'")
    return found


def has(m: Machine, value: Value, name: str) -> bool | Unknown:
    """`hasattr(value, name)`."""
    try:
        found = _find(m, value, name, False)
    except Raised as raised:
        if raised.type_name == "AttributeError":
            return False
        raise
    return found if isinstance(found, Unknown) else found is not _MISSING


def get_default(m: Machine, value: Value, name: str, default: Value) -> Value:
    """`getattr(value, name, default)`."""
    mark = len(m.reads)
    try:
        found = _find(m, value, name, False)
    except Raised as raised:
        if raised.type_name != "AttributeError":
            raise
        found = _MISSING
    for index in range(mark, len(m.reads)):
        read = m.reads[index]
        if read.key == name and not read.found:
            m.reads[index] = type(read)(read.place, read.key, False, default, read.location)
    return default if found is _MISSING else found


def _find(m: Machine, value: Value, name: str, special: bool) -> Value:
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
            return _MISSING if imports.is_missing(found) else found
        case External(path=path):
            return imports.external(m, f"{path}.{name}")
        case Tensor():
            from checker.interpreter import tensor_methods

            return tensor_methods.attribute(m, value, name)
        case Function():
            return _of_function(value, name)
        case BoundMethod():
            if name == "__self__":
                return value.instance
            if name == "__func__":
                return value.function
            return _find(m, value.function, name, special)
        case Partial():
            return {"func": value.function, "args": value.args, "keywords": value.kwargs}.get(name, _MISSING)
        case Native():
            return {"__name__": value.name}.get(name, _MISSING)
        case Property():
            if name == "setter":
                return Native("setter", lambda m, args, kwargs: Property(value.getter, args[0]))
            return _MISSING
        case Poly():
            return _MISSING
        case _:
            return containers.host_attribute(m, value, name)


def _of_function(value: Function, name: str) -> Value:
    if name == "__name__":
        return value.name
    if name == "__qualname__":
        return value.qualname
    if name == "__module__":
        return value.module.name
    if name == "__dict__":
        return value.attrs
    if name == "__doc__":
        return None  # documentation is not part of a function's meaning
    return value.attrs.get(name, _MISSING)


def _of_instance(m: Machine, value: Instance, name: str, special: bool) -> Value:
    cls = value.cls
    if name == "__class__":
        return cls
    if name == "__dict__":
        return value.attrs
    if value.tainted is not None and not cls.lookup(name):
        return value.tainted
    if not special:
        custom = cls.lookup("__getattribute__")
        if custom is not None and isinstance(custom[0], Function):
            return calls.call(m, custom[0], [value, name], {})
    return plain_get(m, value, name)


def plain_get(m: Machine, value: Instance, name: str) -> Value:
    """`object.__getattribute__`, then `__getattr__`; `_MISSING` when there is neither."""
    if name == "__dict__":
        return value.attrs
    if name == "__class__":
        return value.cls
    found = value.cls.lookup(name)
    if found is not None and isinstance(found[0], Property):
        if found[0].cached and name in value.attrs:
            return value.attrs[name]
        result = calls.call(m, found[0].getter, [value], {})
        if found[0].cached:
            value.attrs[name] = result
        return result
    if name in value.attrs:
        if value.config is not None:
            m.read(value.config, name, True)
        return value.attrs[name]
    if found is not None:
        if value.config is not None and not isinstance(found[0], (Function, Native, ClassMethod, StaticMethod)):
            m.read(value.config, name, True)
        return _bound(m, value, value.cls, found[0])
    if value.data is not None:
        data = containers.host_attribute(m, value.data, name)
        if data is not _MISSING:
            return data
    fallback = value.cls.lookup("__getattr__")
    if value.config is not None:
        m.read(value.config, name, False)
    if fallback is not None:
        return calls.call(m, fallback[0], [value, name], {})
    if value.cls.unknown_base is not None:
        return m.unknown(f"'{name}' may come from {value.cls.unknown_base}, which is not described")
    if not name.startswith("__") and _is_partial(value):
        return m.unknown(f"the summary of {value.cls.name} does not describe '{name}'")
    return _MISSING


def _is_partial(value: Instance) -> bool:
    """Whether an object stands for one that has more attributes than are described."""
    module = value.cls.module
    return value.partial or (module is not None and module.is_stub)


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
            return calls.call(m, get(m, found, "__get__"), [instance, cls], {})
        case _:
            return found


def _of_class(m: Machine, value: ClassValue, name: str) -> Value:
    found = value.lookup(name)
    if found is not None:
        match found[0]:
            case ClassMethod(function=inner):
                return BoundMethod(value, inner)
            case StaticMethod(function=inner):
                return inner
            case _:
                return found[0]
    simple: dict[str, Value] = {
        "__name__": value.name,
        "__qualname__": value.name,
        "__module__": value.module.name if value.module else "builtins",
        "__mro__": value.mro,
        "__bases__": value.bases,
        "__dict__": value.namespace,
        "__doc__": None,
    }
    if name in simple:
        return simple[name]
    if name in ("model_fields", "__dataclass_fields__", "__annotations__"):
        from checker.interpreter import classes

        return dict.fromkeys(classes.fields(value)) if name != "__annotations__" else dict(value.annotations)
    if name == "__class_vars__":
        return {n for c in value.mro for n, a in c.annotations.items() if "ClassVar" in _text(a)}
    if value.unknown_base is not None:
        return m.unknown(f"'{name}' may come from {value.unknown_base}, which is not described")
    return _MISSING


def _text(annotation: Value) -> str:
    import ast

    return ast.unparse(annotation)


def _of_super(m: Machine, value: SuperValue, name: str) -> Value:
    start = value.start
    cls = start.cls if isinstance(start, Instance) else start
    if not isinstance(cls, ClassValue) or value.after not in cls.mro:
        return m.unknown("super() of an unexpected object")
    mro = cls.mro
    for parent in mro[mro.index(value.after) + 1 :]:
        if name in parent.namespace:
            found = parent.namespace[name]
            if isinstance(start, ClassValue):
                return BoundMethod(start, found.function) if isinstance(found, ClassMethod) else (
                    found.function if isinstance(found, StaticMethod) else found
                )
            return _bound(m, start, cls, found)
    if isinstance(start, Instance):
        default = _object_method(m, start, name)
        if default is not _MISSING:
            return default
    if name in ("__init_subclass__", "__init__", "__post_init__"):
        if cls.unknown_base is not None and isinstance(start, Instance) and start.tainted is None:
            start.tainted = m.unknown(f"{cls.unknown_base}, a base of {cls.name}, is not described")
        return Native(name, lambda m, args, kwargs: None)
    if cls.unknown_base is not None:
        return m.unknown(f"'{name}' of {cls.unknown_base}, which is not described")
    return _MISSING


def _object_method(m: Machine, start: Instance, name: str) -> Value:
    """What `object` (or the wrapped builtin) gives to `super()`."""
    if name == "__setattr__":
        return Native(name, lambda m, args, kwargs: plain_put(m, start, args[0], args[1]))
    if name == "__getattribute__":

        def fetch(m: Machine, args: list[Value], kwargs: dict[str, Value]) -> Value:
            found = plain_get(m, start, args[0])
            if found is _MISSING:
                raise m.exception("AttributeError", f"'{start.cls.name}' object has no attribute '{args[0]}'")
            return found

        return Native(name, fetch)
    if start.data is not None:
        if name == "__init__":

            def fill(m: Machine, args: list[Value], kwargs: dict[str, Value]) -> Value:
                assert start.cls.host is not None
                start.data = containers.new_host(m, start.cls.host, args)
                if isinstance(start.data, dict):
                    start.data.update(kwargs)
                return None

            return Native(name, fill)
        return containers.host_attribute(m, start.data, name)
    return _MISSING


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
        case BoundMethod(function=Function() as function):
            function.attrs[name] = new
        case Tensor():
            from checker.interpreter import tensor_methods

            tensor_methods.put(m, value, name, new)
        case Unknown() | External():
            return  # what is done to something unknown stays unknown
        case _:
            raise m.exception("AttributeError", f"'{type_name(value)}' object has no attribute '{name}'")


def plain_put(m: Machine, value: Instance, name: str, new: Value) -> None:
    found = value.cls.lookup(name)
    if found is not None and isinstance(found[0], Property) and not found[0].cached:
        if found[0].setter is None:
            raise m.exception("AttributeError", f"property '{name}' of '{value.cls.name}' object has no setter")
        calls.call(m, found[0].setter, [value, new], {})
        return
    value.attrs[name] = new


def remove(m: Machine, value: Value, name: str) -> None:
    """`del value.name`."""
    if isinstance(value, Instance):
        if name not in value.attrs and value.tainted is None:
            raise m.exception("AttributeError", name)
        value.attrs.pop(name, None)
    elif isinstance(value, Tensor):
        value.extra.pop(name, None)


MISSING = _MISSING
