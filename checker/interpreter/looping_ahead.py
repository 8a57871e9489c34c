"""Layers of other iterations that a loop over layers looks at (`checker.interpreter.looping`).

An iteration may read what the next one's layer is: whether it has some part, say. Another one is
built to be read in its place, of which only that is known which holds for all layers made alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from checker.interpreter.numbered import DIFFERS
from checker.interpreter.values import ClassValue, External, Instance, Unknown, Value

if TYPE_CHECKING:
    from checker.interpreter.machine import Machine
    from checker.interpreter.outline import Outline

AHEAD = -1
"""The number of what stands for a layer that comes later, and of its parts."""
_KNOWN = (bool, int, float, str, bytes, type(None), ClassValue, External, Unknown)
_Row = tuple[list[Value], dict[str, Value]]


class StandIns:
    """What stands for layers of the next iteration, by what those are made of.

    It can be read in the iteration in which it was asked for, and not be run or changed.
    """

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._made: dict[Any, Instance] = {}
        self._rows: dict[int, list[_Row]] = {}
        self._parts: dict[int, list[Instance]] = {}
        self._hidden: dict[int, set[str]] = {}

    def leave(self) -> None:
        """The iteration is over: what was asked for is another one's layer now."""
        for made in self._made.values():
            for instance in (made, *self._parts.get(id(made), ())):
                self._outline.passed[id(instance)] = instance

    def show(self, layer: Instance, kind: Any, alike: list[Instance]) -> Instance:
        """What stands for a layer that is made like others, and not built yet."""
        outline = self._outline
        made = self._made.get(kind)
        if made is None:
            made = self._made[kind] = Instance(layer.cls)
            _, args, kwargs = outline.pending[id(layer)]
            outline.pending[id(made)] = (made, args, kwargs)
            outline.indices[id(made)] = AHEAD
            outline.unsure.add(id(made))  # the server builds no such layer
            self._rows[id(made)] = [outline.pending[id(other)][1:] for other in alike]
        for instance in (made, *self._parts.get(id(made), ())):
            outline.passed.pop(id(instance), None)
        return made

    def arguments(
        self, m: Machine, made: Instance, args: list[Value], kwargs: dict[str, Value]
    ) -> _Row:
        """What it is made with: of numbers and texts that differ nothing is known."""
        rows = self._rows.pop(id(made))
        listed = [
            _common(m, value, [row[0][place] for row in rows]) for place, value in enumerate(args)
        ]
        named = {
            name: _common(m, value, [row[1][name] for row in rows])
            for name, value in kwargs.items()
        }
        return listed, named

    def touched(self, m: Machine, made: Instance, read: str | None) -> None:
        """It is read, or changed, which it cannot be; nor is read what may be changed itself."""
        outline = self._outline
        if any(outer is made for outer in outline.building):
            return
        if read is None:
            raise m.stuck(f"a change of another iteration's layer, which {DIFFERS}")
        if id(made) in outline.pending and id(made) not in outline.passed:
            outline.ensure(m, made)
            self._close(made)
        if read == "__dict__" or read in self._hidden.get(id(made), ()):
            raise m.stuck(f"{read} of another iteration's layer, which {DIFFERS}")

    def _close(self, made: Instance) -> None:
        """It is built."""
        parts = self._parts[id(made)] = []
        hidden = self._hidden[id(made)] = set()
        for name, value in made.attrs.items():
            if isinstance(value, Instance) and value.tainted is not None:
                self._outline.indices[id(value)] = AHEAD
                parts.append(value)
            elif not isinstance(value, _KNOWN):
                hidden.add(name)


def _common(m: Machine, mine: Value, each: list[Value]) -> Value:
    if type(mine) in (int, str) and any(value != mine for value in each):
        return m.unknown(f"what a layer is made with, which {DIFFERS}", harmless=True)
    return mine


__all__ = ["AHEAD", "StandIns"]
