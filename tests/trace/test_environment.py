"""Environments are made once, whole or not at all, from nothing but checked requirements."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from checker.engines import load_engines
from checker.errors import InputError
from checker.request import Access
from checker.sources.store import CACHE_VARIABLE
from checker.trace import environment
from checker.trace.environment import Needs, needs_of, prepared

ENGINES = {engine.name: engine for engine in load_engines()}


def releases(**versions: str | None) -> tuple[Any, ...]:
    """Trees, as far as their names and versions go."""
    made = (SimpleNamespace(name=n.replace("_", "-"), version=v) for n, v in versions.items())
    return tuple(made)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache/environments"


@pytest.fixture
def commands(cache: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What would be run; making the environment only makes its interpreter."""
    run: list[list[str]] = []

    def noted(told: str, command: list[str]) -> None:
        run.append(command)
        if command[1:3] == ["-m", "venv"]:
            python = environment._python(Path(command[3]))
            python.parent.mkdir()
            python.touch(0o755)

    monkeypatch.setattr(environment, "_run", noted)
    return run


def test_a_trainer_itself_is_installed_alone_beside_the_libraries_that_were_read() -> None:
    trees = releases(speculators="0.9.0", transformers="5.19.0")
    needs = needs_of(ENGINES["speculators"], trees, package=True)
    assert needs.alone == ("speculators==0.9.0",)
    assert "transformers==5.19.0" in needs.others
    assert not needs_of(ENGINES["speculators"], trees).alone


def test_what_has_no_description_names_the_remedy() -> None:
    with pytest.raises(InputError, match="--real out"):
        needs_of(ENGINES["sglang"], releases(sglang="0.5.23"), package=True)
    with pytest.raises(InputError, match="--python"):
        needs_of(ENGINES["toy-trainer"], releases(toy_trainer=None), package=True)


@pytest.mark.parametrize("text", ["--index-url=x", "torch; rm", "torch @ https://x/y.whl", ""])
def test_only_requirements_reach_pip(text: str) -> None:
    with pytest.raises(InputError):
        Needs(heavy=(text,))


def test_it_is_made_once_and_kept(cache: Path, commands: list[list[str]]) -> None:
    needs, told = Needs(("torch==2.13.0",), ("numpy",), ("toy==1",)), list[str]()
    first = prepared(needs, Access(progress=told.append))
    made = len(commands)
    assert made == 4
    assert prepared(needs, Access(offline=True)) == first
    assert len(commands) == made
    assert [p.name for p in cache.iterdir()] == [needs.digest]
    assert any("pip install torch==2.13.0" in line for line in told)
    assert "--no-deps" in commands[-1]
    assert commands[-1][-1] == "toy==1"


def test_other_requirements_are_another_environment(commands: list[list[str]]) -> None:
    one = prepared(Needs(("torch==2.13.0",)), Access())
    assert prepared(Needs(("torch==2.12.0",)), Access()) != one
    assert prepared(replace(Needs(("torch==2.13.0",)), alone=("toy==1",)), Access()) != one


def test_of_two_processes_the_first_wins(
    cache: Path, commands: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    needs = Needs(("torch==2.13.0",))
    inner = environment._run

    def overtaken(told: str, command: list[str]) -> None:
        inner(told, command)
        if "venv" not in command:
            monkeypatch.setattr(environment, "_run", inner)
            prepared(needs, Access())
            environment._python(cache / needs.digest).write_text("theirs", "utf-8")

    monkeypatch.setattr(environment, "_run", overtaken)
    assert Path(prepared(needs, Access())).read_text("utf-8") == "theirs"
    assert [p.name for p in cache.iterdir()] == [needs.digest]


def test_one_that_lost_its_interpreter_is_made_again(
    cache: Path, commands: list[list[str]]
) -> None:
    needs = Needs(("torch==2.13.0",))
    python = Path(prepared(needs, Access()))
    python.unlink()
    assert prepared(needs, Access()) == str(python)
    assert python.exists()


def test_offline_makes_none(cache: Path, commands: list[list[str]]) -> None:
    with pytest.raises(InputError, match="run once without --offline"):
        prepared(Needs(("torch==2.13.0",)), Access(offline=True))
    assert commands == []


def test_a_failure_gives_the_last_error_and_leaves_nothing(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "Collecting x\nERROR: no matching distribution\n[notice] a new pip\n"

    def failing(command: list[str], **_: Any) -> Any:
        return SimpleNamespace(returncode="pip" in command, stdout=said)

    monkeypatch.setattr(subprocess, "run", failing)
    with pytest.raises(InputError) as caught:
        prepared(Needs(("torch==2.13.0",)), Access())
    assert "pip install torch==2.13.0 failed: ERROR: no matching distribution" in str(caught.value)
    assert list(cache.iterdir()) == []


def test_a_cache_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "file"))
    with pytest.raises(InputError, match=CACHE_VARIABLE):
        prepared(Needs(("torch==2.13.0",)), Access())


@pytest.mark.long
def test_a_real_one_has_what_was_asked_for(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = tmp_path / "tiny-1.0-py3-none-any.whl"
    info = "tiny-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny.py", "SIZE = 24\n")
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    python = prepared(Needs(("tiny==1.0",)), Access())
    assert python != sys.executable
    shown = subprocess.run(
        [python, "-c", "import tiny; print(tiny.SIZE)"], capture_output=True, check=True, text=True
    )
    assert shown.stdout == "24\n"
    with pytest.raises(InputError, match=r"tiny==2\.0 failed: ERROR"):
        prepared(Needs(("tiny==2.0",)), Access())
