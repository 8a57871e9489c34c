"""The public interface: small, typed, and asked what the command line is asked."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

import checker
from checker.cli import main
from checker.data import FIXTURES

ENGINES, EXAMPLE = FIXTURES / "engines", FIXTURES / "example"
TRAINER, SERVER = str(ENGINES / "toy_trainer"), str(ENGINES / "toy_server")
FILES = {"train_config": EXAMPLE / "train.json", "serve_config": EXAMPLE / "serve.json",
         "target": EXAMPLE / "target.json"}  # fmt: skip


@pytest.fixture(autouse=True)
def _cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EAGLE3_CHECK_CACHE", str(tmp_path / "cache"))


def test_what_is_exported_is_all_there_is() -> None:
    assert dir(checker) == sorted(checker.__all__)
    assert all(getattr(checker, name) is not None for name in checker.__all__)
    with pytest.raises(AttributeError, match="no attribute 'matrix_of'"):
        checker.matrix_of  # noqa: B018


def test_every_function_is_documented() -> None:
    functions = [checker.verify, checker.solve, checker.diff, checker.capture, checker.render]
    for function in functions:
        told = inspect.getdoc(function)
        assert told is not None
        assert "Raises:" in told


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import sys, checker; print([m for m in sys.modules if m.startswith('checker.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['checker._version']\n"


def test_verify_says_what_the_command_says(capsys: pytest.CaptureFixture[str]) -> None:
    report = checker.verify(TRAINER, SERVER, **FILES)  # type: ignore[arg-type]
    assert report.verdict is checker.Verdict.DIFFER
    violated = [c.id for c in report.clauses if c.status is checker.Status.VIOLATED]
    assert main(["verify", "--train", TRAINER, "--serve", SERVER, "--format=json",
                 *(f"--{k.replace('_', '-')}={v}" for k, v in FILES.items())]) == 1  # fmt: skip
    told = json.loads(capsys.readouterr().out)
    assert violated == [c["id"] for c in told["clauses"] if c["status"] == "violated"]
    assert report.to_json() == told
    assert checker.verify is not None  # asking twice asks the function, not a module
    assert checker.verify(TRAINER, SERVER, **FILES).verdict == "differ"  # type: ignore[arg-type]


def test_configurations_may_be_mappings() -> None:
    data = {name: json.loads(path.read_text("utf-8")) for name, path in FILES.items()}
    data["train_config"]["norm_before_residual"] = False
    report = checker.verify(TRAINER, SERVER, draw=True, **data)
    assert report.verdict is checker.Verdict.AGREE
    assert "<svg" in checker.render(report, "html")
    assert checker.render(report).startswith("AGREE: ")


def test_solve_diff_and_capture(tmp_path: Path) -> None:
    found = checker.solve(TRAINER, SERVER, train_config=FILES["train_config"],
                          target=FILES["target"])  # fmt: skip
    assert found.exit_status in (0, 1)
    changes = checker.diff(SERVER, SERVER, beside=TRAINER, **FILES)  # type: ignore[arg-type]
    assert changes.changes == ()
    assert checker.diff(TRAINER, TRAINER, beside=SERVER, **FILES).role == "trainer"  # type: ignore[arg-type]
    table = checker.capture(SERVER, layers=4, ids=[1, 2])
    assert table.rows


def test_what_cannot_be_used_is_said() -> None:
    with pytest.raises(checker.InputError, match="no such file"):
        checker.verify(TRAINER, SERVER, train_config="none.json")
    with pytest.raises(checker.InputError, match="target: is no JSON"):
        checker.verify(TRAINER, SERVER, target={"x": object()})
    with pytest.raises(checker.InputError, match="give train_config"):
        checker.solve(TRAINER, SERVER)
    with pytest.raises(TypeError, match="unexpected keyword argument 'traget'"):
        checker.verify(TRAINER, SERVER, traget="x")  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="pdf"):
        checker.render(checker.verify(TRAINER, SERVER, **FILES), "pdf")  # type: ignore[arg-type]
