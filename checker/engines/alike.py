"""Targets that are another one under a second name: what one run gives holds for both.

A class with one base and an empty body holds what its base holds. Run in its place, the base gives
the same answer unless the run looks at which class an object is of; that is watched
(`checker.interpreter.watching`), and nothing is shared then.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from checker.interpreter.machine import OUT_OF_TIME
from checker.interpreter.values import (
    ClassMethod,
    ClassValue,
    External,
    Function,
    Instance,
    Native,
    Property,
    StaticMethod,
)
from checker.interpreter.watching import Watch

if TYPE_CHECKING:
    from collections.abc import Callable

    from checker.engines.captured import Captured, Question
    from checker.engines.stages import Inputs, Subject
    from checker.interpreter.machine import Machine
    from checker.interpreter.values import Value
    from checker.syntax import Ledger, Workspace

_OWN = frozenset(("__module__", "__qualname__", "__doc__"))
_HOOKS = ("__init_subclass__", "__new__", "__class_getitem__")


def is_bare(node: ast.AST) -> bool:
    """Whether a definition is that of a class which adds nothing to the one it inherits from."""
    return (
        isinstance(node, ast.ClassDef)
        and not node.decorator_list
        and not node.keywords
        and not getattr(node, "type_params", ())
        and len(node.bases) == 1
        and isinstance(node.bases[0], ast.Name)
        and all(
            isinstance(stmt, ast.Pass)
            or (isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant))
            for stmt in node.body
        )
    )


def original(cls: ClassValue) -> ClassValue:
    """The class that one is a second name of; itself where it is none."""
    while _adds_nothing(cls):
        cls = cls.mro[1]
    return cls


def _adds_nothing(cls: ClassValue) -> bool:
    """Whether an object of a class holds what one of its base would, and is made in the same way.

    A summary may have been laid over it; a base may do something with each class that inherits.
    """
    if cls.node is None or not is_bare(cls.node) or len(cls.mro) < 2 or cls.meta is not None:
        return False
    base = cls.mro[1]
    return (
        cls.bases == (base,)
        and cls.mro[1:] == base.mro
        and base.node is not None
        and base.module is not None
        and not base.module.is_stub
        and cls.unknown_base == base.unknown_base
        and not cls.is_enum
        and cls.namespace.keys() <= _OWN
        and not cls.annotations
        and all(cls.lookup(hook) is None for hook in _HOOKS)
    )


def _content(cls: ClassValue) -> tuple[object, ...]:
    """What a class and its bases hold: other modules may have put something there."""
    return tuple(
        (c.node, *((name, _essence(value)) for name, value in c.namespace.items())) for c in cls.mro
    )


def _essence(value: Value) -> object:
    """What can be compared of a value that a class holds; what cannot be is equal to nothing."""
    match value:
        case Function():
            return value.node
        case StaticMethod(function=inner) | ClassMethod(function=inner):
            return type(value), _essence(inner)
        case Property(getter=getter, setter=setter):
            return _essence(getter), _essence(setter)
        case bool() | int() | float() | str() | bytes() | None:
            return type(value), value
        case Native(name=name):
            return name
        case External(path=path):
            return path
        case ClassValue(node=node) if node is not None:
            return node
        case list() | tuple():
            return type(value), [_essence(item) for item in value]
        case dict():
            return [(_essence(key), _essence(item)) for key, item in value.items()]
        case Instance(cls=cls, attrs=attrs, data=data, tainted=None) if cls.node is not None:
            return cls.node, _essence(attrs), _essence(data)
        case _:
            return object()


@dataclass(slots=True, eq=False)
class Run:
    """The runs of one target; with `instead`, of the class that it is a second name of."""

    instead: bool = False
    watches: list[tuple[Watch, tuple[object, ...]]] = field(default_factory=list)

    def watched(self, m: Machine, cls: ClassValue) -> ClassValue:
        """The class to run, which is watched from here on."""
        chosen = original(cls) if self.instead else cls
        m.watch = Watch(chosen)
        self.watches.append((m.watch, _content(chosen)))
        return chosen

    def holds_for_others(self, found: Captured) -> bool:
        """Whether a class of another name gives the same."""
        first, content = self.watches[0]
        error = "" if found.error is None else found.error.message
        texts = (found.reason, error, *found.decisions)
        return all(
            not watch.told and watch.cls.node is first.cls.node and held == content
            for watch, held in self.watches
        ) and not any(first.cls.name in text for text in texts)


@dataclass(frozen=True, slots=True)
class _Known:
    """What a class gave, what it held then, and what that depends on."""

    found: Captured
    content: tuple[object, ...]
    ledger: Ledger


class Shared:
    """What classes gave, for one question that is put to each of them.

    Kept as long as the workspace in which they were read.
    """

    def __init__(self, subject: Subject, question: Question, inputs: Inputs | None) -> None:
        self._workspace = subject.workspace
        asked = (replace(question, target=""), None if inputs is None else inputs.question())
        read = (subject.engine, subject.stubs)
        key = (repr(asked), subject.label, *map(id, read))
        # what the numbers are of is kept with what is known, so that they stay theirs
        _, self._known = _KNOWN.setdefault(subject.workspace, {}).setdefault(key, (read, {}))

    def has(self, name: str) -> bool:
        """Whether a class of that name has been run."""
        return any(node.name == name for node in self._known)

    def tells_of(self, cls: ClassValue) -> bool:
        """Whether it is known what a class gives, or that it holds for none of another name."""
        return cls.node in self._known

    def get(self, cls: ClassValue, question: Question) -> Captured | None:
        """What a class gave, as the answer to a question for a target that is the same."""
        known = None if cls.node is None else self._known.get(cls.node)
        if known is None or known.content != _content(cls):
            return None
        self._workspace.note(known.ledger)
        return replace(known.found, target=question.target)

    def run(self, work: Callable[[Run], Captured], *, instead: bool = False) -> Captured:
        """Does the work, and keeps what it gives if it holds for classes of other names."""
        run, late = Run(instead), len(OUT_OF_TIME)
        with self._workspace.noting() as ledger:
            found = work(run)
        if run.watches and len(OUT_OF_TIME) == late:
            watch, content = run.watches[0]
            holds = run.holds_for_others(found)
            if watch.cls.node is not None:
                self._known[watch.cls.node] = _Known(found, content, ledger) if holds else None
        return found


_KNOWN: WeakKeyDictionary[
    Workspace, dict[Any, tuple[object, dict[ast.ClassDef, _Known | None]]]
] = WeakKeyDictionary()


__all__ = ["Run", "Shared", "is_bare", "original"]
