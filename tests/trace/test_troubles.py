"""Whatever keeps the witness from running is said in one line that names a remedy."""

from __future__ import annotations

import json
import shutil
import sys
from typing import TYPE_CHECKING, Any

import pytest

from checker.cli import main
from checker.example import FOLDER
from tests.trace import toys

if TYPE_CHECKING:
    from pathlib import Path

HUGE = "        memory = [[] for _ in self.layers]\n        spare = torch.zeros(1 << 50)\n"


def interpreter(folder: Path, line: str, customised: str = "") -> str:
    """An interpreter that is what the line makes of it, or what its site's module does."""
    (folder / "sitecustomize.py").write_text(customised, "utf-8")
    file = folder / "python"
    path = f'export PYTHONPATH="$PYTHONPATH:{folder}"\n' if customised else ""
    file.write_text(f"#!/bin/sh\n{path}{line}\n", "utf-8")
    file.chmod(0o755)
    return str(file)


def refused(python: str, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    """The one line that trace leaves when it cannot run."""
    assert main(["trace", str(toys.TRAINER), "--python", python, *more]) == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert "Traceback" not in line
    return line


def test_no_torch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = refused(interpreter(tmp_path, f'exec {sys.executable} -S "$@"'), capsys)
    assert "torch is not installed in this interpreter" in line
    for remedy in ("pip install 'eagle3-check[trace]'", "--python", "--prepare"):
        assert remedy in line


def test_a_torch_that_cannot_be_imported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('libsomething.so is missing')", "utf-8")
    line = refused(interpreter(tmp_path, f'exec {sys.executable} -S "$@"', "pass"), capsys)
    assert "torch cannot be imported: libsomething.so is missing" in line


@pytest.mark.long
def test_no_transformers_where_the_real_package_needs_it(
    tmp_path: Path, torch_python: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.trace.test_real import Site

    site = Site(tmp_path, torch_python)
    site.edit("draft.py", "import torch\n", "import torch\nimport transformers\n")
    hidden = "import sys\nsys.modules['transformers'] = None\n"
    (site.folder / "sitecustomize.py").write_text(hidden, "utf-8")
    assert site.trace() == 2
    line = capsys.readouterr().err
    assert "import of transformers" in line
    assert "--python an environment in which it can be imported" in line


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("exit 3", "this is no Python that runs (exit status 3)"),
        ("echo hello", "this is no Python that runs (exit status 0)"),
    ],
)
def test_no_python(
    tmp_path: Path, line: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    told = refused(interpreter(tmp_path, line), capsys)
    assert said in told
    assert "--python a Python 3.10 or newer that has torch" in told


def test_a_python_that_is_too_old(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    aged = "import sys\nsys.version_info = (3, 8, 0)\n"
    line = refused(interpreter(tmp_path, f'exec {sys.executable} "$@"', aged), capsys)
    assert "this Python is older than 3.10" in line


def test_what_may_not_be_executed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "python"
    file.touch(0o644)
    line = refused(str(file), capsys)
    assert "cannot be started: Permission denied" in line
    assert "--python" in line


def test_no_cuda_device(
    torch_python: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")  # wherever these tests run
    line = refused(torch_python, capsys, "--device", "cuda")
    assert "no CUDA device" in line
    assert "--device cpu" in line


def test_out_of_memory(
    tmp_path: Path, torch_python: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A draft that allocates eight petabytes."""
    folder = tmp_path / "toy_trainer"
    shutil.copytree(toys.TRAINER, folder)
    file = folder / "toy_trainer/draft.py"
    text = file.read_text("utf-8")
    file.write_text(text.replace("        memory = [[] for _ in self.layers]\n", HUGE, 1), "utf-8")
    options = ["--device", "cpu", "--python", torch_python]
    assert main(["trace", str(folder), *options]) == 3
    told = capsys.readouterr().out
    assert told.count("\n") == 1
    assert told.startswith("no verdict: ")
    assert "out of memory" in told
    assert "a smaller --config, or --device meta" in told


def test_a_process_that_is_killed_ran_out_of_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--device", "cpu", "--python", interpreter(tmp_path, "kill -9 $$")]
    assert main(["trace", str(toys.TRAINER), *options]) == 3
    told = capsys.readouterr().out
    assert "out of memory: the process that ran the code was killed (give a smaller" in told


# -- what verify says of a witness that cannot speak -----------------------------------------------


def words(python: str, *more: str) -> list[str]:
    """The command line that compares the packaged engines, with a witness."""
    sides = ["--train", str(toys.TRAINER), "--serve", str(toys.SERVER)]
    files = ["--train-config", "train.json", "--serve-config", "serve.json", "--target"]
    given = [str(FOLDER / w) if w.endswith(".json") else w for w in (*files, "target.json")]
    return ["verify", *sides, *given, "--witness", "--python", python, *more]


def verified(python: str, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, Any]:
    """Exit status, and what the report on the packaged engines says of the witness."""
    status = main([*words(python, *more), "--format", "json"])
    return status, json.loads(capsys.readouterr().out)["witness"]


def test_a_parameter_that_was_never_loaded_leaves_no_verdict(
    torch_python: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, seen = verified(torch_python, capsys, "--rename", "layers.0=layers.7")
    assert seen["seen"] == "no-verdict"
    assert "parameters never loaded: layers.0" in seen["reason"]
    assert seen["agrees"] is None
    assert {"launch", "metrics"} <= set(seen["out_of_reach"])
    assert status == 1


def test_a_killed_witness_leaves_the_report_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words(interpreter(tmp_path, "kill -9 $$"))) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "no verdict: the trainer: out of memory: the process that ran the code was kill" in told
    assert "out of its reach: architecture-registered, aux-boundaries, aux-count" in told
    assert "2 violated" in told


@pytest.mark.long
def test_clauses_that_model_files_cannot_show_are_named(
    torch_python: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _, seen = verified(torch_python, capsys)
    assert seen["seen"] == "different"
    assert {"launch", "metrics", "aux-boundaries"} <= set(seen["out_of_reach"])
    assert not {"residual-source", "weights-loaded", "concat-order"} & set(seen["out_of_reach"])
