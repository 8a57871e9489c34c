"""Writing down what a loop over layers can see (`checker.interpreter.looping_state`)."""

from __future__ import annotations

from collections import Counter
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType
from typing import TYPE_CHECKING, Any

from checker.graph.dims import Poly
from checker.interpreter import conditions
from checker.interpreter.looks import STORE, items_of
from checker.interpreter.looping_state import State, addends, is_made, name_of, names_of, natural
from checker.interpreter.numbered import Numbered
from checker.interpreter.open_values import Open
from checker.interpreter.storages import Root, root_of
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
    Scope,
    StaticMethod,
    SuperValue,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from checker.graph.terms import Term
    from checker.interpreter.looping import Loop
    from checker.interpreter.machine import Machine

_SCALARS = (bool, int, float, str, bytes, type(None), type(...), complex, range)
SCALAR_TYPES = frozenset(_SCALARS)
_FIXED = (ClassValue, ModuleValue, Property, External)
_OURS = (type, BuiltinFunctionType, MethodDescriptorType)
_MOST = 40_000


def state(m: Machine, loop: Loop) -> State | None:
    """What there is after an iteration; None where too much is.

    From now on it is noted which attributes of the objects in it are looked at.
    """
    writer = Writer(m, loop)
    writer.all(list(loop.roots.values()))
    # What is asked or noted once is so for good, and an iteration that does either differs here.
    writer.add(len(m.answers), len(m.decisions), len(m.doubts), len(m.assumptions), len(m.pins))
    return writer.found if writer.is_whole() else None


class Writer:
    """Writes values down. `seen` numbers what has an identity."""

    def __init__(self, m: Machine, loop: Loop) -> None:
        self.m = m
        self.loop = loop
        self.found = State()
        self.tokens = self.found.tokens
        self.seen: dict[int, int] = {}
        self.numbers: dict[str, int] = {}
        self.terms: dict[Term, Any] = {}
        entry = loop.outline.entries.get(loop.source[loop.at])
        self.entry = entry
        self.addends = Counter(addends(entry)) if entry is not None else Counter()

    def all(self, roots: list[Value]) -> None:
        """Everything that the loop can see; `roots` are values reached in no other way."""
        m, outline = self.m, self.loop.outline
        for frame in m.frames:
            self.scope(frame.scope)
            self.add("|", len(frame.handling))
        for root in roots:
            self.value(root)
        for name, shared in m.shared.items():
            is_store = isinstance(name, tuple) and name[0] == STORE
            if is_store or (isinstance(name, str) and name != "operators"):
                self.add(name)  # the others are summaries, and what they call: nothing changes them
                self.value(shared)
        self.add(
            *(len(m.lost), len(m.aliases), len(m.ranges), len(m.counts)),
            *(m.attempting, m.trying, m.config_quiet, m.grad_disabled),
            *(outline.depth, len(outline.building)),
            None if outline.awaited is None else outline.awaited - self.loop.source[self.loop.at],
        )

    def is_whole(self) -> bool:
        """Whether everything was written."""
        return len(self.tokens) <= _MOST

    def add(self, *tokens: Any) -> None:
        """Writes tokens."""
        self.tokens += tokens

    def differ(self) -> None:
        """Something that is equal to nothing."""
        self.add(object())

    def is_new(self, value: Any) -> bool:
        """Whether an object comes up for the first time; its number is written."""
        seen = self.seen
        number = seen.get(id(value))
        self.tokens += ("#", len(seen) if number is None else number)
        if number is not None or len(self.tokens) > _MOST:
            return False
        seen[id(value)] = len(seen)
        self.found.kept.append(value)
        return True

    def scope(self, scope: Scope | None) -> None:
        """The names of a function that is running, or that another one was made in."""
        while scope is not None:
            if self.is_new(scope.names):
                self.items(scope.names, items_of(scope.names), local=True)
            scope = scope.parent

    def items(self, holder: Any, items: Any, *, local: bool = False) -> None:
        """Values under keys, or of local names."""
        for key, value in list(items):
            self.found.kept.append(key)
            if isinstance(key, (str, int)):
                self.tokens += ("'", key)
            else:
                self.tokens += ("'", id(key))
                self.value(key)
            kind = type(value)
            if kind in SCALAR_TYPES:  # most are such
                self.tokens += (kind.__name__, value)
            elif not ((local or kind is Numbered) and self.own(holder, key, value, local)):
                self.value(value)

    def own(self, holder: Any, key: Any, value: Value, local: bool) -> bool:
        """Whether a value is the iteration's own number, or its layer under a local name."""
        if type(value) is Numbered:
            if value.loop is not self.loop or value.made != self.loop.at:
                self.differ()
            self.add("number", value.values)
            self.found.left.append((holder, key, value))
            return True
        if local and isinstance(value, Instance):
            index = self.loop.outline.indices.get(id(value))
            if index is not None and index == self.loop.source[self.loop.at]:
                self.add("own layer")
                self.found.left.append((holder, key, value))
                return True
        return False

    def value(self, value: Value) -> None:
        """Any value."""
        kind = type(value)
        if kind in SCALAR_TYPES:
            self.tokens += (kind.__name__, value)
        elif kind is Instance:
            self.instance(value)
        elif kind is Tensor:
            self.tensor(value)
        elif kind is list or kind is dict:
            self.container(value)
        elif kind is Numbered:
            self.differ()
        elif isinstance(value, _SCALARS):
            self.add(kind.__name__, value)
        elif isinstance(value, Poly):
            self.add(value)
        elif isinstance(value, _FIXED):
            self.add(id(value) if not isinstance(value, External) else value.path)
            self.found.kept.append(value)
        elif isinstance(value, Open):
            self.add("open", id(value))
            self.found.kept.append(value)
        elif isinstance(value, Unknown):
            self.add("unknown", value.reason, conditions.identity(value))
        elif isinstance(value, (list, tuple, dict, set, frozenset)):
            self.container(value)
        else:
            self.callable(value)

    def container(self, value: Any) -> None:
        """A container of Python's own; tuples have no identity of their own."""
        self.add(type(value).__name__)
        if isinstance(value, tuple):
            self.add(len(value))
            for item in value:
                self.value(item)
        elif not self.is_new(value):
            return
        elif isinstance(value, list):
            self.add(len(value))
            self.items(value, enumerate(value))
        elif isinstance(value, dict):
            self.items(value, value.items())
        else:
            plain = all(type(item) in (bool, int, str) for item in value)
            if plain:
                self.add(sorted(map(repr, value)))
            else:
                self.differ()

    def callable(self, value: Value) -> None:
        """Functions with what they hold; anything else is equal to nothing."""
        match value:
            case Function():
                self.add("function", id(value.node))
                if self.is_new(value):
                    self.scope(value.closure)
                    self.items(value.attrs, value.attrs.items())
                    for default in (*value.defaults, *value.kw_defaults.values()):
                        self.value(default)
            case BoundMethod(instance=instance, function=function):
                self.add("method")
                self.value(instance)
                self.value(function)
            case Partial(function=function, args=args, kwargs=kwargs):
                self.add("partial")
                self.value(function)
                self.value(args)
                self.add(len(kwargs))
                self.items(kwargs, kwargs.items())
            case StaticMethod(function=function) | ClassMethod(function=function):
                self.value(function)
            case SuperValue(after=after, start=start):
                self.add("super", id(after))
                self.value(start)
            case Native():
                self.add("native", value.name, id(value.call.__code__))
                if self.is_new(value):
                    self.cells(value.call)
            case _:
                self.differ()

    def cells(self, function: Callable[..., Any]) -> None:
        """What a function of ours was made for."""
        for cell in getattr(function, "__closure__", None) or ():
            held = cell.cell_contents
            if isinstance(held, FunctionType):
                self.cells(held)
            elif not isinstance(held, _OURS):
                self.value(held)

    def instance(self, value: Instance) -> None:
        """An object with its attributes; layers are known by their place."""
        outline = self.loop.outline
        index = outline.indices.get(id(value))
        if index is not None:
            self.add("layer", index)
            return
        self.add("object")
        if not self.is_new(value):
            return
        self.found.kept.append(value.cls)
        attrs = items_of(value.attrs)
        if attrs and all(type(item) is Native for _, item in attrs):
            self.add(id(value.cls), len(attrs))  # a name space of ours: nothing changes it
            return
        tainted = None if value.tainted is None else value.tainted.reason
        self.add(id(value.cls), tainted, value.config, value.partial)
        pending = outline.pending.get(id(value))
        if pending is not None:
            self.value(pending[1])
            self.value(pending[2])
        if value.data is not None:
            self.value(value.data)
        self.attributes(value)

    def attributes(self, value: Instance) -> None:
        """The attributes of an object."""
        self.loop.looks.watch(self.m, value)
        self.items(value.attrs, items_of(value.attrs))

    def tensor(self, value: Tensor) -> None:
        """A tensor: where it lies, how, and what it is."""
        self.add("tensor")
        if not self.is_new(value):
            return
        root = root_of(value.storage)
        self.is_new(root)
        if not isinstance(value.storage, Root):
            self.add(type(value.storage).__name__)
        flags = (value.parameter, value.buffer, value.requires_grad)
        self.add(value.axes, value.kind, value.integer, flags, self.term(value.term(self.m)))
        self.items(value.extra, value.extra.items())

    def term(self, term: Term) -> Any:
        """A term with names replaced."""
        if term is self.entry:
            return "the stream"
        if term in self.terms:
            return self.terms[term]
        args: list[Term] = list(addends(term)) if term.op == "add" else list(term.args)
        head: tuple[Any, ...] = (term.op,)
        if term.op == "add":
            rest = Counter(args)
            if self.entry is not None and self.addends <= rest:
                args = list((rest - self.addends).elements())
                head = (term.op, "the stream")
            args.sort(key=lambda arg: (arg.op, list(map(natural, names_of(arg)))))
        attrs: tuple[Any, ...] = term.attrs
        name = name_of(term)
        if name is not None and is_made(name):
            attrs = (self.number(name), term.attr("reason"))
        made = (*head, attrs, term.shape, *[self.term(arg) for arg in args])
        self.terms[term] = made
        return made

    def number(self, text: str) -> int:
        """What stands for a name."""
        if text not in self.numbers:
            self.numbers[text] = len(self.numbers)
            self.found.names.append(text)
        return self.numbers[text]


__all__ = ["SCALAR_TYPES", "Writer", "state"]
