"""Every clause of the contract gets a result: what was not looked at is said, never left out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from checker.report.model import NOT_IMPLEMENTED, ClauseResult, Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from checker.contract.model import Clause, Contract

NOT_DECIDED = "not-decided"
"""Reason of a clause that this version can check but for which nothing was found out."""


def complete(results: Iterable[ClauseResult], contract: Contract) -> tuple[ClauseResult, ...]:
    """The results with one for every other clause of the contract, sorted by id.

    A violation without a remedy of its own gets the one that the contract gives.

    Raises:
        ValueError: a result names a clause that the contract has not, or one twice.
    """
    found: dict[str, ClauseResult] = {}
    for result in results:
        if result.id not in contract.clauses:
            raise ValueError(f"no clause {result.id!r} in the contract")
        if result.id in found:
            raise ValueError(f"two results for clause {result.id!r}")
        found[result.id] = _explained(result, contract.clauses[result.id])
    rest = (_open(clause) for clause in contract.clauses.values() if clause.id not in found)
    return tuple(sorted((*found.values(), *rest), key=lambda result: result.id))


def _explained(result: ClauseResult, clause: Clause) -> ClauseResult:
    if result.status is Status.VIOLATED and not result.remedy:
        return replace(result, remedy=clause.remedy)
    return result


def _open(clause: Clause) -> ClauseResult:
    reason = NOT_DECIDED if clause.implemented else NOT_IMPLEMENTED
    return ClauseResult(clause.id, Status.UNPROVEN, clause.severity, reason=reason)
