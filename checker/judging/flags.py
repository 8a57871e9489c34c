"""The clause about launch flags: what the server makes of those it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from checker.interpreter.values import Unknown
from checker.judging import wording
from checker.report.model import ClauseResult, Raised, SideValue, Status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from checker.contract.model import Clause
    from checker.engines import Failure, Launched
    from checker.judging.judge import Case

NO_LINE = "no launch line is given"
NOTHING_SAID = "the launch line says nothing about drafting"


def launch(case: Case, results: Mapping[str, ClauseResult]) -> ClauseResult | None:
    """Whether the flags that were given are in force as given, and suit the draft."""
    clause = case.contract.fact_owner("launch")
    if clause is None or not clause.implemented:
        return None
    flags = case.launched
    if flags is None:
        return _not_applicable(clause, NO_LINE)
    if flags.failure is not None:
        return _ended(clause, flags, flags.failure)
    if not flags.given and not flags.misfits:
        return _not_applicable(clause, NOTHING_SAID)
    changed = _changed(flags)
    wrong = [*changed.values(), *_untrained(case, flags, results)]
    wrong += [f"{option(m.flag)}: {m.text}" for m in flags.misfits]
    served = SideValue(", ".join(_assignment(k, v) for k, v in sorted(flags.values.items())))
    if wrong:
        places = tuple(
            dict.fromkeys(flags.changed[name] for name in changed if name in flags.changed)
        )
        return ClauseResult(
            clause.id,
            Status.VIOLATED,
            clause.severity,
            message="; ".join(wrong),
            serve=SideValue(served.value, places),
        )
    undecided = _undecided(flags, results)
    if undecided:
        return ClauseResult(
            clause.id, Status.UNPROVEN, clause.severity, reason=undecided, serve=served
        )
    return ClauseResult(clause.id, Status.HOLDS, clause.severity, serve=served)


def _not_applicable(clause: Clause, reason: str) -> ClauseResult:
    return ClauseResult(clause.id, Status.NOT_APPLICABLE, clause.severity, reason=reason)


def _ended(clause: Clause, flags: Launched, failure: Failure) -> ClauseResult:
    places = (failure.location,) if failure.location else ()
    where = f" ({failure.location})" if failure.location else ""
    if failure.type is None:
        return ClauseResult(
            clause.id,
            Status.UNPROVEN,
            clause.severity,
            reason=f"the server's handling of its flags could not be followed: {failure.message}"
            + where,
            serve=SideValue(None, places),
        )
    said = ", ".join(f"{option(k)} {v}" for k, v in sorted(flags.given.items()))
    given = f"given {said}" if said else "as it is launched"
    if flags.ranks != (1, 1):
        tensor, pipeline = flags.ranks
        given += f", with {tensor} tensor-parallel and {pipeline} pipeline ranks"
    told = f": {failure.message}" if failure.message else ""
    return ClauseResult(
        clause.id,
        Status.VIOLATED,
        clause.severity,
        message=f"the server refuses the line and does not start{told}"
        if failure.type == SystemExit.__name__
        else f"{given}, the server raises {failure.type}{told}",
        error=Raised(failure.type, failure.message, failure.location),
        serve=SideValue(None, places),
    )


def _changed(flags: Launched) -> dict[str, str]:
    """What is said of each flag that is in force with another value than the one given."""
    return {
        name: f"{option(name)} {value} is changed to {flags.values[name]}"
        for name, value in sorted(flags.given.items())
        if name in flags.values
        and not isinstance(flags.values[name], Unknown)
        and not _same(value, flags.values[name])
    }


def _untrained(case: Case, flags: Launched, results: Mapping[str, ClauseResult]) -> list[str]:
    """Flags that make the draft another function than the trained one, from the first step on.

    What parts the two sides on later steps only is nothing that another value would mend.
    """
    said = []
    for name, clause in sorted(flags.decides.items()):
        known = results.get(clause)
        if name not in flags.given or known is None or known.status is not Status.VIOLATED:
            continue
        findings = case.comparison.findings if case.comparison is not None else ()
        for finding in findings:
            edit = finding.edit
            owner = case.contract.owner(edit.wire, edit.aspect, edit.operator)
            if not edit.step and owner is not None and owner.id == clause and case.comparison:
                text = wording.message([finding], case.comparison)
                said.append(f"{option(name)} {flags.given[name]}: {text}")
                break
    return said


def _undecided(flags: Launched, results: Mapping[str, ClauseResult]) -> str:
    for name in sorted({*flags.given, *flags.values}):
        value = flags.values.get(name)
        if isinstance(value, Unknown):
            return f"what becomes of {option(name)} is not known: {value.reason}"
        clause = flags.decides.get(name, "")
        if clause in results and results[clause].status is Status.UNPROVEN:
            return f"{option(name)} depends on {clause}, which is unproven"
    return ""


def _same(given: Any, value: Any) -> bool:
    """Case and number type of a flag's text are no matter."""
    if isinstance(given, str) and isinstance(value, str):
        return given.casefold() == value.casefold()
    return bool(given == value)


def _assignment(name: str, value: Any) -> str:
    return f"{name} = {'?' if isinstance(value, Unknown) else value}"


def option(name: str) -> str:
    """A flag as it is written on the command line."""
    return "--" + name.replace("_", "-")
