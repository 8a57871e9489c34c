"""What targets hand over, as a table and as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from checker.location import Location

Boundaries = tuple["int | str | None", ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One target, see `checker.engines.Captured`.

    `place` is where it raises or was not followed. `graph_boundaries` is given where captured
    graphs hand over something else, `graphs_reason` says why that is not known. `read`, `told` and
    `told_before_graphs` are where the server reads the ids and tells the target; `loop` and
    `joined` where the target runs its layers, and where the states are concatenated. `ignores_ids`:
    it hands over what it does without ids.
    """

    target: str
    ids: tuple[int, ...] | None
    boundaries: Boundaries | None
    aliased: tuple[int, ...]
    error: tuple[str, str] | None
    place: Location | None
    reason: str
    setter: Location | None
    kept: tuple[Location, ...]
    decisions: tuple[str, ...]
    graph_boundaries: Boundaries | None = None
    read: Location | None = None
    told: Location | None = None
    told_before_graphs: Location | None = None
    loop: Location | None = None
    joined: Location | None = None
    graphs_reason: str = ""
    ignores_ids: bool = False

    @property
    def is_decided(self) -> bool:
        """Whether nothing about it is left open."""
        if self.boundaries is None:
            return self.error is not None
        return None not in self.boundaries

    def to_json(self) -> dict[str, Any]:
        """The row as `DESIGN` has it."""
        error = None
        if self.error is not None:
            place = str(self.place) if self.place is not None else None
            error = {"type": self.error[0], "message": self.error[1], "location": place}
        return {
            "target": self.target,
            "ids": None if self.ids is None else list(self.ids),
            "boundaries": None if self.boundaries is None else list(self.boundaries),
            "error": error,
            "aliased": list(self.aliased),
            "reason": self.reason or None,
            "graph_boundaries": None
            if self.graph_boundaries is None
            else list(self.graph_boundaries),
        }


@dataclass(frozen=True, slots=True)
class Table:
    """The answer to ``capture``."""

    source: str
    layers: int
    ids: tuple[int, ...] | None
    rows: tuple[Row, ...]
    ranks: int = 1

    @property
    def exit_status(self) -> int:
        """0 when every row is decided, 3 when one is not."""
        return 0 if all(row.is_decided for row in self.rows) else 3

    def to_json(self) -> dict[str, Any]:
        """The table as `DESIGN` has it."""
        return {
            "source": self.source,
            "layers": self.layers,
            "ranks": self.ranks,
            "rows": [row.to_json() for row in self.rows],
        }


def render(table: Table) -> str:
    """The table, one target a line."""
    ids = "no ids" if table.ids is None else f"ids {_listed(table.ids)}"
    given = f"targets of {table.layers} layers"
    given += f" on {table.ranks} ranks" if table.ranks > 1 else ""
    lines = [f"{table.source}: what {given} hand over for {ids}", ""]
    width = max([len(row.target) for row in table.rows] or [0])
    lines += [f"  {row.target:<{width}}  {_rule(row):<16}  {_said(row)}" for row in table.rows]
    open_rows = [row for row in table.rows if not row.is_decided]
    lines += ["", f"{len(table.rows)} targets, {len(open_rows)} not proven"]
    return "\n".join(lines) + "\n"


def why(row: Row) -> str:
    """The path of one target's states, with lines."""
    lines = [row.target, f"  ids       {'none' if row.ids is None else _listed(row.ids)}"]
    places = (
        ("read at", row.read),
        ("told at", row.told),
        ("graphs", row.told_before_graphs),
        ("set by", row.setter),
        ("loop", row.loop),
        *(("kept at", place) for place in row.kept),
        ("joined at", row.joined),
    )
    lines += [f"  {name:<9} {place}" for name, place in places if place is not None]
    if row.graphs_reason:
        lines.append(f"  graphs    not proven: {row.graphs_reason}")
    lines += [f"  either    {text.removeprefix('fact: ')}" for text in row.decisions]
    lines.append(f"  gives     {_said(row)}")
    return "\n".join(lines) + "\n"


def offset(ids: tuple[int, ...], boundaries: Boundaries) -> int | None:
    """What is added to each id to give its boundary; None where that is not one number."""
    numbers = [b for b in boundaries if isinstance(b, int)]
    if len(numbers) != len(boundaries) or len(numbers) != len(set(ids)):
        return None
    steps = {b - i for b, i in zip(sorted(numbers), sorted(set(ids)), strict=True)}
    return steps.pop() if len(steps) == 1 else None


def _rule(row: Row) -> str:
    """How ids become boundaries, in words."""
    if row.ids is None:
        return "default"
    if row.ignores_ids:
        return "ids are ignored"
    step = None if row.boundaries is None else offset(row.ids, row.boundaries)
    if step is None:
        return "-"
    rule = "id" if step == 0 else f"id {'+' if step > 0 else '-'} {abs(step)}"
    return rule if list(row.ids) == sorted(row.ids) else f"{rule}, sorted"


def _said(row: Row) -> str:
    if row.error is not None:
        place = f" ({row.place})" if row.place is not None else ""
        return f"raises {row.error[0]}: {row.error[1]}{place}"
    if row.boundaries is None:
        place = f" ({row.place})" if row.place is not None else ""
        return f"not proven: {row.reason}{place}"
    text = _listed(row.boundaries)
    if row.aliased:
        text += f"; overwritten later: {_listed(row.aliased)}"
    if row.graph_boundaries is not None:
        text += f"; captured graphs: {_listed(row.graph_boundaries)}"
    return text


def _listed(values: tuple[Any, ...]) -> str:
    return "[" + ", ".join("?" if v is None else str(v) for v in values) + "]"
