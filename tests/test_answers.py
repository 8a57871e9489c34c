"""Answers given before are given again, and only while nothing they depend on has changed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import checker.answers
import checker.program
import checker.verification
from checker.cli import main
from checker.data import FIXTURES

if TYPE_CHECKING:
    from collections.abc import Callable

ENGINES = FIXTURES / "engines"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copies of the packaged engines, an empty cache, and the working folder."""
    monkeypatch.setenv("EAGLE3_CHECK_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("EAGLE3_CHECK_DEBUG", raising=False)
    monkeypatch.chdir(tmp_path)
    for name in ("toy_trainer", "toy_server"):
        shutil.copytree(ENGINES / name, tmp_path / name)
    for name in ("train", "serve", "target"):
        config = json.loads((FIXTURES / "example" / f"{name}.json").read_text("utf-8"))
        (tmp_path / f"{name}.json").write_text(json.dumps(config), "utf-8")
    return tmp_path


def words(*more: str) -> list[str]:
    return [
        "verify", "--train", "./toy_trainer", "--serve", "./toy_server",
        "--train-config", "train.json", "--serve-config", "serve.json",
        "--target", "target.json", *more,
    ]  # fmt: skip


def ask(capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, str]:
    status = main(words(*more))
    return status, capsys.readouterr().out


def test_an_answer_is_given_again(
    place: Path, runs: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    first = ask(capsys)
    assert ask(capsys) == first
    assert len(runs) == 1
    assert first[1]


@pytest.mark.parametrize("more", [["--no-cache"], ["--format", "json"], ["--tp", "2"]])
def test_another_question_is_answered_anew(
    place: Path, runs: list[int], capsys: pytest.CaptureFixture[str], more: list[str]
) -> None:
    ask(capsys)
    ask(capsys, *more)
    assert len(runs) == 2


def edit_source(place: Path) -> None:
    file = place / "toy_server" / "toy_server" / "eagle3.py"
    file.write_text(
        file.read_text("utf-8").replace("residual = hidden\n", "residual = embeds\n"), "utf-8"
    )


def shadow_a_module(place: Path) -> None:
    package = place / "toy_server" / "toy_server" / "layers"
    package.mkdir()
    (package / "__init__.py").write_text("", "utf-8")


def move_a_module(place: Path) -> None:
    (place / "toy_server" / "toy_server" / "layers.py").rename(place / "layers.py")


def edit_config(place: Path) -> None:
    file = place / "serve.json"
    file.write_text(file.read_text("utf-8").replace("{", '{"new_key": 1, ', 1), "utf-8")


@pytest.mark.parametrize("change", [edit_source, shadow_a_module, move_a_module, edit_config])
def test_whatever_it_depends_on_is_looked_at(
    place: Path,
    runs: list[int],
    capsys: pytest.CaptureFixture[str],
    change: Callable[[Path], None],
) -> None:
    ask(capsys)
    change(place)
    again = ask(capsys)
    assert len(runs) == 2
    assert again == ask(capsys, "--no-cache")


def test_the_program_itself_is_part_of_the_question(
    place: Path,
    runs: list[int],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ask(capsys)
    monkeypatch.setattr(checker.answers, "program_digest", lambda: "another program")
    ask(capsys)
    assert len(runs) == 2


def test_the_digest_sees_every_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.yaml").write_text("x", "utf-8")
    monkeypatch.setattr(checker.program, "CONTRACTS", tmp_path)
    digest = checker.program.program_digest.__wrapped__  # each time anew
    before = digest()
    (tmp_path / "a" / "b.yaml").write_text("y", "utf-8")
    assert digest() != before


def test_a_damaged_answer_is_made_anew(
    place: Path, runs: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    first = ask(capsys)
    for file in (place / "cache" / "answers").rglob("*"):
        if file.is_file():
            file.write_bytes(file.read_bytes()[:-5] + b"12345")
    assert ask(capsys) == first
    assert ask(capsys) == first
    assert len(runs) == 2


def test_a_run_that_a_limit_of_time_ended_is_not_kept(
    place: Path,
    runs: list[int],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    late = iter(range(9))  # one more each time it is asked
    monkeypatch.setattr(checker.answers, "_out_of_time", lambda: next(late))
    ask(capsys)
    ask(capsys)
    assert len(runs) == 2


def test_old_answers_make_room(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker.answers, "_MOST", 2)
    for ranks in ("1", "2", "3", "4"):
        ask(capsys, "--tp", ranks)
    kept = list((place / "cache" / "answers").rglob("*"))
    assert len([file for file in kept if file.is_file()]) <= 3
