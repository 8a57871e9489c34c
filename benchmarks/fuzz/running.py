"""Runs one input: in a fork of a warm process, or now and then as a user would."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.fuzz.cases import Ran

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parents[2]
ENGINES = ROOT / "fixtures" / "engines"
EXAMPLE = ROOT / "fixtures" / "example"
SECONDS = 30.0
"""Of processor time: reading one side may take twenty, then its own limits end it."""
BYTES = 4 << 30


class Server:
    """The process that forks; used in a `with`."""

    def __init__(self, seconds: float = SECONDS, memory: int = BYTES) -> None:
        self.seconds = seconds
        self.memory = memory

    def __enter__(self) -> Server:  # noqa: PYI034 - nothing inherits from it
        warm = [
            "verify", "--offline", "--train", str(ENGINES / "toy_trainer"),
            "--serve", str(ENGINES / "toy_server"), "--train-config", str(EXAMPLE / "train.json"),
            "--serve-config", str(EXAMPLE / "serve.json"),
        ]  # fmt: skip
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.fuzz.server", *warm],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, text=True, encoding="ascii",
        )  # fmt: skip
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stdin.close()  # type: ignore[union-attr]
        self.process.wait(timeout=60)
        self.process.stdout.close()  # type: ignore[union-attr]

    def run(self, argv: Sequence[str]) -> Ran:
        """One run of the program with these words."""
        job = {"argv": list(argv), "seconds": self.seconds, "bytes": self.memory}
        self.process.stdin.write(json.dumps(job) + "\n")  # type: ignore[union-attr]
        self.process.stdin.flush()  # type: ignore[union-attr]
        line = self.process.stdout.readline()  # type: ignore[union-attr]
        if not line:
            raise RuntimeError("the process that runs the program has ended; what it said is above")
        answer: dict[str, Any] = json.loads(line)
        return Ran(answer["status"], answer["seconds"], answer["out"], answer["err"])

    def run_fresh(self, argv: Sequence[str]) -> Ran:
        """The same, started as a user starts it."""
        started = time.monotonic()
        try:
            done = subprocess.run(
                [sys.executable, "-m", "checker", *argv],
                cwd=ROOT, capture_output=True, timeout=4 * self.seconds, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Ran(-9, time.monotonic() - started, "", "")
        out, err = (s.decode("utf-8", "backslashreplace") for s in (done.stdout, done.stderr))
        return Ran(done.returncode, time.monotonic() - started, out, err)


def can_start(argv: Sequence[str]) -> bool:
    """Whether the words can be handed to a process at all."""
    try:
        return all("\0" not in word and len(word.encode()) < 100_000 for word in argv)
    except UnicodeEncodeError:
        return False
