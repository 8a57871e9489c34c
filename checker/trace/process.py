"""The worker as seen from here: one process, jobs in, answers out."""

from __future__ import annotations

import hashlib
import json
import os
import selectors
import subprocess
import sys
import time
from contextlib import suppress
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
        self._process: subprocess.Popen[bytes] | None = None
        self._known: set[str] = set()

    def __enter__(self) -> Worker:  # noqa: PYI034 - `Self` is not in Python 3.10
        environment = {**os.environ, "PYTHONPATH": str(_ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the interpreter the user named
                [self._python, "-m", "checker.trace.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=None if os.environ.get("EAGLE3_CHECK_DEBUG") else subprocess.DEVNULL,
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
        assert process is not None
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(self._brief(job)).encode() + b"\n")
            process.stdin.flush()
            line = self._line(process)
        except BrokenPipeError:
            line = b""
        except TimeoutError:
            process.kill()
            self._known.clear()
            return {"problem": f"no answer within {self._timeout:g} seconds"}
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

    def device(self) -> str:
        """Where torch would run by itself: cuda when there is one, else cpu."""
        return str(self.ask({"kind": "device"}).get("device", "cpu"))

    def _brief(self, job: dict[str, Any]) -> dict[str, Any]:
        """The job with each file's text sent once a process: most of them come with every job."""
        texts: dict[str, str] = {}
        trees = []
        for tree in job.get("trees", ()):
            digests = {}
            for path, text in tree["files"].items():
                digest = digests[path] = hashlib.sha256(text.encode()).hexdigest()
                if digest not in self._known:
                    texts[digest] = text
            trees.append({**tree, "files": digests})
        self._known.update(texts)
        return {**job, "trees": trees, "texts": texts}

    def _line(self, process: subprocess.Popen[bytes]) -> bytes:
        """The next line of the process's answers; raises TimeoutError when it takes too long."""
        assert process.stdout is not None
        stream = process.stdout.fileno()
        parts: list[bytes] = []
        deadline = time.monotonic() + self._timeout
        with selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_READ)
            while not parts or not parts[-1].endswith(b"\n"):
                if not selector.select(max(deadline - time.monotonic(), 0)):
                    raise TimeoutError
                part = os.read(stream, 1 << 20)
                if not part:
                    return b""
                parts.append(part)
        return b"".join(parts)

    @property
    def alive(self) -> bool:
        """Whether the process still takes jobs: one that was too slow is ended."""
        return self._process is not None and self._process.poll() is None

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
            with suppress(BrokenPipeError):
                process.stdin.close()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
