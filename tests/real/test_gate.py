"""The gate on real releases: what an upgrade brings to one plain draft."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checker.cli import main
from tests.real import configs

pytestmark = [pytest.mark.network, pytest.mark.long]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    draft = {"train": configs.train(), "serve": configs.serve(), "target": configs.TARGET}
    for name, config in draft.items():
        Path(f"{name}.json").write_text(json.dumps(config), "utf-8")
    words = ["--train-config", "train.json", "--serve-config", "serve.json"]
    return [*words, "--target", "target.json"]


def diff(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    status = main(["diff", *words, "--format", "json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return status, found


def test_an_upgrade_that_mends_positions_names_them(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Up to 0.5.11 positions are moved too early, and layers go by the reference's names."""
    status, found = diff(capsys, "sglang==0.5.10", "sglang==0.5.12", *files)
    kinds = {(c["kind"], *c["clauses"]) for c in found["changes"]}
    assert {("fixed", "positions"), ("fixed", "weights-loaded")} <= kinds
    assert not {kind for kind, *_ in kinds} & {"breaking", "unknown"}
    assert (status, found["draft"]) == (0, {"old": "differ", "new": "agree"})
    assert all(c["old"] or c["new"] for c in found["changes"])


def test_a_refactoring_of_the_draft_file_changes_nothing(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    status, found = diff(capsys, "sglang==0.5.18", "sglang==0.5.20", *files)
    assert (status, found["changes"]) == (0, [])
    assert found["draft"] == {"old": "agree", "new": "agree"}


def test_a_downgrade_breaks_what_the_upgrade_mended(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    status, found = diff(
        capsys, "sglang==0.5.12", "sglang==0.5.10", *files, "--rename", "layers.0=midlayer"
    )
    assert status == 1
    assert any(c["kind"] == "breaking" and "positions" in c["clauses"] for c in found["changes"])
