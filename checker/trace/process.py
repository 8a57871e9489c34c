"""The worker as seen from here: one process, jobs in, answers out."""

from __future__ import annotations

import hashlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checker.errors import InputError
from checker.trace import OUT_OF_MEMORY

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import TracebackType

_ROOT = Path(__file__).resolve().parents[2]

TOO_OLD = 97
_START = (
    "import sys\n"
    "if sys.version_info < (3, 10): sys.exit(97)\n"
    "sys.path[:1] = []\n"
    "from checker.trace.worker import main\n"
    "sys.exit(main())\n"
)
"""What the other interpreter is given to run: however old, it gets as far as the second line."""

REMEDY = "give --python a Python 3.10 or newer that has torch, or --prepare to have one made"


class Worker:
    """A process that runs checked code. Use as a context manager.

    Args:
        python: the interpreter, which must have torch.
        timeout: seconds that one job may take.
        preload: modules that the job will need, imported while it is prepared.
    """

    def __init__(
        self, python: str | None = None, timeout: float = 300.0, preload: Iterable[str] = ()
    ) -> None:
        self._python = python or sys.executable
        self._preload = tuple(preload)
        self._timeout = timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._known: set[str] = set()
        self._greeted = False
        self._rest = b""
        self._lost: str | None = None

    def __enter__(self) -> Worker:  # noqa: PYI034 - `Self` is not in Python 3.10
        environment = {**os.environ, "PYTHONPATH": str(_ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the interpreter the user named
                [self._python, "-c", _START, *self._preload],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=None if os.environ.get("EAGLE3_CHECK_DEBUG") else subprocess.DEVNULL,
                env=environment,
                cwd=str(Path.home()),
            )
        except OSError as error:
            raise InputError(
                f"the interpreter cannot be started: {error.strerror}",
                REMEDY,
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
            if line and not self._greeted:
                self._greeted = _greeting(line)
                line = self._line(process) if self._greeted else b""
        except BrokenPipeError:
            line = b""
        except TimeoutError:
            process.kill()
            self._known.clear()
            self._lost = f"no answer within {self._timeout:g} seconds"
            return {"problem": self._lost}
        if not line:
            return {"problem": self._lost} if self._lost else self._ended(process)
        answer: dict[str, Any] = json.loads(line)
        if "missing" in answer:
            raise InputError(
                answer["missing"],
                "pip install 'eagle3-check[trace]', give --python a Python that has torch, or"
                " --prepare to have one made",
                self._python,
            )
        return answer

    def _ended(self, process: subprocess.Popen[bytes]) -> dict[str, Any]:
        """What it means that there is no answer."""
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
        if process.returncode == -signal.SIGKILL:  # what systems do that run out of memory
            return {"problem": f"{OUT_OF_MEMORY}: the process that ran the code was killed"}
        if process.returncode == TOO_OLD:
            raise InputError("this Python is older than 3.10", REMEDY, self._python)
        if not self._greeted:
            status = f"exit status {process.returncode}"
            raise InputError(f"this is no Python that runs ({status})", REMEDY, self._python)
        raise InputError(
            "the process that runs the checked code ended without an answer"
            f" (exit status {process.returncode})",
            "EAGLE3_CHECK_DEBUG=1 shows what it printed",
            self._python,
        )

    def device(self) -> str:
        """Where torch would run by itself: cuda when there is one, else cpu."""
        return str(self.ask({"kind": "device"}).get("device", "cpu"))

    def versions(self, names: Sequence[str]) -> dict[str, str | None]:
        """The versions in which distributions are installed there, None for those that are not.

        Nothing of those that it can no longer be asked for.
        """
        found: dict[str, str | None] = self.ask({"kind": "versions", "names": list(names)}).get(
            "versions", {}
        )
        return found

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
        parts = [self._rest]
        deadline = time.monotonic() + self._timeout
        with selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_READ)
            while b"\n" not in parts[-1]:
                if not selector.select(max(deadline - time.monotonic(), 0)):
                    raise TimeoutError
                part = os.read(stream, 1 << 20)
                if not part:
                    return b""
                parts.append(part)
        line, _, self._rest = b"".join(parts).partition(b"\n")
        return line

    @property
    def python(self) -> str:
        """The interpreter, as it was named."""
        return self._python

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
        process.kill()  # it has nothing to put away, and torch takes its time to end
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _greeting(line: bytes) -> bool:
    """Whether a line is the worker's first one, and no other program's."""
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
