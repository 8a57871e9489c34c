"""Attribute access.

Descriptors, MRO, `super()`, `__getattr__`, recorded reads of configurations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.interpreter import (
    calls,
    class_attributes,
    conditions,
    havoc,
    host_methods,
    imports,
    instance_attributes,
    open_values,
)
from checker.interpreter.open_values import Maybe, Open
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


def get(m: Machine, value: Value, name: str, special: bool = False) -> Value:
    """`value.name`.

    `special` looks past a custom `__getattribute__`, as Python's own machinery does.

    Raises:
        Raised: AttributeError of the checked program.
    """
    found = _find(m, value, name, special)
    return absent(m, value, name) if found is MISSING else found


def absent(m: Machine, value: Value, name: str) -> Unknown:
    """What stands for an attribute that an object built in outline is not seen to have.

    Raises:
        Raised: AttributeError of the checked program, for any other.
    """
    if m.outline is not None and m.outline.is_built(value):
        return m.unknown(f"{name} of a {type_name(value)}, which nothing is seen to set")
    raise _no_attribute(m, value, name)


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
    if isinstance(value, Open):
        return name in value.stated and name in value.names
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
            return instance_attributes.of_instance(m, value, name, special)
        case Unknown():
            return _of_unknown(m, value, name, absent)
        case ClassValue():
            return class_attributes.of_class(m, value, name)
        case SuperValue():
            return class_attributes.of_super(m, value, name)
        case ModuleValue():
            return _of_module(m, value, name)
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


def _of_unknown(m: Machine, value: Unknown, name: str, absent: bool) -> Value:
    if isinstance(value, Maybe):
        return _find(m, value.item, name, False, absent)
    if m.trying and not absent:  # else a way that comes to no attribute is none that is taken
        conditions.check(m, value, name)
    if isinstance(value, Open) and not havoc.things_of(value):
        return open_values.attribute(value, name)
    return havoc.read_by(value, name)


def _of_module(m: Machine, value: ModuleValue, name: str) -> Value:
    found = imports.attribute_of_module(m, value, name)
    if m.loop is not None:
        m.loop.saw(found)
    return MISSING if imports.is_missing(found) else found


def _of_function(m: Machine, value: Function, name: str) -> Value:
    if name in value.attrs:
        if m.loop is not None:
            m.loop.saw(value.attrs[name])
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


# -- setting ---------------------------------------------------------------------------------------


def put(m: Machine, value: Value, name: str, new: Value) -> None:
    """`value.name = new`."""
    m.changes(value)
    if m.loop is not None and type(value) is not Instance:
        known = value.names.get(name, MISSING) if isinstance(value, Open) else MISSING
        kept = type(value) in (Unknown, External)  # nothing comes of it
        if not (kept or isinstance(value, (Instance, Tensor, SuperValue)) or known is new):
            m.loop.spoiled = True
    match value:
        case Instance():
            custom = instance_attributes.hook(m, value.cls, "__setattr__")
            if custom is not None:
                calls.call(m, custom, [value, name, new], {})
                return
            plain_put(m, value, name, new)
        case ClassValue():
            if m.watch is not None:
                m.watch.changed(value)
            m.hooks.clear()
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
        case Open():
            value.names[name] = new
        case Unknown() | External():
            havoc.changed(m, value)  # what is done to something unknown stays unknown
        case SuperValue(start=Instance() as start):
            plain_put(m, start, name, new)
        case _:
            kind = type_name(value)
            raise m.exception("AttributeError", f"'{kind}' object has no attribute '{name}'")


def plain_put(m: Machine, value: Instance, name: str, new: Value) -> None:
    """`object.__setattr__`."""
    m.changes(value)
    outline = m.outline
    if outline is not None:
        key = id(value)
        if m.loop is not None and key in outline.indices:
            m.loop.touched(m, value)
        if key in outline.passed:
            outline.check_passed(m, value)
        if key in outline.pending:
            outline.ensure(m, value)
        if id(value.cls) in outline.stands_for:
            others = outline.stands_for[id(value.cls)]
            havoc.forget(m, m.unknown(f"{name} of one of several", harmless=True), others)
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
    m.changes(value)
    if m.loop is not None and not _is_being_built(m, value):
        if isinstance(value, Instance):
            m.loop.touched(m, value)
        m.loop.spoiled = True
    match value:
        case Instance(attrs=attrs) | Function(attrs=attrs):
            held = attrs
        case ClassValue(namespace=namespace):
            if m.watch is not None:
                m.watch.changed(value)
            m.hooks.clear()
            held = namespace
        case Tensor():
            held = value.extra
        case Unknown() | External():
            havoc.changed(m, value)
            return
        case _:
            raise m.stuck(f"an attribute of a {type_name(value)} is deleted")
    if name not in held and not (isinstance(value, Instance) and value.tainted is not None):
        raise m.exception("AttributeError", name)
    held.pop(name, None)


def _is_being_built(m: Machine, value: Value) -> bool:
    """Whether an object is what a constructor is setting up."""
    return m.outline is not None and bool(m.outline.building) and m.outline.building[-1] is value
