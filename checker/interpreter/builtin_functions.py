"""Python's builtin functions, as the checked code sees them."""

from __future__ import annotations

import ast
import builtins as host_builtins
from typing import TYPE_CHECKING, Any

from checker.interpreter import builtin_iteration, builtin_types, havoc
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
    StaticMethod,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_MISSING = object()


def build(m: Any) -> dict[str, Value]:
    """The builtin namespace of one machine.

    What is not interpreted is unknown when it is called.
    """
    names: dict[str, Value] = dict(builtin_types.build())
    for name in vars(host_builtins):
        if not name.startswith("__") and name not in names:
            names[name] = Native(name, _undescribed(name))
    for name, function in _FUNCTIONS.items():
        names[name] = Native(name, _adapted(function), pure=name in _PURE)
    names["NotImplemented"] = External("builtins.NotImplemented")
    names["Ellipsis"] = ...
    names["None"], names["True"], names["False"] = None, True, False
    names["__debug__"] = True
    names["__import__"] = Native("__import__", _undescribed("__import__"))
    return names


_PURE = frozenset(
    (
        *("isinstance", "issubclass", "len", "getattr", "setattr", "hasattr", "callable", "zip"),
        *("property", "staticmethod", "classmethod", "range", "enumerate", "min", "max", "sorted"),
    )
)


def _adapted(function: Callable[..., Value]) -> Callable[..., Value]:
    """A builtin as values call it.

    Arguments that do not fit are the checked program's TypeError.
    """

    def run(m: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        from checker.interpreter.hosting import applied

        return applied(m, function, (m, *args), kwargs)

    return run


def _undescribed(name: str) -> Callable[..., Value]:
    def run(m: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        from checker.interpreter import calls

        return calls.call_undescribed(m, name, args, kwargs)

    return run


# -- attributes ------------------------------------------------------------------------------------


def _getattr(m: Any, value: Value, name: Value, *default: Value) -> Value:
    from checker.interpreter import attributes

    name = _name(m, name)
    if isinstance(name, Unknown):
        held = [*value.attrs.values()] if isinstance(value, Instance) else []
        return havoc.one_of(name, [*held, *default])
    if default:
        return attributes.get_default(m, value, name, default[0])
    return attributes.get(m, value, name)


def _name(m: Any, name: Value) -> Value:
    from checker.interpreter.hosting import unwrapped

    name = unwrapped(name)
    if not isinstance(name, (str, Unknown)):
        raise m.exception("TypeError", "attribute name must be string")
    return name


def _setattr(m: Any, target: Value, name: Value, value: Value) -> Value:
    from checker.interpreter import attributes

    name = _name(m, name)
    if isinstance(name, Unknown):
        raise m.stuck(f"setattr with an unknown name ({name.reason})")
    attributes.put(m, target, name, value)


def _delattr(m: Any, value: Value, name: Value) -> Value:
    from checker.interpreter import attributes

    name = _name(m, name)
    if isinstance(name, Unknown):
        raise m.stuck(f"delattr with an unknown name ({name.reason})")
    attributes.remove(m, value, name)


def _hasattr(m: Any, value: Value, name: Value) -> Value:
    from checker.interpreter import attributes

    name = _name(m, name)
    return name if isinstance(name, Unknown) else attributes.has(m, value, name)


def _vars(m: Any, *values: Value) -> Value:
    from checker.interpreter import attributes

    if not values:
        return _locals(m)
    if isinstance(values[0], ModuleValue):
        return m.unknown("vars() of a module")
    return attributes.get(m, values[0], "__dict__")


def _callable(m: Any, value: Value) -> Value:
    if isinstance(value, (Unknown, External)):
        return m.unknown("whether a value that is not known can be called", harmless=True)
    if isinstance(value, Instance):
        if value.cls.lookup("__call__") is None and value.cls.unknown_base:
            return m.unknown(f"whether a {value.cls.name} can be called", harmless=True)
        return value.cls.lookup("__call__") is not None
    return isinstance(value, (Function, Native, BoundMethod, ClassValue, Partial, StaticMethod))


def _dir(m: Any, *values: Value) -> Value:
    if values and isinstance(values[0], ModuleValue) and values[0].file is not None:
        return sorted(values[0].file.touching)
    return m.unknown("dir()", harmless=True)


def _globals(m: Any) -> Value:
    """The module's names.

    Those that nothing has asked for yet are missing, so only lookups are safe.
    """
    from checker.interpreter import imports

    if m.loop is not None:
        m.loop.spoiled = True  # the names of modules are not among what it sees
    module = m.frames[-1].module
    if module.file is not None:
        for name in module.file.touching:
            imports.module_name(m, module, name)
    return module.scope.names


def _locals(m: Any) -> Value:
    return dict(m.frames[-1].scope.names)


# -- values ----------------------------------------------------------------------------------------


def _host(name: str) -> Callable[..., Value]:
    function = getattr(host_builtins, name)

    def run(m: Any, *args: Value) -> Value:
        from checker.interpreter.broadcasting import elementwise
        from checker.interpreter.hosting import host, is_plain, plain
        from checker.interpreter.tensors import Tensor

        for value in args:
            if isinstance(value, Unknown):
                return value
        if name == "abs" and args and isinstance(args[0], Tensor):
            return elementwise(m, "abs", list(args))
        if not is_plain(*args):
            return m.unknown(f"{name}() of a value that is not plain")
        return host(m, function, *(plain(arg) for arg in args))

    return run


def _pow(m: Any, base: Value, exponent: Value, *modulus: Value) -> Value:
    from checker.interpreter import operators

    if modulus:
        return m.unknown("pow() with a modulus")
    return operators.binary(m, ast.Pow, base, exponent)


def _format(m: Any, value: Value, spec: Value = "") -> Value:
    from checker.interpreter import texts

    return texts.formatted(m, value, spec) if isinstance(spec, str) else m.unknown("format()")


def _repr(m: Any, value: Value) -> Value:
    from checker.interpreter import texts

    return texts.repr_of(m, value)


def _len(m: Any, value: Value) -> Value:
    from checker.interpreter import containers

    return containers.length(m, value)


def _property(
    m: Any, fget: Value = None, fset: Value = None, fdel: Value = None, doc: Value = None
) -> Value:
    return Property(fget, fset)


def _hash(m: Any, value: Value) -> Value:
    """Only used as a key: equal values get equal ones."""
    from checker.interpreter import equality

    key = equality.as_key(m, value)
    if isinstance(key, (int, str, float)):
        return (
            hash(key)
            if isinstance(key, (int, float))
            else m.unknown("hash() of a text", harmless=True)
        )
    return m.unknown("hash()", harmless=True)


def _id(m: Any, value: Value) -> Value:
    return value if isinstance(value, Unknown) else m.identity(value)


_FUNCTIONS: dict[str, Callable[..., Value]] = {
    "isinstance": builtin_types.is_instance,
    "issubclass": builtin_types.is_subclass,
    "len": _len,
    "getattr": _getattr,
    "setattr": _setattr,
    "delattr": _delattr,
    "hasattr": _hasattr,
    "callable": _callable,
    "property": _property,
    "staticmethod": lambda m, function: StaticMethod(function),
    "classmethod": lambda m, function: ClassMethod(function),
    "print": lambda m, *args, **kwargs: None,
    "repr": _repr,
    "vars": _vars,
    "globals": _globals,
    "locals": _locals,
    "dir": _dir,
    "id": _id,
    "hash": _hash,
    "pow": _pow,
    "format": _format,
    **builtin_iteration.FUNCTIONS,
    **{name: _host(name) for name in ("abs", "round", "divmod", "ord", "chr", "hex", "bin", "oct")},
}
