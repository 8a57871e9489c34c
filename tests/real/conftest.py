"""The releases that these tests are about, opened once for each test process."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from checker.errors import InputError
from tests.real.releases import Copies, copy_releases

VARIABLE = "EAGLE3_CHECK_TRACE_PYTHON"


@pytest.fixture(scope="session")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Copies:
    """Skips, and says why, where the releases are neither cached nor to be had."""
    try:
        return copy_releases(tmp_path_factory.mktemp("releases"), ("0.5.9", "0.5.14", "0.5.23"))
    except InputError as error:
        pytest.skip(f"the releases cannot be had: {error}")


@pytest.fixture(scope="session")
def torch_python() -> str:
    """A Python in which the real files run; skips, and says why, where there is none."""
    python = os.environ.get(VARIABLE) or sys.executable
    for name in ("numpy", "pydantic", "torch"):
        command = [python, "-c", f"import importlib.util as u; exit(u.find_spec({name!r}) is None)"]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip(f"{python} has no {name}, without which real files do not run: {VARIABLE}")
    return python
