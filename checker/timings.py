"""How long the stages of a run took, for people who wonder where the time goes."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_spent: dict[str, float] = {}
_running: list[float] = []
"""What stages that are running have given to stages within them."""


@contextmanager
def timed(stage: str) -> Iterator[None]:
    """Counts what is done inside to a stage; a stage within another counts for itself alone."""
    begun = time.perf_counter()
    _running.append(0.0)
    try:
        yield
    finally:
        whole = time.perf_counter() - begun
        _spent[stage] = _spent.get(stage, 0.0) + whole - _running.pop()
        if _running:
            _running[-1] += whole


def told() -> str:
    """Seconds for each stage, in the order in which they ended."""
    return ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in _spent.items())
