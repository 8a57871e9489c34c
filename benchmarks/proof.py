"""Does the static answer tell the truth? Mutants of real draft files, judged and run.

    python benchmarks/proof.py [--python PATH] [--each N] [--only TEXT] [--all-configs] [--out FILE]

Every edit of `benchmarks.mutations` at every eligible place (or N of them a file, drawn with a
fixed seed) is judged by reading both sides and by running them on the same small numbers: three
steps in float64, each side through its own loader. A mutant that runs differently and is said to
hold is a wrong `holds`; one that runs alike and is said to be violated is a false alarm. Besides,
the graph extracted from each mutant is run and compared with the mutant itself.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.drafts import SUBJECTS, Subject
from benchmarks.mutations import Mutant, mutants
from benchmarks.pairs import Bench, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

SEED = 20


def main() -> int:
    """Runs what was asked for; the exit status says whether there was a wrong `holds`."""
    given = _arguments()
    records: list[dict[str, Any]] = []
    for subject in SUBJECTS:
        name = f"{subject.release} {subject.path}"
        if given.only and given.only not in name:
            continue

        def note(record: dict[str, Any]) -> None:
            records.append(record)
            if given.out:
                with Path(given.out).open("a") as stream:
                    stream.write(json.dumps(record) + "\n")

        started = time.monotonic()
        count = prove(subject, given.python, given.each, given.all_configs, note)
        mine = [r for r in records if r["file"] == name]
        print(f"{name}: {figure(mine, count)}, {time.monotonic() - started:.0f} s", flush=True)
        for record in mine:
            for line in listed(record):
                print("  " + line, flush=True)
    wrong = sum(r["class"] == "wrong-holds" for r in records)
    print(f"all: {figure(records, len(records))}")
    return 1 if wrong else 0


def prove(
    subject: Subject,
    python: str | None,
    each: int | None,
    every_config: bool,
    note: Callable[[dict[str, Any]], None],
) -> int:
    """Judges and runs the mutants of one file; gives how many there are in all."""
    name = f"{subject.release} {subject.path}"
    with Bench(subject.trainer, subject.server, python, subject.renames) as bench:
        tree = (bench.trainer if subject.side == "train" else bench.server).tree
        text = tree.read(subject.path).decode()
        found = mutants(text, subject.places)
        drawn = found
        if each is not None and each < len(found):
            drawn = random.Random(SEED).sample(found, each)  # noqa: S311 - a draw, no secret
        for mutant in drawn:
            outcomes = _outcomes(bench, subject, mutant, text, every_config)
            note(
                {
                    "file": name,
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
            )
    return len(found)


def _outcomes(
    bench: Bench, subject: Subject, mutant: Mutant, text: str, every: bool
) -> list[Outcome]:
    """Outcomes until one settles the mutant: it runs differently, and that is not denied."""
    outcomes: list[Outcome] = []
    files = {subject.path: mutant.apply(text)}
    for given in subject.givens:
        outcome = bench.outcome(given, subject.side, files)
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
    if all(o.seen == "none" for o in outcomes):
        return "no-verdict"
    held = all(o.status == "holds" for o in fair)
    return "equal-holds" if held else "equal-unproven"


def figure(records: list[dict[str, Any]], places: int) -> str:
    """One line of figures."""
    classes = Counter(r["class"] for r in records)
    unfaithful = sum(bool(r["unfaithful"]) for r in records)
    parts = [f"{classes[key]} {key}" for key in sorted(classes)]
    return f"{len(records)} of {places} mutants: {', '.join(parts)}; {unfaithful} unfaithful graphs"


def listed(record: dict[str, Any]) -> list[str]:
    """Survivors, alarms and unfaithful graphs, with what is known of them."""
    if record["class"] not in ("wrong-holds", "false-alarm", "bug") and not record["unfaithful"]:
        return []
    where = f"{record['operator']} at {record['place']}:{record['line']}"
    lines = [f"{record['class']}: {where}: {record['edit']}"]
    for given, seen, status, faithful, clauses, note in record["outcomes"]:
        if faithful is False or status == "bug" or (seen == "equal") == (status == "violated"):
            lines.append(f"    {given}: {seen}, {status} {clauses} faithful={faithful} {note}")
    return lines


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--python", help="an interpreter with torch (default: this one)")
    parser.add_argument("--each", type=int, help="mutants drawn from each file (default: all)")
    parser.add_argument("--only", help="files whose release and path contain this")
    parser.add_argument(
        "--all-configs", action="store_true", help="go on after the first difference"
    )
    parser.add_argument("--out", help="a file to which one JSON line a mutant is added")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
