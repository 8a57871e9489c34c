"""Markdown for a pull request's comment or a step's summary: the answer first, details folded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from checker.report.model import Status, Verdict
from checker.report.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from checker.contract.model import Contract
    from checker.report.model import ClauseResult, Report, SideValue

_SAID = {
    Verdict.AGREE: "computes what",
    Verdict.DIFFER: "does not compute what",
    Verdict.UNPROVEN: "is not proven to compute what",
}
_MARKS = {Verdict.AGREE: "✅", Verdict.DIFFER: "❌", Verdict.UNPROVEN: "❔"}


def render(report: Report, contract: Contract) -> str:
    """The whole report; what is folded opens with a click."""
    return "\n".join(_lines(report, contract)) + "\n"


def _lines(report: Report, contract: Contract) -> Iterator[str]:
    verdict = report.verdict
    train, serve = code(report.train.source), code(report.serve.source)
    yield f"### {_MARKS[verdict]} {serve} {_SAID[verdict]} {train} trained"
    yield ""
    yield from _configured(report)
    violated = [r for r in report.clauses if r.status is Status.VIOLATED]
    if violated:
        yield from _table(violated, contract)
        yield ""
        for result in violated:
            yield from _folded(f"{code_html(result.id)}: the lines", _finding(report, result))
    undecided = [r for r in report.clauses if r.undecided]
    if undecided:
        yield f"**Not proven ({len(undecided)})**"
        yield ""
        for result in undecided:
            waived = f" — waived: {plain(result.waived)}" if result.waived else ""
            yield f"- {code(result.id)}: {plain(result.reason or result.message)}{waived}"
        yield ""
    if report.complaints:
        yield "**Waivers that have to go**"
        yield ""
        yield from (f"- {plain(text)}" for text in report.complaints)
        yield ""
    yield from _folded("Assumed", [f"- {plain(text)}" for text in report.assumptions])
    counted = report.coverage
    yield (
        f"{len(report.clauses)} clauses: {counted.violated} violated, {counted.unproven} unproven,"
        f" {counted.holds} hold, {counted.not_applicable} not applicable"
    )


def _configured(report: Report) -> Iterator[str]:
    said = []
    for word, side in (("trained from", report.train), ("served from", report.serve)):
        given = side.configured
        if given is not None and given.path is not None:
            said.append(f"{word} {code(given.path)}")
    if said:
        yield ", ".join(said)
        yield ""


def _table(results: list[ClauseResult], contract: Contract) -> Iterator[str]:
    yield "| clause | what differs | to mend |"
    yield "| --- | --- | --- |"
    for result in results:
        clause = contract.clauses.get(result.id)
        name = code(result.id) + (f"<br>{plain(clause.title)}" if clause else "")
        what = plain(result.message)
        if result.error is not None:
            what += f" (raises {code(f'{result.error.type}: {result.error.message}')})"
        if result.waived is not None:
            what += f" — **waived**: {plain(result.waived)}"
        yield f"| {_cell(name)} | {_cell(what)} | {_cell(plain(result.remedy))} |"


def _finding(report: Report, result: ClauseResult) -> Iterator[str]:
    for word, value in (("trainer", result.train), ("server", result.serve)):
        yield from _side(report, word, value)
    if result.error is not None and result.error.location is not None:
        yield f"- raised at {code(str(result.error.location))}"
    if result.when:
        yield f"- when {code(' and '.join(result.when))}"
    yield f"- fingerprint {code(result.fingerprint)}"


def _side(report: Report, word: str, value: SideValue) -> Iterator[str]:
    if value.value is None and not value.locations:
        return
    yield f"- {word}: {code(value.value) if value.value else ''}".rstrip()
    for place in value.locations:
        line = report.excerpts.get(place)
        shown = f": {code(line.strip())}" if line else ""
        yield f"  - {code(str(place))}{shown}"


def _folded(summary: str, lines: Iterator[str] | list[str]) -> Iterator[str]:
    inside = [*lines]
    if inside:
        yield from (f"<details><summary>{summary}</summary>", "", *inside, "", "</details>", "")


def code(text: str) -> str:
    """Text as a code span, whatever is in it."""
    text = printable(" ".join(text.split()))
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def code_html(text: str) -> str:
    """The same where Markdown is not read, in a summary."""
    from html import escape

    return f"<code>{escape(printable(text))}</code>"


def plain(text: str) -> str:
    """Text in which nothing is a link, a mention, a tag or emphasis; code spans stay."""
    text = printable(" ".join(text.split()))
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return _escaped(text)
    return "`".join(part if odd else _escaped(part)
                    for odd, part in ((i % 2, p) for i, p in enumerate(parts)))  # fmt: skip


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>#|~@])", r"\\\1", text)


def _cell(text: str) -> str:
    """Text that does not end its table's cell."""
    return re.sub(r"(?<!\\)\|", r"\\|", text)
