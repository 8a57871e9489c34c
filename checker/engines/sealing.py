"""A digest of what a side came to, in which places count by their order only.

Two releases whose code says the same on other lines have the same digest: what is concluded from
the one is true of the other, and `places` tell where it is there.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from checker.graph.coding import CannotBeWritten, Writer
from checker.interpreter.machine import ConfigRead
from checker.interpreter.values import Unknown
from checker.location import Location

if TYPE_CHECKING:
    from collections.abc import Sequence

    from checker.sources import Tree

_APART = frozenset(("engine", "results"))
"""The engine's description is its own; what gave a term is noted for traced runs only."""


@dataclass(frozen=True, slots=True)
class Seal:
    """The digest of something, and every place in it, in order."""

    digest: str
    places: tuple[Location, ...]


def sealed(value: Any, trees: Sequence[Tree]) -> Seal | None:
    """The seal of a side, or of anything that is made of dataclasses, terms and plain values.

    None where something in it has no form that could be compared.
    """
    labels = {tree.label: number for number, tree in enumerate(trees)}
    held: list[tuple[Location, list[Any]]] = []

    def written(writer: Writer, item: Any) -> Any:
        if isinstance(item, Location):
            place: list[Any] = ["@"]
            held.append((item, place))
            return place
        if isinstance(item, Unknown):  # what is not known equals nothing
            raise CannotBeWritten(item.reason)
        if not is_dataclass(item) or isinstance(item, type):
            raise CannotBeWritten(type(item).__name__)
        said = []
        for part in fields(item):
            if part.name in _APART:
                continue
            inner = getattr(item, part.name)
            if isinstance(item, ConfigRead) and part.name == "default" and inner is not None:
                inner = repr(inner)
            said.append([part.name, writer.value(inner)])
        return ["o", type(item).__name__, *said]

    writer = Writer(written)
    try:
        content = writer.value(value)
    except CannotBeWritten:
        return None
    places = sorted({place for place, _ in held}, key=lambda p: _rank(p, labels))
    ranks = {place: rank for rank, place in enumerate(places)}
    for place, said in held:
        said += [labels.get(place.source, place.source), ranks[place]]
    serials: dict[Any, int] = {}
    for _, _, attrs, _ in writer.table:
        for pair in attrs:
            if pair[0] == "serial":  # numbers that only keep unknown values apart
                pair[1] = serials.setdefault(json.dumps(pair[1]), len(serials))
    text = json.dumps([content, writer.table], separators=(",", ":"))
    return Seal(hashlib.sha256(text.encode()).hexdigest(), tuple(places))


def _rank(place: Location, labels: dict[str, int]) -> tuple[Any, ...]:
    """Sorts by trees as they are given, then as places are sorted everywhere."""
    number = labels.get(place.source, len(labels))
    return number, place.source, place.path, place.line, place.column
