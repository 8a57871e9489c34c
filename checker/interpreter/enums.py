"""Enums: members out of a class body, the functional form, lookup by value, flags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from checker.interpreter.values import (
    ClassMethod,
    ClassValue,
    Function,
    Instance,
    Native,
    Partial,
    Property,
    StaticMethod,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from checker.interpreter.machine import Machine

_NO_MEMBERS = (Function, Property, ClassMethod, StaticMethod, Native, Partial, ClassValue)


def make_members(m: Machine, cls: ClassValue) -> None:
    """Turns the plain attributes of an enum's body into members, in order."""
    given = {
        name: value
        for name, value in cls.namespace.items()
        if not name.startswith("_")
        and not isinstance(value, _NO_MEMBERS)
        and not (isinstance(value, Instance) and value.cls.lookup("__get__"))
    }
    cls.namespace["__members__"] = {}
    last: list[Value] = []
    for name, value in given.items():
        made = _numbered(m, cls, name, value, last)
        last.append(made)
        _add_member(m, cls, name, made)


def _numbered(m: Machine, cls: ClassValue, name: str, value: Value, last: list[Value]) -> Value:
    """The value of a member: `auto()` counts, or spells the name in a StrEnum."""
    from checker.interpreter import calls

    if not (isinstance(value, Instance) and "__auto__" in value.cls.namespace):
        return value
    rule = cls.lookup("_generate_next_value_")
    if rule is not None:
        function = rule[0].function if isinstance(rule[0], StaticMethod) else rule[0]
        return calls.call(m, function, [name, 1, len(last), list(last)], {})
    if any(parent.name == "StrEnum" for parent in cls.mro):
        return name.lower()
    numbers = [value for value in last if isinstance(value, int)]
    if any("__flags__" in parent.namespace for parent in cls.mro):
        return 2 ** max((n.bit_length() for n in numbers), default=0)
    return max(numbers, default=0) + 1


def _add_member(m: Machine, cls: ClassValue, name: str, value: Value) -> None:
    from checker.interpreter import attributes, calls, equality

    members: dict[str, Instance] = cls.namespace["__members__"]
    for member in members.values():
        if equality.equal(m, member.attrs["_value_"], value) is True:
            members[name] = cls.namespace[name] = member  # an alias
            return
    member = _member(cls, name, value)
    new = cls.lookup("__new__")
    if new is not None and isinstance(_inner(new[0]), Function):
        raise m.stuck(f"the enum {cls.name}, which defines __new__")
    init = cls.lookup("__init__")
    if init is not None and isinstance(init[0], Function):
        arguments = list(value) if isinstance(value, tuple) else [value]
        calls.call(m, attributes.get(m, member, "__init__", special=True), arguments, {})
    members[name] = cls.namespace[name] = member


def _inner(value: Value) -> Value:
    return value.function if isinstance(value, StaticMethod) else value


def _member(cls: ClassValue, name: str | None, value: Value) -> Instance:
    attrs = {"name": name, "value": value, "_name_": name, "_value_": value}
    member = Instance(cls, attrs)
    if cls.host is not None and isinstance(value, (str, int, float)):
        member.data = value
    return member


def by_value(m: Machine, cls: ClassValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """`Cls(value)`, or the functional form `Enum("Name", members)`."""
    from checker.interpreter import calls, equality

    members: dict[str, Instance] = cls.namespace.get("__members__", {})
    if not members and len(args) > 1:
        return _functional(m, cls, args, kwargs)
    if len(args) != 1:
        raise m.exception("TypeError", f"{cls.name}() takes one value")
    value = args[0]
    if isinstance(value, Unknown):
        return value
    for member in members.values():
        if value is member or equality.equal(m, member.attrs["_value_"], value) is True:
            return member
    missing = cls.lookup("_missing_")
    if missing is not None:
        function = missing[0].function if isinstance(missing[0], ClassMethod) else missing[0]
        made = calls.call(m, function, [cls, value], {})
        if made is not None:
            return made
    if any("__flags__" in parent.namespace for parent in cls.mro) and isinstance(value, int):
        return combination(m, cls, value)
    raise m.exception("ValueError", f"{value!r} is not a valid {cls.name}")


def combination(m: Machine, cls: ClassValue, value: int) -> Value:
    """The member of a flag enum with this value, made if it is a combination of others."""
    members: dict[str, Instance] = cls.namespace["__members__"]
    made: dict[int, Instance] = m.shared.setdefault(("flags", cls), {})
    for member in members.values():
        if member.attrs["_value_"] == value:
            return member
    if value not in made:
        made[value] = _member(cls, None, value)
    return made[value]


def _functional(m: Machine, cls: ClassValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """`Enum("Name", "A B")`, `Enum("Name", {...})`, `Enum("Name", [("A", 1), …])`."""
    from checker.interpreter import classes, containers

    name, given = args[0], args[1]
    start: Any = kwargs.get("start", 1)
    if isinstance(given, str):
        given = given.replace(",", " ").split()
    if isinstance(given, dict):
        pairs = list(given.items())
    else:
        items = containers.iterate(m, given)
        pairs = [
            tuple(item) if isinstance(item, (tuple, list)) else (item, index)
            for index, item in enumerate(items, start)
        ]
    if not isinstance(name, str) or not all(isinstance(key, str) for key, _ in pairs):
        raise m.stuck("an enum whose members are not known")
    return classes.dynamic_class(m, name, [cls], dict(pairs))
