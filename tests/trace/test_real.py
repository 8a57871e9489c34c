"""``trace --real``: the installed package is run, and nothing else is taken for it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from checker.cli import main
from tests.trace import toys

if TYPE_CHECKING:
    from collections.abc import Callable

VERSION = "1.4"
ATTEND = '''"""Attention over training-time test steps, at last."""

import torch


def attend(q, memory, scale, window=None):
    rows = torch.arange(q.shape[0])
    distance = rows[:, None] - rows[None, :]
    scores, values = [], []
    for step, (k, v) in enumerate(memory):
        groups = q.shape[1] // k.shape[1]
        seen = distance == 0 if step else distance >= 0
        score = torch.einsum("qhd,khd->hqk", q, k.repeat_interleave(groups, 1)) * scale
        scores.append(score.masked_fill(~seen, -float("inf")))
        values.append(v.repeat_interleave(groups, 1))
    weights = torch.cat(scores, -1).softmax(-1)
    return torch.einsum("hqk,khd->qhd", weights, torch.cat(values, 0))
'''


class Site:
    """A folder of installed packages, and an interpreter that has it."""

    def __init__(self, folder: Path, python: str) -> None:
        self.folder = folder / "site"
        shutil.copytree(toys.TRAINER, self.folder)
        self.write("attention.py", ATTEND)
        project = self.folder / "pyproject.toml"
        project.write_text(f'[project]\nname = "toy-trainer"\nversion = "{VERSION}"\n', "utf-8")
        self.install(VERSION)
        self.python = folder / "python"
        path = f'PYTHONPATH="$PYTHONPATH:{self.folder}"'
        self.python.write_text(f'#!/bin/sh\n{path} exec {python} "$@"\n', "utf-8")
        self.python.chmod(0o755)

    def install(self, version: str) -> None:
        """Says which version it is that is installed."""
        for old in self.folder.glob("*.dist-info"):
            shutil.rmtree(old)
        info = self.folder / f"toy_trainer-{version}.dist-info"
        info.mkdir()
        text = f"Metadata-Version: 2.1\nName: toy-trainer\nVersion: {version}\n"
        (info / "METADATA").write_text(text, "utf-8")

    def write(self, name: str, text: str) -> None:
        (self.folder / "toy_trainer" / name).write_text(text, "utf-8")

    def edit(self, name: str, old: str, new: str) -> None:
        file = self.folder / "toy_trainer" / name
        text = file.read_text("utf-8")
        assert text.count(old) == 1
        file.write_text(text.replace(old, new), "utf-8")

    def trace(self, source: Path | None = None) -> int:
        options = ["--real", "--device", "cpu", "--values", "--python", str(self.python)]
        return main(["trace", str(source or self.folder), *options])


@pytest.fixture
def site(tmp_path: Path, torch_python: str) -> Site:
    return Site(tmp_path, torch_python)


def test_the_installed_package_computes_what_was_read(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    assert site.trace() == 0
    shown = capsys.readouterr().out
    assert "agree:" in shown
    assert "rms " in shown


@pytest.mark.long
def test_it_is_really_run(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    """Without --real a summary stands in for the attention, and this would not be seen."""
    site.edit("attention.py", "* scale", "* scale * 2")
    assert site.trace() == 1
    assert "differ:" in capsys.readouterr().out


def other_release(site: Site) -> None:
    site.install("1.5")


def not_installed(site: Site) -> None:
    shutil.rmtree(site.folder / f"toy_trainer-{VERSION}.dist-info")


def no_import(site: Site) -> None:
    site.edit("draft.py", "import torch\n", "import torch\nimport kernels_of_some_device\n")


@pytest.mark.long
@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (other_release, f"toy-trainer 1.5 is installed here, --real runs toy-trainer=={VERSION}"),
        (not_installed, "toy-trainer is not installed here"),
        (no_import, "No module named 'kernels_of_some_device' (leave --real out"),
    ],
)  # fmt: skip
def test_what_cannot_be_run_is_said_in_one_line_with_a_remedy(
    site: Site, spoil: Callable[[Site], None], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    spoil(site)
    assert site.trace() == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert said in line
    assert "leave --real out" in line


@pytest.mark.long
def test_an_installed_file_that_was_changed_is_not_what_was_read(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "source"
    shutil.copytree(site.folder, source)
    site.edit("draft.py", "return logits", "return logits  # changed")
    assert site.trace(source) == 2
    assert "toy_trainer/draft.py is not what was read" in capsys.readouterr().err


@pytest.mark.long
def test_a_stand_in_that_is_only_named_changes_nothing(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    named = "import torch\nfrom toy_station import Client\nKNOWN: Client | None = None\n"
    site.edit("draft.py", "import torch\n", named)
    assert site.trace() == 0


def test_a_stand_in_that_takes_part_leaves_no_verdict(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    site.edit("draft.py", "import torch\n", "import torch\nimport toy_station\n")
    site.edit(
        "draft.py",
        "        memory = [[] for _ in self.layers]\n",
        "        memory = [[] for _ in self.layers]\n        toy_station.go()\n",
    )
    assert site.trace() == 3
    said = capsys.readouterr().out
    assert said.startswith("no verdict: ")
    assert "a stand-in took part: toy_station.go was called" in said
