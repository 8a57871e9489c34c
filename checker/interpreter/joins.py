"""One value that stands for several, of which nothing tells which it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from checker.graph.dims import Poly
from checker.interpreter import conditions, havoc, outline_kinds
from checker.interpreter import outline_parts as parts
from checker.interpreter.open_values import OneOf, Open, Several, Untouching
from checker.interpreter.outline import MISSING, is_summarised
from checker.interpreter.storages import Loose, Root, root_of
from checker.interpreter.tensors import Tensor, arranged, fresh_input
from checker.interpreter.values import (
    External,
    Function,
    Instance,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    import ast

    from checker.interpreter.journal import Journal, Mark
    from checker.interpreter.machine import Machine
    from checker.interpreter.outline import Stored
    from checker.interpreter.storages import Storage

SEVERAL = "depends on conditions that nothing decides"
"""Why nothing is known of what stands for several values."""


class Differ(Exception):
    """Two results for which nothing can stand."""


@dataclass(frozen=True, slots=True, eq=False)
class Ended:
    """How an `if` ended, and what the function's names were then."""

    kind: str
    value: Value
    names: dict[str, Value]


class Join:
    """Puts two results together, of which either may be what comes of something.

    Of what differs nothing is known, if it was made in there. `kept` are tensors that were put into
    lists: those are followed.
    """

    def __init__(
        self, m: Machine, node: ast.AST, journal: Journal, before: Mark, kept: list[Stored]
    ) -> None:
        self._kept = {id(tensor) for tensor, _, _ in kept}
        self._m = m
        assert m.outline is not None
        self._node = node
        self._outline = m.outline
        self._journal = journal
        self._before = before
        self._known: dict[tuple[int, int], Value] = {}
        self._parts: dict[tuple[int, Storage], tuple[int, int]] = {}

    def of(self, one: Value, two: Value) -> Value:
        """What stands for both.

        Raises:
            Differ: nothing does.
        """
        if one is two or (parts.is_plain(one) and type(one) is type(two) and one == two):
            return one
        key = id(one), id(two)  # the same pair is the same value
        if key not in self._known:
            self._known[key] = self._new(one, two)
        return self._known[key]

    def _new(self, one: Value, two: Value) -> Value:
        if type(one) is type(two):
            if type(one) in _UNKNOWN and conditions.identity(one) == conditions.identity(two):
                both = (*havoc.things_of(one), *havoc.things_of(two))
                return OneOf(one.reason, one.location, both) if both else one
            if isinstance(one, tuple) and len(one) == len(two):
                return tuple(self.of(a, b) for a, b in zip(one, two, strict=True))
            if isinstance(one, Ended) and one.kind == two.kind:
                names = self._names(one.names, two.names)
                return Ended(one.kind, self.of(one.value, two.value), names)
            if isinstance(one, Instance):
                return self._module(one, two)
            if isinstance(one, Tensor):
                return self._tensor(one, two)
        key = id(one), id(two)
        if all(_is_function(v) or self._is_lost(v, i, key) for i, v in enumerate((one, two))):
            return self._several(one, two)
        raise Differ

    def _several(self, one: Value, two: Value) -> Several:
        """One of two values, of which nothing is known but what is an error with one of them."""
        held = (one, two)
        known = [value for value in held if isinstance(value, Several)]
        self._outline.calls += 1  # no two of them are the same fact
        return Several(
            f"what {SEVERAL} ({self._outline.calls})",
            self._m.location(),
            function=any(map(_is_function, held)) or any(value.function for value in known),
            number=any(isinstance(v, _NUMBERS) for v in held) or any(v.number for v in known),
            none=any(v is None for v in held) or any(v.none for v in known),
            origin=self._node,
            things=tuple(thing for value in held for thing in havoc.things_of(value)),
        )

    def _names(self, one: dict[str, Value], two: dict[str, Value]) -> dict[str, Value]:
        every = dict.fromkeys([*one, *two])
        return {name: self.of(one.get(name, MISSING), two.get(name, MISSING)) for name in every}

    def _module(self, one: Instance, two: Instance) -> Value:
        new = all(self._before.is_new(self._journal, part) for part in (one, two))
        if not new or parts.common(one.cls, two.cls) is None:
            raise Differ  # what they do is followed
        return outline_kinds.either(self._m, self._outline, one, two, "a module")

    def _tensor(self, one: Tensor, two: Tensor) -> Value:
        """A tensor that may be anything, like what parts of layers give.

        It may share its values with the one of the two that was there before.
        """
        old = [part for part in (one, two) if not self._before.is_new(self._journal, part)]
        shape = one.shape(self._m)
        several = any(self._outline.several(part) is not None for part in (one, two))
        noted = any(part.extra or id(part) in self._kept for part in (one, two))
        if len(old) == 2 or several or noted:
            raise Differ
        for side, part in enumerate((one, two)):
            self._claim(part, side, (id(one), id(two)))
        alike = (
            (one.kind, one.integer, one.parameter, one.buffer, one.requires_grad)
            == (two.kind, two.integer, two.parameter, two.buffer, two.requires_grad)
            == (one.kind, one.integer, False, False, False)
        ) and shape == two.shape(self._m)
        whole = all(type(part.storage) is Root for part in (one, two) if part not in old)
        if not alike or not whole:
            if old:
                raise Differ
            return self._several(one, two)
        self._outline.calls += 1
        made = fresh_input(self._m, f"one of several {self._outline.calls}", shape, one.kind)
        made.integer = one.integer
        if old:
            source = arranged(self._m, old[0])
            made.storage = Loose(self._m, source.storage, made.storage.term(self._m))
        return made

    def _claim(self, part: Tensor, side: int, key: tuple[int, int]) -> None:
        """Notes which result a new tensor's values belong to.

        Raises:
            Differ: to another one, too: what is written to that is seen in this one.
        """
        if self._before.is_new(self._journal, part):
            place = side, root_of(part.storage)
            if self._parts.setdefault(place, key) != key:
                raise Differ

    def _is_lost(self, value: Value, side: int, key: tuple[int, int]) -> bool:
        """Whether it may be forgotten what a value is: nothing else is changed through it."""
        if isinstance(value, tuple):
            return all(self._is_lost(item, side, key) for item in value)
        if isinstance(value, Tensor):
            self._claim(value, side, key)
            return self._before.is_new(self._journal, value) and not value.extra
        if isinstance(value, Open):
            return not value.names
        if isinstance(value, Instance):  # of a class of ours, whose methods touch nothing else
            new = self._before.is_new(self._journal, value) and value.data is None
            held = value.attrs.values()
            return (
                new
                and is_summarised(value.cls)
                and all(self._is_lost(item, side, key) for item in held)
            )
        return value is MISSING or parts.is_plain(value) or type(value) in _LOST


_UNKNOWN = frozenset((Unknown, OneOf, Untouching, conditions.Condition, conditions.Junction))
_LOST = _UNKNOWN | {Poly, Several}
"""Values that are never changed, and change nothing but what they are given, which is forgotten."""
_NUMBERS = (bool, int, float)


def _is_function(value: Value) -> bool:
    """Whether a value is never changed, but what it does when it is called is followed."""
    if isinstance(value, Function):
        return value.closure is None and not value.attrs
    return isinstance(value, External)


__all__ = ["SEVERAL", "Differ", "Ended", "Join"]
