"""``matrix``: every trainer with every server and target, under one configuration after the other.

First every trainer is read, then one server after the other is put beside all of them
(`checker.cells`). What was read and what was concluded is kept: a run that was stopped goes on
where it was, and one that is made again reads nothing that has not changed.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from checker.cells import Column, Columns
from checker.pairing import allow_deep_recursion
from checker.processes import in_order
from checker.report.matrix import Matrix

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from checker.report.matrix import Cell
    from checker.request import MatrixRequest


def matrix(request: MatrixRequest) -> Matrix:
    """All cells, or those of a shard.

    Raises:
        InputError: something the user gave cannot be used.
    """
    allow_deep_recursion()
    columns = Columns(request)
    progress = request.check.access.progress
    mine = _shard(request)
    trainers = [t for t in request.trainers if any(t in column.trainers for column in mine)]
    for done, found in enumerate(in_order(columns, trainers, few=1), start=1):
        columns.know(found)
        if progress is not None:
            progress(f"read {done} of {len(trainers)} trainers")
    cells: list[Cell] = []
    told = _Told(progress, len(mine))
    for found in in_order(columns, _apart(mine), few=1):
        cells += found
        told.one_more()
    order = {
        name: number
        for number, name in enumerate(
            (train, serve) for train in request.trainers for serve in request.servers
        )
    }
    cells.sort(key=lambda cell: order[cell.train, cell.serve])  # the rest is in order
    return Matrix(
        request.trainers,
        request.servers,
        columns.configurations,
        tuple(cells),
        request.shard,
        columns.targets,
    )


def _shard(request: MatrixRequest) -> list[Column]:
    """The columns of a shard: neighbouring releases, which have most in common, stay together."""
    number, of = request.shard
    pairs = [(serve, train) for serve in request.servers for train in request.trainers]
    start, end = (len(pairs) * n // of for n in (number - 1, number))
    columns: dict[str, list[str]] = {}
    for serve, train in pairs[start:end]:
        columns.setdefault(serve, []).append(train)
    return [Column(serve, tuple(trains)) for serve, trains in columns.items()]


def _apart(columns: Sequence[Column]) -> list[Column]:
    """The columns in an order in which two processes do not work out the same at the same time."""
    half = (len(columns) + 1) // 2
    pairs = zip(columns[:half], [*columns[half:], None], strict=False)
    return [column for pair in pairs for column in pair if column is not None]


class _Told:
    """Says how far it is, and how long it may take."""

    def __init__(self, progress: Callable[[str], None] | None, whole: int) -> None:
        self._progress = progress
        self._whole = whole
        self._done = 0
        self._began = time.monotonic()

    def one_more(self) -> None:
        """Another column is done."""
        self._done += 1
        if self._progress is not None:
            left = (time.monotonic() - self._began) / self._done * (self._whole - self._done)
            self._progress(f"{self._done} of {self._whole} servers, {_span(left)} left")


def _span(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes else f"{round(seconds)} s"
