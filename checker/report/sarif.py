"""SARIF 2.1.0, for code scanning: a rule for each clause, a result for each finding.

Violations are results of kind ``fail``; what is not proven is of kind ``open``, as the standard
calls an evaluation that came to no end. Primary locations are lines of the user's repository, lines
of either engine are related locations.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from checker._version import __version__
from checker.report.model import Status
from checker.report.places import upstream

if TYPE_CHECKING:
    from checker.contract.model import Clause, Contract
    from checker.location import Location
    from checker.report.model import ClauseResult, Json, Report, Side
    from checker.report.places import Place, Repository

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_ROOT = "%SRCROOT%"


def document(report: Report, contract: Contract, repository: Repository) -> dict[str, Json]:
    """The whole log, with one run."""
    rules = sorted(contract.clauses.values(), key=lambda clause: clause.id)
    order = {clause.id: index for index, clause in enumerate(rules)}
    found = [r for r in report.clauses if r.status is Status.VIOLATED or r.undecided]
    results: list[Json] = [_result(report, r, order.get(r.id), repository) for r in found]
    run: dict[str, Json] = {
        "tool": {
            "driver": {
                "name": "eagle3-check",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": [_rule(clause) for clause in rules],
            }
        },
        "automationDetails": {"id": f"eagle3-check/{report.train.source}/{report.serve.source}/"},
        "invocations": [_invocation(report)],
        "originalUriBaseIds": _bases(report, found),
        "columnKind": "unicodeCodePoints",
        "results": results,
        "properties": {
            "verdict": report.verdict.value,
            "coverage": report.coverage.to_json(),
            "assumptions": list(report.assumptions),
        },
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _invocation(report: Report) -> dict[str, Json]:
    told: list[Json] = [{"level": "error", "message": {"text": text}} for text in report.complaints]
    notes: dict[str, Json] = {"toolConfigurationNotifications": told} if told else {}
    return {"executionSuccessful": True, "exitCode": report.exit_status, **notes}


def _rule(clause: Clause) -> dict[str, Json]:
    text = f"{clause.why}\n\nEffect: {clause.effect}\n\nTo mend: {clause.remedy}"
    markdown = f"{clause.why}\n\n**Effect:** {clause.effect}\n\n**To mend:** {clause.remedy}"
    links = "".join(f"\n- <{link}>" for link in clause.references)
    return {
        "id": clause.id,
        "name": "".join(part.capitalize() for part in clause.id.split("-")),
        "shortDescription": {"text": clause.title},
        "fullDescription": {"text": clause.statement},
        "help": {"text": text, "markdown": markdown + (f"\n{links}" if links else "")},
        "defaultConfiguration": {"level": _LEVELS[clause.severity.value]},
        "properties": {"tags": ["eagle3"]},
    }


def _result(
    report: Report, result: ClauseResult, index: int | None, repository: Repository
) -> dict[str, Json]:
    violated = result.status is Status.VIOLATED
    primary = repository.place_of(report, result)
    lines = [*upstream(report, result)]
    related: list[Json] = []
    for number, (side, location) in enumerate(lines):
        related.append(_related(report, side, location, number))
    locations: list[Json] = [_located(primary)] if primary is not None else []
    if not locations:  # nothing of it lies in the user's repository
        found = _physical(lines[0][1]) if lines else _configured(report)
        locations = [] if found is None else [{"physicalLocation": found}]
    return {
        "ruleId": result.id,
        **({} if index is None else {"ruleIndex": index}),
        "kind": "fail" if violated else "open",
        "level": _LEVELS[result.severity.value] if violated else "none",
        "message": {"text": _message(result)},
        "locations": locations,
        "relatedLocations": related,
        "partialFingerprints": {"eagle3Check/v1": result.fingerprint},
        "properties": {"when": list(result.when), "reason": result.reason},
        **_suppressed(result),
    }


def _suppressed(result: ClauseResult) -> dict[str, Json]:
    if result.waived is None:
        return {}
    return {"suppressions": [{"kind": "external", "justification": result.waived}]}


def _message(result: ClauseResult) -> str:
    said = [result.message or result.reason or "is not proven"]
    if result.message and result.reason:
        said.append(f"Not proven: {result.reason}")
    if result.error is not None:
        said.append(f"Raises {result.error.type}: {result.error.message}")
    for word, value in (("Trainer", result.train.value), ("Server", result.serve.value)):
        if value is not None:
            said.append(f"{word}: {value}")
    if result.remedy:
        said.append(f"To mend: {result.remedy}")
    return "\n".join(said)


def _related(report: Report, side: Side, location: Location, number: int) -> dict[str, Json]:
    who = "trainer" if side is report.train else "server"
    line = report.excerpts.get(location)
    text = f"{who}, {location.source}" + (f": {line.strip()}" if line else "")
    return {
        "id": number,
        "physicalLocation": _physical(location),
        "message": {"text": text},
    }


def _located(place: Place) -> dict[str, Json]:
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(place.path), "uriBaseId": _ROOT},
            "region": {"startLine": place.line, "startColumn": place.column},
        }
    }


def _physical(location: Location) -> dict[str, Json]:
    return {
        "artifactLocation": {"uri": quote(location.path), "uriBaseId": location.source},
        "region": {"startLine": location.line, "startColumn": location.column},
    }


def _configured(report: Report) -> dict[str, Json] | None:
    """A configuration that lies elsewhere: code scanning takes no result without any location."""
    given = [side.configured for side in (report.serve, report.train)]
    path = next((c.path for c in given if c is not None and c.path is not None), None)
    if path is None:
        return None
    return {"artifactLocation": {"uri": Path(path).absolute().as_uri()}}


def _bases(report: Report, results: list[ClauseResult]) -> dict[str, Json]:
    """Where paths start: the user's repository, and each source by its label."""
    sources = {place.source for result in results for _, place in upstream(report, result)}
    bases: dict[str, Json] = {_ROOT: {"description": {"text": "the repository that is checked"}}}
    for source in sorted(sources):
        bases[source] = {"description": {"text": f"the root of {source}"}}
    return bases
