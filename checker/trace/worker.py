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
    for line in sys.stdin:
        if not line.strip():
            continue
        started = time.perf_counter()
        answer = _answer(json.loads(line))
        answer["seconds"] = time.perf_counter() - started
        out.write(json.dumps(answer) + "\n")
        out.flush()
    return 0


def _answer(job: dict[str, Any]) -> dict[str, Any]:
    try:
        import torch
    except ImportError:
        return {"problem": "torch is not installed in this interpreter"}
    del torch
    from checker.trace.lazy import NoVerdict
    from checker.trace.running import run_job

    try:
        return run_job(job)
    except NoVerdict as problem:
        return {"problem": str(problem)}
    except MemoryError:
        return {"problem": "out of memory"}
    except Exception as error:  # noqa: BLE001 - whatever the checked code raises is an answer
        return {
            "raises": type(error).__name__,
            "message": str(error)[:500],
            "trail": traceback.format_exc().splitlines()[-14:],
        }


if __name__ == "__main__":
    raise SystemExit(main())
