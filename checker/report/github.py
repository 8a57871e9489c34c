"""Workflow commands of GitHub Actions: each finding at its line of the pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.report.model import Status
from checker.report.places import upstream
from checker.report.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from checker.contract.model import Contract
    from checker.report.model import ClauseResult, Report
    from checker.report.places import Repository

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def render(report: Report, contract: Contract, repository: Repository) -> str:
    """A command a line for what is violated or unproven; nothing where everything holds."""
    return "".join(f"{line}\n" for line in _lines(report, contract, repository))


def _lines(report: Report, contract: Contract, repository: Repository) -> Iterator[str]:
    for complaint in report.complaints:
        yield f"::error title=waivers::{_data(complaint)}"
    for result in report.clauses:
        if result.status is not Status.VIOLATED and not result.undecided:
            continue
        command = (
            _COMMANDS[result.severity.value] if result.status is Status.VIOLATED else "warning"
        )
        if result.waived is not None:
            command = "notice"
        clause = contract.clauses.get(result.id)
        title = f"{result.id}: {clause.title}" if clause else result.id
        properties = {"title": title}
        place = repository.place_of(report, result)
        if place is not None:
            properties = {"file": place.path, "line": str(place.line), "title": title}
        listed = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
        yield f"::{command} {listed}::{_data(_message(report, result))}"


def _message(report: Report, result: ClauseResult) -> str:
    said = [result.message or "is not proven"]
    said += [f"waived: {result.waived}"] if result.waived is not None else []
    said += [f"because: {result.reason}"] if result.undecided and result.reason else []
    said += [f"raises {result.error.type}: {result.error.message}"] if result.error else []
    for word, value in (("trainer", result.train.value), ("server", result.serve.value)):
        said += [f"{word}: {value}"] if value else []
    said += [f"at {place.source}: {place}" for _, place in upstream(report, result)]
    said += [f"to mend: {result.remedy}"] if result.remedy else []
    return "\n".join(said)


def _data(text: str) -> str:
    """A message as the runner reads it back; checked text cannot start a command of its own."""
    lines = (printable(line) for line in text.split("\n"))
    return "\n".join(lines).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
