from __future__ import annotations

import itertools
import json
from dataclasses import replace

import jsonschema
import pytest

from checker.data import SCHEMAS
from checker.report.complete import NOT_DECIDED, complete
from checker.report.json import render
from checker.report.model import NOT_IMPLEMENTED, ClauseResult, Severity, Status
from tests.report import samples

SCHEMA = json.loads((SCHEMAS / "report.schema.json").read_text("utf-8"))
EVERY = (samples.VIOLATED, samples.UNPROVEN, samples.HOLDS, samples.LATER, samples.NOT_APPLICABLE)


@pytest.mark.parametrize(
    ("clauses", "verdict", "status"),
    [
        ((), "agree", 0),
        ((samples.HOLDS, samples.NOT_APPLICABLE), "agree", 0),
        ((samples.HOLDS, samples.LATER), "agree", 0),
        ((samples.HOLDS, samples.UNPROVEN), "unproven", 3),
        ((samples.UNPROVEN, samples.VIOLATED), "differ", 1),
        ((samples.VIOLATED, samples.LATER), "differ", 1),
    ],
)
def test_verdict_and_exit_status_follow_from_the_clauses(
    clauses: tuple[ClauseResult, ...], verdict: str, status: int
) -> None:
    report = samples.report(*clauses)
    assert (report.verdict, report.exit_status) == (verdict, status)


@pytest.mark.parametrize(("allowed", "status"), [(0, 3), (1, 3), (2, 0), (3, 0)])
def test_as_many_clauses_as_are_allowed_may_be_unproven(allowed: int, status: int) -> None:
    other = replace(samples.UNPROVEN, id="another")
    report = replace(samples.report(samples.UNPROVEN, other), max_unproven=allowed)
    assert (report.verdict, report.exit_status) == ("unproven", status)
    broken = replace(samples.report(samples.UNPROVEN, samples.VIOLATED), max_unproven=allowed)
    assert broken.exit_status == 1


def test_every_combination_of_clauses_follows_the_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    validator = jsonschema.Draft202012Validator(SCHEMA)
    for size in range(len(EVERY) + 1):
        for clauses in itertools.combinations(EVERY, size):
            document = json.loads(render(samples.report(*clauses).to_json()))
            assert list(validator.iter_errors(document)) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("verdict",), "maybe"),
        (("clauses", 0, "status"), "passed"),
        (("clauses", 1, "reason"), None),
        (("clauses", 0, "train", "locations", 0, "line"), 0),
        (("facts", "serve", "capture", "boundaries"), ["not a boundary"]),
        (("extra",), 1),
    ],
)
def test_the_schema_refuses(path: tuple[str | int, ...], value: object) -> None:
    document = json.loads(render(samples.report(samples.VIOLATED, samples.UNPROVEN).to_json()))
    jsonschema.validate(document, SCHEMA)
    *above, last = path
    inner = document
    for key in above:
        inner = inner[key]
    inner[last] = value
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, SCHEMA)


def test_json_has_the_keys_of_the_design_in_its_order() -> None:
    document = samples.report(*reversed(EVERY)).to_json()
    assert list(document) == [
        "schema", "verdict", "train", "serve", "assumptions", "configuration", "clauses", "facts",
        "coverage", "configurations",
    ]  # fmt: skip
    assert list(samples.VIOLATED.to_json()) == [
        "id", "fingerprint", "status", "severity", "when", "message", "remedy", "reason", "error",
        "train", "serve",
    ]  # fmt: skip
    assert document["coverage"] == {"holds": 1, "violated": 1, "unproven": 2, "not-applicable": 1}


def test_output_depends_on_values_alone() -> None:
    texts = {
        render(samples.report(*order).to_json()) for order in itertools.permutations(EVERY[:4])
    }
    assert len(texts) == 1
    document = json.loads(texts.pop())
    assert [item["id"] for item in document["clauses"]] == ["first", "later", "second", "third"]
    assert [item["key"] for item in document["facts"]["serve"]["config_reads"]] == ["a", "b"]
    assert list(document["facts"]["serve"]["weights"]) == ["v", "w"]


def test_json_stays_json_with_infinities_and_foreign_letters() -> None:
    text = render({"inf": float("inf"), "list": [float("nan")], "name": "é"})
    assert text.isascii()
    assert json.loads(text) == {"inf": "inf", "list": ["nan"], "name": "é"}


def test_every_clause_gets_a_result() -> None:
    results = complete([samples.VIOLATED, samples.HOLDS], samples.CONTRACT)
    assert [(item.id, item.status.value, item.reason) for item in results] == [
        ("first", "violated", None),
        ("fourth", "unproven", NOT_DECIDED),
        ("later", "unproven", NOT_IMPLEMENTED),
        ("second", "unproven", NOT_DECIDED),
        ("third", "holds", None),
    ]


def test_a_violation_without_a_remedy_gets_the_contract_s() -> None:
    bare = ClauseResult("second", Status.VIOLATED, Severity.ERROR, "differs")
    found = {item.id: item for item in complete([bare, samples.VIOLATED], samples.CONTRACT)}
    assert found["second"].remedy == "mend second"
    assert found["first"].remedy == samples.VIOLATED.remedy


@pytest.mark.parametrize(
    "results",
    [[samples.HOLDS, samples.HOLDS], [ClauseResult("strange", Status.HOLDS, Severity.INFO)]],
)
def test_results_that_cannot_be_are_refused(results: list[ClauseResult]) -> None:
    with pytest.raises(ValueError, match="clause"):
        complete(results, samples.CONTRACT)
