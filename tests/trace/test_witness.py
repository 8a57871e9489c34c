"""The packaged engines, run: what was read of them is what they do."""

from __future__ import annotations

import random
import sys
from typing import TYPE_CHECKING

import pytest

from benchmarks.mutations import Mutant, mutants
from benchmarks.outcomes import SAME, Outcome, distance
from checker.cli import main
from checker.trace.jobs import graph_job
from tests.trace import toys

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchmarks.pairs import Bench, Given

SEED, EACH = 20, 12
FILES = {
    "toy_server/eagle3.py": ("serve", toys.SERVER),
    "toy_server/layers.py": ("serve", toys.SERVER),
    "toy_trainer/draft.py": ("train", toys.TRAINER),
    "toy_trainer/parts.py": ("train", toys.TRAINER),
}


@pytest.fixture(scope="module")
def bench(torch_python: str) -> Iterator[Bench]:
    with toys.bench(torch_python) as made:
        yield made


@pytest.mark.parametrize("given", [toys.PLAIN, toys.RESIDUAL], ids=lambda g: g.name)
def test_the_extracted_graph_computes_what_the_code_does(bench: Bench, given: Given) -> None:
    base = bench.base(given)
    for side, extraction, answer in (
        ("train", base.train, base.trained),
        ("serve", base.serve, base.served),
    ):
        computed = bench.ask(side, graph_job(extraction, base.setup))
        pairs = list(zip(computed["logits"], answer["logits"], strict=False))
        assert len(pairs) == 3
        assert max(distance(a, b) for a, b in pairs) < 1e-12


def test_the_plain_pair_agrees_and_the_residual_flag_is_seen(bench: Bench) -> None:
    plain, flag = bench.base(toys.PLAIN), bench.base(toys.RESIDUAL)
    same = zip(plain.trained["logits"], plain.served["logits"], strict=True)
    other = zip(flag.trained["logits"], flag.served["logits"], strict=True)
    assert max(distance(a, b) for a, b in same) < SAME
    assert max(distance(a, b) for a, b in other) > 1e-3


@pytest.mark.parametrize("path", FILES)
def test_no_mutant_that_runs_differently_is_said_to_hold(bench: Bench, path: str) -> None:
    side, folder = FILES[path]
    text = (folder / path).read_text("utf-8")
    classes = ("Model", "Eagle3", "Draft", "Layer", "Attention", "RMSNorm", "MLP")
    places = tuple(dict.fromkeys((*_top(text), *classes)))
    drawn = random.Random(SEED).sample(found := mutants(text, places), min(EACH, len(found)))
    wrong: list[str] = []
    different = 0
    for mutant in drawn:
        outcome = bench.outcome(toys.PLAIN, side, {path: mutant.apply(text)})
        different += outcome.seen in ("different", "raises")
        if outcome.wrong_holds or outcome.alarm or outcome.status == "bug":
            wrong.append(_said(mutant, text, outcome))
    assert wrong == []
    assert different > EACH // 4


def _top(text: str) -> list[str]:
    import ast

    kinds = (ast.ClassDef, ast.FunctionDef)
    return [node.name for node in ast.parse(text).body if isinstance(node, kinds)]


def _said(mutant: Mutant, text: str, outcome: Outcome) -> str:
    where = f"{mutant.operator} at {mutant.place}:{mutant.line}: {mutant.shown(text)}"
    return f"{where}: {outcome.seen}, {outcome.status} {outcome.clauses} {outcome.note}"


@pytest.mark.parametrize("folder", [toys.TRAINER, toys.SERVER], ids=lambda p: p.name)
def test_trace_agrees_with_what_is_read(
    torch_python: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["trace", str(folder), "--device", "cpu", "--values", "--python", torch_python]
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    assert "agree:" in shown
    assert "[S, 2H = 48]" in shown
    assert "≠" not in shown


def test_a_draft_that_raises_leaves_no_verdict(
    torch_python: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import shutil

    folder = tmp_path / "toy_server"
    shutil.copytree(toys.SERVER, folder)
    file = folder / "toy_server/eagle3.py"
    file.write_text(
        file.read_text("utf-8").replace("self.fc(hidden)", "self.fc.unheard_of(hidden)", 1), "utf-8"
    )
    assert main(["trace", str(folder), "--device", "cpu", "--python", torch_python]) == 3
    assert capsys.readouterr().out.startswith("no verdict: ")


def test_an_interpreter_without_torch_is_named_in_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["trace", str(toys.SERVER), "--python", "/nonexistent/python"]) == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert "/nonexistent/python" in line
    assert "torch" in line


def test_what_is_no_python_is_named_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", str(toys.SERVER), "--python", "/bin/ls"]) == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert "Traceback" not in line


def test_no_torch_in_this_interpreter_names_the_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    import subprocess

    if not subprocess.run(
        [sys.executable, "-c", "import torch"], capture_output=True, check=False
    ).returncode:
        pytest.skip("torch is installed here")
    assert main(["trace", str(toys.SERVER)]) == 2
    assert "pip install 'eagle3-check[trace]'" in capsys.readouterr().err
