"""The releases that these tests are about, opened once for each test process."""

from __future__ import annotations

import pytest

from checker.errors import InputError
from tests.real.releases import Copies, copy_releases
from tests.trace.conftest import torch_python

__all__ = ["copies", "torch_python"]


@pytest.fixture(scope="session")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Copies:
    """Skips, and says why, where the releases are neither cached nor to be had."""
    try:
        return copy_releases(tmp_path_factory.mktemp("releases"), ("0.5.9", "0.5.14", "0.5.23"))
    except InputError as error:
        pytest.skip(f"the releases cannot be had: {error}")
