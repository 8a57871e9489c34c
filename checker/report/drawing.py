"""An architecture as a graph to look at: its nodes and edges, and where each node is put."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from checker._compat import StrEnum

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from checker.location import Location

_SWEEPS = 6
"""After so many passes up and down, the order within rows hardly changes any more."""


class Light(StrEnum):
    """How a node is shown: `DIFFERENT` is where the sides part, `AFFECTED` what follows from it."""

    PLAIN = "plain"
    AFFECTED = "affected"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """A value. `label` is its operator, `detail` its parameters, `wire` what the contract calls it.

    `source` marks values that the graph starts from: inputs, and what an earlier step left;
    `stands` one that stands for layers which are not drawn.
    """

    label: str
    detail: str = ""
    wire: str = ""
    location: Location | None = None
    light: Light = Light.PLAIN
    source: bool = False
    stands: bool = False


@dataclass(frozen=True, slots=True)
class Drawing:
    """A graph: edges lead from the index of an operand to the index of what uses it.

    Operands come before what uses them, as `layout` wants it.
    """

    title: str
    nodes: tuple[DrawnNode, ...]
    edges: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """Where nodes are put: row and column (in steps of half a node), and the bends of edges."""

    spots: tuple[tuple[float, int], ...]
    bends: Mapping[tuple[int, int], tuple[tuple[float, int], ...]]
    width: float
    rows: int


def layout(drawing: Drawing) -> Layout:
    """Rows by the longest way from an input, and within rows the order with the fewest crossings.

    This is the usual layered drawing (Sugiyama, Tagawa, Toda 1981): edges over several rows get a
    stand-in on each, and rows are ordered by the mean place of their neighbours.
    """
    count = len(drawing.nodes)
    rows = _rows(count, drawing.edges)
    slots: list[list[int]] = [[] for _ in range(max(rows, default=-1) + 1)]
    for node, row in enumerate(rows):
        slots[row].append(node)
    above: dict[int, list[int]] = {n: [] for n in range(count)}
    below: dict[int, list[int]] = {n: [] for n in range(count)}
    chains: dict[tuple[int, int], list[int]] = {}
    fresh = count
    for start, end in drawing.edges:
        chain = [start]
        for row in range(rows[start] + 1, rows[end]):
            slots[row].append(fresh)
            above[fresh], below[fresh] = [], []
            chain.append(fresh)
            fresh += 1
        chain.append(end)
        for one, other in pairwise(chain):
            below[one].append(other)
            above[other].append(one)
        chains[start, end] = chain
    _order(slots, above, below)
    place, width = _columns(slots, above, below)
    row_of = {node: row for row, nodes in enumerate(slots) for node in nodes}
    bends = {
        edge: tuple((place[node], row_of[node]) for node in chain[1:-1])
        for edge, chain in chains.items()
    }
    return Layout(tuple((place[n], rows[n]) for n in range(count)), bends, width, len(slots))


def _rows(count: int, edges: Iterable[tuple[int, int]]) -> list[int]:
    """The row of each node; what starts the graph stands right above what first uses it."""
    ends: dict[int, list[int]] = {}
    starts: dict[int, list[int]] = {}
    for start, end in edges:
        ends.setdefault(start, []).append(end)
        starts.setdefault(end, []).append(start)
    rows = [0] * count
    for node in range(count):
        rows[node] = max((rows[s] + 1 for s in starts.get(node, ())), default=0)
    for node in range(count):
        if node not in starts and node in ends:
            rows[node] = min(rows[e] for e in ends[node]) - 1
    return rows


def _order(
    slots: list[list[int]], above: Mapping[int, list[int]], below: Mapping[int, list[int]]
) -> None:
    """Sorts each row by the mean place of its neighbours, down and up in turns."""
    at = {node: i for nodes in slots for i, node in enumerate(nodes)}
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        beside = above if down else below
        for row in slots if down else reversed(slots):
            kept = {node: i for i, node in enumerate(row)}
            row.sort(
                key=lambda node: (
                    sum(at[n] for n in beside[node]) / len(beside[node])
                    if beside[node]
                    else kept[node],
                    kept[node],
                )
            )
            at.update((node, i) for i, node in enumerate(row))


def _columns(
    slots: list[list[int]], above: Mapping[int, list[int]], below: Mapping[int, list[int]]
) -> tuple[dict[int, float], float]:
    """A column for each node: as near to its neighbours as its place within the row allows."""
    place = {node: float(i) for row in slots for i, node in enumerate(row)}
    for sweep in range(_SWEEPS * 2):
        for row in slots if sweep % 2 == 0 else reversed(slots):
            wanted = []
            for node in row:
                near = (above if sweep % 2 == 0 else below)[node] or [node]
                wanted.append(sum(place[n] for n in near) / len(near))
            _spread(row, wanted, place)
    least = min(place.values(), default=0.0)
    place = {node: column - least for node, column in place.items()}
    return place, max(place.values(), default=0.0) + 1


def _spread(row: list[int], wanted: list[float], place: dict[int, float]) -> None:
    """Puts a row's nodes where they want to be, at least one apart and in their order.

    Nodes that would overlap form a group, whose members share the mean of their wishes.
    """
    groups: list[tuple[float, int]] = []  # the first member's wish, and how many there are
    for wish in wanted:
        groups.append((wish, 1))
        while len(groups) > 1 and groups[-2][0] + groups[-2][1] > groups[-1][0]:
            (a, m), (b, n) = groups[-2:]
            groups[-2:] = [((a * m + (b - m) * n) / (m + n), m + n)]
    index = 0
    for first, members in groups:
        for offset in range(members):
            place[row[index]] = first + offset
            index += 1
