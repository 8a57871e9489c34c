"""What a loop over decoder layers runs over (`checker.interpreter.looping`)."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from checker.interpreter.iteration import Counted, iterate
from checker.interpreter.numbered import Numbered
from checker.interpreter.values import Instance, Value

if TYPE_CHECKING:
    from checker.interpreter.looping import Loop
    from checker.interpreter.machine import Machine

_FEWEST = 6
"""Iterations below which none is left out."""


@dataclass(frozen=True, slots=True)
class Rows:
    """What a loop runs over: numbers, or layers (`over`), counted from `start` or not.

    `numbers` are those of the layers that its iterations run.
    """

    numbers: tuple[int, ...]
    layers: list[Value] | None = None
    over: Value = None
    start: int | None = None

    def item(self, m: Machine, loop: Loop) -> Value:
        """What the loop's target is bound to in this iteration."""
        if self.layers is None:
            return Numbered(loop, self.numbers)
        for one, two in zip(self.layers, iterate(m, self.over), strict=False):
            if one is not two:
                raise m.stuck("the layers change while they are run")
        layer = loop.one_of(self.layers[loop.at], self.layers)
        if self.start is None:
            return layer
        count = range(self.start, self.start + len(self.layers))
        return Numbered(loop, tuple(count)), layer


def rows(m: Machine, stmt: ast.For, source: Value) -> Rows | None:
    """What a loop runs over, if it is one whose iterations may be told apart."""
    outline = m.outline
    if outline is None or not outline.shortened or m.loop is not None:
        return None
    if outline.building or outline.depth or not outline.indices or m.item_done is not None:
        return None
    if type(source) is range:
        return Rows(tuple(source)) if len(source) >= _FEWEST else None
    over, start = source, None
    if type(source) is Counted and isinstance(stmt.iter, ast.Call):
        over, start = source.over, source.start
    summarised = isinstance(over, Instance) and over.cls.module and over.cls.module.is_stub
    if not (isinstance(over, (list, tuple)) or (summarised and over.cls.defines("__iter__"))):
        return None
    layers = iterate(m, over)
    numbers = [outline.indices.get(id(layer)) for layer in layers]
    if len(layers) < _FEWEST or None in numbers:
        return None
    return Rows(tuple(number for number in numbers if number is not None), layers, over, start)


__all__ = ["Rows", "rows"]
