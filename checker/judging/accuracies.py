"""The clause about what a trainer reports as accuracy: of what each one is a share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.report.model import ClauseResult, SideValue, Status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from checker.judging.judge import Case

CONDITIONAL = "conditional"
_MEANINGS = {
    CONDITIONAL: "of what was right in all steps before, the share that this step gets right",
    "joint": "of everything, the share that is right in all steps so far",
    "plain": "of everything, the share that this step gets right",
}


def metrics(case: Case, _: Mapping[str, ClauseResult]) -> ClauseResult | None:
    """Some accuracy is conditional on earlier steps: a chain's length follows from their products.

    Which one, and what the others are, is told as the trainer's value.
    """
    clause = case.contract.fact_owner("metrics")
    if clause is None or not clause.implemented:
        return None
    found = case.train.accuracies
    if not found and case.train.tells_accuracies:
        reason = (
            "where this trainer counts its accuracies could not be followed: its code has moved, or"
            " there is none"
        )
        return ClauseResult(clause.id, Status.UNPROVEN, clause.severity, reason=reason)
    if not found:
        reason = "nothing says what this trainer reports as accuracy"
        return ClauseResult(clause.id, Status.NOT_APPLICABLE, clause.severity, reason=reason)
    told = "; ".join(
        f"{name}: {_MEANINGS.get(kind or '', 'not recognised')}"
        for name, kind in sorted(found.items())
    )
    value = SideValue(told)
    if CONDITIONAL in found.values():
        return ClauseResult(clause.id, Status.HOLDS, clause.severity, train=value)
    open_ = sorted(name for name, kind in found.items() if kind not in _MEANINGS)
    if open_:
        reason = f"of what {open_[0]} is a share could not be recognised"
        return ClauseResult(clause.id, Status.UNPROVEN, clause.severity, reason=reason, train=value)
    message = "no accuracy that training reports is conditional on the steps before it"
    return ClauseResult(clause.id, Status.VIOLATED, clause.severity, message=message, train=value)
