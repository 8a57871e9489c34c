"""What classes declare and texts state, told at once: programs have thousands of fields."""

from __future__ import annotations

import ast
import json
from typing import TYPE_CHECKING, Final

from checker.interpreter import attributes, classes, open_values, options
from checker.interpreter.values import (
    ClassMethod,
    ClassValue,
    Function,
    Instance,
    StaticMethod,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from checker.interpreter.machine import Machine

_FIELDS = "__dataclass_fields__"


def _dataclass_fields(
    m: Machine, cls: ClassValue, kw_only: Value, kind: ClassValue, absent: Value
) -> Value:
    """(fields by name, those given by place, those that are stored, names that are compared).

    Of a class that is being made a dataclass: its bases' fields first, then its own. A default
    takes the place of what `field()` has left in the class. `kind` is the class of fields, `absent`
    what says that there is no default.
    """
    found: dict[str, Value] = {}
    m.changes(cls)
    for base in reversed(cls.mro[1:]):
        inherited = base.namespace.get(_FIELDS)
        if isinstance(inherited, dict):
            found.update(inherited)
    for name, annotation in cls.annotations.items():
        m.tick()
        head = classes.annotation_head(annotation)
        if "ClassVar" in head:
            continue
        if head.rpartition(".")[2] == "KW_ONLY":
            kw_only = True
            continue
        default = cls.namespace.get(name, absent)
        if isinstance(default, Instance) and default.cls is kind:
            made = default
            stands = made.attrs["default"]
            if stands is absent:
                attributes.remove(m, cls, name)
            else:
                attributes.put(m, cls, name, stands)
        else:
            made = Instance(kind, {"default": default})
        m.changes(made)
        made.attrs["name"] = name
        if attributes.get(m, made, "kw_only") is None:
            made.attrs["kw_only"] = kw_only
        made.attrs["is_init_variable"] = head.rpartition(".")[2].startswith("InitVar")
        found[name] = made
    cls.namespace[_FIELDS] = found
    every = list(found.values())

    def chosen(name: str) -> list[Value]:
        return [f for f in every if m.truth(attributes.get(m, f, name), name)]

    by_keyword = {id(f) for f in chosen("kw_only")}
    passed = {id(f) for f in chosen("is_init_variable")}
    stored = [f for f in every if id(f) not in passed]
    compared = {id(f) for f in chosen("compare")}
    return (
        found,
        [f for f in chosen("init") if id(f) not in by_keyword],
        stored,
        [f.attrs["name"] for f in stored if id(f) in compared],
    )


def _functions_with(m: Machine, cls: ClassValue, name: Value) -> Value:
    """(function, value) of every function in a class and its bases that has an attribute."""
    members: dict[str, Value] = {}
    for base in reversed(cls.mro):
        members.update(base.namespace)
    found: list[Value] = []
    for member in members.values():
        inner = member
        while isinstance(inner, (ClassMethod, StaticMethod)):
            inner = inner.function
        if isinstance(inner, Function) and inner.attrs.get(name) is not None:
            found.append((member, inner.attrs[name]))
    return found


_PLAIN: Final[dict[str, tuple[type, ...]]] = {
    "int": (int,),
    "float": (float,),
    "bool": (bool,),
    "str": (str,),
    "list": (list,),
    "dict": (dict,),
    "None": (type(None),),
}


def _mistyped(m: Machine, cls: ClassValue, name: Value, value: Value) -> Value:
    """What a field's annotation asks for, where it names plain types and the value is of none.

    None where it is of one of them, is not known, or the annotation says anything else.
    """
    owner, annotation = classes.fields(cls).get(name, (None, None))
    return None if owner is None or annotation is None else asked_for(annotation, value)


def asked_for(annotation: ast.expr, value: Value) -> str | None:
    """The plain types that an annotation names, where a plain value is of none of them."""
    if not (value is None or isinstance(value, (bool, int, float, str, list, dict))):
        return None
    kinds = [classes.annotation_head(part).rpartition(".")[2] for part in _alternatives(annotation)]
    if not all(kind in _PLAIN for kind in kinds):
        return None
    fits = any(
        isinstance(value, _PLAIN[kind]) and not (kind == "int" and isinstance(value, bool))
        for kind in kinds
    )
    return None if fits else " | ".join(kinds)


def _alternatives(annotation: ast.expr) -> list[ast.expr]:
    """The types that an annotation allows: `a | b`, `Optional[a]` and `Union[a, b]` apart."""
    match annotation:
        case ast.Constant(value=str(text)):
            try:
                return _alternatives(ast.parse(text, mode="eval").body)
            except SyntaxError:
                return [annotation]
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return [*_alternatives(left), *_alternatives(right)]
        case ast.Subscript(value=value, slice=inner):
            match classes.annotation_head(value).rpartition(".")[2]:
                case "Optional":
                    return [*_alternatives(inner), ast.Constant(None)]
                case "Union" if isinstance(inner, ast.Tuple):
                    return [part for one in inner.elts for part in _alternatives(one)]
    return [annotation]


def _doubt(m: Machine, reason: Value) -> Value:
    """Says that the program may end where the summary goes on."""
    return m.unknown(reason)


def _blame(m: Machine, *keys: Value) -> Value:
    """Says which configuration keys an exception that is raised next is about."""
    m.frames[-1].guard_keys = keys
    return None


def _parsed(m: Machine, text: Value) -> Value:
    """What a text in JSON says, None where it is none or is not known."""
    try:
        return json.loads(text) if isinstance(text, str) else None
    except ValueError:
        return None


def _open_config(_: Machine, reason: Value, given: Value, everywhere: Value) -> Value:
    """A configuration of which only what is given is known."""
    return open_values.opened(str(reason), given, dict(everywhere))


def _as_json(m: Machine, value: Value) -> Value:
    """A plain value as a text in JSON."""
    try:
        return json.dumps(value)
    except (TypeError, ValueError):
        return m.unknown("what a value is in JSON", harmless=True)


FIELDS: dict[str, Callable[..., Value]] = {
    "dataclass_fields": _dataclass_fields,
    "functions_with": _functions_with,
    "mistyped": _mistyped,
    "blame": _blame,
    "doubt": _doubt,
    "open_config": _open_config,
    "parsed": _parsed,
    "as_json": _as_json,
    "hint": options.hint,
    "hint_texts": options.hint_texts,
    "read_options": options.read,
    "file_text": options.file_text,
    "yaml_value": options.yaml_value,
    "are_known": options.are_known,
}
