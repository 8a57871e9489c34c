"""Abstract values.

Plain Python values (numbers, strings, None, tuples, lists, dicts, sets, ranges, slices) stand for
themselves. Everything else the checked code can hold is one of the classes below.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from checker.interpreter.births import births

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable

    from checker.interpreter.machine import Machine
    from checker.location import Location
    from checker.syntax import ModuleFile

Value = Any
"""A value of the checked program: a plain Python value or an instance of a class of this module."""


@dataclass(frozen=True, slots=True, eq=False)
class Unknown:
    """A value that could not be determined.

    Contagious: what is computed from it is unknown, too.
    """

    reason: str
    location: Location | None


class Raised(Exception):
    """The checked program raised.

    `value` is the exception instance; `keys` are the configuration keys that the condition guarding
    the raise (or the failing expression) had read. `explicit`: a `raise` statement raised it;
    `certain`: whatever else is not followed, the server raises it, too; `unbound`: it is about a
    name that its module binds on a way that is not taken, and nowhere else.
    """

    def __init__(
        self, value: Instance, location: Location | None, keys: tuple[str, ...] = ()
    ) -> None:
        super().__init__()
        self.value = value
        self.location = location
        self.keys = keys
        self.note = ""
        self.explicit = False
        self.certain = False
        self.unbound = False
        self.terms: tuple[Any, ...] = ()
        self.trail: tuple[str, ...] = ()
        self.parameters: tuple[str, ...] = ()

    @property
    def type_name(self) -> str:
        """The name of the exception's class."""
        return self.value.cls.name

    @property
    def message(self) -> str:
        """What the exception says, else what our own note about it says."""
        args = self.value.attrs.get("args", ())
        if not isinstance(args, tuple):
            return self.note
        return ", ".join(str(a) for a in args if isinstance(a, (str, int, float))) or self.note


class Finished(Exception):
    """A generator of the checked program is at its end. `value` is what it returned."""

    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value


class Stuck(Exception):
    """Interpretation cannot go on soundly: the whole extraction is unproven.

    Checked code cannot catch it.
    """

    def __init__(self, reason: str, location: Location | None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.location = location


@dataclass(frozen=True, slots=True, eq=False)
class Code:
    """What can be said of a function's or class's body before it runs.

    Whose the names in it are; `is_plain`: what it binds is its own. `parameters` can be given by
    position, the first `only_positional` of them in no other way; `named` only by name.
    """

    local_names: frozenset[str] = frozenset()
    global_names: frozenset[str] = frozenset()
    nonlocal_names: frozenset[str] = frozenset()
    is_generator: bool = False
    is_async: bool = False
    is_plain: bool = True
    parameters: tuple[str, ...] = ()
    only_positional: int = 0
    named: tuple[str, ...] = ()
    rest: str | None = None
    rest_named: str | None = None


NO_CODE = Code()


@dataclass(slots=True, eq=False)
class Scope:
    """Names of one function activation, of a class body, a comprehension or a module.

    `parent` is the enclosing function's scope.
    """

    names: dict[str, Value] = field(default_factory=dict)
    parent: Scope | None = None
    code: Code = NO_CODE
    is_class: bool = False
    is_comprehension: bool = False


@dataclass(slots=True, eq=False)
class ModuleValue:
    """A module of the checked trees. Its names are evaluated when they are first asked for.

    `outside` are names that its text never binds: Python's own.
    """

    name: str
    file: ModuleFile | None
    scope: Scope = field(default_factory=Scope)
    done: set[tuple[int, str]] = field(default_factory=set)
    done_names: set[str] = field(default_factory=set)
    outside: set[str] = field(default_factory=set)
    touched: bool = False
    is_stub: bool = False


_FORM_NAMES = (
    "Annotated", "Any", "Callable", "Dict", "List", "Literal", "Optional", "Set", "Tuple", "Union",
)  # fmt: skip
_FORMS = frozenset(f"typing.{name}" for name in _FORM_NAMES)
"""What annotations are written with: each is an object of its own."""


@dataclass(frozen=True, slots=True)
class External:
    """Something of a package that is in no tree and that no operator file describes."""

    path: str

    @property
    def is_object(self) -> bool:
        """Whether it is known not to be a plain value such as None, a flag or a text."""
        return "." not in self.path or self.is_dtype or self.path in _FORMS

    @property
    def is_dtype(self) -> bool:
        """Whether it names a tensor's element type."""
        return self.path in DTYPES


@dataclass(slots=True, eq=False)
class Function:
    """A function or lambda with its closure.

    `owner` is the class whose body defines it, for `super()`.
    """

    name: str
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    module: ModuleValue
    closure: Scope | None
    defaults: list[Value] = field(default_factory=list)
    kw_defaults: dict[str, Value] = field(default_factory=dict)
    owner: ClassValue | None = None
    attrs: dict[str, Value] = field(default_factory=dict)

    @property
    def qualname(self) -> str:
        """The dotted name in the trees."""
        owner = f"{self.owner.name}." if self.owner else ""
        return f"{self.module.name}.{owner}{self.name}"


@dataclass(slots=True, eq=False)
class Native:
    """A function this interpreter implements. `call(machine, args, kwargs)`.

    `numbered`: it knows what to do with numbers that differ from one iteration of a loop to the
    next (`checker.interpreter.looping`). `pure`: it gives the same for the same, and changes
    nothing but by ways that are watched (`checker.interpreter.settled`).
    """

    name: str
    call: Callable[[Machine, list[Value], dict[str, Value]], Value]
    numbered: bool = False
    pure: bool = False


@dataclass(slots=True, eq=False)
class BoundMethod:
    """A function with its first argument.

    As in Python, each access makes a new one; equal ones are equal.
    """

    instance: Value
    function: Value

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, BoundMethod)
            and self.instance is other.instance
            and self.function is other.function
        )

    def __hash__(self) -> int:
        return hash((id(self.instance), id(self.function)))


@dataclass(slots=True, eq=False)
class StaticMethod:
    """`@staticmethod`."""

    function: Value


@dataclass(slots=True, eq=False)
class ClassMethod:
    """`@classmethod`."""

    function: Value


@dataclass(slots=True, eq=False)
class Property:
    """`@property`, or a cached one, which an instance attribute of its name shadows."""

    getter: Value
    setter: Value | None = None
    cached: bool = False


@dataclass(slots=True, eq=False)
class Partial:
    """`functools.partial`."""

    function: Value
    args: tuple[Value, ...]
    kwargs: dict[str, Value]


@dataclass(slots=True, eq=False)
class ClassValue:
    """A class. `namespace` holds what its body bound; `mro` starts with the class itself.

    `host` names the builtin type that instances wrap (`list`, `dict`, `str`, `int`) when the class
    inherits one. `meta` is its metaclass when that is one of the checked code.
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
    meta: ClassValue | None = None

    @property
    def qualname(self) -> str:
        """The dotted name in the trees."""
        return f"{self.module.name}.{self.name}" if self.module else self.name

    def lookup(self, name: str) -> tuple[Value, ClassValue] | None:
        """The first definition of an attribute in the MRO, and the class that has it."""
        for cls in self.mro:
            if name in cls.namespace:
                return cls.namespace[name], cls
        return None

    def defines(self, name: str) -> bool:
        """Whether checked or summarised code (not a builtin) gives the class this attribute."""
        found = self.lookup(name)
        value = found[0] if found is not None else None
        if isinstance(value, (StaticMethod, ClassMethod)):
            value = value.function
        return found is not None and not isinstance(value, Native)

    def is_subclass(self, other: ClassValue) -> bool:
        """Whether `other` is this class or one of its bases."""
        return other in self.mro


@dataclass(slots=True, eq=False)
class Instance:
    """An object of a checked (or summarised) class.

    `data` is the wrapped builtin for subclasses of builtins.

    `config` is the dotted place in a configuration file the object was made from; its reads are
    recorded. `partial` says that the real object has attributes which are not described here.
    `tainted` is set once an undescribed function got hold of the object: its attributes are unknown
    from then on. `number` grows from one object to the next.
    """

    cls: ClassValue
    attrs: dict[str, Value] = field(default_factory=dict)
    data: Value = None
    config: str | None = None
    tainted: Unknown | None = None
    partial: bool = False
    number: int = field(default_factory=births.__next__)

    def __repr__(self) -> str:
        return f"<{self.cls.name} object>"

    def __eq__(self, other: object) -> bool:
        """Identity, or equality of the wrapped builtin: what dictionaries and sets need."""
        if self is other:
            return True
        if self.data is None:
            return False
        mine = other.data if isinstance(other, Instance) else other
        return mine is not None and bool(self.data == mine)

    def __hash__(self) -> int:
        return id(self) if self.data is None else hash(self.data)


@dataclass(slots=True, eq=False)
class SuperValue:
    """`super()`: attributes are looked up in the MRO of `start`'s class after `after`."""

    after: ClassValue
    start: Value


_DTYPES = {
    "float": (
        "float16 bfloat16 float32 float64 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz"
    ),
    "int": "int8 int16 int32 int64 uint8 uint16 uint32 uint64",
    "bool": "bool",
    "complex": "complex64 complex128",
}
DTYPES = {f"torch.{name}": kind for kind, names in _DTYPES.items() for name in names.split()}
"""Element types of tensors, and the kind of number that they hold."""

DTYPE_ALIASES = {
    f"torch.{short}": f"torch.{name}"
    for short, name in (
        ("half", "float16"),
        ("float", "float32"),
        ("double", "float64"),
        ("short", "int16"),
        ("int", "int32"),
        ("long", "int64"),
    )
}


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
    if isinstance(value, dict):
        return "dict"
    return type(value).__name__
