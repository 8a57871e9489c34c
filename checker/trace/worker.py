"""The process in which checked code runs. Reads one job a line, writes one answer a line.

Started by `checker.trace.process`; needs torch and nothing else of this program's dependencies.
The first line it writes says that it is there; torch is imported while the first job is prepared.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
import traceback
import warnings
from contextlib import suppress
from typing import Any

from checker.trace import OUT_OF_MEMORY

_SAID = (
    "not enough memory",
    "can't allocate memory",
    "Cannot allocate memory",
    "failed to map segment from shared object",
)


def main() -> int:
    """Answers jobs until standard input ends."""
    warnings.simplefilter("ignore")
    out = sys.stdout
    sys.stdout = sys.stderr  # what checked code prints is no answer
    out.write(json.dumps({"python": list(sys.version_info[:3])}) + "\n")
    out.flush()
    missing = _load()
    texts: dict[str, str] = {}
    for line in sys.stdin:
        if not line.strip():
            continue
        started = time.perf_counter()
        answer = missing or _answer(_whole(json.loads(line), texts))
        answer["seconds"] = time.perf_counter() - started
        out.write(json.dumps(answer) + "\n")
        out.flush()
    return 0


def _load() -> dict[str, Any] | None:
    """Imports what every job needs; what there is to say where it cannot be imported."""
    try:
        import torch  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name == "torch":
            return {"missing": "torch is not installed in this interpreter"}
        return {"missing": f"torch cannot be imported: {error}"}
    except MemoryError:
        return {"problem": OUT_OF_MEMORY}
    except (ImportError, OSError) as error:
        if _out_of_memory(error):
            return {"problem": OUT_OF_MEMORY}
        return {"missing": f"torch cannot be imported: {error}"}
    import checker.trace.running  # noqa: F401

    for name in sys.argv[1:]:
        with suppress(ImportError):  # it only was to save time
            importlib.import_module(name)
    return None


def _whole(job: dict[str, Any], texts: dict[str, str]) -> dict[str, Any]:
    """The job with its files' texts: each is sent once."""
    texts.update(job.get("texts") or {})
    for tree in job.get("trees") or ():
        tree["files"] = {path: texts[digest] for path, digest in tree["files"].items()}
    return job


def _answer(job: dict[str, Any]) -> dict[str, Any]:
    import torch

    from checker.trace import real
    from checker.trace.lazy import NoVerdict
    from checker.trace.running import run_job

    try:
        if job.get("kind") == "device":
            return {"device": "cuda" if torch.cuda.is_available() else "cpu"}
        if job.get("kind") == "versions":
            return {"versions": real.versions(job["names"])}
        return run_job(job)
    except NoVerdict as problem:
        return {"problem": str(problem)}
    except MemoryError:
        return {"problem": OUT_OF_MEMORY}
    except real.CannotImport as error:
        return {"refused": str(error)}
    except Exception as error:  # noqa: BLE001 - whatever the checked code raises is an answer
        if _out_of_memory(error):
            return {"problem": OUT_OF_MEMORY}
        if job.get("real") and real.importing(error):
            return {"refused": f"{type(error).__name__}: {error}"[:500]}
        return {
            "raises": type(error).__name__,
            "message": str(error)[:500],
            "trail": traceback.format_exc().splitlines()[-14:],
        }


def _out_of_memory(error: Exception) -> bool:
    """Whether torch could not allocate: on a device it says so by type, on a CPU by words."""
    text = str(error)
    return type(error).__name__ == "OutOfMemoryError" or any(words in text for words in _SAID)
