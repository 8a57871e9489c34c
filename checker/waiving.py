"""Which findings do not count, and what is wrong with the waivers that say so."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from checker.baseline import message_of, written
from checker.report.model import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import date

    from checker.report.model import ClauseResult, Report
    from checker.request import Baseline, Waiver


def waived(
    report: Report, waivers: Iterable[Waiver], baseline: Baseline | None, today: date
) -> Report:
    """The report with what is waived marked, and with complaints about waivers that have to go.

    A waiver covers the one finding that has its fingerprint. One that has expired, whose release
    has come, or whose finding is gone is an error: it would hide the next one.
    """
    covered: dict[tuple[str, str], str] = {}
    complaints: list[str] = []
    found = {(r.id, r.fingerprint) for r in report.clauses if is_finding(r)}
    by_id = {result.id: result for result in report.clauses}
    for waiver in waivers:
        key = waiver.clause, waiver.fingerprint
        problem = _problem(waiver, report, today) or _unused(waiver, by_id, key in found)
        if key in covered:
            problem = "says the same as another one: keep one"
        if problem:
            complaints.append(f"{waiver.place} ({waiver.clause}): {problem}")
        else:
            covered[key] = f"{waiver.reason} ({waiver.owner}, {_ends(waiver)})"
    for known in baseline.known if baseline is not None else ():
        covered.setdefault((known.clause, known.fingerprint), f"in the baseline: {known.reason}")
    results = tuple(
        replace(result, waived=covered.get((result.id, result.fingerprint)))
        if is_finding(result)
        else result
        for result in report.clauses
    )
    return replace(report, clauses=results, complaints=(*report.complaints, *complaints))


def is_finding(result: ClauseResult) -> bool:
    """Whether there is anything to waive."""
    return result.status is Status.VIOLATED or result.undecided


def shrunk(baseline: Baseline, report: Report) -> str | None:
    """The baseline without the findings that are mended; None where all of it is needed.

    What cannot be decided any more is no reason to forget a finding.
    """
    by_id = {result.id: result for result in report.clauses}
    kept = [known for known in baseline.known if not _is_mended(known, by_id.get(known.clause))]
    if len(kept) == len(baseline.known):
        return None
    return written((known, message_of(baseline, known)) for known in kept)


def _is_mended(known: Waiver, result: ClauseResult | None) -> bool:
    if result is None:
        return True
    if result.status is Status.VIOLATED:  # by something else
        return result.fingerprint != known.fingerprint
    return result.status is Status.HOLDS


def _problem(waiver: Waiver, report: Report, today: date) -> str | None:
    """Why a waiver counts no longer."""
    if waiver.expires is not None:
        from datetime import date

        try:
            last = date.fromisoformat(waiver.expires)
        except ValueError:
            return f"{waiver.expires} is no day: write it as 2027-01-31"
        if today > last:
            return f"expired on {waiver.expires}: mend what it waives, or decide anew"
    if waiver.until is not None:
        return _reached(waiver.until, report)
    return None


def _reached(until: str, report: Report) -> str | None:
    """Whether the release that a waiver waits for is checked now."""
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name
    from packaging.version import InvalidVersion, Version

    try:
        wanted = Requirement(until)
    except InvalidRequirement:
        return f"{until!r} names no releases: write NAME>=VERSION"
    if not wanted.specifier:
        return f"{until!r} names no releases: write NAME>=VERSION"
    known = {canonicalize_name(name): version for name, version in _versions(report)}
    name = canonicalize_name(wanted.name)
    if name not in known:
        return f"waits for {until}, and {wanted.name} is not checked (checked: {', '.join(known)})"
    try:
        version = Version(known[name] or "")
    except InvalidVersion:
        return None  # a checkout that states no version has not come to one
    if wanted.specifier.contains(version, prereleases=True):
        return f"waits for {until}, and {version} is checked: take it out, and see what is left"
    return None


def _versions(report: Report) -> Iterator[tuple[str, str | None]]:
    for side in (report.train, report.serve):
        yield from side.with_.items()
    for side in (report.train, report.serve):
        yield side.engine, side.version


def _unused(waiver: Waiver, by_id: dict[str, ClauseResult], used: bool) -> str | None:
    """Why a waiver that is in force covers nothing; None also where that cannot be told."""
    if used:
        return None
    result = by_id.get(waiver.clause)
    if result is None:
        return "there is no such clause"
    if result.status is Status.VIOLATED:
        other = result.fingerprint
        return f"covers nothing: the clause is violated by another finding ({other})"
    if result.status is Status.HOLDS:
        return "covers nothing: the clause holds; take it out"
    return None


def _ends(waiver: Waiver) -> str:
    days = f"until {waiver.expires}" if waiver.expires else ""
    return " or ".join(filter(None, (days, waiver.until and f"until {waiver.until}")))
