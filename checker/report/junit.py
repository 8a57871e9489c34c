"""JUnit XML, for the test views of CI servers: a test case for each clause."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

from checker.report.model import NOT_IMPLEMENTED, Status
from checker.report.places import upstream
from checker.report.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from checker.report.model import ClauseResult, Report
    from checker.report.places import Repository


def render(report: Report, repository: Repository) -> str:
    """One test suite. Violated clauses fail, unproven ones are errors, others pass or are skipped.

    Exit status and failures tell the same story: what is waived, and what `--max-unproven` allows,
    is skipped with its reason.
    """
    cases = [_case(report, result, repository) for result in report.clauses]
    cases += [*_waivers(report)]
    counts = {kind: sum(case.find(kind) is not None for case in cases)
              for kind in ("failure", "error", "skipped")}  # fmt: skip
    suite = ElementTree.Element(
        "testsuite",
        name=_plain(f"{report.train.source} served by {report.serve.source}"),
        tests=str(len(cases)),
        failures=str(counts["failure"]),
        errors=str(counts["error"]),
        skipped=str(counts["skipped"]),
        time="0",
    )
    suite.extend(cases)
    suites = ElementTree.Element("testsuites", name="eagle3-check")
    suites.append(suite)
    ElementTree.indent(suites)
    text = ElementTree.tostring(suites, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _case(report: Report, result: ClauseResult, repository: Repository) -> ElementTree.Element:
    pair = f"{report.train.source} served by {report.serve.source}"
    case = ElementTree.Element("testcase", classname=_plain(pair), name=result.id, time="0")
    kind, message = _outcome(report, result)
    if kind:
        ending = ElementTree.SubElement(case, kind, message=_plain(message))
        if kind != "skipped":
            kind = result.error.type if result.error else result.status.value
            ending.set("type", _plain(kind))
        ending.text = "\n".join(map(_plain, _details(report, result, repository)))
    return case


def _waivers(report: Report) -> Iterator[ElementTree.Element]:
    """A case that fails where waivers have to go."""
    if report.complaints:
        case = ElementTree.Element("testcase", classname="eagle3-check", name="waivers", time="0")
        ending = ElementTree.SubElement(case, "error", message=_plain(report.complaints[0]))
        ending.set("type", "waivers")
        ending.text = "\n".join(map(_plain, report.complaints))
        yield case


def _outcome(report: Report, result: ClauseResult) -> tuple[str, str]:
    said = result.message or result.reason or ""
    if result.waived is not None:
        return "skipped", f"waived: {result.waived} ({said})"
    match result.status:
        case Status.VIOLATED:
            return "failure", said
        case Status.UNPROVEN if result.reason == NOT_IMPLEMENTED:
            return "skipped", "not checked yet"
        case Status.UNPROVEN if report.tolerates_unproven:
            return "skipped", f"unproven, which is allowed: {result.reason}"
        case Status.UNPROVEN:
            return "error", f"unproven: {result.reason}"
        case Status.NOT_APPLICABLE:
            return "skipped", f"not applicable: {result.reason or 'nothing to compare'}"
        case Status.HOLDS:
            return "", ""


def _details(report: Report, result: ClauseResult, repository: Repository) -> list[str]:
    place = repository.place_of(report, result)
    lines = [f"shown at: {place.path}:{place.line}"] if place is not None else []
    lines += [f"trainer: {result.train.value}"] if result.train.value else []
    lines += [f"server: {result.serve.value}"] if result.serve.value else []
    lines += [f"{place.source}: {place}" for _, place in upstream(report, result)]
    lines += [f"when: {' and '.join(result.when)}"] if result.when else []
    lines += [f"to mend: {result.remedy}"] if result.remedy else []
    return lines


def _plain(text: str) -> str:
    """Text without characters that XML cannot have, which checked code may well contain."""
    return printable(" ".join(text.split()))
