"""``solve``: the served configuration, launch flags and renames under which every clause holds.

What is tried comes from the contract: spellings of switches, what an engine's `draft-config` says
of its keys, renames and flags, and the ids that the target itself asks for. Each try is judged as
``verify`` judges it, and so is the answer.
"""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from checker.configs import ConfigFile
from checker.contract.loading import load_exploration
from checker.drafts import flattened, remove, state, trained_switches, written
from checker.errors import InputError
from checker.graph.terms import Pool
from checker.judging.wording import spelled, stated
from checker.launch import parse_launch
from checker.pairing import allow_deep_recursion, config_of, open_pair
from checker.report.model import RAISES, Status, Verdict
from checker.report.solution import Solution
from checker.request import Rename
from checker.solving import Try, faults, launch_line, neighbours
from checker.verification import Reader

if TYPE_CHECKING:
    from collections.abc import Mapping

    from checker.judging.judge import Case
    from checker.pairing import Opened, Pairing
    from checker.report.model import Report
    from checker.request import VerifyRequest

_MOST = 80
"""Configurations that are tried; the last word says how many were."""
_OF_TRAINING = ("training-target", "metrics")
"""Facts of training and of the target alone."""


def solve(request: VerifyRequest, opened: list[Opened] | None = None) -> Solution:
    """What the server has to be given, or the clauses that nothing it is given mends.

    Args:
        request: what is asked; a served configuration, a launch line and renames are what the user
            has so far.
        opened: gets the sides that were opened: what the answer depends on.

    Raises:
        InputError: something the user gave cannot be used.
    """
    allow_deep_recursion()
    if request.target is None:
        raise InputError(
            "a target is needed: its class decides what a layer id means",
            "give --target config.json or CLASS:LAYERS",
            "--target",
        )
    pair = open_pair(request)
    if opened is not None:
        opened += [pair.trainer, pair.server]
    train = config_of(request.train_config, pair.trainer.engine, "--train-config", pair.contract)
    had = None if request.serve_config is None else dict(request.serve_config.data)
    return _Solver(replace(pair, train_config=train), request, had).solution()


class _Solver:
    """Tries one thing after the other, and remembers what came of it."""

    def __init__(self, pair: Pairing, request: VerifyRequest, had: dict[str, Any] | None) -> None:
        self._pair = pair
        self._request = request
        self._had = had
        self._reader = Reader()
        self._ids = load_exploration().layer_ids
        self._tried: dict[str, tuple[Case, Report]] = {}
        self._learner = pair.trainer.subject(pair.stubs)
        trained = pair.trained(self._learner, Pool(), pair.train_config)
        engine = pair.trainer.engine
        said = trained_switches(pair.contract, engine, pair.train_config, trained.switches)
        self._switches = dict(said)
        self._switches[self._ids] = trained.aux_boundaries

    def solution(self) -> Solution:
        """The best of what was tried, as it came to be."""
        best, before = self._first()
        if not self._in_vain(best):
            best = self._improved(best)
        if self._report(best).verdict is Verdict.AGREE:
            best = self._bare(best)
        case, report = self._read(best)
        report = self._reader.report(*self._asked(best))
        open_ = {c.id for c in report.clauses if c.status is Status.VIOLATED or c.undecided}
        whole = [r for _, r in self._tried.values() if not _raises(r)] or [report]
        always = {i for i in open_ if all(i in _open(r) for r in whole)}
        return Solution(
            report,
            best.config,
            self._had,
            dict(best.launch),
            self._given_flags(),
            launch_line(
                self._request.launch or "",
                best.launch,
                self._pair.server.engine.started_by,
            ),
            best.renames,
            tuple((r.old, r.new) for r in self._request.renames),
            len(self._tried),
            tuple(sorted(always)),
            None if before is None else before.verdict,
            None if case.serve.captured is None else case.serve.captured.boundaries,
            case.train.failure is None,
        )

    # -- where to start ---------------------------------------------------------------------------

    def _first(self) -> tuple[Try, Report | None]:
        """The best of what the user has, that with what is wrong mended, and all written anew."""
        launch, drafting = self._given_flags() or {}, self._pair.server.engine.draft_config.launch
        if not {*launch} & {*drafting}:  # nothing is said about drafting, and the server would not
            launch = {**launch, **drafting}
        renames = tuple((r.old, r.new) for r in self._request.renames)
        fresh = Try(self._written(self._switches), launch, renames)
        asked = self._read(fresh)[0].serve.asking
        if asked is not None:
            config = copy.deepcopy(fresh.config)
            places = spelled(self._pair.contract.switches[self._ids], self._pair.server.engine)
            state(config, stated(config, places)[0] or places[0], asked)
            fresh = replace(fresh, config=config)
        if self._had is None:
            return fresh, None
        own = Try(self._had, launch, renames)
        had = self._report(own)
        if all(key in self._had for key in self._pair.trainer.engine.config_requires):
            return self._best([own, fresh]), had  # the trainer's own file: nothing of it is kept
        mended = self._over(self._had, fresh.config, _open(had))
        starts = [own, replace(own, config=mended)]
        starts += [replace(own, config=self._over(self._had, fresh.config, None)), fresh]
        return self._best(starts), had

    def _given_flags(self) -> dict[str, Any] | None:
        line = self._request.launch
        return parse_launch(line, self._pair.server.engine.started_by) if line else None

    def _written(self, switches: Mapping[str, Any]) -> dict[str, Any]:
        contract, engine = self._pair.contract, self._pair.server.engine
        keys = dict(flattened(engine.draft_config.keys))
        stated = {
            name: value
            for name, value in switches.items()
            if not set(spelled(contract.switches[name], engine)) & set(keys)
        }
        return written(contract, self._ids, stated, engine)

    def _over(
        self, had: dict[str, Any], fresh: dict[str, Any], only: set[str] | None
    ) -> dict[str, Any]:
        """The user's configuration with the switches written anew of which `only` clauses speak."""
        config = copy.deepcopy(had)
        engine = self._pair.server.engine
        for switch in self._pair.contract.switches.values():
            if only is not None and not only & {*switch.clauses}:
                continue
            places = spelled(switch, engine)
            for place in places:
                remove(config, place)
            where, value = stated(fresh, places)
            if where is not None:
                state(config, where, value)
        for place, value in flattened(engine.draft_config.keys):
            if only is None or stated(config, (place,))[0] is None:
                state(config, place, value)
        return config

    # -- the search ---------------------------------------------------------------------------

    def _improved(self, start: Try) -> Try:
        """The best that changing one thing after the other leads to."""
        best, better = start, True
        while better and self._report(best).verdict is not Verdict.AGREE:
            better = False
            case, report = self._read(best)
            for other in neighbours(best, case, report, self._pair, self._ids):
                if len(self._tried) >= _MOST:
                    return best
                if self._score(other) < self._score(best):
                    best, better = other, True
                    break
        return best

    def _in_vain(self, best: Try) -> bool:
        """Whether all that is open lies in what was trained or asked: nothing served mends that."""
        case, report = self._read(best)
        if case.train.failure is not None:
            return True
        contract, is_open = self._pair.contract, _open(report)
        if any(c.status is Status.VIOLATED for c in report.clauses):
            return False
        unasked = case.serve.captures and case.serve.captured is None
        owners = (contract.fact_owner(fact) for fact in _OF_TRAINING)
        return unasked or is_open <= {clause.id for clause in owners if clause is not None}

    def _bare(self, best: Try) -> Try:
        """Without switches that the server does not read and that say what it does anyway."""
        case, _ = self._read(best)
        read = {r.key for r in case.serve.reads}
        config = copy.deepcopy(best.config)
        kept = () if self._had is None else dict(flattened(self._had))
        for switch in self._pair.contract.switches.values():
            for place in spelled(switch, self._pair.server.engine):
                there, value = stated(config, (place,))
                unread = place.rpartition(".")[2] not in read
                if unread and there and value == switch.default and place not in kept:
                    remove(config, place)
        bare = replace(best, config=config)
        return bare if self._report(bare).verdict is Verdict.AGREE else best

    def _best(self, tries: list[Try]) -> Try:
        best = tries[0]
        for other in tries[1:]:
            if self._score(other) < self._score(best):
                best = other
        return best

    # -- trying -------------------------------------------------------------------------------

    def _read(self, one: Try) -> tuple[Case, Report]:
        known = self._tried.get(one.key)
        if known is None:
            progress = self._request.access.progress
            if progress is not None:
                progress(f"trying configuration {len(self._tried) + 1}")
            known = self._tried[one.key] = self._reader.read(*self._asked(one), onward=False)
        return known

    def _report(self, one: Try) -> Report:
        return self._read(one)[1]

    def _asked(self, one: Try) -> tuple[Pairing, VerifyRequest]:
        """What `verify` is asked for a try."""
        renames = one.renames
        raw = json.dumps(one.config).encode()
        pair = replace(
            self._pair,
            serve_config=copy.deepcopy(one.config),
            launch=dict(one.launch),
            renames=renames,
        )
        request = replace(
            self._request,
            serve_config=ConfigFile("the configuration found", raw, one.config),
            launch=launch_line("", one.launch) or None,
            renames=tuple(Rename(*r) for r in renames),
        )
        return pair, request

    def _score(self, one: Try) -> tuple[int, int, int, int]:
        """What is wrong, what is unproven, which flags do not suit, and how many tensors are lost.

        Nothing after an exception counts as right.
        """
        case, report = self._read(one)
        wrong = sum(c.status is Status.VIOLATED or c.reason == RAISES for c in report.clauses)
        lost = sum(parameter is None for parameter in case.serve.weights.values())
        return wrong, sum(c.undecided for c in report.clauses), faults(case), lost


def _open(report: Report) -> set[str]:
    return {c.id for c in report.clauses if c.status is Status.VIOLATED or c.undecided}


def _raises(report: Report) -> bool:
    return any(c.reason == RAISES for c in report.clauses)
