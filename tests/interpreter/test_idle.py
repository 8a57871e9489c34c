"""A condition that nothing decides is followed both ways only where its branches do something."""

from __future__ import annotations

import pytest
from support import machine, outcome

IDLE = [
    "torch._dynamo.graph_break()",
    "torch.cuda.synchronize()",
    "pass",
    "torch.cuda.empty_cache()\n        torch._dynamo.graph_break()",
]
BUSY = [
    "x = 1",
    "seen.append(1)",
    "act()",
    "torch.cuda.synchronize(act())",
    "torch.add(1, 2)",
    "torch._dynamo.graph_break()\n        x = 1",
    "return 3",
]


def _decisions(body: str) -> int:
    source = f"""
import torch

seen = []

def act():
    seen.append(2)

def program():
    x = 0
    if torch.__version__ >= "2.10":
        {body}
    return x
"""
    m = machine({"m.py": source})
    outcome(m, "m", "program")
    return len(m.decisions)


@pytest.mark.parametrize("body", IDLE)
def test_nothing_is_decided_for_branches_that_do_nothing(body: str) -> None:
    """A barrier under a condition is not followed both ways."""
    assert _decisions(body) == 0


@pytest.mark.parametrize("body", BUSY)
def test_what_a_branch_does_is_decided_for(body: str) -> None:
    """Anything that may be seen later is followed both ways."""
    assert _decisions(body) == 1
