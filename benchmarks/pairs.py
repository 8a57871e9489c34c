"""Pairs of a trainer and a server under small configurations, judged and run, with files edited.

The static side runs in process, the real code in workers that are kept alive. Everything that an
edit does not touch is computed once: the parsed files, the other side, its real numbers.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from benchmarks.outcomes import (
    SAME,
    Outcome,
    Static,
    ask_worker,
    distance,
    extracted,
    moved,
    seen_in,
)
from benchmarks.trees import Kept
from checker.contract.loading import load_contract
from checker.engines import STEPS as EXTRACTED
from checker.engines import Extraction, Inputs, extract_side, load_engines, load_operators
from checker.engines.schedule import plain
from checker.graph.terms import Pool, unknowns
from checker.judging import compare, judge
from checker.judging.judge import Case
from checker.pairing import Opened, Pairing, open_side
from checker.report.model import Status
from checker.request import Access
from checker.trace.jobs import Setup, engine_job, graph_job
from checker.trace.shrink import Shrinker
from checker.witness import within_reach

if TYPE_CHECKING:
    from collections.abc import Mapping

    from checker.trace.process import Worker

STEPS = 3
_POOL_USES = 200

Config = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Given:
    """The configurations of one comparison; `fair` where the unedited pair agrees.

    `wide` serves a checkpoint whose fc reads states of the target's width, which this trainer could
    not have saved: only graph and run of the edited side are compared.
    """

    name: str
    train: Config
    serve: Config
    target: Config
    fair: bool = True
    wide: bool = False


@dataclass(slots=True)
class _Base:
    """What the unedited pair is under one configuration."""

    given: Given
    setup: Setup
    train: Extraction
    train_inputs: Inputs
    serve: Extraction
    serve_inputs: Inputs
    trained: Any = None
    served: Any = None


@dataclass
class Bench:
    """One pair of sources. Use as a context manager: it keeps workers."""

    trainer_spec: str
    server_spec: str
    python: str | None
    renames: tuple[tuple[str, str], ...] = ()
    access: Access = field(default_factory=lambda: Access(use_cache=False))

    def __enter__(self) -> Bench:  # noqa: PYI034 - `Self` is not in Python 3.10
        sys.setrecursionlimit(12_000)
        self.contract, self.stubs = load_contract(), load_operators()
        engines = load_engines()
        self.trainer = open_side(engines, "trainer", self.trainer_spec, (), self.access)
        self.server = open_side(engines, "server", self.server_spec, (), self.access)
        self.learner = self.trainer.subject(self.stubs)
        self.deployed = self.server.subject(self.stubs)
        self.pool = Pool()
        self.asked = 0
        self._computed: dict[tuple[Any, ...], dict[str, Any]] = {}
        self.bases: dict[str, _Base] = {}
        self._workers: dict[str, Worker] = {}
        return self

    def __exit__(self, *error: object) -> None:
        for worker in self._workers.values():
            worker.__exit__(None, None, None)

    def ask(self, side: str, job: dict[str, Any]) -> dict[str, Any]:
        """Runs a job in the worker of a side, a fresh one where the last was lost."""
        return ask_worker(self._workers, side, self.python, job)

    # -- the unedited pair -----------------------------------------------------------------------

    def pairing(self, given: Given) -> Pairing:
        """The pair under small configurations."""
        shrinker = Shrinker(self.contract)
        train, serve = shrinker.shrink(given.train), shrinker.shrink(given.serve)
        target = shrinker.shrink(given.target)
        return Pairing(
            self.contract,
            self.trainer,
            self.server,
            self.stubs,
            train,
            serve,
            target,
            {},
            self.renames,
        )

    def base(self, given: Given) -> _Base:
        """The unedited pair, extracted once in each pool and run once."""
        known = self.bases.get(given.name)
        if known is not None:
            return known
        pair = self.pairing(given)
        # what drives the draft is left out: the model files are edited, and run, alone
        alone = plain(EXTRACTED)
        train_inputs = Inputs(pair.train_config, pair.target, schedule=alone)
        train = extract_side(self.learner, self.pool, train_inputs)
        if train.failure is not None:
            raise RuntimeError(f"{given.name}: {train.failure}")
        serve_inputs = replace(pair.served(train), schedule=alone)
        if given.wide:
            serve_inputs = replace(serve_inputs, checkpoint=_widened(pair, train))
        serve = extract_side(self.deployed, self.pool, serve_inputs)
        width = (train.aux_count or 3) * int((pair.target or {})["hidden_size"])
        vocabulary = int(pair.serve_config["vocab_size"])
        setup = Setup({"features": width, "last hidden state": width}, vocabulary, steps=STEPS)
        made = _Base(given, setup, train, train_inputs, serve, serve_inputs)
        made.trained = self.ask("train", self._train_job(made, train_inputs))
        made.served = self.ask("serve", self._serve_job(made, serve_inputs))
        self.bases[given.name] = made
        return made

    def _train_job(self, base: _Base, inputs: Inputs) -> dict[str, Any]:
        return engine_job(self.learner, self.trainer.trees, inputs, base.setup)

    def _serve_job(self, base: _Base, inputs: Inputs) -> dict[str, Any]:
        return engine_job(self.deployed, self.server.trees, inputs, base.setup)

    def renew(self) -> None:
        """A new pool now and then: it keeps every term ever made."""
        self.asked += 1
        if self.asked % _POOL_USES == 0:
            self.pool = Pool()
            self._computed.clear()
            for base in self.bases.values():
                base.train = extract_side(self.learner, self.pool, base.train_inputs)
                base.serve = extract_side(self.deployed, self.pool, base.serve_inputs)

    # -- the edited pair -------------------------------------------------------------------------

    def outcome(self, given: Given, side: str, files: Mapping[str, str]) -> Outcome:
        """Both answers for one edit of one side."""
        base = self.base(given)
        self.renew()
        if side == "serve":
            static = self._static_serve(base, files)
            trained = base.trained
            job = self._serve_job(base, base.serve_inputs)
            edited = served = self.ask("serve", _with_files(job, files))
        else:
            static = self._static_train(base, files)
            job = self._train_job(base, base.train_inputs)
            edited = trained = self.ask("train", _with_files(job, files))
            served = self._served_after(base, trained)
        seen, note = seen_in(trained, served, base.served)
        if static.problem:
            note = f"{static.problem} {note}"
        faithful, why = self._faithful(base, static.edited, edited)
        status = static.status
        before = base.served if side == "serve" else base.trained
        apart = moved(before, edited)
        text = f"{note} {why}".strip()
        return Outcome(given.name, seen, status, faithful, static.clauses, text, apart)

    def _served_after(self, base: _Base, trained: dict[str, Any]) -> dict[str, Any]:
        """The server on what an edited trainer saves."""
        saved = trained.get("checkpoint")
        if saved is None or saved == base.trained.get("checkpoint"):
            return base.served  # type: ignore[no-any-return]
        checkpoint = {
            name: (tuple(shape), "float" if "float" in kind else "int")
            for name, (shape, kind) in saved.items()
        }
        return self.ask(
            "serve", self._serve_job(base, replace(base.serve_inputs, checkpoint=checkpoint))
        )

    def _static_serve(self, base: _Base, files: Mapping[str, str]) -> Static:
        subject = replace(self.deployed, workspace=Kept(self.deployed.workspace, files))
        edited, problem = extracted(subject, self.pool, base.serve_inputs)
        if edited is None:
            return Static(Extraction(self.server.engine), "bug", (), None, problem)
        status, clauses = self._judged(base, base.train, edited)
        return Static(edited, status, clauses)

    def _static_train(self, base: _Base, files: Mapping[str, str]) -> Static:
        subject = replace(self.learner, workspace=Kept(self.learner.workspace, files))
        edited, problem = extracted(subject, self.pool, base.train_inputs)
        if edited is None:
            return Static(Extraction(self.trainer.engine), "bug", (), None, problem)
        serve = base.serve
        if edited.failure is None and edited.checkpoint != base.train.checkpoint:
            inputs = replace(base.serve_inputs, checkpoint=edited.checkpoint)
            serve = extract_side(self.deployed, self.pool, inputs)
        status, clauses = self._judged(base, edited, serve)
        return Static(edited, status, clauses)

    def _judged(
        self, base: _Base, train: Extraction, serve: Extraction
    ) -> tuple[str, tuple[str, ...]]:
        if not base.given.fair:
            return "unfair", ()  # the unedited pair is violated as well
        whole = train.failure is None and serve.failure is None
        try:
            comparison = compare(train, serve, self.pool, self.contract.wires) if whole else None
            case = Case(
                self.contract,
                train,
                serve,
                comparison,
                base.serve_inputs.config,
                base.train_inputs.config,
            )
            results = judge(case)
        except Exception as error:  # noqa: BLE001 - a bug of ours, to be listed
            return "bug", (f"{type(error).__name__}: {error}",)
        violated = tuple(r.id for r in results if r.status is Status.VIOLATED)
        clauses = self.contract.clauses  # the target is not followed here
        unproven = tuple(
            f"{r.id}: {r.reason}" for r in results if r.undecided and within_reach(clauses[r.id])
        )
        if violated:
            return "violated", violated
        return ("unproven", unproven[:2]) if unproven else ("holds", ())

    def _faithful(
        self, base: _Base, edited: Extraction, answer: dict[str, Any]
    ) -> tuple[bool | None, str]:
        """Whether an extracted graph computes what the real code does."""
        if "problem" in answer:
            return None, ""
        if edited.failure is not None:
            if edited.failure.type is None or "raises" in answer:
                return None, ""
            return False, f"interpreted it raises {edited.failure.type}: {edited.failure.message}"
        if unknowns(*edited.logits, *edited.feedback) or not edited.logits:
            return None, ""
        if "raises" in answer:
            return False, f"extracted, and raises {answer['raises']}: {answer['message'][:200]}"
        whole = replace(edited, logits=[*edited.logits, *edited.feedback])
        key = (base.given.name, *whole.logits)
        if key not in self._computed:
            self._computed[key] = self.ask("train", graph_job(whole, base.setup))
        computed = self._computed[key]
        if "logits" not in computed:
            return None, str(computed.get("problem") or computed.get("message"))[:200]
        count = len(edited.logits)
        handed_on = computed["logits"][count:]
        if count < len(answer["logits"]):  # a further step may have written to what it was given
            handed_on = handed_on[:-1]
        pairs = [
            *zip(computed["logits"][:count], answer["logits"], strict=False),
            *zip(handed_on, answer["feedback"], strict=False),
        ]
        largest = max((distance(a, b) for a, b in pairs), default=math.inf)
        return largest <= SAME, "" if largest <= SAME else f"graph and run differ by {largest:.2g}"


def _widened(pair: Pairing, train: Extraction) -> dict[str, Any]:
    """The checkpoint with an fc for states as wide as the target's."""
    (rows, columns), kind = train.checkpoint["fc.weight"]
    count = columns // int(pair.train_config["transformer_layer_config"]["hidden_size"])
    wide = count * int((pair.target or {})["hidden_size"])
    return {**train.checkpoint, "fc.weight": ((rows, wide), kind)}


def _with_files(job: dict[str, Any], files: Mapping[str, str]) -> dict[str, Any]:
    trees = [
        {**tree, "files": {p: files.get(p, text) for p, text in tree["files"].items()}}
        for tree in job["trees"]
    ]
    return {**job, "trees": trees}


__all__ = ["Bench", "Given", "Opened", "Outcome", "distance"]
