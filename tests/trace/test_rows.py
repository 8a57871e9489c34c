"""A wire is compared with what its own expression gave, not with what stands on the same line."""

from __future__ import annotations

import json
import shutil
import sys
from typing import TYPE_CHECKING, Any

import pytest

from checker import tracing
from checker.cli import main
from checker.location import Spot
from checker.trace.rows import same_spot
from tests.trace import toys

if TYPE_CHECKING:
    from pathlib import Path

K, V = "k-projected.0.0", "v-projected.0.0"
ONE_LINE = (
    "        shape = (self.kv_heads, self.head_dim)\n"
    "        k, v = self.k_proj(x).unflatten(-1, shape), self.v_proj(x).unflatten(-1, shape)\n"
    "        k = turn(k, *rotary)\n"
)


@pytest.fixture
def one_line(tmp_path: Path) -> Path:
    """A trainer that projects keys and values, which have one shape, on one line."""
    folder = tmp_path / "toy_trainer"
    shutil.copytree(toys.TRAINER, folder)
    file = folder / "toy_trainer/parts.py"
    lines = file.read_text("utf-8").splitlines(keepends=True)
    (first,) = (i for i, line in enumerate(lines) if line.startswith("        k = turn("))
    assert "v = self.v_proj" in lines[first + 1]
    file.write_text("".join([*lines[:first], ONE_LINE, *lines[first + 2 :]]), "utf-8")
    return folder


def traced(folder: Path, python: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, Any]:
    options = ["--device", "cpu", "--values", "--python", python, "--format", "json"]
    status = main(["trace", str(folder), *options])
    return status, json.loads(capsys.readouterr().out)


@pytest.mark.long
def test_two_values_of_one_shape_on_one_line_are_told_apart(
    one_line: Path, torch_python: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, told = traced(one_line, torch_python, capsys)
    rows = {row["wire"]: row for row in told["wires"]}
    assert status == 0
    assert rows[K]["location"]["line"] == rows[V]["location"]["line"]
    assert rows[K]["run"] == rows[V]["run"]
    assert rows[K]["value"].startswith("rms ")
    assert rows[V]["value"].startswith("rms ")
    assert rows[K]["value"] != rows[V]["value"]


def test_a_graph_that_swaps_them_disagrees(
    one_line: Path,
    torch_python: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if sys.version_info < (3, 11):
        pytest.skip("before Python 3.11 a running program knows its line, but not its expression")
    job = tracing.graph_job

    def swapped(extraction: Any, setup: Any, wires: dict[str, Any]) -> dict[str, Any]:
        return job(extraction, setup, {**wires, K: wires[V], V: wires[K]})

    monkeypatch.setattr(tracing, "graph_job", swapped)
    status, told = traced(one_line, torch_python, capsys)
    assert status == 1
    assert {row["wire"] for row in told["wires"] if row["same"] is False} == {K, V}
    assert told["agrees"] is False


def test_a_method_call_on_several_lines_may_begin_at_its_name() -> None:
    read = Spot("a.py", 3, 4, 5, 9)
    assert same_spot(read, ["a.py", 3, 4, 5, 9])
    assert same_spot(read, ["a.py", 4, 8, 5, 9])
    assert not same_spot(read, ["a.py", 2, 8, 5, 9])
    assert not same_spot(read, ["a.py", 3, 4, 5, 8])
    assert not same_spot(read, ["b.py", 3, 4, 5, 9])


def test_where_only_lines_are_known_the_line_has_to_do() -> None:
    read = Spot("a.py", 3, 4, 5, 9)
    assert same_spot(read, ["a.py", 4])
    assert not same_spot(read, ["a.py", 6])
