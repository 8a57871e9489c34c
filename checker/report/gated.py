"""What an upgrade does to a draft, for people, pull requests and programs."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING

from checker.report import markdown, text
from checker.report.changes import Kind
from checker.report.model import EXIT_STATUS, UNUSABLE, Status, Verdict
from checker.report.terminal import Paint, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from checker.contract.model import Contract
    from checker.report.changes import Change, Changes
    from checker.report.model import ClauseResult, Json, Report

SCHEMA = 1
_SAID = {
    Verdict.AGREE: "this draft is served as it was trained",
    Verdict.DIFFER: "this draft is not served as it was trained",
    Verdict.UNPROVEN: "it is not proven that this draft is served as it was trained",
}
_MARKS = {Verdict.AGREE: "✅", Verdict.DIFFER: "❌", Verdict.UNPROVEN: "❔"}
_WORST = (UNUSABLE, EXIT_STATUS[Verdict.DIFFER], EXIT_STATUS[Verdict.UNPROVEN], 0)
"""Exit statuses, the worst first."""
_SHOWN = 3
"""So many changes are named; all of them are in the details."""


@dataclass(frozen=True, slots=True)
class Move:
    """A pin that has another release than before, or one of `old` and `new` alone.

    `path` and `line` are where it is now; where it was, if it is there no longer.
    """

    name: str
    old: str | None
    new: str | None
    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.name} {self.old or '(new)'} → {self.new or '(no longer pinned)'}"

    def to_json(self) -> dict[str, Json]:
        """The move as its schema has it."""
        return {
            "name": self.name,
            "old": self.old,
            "new": self.new,
            "path": self.path,
            "line": self.line,
        }


@dataclass(frozen=True, slots=True)
class Gated:
    """The answer of ``gate``: which pins moved, what that changes, and the check afterwards.

    There is a report for each pair of releases that is pinned now: more than one where pins of one
    project moved to several. Where nothing moved there is none: nothing was checked. `notes` say
    what was checked because nothing pins it.
    """

    base: str
    moves: tuple[Move, ...] = ()
    changes: tuple[Changes, ...] = ()
    reports: tuple[Report, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def report(self) -> Report | None:
        """The worst report; the first of equal ones. None where nothing was checked."""
        return min(self.reports, key=lambda r: _WORST.index(r.exit_status), default=None)

    @property
    def exit_status(self) -> int:
        """That of the worst check; 0 where nothing moved."""
        return 0 if self.report is None else self.report.exit_status

    def to_json(self) -> dict[str, Json]:
        """The answer as its schema has it."""
        return {
            "schema": SCHEMA,
            "base": self.base,
            "moves": [move.to_json() for move in self.moves],
            "diffs": [found.to_json() for found in self.changes],
            "report": None if self.report is None else self.report.to_json(),
            "reports": [report.to_json() for report in self.reports],
        }


def render(found: Gated, contract: Contract, paint: Paint = Paint()) -> str:  # noqa: B008
    """The answer in a few lines, and the whole report below."""
    if found.report is None:
        return f"no pin moved since {printable(found.base)}: nothing to check\n"
    lines = [f"{_moves(found)}: {_SAID[found.report.verdict]}"]
    lines += [f" - {line}" for line in _lines(found, plain=True)]
    whole = [text.render(report, contract, paint=paint) for report in found.reports]
    return "\n".join(map(printable, lines)) + "\n\n" + "\n".join(whole)


def render_markdown(found: Gated, contract: Contract) -> str:
    """Five lines for a pull request, and the whole report to unfold."""
    if found.report is None:
        return f"✅ No pin moved since {markdown.code(found.base)}: nothing to check.\n"
    verdict = found.report.verdict
    lines = [f"### {_MARKS[verdict]} {markdown.plain(_moves(found))}: {_SAID[verdict]}", ""]
    lines += [f"- {line}" for line in _lines(found, plain=False)]
    for report in found.reports:
        which = f" on {_pair(report, html.escape)}" if len(found.reports) > 1 else ""
        whole = markdown.render(report, contract)
        lines += ["", f"<details><summary>The whole report{which}</summary>", "", whole]
        lines += ["</details>"]
    return "\n".join(lines) + "\n"


def _pair(report: Report, code: Callable[[str], str]) -> str:
    return f"{code(report.train.source)} with {code(report.serve.source)}"


def _moves(found: Gated) -> str:
    return ", ".join(map(str, found.moves))


def _lines(found: Gated, *, plain: bool) -> Iterator[str]:
    """Where it is pinned, before and after, what changed, and what to do."""

    def code(said: str) -> str:
        return said if plain else markdown.code(said)

    def prose(said: str) -> str:
        return said if plain else markdown.plain(said)

    report = found.report
    if report is None:
        return
    places = [
        f"{'' if move.new else 'was '}pinned in {code(f'{move.path}:{move.line}')}"
        for move in found.moves
    ]
    if len(found.reports) > 1:
        yield f"{', '.join(places)}; {len(found.reports)} pairs are checked"
        for one in found.reports:
            yield f"{_pair(one, code)}: {_now(one, code)}"
    else:
        yield f"{', '.join(places)}; trained by {code(report.train.source)}, served by " + code(
            report.serve.source
        )
        # Each comparison is beside the other side as it is now: of two, neither tells what was.
        only = found.changes[0] if len(found.moves) == len(found.changes) == 1 else None
        before = only.draft[0] if only is not None and only.draft is not None else None
        now = _now(report, code)
        yield f"before: {before}, after: {now}" if before else f"now: {now}"
    yield from map(prose, found.notes)
    yield f"changed in meaning: {_changed(found, prose)}"
    bad = _bad(report)
    remedies = list(dict.fromkeys(r.remedy for r in bad if r.remedy and r.waived is None))
    if remedies:
        more = f" (and {len(remedies) - 1} more)" if len(remedies) > 1 else ""
        yield f"to mend: {prose(remedies[0])}{more}"


def _bad(report: Report) -> list[ClauseResult]:
    return [r for r in report.clauses if r.status is Status.VIOLATED or r.undecided]


def _now(report: Report, code: Callable[[str], str]) -> str:
    """The verdict, and the clauses that are not waived."""
    names = ", ".join(code(r.id) for r in _bad(report) if r.waived is None)
    return f"{report.verdict.value}{f' ({names})' if names else ''}"


def _changed(found: Gated, prose: Callable[[str], str]) -> str:
    changes = [change for part in found.changes for change in part.changes]
    if not changes and len(found.changes) < len(found.moves):
        return "not known: there are no two releases to compare"
    if not changes:
        return "nothing that this draft meets"
    said = [_change(change, prose) for change in changes[:_SHOWN]]
    more = len(changes) - _SHOWN
    return "; ".join(said) + (f"; and {more} more" if more > 0 else "")


def _change(change: Change, prose: Callable[[str], str]) -> str:
    kind = "not known" if change.kind is Kind.UNKNOWN else change.kind.value
    clauses = f" {', '.join(change.clauses)}" if change.clauses else ""
    return f"{kind}{clauses}: {prose(change.message)}"
