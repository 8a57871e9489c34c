"""Every format says the same, and is what its readers expect."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

from checker.console import save
from checker.contract.added import added
from checker.location import Location
from checker.report.formats import Rendering, render
from checker.report.github import render as render_github
from checker.report.junit import render as render_junit
from checker.report.markdown import code, plain
from checker.report.markdown import render as render_markdown
from checker.report.model import ClauseResult, Configured, Report, Severity, SideValue, Status
from checker.report.places import Place, Repository
from checker.report.sarif import document
from checker.request import FORMATS
from tests.report import samples

EVERY = (samples.VIOLATED, samples.UNPROVEN, samples.HOLDS, samples.LATER, samples.NOT_APPLICABLE)
SCHEMA = json.loads(Path(__file__).with_name("sarif.schema.json").read_text("utf-8"))
NOWHERE = Repository("/nowhere")
PINNED = Repository("/nowhere", {"server==2.0": Place("uv.lock", 17)})


def sarif(report: Report, repository: Repository = NOWHERE) -> dict[str, Any]:
    log = json.loads(json.dumps(document(report, samples.CONTRACT, repository)))
    jsonschema.Draft202012Validator(SCHEMA).validate(log)
    run: dict[str, Any] = log["runs"][0]
    return run


def waived(result: ClauseResult) -> ClauseResult:
    return replace(result, waived="known since May")


def test_every_format_is_written() -> None:
    report = samples.report(*EVERY)
    rendering = Rendering(repository=NOWHERE)
    texts = {form: render(report, form, rendering) for form in FORMATS}
    assert all(text.endswith("\n") for text in texts.values())
    assert all("first" in text and "second" in text for text in texts.values())
    with pytest.raises(ValueError, match="pdf"):
        render(report, "pdf", rendering)


def test_no_format_lets_control_characters_through() -> None:
    """Checked text may hold escapes that terminals obey."""
    for form in FORMATS:
        assert "\x1b" not in render(samples.report(*EVERY), form, Rendering(repository=NOWHERE))


# --- SARIF ------------------------------------------------------------------------------------


def test_sarif_has_a_rule_for_every_clause_and_a_result_for_every_finding() -> None:
    run = sarif(samples.report(*EVERY))
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert rules == sorted(samples.CONTRACT.clauses)
    found = {result["ruleId"]: result for result in run["results"]}
    assert set(found) == {"first", "second"}
    assert (found["first"]["kind"], found["first"]["level"]) == ("fail", "error")
    assert (found["second"]["kind"], found["second"]["level"]) == ("open", "none")
    assert all(rules[r["ruleIndex"]] == r["ruleId"] for r in found.values())
    assert run["invocations"][0]["exitCode"] == 1


def test_sarif_names_upstream_lines_as_related_ones() -> None:
    result = sarif(samples.report(samples.VIOLATED))["results"][0]
    related = [
        (r["physicalLocation"]["artifactLocation"]["uriBaseId"],
         r["physicalLocation"]["region"]["startLine"])
        for r in result["relatedLocations"]
    ]  # fmt: skip
    assert related == [("server==2.0", 40), ("trainer==1.0", 12), ("base==5.0", 3)]
    assert "residual = self.norm(hidden)" in result["relatedLocations"][1]["message"]["text"]


def test_sarif_s_primary_location_is_the_key_in_the_user_s_configuration(tmp_path: Path) -> None:
    config = tmp_path / "drafts" / "config.json"
    config.parent.mkdir()
    config.write_text('{\n  "layers": 1,\n  "flag": true\n}\n')
    report = samples.report(samples.VIOLATED)
    serve = replace(report.serve, configured=Configured(str(config), None, None))
    result = sarif(replace(report, serve=serve), Repository(str(tmp_path)))["results"][0]
    physical = result["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"] == {"uri": "drafts/config.json", "uriBaseId": "%SRCROOT%"}
    assert physical["region"]["startLine"] == 3


def test_sarif_has_a_location_for_what_no_line_of_the_repository_says(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text("{}")
    bare = replace(samples.VIOLATED, train=SideValue("x", ()), serve=SideValue("y", ()), error=None)
    report = samples.report(bare)
    assert sarif(report)["results"][0]["locations"] == []
    serve = replace(report.serve, configured=Configured(str(config), None, None))
    (place,) = sarif(replace(report, serve=serve))["results"][0]["locations"]
    assert place == {"physicalLocation": {"artifactLocation": {"uri": config.as_uri()}}}


def test_a_line_of_a_fork_comes_before_a_configuration(tmp_path: Path) -> None:
    fork = tmp_path / "fork"
    (fork / "server").mkdir(parents=True)
    (fork / "server" / "draft.py").write_text("\n" * 50)
    report = samples.report(samples.VIOLATED)
    serve = replace(report.serve, source="./fork", folder=str(fork))
    line = Location("./fork", "server/draft.py", 40, 13)
    violated = replace(samples.VIOLATED, serve=replace(samples.VIOLATED.serve, locations=(line,)))
    report = replace(report, serve=serve, clauses=(violated,))
    home = Repository(str(tmp_path))
    assert home.place_of(report, violated) == Place("fork/server/draft.py", 40, 13)
    assert Repository(str(tmp_path / "other")).place_of(report, violated) is None


def test_a_pin_is_where_a_release_is_named() -> None:
    home = Repository("/nowhere", {"server==2.0": Place("uv.lock", 17)})
    report = samples.report(samples.VIOLATED)
    assert home.place_of(report, samples.VIOLATED) == Place("uv.lock", 17)


CLAUSE = """\
version: 1
clauses:
  - title: a clause of mine
    id: my-clause
    statement: Something is the same on both sides.
    why: It matters for some reason.
    effect: It shows in some way.
    remedy: Do something about it.
    severity: error
    implemented: true
    fixtures: {holds: as they are, violated: embedding not normed}
    owns: [{wire: embeds}]
"""


def test_a_clause_of_the_user_s_own_is_shown_where_nothing_else_is_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("checks").mkdir()
    Path("checks/ours.yaml").write_text(CLAUSE)
    files = added([Path("checks/ours.yaml")])
    violated = replace(samples.VIOLATED, id="my-clause")
    report = samples.report(violated, replace(samples.VIOLATED, id="mlp"))
    home = Rendering(files, repository=Repository(str(tmp_path)))
    log = json.loads(render(report, "sarif", home))
    jsonschema.Draft202012Validator(SCHEMA).validate(log)
    found = {r["ruleId"]: r["locations"][0] for r in log["runs"][0]["results"]}
    physical = found["my-clause"]["physicalLocation"]
    assert physical["artifactLocation"] == {"uri": "checks/ours.yaml", "uriBaseId": "%SRCROOT%"}
    assert physical["region"]["startLine"] == 4
    assert found["mlp"]["physicalLocation"]["artifactLocation"]["uriBaseId"] == "server==2.0"
    assert "::error file=checks/ours.yaml,line=4," in render(report, "github", home)
    assert "shown at: checks/ours.yaml:4" in render(report, "junit", home)
    # What is nearer comes first, and another repository's file is none of this one.
    pinned = Repository(str(tmp_path), {"server==2.0": Place("uv.lock", 17)})
    assert "file=uv.lock,line=17" in render(report, "github", Rendering(files, repository=pinned))
    elsewhere = Rendering(files, repository=Repository(str(tmp_path / "other")))
    assert "::error title=my-clause" in render(report, "github", elsewhere)


def test_what_is_installed_is_not_the_user_s_repository(tmp_path: Path) -> None:
    folder = tmp_path / ".venv" / "lib" / "site-packages"
    (folder / "server").mkdir(parents=True)
    (folder / "server" / "draft.py").write_text("\n" * 50)
    report = samples.report(samples.VIOLATED)
    report = replace(report, serve=replace(report.serve, folder=str(folder)))
    assert Repository(str(tmp_path)).place_of(report, samples.VIOLATED) is None


def test_fingerprints_outlive_releases_files_and_lines() -> None:
    one = samples.VIOLATED
    moved = Location("server==3.0", "server/moved.py", 7, 1)
    same = replace(one, serve=replace(one.serve, locations=(moved,)), when=(), remedy="another")
    assert same.fingerprint == one.fingerprint
    upgraded = replace(one, message="seen in server==2.0 at a/b.py:7")
    assert upgraded.fingerprint == replace(one, message="seen in server==3.1 at b.py:9").fingerprint


@pytest.mark.parametrize(
    "other",
    [
        replace(samples.VIOLATED, id="second"),
        replace(samples.VIOLATED, serve=replace(samples.VIOLATED.serve, value="y")),
        replace(samples.VIOLATED, message="two are normed"),
        replace(samples.VIOLATED, error=samples.RAISING.error),
    ],
)
def test_another_finding_has_another_fingerprint(other: ClauseResult) -> None:
    assert other.fingerprint != samples.VIOLATED.fingerprint


def test_sarif_suppresses_what_is_waived() -> None:
    results = sarif(samples.report(waived(samples.VIOLATED), samples.UNPROVEN))["results"]
    assert results[0]["suppressions"] == [{"kind": "external", "justification": "known since May"}]
    assert "suppressions" not in results[1]


# --- waived findings ----------------------------------------------------------------------------


def test_what_is_waived_changes_the_exit_status_and_not_the_verdict() -> None:
    report = samples.report(waived(samples.VIOLATED), samples.HOLDS)
    assert (report.verdict, report.exit_status) == ("differ", 0)
    both = samples.report(waived(samples.VIOLATED), samples.UNPROVEN)
    assert (both.verdict, both.exit_status) == ("differ", 3)
    open_ = samples.report(waived(samples.UNPROVEN), samples.HOLDS)
    assert (open_.verdict, open_.exit_status) == ("unproven", 0)


# --- JUnit ---------------------------------------------------------------------------------------


def junit(report: Report) -> dict[str, ElementTree.Element]:
    root = ElementTree.fromstring(render_junit(report, PINNED))
    suite = root[0]
    cases = {str(case.get("name")): case for case in suite}
    for kind, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        assert suite.get(attribute) == str(sum(c.find(kind) is not None for c in cases.values()))
    assert suite.get("tests") == str(len(cases))
    return cases


def test_junit_has_a_case_for_every_clause() -> None:
    cases = junit(samples.report(*EVERY))
    kinds = {name: [child.tag for child in case] for name, case in cases.items()}
    assert kinds == {
        "first": ["failure"], "second": ["error"], "third": [], "later": ["skipped"],
        "fourth": ["skipped"],
    }  # fmt: skip
    failure = cases["first"][0]
    assert failure.get("message") == "one is normed, the other is not"
    assert "server/draft.py:40" in str(failure.text)
    assert str(failure.text).startswith("shown at: uv.lock:17\n")


def test_junit_fails_when_the_exit_status_does() -> None:
    kept = replace(samples.report(waived(samples.VIOLATED), samples.UNPROVEN), max_unproven=1)
    assert kept.exit_status == 0
    assert all(case.find(kind) is None for case in junit(kept).values()
               for kind in ("failure", "error"))  # fmt: skip


def test_junit_holds_text_that_xml_cannot() -> None:
    odd = replace(samples.VIOLATED, message='<&"\x00\x1b]]>')
    assert junit(samples.report(odd))["first"][0].get("message") == '<&"\\x00\\x1b]]>'


# --- GitHub --------------------------------------------------------------------------------------


def test_github_annotates_findings_alone() -> None:
    home = PINNED
    text = render_github(samples.report(*EVERY), samples.CONTRACT, home)
    first, second = text.splitlines()
    assert first.startswith("::error file=uv.lock,line=17,title=first%3A title of first::one is")
    assert "%0Aserver: x%0Aat server==2.0: server/draft.py:40" in first
    assert second.startswith("::warning ")
    assert render_github(samples.report(samples.HOLDS), samples.CONTRACT, home) == ""


def test_github_commands_cannot_be_started_by_checked_text() -> None:
    odd = replace(
        samples.VIOLATED, message="100%\n::error::forged", remedy="\r\n::stop-commands::x"
    )
    lines = render_github(samples.report(odd), samples.CONTRACT, NOWHERE).splitlines()
    assert len(lines) == 1
    assert "100%25%0A::error::forged" in lines[0]


def test_github_shows_what_is_waived_as_a_notice() -> None:
    text = render_github(samples.report(waived(samples.VIOLATED)), samples.CONTRACT, NOWHERE)
    assert text.startswith("::notice ")
    assert "waived: known since May" in text


# --- Markdown ------------------------------------------------------------------------------------


def test_markdown_says_the_answer_first() -> None:
    text = render_markdown(samples.report(*EVERY), samples.CONTRACT)
    assert text.startswith("### ❌ `server==2.0` does not compute what `trainer==1.0` trained\n")
    assert "| `first`<br>title of first | one is normed, the other is not | mend first |" in text
    assert "- `second`: a call could not be followed" in text
    agreeing = render_markdown(samples.report(samples.HOLDS), samples.CONTRACT)
    assert agreeing.startswith("### ✅ `server==2.0` computes what `trainer==1.0` trained\n")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a", "`a`"),
        ("a`b", "``a`b``"),
        ("`", "`` ` ``"),
        ("x\ny", "`x y`"),
    ],
)
def test_code_spans_hold_anything(text: str, written: str) -> None:
    assert code(text) == written


def test_prose_has_no_markup_but_its_code() -> None:
    assert plain("<b>@all `a_b` *x*") == "\\<b\\>\\@all `a_b` \\*x\\*"
    assert plain("odd ` tick") == "odd \\` tick"


def test_a_cell_stays_a_cell() -> None:
    odd = ClauseResult(
        "first", Status.VIOLATED, Severity.ERROR, "a | b", "say `x|y`", (),
    )  # fmt: skip
    text = render_markdown(samples.report(odd), samples.CONTRACT)
    assert "| a \\| b | say `x\\|y` |" in text


def test_github_messages_stay_on_their_line_without_control_characters() -> None:
    found = replace(samples.VIOLATED, message="a\u2028::error::b\x1b[31m\rc")
    text = render_github(samples.report(found), samples.CONTRACT, Repository())
    assert text.splitlines() == text.split("\n")[:-1]
    assert all(line.startswith("::") for line in text.splitlines())
    assert "\x1b" not in text


def test_a_fingerprint_of_a_long_text_takes_no_time() -> None:
    started = time.process_time()
    assert replace(samples.VIOLATED, message="x" * 100_000).fingerprint
    assert time.process_time() - started < 1


def test_text_that_utf_8_cannot_hold_is_written_escaped(tmp_path: Path) -> None:
    found = replace(samples.VIOLATED, message="a\udcff")
    path = tmp_path / "x.sarif"
    save(render(samples.report(found), "sarif", Rendering()), str(path))
    assert json.loads(path.read_text("utf-8"))["runs"][0]["results"][0]["message"]["text"]
