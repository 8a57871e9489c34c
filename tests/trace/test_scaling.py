"""Scaled rotary frequencies are those of transformers 5.19 (recorded, base 5e5, size 64)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 512,
}
RECORDED = [
    1.0,
    0.193922744749,
    0.027344137315,
    0.000911583092,
    0.000176776695,
    3.4281022e-05,
    6.64787e-06,
    1.289173e-06,
]
"""Every fourth, and rounded: transformers computes them in float32."""
PROGRAM = """
import json, sys, torch
from checker.trace.scaling import scaled
given = json.loads(sys.argv[1])
plain = 5e5 ** (-torch.arange(0, 64, 2, dtype=torch.float64) / 64)
try:
    print(json.dumps([scaled(plain, None).tolist(), scaled(plain, given).tolist()]))
except LookupError as error:
    print(json.dumps(str(error)))
"""


def run(python: str, scaling: dict[str, object]) -> object:
    command = [python, "-c", PROGRAM, json.dumps(scaling)]
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(command, capture_output=True, check=True, cwd=root)
    return json.loads(done.stdout)


def test_llama3(torch_python: str) -> None:
    plain, found = run(torch_python, LLAMA3)  # type: ignore[misc]
    assert found[::4] == pytest.approx(RECORDED, rel=1e-5)
    assert plain[::4] != pytest.approx(RECORDED, rel=1e-2)


@pytest.mark.long
def test_linear_and_what_has_no_reference(torch_python: str) -> None:
    plain, found = run(torch_python, {"rope_type": "linear", "factor": 4.0})  # type: ignore[misc]
    assert [4 * x for x in found] == pytest.approx(plain)
    assert "yarn" in str(run(torch_python, {"rope_type": "yarn", "factor": 4.0}))
