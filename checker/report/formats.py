"""The output formats of ``verify``, by their names: each is written by a module of its own."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from checker.report.places import Place, Repository
from checker.report.terminal import Paint

if TYPE_CHECKING:
    from checker.contract.added import Added
    from checker.report.model import Report


@dataclass(frozen=True, slots=True)
class Rendering:
    """How reports are written.

    `contracts` are the contract files that the user adds, `paint` colours for a terminal, and
    `repository` is where the user's own lines are.
    """

    contracts: tuple[Added, ...] = ()
    paint: Paint = field(default_factory=Paint)
    repository: Repository = field(default_factory=Repository)


def render(report: Report, form: str, rendering: Rendering) -> str:
    """The report in one of the formats of `checker.request.FORMATS`.

    Raises:
        ValueError: there is no such format.
    """
    if form == "json":
        from checker.report import json

        return json.render(report.to_json())
    if form == "junit":
        from checker.report import junit

        return junit.render(report, _repository(rendering))
    from checker.contract.loading import load_contract

    contract = load_contract(rendering.contracts)
    match form:
        case "text":
            from checker.report import text

            return text.render(report, contract, paint=rendering.paint)
        case "sarif":
            from checker.report import json, sarif

            return json.render(sarif.document(report, contract, _repository(rendering)))
        case "github":
            from checker.report import github

            return github.render(report, contract, _repository(rendering))
        case "markdown":
            from checker.report import markdown

            return markdown.render(report, contract)
        case "html":
            from checker.report import html

            return html.page(report, contract)
    raise ValueError(form)


def _repository(rendering: Rendering) -> Repository:
    """The user's repository, with the clauses that the user's contract files state."""
    if not rendering.contracts:
        return rendering.repository
    from checker.contract.added import clauses_at

    places = {clause: Place(*at) for clause, at in clauses_at(rendering.contracts).items()}
    return replace(rendering.repository, clauses=places)
