"""``verify --witness``: both sides' real code on the same small random numbers."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from checker.engines import Extraction, extract_side, with_schedule
from checker.graph.terms import Pool, postorder
from checker.report.model import Status
from checker.report.witnessed import Seen, Witness
from checker.trace import OUT_OF_MEMORY
from checker.trace.environment import needs_of, prepared
from checker.trace.jobs import SAME, Setup, engine_job, largest_difference
from checker.trace.process import Worker
from checker.trace.shrink import Shrinker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from checker.engines import Engine
    from checker.pairing import Pairing
    from checker.report.model import Report
    from checker.request import VerifyRequest

_STEPS = 3


@contextmanager
def witnessing(pair: Pairing, request: VerifyRequest) -> Iterator[Callable[[Report], Witness]]:
    """Runs trainer and server, each through its own loader, while the caller goes on.

    What is given waits for the runs and compares them with a report.

    Raises:
        InputError: no interpreter can be started, or no environment prepared.
    """
    python = request.python
    sides = (pair.trainer, pair.server)
    if request.prepare:
        one, other = (needs_of(side.engine, side.trees) for side in sides)
        python = prepared(one.with_(other), request.access)
    preload = [side.engine.run_time.preload for side in sides]
    with (
        ThreadPoolExecutor(2) as threads,
        Worker(python, preload=preload[0]) as trainer,
        Worker(python, preload=preload[1]) as server,
    ):
        jobs = _jobs(pair)  # the processes import torch meanwhile
        if isinstance(jobs, Witness):
            given = jobs
            yield lambda _: given
            return
        runs = [threads.submit(w.ask, j) for w, j in zip((trainer, server), jobs, strict=True)]

        def verdict(report: Report) -> Witness:
            answers = [run.result() for run in runs]
            found = judged(pair, report, *answers)
            for worker, side, answer in zip((trainer, server), sides, answers, strict=True):
                if found.reason is not None and ("raises" in answer or "problem" in answer):
                    return replace(found, reason=found.reason + lacking(worker, side.engine))
            return found

        yield verdict


def lacking(worker: Worker, engine: Engine) -> str:
    """What an engine's files may need that an interpreter does not have, and what to do."""
    versions = worker.versions(sorted(engine.run_time.requirements))
    missing = [name for name, version in versions.items() if version is None]
    if not missing:
        return ""
    return f" ({worker.python} has no {', '.join(missing)}: install that there, or say --prepare)"


def _jobs(pair: Pairing) -> tuple[dict[str, Any], dict[str, Any]] | Witness:
    """What both sides have to run, or why there is nothing."""
    if pair.serve_draft is not None:
        why = "which tensors a served copy holds is not tried out; leave --serve-draft out"
        return Witness(Seen.NO_VERDICT, reason=why)
    # what is run is made of the files that are read now: nothing that was kept will do
    pair = replace(pair, trainer=pair.trainer.anew(), server=pair.server.anew())
    small = shrunk(pair)
    subject_t, subject_s = pair.trainer.subject(pair.stubs), pair.server.subject(pair.stubs)
    pool = Pool()
    train = small.trained(subject_t, pool, small.train_config)
    if train.failure is not None:
        return Witness(Seen.NO_VERDICT, reason=f"small trainer: {train.failure.message}")
    inputs = with_schedule(subject_s, small.served(train, small.stored(train)))
    serve = extract_side(subject_s, pool, inputs)
    setup = setup_for(train, serve)
    alone = replace(inputs, config=small.train_config, checkpoint={}, schedule=None)
    return (
        engine_job(subject_t, pair.trainer.trees, alone, setup),
        engine_job(subject_s, pair.server.trees, inputs, setup),
    )


def shrunk(pair: Pairing) -> Pairing:
    """The same pairing with small configurations."""
    shrinker = Shrinker(pair.contract)
    return replace(
        pair,
        train_config=shrinker.shrink(pair.train_config),
        serve_config=shrinker.shrink(pair.serve_config),
        target=shrinker.shrink(pair.target) if pair.target is not None else None,
    )


def setup_for(*sides: Extraction) -> Setup:
    """The inputs that two extractions read, by name and width, and a vocabulary they share."""
    widths: dict[str, int] = {}
    rows = 1 << 30
    for side in sides:
        for term in postorder(*side.logits):
            if term.op == "input" and len(term.shape) == 2 and isinstance(term.shape[1], int):
                widths.setdefault(str(term.attr("name")), term.shape[1])
            if term.op == "embedding" and isinstance(term.args[1].shape[0], int):
                rows = min(rows, term.args[1].shape[0])
    widths.setdefault("features", 1)
    return Setup(widths, min(rows, 1 << 20), steps=_STEPS)


def judged(
    pair: Pairing, report: Report, trained: dict[str, Any], served: dict[str, Any]
) -> Witness:
    """What two answers say, and whether the report says the same."""
    outside = tuple(c.id for c in pair.contract.clauses.values() if not within_reach(c))
    for side, answer in (("the trainer", trained), ("the server", served)):
        problem = answer.get("problem")
        if problem is not None:
            if problem.startswith(OUT_OF_MEMORY):
                problem += " (free some memory, or give the sides smaller configurations)"
            return Witness(Seen.NO_VERDICT, reason=f"{side}: {problem}", out_of_reach=outside)
    if "raises" in trained:
        what = f"the trainer raises {trained['raises']}: {trained['message']}"
        return Witness(Seen.NO_VERDICT, reason=what, out_of_reach=outside)
    violated = any(c.status is Status.VIOLATED and c.id not in outside for c in report.clauses)
    if "raises" in served:
        what = f"the server raises {served['raises']}: {served['message']}"
        failed = any(c.error is not None for c in report.clauses)
        return Witness(Seen.DIFFERENT, None, failed, what, _STEPS, outside)
    for answer, side in ((trained, "the trainer: "), (served, "")):
        if answer["initial"]:
            names = ", ".join(answer["initial"][:4])
            reason = f"{side}parameters never loaded: {names}"
            return Witness(Seen.NO_VERDICT, reason=reason, out_of_reach=outside)
    largest = max(
        (
            largest_difference(a, b)
            for a, b in zip(trained["logits"], served["logits"], strict=True)
        ),
        default=math.inf,
    )
    equal = largest <= SAME
    decided = report.verdict.value != "unproven"
    agrees = (equal != violated) if decided else None
    shown = largest if math.isfinite(largest) else None
    return Witness(Seen.EQUAL if equal else Seen.DIFFERENT, shown, agrees, None, _STEPS, outside)


def within_reach(clause: Any) -> bool:
    """Whether a clause speaks of what running the model files shows."""
    shown = clause.owns or "weights" in clause.facts
    return bool(clause.implemented and clause.witness and shown)
