"""A waiver covers one finding, for a time, and says so when it has to go."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from checker.baseline import read_baseline, written
from checker.errors import InputError
from checker.report.model import ClauseResult, Report, Status
from checker.request import Baseline, Waiver
from checker.waiving import shrunk, waived
from tests.report import samples

TODAY = date(2026, 6, 1)
FOUND = samples.VIOLATED


def waiver(**changed: str | None) -> Waiver:
    plain = Waiver(FOUND.id, FOUND.fingerprint, "known", "me", "2026-06-01", None, "x: waivers.0")
    return replace(plain, **changed)


def judged(given: Waiver, *clauses: ClauseResult) -> Report:
    return waived(samples.report(*(clauses or (FOUND,))), [given], None, TODAY)


def test_a_waiver_covers_its_finding_to_its_last_day() -> None:
    report = judged(waiver())
    assert report.clauses[0].waived == "known (me, until 2026-06-01)"
    assert (report.verdict, report.exit_status, report.complaints) == ("differ", 0, ())


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"expires": "2026-05-31"}, "expired on 2026-05-31"),
        ({"expires": "2026-13-01"}, "is no day"),
        ({"fingerprint": "0" * 16}, f"another finding ({FOUND.fingerprint})"),
        ({"clause": "none"}, "there is no such clause"),
        ({"expires": None, "until": "server>=2.0"}, "waits for server>=2.0, and 2.0 is checked"),
        ({"expires": None, "until": "other>=2.0"}, "other is not checked"),
        ({"expires": None, "until": "server"}, "names no releases"),
        ({"expires": None, "until": "==="}, "names no releases"),
    ],
)
def test_a_waiver_that_has_to_go_covers_nothing(changed: dict[str, str | None], said: str) -> None:
    report = judged(waiver(**changed))
    assert report.clauses[0].waived is None
    assert report.exit_status == 1
    (complaint,) = report.complaints
    assert complaint.startswith("x: waivers.0 (")
    assert said in complaint


def test_a_waiver_waits_for_a_release() -> None:
    report = judged(waiver(expires=None, until="server>=2.1"))
    assert report.clauses[0].waived == "known (me, until server>=2.1)"
    library = judged(waiver(expires=None, until="base>=5.0"))
    assert "waits for base>=5.0, and 5.0 is checked" in library.complaints[0]


def test_a_checkout_without_a_version_has_not_come_to_a_release() -> None:
    report = samples.report(FOUND)
    report = replace(report, serve=replace(report.serve, version=None))
    found = waived(report, [waiver(expires=None, until="server>=0.1")], None, TODAY)
    assert found.clauses[0].waived is not None


def test_an_unused_waiver_is_an_error_of_its_own() -> None:
    mended = replace(samples.HOLDS, id="first")
    report = judged(waiver(), mended)
    assert report.exit_status == 2
    assert "the clause holds; take it out" in report.complaints[0]


@pytest.mark.parametrize("status", [Status.UNPROVEN, Status.NOT_APPLICABLE])
def test_a_waiver_is_kept_while_its_clause_cannot_be_decided(status: Status) -> None:
    result = replace(samples.UNPROVEN, id="first", status=status)
    report = judged(waiver(), result)
    assert report.complaints == ()
    assert report.clauses[0].waived is None


def test_two_waivers_of_one_finding_are_one_too_many() -> None:
    report = waived(samples.report(FOUND), [waiver(), waiver(place="x: waivers.1")], None, TODAY)
    assert report.complaints == ("x: waivers.1 (first): says the same as another one: keep one",)


def test_a_waiver_does_not_cover_the_same_clause_of_another_kind() -> None:
    other = replace(FOUND, serve=replace(FOUND.serve, value="z"))
    assert judged(waiver(), other).exit_status == 1


# --- baseline ------------------------------------------------------------------------------------


def baseline(tmp_path: Path, *results: ClauseResult) -> Baseline:
    known = [(Waiver(r.id, r.fingerprint, "there before"), r.message) for r in results]
    path = tmp_path / "baseline.json"
    path.write_text(written(known), "utf-8")
    return read_baseline(str(path))


def test_what_is_in_the_baseline_does_not_count(tmp_path: Path) -> None:
    known = baseline(tmp_path, FOUND, samples.UNPROVEN)
    report = waived(samples.report(FOUND, samples.UNPROVEN), [], known, TODAY)
    assert [r.waived for r in report.clauses] == ["in the baseline: there before"] * 2
    assert report.exit_status == 0
    grown = waived(samples.report(FOUND, samples.RAISING), [], known, TODAY)
    assert grown.exit_status == 1


def test_the_baseline_shrinks_by_what_is_mended(tmp_path: Path) -> None:
    known = baseline(tmp_path, FOUND, samples.UNPROVEN)
    mended = samples.report(replace(samples.HOLDS, id="first"), samples.UNPROVEN)
    text = shrunk(known, mended)
    assert text is not None
    assert [f["clause"] for f in json.loads(text)["findings"]] == ["second"]
    assert shrunk(known, samples.report(FOUND, samples.UNPROVEN)) is None


def test_the_baseline_forgets_nothing_that_cannot_be_decided(tmp_path: Path) -> None:
    known = baseline(tmp_path, FOUND)
    assert shrunk(known, samples.report(replace(samples.UNPROVEN, id="first"))) is None


def test_a_clause_violated_otherwise_leaves_the_baseline(tmp_path: Path) -> None:
    known = baseline(tmp_path, FOUND)
    other = replace(FOUND, message="otherwise")
    text = shrunk(known, samples.report(other))
    assert text is not None
    assert json.loads(text)["findings"] == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is not valid JSON"),
        ("{}", "is no baseline of this version"),
        ('{"schema": 1, "findings": [{}]}', "findings.0: is no finding"),
        ('{"schema": 1, "findings": [3]}', "findings.0: is no finding"),
    ],
)
def test_what_is_no_baseline_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "b.json"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError) as caught:
        read_baseline(str(path))
    assert said in str(caught.value)
    with pytest.raises(InputError, match="make it with eagle3-check baseline"):
        read_baseline(str(tmp_path / "none.json"))
