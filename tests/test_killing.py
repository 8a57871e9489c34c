"""Processes that share a cache: killed at any moment, or two dozen at once.

The moment between writing a file and renaming it is too short to be met by chance; it has a test of
its own in `sources/test_store.py`.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from checker.data import FIXTURES

if TYPE_CHECKING:
    from collections.abc import Callable

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


@dataclass(frozen=True)
class Table:
    """A matrix in two processes, each column of which takes some seconds."""

    folder: Path
    cache: Path

    def start(self) -> subprocess.Popen[bytes]:
        servers = sorted(f"./{path.name}" for path in self.folder.glob("s*"))
        words = ["matrix", "--train", "./t", "--serve", *servers, "--format", "json"]
        # as many processes as there would be on a machine with two processors
        code = "import os; os.cpu_count = lambda: 2; from checker.cli import run; run()"
        environment = {
            **os.environ,
            "EAGLE3_CHECK_CACHE": str(self.cache),
            "PYTHONPATH": str(ROOT),
        }
        environment.pop("EAGLE3_CHECK_DEBUG", None)
        return subprocess.Popen(
            [sys.executable, "-c", code, *words],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def kept(self) -> int:
        """How many conclusions of cells are kept."""
        return len([*self.cache.glob("verdicts/*/*")])


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Servers that each need a look of their own."""
    shutil.copytree(FIXTURES / "engines" / "toy_trainer", tmp_path / "t")
    for number, line in enumerate(("kept", "kept * 2", "kept * 3", "kept * 4")):
        server = tmp_path / f"s{number}"
        shutil.copytree(FIXTURES / "engines" / "toy_server", server)
        file = server / "toy_server" / "eagle3.py"
        text = file.read_text("utf-8")
        assert "self.lm_head(normed)" in text
        file.write_text(text.replace("self.lm_head(normed)", f"self.lm_head({line})"), "utf-8")
    return Table(tmp_path, tmp_path / "cache")


def children(process: int) -> list[int]:
    text = Path(f"/proc/{process}/task/{process}/children").read_text("utf-8")
    return [int(number) for number in text.split()]


def runs(process: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        status = Path(f"/proc/{process}/stat").read_text("utf-8")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def within(seconds: float, holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="asks the kernel for processes")
@pytest.mark.parametrize(
    ("ended_by", "worker", "status", "said"),
    [
        (signal.SIGINT, False, 130, b"eagle3-check: interrupted\n"),
        pytest.param(signal.SIGTERM, False, 143, b"eagle3-check: interrupted\n", marks=LONG),
        pytest.param(signal.SIGKILL, False, -9, b"", marks=LONG),
        (signal.SIGKILL, True, 2, b"eagle3-check: one of the processes was ended from outside"),
    ],
)
def test_a_table_that_is_stopped_leaves_no_process_and_goes_on(
    table: Table, ended_by: signal.Signals, worker: bool, status: int, said: bytes
) -> None:
    """What was finished is kept; the rest is made as if nothing had been."""
    process = table.start()
    assert within(60, lambda: table.kept() > 0 or process.poll() is not None)
    workers = children(process.pid)
    assert len(workers) == 2
    os.kill(workers[0] if worker else process.pid, ended_by)
    assert within(20, lambda: process.poll() is not None), "at once, not when a column is done"
    outcome = process.communicate()
    assert process.returncode == status
    assert outcome[0] == b""
    assert outcome[1].startswith(said)
    assert len(outcome[1].splitlines()) == len(said.splitlines())
    assert within(20, lambda: not any(map(runs, workers))), "nobody is left behind"
    kept = table.kept()
    assert kept > 0
    again = ended(table.start())
    fresh = ended(Table(table.folder, table.folder / "another").start())
    assert again.status == fresh.status == 1
    assert again.output == fresh.output
    assert table.kept() > kept, "it was stopped in the middle"
