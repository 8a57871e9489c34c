"""Trainers, servers and configurations: the cells, in parts and as a whole, and what is decided."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import checker.matrix
from checker.cli import main
from checker.contract.loading import load_exploration
from checker.data import FIXTURES, SCHEMAS

SERVED = "other/toy_server/eagle3.py"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A trainer, a server, and one that leaves out the final norm."""
    monkeypatch.setenv("EAGLE3_CHECK_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    engines = FIXTURES / "engines"
    for name, source in (("t", "toy_trainer"), ("one", "toy_server"), ("other", "toy_server")):
        shutil.copytree(engines / source, tmp_path / name)
    text = Path(SERVED).read_text("utf-8")
    Path(SERVED).write_text(text.replace("self.lm_head(normed)", "self.lm_head(kept)"), "utf-8")
    words = ["train", "serve", "target"]
    for name in words:
        config = json.loads((FIXTURES / "example" / f"{name}.json").read_text("utf-8"))
        config |= {"norm_before_residual": False} if name == "train" else {}
        Path(f"{name}.json").write_text(json.dumps(config), "utf-8")
    return tmp_path


SIDES = ("--train", "./t", "--serve", "./one", "./other")
GIVEN = ("--train-config", "train.json", "--serve-config", "serve.json", "--target", "target.json")


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    status = main([*words])
    out = capsys.readouterr()
    assert out.err == ""
    return status, out.out


def matrix(capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, dict[str, Any]]:
    status, text = run(capsys, "matrix", *SIDES, *more, "--format", "json")
    found: dict[str, Any] = json.loads(text)
    jsonschema.validate(found, json.loads((SCHEMAS / "matrix.schema.json").read_text("utf-8")))
    return status, found


def cells(found: dict[str, Any]) -> dict[tuple[str, str], list[str]]:
    return {(c["serve"], c["configuration"]): [*c["violated"]] for c in found["cells"]}


def test_every_pair_is_asked_under_every_configuration(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three of the contract's list: what a switch breaks on a server stands in its row."""
    whole = load_exploration()
    three = {name: whole.matrix[name] for name in ("plain", "residual-normed", "one-state")}
    monkeypatch.setattr("checker.matrix.load_exploration", lambda: replace(whole, matrix=three))
    status, found = matrix(capsys, "--target", "target.json")
    assert status == 1
    table = cells(found)
    assert len(table) == 2 * 3
    assert table["./one", "plain"] == []
    assert table["./one", "residual-normed"] == ["config-read", "residual-source"]
    assert table["./one", "one-state"] == ["fc-condition"]
    assert "final-norm" in table["./other", "plain"]
    assert sum(found["cells"][0]["counts"].values()) == 31


def test_parts_make_the_whole_and_are_read_for_people(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = matrix(capsys, *GIVEN)
    names = []
    for part in ("1/2", "2/2"):
        _, found = matrix(capsys, *GIVEN, "--shard", part)
        assert len(found["cells"]) == 1
        names.append(f"part-{part[0]}.json")
        Path(names[-1]).write_text(json.dumps(found), "utf-8")
    status, text = run(capsys, "merge", *names, "--format", "json")
    assert (status, json.loads(text)) == whole
    status, text = run(capsys, "merge", *names)
    assert status == 1
    assert "  ./t  .a\n" in text
    assert "  a  final-norm\n" in text
    assert text.endswith("2 cells: 1 agree, 1 differ\n")
    _, text = run(capsys, "merge", *names, "--format", "markdown")
    assert "| ./one | agree |\n| ./other | `final-norm` |\n" in text
    _, text = run(capsys, "merge", *names, "--format", "html")
    assert text.count("<summary") == 1, "the cell that differs opens"
    assert "toy_server/" in text
    status, text = run(capsys, "coverage", *names)
    assert status == 0
    assert "100.00%  of the clauses that apply are decided" in text
    Path("odd.json").write_text(Path(names[0]).read_text("utf-8").replace("agree", "differ"))
    assert main(["merge", names[0], "odd.json"]) == 2
    assert "differs between parts" in capsys.readouterr().err


def test_a_run_goes_on_where_another_was_stopped(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pairs that were finished are not read again; an edit of one server asks for it alone."""
    read: list[str] = []
    brief = checker.matrix.Reader.brief

    def counting(self: Any, pair: Any, request: Any) -> Any:
        read.append(request.serve)
        if request.serve == "./other" and len(read) == 2:
            raise KeyboardInterrupt
        return brief(self, pair, request)

    monkeypatch.setattr(checker.matrix.Reader, "brief", counting)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    assert main(["matrix", *SIDES, *GIVEN]) == 130
    assert "interrupted" in capsys.readouterr().err
    status, _ = matrix(capsys, *GIVEN)
    assert status == 1
    assert read == ["./one", "./other", "./other"]
    assert matrix(capsys, *GIVEN)[0] == 1
    assert len(read) == 3
    with Path(SERVED).open("a", encoding="utf-8") as stream:
        stream.write("\n# one more line\n")
    matrix(capsys, *GIVEN)
    assert read[3:] == ["./other"]


def test_unproven_cells_have_their_reasons(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = Path(SERVED).read_text("utf-8")
    Path(SERVED).write_text(text.replace("(kept), kept", "(torch.mystery(kept)), kept"), "utf-8")
    status, text = run(capsys, "matrix", *SIDES, *GIVEN, "--format", "json")
    assert status == 3
    Path("m.json").write_text(text, "utf-8")
    _, text = run(capsys, "coverage", "m.json", "--format", "json")
    share = json.loads(text)
    assert 0 < share["decided"] < 1
    assert share["counts"]["unproven"] > 0
    assert any("mystery" in item["reason"] for item in share["reasons"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("matrix", *SIDES, "--shard", "3/2"), "is no part"),
        (("matrix", "--train", "./t", "--serve", "./nowhere"), "nowhere"),
        (("merge", "nowhere.json"), "cannot be read"),
        (("coverage", "train.json"), "is no matrix"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_line(
    place: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    assert main([*words]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert len(err.splitlines()) == 1
