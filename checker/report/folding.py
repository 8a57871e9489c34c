"""Layers that repeat are drawn once: what follows the first of them stands in one node.

A draft of twenty layers would be a drawing that nobody reads. Where layer after layer computes the
same from the one before, with parameters whose names differ in the layer's number alone, the first
is drawn and the others are counted. Where the sides part nothing is left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from checker.report.drawing import Drawing, DrawnNode, Light

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_LEAST = 3
"""So many layers in a row, at least, are worth a node that stands for those after the first."""
_PARTS = 8
"""Sections that a layer may have."""
_SHARED = 8
"""A value that is used more often than anything within a layer goes past the layers."""
_NUMBER = re.compile(r"(\w+)\.(\d+)(?=\.|$)")


@dataclass(frozen=True, slots=True)
class _Section:
    """What lies between two values through which everything goes, the second one included.

    Sections of one `form` compute the same but for the `numbers` in their parameters' names;
    `named` is what is numbered.
    """

    nodes: tuple[int, ...]
    form: object
    numbers: frozenset[int]
    named: str


@dataclass(frozen=True, slots=True)
class _Run:
    """Layers that repeat: those after the first are `folded`, `last` is the value of the last."""

    folded: frozenset[int]
    last: int
    node: DrawnNode


def folded(drawing: Drawing) -> Drawing:
    """The drawing with layers that repeat drawn once."""
    starts: dict[int, list[int]] = {}
    for start, end in drawing.edges:
        starts.setdefault(end, []).append(start)
    runs = [*_runs(drawing, [*_sections(drawing, starts)])]
    runs = [run for run in runs if _is_closed(run, drawing.edges)]
    return _without(drawing, runs) if runs else drawing


def _without(drawing: Drawing, runs: Sequence[_Run]) -> Drawing:
    instead = {node: run for run in runs for node in run.folded}
    places: dict[int, int] = {}
    nodes: list[DrawnNode] = []
    for index, node in enumerate(drawing.nodes):
        run = instead.get(index)
        if run is None or index == run.last:
            places[index] = len(nodes)
            nodes.append(node if run is None else run.node)
    places |= {index: places[run.last] for index, run in instead.items()}
    edges: dict[tuple[int, int], None] = {}
    for start, end in drawing.edges:
        one, other = instead.get(start), instead.get(end)
        if one is not other or one is None:
            edges[places[start], places[end]] = None
    return Drawing(drawing.title, tuple(nodes), tuple(edges))


def _is_closed(run: _Run, edges: Iterable[tuple[int, int]]) -> bool:
    """Whether nothing of what is folded is used elsewhere, but the value of the last layer."""
    return not any(
        start in run.folded and end not in run.folded and start != run.last for start, end in edges
    )


def _sections(drawing: Drawing, starts: Mapping[int, list[int]]) -> Iterator[_Section]:
    """The drawing cut wherever all that is computed goes through one value."""
    uses: dict[int, list[int]] = {}
    for start, end in drawing.edges:
        uses.setdefault(start, []).append(end)
    aside = {n for n, node in enumerate(drawing.nodes)
             if node.source or len(uses.get(n, ())) > _SHARED}  # fmt: skip
    open_: set[int] = set()
    begun, waist = 0, -1
    for index in range(len(drawing.nodes)):
        open_ = {n for n in open_ if max(uses.get(n, [n])) > index}
        if index in aside:
            continue
        if not open_:
            nodes = tuple(range(begun, index + 1))
            yield _section(drawing, starts, nodes, waist)
            begun, waist = index + 1, index
        open_.add(index)


def _section(
    drawing: Drawing, starts: Mapping[int, list[int]], nodes: tuple[int, ...], waist: int
) -> _Section:
    if any(drawing.nodes[n].light is Light.DIFFERENT for n in nodes):
        return _Section(nodes, object(), frozenset(), "")
    forms: dict[int, object] = {}
    found: list[tuple[str, int]] = []
    for index in nodes:
        node = drawing.nodes[index]
        below = [
            forms.get(start, "the one before" if start == waist else (start,))
            for start in starts.get(index, ())
        ]
        found += [(match[1], int(match[2])) for match in _NUMBER.finditer(node.detail)]
        detail = _NUMBER.sub(r"\1.#", node.detail)
        said = (node.label, detail, node.wire, node.location, node.light, node.source)
        forms[index] = hash((said, tuple(sorted(below, key=repr))))
    names = [name for name, _ in found]
    return _Section(
        nodes,
        (forms[nodes[-1]], len(nodes)),
        frozenset(number for _, number in found),
        max(names, key=names.count, default=""),
    )


def _runs(drawing: Drawing, sections: Sequence[_Section]) -> Iterator[_Run]:
    """The longest runs of layers, from the first section on."""
    at = 0
    while at < len(sections):
        counts = {parts: _repeats(sections, at, parts) for parts in range(1, _PARTS + 1)}
        parts = max(counts, key=lambda p: (counts[p] * p if counts[p] >= _LEAST else 0, -p))
        count = counts[parts]
        first = _layer(sections[at : at + parts])
        if count < _LEAST or first is None:
            at += 1
            continue
        end = at + parts * count
        yield _run(drawing, sections[at + parts : end], first, count)
        at = end


def _run(drawing: Drawing, layers: Sequence[_Section], first: int, count: int) -> _Run:
    nodes = [node for section in layers for node in section.nodes]
    last, named = layers[-1].nodes[-1], layers[0].named or layers[-1].named
    detail = f"{named}.{first + 1} to {named}.{first + count - 1}"
    light = drawing.nodes[last].light
    node = DrawnNode(f"{count - 1} more layers like this", detail, "", None, light, stands=True)
    return _Run(frozenset(nodes), last, node)


def _repeats(sections: Sequence[_Section], at: int, parts: int) -> int:
    """How many layers of so many sections follow each other from here on."""
    first = sections[at : at + parts]
    number = _layer(first)
    if number is None:
        return 0
    count = 1
    while True:
        start = at + count * parts
        other = sections[start : start + parts]
        if len(other) < parts or _layer(other) != number + count:
            return count
        if any(one.form != two.form for one, two in zip(first, other, strict=True)):
            return count
        count += 1


def _layer(sections: Sequence[_Section]) -> int | None:
    """The number of a layer, where all that is numbered in it has that one."""
    numbers = {number for section in sections for number in section.numbers}
    return numbers.pop() if len(numbers) == 1 else None
