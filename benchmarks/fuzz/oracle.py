"""What every run has to be, whatever it was given."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

from jsonschema import Draft202012Validator

from benchmarks.fuzz.running import ROOT

if TYPE_CHECKING:
    from benchmarks.fuzz.cases import Case, Ran

STATUSES = (0, 1, 2, 3)
LONGEST = 2000
"""Characters of an error's line, besides what was given on the command line and is quoted in it."""


def faults(case: Case, ran: Ran) -> list[str]:
    """What is wrong with a run; nothing, if all is well."""
    if ran.status in (-9, -24):  # killed, by the clock or for its processor time
        return ["hangs"]
    found = []
    if ran.status not in STATUSES:
        found.append(f"exit status {ran.status}")
    words = ("Traceback (most recent call last)", "bug: ", "Fatal Python error")
    found += [f"says {word!r}: {ran.err.strip()[-300:]}" for word in words if word in ran.err]
    if found:
        return found
    if ran.status == 2:
        return _error_faults(case, ran)
    if ran.err:
        found.append(f"writes to standard error: {ran.err[:200]!r}")
    if not ran.out:
        found.append("says nothing")
    if case.argv[0] == "verify" and "json" in case.argv:
        found += _report_faults(ran)
    return found


def _error_faults(case: Case, ran: Ran) -> list[str]:
    """An error is one line: the place, what is wrong there, and the remedy in brackets.

    All mistakes of contract files are told, a line for each.
    """
    lines = ran.err.removesuffix("\n").split("\n")
    found = []
    if len(lines) > 1 and case.argv[0] != "contracts":
        found.append(f"an error of several lines: {ran.err[:300]}")
    return found + [fault for line in lines for fault in _line_faults(case, ran, line)]


def _line_faults(case: Case, ran: Ran, line: str) -> list[str]:
    found = []
    if not line.startswith("eagle3-check: ") or not line.endswith(")"):
        found.append("no error in the program's form")
    if not any(place in line for place in case.places):
        found.append(f"names none of {', '.join(case.places)}")
    if len(line) > LONGEST + 12 * max(map(len, case.argv)):
        found.append(f"an error of {len(line)} characters")
    if not line.isprintable():
        found.append("unprintable characters in an error")
    if ran.out and case.argv[0] != "contracts":
        found.append("an error after a report")
    return [f"{fault}: {line[:300]}" for fault in found]


def _report_faults(ran: Ran) -> list[str]:
    try:
        report = json.loads(ran.out, parse_constant=_refuse)
    except ValueError as error:
        return [f"a report that is no JSON: {error}"]
    first = next(iter(_report_rules().iter_errors(report)), None)
    if first is not None:
        return [f"a report against its schema: {first.json_path}: {first.message[:200]}"]
    statuses = {"agree": 0, "differ": 1, "unproven": 3}
    if statuses[report["verdict"]] != ran.status:
        return [f"verdict {report['verdict']} with status {ran.status}"]
    return []


@cache
def _report_rules() -> Any:
    schema = ROOT / "contracts" / "schema" / "report.schema.json"
    return Draft202012Validator(json.loads(schema.read_text("utf-8")))


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
