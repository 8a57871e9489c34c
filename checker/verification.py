"""``verify``: does the server compute, for this draft, the function that the trainer optimised?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from checker.deploying import doubted, handled, in_force, ranks_of
from checker.engines import (
    STEPS,
    Extraction,
    Failure,
    Launched,
    asking,
    captured,
    completed,
    extract_side,
    question_for,
    told,
    with_schedule,
)
from checker.errors import InputError
from checker.graph.terms import Pool, unknowns
from checker.judging import Comparison, compare, compare_as_contracted, judge, shared
from checker.judging.judge import Case
from checker.judging.probes import Prober
from checker.launch import ENVIRONMENT
from checker.pairing import Opened, allow_deep_recursion, pairing, without_loading
from checker.report.complete import complete
from checker.reporting import report_of
from checker.timings import timed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from checker.engines import Captured, Inputs, Question, Subject
    from checker.pairing import Pairing
    from checker.report.drawing import Drawing
    from checker.report.model import ClauseResult, Report
    from checker.request import VerifyRequest
    from checker.stored.matching import Stored


def verify(request: VerifyRequest, opened: list[Opened] | None = None) -> Report:
    """The whole answer.

    Args:
        request: what is asked.
        opened: gets the sides that were opened: what the answer depends on.

    Raises:
        InputError: something the user gave cannot be used.
    """
    allow_deep_recursion()
    with timed("sources"):
        pair = pairing(request)
    if opened is not None:
        opened += [pair.trainer, pair.server]
    if not request.witness:
        return Reader().report(pair, request)
    from checker.witness import witnessing

    with witnessing(pair, request) as compared:
        report = Reader().report(pair, request)
        return replace(report, witness=compared(report))


@dataclass(frozen=True, slots=True)
class Served:
    """A server's side, what it was extracted from, and what became of the launch flags.

    `pair` has the configurations that are in force once the flags have been handled.
    """

    pair: Pairing
    side: Extraction
    inputs: Inputs
    subject: Subject
    flags: Launched | None


def case_of(
    pair: Pairing,
    train: Extraction,
    served: Served,
    pool: Pool,
    *,
    stored: Stored | None = None,
    probed: Callable[[dict[str, Any], Extraction], None] | None = None,
) -> Case:
    """Everything that a judgement is made from.

    Args:
        pair: both sides, and the configurations.
        train: what was trained.
        served: what is served.
        pool: where the terms of both are.
        stored: what lies in the draft's folders.
        probed: told each configuration that the trainer is read with besides, and what came of it.
    """
    wires, serve = pair.contract.wires, served.side
    train, serve = shared(train, train, pool), shared(serve, train, pool)
    comparison = _compared(train, serve, pool, wires)
    further = None
    if train.failure is not None or serve.failure is not None:
        one, other = _onward(train), _onward(serve)
        if one is not None and other is not None:
            reached = replace(served, side=other)
            further = case_of(pair, one, reached, pool, stored=stored, probed=probed)

    def compare_without(config: dict[str, Any]) -> Comparison | None:
        other = pair.trained(pair.trainer.subject(pair.stubs), pool, config)
        other = shared(other, other, pool)
        if probed is not None:
            probed(config, other)
        return _compared(other, serve, pool, wires)

    def compare_as(switches: dict[str, Any]) -> Comparison | None:
        try:
            return compare_as_contracted(train, serve, pool, wires, switches)
        except InputError:  # the contract says nothing of such a draft
            return None

    return Case(
        pair.contract,
        train,
        serve,
        comparison,
        served.pair.serve_config,
        pair.train_config,
        compare_without,
        compare_as,
        served.pair.target,
        served.flags,
        stored,
        further if further is not None and further.comparison is not None else None,
    )


def _onward(side: Extraction) -> Extraction | None:
    """A side that came to its end, or what it would be had it not raised.

    What the target hands over does not depend on that.
    """
    if side.failure is None or side.onward is None:
        return side if side.failure is None else None
    names = (
        *("captured", "graph_captured", "ranked", "ranks", "told", "aux_layer_ids"),
        *("asking", "unreachable"),
    )
    return replace(side.onward, **{name: getattr(side, name) for name in names})


def results_of(case: Case) -> tuple[ClauseResult, ...]:
    """A result for every clause, without what a report only mentions."""
    return complete(judge(case), case.contract)


class Reader:
    """Reads pairs; what a target hands over is worked out once for each question."""

    def __init__(self) -> None:
        self._captured: list[tuple[Question, Captured]] = []

    def report(self, pair: Pairing, request: VerifyRequest) -> Report:
        """What reading both sides says."""
        case, inputs, deployed = self._case(pair, request, brief=False)
        unloaded = replace(deployed, engine=without_loading(deployed.engine))

        def extract(config: dict[str, Any]) -> Extraction:
            return extract_side(unloaded, Pool(), replace(inputs, config=config))

        with timed("judgement"):
            results = complete(Prober(extract).notes(case, judge(case)), pair.contract)
        drawn: tuple[tuple[Drawing, Drawing], ...] = ()
        if request.draw:
            from checker.drawing import drawings

            drawn = drawings(case)
        return report_of(pair, request, case, results, drawn)

    def brief(self, pair: Pairing, request: VerifyRequest) -> Report:
        """The same without what a report only mentions: other configurations, other layer ids."""
        case, _, _ = self._case(pair, request, brief=True)
        return report_of(pair, request, case, results_of(case))

    def read(
        self,
        pair: Pairing,
        request: VerifyRequest,
        *,
        brief: bool = False,
        pool: Pool | None = None,
        onward: bool = True,
    ) -> tuple[Case, Report]:
        """As `brief`, with what the report is made of; else with the ids that the target asks for.

        Args:
            pair: what is read.
            request: what is asked.
            brief: without those ids.
            pool: where terms are made; those of one pool can be compared.
            onward: whether clauses are judged that an exception keeps from being reached.
        """
        case, _, _ = self._case(pair, request, brief=brief, pool=pool)
        if not onward:
            case = replace(case, onward=None)
        return case, report_of(pair, request, case, results_of(case))

    def _case(
        self,
        pair: Pairing,
        request: VerifyRequest,
        *,
        brief: bool,
        pool: Pool | None = None,
    ) -> tuple[Case, Inputs, Subject]:
        pool = Pool() if pool is None else pool
        with timed("trainer"):
            train = pair.trained(pair.trainer.subject(pair.stubs), pool, pair.train_config)
        stored = pair.stored(train)
        served = self.served(pair, request, train, pool, stored=stored, brief=brief)
        return case_of(pair, train, served, pool, stored=stored), served.inputs, served.subject

    def served(
        self,
        pair: Pairing,
        request: VerifyRequest,
        train: Extraction,
        pool: Pool,
        *,
        stored: Stored | None = None,
        brief: bool = True,
    ) -> Served:
        """The server's side, given what training saves, with what its target hands over."""
        deployed = pair.server.subject(pair.stubs)
        inputs = pair.served(train, stored)
        with timed("launch line"):
            flags = handled(request, deployed, inputs)
        if flags is not None:  # the draft is served with what the server makes of its flags
            pair, inputs = in_force(pair, inputs, flags)
        inputs = with_schedule(deployed, inputs)
        with timed("server"):
            serve = extract_side(deployed, pool, inputs)
        if serve.captures:
            serve.ranks = ranks_of(request, flags)
            with timed("target"):
                self._capture(pair, train, serve, inputs, brief)
            if flags is not None and flags.target_doubt and serve.captured is not None:
                serve.captured = doubted(serve.captured, flags.target_doubt)
        return Served(pair, serve, inputs, deployed, flags)

    def _capture(
        self, pair: Pairing, train: Extraction, serve: Extraction, inputs: Inputs, brief: bool
    ) -> None:
        """What the target really hands over, and ids for which it would be what was trained."""
        ids, server = serve.aux_layer_ids, pair.server
        asked_ids = None if ids is None else tuple(ids)
        target = pair.target
        question = question_for(target, asked_ids, pair.contract.target)
        if question is None and target is not None and server.engine.capture is not None:
            target = completed(server.subject(pair.stubs), target)
            question = question_for(target, asked_ids, pair.contract.target)
        if question is None or server.engine.capture is None:
            return
        variables = {k: v for k, v in inputs.launch.items() if k == ENVIRONMENT}
        if variables:
            question = replace(question, launch=variables)
        subject = server.outline(pair.contracts)
        overrides = inputs.settings.get("overrides", {}).get("draft", {})
        serve.told = said = told(subject, {**inputs.config, **overrides}, inputs.launch)
        if said is not None and said.is_told:
            question = replace(question, ids=said.ids)
            serve.aux_layer_ids = None if said.ids is None else list(said.ids)
        serve.captured = self._handed(subject, question)
        if serve.captured.norm is not None and serve.captured.norm[0] is None and target:
            target = completed(server.subject(pair.stubs), target)
            if target != question.config:
                question = replace(question, config=target)
                serve.captured = self._handed(subject, question)
        launch = dict(inputs.launch)
        overlap = server.engine.capture.overlap
        if serve.ranks[0] > 1 or any(launch.get(flag) is True for flag in overlap):
            ranked = replace(question, ranks=serve.ranks[0], launch=launch)
            serve.ranked = self._handed(subject, ranked)
        if said is not None and said.differs:
            serve.graph_captured = self._handed(subject, replace(question, ids=said.graphs))
        wanted = train.aux_boundaries
        decided = serve.captured.is_decided and not brief
        if decided and wanted is not None and serve.captured.boundaries != tuple(wanted):
            serve.asking = asking(subject, question, tuple(wanted))
            serve.unreachable = serve.asking is None

    def _handed(self, subject: Subject, question: Question) -> Captured:
        known = next((found for asked, found in self._captured if asked == question), None)
        if known is None:
            known = captured(subject, question)
            self._captured.append((question, known))
        return known


def _compared(
    train: Extraction, serve: Extraction, pool: Pool, wires: Mapping[str, Any]
) -> Comparison | None:
    """The comparison of two sides that came out whole; what keeps one from that is noted there."""
    for side in (train, serve):
        if side.failure is None and len(side.logits) != STEPS:
            reasons = [str(term.attr("reason")) for term in unknowns(*side.logits)]
            reason = next(iter(reasons), f"{len(side.logits)} steps came out, not {STEPS}")
            side.failure = Failure("run", None, reason, side.entry_location)
    if train.failure is not None or serve.failure is not None:
        return None
    try:
        return compare(train, serve, pool, wires)
    except InputError as error:  # a switch of a kind that the contract does not know
        reason = f"the contract says nothing for what was trained: {error.place}: {error.message}"
        train.failure = Failure("run", None, reason, train.entry_location)
        return None
