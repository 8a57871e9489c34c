"""Abstract values.

Plain Python values (numbers, strings, None, tuples, lists, dicts, sets, ranges, slices) stand for themselves.
Everything else the checked code can hold is one of the classes below.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from checker.location import Location

if TYPE_CHECKING:
    from checker.interpreter.machine import Machine
    from checker.syntax import ModuleFile

Value = Any
"""A value of the checked program: a plain Python value or an instance of a class of this module."""


@dataclass(frozen=True, slots=True, eq=False)
class Unknown:
    """A value that could not be determined. Contagious: what is computed from it is unknown, too."""

    reason: str
    location: Location | None


class Raised(Exception):
    """The checked program raised. `value` is the exception instance; `keys` are the configuration keys that the
    condition guarding the raise (or the failing expression) had read."""

    def __init__(self, value: Instance, location: Location | None, keys: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.value = value
        self.location = location
        self.keys = keys
        self.terms: tuple[Any, ...] = ()
        self.trail: tuple[str, ...] = ()
        self.parameters: tuple[str, ...] = ()

    @property
    def type_name(self) -> str:
        return self.value.cls.name

    @property
    def message(self) -> str:
        args = self.value.attrs.get("args", ())
        return ", ".join(str(a) for a in args if isinstance(a, (str, int, float)))


class Stuck(Exception):
    """Interpretation cannot go on soundly: the whole extraction is unproven. Checked code cannot catch it."""

    def __init__(self, reason: str, location: Location | None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.location = location


@dataclass(slots=True, eq=False)
class Scope:
    """Names of one function activation, of a class body or of a module; `parent` is the enclosing function."""

    names: dict[str, Value] = field(default_factory=dict)
    parent: Scope | None = None
    global_names: set[str] = field(default_factory=set)
    nonlocal_names: set[str] = field(default_factory=set)
    is_class: bool = False


@dataclass(slots=True, eq=False)
class ModuleValue:
    """A module of the checked trees. Its names are evaluated when they are first asked for."""

    name: str
    file: ModuleFile | None
    scope: Scope = field(default_factory=Scope)
    pending: set[str] = field(default_factory=set)
    done: set[int] = field(default_factory=set)
    done_names: set[str] = field(default_factory=set)
    touched: bool = False
    is_stub: bool = False


@dataclass(frozen=True, slots=True)
class External:
    """Something of a package that is in no tree and that no operator file describes."""

    path: str


@dataclass(slots=True, eq=False)
class Function:
    """A function or lambda with its closure. `owner` is the class whose body defines it, for `super()`."""

    name: str
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    module: ModuleValue
    closure: Scope | None
    defaults: list[Value] = field(default_factory=list)
    kw_defaults: dict[str, Value] = field(default_factory=dict)
    owner: ClassValue | None = None
    is_generator: bool = False
    attrs: dict[str, Value] = field(default_factory=dict)

    @property
    def qualname(self) -> str:
        owner = f"{self.owner.name}." if self.owner else ""
        return f"{self.module.name}.{owner}{self.name}"


@dataclass(slots=True, eq=False)
class Native:
    """A function this interpreter implements. `call(machine, args, kwargs)`."""

    name: str
    call: Callable[[Machine, list[Value], dict[str, Value]], Value]


@dataclass(slots=True, eq=False)
class BoundMethod:
    instance: Value
    function: Value


@dataclass(slots=True, eq=False)
class StaticMethod:
    function: Value


@dataclass(slots=True, eq=False)
class ClassMethod:
    function: Value


@dataclass(slots=True, eq=False)
class Property:
    getter: Value
    setter: Value | None = None
    cached: bool = False


@dataclass(slots=True, eq=False)
class Partial:
    function: Value
    args: tuple[Value, ...]
    kwargs: dict[str, Value]


@dataclass(slots=True, eq=False)
class ClassValue:
    """A class. `namespace` holds what its body bound; `mro` starts with the class itself.

    `host` names the builtin type that instances wrap (`list`, `dict`, `str`, `int`) when the class inherits one.
    """

    name: str
    module: ModuleValue | None
    bases: tuple[Value, ...]
    namespace: dict[str, Value] = field(default_factory=dict)
    mro: tuple[ClassValue, ...] = ()
    node: ast.ClassDef | None = None
    annotations: dict[str, ast.expr] = field(default_factory=dict)
    host: str | None = None
    is_enum: bool = False
    unknown_base: str | None = None

    @property
    def qualname(self) -> str:
        return f"{self.module.name}.{self.name}" if self.module else self.name

    def lookup(self, name: str) -> tuple[Value, ClassValue] | None:
        for cls in self.mro:
            if name in cls.namespace:
                return cls.namespace[name], cls
        return None

    def is_subclass(self, other: ClassValue) -> bool:
        return other in self.mro


@dataclass(slots=True, eq=False)
class Instance:
    """An object of a checked (or summarised) class. `data` is the wrapped builtin for subclasses of builtins.

    `config` is the dotted place in a configuration file the object was made from; its reads are recorded.
    `partial` says that the real object has attributes which are not described here.
    `tainted` is set once an undescribed function got hold of the object: its attributes are unknown from then on.
    """

    cls: ClassValue
    attrs: dict[str, Value] = field(default_factory=dict)
    data: Value = None
    config: str | None = None
    tainted: Unknown | None = None
    partial: bool = False

    def __repr__(self) -> str:
        return f"<{self.cls.name} object>"


@dataclass(slots=True, eq=False)
class SuperValue:
    """`super()`: attributes are looked up in the MRO of `start`'s class after `after`."""

    after: ClassValue
    start: Value


class ConfigDict(dict[str, Any]):
    """A JSON object of a configuration: reads of its keys are recorded under `place`."""

    def __init__(self, items: dict[str, Any], place: str) -> None:
        super().__init__(items)
        self.place = place


def type_name(value: Value) -> str:
    """The name a traceback of the checked program would give the value's type."""
    if isinstance(value, Instance):
        return value.cls.name
    if value is None:
        return "NoneType"
    if isinstance(value, (Function, BoundMethod, Native, Partial)):
        return "function"
    if isinstance(value, ConfigDict):
        return "dict"
    return type(value).__name__
