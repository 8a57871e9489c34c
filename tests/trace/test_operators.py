"""Whatever a summary or a stage that runs in the worker asks for is there at run time too."""

from __future__ import annotations

import re

import pytest

from checker.contract.loading import load_plain
from checker.data import CONTRACTS

STDLIB = "stdlib.yaml"
"""What runs has the real standard library: its summaries are for reading alone."""
ELSEWHERE = {"band", "children", "parts", "walk"}
"""What only stand-ins for torch's own classes ask for: what runs has torch."""


def asked() -> set[str]:
    found: set[str] = set()
    for path in sorted((CONTRACTS / "operators").glob("*.yaml")):
        document = load_plain(path)
        if path.name != STDLIB and document.get("native", True):
            for entry in document["operators"]:
                found |= set(re.findall(r"\bop\.(\w+)", entry["python"]))
    for path in sorted((CONTRACTS / "engines").glob("*.yaml")):
        stages = load_plain(path)["stages"]
        for name in ("construct", "load", "run"):
            found |= set(re.findall(r"\bop\.(\w+)", stages.get(name, {}).get("python", "")))
    return found - ELSEWHERE


def test_every_operator_has_a_twin_at_run_time(torch_python: str) -> None:
    import subprocess

    code = "from checker.trace.native import Operators; print(*dir(Operators))"
    done = subprocess.run(
        [torch_python, "-c", code], capture_output=True, text=True, check=True, cwd=CONTRACTS.parent
    )
    missing = asked() - set(done.stdout.split())
    if missing:
        pytest.fail(f"checker/trace/native.py lacks {', '.join(sorted(missing))}")
