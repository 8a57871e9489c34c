"""Results are given again while the definitions they came from are the same, and only then."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from checker.cli import main
from checker.data import FIXTURES
from checker.engines import drive, extraction

if TYPE_CHECKING:
    from collections.abc import Callable

SERVED = "toy_server/toy_server/eagle3.py"
LAYERS = "toy_server/toy_server/layers.py"
WORKER = "toy_server/toy_server/worker.py"
DRAFT = "toy_trainer/toy_trainer/draft.py"


class Place:
    """Copies of the packaged engines, asked with answers that are never kept as a whole."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys

    def ask(self, *more: str) -> dict[str, Any]:
        shutil.rmtree(self.folder / "cache/answers", ignore_errors=True)
        words = ["verify", "--train", "./toy_trainer", "--serve", "./toy_server"]
        for side in ("train", "serve"):
            words += [f"--{side}-config", str(FIXTURES / "example" / f"{side}.json")]
        words += ["--target", str(FIXTURES / "example/target.json"), "--format", "json", *more]
        main(words)
        found: dict[str, Any] = json.loads(self._capsys.readouterr().out)
        return found

    def edit(self, path: str, old: str, new: str) -> None:
        text = (self.folder / path).read_text()
        assert text.count(old) == 1
        (self.folder / path).write_text(text.replace(old, new))


@pytest.fixture
def place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Place:
    monkeypatch.setenv("EAGLE3_CHECK_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("EAGLE3_CHECK_DEBUG", raising=False)
    monkeypatch.chdir(tmp_path)
    for name in ("toy_trainer", "toy_server"):
        shutil.copytree(FIXTURES / "engines" / name, tmp_path / name)
    return Place(tmp_path, capsys)


@pytest.fixture
def worked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Whose extraction and whose drive were worked out, in order."""
    done: list[str] = []

    def noting(module: Any, name: str, what: str) -> None:
        real: Callable[..., Any] = getattr(module, name)

        def noted(subject: Any, *args: Any) -> Any:
            done.append(f"{what} {subject.engine.role}")
            return real(subject, *args)

        monkeypatch.setattr(module, name, noted)

    noting(extraction, "_extract", "draft of the")
    noting(drive, "drive", "drive of the")
    return done


EVERYTHING = {"draft of the trainer", "draft of the server", "drive of the trainer",
              "drive of the server"}  # fmt: skip


def test_nothing_is_worked_out_twice(place: Place, worked: list[str]) -> None:
    first = place.ask()
    assert set(worked) == EVERYTHING
    worked.clear()
    assert place.ask() == first
    assert worked == []


def test_without_the_cache_everything_is(place: Place, worked: list[str]) -> None:
    first = place.ask()
    worked.clear()
    assert place.ask("--no-cache") == first
    assert set(worked) == EVERYTHING


@pytest.mark.parametrize("path", [SERVED, LAYERS, WORKER, DRAFT])
def test_what_no_result_depends_on_may_change(place: Place, worked: list[str], path: str) -> None:
    """Comments and functions that nobody calls move lines: the report names the new ones."""
    place.ask()
    file = place.folder / path
    imports, class_, rest = file.read_text().partition("\nclass ")
    new = "\n# a comment\n\n\ndef never_called():\n    return 1\n"
    file.write_text(f"{imports}{new}{class_}{rest}\n\ndef neither_is_this():\n    return 2\n")
    worked.clear()
    found = place.ask()
    assert worked == []
    assert found == place.ask("--no-cache")


@pytest.mark.parametrize(
    ("path", "old", "new", "again"),
    [
        (SERVED, "residual = hidden\n", "residual = hidden * 2\n", {"draft of the server"}),
        (LAYERS, "import torch\n", "import torch\nfrom math import pi as torch\n",
         {"draft of the server"}),
        (DRAFT, "hidden = self.fc(features)\n", "hidden = self.fc(features) + 1\n",
         {"draft of the trainer"}),
        ("toy_trainer/toy_trainer/data.py", "    return ", "    tokens = None\n    return ",
         {"draft of the trainer", "drive of the trainer"}),
    ],
)  # fmt: skip
def test_what_a_result_depends_on_is_worked_out_again(
    place: Place, worked: list[str], path: str, old: str, new: str, again: set[str]
) -> None:
    first = place.ask()
    place.edit(path, old, new)
    worked.clear()
    found = place.ask()
    assert set(worked) == again
    assert found != first
    assert found == place.ask("--no-cache")


def test_the_order_of_statements_is_part_of_a_result(place: Place, worked: list[str]) -> None:
    """A statement that is moved above another is another program, though no text has changed."""
    place.edit(SERVED, "import torch\n", "import torch\nSCALE = 1\n")
    place.edit(SERVED, "residual = hidden\n", "residual = hidden * SCALE\n")
    with (place.folder / SERVED).open("a") as file:
        file.write("\n\nSCALE = 2\n")
    first = place.ask()
    text = (place.folder / SERVED).read_text().replace("\n\nSCALE = 2\n", "")
    (place.folder / SERVED).write_text(text.replace("SCALE = 1\n", "SCALE = 2\nSCALE = 1\n"))
    found = place.ask()
    assert found != first
    assert found == place.ask("--no-cache")


def test_a_module_that_comes_into_being_counts(place: Place, worked: list[str]) -> None:
    """A package in the place of a module that was not there before, or before a module."""
    place.ask()
    worked.clear()
    (place.folder / "toy_server/toy_server/eagle3").mkdir()
    (place.folder / "toy_server/toy_server/torch.py").write_text("raise RuntimeError\n")
    found = place.ask()
    assert found == place.ask("--no-cache")


def test_a_damaged_result_is_worked_out_again(place: Place, worked: list[str]) -> None:
    first = place.ask()
    for number, file in enumerate(sorted((place.folder / "cache/graphs").rglob("*-*"))):
        content = file.read_bytes()
        file.write_bytes([b"", content[:100], content[:-1] + b"x", b"\0" * 300][number % 4])
    worked.clear()
    assert place.ask() == first
    assert set(worked) == EVERYTHING
    worked.clear()
    assert place.ask() == first
    assert worked == []


def test_another_source_of_the_same_content_is_given_the_same(
    place: Place, worked: list[str]
) -> None:
    """Under its own name: labels are no part of a result."""
    place.ask()
    (place.folder / "toy_server").rename(place.folder / "fork")
    worked.clear()
    shutil.rmtree(place.folder / "cache/answers")
    words = ["--serve", "./fork"]
    found = place.ask(*words)
    assert worked == []
    assert "toy_server/toy_server" not in json.dumps(found["serve"]["source"])
    assert found["serve"]["source"] == "./fork"
    assert found == place.ask(*words, "--no-cache")
