"""The format for people: the verdict first and last, and in between what a tired engineer needs."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from checker.report.explored import table
from checker.report.model import NOT_IMPLEMENTED, Status, Verdict
from checker.report.terminal import Paint, printable
from checker.report.witnessed import Seen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from checker.contract.model import Contract
    from checker.location import Location
    from checker.report.model import ClauseResult, Report, Side, SideValue

WIDTH = 96
"""Prose is wrapped here whatever the terminal is, so that output is the same everywhere."""

_LABEL = 10
_INDENT = 3
_STYLES = {Verdict.AGREE: "bold green", Verdict.DIFFER: "bold red", Verdict.UNPROVEN: "bold yellow"}


def render(
    report: Report,
    contract: Contract,
    source_line: Callable[[Location], str | None] | None = None,
    paint: Paint = Paint(),  # noqa: B008 - a value, not a resource
) -> str:
    """The whole report as text, ending in a newline."""
    writer = _Writer(report, contract, source_line or report.excerpts.get, paint)
    return "\n".join(writer.lines()) + "\n"


class _Writer:
    def __init__(
        self,
        report: Report,
        contract: Contract,
        source_line: Callable[[Location], str | None],
        paint: Paint,
    ) -> None:
        self._report = report
        self._contract = contract
        self._source_line = source_line
        self._paint = paint

    def lines(self) -> Iterator[str]:
        yield from self._contradiction()
        yield self._verdict()
        yield from self._configurations()
        for number, clause in enumerate(self._with(Status.VIOLATED), start=1):
            yield ""
            yield from self._finding(number, clause)
        yield from self._unproven()
        yield from self._listed("Waivers that have to go", self._report.complaints)
        yield from self._not_applicable()
        yield from self._listed("Holds under this configuration, but", self._provisos())
        yield from table(self._report.configurations, self._paint)
        yield from self._witness()
        if self._report.stored is not None:
            heading = f"Tensors of {self._report.stored.folder}"
            yield from self._listed(heading, [*self._report.stored.lines()])
        yield from self._listed("Assumed", self._report.assumptions)
        yield from self._unchecked()
        yield ""
        yield self._counts()
        yield self._closing()

    def _contradiction(self) -> Iterator[str]:
        """A witness that says otherwise comes before everything else."""
        witness = self._report.witness
        if witness is not None and witness.agrees is False:
            said = f"CONTRADICTED: running the code gave {witness.seen.value} results"
            yield self._paint("bold red", f"{said}, which is not what was concluded below")

    def _witness(self) -> Iterator[str]:
        witness = self._report.witness
        if witness is None:
            return
        match witness.seen:
            case Seen.NO_VERDICT:
                said = f"no verdict: {witness.reason}"
            case Seen.EQUAL:
                said = f"equal over {witness.steps} steps, at most {witness.largest:.1e} apart"
            case Seen.DIFFERENT:
                apart = "" if witness.largest is None else f", up to {witness.largest:.1e} apart"
                said = f"different{apart}" + (f": {witness.reason}" if witness.reason else "")
        agrees = {True: "as concluded from the sources", False: "CONTRADICTS the report"}
        agreement = "" if witness.agrees is None else f" ({agrees[witness.agrees]})"
        notes = [f"{said}{agreement}"]
        if witness.out_of_reach:
            notes.append(f"out of its reach: {', '.join(witness.out_of_reach)}")
        yield from self._listed("Witness (the real code on small random numbers)", tuple(notes))

    def _provisos(self) -> tuple[str, ...]:
        """What was found out about other configurations where a clause holds under this one."""
        return tuple(f"{c.id}: {c.message}" for c in self._with(Status.HOLDS) if c.message)

    # --- verdict -----------------------------------------------------------------------------

    def _verdict(self) -> str:
        train, serve = _name(self._report.train), _name(self._report.serve)
        match self._report.verdict:
            case Verdict.AGREE:
                said = f"AGREE: {serve} computes what {train} trained"
            case Verdict.DIFFER:
                said = f"DIFFER: {serve} does not compute what {train} trained"
            case Verdict.UNPROVEN:
                said = f"UNPROVEN: nothing found that {serve} computes otherwise than {train}"
                said += " trained, and not everything proven"
        return self._paint(_STYLES[self._report.verdict], printable(said))

    def _configurations(self) -> Iterator[str]:
        """Which configurations were read, and as what."""
        sides = (("trained", self._report.train), ("served", self._report.serve))
        said = []
        for word, side in sides:
            given = side.configured
            if given is not None and given.path is not None:
                title = given.title or "a format that is not known"
                said.append(f"{word} from {given.path} ({title})")
        if said:
            yield from (self._paint("dim", line) for line in _wrapped(", ".join(said), "", "  "))

    def _counts(self) -> str:
        coverage = self._report.coverage
        undecided = sum(clause.undecided for clause in self._report.clauses)
        counts = (
            f"{coverage.violated} violated",
            f"{undecided} unproven",
            f"{coverage.holds} hold",
            f"{coverage.not_applicable} not applicable",
            f"{coverage.unproven - undecided} not checked yet",
        )
        return self._paint("dim", f"{len(self._report.clauses)} clauses: {', '.join(counts)}")

    def _closing(self) -> str:
        report = self._report
        match report.verdict:
            case Verdict.AGREE:
                said = f"AGREE: {report.coverage.holds} clauses hold"
            case Verdict.DIFFER:
                ids = [clause.id for clause in self._with(Status.VIOLATED)]
                said = f"DIFFER: {len(ids)} violated: {', '.join(ids)}{self._waived()}"
            case Verdict.UNPROVEN:
                ids = [clause.id for clause in report.clauses if clause.undecided]
                said = f"UNPROVEN: {len(ids)} unproven: {', '.join(ids)}"
                said += self._waived()
                if report.max_unproven:
                    said += f" ({report.max_unproven} allowed)"
        if report.complaints:
            count = len(report.complaints)
            what = "1 waiver has" if count == 1 else f"{count} waivers have"
            said += f"; {what} to go: {printable(report.complaints[0])}"
        return self._paint(_STYLES[report.verdict], said)

    def _waived(self) -> str:
        count = sum(clause.waived is not None for clause in self._report.clauses)
        return f" ({count} waived)" if count else ""

    # --- findings ----------------------------------------------------------------------------

    def _finding(self, number: int, clause: ClauseResult) -> Iterator[str]:
        known = self._contract.clauses.get(clause.id)
        title = f": {known.title}" if known else ""
        severity = "" if clause.severity.value == "error" else f" [{clause.severity.value}]"
        heading = self._paint("bold red", clause.id) + self._paint("bold", title)
        yield f"{number}. {heading}{severity}"
        yield from self._prose("", clause.message)
        yield from self._side("trainer", self._report.train, clause.train)
        yield from self._side("server", self._report.serve, clause.serve)
        yield from self._error(clause)
        yield from self._prose("when", " and ".join(clause.when) or "always")
        yield from self._prose("effect", known.effect if known else "")
        yield from self._prose("to mend", clause.remedy)
        yield from self._prose("known as", clause.fingerprint, style="dim")
        yield from self._prose("waived", clause.waived or "", style="yellow")

    def _side(self, label: str, side: Side, value: SideValue) -> Iterator[str]:
        if value.value is None and not value.locations:
            return
        yield from self._prose(label, value.value or "", style="blue")
        for location in value.locations:
            yield from self._place(location, side)

    def _place(self, location: Location, side: Side) -> Iterator[str]:
        margin = " " * (_INDENT + _LABEL)
        foreign = "" if location.source == side.source else f"{location.source}: "
        yield margin + self._paint("dim", printable(f"{foreign}{location}"))
        line = self._source_line(location)
        if line is not None:
            yield f"{margin}    {printable(line.strip())}"

    def _error(self, clause: ClauseResult) -> Iterator[str]:
        error = clause.error
        if error is None:
            return
        yield from self._prose("raises", f"{error.type}: {error.message}", style="yellow")
        if error.location is not None:
            source = error.location.source
            train = self._report.train
            side = train if source == train.source else self._report.serve
            yield from self._place(error.location, side)

    # --- the rest ----------------------------------------------------------------------------

    def _unproven(self) -> Iterator[str]:
        clauses = [clause for clause in self._report.clauses if clause.undecided]
        if not clauses:
            return
        yield ""
        yield self._paint("bold", "Not proven")
        groups: dict[tuple[str, str | None, SideValue, SideValue], list[str]] = {}
        for clause in clauses:
            said = clause.reason or "no reason known"
            said += f". {clause.message}" if clause.message else ""
            key = (said, clause.waived, clause.train, clause.serve)
            groups.setdefault(key, []).append(clause.id)
        for (said, waived, train, serve), ids in groups.items():
            wrapped = textwrap.wrap(", ".join(ids), WIDTH - _INDENT)
            yield from (" " * _INDENT + self._paint("yellow", line) for line in wrapped)
            yield from self._prose("because", said)
            yield from self._prose("waived", waived or "", style="yellow")
            yield from self._side("trainer", self._report.train, train)
            yield from self._side("server", self._report.serve, serve)

    def _not_applicable(self) -> Iterator[str]:
        rows = [
            f"{clause.id}: {clause.reason or 'nothing to compare under this configuration'}"
            for clause in self._with(Status.NOT_APPLICABLE)
        ]
        yield from self._listed("Not applicable", rows)

    def _unchecked(self) -> Iterator[str]:
        ids = [clause.id for clause in self._report.clauses if clause.reason == NOT_IMPLEMENTED]
        if ids:
            yield from self._listed("Not checked yet by this version", [", ".join(ids)])

    def _listed(self, heading: str, rows: tuple[str, ...] | list[str]) -> Iterator[str]:
        if not rows:
            return
        yield ""
        yield self._paint("bold", heading)
        for row in rows:
            yield from _wrapped(row, " - ", "   ")

    def _prose(self, label: str, text: str, style: str = "") -> Iterator[str]:
        if not text:
            return
        margin = " " * _INDENT
        if not label:
            yield from _wrapped(text, margin, margin)
            return
        hanging = margin + " " * _LABEL
        for number, line in enumerate(_wrapped(text, hanging, hanging)):
            content = self._paint(style, line[len(hanging) :]) if style else line[len(hanging) :]
            head = margin + self._paint("dim", f"{label:<{_LABEL}}") if number == 0 else hanging
            yield head + content

    def _with(self, status: Status) -> list[ClauseResult]:
        return [clause for clause in self._report.clauses if clause.status is status]


def _wrapped(text: str, first: str, later: str) -> list[str]:
    return textwrap.wrap(
        printable(" ".join(text.split())),
        width=WIDTH,
        initial_indent=first,
        subsequent_indent=later,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _name(side: Side) -> str:
    """What to call a side: its source, and the engine where the source does not say it."""
    return side.source if side.engine in side.source else f"{side.engine} in {side.source}"
