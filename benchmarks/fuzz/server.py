"""Runs the program's entry in a fork of a warm process: as separate as a run, as quick as a call.

Reads one JSON object a line: `argv`, and the `seconds` (of processor time) and `bytes` that the
run may take. Answers with how the fork ended (an exit status, or minus the signal that ended it),
how long it took and what it wrote. Started by `benchmarks.fuzz.running` as a process of its own,
because only a process without threads forks safely.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from typing import Any

ESCAPED = 70
"""Exit status of a run that an exception left."""


PATIENCE = 4
"""Times the processor time that a run may take, on a machine that does other things as well."""


def serve(warm: list[str]) -> None:
    """Answers until the input ends, after one run that loads what every run needs."""
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    limit = sys.getrecursionlimit()
    from checker.cli import main

    with open(os.devnull, "w", encoding="utf-8") as sys.stdout:  # noqa: PTH123 - no path at all
        status = main(warm)
    sys.stdout = sys.__stdout__
    if status not in (0, 1):
        raise SystemExit(f"the program does not even run on its own engines: status {status}")
    sys.setrecursionlimit(limit)  # a run raises it for itself
    for line in sys.stdin:
        answers.write(json.dumps(answer(json.loads(line))) + "\n")
        answers.flush()


def answer(job: dict[str, Any]) -> dict[str, Any]:
    """Forks, waits, and tells what became of the run."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started = time.monotonic()
        child = os.fork()
        if child == 0:
            _run(job, out.fileno(), err.fileno())
        status = _wait(child, started + PATIENCE * job["seconds"])
        took = time.monotonic() - started
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode("utf-8", "backslashreplace"))
    return {"status": status, "seconds": took, "out": texts[0], "err": texts[1]}


def _run(job: dict[str, Any], out: int, err: int) -> None:
    """The fork: never returns."""
    status = ESCAPED
    try:
        resource.setrlimit(resource.RLIMIT_AS, (job["bytes"], job["bytes"]))
        seconds = int(job["seconds"])
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        os.dup2(out, 1)
        os.dup2(err, 2)
        from checker.cli import main

        status = main(job["argv"])
        sys.stdout.flush()
    except BaseException:  # noqa: BLE001 - whatever it is, it left the program
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def _wait(child: int, end: float) -> int:
    """The exit status of a child, or minus the signal that ended it; killed when time is up."""
    pause = 0.001
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return -signal.SIGKILL
        time.sleep(pause)
        pause = min(pause * 1.5, 0.02)


if __name__ == "__main__":
    serve(sys.argv[1:])
