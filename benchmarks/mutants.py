"""Does the static answer tell the truth? Mutants of real draft files, judged and run.

Every edit of `benchmarks.mutations` at every eligible place (or some of them a file, drawn with a
fixed seed) is judged by reading both sides and by running them on the same small numbers: three
steps in float64, each side through its own loader. A mutant that runs differently and is said to
hold is a wrong `holds`; one that runs alike and is said to be violated is a false alarm. Besides,
the graph extracted from each mutant is run and compared with the mutant itself, under
configurations too for which the pair does not agree (another target width, more layers).
"""

from __future__ import annotations

import hashlib
import itertools
import random
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.drafts import SUBJECTS, Subject
from benchmarks.mutations import Mutant, mutants
from benchmarks.pairs import Bench
from benchmarks.records import Figure, Record, Records

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.outcomes import Outcome

SEED = 20


@dataclass(frozen=True, slots=True)
class Options:
    """How many mutants of which files, and by which interpreter they are run."""

    python: str | None = None
    each: int | None = None
    only: str = ""
    every_config: bool = False
    share: tuple[int, int] = (0, 1)


def prove(options: Options, records: Records) -> Iterator[Record]:
    """Judges and runs what has not been yet; gives each record as it is made."""
    for subject in SUBJECTS:
        if options.only in f"{subject.release} {subject.path}":
            yield from _of_file(subject, options, records)


def _of_file(subject: Subject, options: Options, records: Records) -> Iterator[Record]:
    name = f"{subject.release} {subject.path}"
    with Bench(subject.trainer, subject.server, options.python, subject.renames) as bench:
        tree = (bench.trainer if subject.side == "train" else bench.server).tree
        text = tree.read(subject.path).decode()
        found = mutants(text, subject.places)
        drawn = draw(found, options.each)
        index, of = options.share
        for mutant in drawn[index::of]:
            edited = mutant.apply(text)
            key = f"mutants {name} {hashlib.sha256(edited.encode()).hexdigest()[:16]}"
            if key in records:
                continue
            outcomes = _outcomes(bench, subject, edited, options.every_config)
            record = {
                "key": key,
                "part": "mutants",
                "file": name,
                "places": len(found),
                "operator": mutant.operator,
                "place": mutant.place,
                "line": mutant.line,
                "edit": mutant.shown(text),
                "class": classify(outcomes),
                "unfaithful": [o.given for o in outcomes if o.faithful is False],
                "outcomes": [
                    [o.given, o.seen, o.status, o.faithful, list(o.clauses), o.note]
                    for o in outcomes
                ],
            }
            records.add(record)
            yield record


def draw(found: list[Mutant], count: int | None) -> list[Mutant]:
    """So many of them, the same every time; each operator has its turn before one has two."""
    if count is None or count >= len(found):
        return found
    by_operator: dict[str, list[Mutant]] = {}
    for mutant in random.Random(SEED).sample(found, len(found)):  # noqa: S311 - no secret
        by_operator.setdefault(mutant.operator, []).append(mutant)
    queues = [by_operator[name] for name in sorted(by_operator)]
    turns = [m for turn in itertools.zip_longest(*queues) for m in turn if m is not None]
    return turns[:count]


def _outcomes(bench: Bench, subject: Subject, edited: str, every: bool) -> list[Outcome]:
    """Outcomes until one settles the mutant: it runs differently, and that is not denied."""
    outcomes: list[Outcome] = []
    for given in subject.givens:
        outcome = bench.outcome(given, subject.side, {subject.path: edited})
        outcomes.append(outcome)
        differs = outcome.seen in ("different", "raises")
        if differs and outcome.status in ("violated", "unproven") and not every:
            break
    return outcomes


def classify(outcomes: list[Outcome]) -> str:
    """The worst that can be said of a mutant."""
    fair = [o for o in outcomes if o.status != "unfair"]
    if any(o.status == "bug" for o in outcomes):
        return "bug"
    if any(o.wrong_holds for o in fair):
        return "wrong-holds"
    if any(o.alarm for o in fair):
        return "false-alarm"
    if any(o.seen in ("different", "raises") for o in fair):
        caught = any(o.seen != "equal" and o.status == "violated" for o in fair)
        return "caught" if caught else "unproven-different"
    if any(o.seen == "map" for o in fair):
        return "map-only"
    if all(o.seen == "none" for o in outcomes):
        return "no-verdict"
    held = all(o.status == "holds" for o in fair)
    return "equal-holds" if held else "equal-unproven"


def figure(found: list[Record]) -> Figure:
    """How many mutants run differently, and what was said of them."""
    classes = Counter(r["class"] for r in found)
    unfaithful = [r for r in found if r["unfaithful"]]
    different = sum(classes[c] for c in ("caught", "unproven-different", "wrong-holds"))
    places = sum({r["file"]: r["places"] for r in found}.values())
    answer = (
        f"{len(found)} of {places} mutants, {different} run differently: {classes['caught']}"
        f" violated, {classes['unproven-different']} unproven, {classes['wrong-holds']} said to"
        f" hold; {classes['false-alarm']} false alarms, {len(unfaithful)} unfaithful graphs"
    )
    return Figure(
        "mutants",
        "edits of real draft files, by reading and by running, three steps and the vocabulary map",
        answer,
        {"mutants": len(found), "places": places, **dict(sorted(classes.items())),
         "unfaithful": len(unfaithful)},
        tuple(line for r in found if _wrong(r) for line in listed(r)),
        tuple(line for r in found if r["class"] in _OPEN for line in listed(r)),
    )  # fmt: skip


_OPEN = ("unproven-different", "map-only", "equal-unproven", "no-verdict")


def _wrong(record: Record) -> bool:
    return bool(record["unfaithful"]) or record["class"] in ("wrong-holds", "false-alarm", "bug")


def listed(record: Record) -> list[str]:
    """A survivor, an alarm or what is open, with the reason, in one line."""
    where = f"{record['file']}:{record['line']} {record['operator']} in {record['place']}"
    telling = [o for o in record["outcomes"] if _tells(record, o)] or record["outcomes"][:1]
    given, seen, status, faithful, clauses, note = telling[0]
    graph = "; graph unfaithful" if faithful is False else ""
    why = f"{given}: {seen}, {status} {', '.join(clauses)[:160]}{graph} {note[:160]}"
    return [f"{record['class']}: {where}: {record['edit']}: {why}"]


def _tells(record: Record, outcome: list[object]) -> bool:
    """Whether one outcome is what its mutant was classed by."""
    _, seen, status, faithful, _, _ = outcome
    match record["class"]:
        case "wrong-holds":
            return status == "holds" and seen in ("different", "raises")
        case "false-alarm":
            return status == "violated" and seen == "equal"
        case "unproven-different" | "equal-unproven":
            return status == "unproven" or faithful is False
        case "map-only":
            return seen == "map"
        case _:
            return status == "bug" or faithful is False


__all__ = ["SEED", "Mutant", "Options", "classify", "figure", "listed", "prove"]
