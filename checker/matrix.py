"""``matrix``: every trainer with every server, under one configuration after the other.

What one pair of releases gives is kept as an answer: a run that was stopped goes on where it was,
and one that is made again reads nothing that has not changed.
"""

from __future__ import annotations

import gc
import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from checker.answers import Answer, Answers, verify_question
from checker.contract.derived import derived
from checker.contract.loading import load_exploration
from checker.drafts import place_of, written
from checker.exploring import target_for
from checker.pairing import allow_deep_recursion, open_pair, pairing
from checker.processes import in_order
from checker.report.matrix import Cell, Matrix, cell_of, read_cell
from checker.report.model import Status
from checker.verify import Reader

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from checker.pairing import Opened, Pairing
    from checker.report.model import Report
    from checker.request import MatrixRequest, VerifyRequest

_GIVEN = "given"
_MOST = 4096
"""Pairs of releases whose cells are kept."""


def matrix(request: MatrixRequest) -> Matrix:
    """All cells, or those of a shard.

    Raises:
        InputError: something the user gave cannot be used.
    """
    allow_deep_recursion()
    pairs = [(train, serve) for train in request.trainers for serve in request.servers]
    number, of = request.shard
    mine = pairs[number - 1 :: of]
    worker = _Worker(request)
    progress, began = request.check.access.progress, time.monotonic()
    cells: list[Cell] = []
    for count, found in enumerate(in_order(worker, mine, few=1), start=1):
        cells += found
        if progress is not None:
            left = (time.monotonic() - began) / count * (len(mine) - count)
            progress(f"{count} of {len(mine)} pairs, {_span(left)} left")
    return Matrix(
        request.trainers, request.servers, worker.configurations, tuple(cells), request.shard
    )


def _span(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes else f"{round(seconds)} s"


class _Worker:
    """Checks pairs of releases."""

    def __init__(self, request: MatrixRequest) -> None:
        self._request = request
        self._exploration = load_exploration()
        given = request.check.train_config is not None or request.check.serve_config is not None
        self.configurations: Mapping[str, Mapping[str, Any]] = (
            {_GIVEN: {}} if given else self._exploration.matrix
        )
        self._given = given

    def elsewhere(self) -> _Worker:
        """The same in another process, without a word."""
        check = self._request.check
        quiet = replace(check, access=replace(check.access, progress=None))
        return _Worker(replace(self._request, check=quiet))

    def work(self, pair: tuple[str, str]) -> list[Cell]:
        """The cells of one pair: those that were found before, or new ones."""
        train, serve = pair
        check = replace(self._request.check, train=train, serve=serve)
        question = {**verify_question(check, []), "command": "cells"}
        question["configurations"] = {n: dict(s) for n, s in self.configurations.items()}
        answers = Answers(question, check.access, "cells", _MOST)
        known = answers.known()
        if known is not None:
            return [read_cell(cell) for cell in json.loads(known.output)]
        opened: list[Opened] = []
        cells = [*self._cells(check, opened)]
        text = json.dumps([cell.to_json() for cell in cells])
        answers.keep(Answer(text, 0), opened)
        gc.collect()  # graphs of a pair are of no use to the next
        return cells

    def _cells(self, check: VerifyRequest, opened: list[Opened]) -> Iterator[Cell]:
        pair = pairing(check) if self._given else open_pair(check)
        opened += [pair.trainer, pair.server]
        if not self._given:
            pair = replace(pair, target=target_for(pair, self._exploration))
        reader = Reader()
        for name, changed in self.configurations.items():
            asked = pair if self._given else self._set(pair, changed)
            report = reader.brief(asked, check)
            if not self._given and not asked.renames:
                pair, report = self._named(pair, asked, check, reader, report)
            renames = [f"{old}={new}" for old, new in pair.renames]
            yield cell_of(check.train, check.serve, name, report, renames)

    def _set(self, pair: Pairing, changed: Mapping[str, Any]) -> Pairing:
        """The pair under a named configuration: the plain draft with these switches."""
        ids, layers = self._exploration.layer_ids, pair.contract.target["layers"]
        count = (pair.target or {}).get(layers) or self._exploration.target[layers]
        switches = {
            name: switch.default
            for name, switch in pair.contract.switches.items()
            if place_of(switch, pair.trainer.engine) is not None
        }
        switches |= {**self._exploration.draft, ids: self._exploration.boundaries, **changed}
        said = {"derived": {ids: switches[ids]}}
        switches[ids] = derived(said, {"layers": count})[ids]
        train, serve = (
            written(pair.contract, ids, switches, engine)
            for engine in (pair.trainer.engine, pair.server.engine)
        )
        return replace(pair, train_config=train, serve_config=serve)

    def _named(
        self, pair: Pairing, asked: Pairing, check: VerifyRequest, reader: Reader, report: Report
    ) -> tuple[Pairing, Report]:
        """The pair with the tensor names that its server knows, as a conversion gives them."""
        clause = pair.contract.fact_owner("weights")
        renames = tuple(pair.server.engine.draft_config.renames.items())
        if clause is None or not renames or _lost(report) == 0:
            return pair, report
        other = reader.brief(replace(asked, renames=renames), check)
        if _lost(other) < _lost(report):
            return replace(pair, renames=renames), other
        return pair, report


def _lost(report: Report) -> int:
    """How many tensors reach no parameter; none where the server raises before it loads them."""
    if all(c.status is not Status.VIOLATED for c in report.clauses):
        return 0
    return sum(parameter is None for parameter in report.facts.serve.weights.values())
