"""The process in which checked code runs. Reads one job a line, writes one answer a line.

Run as ``PYTHON -P -m checker.trace.worker``; needs torch and nothing else of this program's
dependencies.
"""

from __future__ import annotations

import json
import sys
import time
import traceback
import warnings
from typing import Any


def main() -> int:
    """Answers jobs until standard input ends."""
    warnings.simplefilter("ignore")
    out = sys.stdout
    sys.stdout = sys.stderr  # what checked code prints is no answer
    texts: dict[str, str] = {}
    for line in sys.stdin:
        if not line.strip():
            continue
        started = time.perf_counter()
        answer = _answer(_whole(json.loads(line), texts))
        answer["seconds"] = time.perf_counter() - started
        out.write(json.dumps(answer) + "\n")
        out.flush()
    return 0


def _whole(job: dict[str, Any], texts: dict[str, str]) -> dict[str, Any]:
    """The job with its files' texts: each is sent once."""
    texts.update(job.get("texts") or {})
    for tree in job.get("trees") or ():
        tree["files"] = {path: texts[digest] for path, digest in tree["files"].items()}
    return job


def _answer(job: dict[str, Any]) -> dict[str, Any]:
    try:
        import torch
    except ImportError:
        return {"problem": "torch is not installed in this interpreter"}
    if job.get("kind") == "device":
        return {"device": "cuda" if torch.cuda.is_available() else "cpu"}
    from checker.trace.lazy import NoVerdict
    from checker.trace.running import run_job

    try:
        return run_job(job)
    except NoVerdict as problem:
        return {"problem": str(problem)}
    except MemoryError:
        return {"problem": "out of memory"}
    except Exception as error:  # noqa: BLE001 - whatever the checked code raises is an answer
        if _out_of_memory(error):
            return {"problem": "out of memory"}
        return {
            "raises": type(error).__name__,
            "message": str(error)[:500],
            "trail": traceback.format_exc().splitlines()[-14:],
        }


def _out_of_memory(error: Exception) -> bool:
    """Whether torch could not allocate: on a device it says so by type, on a CPU by words."""
    return type(error).__name__ == "OutOfMemoryError" or "not enough memory" in str(error)


if __name__ == "__main__":
    raise SystemExit(main())
