"""Four figures: fidelity, mutants, refactorings, fuzz inputs.

    python benchmarks/proof.py [--quick] [--part PART] [--python PATH] [--jobs N] [--out FILE]

`fidelity`: graphs read from real releases compute what the real code does, under every switch.
`mutants`: none that runs differently is said to hold. `refactorings`: none that runs alike is said
to be violated. `fuzz`: no input, however broken, ends in a traceback or hangs.

Each part prints its figure and whatever speaks against it or is open, with the reason. With --out
every record is kept at once: the same command goes on where it was stopped, and leaves the figures
beside the file, as JSON and as a table in Markdown.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import fidelity, mutants, refactorings
from benchmarks.records import Figure, Record, Records, markdown

if TYPE_CHECKING:
    from collections.abc import Iterator

T = TypeVar("T")
SEED = 20
PARTS = ("fidelity", "mutants", "refactorings", "fuzz")
_MUTANTS, _FUZZED = 60, 2000
_QUICK = {"fidelity": 16, "mutants": 4, "refactorings": 16, "fuzz": 100}


def main() -> int:
    """Runs what was asked for; the exit status says whether anything speaks against it."""
    given = _arguments()
    records = Records(Path(given.out) if given.out else None)
    figures = []
    for part in given.part or PARTS:
        started = time.monotonic()
        figure = _fuzzed(given) if part == "fuzz" else _proven(part, given, records)
        figures.append(figure)
        print(f"{figure.line()} ({time.monotonic() - started:.0f} s)", flush=True)
        for line in (*(f"BUG {b}" for b in figure.bad), *(f"open {o}" for o in figure.open)):
            print("  " + line, flush=True)
    if given.out:
        whole = {f.name: f.whole() for f in figures}
        Path(given.out).with_suffix(".json").write_text(json.dumps(whole, indent=1), "utf-8")
        Path(given.out).with_suffix(".md").write_text(markdown(figures), "utf-8")
    return 1 if any(f.bad for f in figures) else 0


def _proven(part: str, given: argparse.Namespace, records: Records) -> Figure:
    """One part, in this process or in several."""
    if given.jobs == 1:
        for _ in _share(part, given, records, (0, 1)):
            pass
    else:
        with ProcessPoolExecutor(given.jobs) as pool:
            shares = [(part, given, records, (i, given.jobs)) for i in range(given.jobs)]
            for made in pool.map(_whole_share, shares):
                records.known.update(made)
    makers = {
        "fidelity": fidelity.figure,
        "mutants": mutants.figure,
        "refactorings": refactorings.figure,
    }
    return makers[part](records.of(part))


def _whole_share(task: tuple[str, argparse.Namespace, Records, tuple[int, int]]) -> dict[str, Any]:
    """A share of a part in a process of its own; a line of the file is written at once."""
    return {record["key"]: record for record in _share(*task)}


def _share(
    part: str, given: argparse.Namespace, records: Records, share: tuple[int, int]
) -> Iterator[Record]:
    index, of = share
    if part == "fidelity":
        chosen = _drawn(fidelity.combinations(), given.quick, part)
        yield from fidelity.prove(chosen[index::of], given.python, records)
    elif part == "refactorings":
        pairs = _drawn(refactorings.combinations(), given.quick, part)
        yield from refactorings.prove(pairs[index::of], given.python, records)
    else:
        each = _QUICK[part] if given.quick else given.each or None
        options = mutants.Options(given.python, each, given.only, given.all_configs, share)
        yield from mutants.prove(options, records)


def _drawn(found: list[T], quick: bool, part: str) -> list[T]:
    """All of them, or a sample that is the same every time, in the order of the whole."""
    if not quick or len(found) <= _QUICK[part]:
        return found
    kept = sorted(random.Random(SEED).sample(range(len(found)), _QUICK[part]))  # noqa: S311
    return [found[i] for i in kept]


def _fuzzed(given: argparse.Namespace) -> Figure:
    """Broken inputs by kind and by how they ended."""
    asked = "random and truncated Python, YAML, JSON and archives: no traceback, no hang"
    try:
        from benchmarks.fuzzing import fuzz
    except ImportError:
        return Figure("fuzz", asked, "not run: benchmarks/fuzzing.py is missing", {})
    result = fuzz(_QUICK["fuzz"] if given.quick else _FUZZED, SEED)
    offenders = tuple(map(str, result.offenders))
    counts = {str(kind): n for kind, n in sorted(dict(result.counts).items())}
    answer = f"{sum(counts.values())} inputs, {len(offenders)} tracebacks or hangs"
    return Figure("fuzz", asked, answer, counts, offenders)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--part", action="append", choices=PARTS, help="repeatable (default: all)")
    parser.add_argument("--quick", action="store_true", help="a sample, the same every time")
    parser.add_argument("--python", help="an interpreter with torch (default: this one)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: 1)")
    parser.add_argument("--out", help="a file for records, a JSON line each")
    parser.add_argument(
        "--each", type=int, default=_MUTANTS, help="mutants drawn from each file; 0: all of them"
    )
    parser.add_argument("--only", default="", help="mutants of files whose name contains this")
    parser.add_argument(
        "--all-configs", action="store_true", help="go on after a mutant's first difference"
    )
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
