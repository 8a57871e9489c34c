"""Loops over decoder layers in an outline run: iterations that do the same are run once.

The loop's variable, and the numbers that layers are made with, know what they are in every
iteration. Where the code looks at one, the iterations in which it would see something else are told
apart. An iteration that left everything the loop can see as it found it, up to the names of what
layers computed (`checker.interpreter.looping_state`), is not run again where nothing it looked at
differs: the next one starts from the state that is there. Nor is one where what differs from that
state is nothing that it looks at (`checker.interpreter.looping_repeated`). The last iteration is
always run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from checker.interpreter import conditions, havoc, looping_writing, statements
from checker.interpreter.conditions import Condition
from checker.interpreter.looks import Looks
from checker.interpreter.looping_ahead import AHEAD, StandIns
from checker.interpreter.looping_repeated import Repeated
from checker.interpreter.looping_rows import Rows, rows
from checker.interpreter.numbered import DIFFERS, Numbered
from checker.interpreter.open_values import OneOf
from checker.interpreter.values import (
    ClassMethod,
    ClassValue,
    External,
    Function,
    Instance,
    ModuleValue,
    Native,
    Property,
    StaticMethod,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    import ast

    from checker.graph.terms import Term
    from checker.interpreter.looping_state import State
    from checker.interpreter.machine import Frame, Machine
    from checker.interpreter.outline import Outline
    from checker.interpreter.statements import Signal

_VAIN = 6
_CONSTANT = (
    bool,
    int,
    float,
    str,
    bytes,
    type(None),
    External,
    ClassValue,
    ModuleValue,
    Function,
    Native,
    StaticMethod,
    ClassMethod,
    Property,
)
_FIXED = frozenset((*_CONSTANT, Unknown, Condition))
_Signature = tuple[Any, ...]


class Loop:
    """One loop that is being run.

    `source` has the number of each iteration's layer. `at` is the place of the iteration in it;
    `same` holds the places of those that have seen nothing else so far. `roots` are values that
    were reached past everything that is looked at anyway: globals, what classes and closures hold;
    `python` has Python's own names.
    `spoiled`: nothing follows from this iteration. `ran` is the number of the layer that it ran.
    """

    def __init__(self, outline: Outline, rows: Rows, python: dict[str, Value]) -> None:
        self.outline = outline
        self.python = python
        self.source = rows.numbers
        self.at = 0
        self.active = False
        self.spoiled = False
        self.ran: int | None = None
        self.same: set[int] = set()
        self.roots: dict[int, Value] = {}
        self.layers: dict[int, Instance] = {}
        self.ahead = StandIns(outline)
        self.looks = Looks()
        self.names: dict[Term, frozenset[str]] = {}
        self._places = {value: place for place, value in enumerate(self.source)}
        self._signatures: dict[int, _Signature | None] = {}
        self._asked: tuple[int, ...] = ()
        self._held: list[Value] = []
        self._found: list[_Signature | None] = []

    def begin(self, place: int) -> None:
        """An iteration begins."""
        self.at, self.active, self.spoiled, self.ran = place, True, False, None
        self.same = set(range(len(self.source)))
        self.looks.begin()
        self.ahead.leave()

    def pin(self) -> None:
        """Something was seen that no other iteration is known to see."""
        self.same = {self.at}

    def split(self, seen: tuple[Any, ...] | list[Any]) -> Any:
        """What this iteration sees, out of what each would; those that see another are apart."""
        mine = seen[self.at]
        self.same = {place for place in self.same if seen[place] == mine}
        return mine

    def saw(self, value: Value) -> None:
        """A value was reached that may change without being looked at."""
        if isinstance(value, (StaticMethod, ClassMethod)):
            value = value.function
        if type(value) is Native:
            if (
                getattr(value.call, "__closure__", None)
                and self.python.get(value.name) is not value
            ):
                self.roots.setdefault(id(value), value)  # a method of something
        elif (
            self.active
            and type(value) not in _FIXED
            and not isinstance(value, _CONSTANT)
            and id(value) not in self.outline.indices
        ):
            self.roots.setdefault(id(value), value)

    def entered(self, index: int) -> None:
        """A layer runs."""
        if index != self.source[self.at] or self.ran is not None:
            self.spoiled = True
        self.ran = index

    def touched(self, m: Machine, instance: Instance, read: str | None = None) -> None:
        """An attribute of a layer is set, or read: only of the iteration's own that may be.

        What stands for another one may be read.
        """
        index = self.outline.indices.get(id(instance))
        if index == AHEAD:
            self.ahead.touched(m, instance, read)
        elif index is not None and index != self.source[self.at]:
            self.spoiled = True

    # -- layers --------------------------------------------------------------------------------

    def item(self, items: list[Value] | tuple[Value, ...] | range, index: Numbered) -> Value:
        """`items[index]` for what differs from one iteration to the next."""
        place = int.__int__(index)
        if not index.is_live:
            return items[index.seen()]
        mine = items[place]
        found = [items[i] if -len(items) <= i < len(items) else self for i in index.values]
        return self.one_of(mine, found)

    def entry(self, table: dict[Value, Value], key: Numbered, default: Value) -> Value:
        """`table.get(key, default)`."""
        if not key.is_live:
            return table.get(key.seen(), default)
        found = [table.get(value, default) for value in key.values]
        return self.one_of(found[self.at], found)

    def one_of(self, mine: Value, found: list[Value]) -> Value:
        """This iteration's value, of those that each would take."""
        if isinstance(mine, Instance) and id(mine) in self.outline.indices:
            return self._next(mine, found) or self._layer(mine, found)
        if type(mine) is int:
            self.split([type(value) is int for value in found])
            return Numbered(self, tuple(v if type(v) is int else mine for v in found))
        if isinstance(mine, (bool, int, float, str, type(None))):
            kinds = [(type(value), value) for value in found]
            self.split([kind if kind[0] is type(mine) else None for kind in kinds])
        else:
            self.same = {place for place in self.same if found[place] is mine}
        return mine

    def _next(self, mine: Instance, found: list[Value]) -> Instance | None:
        """Each iteration takes the layer of the next one; None where this one does not.

        All made alike, and not built yet: one that is made like any of them stands for it. What it
        would have had done by the end of this iteration is nothing, or this iteration is apart.
        """
        numbers = (*self.source[1:], None)
        if self.outline.indices[id(mine)] != numbers[self.at]:
            return None
        kinds = self._kinds_of(found, numbers)
        mine_is = kinds[self.at]
        if mine_is is None:
            return None
        self.split(kinds)
        alike: list[Any] = [v for v, kind in zip(found, kinds, strict=True) if kind == mine_is]
        return self.ahead.show(mine, mine_is, alike)

    def _layer(self, mine: Instance, found: list[Value]) -> Instance:
        """Each iteration takes the layer of its own number, all made alike."""
        own = self.source[self.at]
        kinds = self._kinds(found)
        layers = dict(zip(self.source, found, strict=True))
        if self.layers and self.layers != layers:
            self.spoiled = True
        self.layers = layers
        if kinds[self.at] is None:
            if self.outline.indices.get(id(found[self.at])) != own:
                self.spoiled = True
            self.pin()
        else:
            self.split(kinds)
        return mine

    def _kinds(self, found: list[Value]) -> list[_Signature | None]:
        """What the layers that iterations take are made of; the same until one is built."""
        asked = (self.outline.built, *map(id, found))
        if self._asked != asked:
            self._asked, self._held = asked, found  # held, so that no other gets their numbers
            self._found = self._kinds_of(found, self.source)
        return self._found

    def _kinds_of(
        self, found: list[Value], numbers: tuple[int | None, ...]
    ) -> list[_Signature | None]:
        """What layers are made of, where they are those of these numbers."""
        return [
            self.signature(value) if self.outline.indices.get(id(value)) == number else None
            for value, number in zip(found, numbers, strict=True)
        ]

    def signature(self, layer: Instance) -> _Signature | None:
        """What a layer that is not built yet is going to be made of; None for a built one."""
        pending = self.outline.pending.get(id(layer))
        if pending is None:
            return None
        known = self._signatures.get(id(layer))
        if known is None:
            _, args, kwargs = pending
            given = (*args, *kwargs.values())
            kinds = tuple(_kind(value) for value in given)
            known = (id(layer.cls), len(args), tuple(kwargs), kinds)
            self._signatures[id(layer)] = known
        return known

    def arguments(
        self, m: Machine, layer: Instance, args: list[Value], kwargs: dict[str, Value]
    ) -> tuple[list[Value], dict[str, Value]]:
        """What the iteration's layer is made with: as what it is for every layer made alike."""
        index = self.outline.indices.get(id(layer))
        if index == AHEAD:
            return self.ahead.arguments(m, layer, args, kwargs)
        if not self.active or index is None or index != self.source[self.at]:
            return args, kwargs
        if self.layers.get(index) is not layer:
            self.pin()
            return args, kwargs
        mine = self.signature(layer)
        rows: list[tuple[list[Value], dict[str, Value]]] = []
        for number in self.source:
            other = self.layers[number]
            if other is not layer and self.signature(other) == mine:
                rows.append(self.outline.pending[id(other)][1:])
                continue
            rows.append((args, kwargs))
            if other is not layer:
                self.same.discard(self._places[number])
        listed = [
            self._argument(m, value, [row[0][place] for row in rows])
            for place, value in enumerate(args)
        ]
        named = {
            name: self._argument(m, value, [row[1][name] for row in rows])
            for name, value in kwargs.items()
        }
        return listed, named

    def _argument(self, m: Machine, mine: Value, each: list[Value]) -> Value:
        if type(mine) is int and any(value != mine for value in each):
            return Numbered(self, tuple(each))
        if type(mine) is str and any(value != mine for value in each):
            return m.unknown(f"a text that {DIFFERS}", harmless=True)
        self.saw(mine)
        return mine


def _kind(value: Value) -> Any:
    """What an argument has to share with another layer's."""
    if type(value) in (int, str):
        return type(value)
    if value is None or isinstance(value, (bool, float)):
        return value
    if isinstance(value, OneOf) or (isinstance(value, Unknown) and type(value) in _FIXED):
        things = map(id, havoc.things_of(value))
        return (type(value), *conditions.identity(value), *things)
    return id(value)


def run(m: Machine, frame: Frame, stmt: ast.For, rows: Rows) -> Signal | None:
    """A `for` loop, without the iterations that do what others did."""
    outline = m.outline
    assert outline is not None
    loop = m.loop = Loop(outline, rows, m.builtins)
    if frame.scope is not frame.module.scope:  # whose names others hold
        loop.looks.watch_scope(frame.scope)
    try:
        return _iterations(m, frame, stmt, loop, rows)
    finally:
        loop.active = False
        loop.looks.end()
        loop.ahead.leave()
        m.loop = None


def _iterations(m: Machine, frame: Frame, stmt: ast.For, loop: Loop, rows: Rows) -> Signal | None:
    before: State | None = None
    known: Repeated | None = None
    place, last, vain = 0, len(loop.source) - 1, 0
    while place <= last:
        m.tick()
        loop.begin(place)
        try:
            statements.assign(m, frame, stmt.target, rows.item(m, loop))
            signal = statements.run_block(m, frame, stmt.body)
        finally:
            loop.active = False
        if signal is not None and signal is not statements.CONTINUE:
            return None if signal is statements.BREAK else signal
        frame.node = stmt
        place += 1
        vain = vain + 1 if loop.spoiled else 0  # after many of these no state is written down
        if loop.spoiled:
            known = None
        first, until = place, place if known is None else known.until(place, last)
        tells = not loop.spoiled and loop.ran is not None
        is_new = tells and any(p >= place and not (known and known.has(p)) for p in loop.same)
        if not is_new and known is not None and known.jump(m, loop, first, until):
            before, place = None, until
            continue
        after = looping_writing.state(m, loop) if place < last and vain < _VAIN else None
        if after is None:
            before = known = None
            continue
        if tells and before == after:
            if known is None or known.state != after:
                known = Repeated(loop, after)
            known.add(loop)
            place = known.until(first, last)
            if place < last:
                known.look(m, loop)
            if place > first and not after.jump(m, loop, before, first, place):
                place = first
        elif is_new and before is not None and known and known.jump(m, loop, first, until):
            after, place = None, until
        before = after
    return statements.run_block(m, frame, stmt.orelse)


__all__ = ["Loop", "rows", "run"]
