"""Trainers, servers and configurations: cells as a heat map, JSON, Markdown, and their coverage."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from checker.errors import InputError
from checker.report.model import EXIT_STATUS, Status, Verdict, verdict_of
from checker.report.terminal import Paint, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from checker.location import Location
    from checker.report.model import ClauseResult, Json

SCHEMA = 2
_FREQUENT = 10
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_MARKS = {Verdict.AGREE: ".", Verdict.UNPROVEN: "?"}
_STYLES = {Verdict.AGREE: "green", Verdict.DIFFER: "red", Verdict.UNPROVEN: "yellow"}


@dataclass(frozen=True, slots=True)
class Place:
    """A line of one of the two sides."""

    server: bool
    location: Location


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was concluded of two graphs.

    `violated` says what is wrong of each clause, with a line where there is one; `unproven` has the
    reasons; `counts` says how many clauses ended in which status.
    """

    verdict: Verdict
    violated: Mapping[str, tuple[str, Place | None]] = field(default_factory=dict)
    unproven: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cell:
    """One pair of releases for one target under one configuration.

    `violated` says what is wrong of each clause, with a line of the server where there is one;
    `unproven` has the reasons; `counts` says how many clauses ended in which status; `renames` are
    the tensor names that a conversion has changed for this server.
    """

    train: str
    serve: str
    target: str
    configuration: str
    verdict: Verdict
    violated: Mapping[str, str] = field(default_factory=dict)
    unproven: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    renames: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Where it stands in a matrix."""
        return self.train, self.serve, self.target, self.configuration

    @property
    def broken(self) -> tuple[str, ...]:
        """The clauses that are violated."""
        return tuple(self.violated)

    def to_json(self) -> dict[str, Json]:
        """The cell as its schema has it."""
        return {
            "train": self.train,
            "serve": self.serve,
            "target": self.target,
            "configuration": self.configuration,
            "verdict": self.verdict.value,
            "violated": dict(self.violated),
            "unproven": dict(self.unproven),
            "counts": dict(self.counts),
            "renames": list(self.renames),
        }


def outcome_of(results: Sequence[ClauseResult]) -> Outcome:
    """What a matrix says of results."""
    counts = Counter(clause.status.value for clause in results)
    return Outcome(
        verdict_of(results),
        {c.id: (c.message, _place(c)) for c in results if c.status is Status.VIOLATED},
        {c.id: c.reason or "" for c in results if c.undecided},
        dict(sorted(counts.items())),
    )


def _place(clause: ClauseResult) -> Place | None:
    for server, side in ((True, clause.serve), (False, clause.train)):
        if side.locations:
            return Place(server, side.locations[0])
    return None


def cell_of(
    key: tuple[str, str, str, str], outcome: Outcome, renames: tuple[str, ...] = ()
) -> Cell:
    """What was concluded, in the cell where it belongs."""
    violated = {
        clause: text if place is None else f"{text} ({place.location})"
        for clause, (text, place) in outcome.violated.items()
    }
    return Cell(*key, outcome.verdict, violated, outcome.unproven, outcome.counts, renames)


def read_cell(data: Mapping[str, Any]) -> Cell:
    """A cell from its JSON."""
    return Cell(
        data["train"],
        data["serve"],
        data["target"],
        data["configuration"],
        Verdict(data["verdict"]),
        dict(data["violated"]),
        dict(data["unproven"]),
        dict(data["counts"]),
        tuple(data["renames"]),
    )


@dataclass(frozen=True, slots=True)
class Matrix:
    """The whole answer of ``matrix``, or of a shard of it. Names stand in the order asked for."""

    trainers: tuple[str, ...]
    servers: tuple[str, ...]
    configurations: Mapping[str, Mapping[str, Any]]
    cells: tuple[Cell, ...]
    shard: tuple[int, int] = (1, 1)
    targets: tuple[str, ...] = ()

    @property
    def blocks(self) -> Iterator[tuple[str, str, str]]:
        """Target, configuration, and what a table of the two is called."""
        for target in self.targets:
            for name in self.configurations:
                yield target, name, name if len(self.targets) < 2 else f"{target}, {name}"

    def table(self) -> dict[tuple[str, str, str, str], Cell]:
        """The cells by where they stand."""
        return {cell.key: cell for cell in self.cells}

    @property
    def missing(self) -> int:
        """How many cells are not there, where it is no shard: some of the parts were not given."""
        whole = len(self.trainers) * len(self.servers) * len([*self.blocks])
        return whole - len(self.cells) if self.shard == (1, 1) else 0

    @property
    def exit_status(self) -> int:
        """That of the worst cell; one that is not there is not proven."""
        verdicts = {cell.verdict for cell in self.cells}
        verdicts |= {Verdict.UNPROVEN} if self.missing else set()
        order = (Verdict.DIFFER, Verdict.UNPROVEN, Verdict.AGREE)
        return EXIT_STATUS[next((v for v in order if v in verdicts), Verdict.AGREE)]

    def to_json(self) -> dict[str, Json]:
        """The matrix as its schema has it."""
        return {
            "schema": SCHEMA,
            "trainers": list(self.trainers),
            "servers": list(self.servers),
            "targets": list(self.targets),
            "configurations": {name: dict(s) for name, s in self.configurations.items()},
            "shard": list(self.shard),
            "cells": [cell.to_json() for cell in self.cells],
        }


def read_matrix(text: str, place: str) -> Matrix:
    """A matrix from the JSON that was printed of it.

    Raises:
        InputError: it is none.
    """
    try:
        data = json.loads(text)
        if data["schema"] != SCHEMA:
            raise InputError(f"is of schema {data['schema']}", "make it with this version", place)
        return Matrix(
            tuple(map(str, data["trainers"])),
            tuple(map(str, data["servers"])),
            {str(name): dict(switches) for name, switches in data["configurations"].items()},
            tuple(read_cell(cell) for cell in data["cells"]),
            (int(data["shard"][0]), int(data["shard"][1])),
            tuple(map(str, data["targets"])),
        )
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        raise InputError(
            "is no matrix", "give what `matrix --format json` printed", place
        ) from None


def merged(parts: Iterable[Matrix]) -> Matrix:
    """All parts as one: cells that several have count once, in the order of the whole.

    Raises:
        InputError: two parts are of different matrices, or say different things of one cell.
    """
    first, *others = parts
    cells: dict[tuple[str, str, str, str], Cell] = {}
    for part in (first, *others):
        if _whole(part) != _whole(first):
            raise InputError("are parts of different matrices", "merge shards of one", "merge")
        for cell in part.cells:
            if cells.setdefault(cell.key, cell) != cell:
                what = ", ".join(cell.key)
                raise InputError(f"{what} differs between parts", "make both anew", "merge")
    order = [
        (train, serve, target, name)
        for train in first.trainers
        for serve in first.servers
        for target, name, _ in first.blocks
    ]
    found = tuple(cells[key] for key in order if key in cells)
    return Matrix(first.trainers, first.servers, first.configurations, found, targets=first.targets)


def _whole(part: Matrix) -> tuple[Any, ...]:
    """What all parts of one matrix have in common."""
    return part.trainers, part.servers, part.targets, dict(part.configurations)


# -- for people -----------------------------------------------------------------------------------


def render(matrix: Matrix, paint: Paint = Paint()) -> str:  # noqa: B008 - a value
    """A heat map for each target and configuration, and what its letters stand for."""
    return "\n".join(_lines(matrix, paint)) + "\n"


def _lines(matrix: Matrix, paint: Paint) -> Iterator[str]:
    letters = _letters(matrix.cells)
    table = matrix.table()
    wide = max((len(name) for name in matrix.trainers), default=0)
    for target, name, title in matrix.blocks:
        yield paint("bold", printable(title))
        for train in matrix.trainers:
            row = [table.get((train, serve, target, name)) for serve in matrix.servers]
            yield f"  {printable(train):<{wide}}  " + "".join(_mark(c, letters, paint) for c in row)
        yield ""
    servers = matrix.servers
    columns = f"columns: {servers[0]} to {servers[-1]}, in the order asked for"
    yield printable(columns if len(servers) > 1 else f"column: {servers[0]}")
    yield ". agree   ? unproven   (blank) not asked   letters: violated"
    for violated, letter in letters.items():
        yield f"  {letter}  {', '.join(violated)}"
    counts = Counter(cell.verdict for cell in matrix.cells)
    said = ", ".join(f"{counts[v]} {v.value}" for v in Verdict if counts[v])
    lacks = f"; {matrix.missing} are missing: merge every shard" if matrix.missing else ""
    yield f"{len(matrix.cells)} cells: {said or 'none'}{lacks}"


def _letters(cells: Iterable[Cell]) -> dict[tuple[str, ...], str]:
    """A letter for each set of violated clauses, the frequent ones first."""
    counts = Counter(cell.broken for cell in cells if cell.violated)
    ranked = sorted(counts, key=lambda violated: (-counts[violated], violated))
    return {v: _LETTERS[n] if n < len(_LETTERS) else "#" for n, v in enumerate(ranked)}


def _mark(cell: Cell | None, letters: Mapping[tuple[str, ...], str], paint: Paint) -> str:
    if cell is None:
        return " "
    return paint(_STYLES[cell.verdict], letters.get(cell.broken) or _MARKS[cell.verdict])


def markdown(matrix: Matrix) -> str:
    """A table for each target and configuration: servers down, trainers across."""
    table = matrix.table()
    lines: list[str] = []
    for target, name, title in matrix.blocks:
        lines += [f"### {title}", "", "| | " + " | ".join(matrix.trainers) + " |"]
        lines.append("| --- " * (len(matrix.trainers) + 1) + "|")
        for serve in matrix.servers:
            row = [_words(table.get((train, serve, target, name))) for train in matrix.trainers]
            lines.append(f"| {serve} | " + " | ".join(row) + " |")
        lines.append("")
    return "\n".join(lines)


def _words(cell: Cell | None) -> str:
    if cell is None:
        return ""
    if cell.violated:
        return ", ".join(f"`{clause}`" for clause in cell.violated)
    return cell.verdict.value


# -- coverage -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Share:
    """How many clauses of all cells ended how, and the most frequent reasons for unproven."""

    cells: int
    counts: Mapping[str, int]
    reasons: tuple[tuple[str, int], ...]

    def to_json(self) -> dict[str, Json]:
        """The share as JSON."""
        reasons: list[Json] = [{"reason": r, "clauses": n} for r, n in self.reasons]
        return {
            "schema": SCHEMA,
            "cells": self.cells,
            "counts": dict(self.counts),
            "decided": self.decided,
            "reasons": reasons,
        }

    @property
    def decided(self) -> float:
        """The part of the clauses that apply which is decided."""
        right = self.counts[Status.HOLDS.value] + self.counts[Status.VIOLATED.value]
        whole = right + self.counts[Status.UNPROVEN.value]
        return right / whole if whole else 1.0


def coverage(matrix: Matrix) -> Share:
    """What share of a matrix is decided."""
    counts = {status.value: 0 for status in Status}
    reasons: Counter[str] = Counter()
    for cell in matrix.cells:
        for status, count in cell.counts.items():
            counts[status] = counts.get(status, 0) + count
        reasons.update(cell.unproven.values())
    ranked = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    return Share(len(matrix.cells), counts, tuple(ranked[:_FREQUENT]))


def render_coverage(share: Share) -> str:
    """The share for people."""
    lines = [f"{share.cells} cells"]
    lines += [f"  {count:>7}  {status}" for status, count in share.counts.items()]
    lines.append(f"  {share.decided:>7.2%}  of the clauses that apply are decided")
    if share.reasons:
        lines.append("most frequent reasons for unproven")
        lines += [f"  {count:>7}  {printable(reason)}" for reason, count in share.reasons]
    return "\n".join(lines) + "\n"
