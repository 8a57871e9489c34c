"""The interpreter in which the witness's process runs: this one, or one that the caller names."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

VARIABLE = "EAGLE3_CHECK_TRACE_PYTHON"


@pytest.fixture(scope="session")
def torch_python() -> str:
    """A Python with torch; skips, and says why, where there is none."""
    python = os.environ.get(VARIABLE) or sys.executable
    command = [python, "-c", "import torch"]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip(f"{python} has no torch: install '.[trace]' or set {VARIABLE}")
    return python
