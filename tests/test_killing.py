"""Processes that share a cache: killed at any moment, or two dozen at once.

The moment between writing a file and renaming it is too short to be met by chance; it has a test of
its own in `sources/test_store.py`.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from checker.data import FIXTURES

ROOT = Path(__file__).parents[1]
LONG = pytest.mark.long


@dataclass(frozen=True)
class Outcome:
    """How a run ended and what it printed."""

    status: int
    output: bytes


@dataclass(frozen=True)
class Place:
    """A folder with the packaged engines, and a cache of its own."""

    folder: Path

    @property
    def cache(self) -> Path:
        return self.folder / "cache"

    def start(self) -> subprocess.Popen[bytes]:
        example = FIXTURES / "example"
        words = [
            "verify", "--train", "./toy_trainer", "--serve", "./toy_server",
            "--train-config", str(example / "train.json"),
            "--serve-config", str(example / "serve.json"),
            "--target", str(example / "target.json"),
        ]  # fmt: skip
        environment = {
            **os.environ,
            "EAGLE3_CHECK_CACHE": str(self.cache),
            "PYTHONPATH": str(ROOT),
        }
        environment.pop("EAGLE3_CHECK_DEBUG", None)
        return subprocess.Popen(
            [sys.executable, "-m", "checker", *words],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def run(self) -> Outcome:
        return ended(self.start())

    def files(self) -> list[Path]:
        return sorted(file for file in self.cache.rglob("*") if file.is_file())

    def forget_answers(self) -> None:
        """Removes what was kept; what was only begun stays."""
        for file in self.files():
            if not file.name.startswith("."):
                file.unlink()


def ended(process: subprocess.Popen[bytes]) -> Outcome:
    output, _ = process.communicate()
    return Outcome(process.returncode, output)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    for name in ("toy_trainer", "toy_server"):
        shutil.copytree(FIXTURES / "engines" / name, tmp_path / name)
    return Place(tmp_path)


@pytest.mark.parametrize("times", [8, pytest.param(50, marks=LONG)])
def test_killed_at_any_moment_the_cache_stays_usable(place: Place, times: int) -> None:
    """Moments are spread over the whole run; what ends before it is killed says the same."""
    started = time.monotonic()
    whole = place.run()
    length = time.monotonic() - started
    assert whole.status in (0, 1, 3)
    after_one = place.files()
    rng = random.Random(4)
    killed = 0
    for index in range(times):
        place.forget_answers()
        process = place.start()
        time.sleep(length * (index + rng.random()) / times)
        process.kill()
        outcome = ended(process)
        killed += outcome.status < 0
        assert outcome.status < 0 or outcome == whole
        if index % 4 == 3:
            assert place.run() == whole
    assert killed > times // 2
    leave_no_trace(place, whole, after_one)


def leave_no_trace(place: Place, whole: Outcome, after_one: list[Path]) -> None:
    """What was begun and is old goes with the next answer that is kept."""
    old = time.time() - 7200
    for file in place.files():
        os.utime(file, (old, old))
    place.forget_answers()
    assert place.run() == whole
    assert place.files() == after_one


@pytest.mark.parametrize("count", [5, pytest.param(24, marks=LONG)])
def test_processes_that_start_at_one_moment_on_an_empty_cache(place: Place, count: int) -> None:
    processes = [place.start() for _ in range(count)]
    outcomes = [ended(process) for process in processes]
    assert outcomes[0].status in (0, 1, 3)
    assert outcomes == outcomes[:1] * count
    assert not [file for file in place.files() if file.name.startswith(".")]
    assert place.run() == outcomes[0]
