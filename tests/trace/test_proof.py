"""The four figures: records outlive a run, samples are the same every time, bugs are listed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks import fidelity, mutants, refactorings
from benchmarks.mutations import Mutant
from benchmarks.outcomes import Outcome, moved, seen_in
from benchmarks.records import Figure, Records, markdown

if TYPE_CHECKING:
    from pathlib import Path


def test_a_stopped_run_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "proof.jsonl"
    Records(path).add({"key": "a 1", "part": "a", "class": "equal"})
    Records(path).add({"key": "b 1", "part": "b", "class": "none"})
    again = Records(path)
    assert "a 1" in again
    assert "a 2" not in again
    assert [r["key"] for r in again.of("b")] == ["b 1"]


def test_every_operator_has_its_turn_before_one_has_two() -> None:
    found = [Mutant("often", "f", n, ((n, n, "x"),)) for n in range(50)]
    found += [Mutant(name, "f", 0, ((0, 0, name),)) for name in ("once", "rare")]
    drawn = mutants.draw(found, 5)
    assert [m.operator for m in drawn[:3]] == ["often", "once", "rare"]
    assert mutants.draw(found, 5) == drawn
    assert mutants.draw(found, None) == found


RUN = {"logits": [[[1.0]], [[2.0]]], "feedback": [[[3.0]], [[4.0]]], "vocabulary map": [1, 2]}


@pytest.mark.parametrize(
    ("change", "seen", "apart"),
    [
        ({}, "equal", 0.0),
        ({"logits": [[[1.0]], [[2.5]]]}, "different", 0.5),
        ({"feedback": [[[3.0]], [[5.0]]]}, "equal", 1.0),
        ({"feedback": [[[9.0]], [[4.0]]]}, "equal", 0.0),
        ({"vocabulary map": [2, 1]}, "map", float("inf")),
    ],
)
def test_what_two_runs_say(change: dict[str, object], seen: str, apart: float) -> None:
    after = {**RUN, **change}
    assert seen_in(RUN, after, RUN)[0] == seen
    assert moved(RUN, after) == apart


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        (Outcome("plain", "different", "holds", True), "wrong-holds"),
        (Outcome("plain", "raises", "holds", None), "wrong-holds"),
        (Outcome("plain", "equal", "violated", True), "false-alarm"),
        (Outcome("plain", "different", "violated", True), "caught"),
        (Outcome("plain", "different", "unproven", True), "unproven-different"),
        (Outcome("plain", "map", "holds", True), "map-only"),
        (Outcome("plain", "equal", "holds", True), "equal-holds"),
        (Outcome("plain", "none", "holds", None), "no-verdict"),
        (Outcome("plain", "equal", "bug", None), "bug"),
    ],
)
def test_the_worst_that_can_be_said(outcome: Outcome, kind: str) -> None:
    assert mutants.classify([outcome]) == kind


@pytest.mark.parametrize(
    ("status", "apart", "kind"),
    [
        ("holds", 1e-14, "holds"),
        ("violated", 1e-14, "violated"),
        ("holds", 1e-3, "no-rewrite"),
        ("holds", None, "not-run"),
    ],
)
def test_a_rewrite_has_to_be_one(status: str, apart: float | None, kind: str) -> None:
    assert refactorings.classify(Outcome("plain", "equal", status, True, moved=apart)) == kind


def test_what_speaks_against_a_figure_is_in_its_table() -> None:
    record = {"key": "fidelity r s v", "switch": "s", "release": "r", "class": "unfaithful"}
    figure = fidelity.figure([{**record, "note": "", "difference": 0.5}])
    assert figure.bad == ("r s v: 0.5",)
    table = markdown([figure, Figure("fuzz", "asked", "answer", {})])
    assert "| fuzz | asked | answer |" in table
    assert "- r s v: 0.5" in table
