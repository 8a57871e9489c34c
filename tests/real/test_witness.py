"""`--witness` and `trace` on real releases: what was kept before takes no part in a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker.cli import main
from checker.data import FIXTURES
from tests.real.releases import Copies

EXAMPLE = FIXTURES / "example"


def test_a_witness_runs_both_sides_whatever_is_kept(
    copies: Copies, torch_python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """The example differs; with the switch off, it is equal."""
    del copies  # the releases are there
    config = json.loads((EXAMPLE / "train.json").read_text("utf-8"))
    config["norm_before_residual"] = False
    plain = tmp_path / "train.json"
    plain.write_text(json.dumps(config), "utf-8")
    for train, seen in ((EXAMPLE / "train.json", "different"), (plain, "equal")):
        words = ["verify", "--train", "speculators==0.9.0", "--serve", "sglang==0.5.23"]
        words += ["--train-config", str(train), "--serve-config", str(EXAMPLE / "serve.json")]
        words += ["--target", str(EXAMPLE / "target.json"), "--format", "json"]
        main(words)  # graphs are kept
        capsys.readouterr()
        main([*words, "--witness", "--python", torch_python])
        witness = json.loads(capsys.readouterr().out)["witness"]
        assert (witness["seen"], witness["agrees"]) == (seen, True), witness


@pytest.mark.parametrize(
    ("release", "config"), [("speculators==0.9.0", "train"), ("sglang==0.5.23", "serve")]
)
def test_a_trace_has_the_numbers_that_were_read(
    copies: Copies, torch_python: str, release: str, config: str,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    del copies
    words = ["trace", release, "--config", str(EXAMPLE / f"{config}.json"), "--values"]
    words += ["--target", str(EXAMPLE / "target.json"), "--python", torch_python]
    assert main(words) == 0, capsys.readouterr().out
    assert "agree:" in capsys.readouterr().out
