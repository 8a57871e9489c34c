"""The worker as seen from here: one process, jobs in, answers out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checker.errors import InputError

if TYPE_CHECKING:
    from types import TracebackType

_ROOT = Path(__file__).resolve().parents[2]


class Worker:
    """A process that runs checked code. Use as a context manager.

    Args:
        python: the interpreter, which must have torch.
        timeout: seconds that one job may take.
    """

    def __init__(self, python: str | None = None, timeout: float = 300.0) -> None:
        self._python = python or sys.executable
        self._timeout = timeout
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Worker:
        environment = {**os.environ, "PYTHONPATH": str(_ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the interpreter the user named
                [self._python, "-m", "checker.trace.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=None if os.environ.get("EAGLE3_CHECK_DEBUG") else subprocess.DEVNULL,
                text=True,
                env=environment,
                cwd=str(Path.home()),
            )
        except OSError as error:
            raise InputError(
                f"the interpreter cannot be started: {error.strerror}",
                "give the path of a Python with torch to --python",
                self._python,
            ) from None
        return self

    def ask(self, job: dict[str, Any]) -> dict[str, Any]:
        """Runs one job and gives its answer.

        Raises:
            InputError: the process ended without an answer.
        """
        process = self._process
        assert process is not None  # noqa: S101
        assert process.stdin is not None  # noqa: S101
        assert process.stdout is not None  # noqa: S101
        try:
            process.stdin.write(json.dumps(job) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise InputError(
                "the process that runs the checked code ended without an answer",
                "EAGLE3_CHECK_DEBUG=1 shows what it printed; it needs Python 3.10 and torch",
                self._python,
            )
        answer: dict[str, Any] = json.loads(line)
        if answer.get("problem") == "torch is not installed in this interpreter":
            raise InputError(
                "torch is not installed in this interpreter",
                "pip install 'eagle3-check[trace]', or give --python a Python that has torch",
                self._python,
            )
        return answer

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trail: TracebackType | None,
    ) -> None:
        process = self._process
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
