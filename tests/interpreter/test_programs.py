"""Programs give under interpretation what they give when Python runs them.

The programs are ours; running them is how we know what Python means. Each `case_…` function of
`programs/` is one fact.
"""

from __future__ import annotations

import importlib.util
import sys
import warnings
from functools import cache
from types import ModuleType
from typing import Any

import pytest
from support import PROGRAMS, machine, outcome

FILES = sorted(PROGRAMS.glob("*.py"))
CASES = [
    (path.stem, line.split("(")[0].removeprefix("def "))
    for path in FILES
    for line in path.read_text("utf-8").splitlines()
    if line.startswith("def case_")
]


@cache
def native(stem: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(stem, PROGRAMS / f"{stem}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[stem] = module
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some programs are wrong on purpose
        spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("stem", "name"), CASES)
def test_means_what_python_means(stem: str, name: str) -> None:
    m = machine({f"{p.stem}.py": p.read_bytes() for p in FILES})
    expected = getattr(native(stem), name)()
    found = outcome(m, stem, name)
    assert found == expected
    assert kinds(found) == kinds(expected)
    assert m.decisions == []


def kinds(value: Any) -> Any:
    """Types, so that 1, 1.0 and True are told apart."""
    if isinstance(value, (list, tuple)):
        return type(value) if type(value) in (list, tuple) else tuple, [kinds(v) for v in value]
    if isinstance(value, (set, frozenset)):
        return set
    return dict if isinstance(value, dict) else type(value)
