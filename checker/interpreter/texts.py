"""Texts: `str()`, `repr()` and formatting of values."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Any

from checker.graph.dims import Poly
from checker.interpreter.hosting import check_format, host, is_plain, plain
from checker.interpreter.numbered import DIFFERS, Numbered
from checker.interpreter.values import (
    ClassValue,
    External,
    Function,
    Instance,
    Unknown,
    Value,
    type_name,
)

if TYPE_CHECKING:
    import ast

    from checker.interpreter.machine import Machine

_DEPTH = 40


def text_of(m: Machine, value: Value) -> Value:
    """`str(value)`."""
    if isinstance(value, (str, int, float, bool, type(None), complex, Poly)):
        return str(value)
    if isinstance(value, Instance):
        return _of_instance(m, value, "__str__")
    return repr_of(m, value)


def repr_of(m: Machine, value: Value, open_: tuple[int, ...] = ()) -> Value:
    """`repr(value)`; unknown where Python would show an address."""
    if isinstance(value, Unknown):
        return value
    if isinstance(
        value, (str, int, float, bool, bytes, type(None), range, slice, complex, type(...))
    ):
        return repr(value)
    if isinstance(value, Poly):
        return str(value)
    if isinstance(value, Instance):
        return _of_instance(m, value, "__repr__")
    if isinstance(value, (list, tuple, dict, set, frozenset)):
        if id(value) in open_:
            return {list: "[...]", dict: "{...}"}.get(type(value), "(...)")
        if len(open_) > _DEPTH:
            return m.unknown("the text of a value that nests too deeply", harmless=True)
        return _of_container(m, value, (*open_, id(value)))
    if isinstance(value, ClassValue):
        home = f"{value.module.name}." if value.module else ""
        return f"<class '{home}{value.name}'>"
    if isinstance(value, External) and value.is_dtype:
        return value.path
    if isinstance(value, Function):
        return m.unknown(f"the text of the function {value.name}", harmless=True)
    return m.unknown(f"the text of a {type_name(value)}", harmless=True)


def _of_container(m: Machine, value: Any, open_: tuple[int, ...]) -> Value:
    parts: list[str] = []
    for item in value.items() if isinstance(value, dict) else value:
        shown = [repr_of(m, part, open_) for part in (item if isinstance(value, dict) else (item,))]
        for text in shown:
            if not isinstance(text, str):
                return text
        parts.append(": ".join(shown))
        m.check_size(sum(map(len, parts)) if len(parts) % 64 == 0 else 0)
    inner = ", ".join(parts)
    match value:
        case list():
            return f"[{inner}]"
        case tuple():
            return f"({inner},)" if len(parts) == 1 else f"({inner})"
        case dict():
            return f"{{{inner}}}"
        case set() if parts:
            return f"{{{inner}}}"
        case _:
            return m.unknown("the text of a set", harmless=True)


def _of_instance(m: Machine, value: Instance, wanted: str) -> Value:
    from checker.interpreter import attributes, calls

    for name in ("__str__", "__repr__") if wanted == "__str__" else ("__repr__",):
        if value.cls.defines(name):
            made = calls.call(m, attributes.get(m, value, name, special=True), [], {})
            if not isinstance(made, (str, Unknown)):
                raise m.exception("TypeError", f"{name} returned non-string")
            return made
    if value.cls.is_enum and "_name_" in value.attrs:
        return _of_member(m, value, wanted)
    if value.data is not None:
        return text_of(m, value.data) if wanted == "__str__" else repr_of(m, value.data)
    args = value.attrs.get("args")
    if isinstance(args, tuple) and value.cls.is_subclass(m.builtins["BaseException"]):
        return _of_exception(m, value, args, wanted)
    return m.unknown(f"the text of an object of {value.cls.name}", harmless=True)


def _of_member(m: Machine, value: Instance, wanted: str) -> Value:
    name = value.attrs["_name_"]
    if wanted == "__str__" and value.cls.host is not None:
        own = any(c.name in ("IntEnum", "StrEnum", "IntFlag") for c in value.cls.mro)
        if own:
            return text_of(m, value.data)
    if wanted == "__str__":
        return f"{value.cls.name}.{name}"
    shown = repr_of(m, value.attrs["_value_"])
    return f"<{value.cls.name}.{name}: {shown}>" if isinstance(shown, str) else shown


def _of_exception(m: Machine, value: Instance, args: tuple[Value, ...], wanted: str) -> Value:
    if wanted == "__str__":
        if not args:
            return ""
        if len(args) == 1:
            is_key = any(c.name == "KeyError" for c in value.cls.mro)
            return repr_of(m, args[0]) if is_key else text_of(m, args[0])
        return repr_of(m, args)
    shown = [repr_of(m, arg) for arg in args]
    if all(isinstance(text, str) for text in shown):
        return f"{value.cls.name}({', '.join(shown)})"
    return m.unknown("the text of an exception", harmless=True)


def formatted(m: Machine, value: Value, spec: str) -> Value:
    """`format(value, spec)`."""
    from checker.interpreter import attributes, calls

    if isinstance(value, Unknown):
        return value
    if isinstance(value, Instance):
        if value.cls.defines("__format__"):
            method = attributes.get(m, value, "__format__", special=True)
            return calls.call(m, method, [spec], {})
        if value.data is None or value.cls.is_enum:
            value = text_of(m, value)
    if not spec:
        return text_of(m, value)
    check_format(m, spec)
    if not is_plain(value):
        return m.unknown("a formatted value", harmless=True)
    return host(m, format, plain(value), spec)


def percent(m: Machine, template: str, value: Value) -> Value:
    """`template % value`."""
    values = value if isinstance(value, tuple) else (value,)
    if isinstance(value, dict):
        values = tuple(value.values())
    if any(isinstance(v, Unknown) for v in values):
        return next(v for v in values if isinstance(v, Unknown))
    check_format(m, template)
    if is_plain(value):
        return host(m, lambda: template % plain(value))
    if isinstance(value, dict):
        return m.unknown("a formatted value", harmless=True)
    texts = tuple(plain(v) if is_plain(v) else text_of(m, v) for v in values)
    if all(isinstance(t, (str, int, float)) for t in texts) and "%r" not in template:
        return host(m, lambda: template % texts)
    return m.unknown("a formatted value", harmless=True)


def str_format(m: Machine, template: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """`template.format(…)` without attribute or item access inside the template."""
    check_format(m, template)
    pieces: list[str] = []
    automatic = 0
    parsed = host(m, lambda: list(string.Formatter().parse(template)))
    for literal, field, spec, conversion in parsed:
        pieces.append(literal)
        if field is None:
            continue
        name = field or str(automatic)
        automatic += not field
        if not name.isalnum() and not name.isidentifier():
            return m.unknown("a format with access to parts of its values")
        value = _replacement(m, name, args, kwargs)
        text = converted(m, value, conversion, spec or "")
        if not isinstance(text, str):
            return text
        pieces.append(text)
    return "".join(pieces)


def _replacement(m: Machine, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The argument that a replacement field names."""
    if not name.isdigit():
        if name not in kwargs:
            raise m.exception("KeyError", name)
        return kwargs[name]
    if int(name) >= len(args):
        text = "Replacement index out of range for positional args tuple"
        raise m.exception("IndexError", text)
    return args[int(name)]


def converted(m: Machine, value: Value, conversion: str | None, spec: str) -> Value:
    """One replacement field: `{value!r:>5}`."""
    if type(value) is Numbered:
        return m.unknown(f"a number that {DIFFERS}", harmless=True)
    if "{" in spec:
        return m.unknown("a format within a format")
    if conversion == "r":
        value = repr_of(m, value)
    elif conversion == "s":
        value = text_of(m, value)
    elif conversion == "a":
        return m.unknown("an ascii() conversion")
    return formatted(m, value, spec)


def joined(m: Machine, parts: list[Value]) -> Value:
    """An f-string out of its evaluated parts."""
    for part in parts:
        if not isinstance(part, str):
            return (
                part if isinstance(part, Unknown) else m.unknown("a formatted value", harmless=True)
            )
    m.check_size(sum(map(len, parts)))
    return "".join(parts)


def conversion_of(node: ast.FormattedValue) -> str | None:
    """The conversion of an f-string's field: r, s, a or none."""
    return None if node.conversion == -1 else chr(node.conversion)
