"""Python's builtin classes, as the checked code sees them, and what belongs to which."""

from __future__ import annotations

import builtins as host_builtins
from typing import TYPE_CHECKING, Any

from checker.graph.dims import Poly
from checker.interpreter.hosting import is_plain, plain, unwrapped
from checker.interpreter.values import (
    DTYPES,
    BoundMethod,
    ClassMethod,
    ClassValue,
    External,
    Function,
    Instance,
    ModuleValue,
    Native,
    Partial,
    StaticMethod,
    SuperValue,
    Unknown,
    Value,
    type_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from checker.interpreter.machine import Machine

HOSTS = (
    "list",
    "dict",
    "str",
    "int",
    "float",
    "tuple",
    "set",
    "frozenset",
    "bool",
    "bytes",
    "complex",
)
_OTHERS = ("function", "NoneType", "module", "generator", "ellipsis", "property", "mappingproxy")


def build() -> dict[str, Value]:
    """The builtin classes by name."""
    names: dict[str, Value] = {"object": _object()}
    for kind in HOSTS:
        cls = _class(kind, _constructor(kind), host=kind, pure=True)
        names[kind] = cls
    names["dict"].namespace["fromkeys"] = ClassMethod(Native("fromkeys", _fromkeys))
    names["str"].namespace["maketrans"] = StaticMethod(Native("maketrans", _maketrans))
    names["int"].namespace["from_bytes"] = StaticMethod(
        Native("from_bytes", _unknown("from_bytes"))
    )
    names["float"].namespace["fromhex"] = StaticMethod(Native("fromhex", _unknown("fromhex")))
    for name in _OTHERS:
        names[name] = _class(name, None)
    names["Tensor"] = _class("Tensor", None)
    names["type"] = _class("type", _type, pure=True)
    names["super"] = _class("super", _super)
    names["range"] = _class("range", _range)
    names["slice"] = _class("slice", lambda m, args, kwargs: slice(*args[1:]))
    names["bool"].mro = (names["bool"], names["int"])
    for value in vars(host_builtins).values():
        if isinstance(value, type) and issubclass(value, BaseException):
            _exception_class(names, value)
    return names


def _object() -> ClassValue:
    root = _class("object", lambda m, args, kwargs: Instance(args[0]), pure=True)
    root.namespace["__setattr__"] = Native("__setattr__", _object_setattr, pure=True)
    root.namespace["__getattribute__"] = Native("__getattribute__", _object_getattribute)
    root.namespace["__delattr__"] = Native("__delattr__", _object_delattr)
    root.namespace["__init__"] = Native("__init__", lambda m, args, kwargs: None, pure=True)
    return root


def _class(
    name: str, new: Callable[..., Value] | None, host: str | None = None, *, pure: bool = False
) -> ClassValue:
    cls = ClassValue(name, None, (), host=host)
    cls.mro = (cls,)
    if new is not None:
        cls.namespace["__new__"] = StaticMethod(Native(name, new, pure=pure))
    return cls


def _unknown(name: str) -> Callable[..., Value]:
    return lambda m, args, kwargs: m.unknown(f"{name}() is not interpreted")


def _object_setattr(m: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    from checker.interpreter import attributes

    if isinstance(args[0], Instance):
        attributes.plain_put(m, args[0], args[1], args[2])
    else:
        attributes.put(m, args[0], args[1], args[2])


def _object_getattribute(m: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    from checker.interpreter import attributes

    return attributes.get(m, args[0], args[1], special=True)


def _object_delattr(m: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    from checker.interpreter import attributes

    attributes.plain_remove(m, args[0], args[1])


def _exception_class(names: dict[str, Value], host: type) -> ClassValue:
    known = names.get(host.__name__)
    if isinstance(known, ClassValue):
        return known
    if host.__name__ not in vars(host_builtins):
        return _exception_class(names, Exception)
    base = host.__base__
    parent = _exception_class(names, base) if base is not None and base is not object else None
    cls = ClassValue(host.__name__, None, (parent,) if parent else ())
    cls.mro = (cls, *(parent.mro if parent else ()))
    if parent is None:
        cls.namespace["__init__"] = Native("__init__", _exception_init)
        cls.namespace["__new__"] = StaticMethod(Native("__new__", _exception_new))
        cls.namespace["with_traceback"] = Native("with_traceback", lambda m, args, kwargs: args[0])
        cls.namespace["__cause__"] = cls.namespace["__context__"] = None
    names[host.__name__] = cls
    return cls


def _exception_new(m: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return Instance(args[0], {"args": tuple(args[1:])})


def _exception_init(m: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    args[0].attrs["args"] = tuple(args[1:])
    args[0].attrs.update({k: v for k, v in kwargs.items() if k in ("name", "path", "obj")})
    if args[0].cls.name == "StopIteration":
        args[0].attrs["value"] = args[1] if len(args) > 1 else None


def _constructor(kind: str) -> Callable[..., Value]:
    """`list(x)`, `int(x)` …: the class is the first argument; subclasses get a wrapped instance."""

    def make(m: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        from checker.interpreter import containers

        cls, rest = args[0], args[1:]
        if not isinstance(cls, ClassValue) or (cls.module is None and cls.name == kind):
            for value in rest:
                if isinstance(value, Unknown):
                    return value
            return _convert(m, kind, rest, kwargs)
        mutable = kind in ("list", "dict", "set")
        data = containers.new_host(m, kind, [] if mutable and cls.defines("__init__") else rest, {})
        return data if isinstance(data, Unknown) else Instance(cls, data=data)

    return make


def _convert(m: Any, kind: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    from checker.interpreter import containers, texts

    value = args[0] if args else None
    if kind == "bool":
        return m.truth(value, "bool()") if args else False
    if kind == "str" and len(args) < 2:
        return texts.text_of(m, value) if args else ""
    if kind in ("int", "float", "complex", "bytes"):
        return _number(m, kind, args, kwargs)
    return containers.new_host(m, kind, args, kwargs)


def _number(m: Any, kind: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    from checker.interpreter import attributes, calls, containers
    from checker.interpreter.tensors import Tensor

    value = args[0] if args else 0
    if isinstance(value, Instance):
        for name in (f"__{kind}__", "__index__"):
            if value.cls.defines(name):
                method = attributes.get(m, value, name, special=True)
                return calls.call(m, method, [], {})
        value = unwrapped(value)
    if isinstance(value, Poly):
        return value if kind == "int" else m.unknown(f"{kind}() of a symbolic size")
    if isinstance(value, (Tensor, External)):
        return m.unknown(f"{kind}() of a value that is not known")
    if isinstance(value, Instance) and (value.cls.unknown_base or value.tainted):
        return m.unknown(f"{kind}() of an object of {value.cls.name}")
    if not is_plain(value):
        raise m.exception("TypeError", f"{kind}() argument must not be '{type_name(value)}'")
    return containers.new_host(m, kind, [plain(value), *args[1:]] if args else [], kwargs)


def _fromkeys(m: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    from checker.interpreter import containers, equality

    value = args[2] if len(args) > 2 else None
    return {equality.as_key(m, key): value for key in containers.iterate(m, args[1])}


def _maketrans(m: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    from checker.interpreter.hosting import host

    if not is_plain(*args):
        return m.unknown("maketrans() of a value that is not plain")
    return host(m, str.maketrans, *(plain(arg) for arg in args))


def _type(m: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    from checker.interpreter import classes

    if len(args) == 2:
        return type_of(m, args[1])
    if len(args) != 4 or not isinstance(args[1], str) or not isinstance(args[3], dict):
        return m.unknown("a class made by type()")
    return classes.dynamic_class(m, args[1], list(args[2]), dict(args[3]))


def type_of(m: Any, value: Value) -> Value:
    """`type(value)`."""
    from checker.interpreter.iteration import Generator
    from checker.interpreter.tensors import Tensor

    match value:
        case Instance():
            if m.watch is not None:
                m.watch.saw(value.cls)
            return value.cls
        case Unknown():
            return value
        case ClassValue():
            return value.meta or m.builtins["type"]
        case Tensor():
            return m.builtins["Tensor"]
        case ModuleValue():
            return m.builtins["module"]
        case Generator():
            return m.builtins["generator"]
        case Poly():
            return m.builtins["int"]
        case External():
            return m.unknown(f"the type of {value.path}", harmless=True)
        case _:
            return m.builtins.get(type_name(value)) or m.unknown(
                f"the type {type_name(value)}", harmless=True
            )


def _super(m: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if len(args) == 3 and isinstance(args[1], ClassValue):
        return SuperValue(args[1], args[2])
    return m.unknown("super() of something that is no class")


def _range(m: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    from checker.interpreter.hosting import host

    values = [unwrapped(a) for a in args[1:]]
    for value in values:
        if isinstance(value, Unknown):
            return value
        if isinstance(value, (Poly, External)) or not is_plain(value):
            return m.unknown("a range over a size that is not known")
    return host(m, range, *values)


# -- isinstance ------------------------------------------------------------------------------------

_PROTOCOLS: dict[str, tuple[type, ...]] = {
    "Mapping": (dict,),
    "MutableMapping": (dict,),
    "Sequence": (list, tuple, str, bytes, range),
    "MutableSequence": (list,),
    "Set": (set, frozenset),
    "MutableSet": (set,),
    "Iterable": (list, tuple, str, bytes, range, dict, set, frozenset),
    "Collection": (list, tuple, str, bytes, range, dict, set, frozenset),
    "Container": (list, tuple, str, bytes, range, dict, set, frozenset),
    "Sized": (list, tuple, str, bytes, range, dict, set, frozenset),
    "Number": (int, float, complex),
    "Real": (int, float),
    "Integral": (int,),
}
_CALLABLE = (Function, Native, BoundMethod, ClassValue, Partial)
_PROTOCOL_HOMES = ("typing.", "collections.abc.", "numbers.", "typing_extensions.")
_TENSORS = ("torch.Tensor", "torch._tensor.Tensor")


def is_instance(m: Machine, value: Value, kinds: Value) -> bool | Unknown:
    """`isinstance(value, kinds)`."""
    if isinstance(value, Unknown):
        return value
    verdict: bool | Unknown = False
    for kind in kinds if isinstance(kinds, tuple) else (kinds,):
        found = _is_of(m, value, kind)
        if found is True:
            return True
        if isinstance(found, Unknown):
            verdict = found
    return verdict


def _is_of(m: Machine, value: Value, kind: Value) -> bool | Unknown:
    if isinstance(kind, tuple):
        return is_instance(m, value, kind)
    if isinstance(kind, Unknown):
        return kind
    if isinstance(kind, External):
        return _is_of_external(m, value, kind.path)
    if not isinstance(kind, ClassValue):
        raise m.exception("TypeError", "isinstance() arg 2 must be a type or a tuple of types")
    if kind.meta is not None and kind.meta.lookup("__instancecheck__"):
        return m.unknown(f"isinstance() with {kind.name}, whose metaclass decides")
    return _is_of_class(m, value, kind)


def _is_of_external(m: Machine, value: Value, path: str) -> bool | Unknown:
    """Whether a value is of a class that is in no tree."""
    from checker.interpreter.tensors import Tensor

    unknown: Unknown = m.unknown(f"whether a {type_name(value)} is a {path}", harmless=True)
    if isinstance(value, Tensor):
        return True if path in _TENSORS else unknown
    if isinstance(value, External):
        return True if path == "torch.dtype" and value.path in DTYPES else unknown
    name = path.rpartition(".")[2]
    if path.startswith(_PROTOCOL_HOMES):
        if name == "Callable" and isinstance(value, _CALLABLE):
            return True
        hosts = _PROTOCOLS.get(name)
        if hosts is not None and is_plain_kind(unwrapped(value)):
            return isinstance(unwrapped(value), hosts)
        return False if name in ("Callable", *_PROTOCOLS) and value is None else unknown
    if isinstance(value, Instance):
        return unknown if value.cls.unknown_base or value.tainted else False
    if path.startswith("types."):
        return unknown
    return False


def is_plain_kind(value: Value) -> bool:
    """Whether a value is one of Python's own data types (whatever it holds)."""
    kinds = (bool, int, float, str, bytes, type(None), tuple, list, dict, set, frozenset, range)
    return isinstance(value, kinds)


def _is_of_class(m: Machine, value: Value, kind: ClassValue) -> bool | Unknown:
    from checker.interpreter.tensors import Tensor

    if kind.module is None and kind.name == "object":
        return True
    if m.watch is not None:
        m.watch.asked(kind)
    if isinstance(value, Instance):
        if value.cls.is_subclass(kind):
            return True
        if kind.module is None and kind.host is not None and value.cls.host == kind.host:
            return True
        if value.cls.unknown_base:
            return m.unknown(f"whether {value.cls.name} is a {kind.name}", harmless=True)
        return False
    if isinstance(value, Tensor):
        if m.outline is not None and m.outline.several(value) is not None:
            return kind.module is None and kind.name == "tuple"
        builtin = kind.module is None or kind.module.is_stub
        if builtin and kind.name == "Parameter":
            return value.parameter
        return builtin and kind.name == "Tensor"
    if isinstance(value, External):
        return m.unknown(f"whether {value.path} is a {kind.name}", harmless=True)
    found = type_of(m, value)
    if isinstance(found, Unknown):
        return found
    return isinstance(found, ClassValue) and found.is_subclass(kind)


def is_subclass(m: Machine, cls: Value, kinds: Value) -> bool | Unknown:
    """`issubclass(cls, kinds)`."""
    if isinstance(cls, (Unknown, External)):
        return m.unknown("issubclass of a class that is not described")
    if not isinstance(cls, ClassValue):
        raise m.exception("TypeError", "issubclass() arg 1 must be a class")
    verdict: bool | Unknown = False
    for kind in kinds if isinstance(kinds, tuple) else (kinds,):
        if isinstance(kind, (Unknown, External)):
            verdict = m.unknown("issubclass of a class that is not described")
        elif isinstance(kind, ClassValue):
            if m.watch is not None:
                m.watch.asked(kind)
            builtin = kind.module is None and kind.host is not None and cls.host == kind.host
            if cls.is_subclass(kind) or builtin or (kind.module is None and kind.name == "object"):
                return True
    if verdict is False and cls.unknown_base:
        return m.unknown(f"whether {cls.name} inherits from {cls.unknown_base}", harmless=True)
    return verdict


__all__ = ["build", "is_instance", "is_subclass", "type_of"]
