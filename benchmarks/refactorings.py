"""Is a rewrite that changes no number left in peace? Rewrites of real draft files, judged and run.

Each of `benchmarks.rewrites` is run for real: it has to give what the unedited file gives, or it is
no rewrite. Reading the edited pair then must not say `violated`.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from benchmarks import drafts
from benchmarks.editing import Source
from benchmarks.outcomes import SAME
from benchmarks.pairs import Bench, Given
from benchmarks.records import Figure, Record, Records
from benchmarks.rewrites import REWRITES, Rewrite

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchmarks.outcomes import Outcome

TRAINER = "speculators==0.9.0"


def combinations() -> list[tuple[str, str]]:
    """(rewrite, server release), those of one release together: they share a bench."""
    pairs = [(name, v) for name, rewrite in REWRITES.items() for v in rewrite.versions]
    return sorted(pairs, key=lambda pair: (pair[1], pair[0]))


def prove(
    chosen: Iterable[tuple[str, str]], python: str | None, records: Records
) -> Iterator[Record]:
    """Judges and runs what has not been yet; gives each record as it is made."""
    wanted = [c for c in chosen if f"refactorings {c[1]} {c[0]}" not in records]
    for version in sorted({v for _, v in wanted}):
        with bench_of(version, python) as bench:
            for name in (n for n, v in wanted if v == version):
                made = record(bench, name, version)
                records.add(made)
                yield made


def bench_of(version: str, python: str | None) -> Bench:
    """The pair with one release of the server, with what a conversion has to do for it."""
    renames = (("layers.0", "midlayer"),) if version == "0.5.9" else ()
    return Bench(TRAINER, f"sglang=={version}", python, renames)


def record(bench: Bench, name: str, version: str) -> Record:
    """One rewrite, judged and run."""
    rewrite = REWRITES[name]
    tree = (bench.trainer if rewrite.side == "train" else bench.server).tree
    source = Source(tree.read(rewrite.file).decode())
    rewrite.edit(source)
    outcome = bench.outcome(given(rewrite), rewrite.side, {rewrite.file: source.result()})
    return {
        "key": f"refactorings {version} {name}",
        "part": "refactorings",
        "name": name,
        "version": version,
        "class": classify(outcome),
        "moved": outcome.moved,
        "faithful": outcome.faithful,
        "status": outcome.status,
        "note": ", ".join((*outcome.clauses, outcome.note)).strip(", ")[:300],
    }


def given(rewrite: Rewrite) -> Given:
    """The configurations of a rewrite: its switches are on, on both sides."""
    switches = rewrite.switches
    name = "plain" if not switches else ", ".join(sorted(switches))
    return Given(name, drafts.train(**switches), drafts.serve(**switches), drafts.TARGET)


def classify(outcome: Outcome) -> str:
    """What is said of a rewrite that is one; `no-rewrite` and `not-run` are none of ours."""
    if outcome.status == "bug":
        return "bug"
    if outcome.moved is None:
        return "not-run"
    return outcome.status if outcome.moved <= SAME else "no-rewrite"


def figure(found: list[Record]) -> Figure:
    """How many hold, and what is said of the others."""
    classes = Counter(r["class"] for r in found)
    ran = [r["moved"] for r in found if r["class"] in ("holds", "unproven", "violated")]
    unfaithful = [r for r in found if _unfaithful(r)]
    answer = (
        f"{len(found)} rewrites ({len({r['name'] for r in found})} kinds), {len(ran)} run to at"
        f" most {max(ran, default=0.0):.1e} of the original: {classes['holds']} hold,"
        f" {classes['unproven']} unproven, {classes['violated']} violated"
    )
    wrong = ("violated", "bug", "no-rewrite")
    return Figure(
        "refactorings",
        "edits that change no number, proven by running them, and what is said of them",
        answer,
        {"rewrites": len(found), "largest difference": max(ran, default=0.0),
         **dict(sorted(classes.items())), "unfaithful": len(unfaithful)},
        tuple(_line(r) for r in found if r["class"] in wrong or _unfaithful(r)),
        tuple(_line(r) for r in found if r["class"] in ("unproven", "not-run")),
    )  # fmt: skip


def _unfaithful(record: Record) -> bool:
    return record["faithful"] is False and record["class"] != "not-run"


def _line(record: Record) -> str:
    return f"{record['class']}: {record['name']} ({record['version']}): {record['note']}"
