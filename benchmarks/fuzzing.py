"""Does every input get an answer? Hostile sources, configurations, contracts and archives.

    python benchmarks/fuzzing.py [--count N] [--seed S] [--kind KIND] [--input N] [--seconds T]

Each input is made from the seed, its kind and its number alone, and given to the program's own
entry. Whatever it is, the program has to end within the time limit with status 0, 1, 2 or 3, say
nothing like a traceback, for status 2 one line that names the file and a remedy, and print a report
that is JSON and fits its schema. Offenders are listed with the words that make them again.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.fuzz.inputs import KINDS, Real, copy_releases
from benchmarks.fuzz.oracle import faults
from benchmarks.fuzz.running import SECONDS, Server, can_start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchmarks.fuzz.cases import Case, Ran

REAL = "real programs"
SHARES = {
    "programs": 8, "configurations": 4, "contracts": 3, "archives": 3, "checkpoints": 1, "words": 1,
    REAL: 1,
}  # fmt: skip
"""Of 21 inputs, so many are of each kind."""
FRESH = 50
"""Every so-manieth input is run in a process of its own, as a user runs the program."""


@dataclass(frozen=True, slots=True)
class Offender:
    """An input with which something is wrong, and how to make it again."""

    kind: str
    number: int
    seed: int
    how: str
    faults: tuple[str, ...]

    @property
    def again(self) -> str:
        """The command that runs it again."""
        return (
            f"benchmarks/fuzzing.py --kind '{self.kind}' --seed {self.seed} --input {self.number}"
        )


@dataclass(slots=True)
class FuzzResult:
    """How many inputs of each kind ended with which status, and what was wrong."""

    counts: dict[str, Counter[int]] = field(default_factory=dict)
    offenders: list[Offender] = field(default_factory=list)
    slowest: tuple[float, str] = (0.0, "")
    notes: list[str] = field(default_factory=list)

    @property
    def inputs(self) -> int:
        """How many inputs were run."""
        return sum(sum(counter.values()) for counter in self.counts.values())


def fuzz(
    count: int,
    seed: int,
    *,
    kinds: Sequence[str] = tuple(SHARES),
    numbers: Sequence[int] | None = None,
    seconds: float = SECONDS,
    note: Callable[[str, Case, Ran, list[str]], None] | None = None,
) -> FuzzResult:
    """Runs `count` hostile inputs.

    Args:
        count: how many.
        seed: the same seed makes the same inputs.
        kinds: which kinds to draw from.
        numbers: of each kind, run these inputs instead.
        seconds: processor time that one may take.
        note: told of each run, and of what is wrong with it.
    """
    result = FuzzResult()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name, Server(seconds) as server:
        place = Path(name)
        makers = dict(KINDS)
        if REAL in kinds:
            copies = copy_releases(place)
            if copies is None:
                result.notes.append(f"no {REAL}: the releases are not cached")
            else:
                makers[REAL] = Real(copies, place)
        drawn = {kind: SHARES[kind] for kind in kinds if kind in makers}
        pairs = [(k, n) for k in drawn for n in numbers] if numbers else _plan(drawn, count)
        for at, (kind, number) in enumerate(pairs):
            rng = random.Random(f"{seed}/{kind}/{number}")  # noqa: S311 - a draw, no secret
            with tempfile.TemporaryDirectory(dir=place, prefix="input-") as folder:
                case = makers[kind](rng, Path(folder), number)
                fresh = at % FRESH == FRESH // 5 and can_start(case.argv)
                ran = (server.run_fresh if fresh else server.run)(case.argv)
            result.counts.setdefault(kind, Counter())[ran.status] += 1
            result.slowest = max(result.slowest, (ran.seconds, f"{kind} {number}: {case.how}"))
            found = faults(case, ran)
            if found:
                result.offenders.append(Offender(kind, number, seed, case.how, tuple(found)))
            if note is not None:
                note(kind, case, ran, found)
    return result


def _plan(shares: dict[str, int], count: int) -> Iterator[tuple[str, int]]:
    """Kinds in turn, by their shares; each counts its own inputs."""
    made: Counter[str] = Counter()
    for _ in range(count if shares else 0):
        kind = min(shares, key=lambda k: (made[k] + 1) / shares[k])
        yield kind, made[kind]
        made[kind] += 1


def main() -> int:
    """Runs what was asked for; the exit status says whether anything was wrong."""
    given = _arguments()
    kinds = given.kind or tuple(SHARES)
    numbers = None if given.input is None else [given.input]
    started = time.monotonic()
    result = fuzz(
        given.count, given.seed, kinds=kinds, numbers=numbers, seconds=given.seconds,
        note=_show if numbers else _tell,
    )  # fmt: skip
    for line in summary(result):
        print(line)
    print(f"{time.monotonic() - started:.0f} s")
    return 1 if result.offenders else 0


def summary(result: FuzzResult) -> Iterator[str]:
    """What is printed of a result."""
    for kind in sorted(result.counts):
        counter = result.counts[kind]
        statuses = ", ".join(f"{counter[status]} with {status}" for status in sorted(counter))
        yield f"{kind}: {sum(counter.values())} inputs: {statuses}"
    yield f"all: {result.inputs} inputs, {len(result.offenders)} offenders"
    yield f"slowest: {result.slowest[0]:.1f} s, {result.slowest[1]}"
    yield from result.notes
    for offender in result.offenders:
        yield f"{offender.kind} {offender.number}: {offender.how}"
        yield from (f"    {fault}" for fault in offender.faults)
        yield f"    again: {offender.again}"


def _tell(kind: str, case: Case, _: Ran, found: list[str]) -> None:
    """Says at once what a long run has found."""
    if found:
        print(f"{kind}: {case.how}: {found[0]}", flush=True)


def _show(kind: str, case: Case, ran: Ran, _: list[str]) -> None:
    print(f"{kind}: {case.how}\n{case.argv}\n{ran.status} after {ran.seconds:.1f} s")
    print(ran.out[-3000:] + ran.err[-3000:])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=2100, help="how many inputs")
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--kind", action="append", choices=sorted(SHARES), help="(repeatable)")
    parser.add_argument("--input", type=int, help="run this input of each kind, and show it")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="processor time")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
