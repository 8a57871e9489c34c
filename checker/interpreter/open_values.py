"""Open configurations: what is given is known, anything else may be there and be anything."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from checker.interpreter.values import ConfigDict, Unknown, Value

if TYPE_CHECKING:
    import ast


@dataclass(frozen=True, slots=True, eq=False)
class Open(Unknown):
    """A configuration of which only some keys are known, or a part of one.

    `names` are its known keys; `everywhere` those that it and each of its parts have; `stated` the
    keys that it certainly has.
    """

    names: dict[str, Value] = field(default_factory=dict)
    everywhere: dict[str, Value] = field(default_factory=dict)
    stated: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Repeated(Unknown):
    """A list of nobody knows how many objects, each of which is made in the same way as `item`."""

    item: Value = None


@dataclass(frozen=True, slots=True, eq=False)
class Maybe(Unknown):
    """None, or `item`: where something of it is asked for, it is that."""

    item: Value = None


@dataclass(frozen=True, slots=True, eq=False)
class Untouching(Unknown):
    """Something unknown of which is known that it changes nothing that it is given."""


@dataclass(frozen=True, slots=True, eq=False)
class Several(Unknown):
    """One of several values, nothing tells which.

    `function`: a function may be among them, of which it is followed what it does. `number`: a
    number, which cannot be called nor taken apart. `none`: None, with which nothing can be done.
    What is an error with one of them is not done with it. `origin`: the call or statement that gave
    it. `things`: those among them that may be changed.
    """

    function: bool = False
    number: bool = False
    none: bool = False
    origin: ast.AST | None = None
    things: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class OneOf(Unknown):
    """One of several things that may be changed: what is done to it is done to any of them."""

    things: tuple[Value, ...] = ()


def attribute(value: Open, name: str) -> Value:
    """What stands under a key: what is given, else something unknown that may have parts."""
    if name in value.names:
        return value.names[name]
    if name in value.everywhere:
        return value.everywhere[name]
    if name.startswith("__"):
        return Unknown(f"{name} of {value.reason}", value.location)
    made = Open(f"{value.reason}.{name}", value.location, {}, value.everywhere)
    value.names[name] = made
    return made


def opened(reason: str, given: Value, everywhere: dict[str, Value]) -> Open:
    """The configuration that states what is `given`."""
    names = {
        key: opened(f"{reason}.{key}", part, everywhere)
        if isinstance(part, (dict, ConfigDict))
        else part
        for key, part in (given or {}).items()
    }
    return Open(reason, None, names, everywhere, frozenset(names))
