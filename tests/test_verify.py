"""Sides that do not come out whole: unproven with a reason, neither a finding nor an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.golden.test_matrix import DRAFT, Variant, report

if TYPE_CHECKING:
    from pathlib import Path

    from checker.report.model import Report


def reasons(found: Report) -> set[str]:
    return {c.reason or "" for c in found.clauses if c.undecided}


@pytest.mark.parametrize("value", [None, "yes", [[]]])
def test_a_switch_of_another_kind_is_unproven(value: Any, tmp_path: Path) -> None:
    found = report(Variant(train={"norm_before_residual": value}), tmp_path)
    assert found.exit_status == 3
    assert any("the contract says nothing for what was trained" in r for r in reasons(found))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("for step in range(steps)", "for step in range(steps - 1)"),
        ("for step in range(steps)", "for step in range(0)"),
        ("return logits", "return logits + logits"),
    ],
)
def test_another_number_of_steps_is_unproven(old: str, new: str, tmp_path: Path) -> None:
    found = report(Variant(((DRAFT, old, new),)), tmp_path)
    assert found.exit_status == 3
    assert any("steps came out, not 3" in reason for reason in reasons(found))
