"""Does the extracted graph compute what the real code does? Every switch, both engines, float64.

Each value of each switch is set on one engine alone. The graph that was read and the code that was
read run on the same numbers; logits of all extracted steps are compared, and the states handed on
where the engine shows them (a trainer's are seen in the logits of its next step).
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from benchmarks.outcomes import ask_worker, distance, limited
from benchmarks.records import Figure, Record, Records
from benchmarks.switching import VALUES, Value
from checker.contract.loading import load_contract
from checker.engines import Extraction, Inputs, Subject, extract_side, load_engines, load_operators
from checker.graph.terms import Pool, postorder, unknowns
from checker.pairing import Opened, open_side
from checker.request import Access
from checker.trace.jobs import engine_job, graph_job
from checker.trace.shrink import Shrinker
from checker.witness import setup_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from checker.trace.process import Worker

TRAINERS = ("speculators==0.9.0",)
SERVERS = ("sglang==0.5.9", "sglang==0.5.14", "sglang==0.5.23")
MOST = 1e-12
_DRAWN_APART = ("unloaded:",)


@dataclass
class Runner:
    """Engines, opened once, and a process for the real code. Use as a context manager."""

    python: str | None
    access: Access = field(default_factory=lambda: Access(use_cache=False))

    def __enter__(self) -> Runner:  # noqa: PYI034 - `Self` is not in Python 3.10
        sys.setrecursionlimit(12_000)
        self.contract, self.stubs = load_contract(), load_operators()
        self.engines = load_engines()
        self._opened: dict[str, tuple[Opened, Subject]] = {}
        self._workers: dict[str, Worker] = {}
        return self

    def __exit__(self, *error: object) -> None:
        for worker in self._workers.values():
            worker.__exit__(None, None, None)

    def opened(self, release: str) -> tuple[Opened, Subject]:
        """A release and what of it is read."""
        if release not in self._opened:
            role = "trainer" if release in TRAINERS else "server"
            side = open_side(self.engines, role, release, (), self.access)
            self._opened[release] = (side, side.subject(self.stubs))
        return self._opened[release]

    def record(self, release: str, value: Value) -> Record:
        """Graph and run of one release under one value."""
        extraction, inputs = self._extracted(release, value)
        opened, subject = self.opened(release)
        setup = setup_for(extraction)
        setup = replace(setup, steps=max(len(extraction.logits), 1))
        answer = self._ask(engine_job(subject, opened.trees, inputs, setup))
        key = f"fidelity {release} {value.switch} {value.label}"
        made = {"key": key, "part": "fidelity", "switch": value.switch, "release": release}
        return {**made, **self._compared(extraction, answer, setup)}

    def _ask(self, job: dict[str, Any]) -> dict[str, Any]:
        return ask_worker(self._workers, "run", self.python, job)

    def _compared(self, extraction: Extraction, answer: dict[str, Any], setup: Any) -> Record:
        failure = extraction.failure
        raised = answer.get("raises")
        if failure is not None and failure.type is not None:
            if "problem" in answer:
                return _none(f"read, it raises {failure.type}; run: {answer['problem']}")
            if raised is None:
                return _bad(f"read, it raises {failure.type}: {failure.message}; run, it does not")
            same = raised == failure.type
            what = f"raises {raised}: {answer['message'][:120]}"
            return {"class": "raises", "note": what} if same else _bad(f"{what}; read: {failure}")
        if failure is not None:
            return _none(f"not followed: {failure.message}")
        found = unknowns(*extraction.logits, *extraction.feedback)
        if found:
            return _none(f"not known: {found[0].attr('reason')}")
        if raised is not None:
            return _bad(f"read without trouble, and raises {raised}: {answer['message'][:200]}")
        if "problem" in answer:
            return _none(str(answer["problem"]))
        if _uncertain(extraction) or answer["initial"]:
            return _none(f"parameters never loaded: {', '.join(answer['initial'][:3])}")
        steps = len(extraction.logits)
        whole = replace(extraction, logits=[*extraction.logits, *extraction.feedback])
        computed = self._ask(graph_job(whole, setup))
        if "logits" not in computed:
            return _none(str(computed.get("problem") or computed.get("message")))
        pairs = [
            *zip(computed["logits"][:steps], answer["logits"], strict=True),
            *zip(computed["logits"][steps:], answer["feedback"], strict=True),
        ]
        largest = max((distance(a, b) for a, b in pairs), default=math.inf)
        compared = {"compared": len(pairs), "steps": steps, "difference": largest}
        return {"class": "equal" if largest <= MOST else "unfaithful", "note": "", **compared}

    def _extracted(self, release: str, value: Value) -> tuple[Extraction, Inputs]:
        shrinker = Shrinker(self.contract)
        plain = Value("", "")
        for config in (plain.trained(), plain.served(), plain.aimed()):
            shrinker.shrink(config)
        train, serve = shrinker.shrink(value.trained()), shrinker.shrink(value.served())
        target = shrinker.shrink(value.aimed())
        _, learner = self.opened(TRAINERS[0])
        if release in TRAINERS:
            inputs = Inputs(train, target)
            with limited():
                return extract_side(self.opened(release)[1], Pool(), inputs), inputs
        if not value.trains:
            train = shrinker.shrink(plain.trained())
        with limited():
            saved = extract_side(learner, Pool(), Inputs(train, target))
        checkpoint = dict(saved.checkpoint)
        for name in value.extra:
            checkpoint[name] = (_shape(name, checkpoint, saved, target), "float")
        renames = (("layers.0", "midlayer"),) if release == "sglang==0.5.9" else ()
        inputs = Inputs(serve, target, checkpoint=checkpoint, renames=renames)
        with limited():
            return extract_side(self.opened(release)[1], Pool(), inputs), inputs


def _shape(
    name: str, checkpoint: dict[str, Any], saved: Extraction, target: dict[str, Any]
) -> tuple[int, ...]:
    """The shape of a tensor that only a server asks for."""
    states = saved.aux_count or 3
    rows, columns = checkpoint["fc.weight"][0]
    if name == "fc.weight":
        return rows, states * int(target["hidden_size"])
    if name == "input_norm.weight":
        return (columns,)
    return (checkpoint[name.replace(".bias", ".weight")][0][0],)


def _uncertain(extraction: Extraction) -> bool:
    """Whether some parameter has no trained value: what it gives is no number."""
    terms = postorder(*extraction.logits)
    return any(t.op == "param" and str(t.attr("name")).startswith(_DRAWN_APART) for t in terms)


def _bad(note: str) -> Record:
    return {"class": "unfaithful", "note": note}


def _none(note: str) -> Record:
    return {"class": "none", "note": note}


def combinations() -> list[tuple[str, Value]]:
    """Every release with every value of every switch that its engine has."""
    trainers = [(release, v) for release in TRAINERS for v in VALUES if v.trains]
    return trainers + [(release, v) for release in SERVERS for v in VALUES if v.serves]


def prove(
    chosen: Iterable[tuple[str, Value]], python: str | None, records: Records
) -> Iterator[Record]:
    """Compares what has not been compared yet; gives each record as it is made."""
    with Runner(python) as runner:
        for release, value in chosen:
            if f"fidelity {release} {value.switch} {value.label}" not in records:
                record = runner.record(release, value)
                records.add(record)
                yield record


def figure(found: list[Record]) -> Figure:
    """How many agree, and how far they are apart at most."""
    numbers = [r for r in found if r["class"] == "equal"]
    largest = max((r["difference"] for r in found if "difference" in r), default=0.0)
    raising = [r for r in found if r["class"] == "raises"]
    without = [r for r in found if r["class"] == "none"]
    wrong = [r for r in found if r["class"] == "unfaithful"]
    switches = len({r["switch"] for r in found})
    answer = (
        f"{len(numbers)} of {len(found)} equal, at most {largest:.1e} apart; {len(raising)} raise"
        f" alike, {len(without)} without numbers, {len(wrong)} unfaithful"
    )
    return Figure(
        "fidelity",
        f"graph and real code of {switches} switches in {len({r['release'] for r in found})}"
        f" releases, float64, at most {MOST:g} apart",
        answer,
        {
            "combinations": len(found),
            "equal": len(numbers),
            "raise alike": len(raising),
            "without numbers": len(without),
            "unfaithful": len(wrong),
            "largest difference": largest,
        },
        tuple(f"{_name(r)}: {r['note'] or format(r['difference'], '.2g')}" for r in wrong),
        tuple(f"{_name(r)}: {r['note']}" for r in (*raising, *without)),
    )


def _name(record: Record) -> str:
    return str(record["key"]).removeprefix("fidelity ")
