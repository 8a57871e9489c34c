"""Answers for one edit: what running says, what reading says, and how to get at them safely."""

from __future__ import annotations

import math
import signal
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from checker.engines import extract_side
from checker.errors import InputError
from checker.trace.process import Worker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from checker.engines import Extraction, Inputs, Subject
    from checker.graph.terms import Pool

SAME = 1e-9
_STATIC_SECONDS = 60


@dataclass(slots=True)
class Static:
    """What the program says of one pair: extraction of the edited side, status, and why."""

    edited: Extraction
    status: str
    clauses: tuple[str, ...] = ()
    inputs: Inputs | None = None
    problem: str = ""


@dataclass(slots=True)
class Outcome:
    """One edit under one configuration.

    `seen`: equal, different, raises, map (only the vocabulary map differs) or none, by running both
    sides. `status`: holds, violated or unproven, by reading them. `faithful`: whether the extracted
    graph computes what the edited side's real code does (None where one of them has no numbers).
    """

    given: str
    seen: str
    status: str
    faithful: bool | None
    clauses: tuple[str, ...] = ()
    note: str = ""
    moved: float | None = None
    """How far the edited side's own numbers are from the unedited side's."""

    @property
    def wrong_holds(self) -> bool:
        """The worst bug."""
        return self.status == "holds" and self.seen in ("different", "raises")

    @property
    def alarm(self) -> bool:
        """The second worst."""
        return self.status == "violated" and self.seen == "equal"


def ask_worker(
    workers: dict[str, Worker], name: str, python: str | None, job: dict[str, Any]
) -> dict[str, Any]:
    """Runs a job in a worker of that name, a fresh one where the last was lost."""
    worker = workers.get(name)
    if worker is None or not worker.alive:
        worker = workers[name] = Worker(python, timeout=60).__enter__()
    try:
        return worker.ask(job)
    except InputError as error:
        return {"problem": str(error)}


def distance(one: Any, two: Any) -> float:
    """The largest difference of two nested lists; NaN equals NaN."""
    if isinstance(one, list):
        if not isinstance(two, list) or len(one) != len(two):
            return math.inf
        return max((distance(a, b) for a, b in zip(one, two, strict=True)), default=0.0)
    if isinstance(two, list):
        return math.inf
    if math.isnan(one) or math.isnan(two):
        return 0.0 if math.isnan(one) and math.isnan(two) else math.inf
    return abs(one - two)


def seen_in(
    trained: dict[str, Any], served: dict[str, Any], before: dict[str, Any]
) -> tuple[str, str]:
    """What two runs say; `before` is the run of the unedited server, for what logits never show."""
    for answer in (trained, served):
        if "problem" in answer:
            return "none", str(answer["problem"])[:200]
    for answer in (trained, served):
        if "raises" in answer:
            return "raises", f"{answer['raises']}: {answer['message'][:200]}"
    if len(trained["logits"]) != len(served["logits"]):
        return "different", "another number of steps"
    pairs = zip(trained["logits"], served["logits"], strict=True)
    largest = max((distance(a, b) for a, b in pairs), default=math.inf)
    if largest > SAME:
        return "different", f"by {largest:.2g}"
    if served.get("vocabulary map") != before.get("vocabulary map"):
        return "map", "only the vocabulary map differs"
    return "equal", ""


def moved(before: dict[str, Any], after: dict[str, Any]) -> float | None:
    """How far an edit moved what its own side gives; None where one of the two has no numbers.

    Of the states handed on the last is compared: others show in the logits of the next step, which
    may write to what it was given.
    """
    if "logits" not in before or "logits" not in after:
        return None
    if before.get("vocabulary map") != after.get("vocabulary map"):
        return math.inf
    pairs = [(before["logits"], after["logits"]), (before["feedback"][-1:], after["feedback"][-1:])]
    return max(distance(a, b) for a, b in pairs)


def extracted(subject: Subject, pool: Pool, inputs: Inputs) -> tuple[Extraction | None, str]:
    """One side; None and why where that is a bug of ours: it hung or ended in an exception."""
    try:
        with limited():
            return extract_side(subject, pool, inputs), ""
    except TimeoutError:
        return None, "bug: the interpreter took more than a minute"
    except Exception as error:  # noqa: BLE001 - a bug of ours, to be listed
        import traceback

        last = traceback.extract_tb(error.__traceback__)[-1]
        return None, f"bug: {type(error).__name__}: {error} at {last.filename}:{last.lineno}"


@contextmanager
def limited() -> Iterator[None]:
    """Ends what hangs: that is a bug too."""

    def ring(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(_STATIC_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
