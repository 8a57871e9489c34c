from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from checker.cli import main
from checker.errors import InputError
from checker.report.model import Report
from checker.report.tree import Node
from checker.request import ExtractRequest, Pin, Rename, VerifyRequest
from tests.report import samples

if TYPE_CHECKING:
    from collections.abc import Callable

BOTH = ["--train", "trainer==1.0", "--serve", "server==2.0"]


class Stage:
    """Stands for the stages behind the command line: remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[VerifyRequest | ExtractRequest] = []
        self.answer: Callable[[VerifyRequest], Report] = lambda _: samples.report(samples.HOLDS)

    def verify(self, request: VerifyRequest, opened: object = None) -> Report:
        self.asked.append(request)
        return self.answer(request)

    def extract(self, request: ExtractRequest) -> Node:
        self.asked.append(request)
        return Node("draft", "of it", samples.TRAIN_LINE)


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Stage:
    monkeypatch.setenv("EAGLE3_CHECK_CACHE", str(tmp_path / "cache"))  # no answers of other days
    stage = Stage()
    for home, name in (("verification", "verify"), ("extract", "extract")):
        module = ModuleType(f"checker.{home}")
        setattr(module, name, getattr(stage, name))
        monkeypatch.setitem(sys.modules, f"checker.{home}", module)
    exploring = ModuleType("checker.exploring")
    exploring.explore = stage.verify  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "checker.exploring", exploring)
    return stage


def test_every_option_reaches_the_request(stage: Stage, tmp_path: Path) -> None:
    for name in ("train", "serve", "target"):
        (tmp_path / f"{name}.json").write_text(json.dumps({"is": name}), "utf-8")
    launch = tmp_path / "launch"
    launch.write_text("python -m server --flag\n", "utf-8")
    arguments = [
        *BOTH, "--train-config", f"{tmp_path}/train.json",
        "--serve-config", f"{tmp_path}/serve.json",
        "--target", f"{tmp_path}/target.json", "--rename", "layers.0=midlayer", "--rename", "a=b",
        "--train-with", "base==5.1", "--serve-with", "base==4.0", "--tp", "2", "--pp", "4",
        "--launch", str(launch), "--offline", "--no-cache", "--max-unproven", "2",
    ]  # fmt: skip
    assert main(["verify", *arguments]) == 0
    request = stage.asked[0]
    assert isinstance(request, VerifyRequest)
    assert (request.train, request.serve) == ("trainer==1.0", "server==2.0")
    configs = (request.train_config, request.serve_config, request.target and request.target.config)
    assert [config and config.data for config in configs] == [
        {"is": "train"}, {"is": "serve"}, {"is": "target"},
    ]  # fmt: skip
    assert request.renames == (Rename("layers.0", "midlayer"), Rename("a", "b"))
    assert (request.train_with, request.serve_with) == (
        (Pin("base", "5.1"),),
        (Pin("base", "4.0"),),
    )
    assert (request.tensor_parallel, request.pipeline_parallel) == (2, 4)
    assert request.launch == "python -m server --flag\n"
    assert request.max_unproven == 2
    assert (request.access.offline, request.access.use_cache) == (True, False)


def test_one_draft_is_both_configurations(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"is": "draft"}', "utf-8")
    (tmp_path / "other.json").write_text('{"is": "other"}', "utf-8")
    given = ["--draft", str(tmp_path), "--serve-config", f"{tmp_path}/other.json"]
    assert main(["verify", *BOTH, *given]) == 0
    request = stage.asked[0]
    assert isinstance(request, VerifyRequest)
    assert request.train_config
    assert request.serve_config
    assert request.train_config.data == {"is": "draft"}
    assert request.serve_config.data == {"is": "other"}


@pytest.mark.parametrize(("text", "layers"), [("LlamaForCausalLM", None), ("Some_Class:48", 48)])
def test_a_target_may_be_a_class(stage: Stage, text: str, layers: int | None) -> None:
    assert main(["verify", *BOTH, "--target", text]) == 0
    request = stage.asked[0]
    assert request.target
    assert (request.target.architecture, request.target.layers) == (text.partition(":")[0], layers)


@pytest.mark.parametrize(
    ("clause", "status"), [(samples.HOLDS, 0), (samples.VIOLATED, 1), (samples.UNPROVEN, 3)]
)
def test_the_exit_status_is_the_verdict(
    stage: Stage, capsys: pytest.CaptureFixture[str], clause: object, status: int
) -> None:
    stage.answer = lambda _: replace(samples.report(), clauses=(clause,))  # type: ignore[arg-type]
    assert main(["verify", *BOTH]) == status
    assert main(["verify", *BOTH, "--format", "json"]) == status
    assert json.loads(capsys.readouterr().out.partition("\n{")[2].join(["{", ""]))["schema"] == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "COMMAND"),
        (["frobnicate"], "invalid choice"),
        (["verify", "--train", "x"], "--serve is missing"),
        (["verify", "--serve", "x"], "--train is missing"),
        (["verify", "--draft", "x"], "--draft without --train and --serve"),
        (["verify", *BOTH, "--draft", "/no/such"], "/no/such: no such file"),
        (["verify", *BOTH, "--format", "xml"], "invalid choice"),
        (["verify", *BOTH, "--tp", "0"], "'0' is no number"),
        (["verify", *BOTH, "--tp", "²"], "'²' is no number"),
        (["verify", *BOTH, "--rename", "a"], "'a' is no OLD=NEW"),
        (["verify", *BOTH, "--train-with", "a>=1"], "'a>=1' is no NAME==VERSION"),
        (["verify", *BOTH, "--target", "C:0"], "at least one layer"),
        (["verify", *BOTH, "--target", "no/such.json"], "no/such.json: no such file"),
        (["verify", *BOTH, "--trai", "x"], "unrecognized arguments"),
        (["explain", "residual-sauce"], "did you mean 'residual-source'?"),
        (["contracts", "show", "fc_nrm"], "did you mean 'fc_norm'?"),
        (["contracts", "validate", "/no/such"], "/no/such: cannot be read"),
    ],
)
def test_bad_input_is_one_line_and_status_2(
    stage: Stage, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("eagle3-check: ")
    assert err.count("\n") == 1
    assert said in err
    assert stage.asked == []


def test_a_bug_is_one_line_and_no_finding(
    stage: Stage, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(_: VerifyRequest) -> Report:
        raise RuntimeError("two\nlines")

    stage.answer = crash
    monkeypatch.delenv("EAGLE3_CHECK_DEBUG", raising=False)
    assert main(["verify", *BOTH]) == 2
    err = capsys.readouterr().err
    assert err.startswith("eagle3-check: bug: RuntimeError: two lines (")
    assert err.count("\n") == 1
    monkeypatch.setenv("EAGLE3_CHECK_DEBUG", "1")
    with pytest.raises(RuntimeError):
        main(["verify", *BOTH])


def test_an_interruption_is_no_traceback(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(_: VerifyRequest) -> Report:
        raise KeyboardInterrupt

    stage.answer = interrupt
    assert main(["verify", *BOTH]) == 130
    assert capsys.readouterr().err == "eagle3-check: interrupted\n"


def test_without_sides_the_example_pair_is_checked(stage: Stage) -> None:
    assert main(["verify"]) == 0
    request = stage.asked[0]
    assert isinstance(request, VerifyRequest)
    assert (request.train, request.serve) == ("speculators==0.9.0", "sglang==0.5.23")
    assert request.train_config
    assert request.train_config.data["norm_before_residual"] is True
    assert "example pair" in request.notes[0]


def test_where_releases_cannot_be_had_packaged_engines_stand_in(
    stage: Stage,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    from checker import example

    folder = tmp_path / "example"
    folder.mkdir()
    for path in example.FOLDER.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    for name in ("toy_trainer", "toy_server"):
        (tmp_path / "engines" / name).mkdir(parents=True)
    monkeypatch.setattr(example, "FOLDER", folder)

    def no_network(request: VerifyRequest) -> Report:
        if request.train == "speculators==0.9.0":
            raise InputError("no network", "go online")
        return replace(samples.report(samples.VIOLATED), assumptions=request.notes)

    stage.answer = no_network
    assert main(["verify"]) == 1
    out, err = capsys.readouterr()
    assert "no network" in err
    assert "no network" in out
    assert stage.asked[1].access.offline
    assert Path(stage.asked[1].train).name == "toy_trainer"  # type: ignore[union-attr]


def test_extract_shows_a_tree(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["extract", "server==2.0", "--with", "base==1.0", "--target", "C:3"]) == 0
    assert capsys.readouterr().out == "draft  of it  trainer/core.py:12\n"
    request = stage.asked[0]
    assert isinstance(request, ExtractRequest)
    assert request.with_ == (Pin("base", "1.0"),)
    assert main(["extract", "server==2.0", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["label"] == "draft"


def test_the_contract_can_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, said in (
        (["contracts", "list"], "residual-source "),
        (["contracts", "show", "residual-source"], "id: residual-source"),
        (["contracts", "show", "fc_norm"], "type: boolean"),
        (["contracts", "validate"], "valid (clauses)"),
        (["explain", "fc-condition"], "pull/21272"),
    ):
        assert main(arguments) == 0
        assert said in capsys.readouterr().out


def test_a_reader_that_goes_away_is_not_complained_about() -> None:
    command = [sys.executable, "-m", "checker", "contracts", "list"]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert done.stderr == b""


def test_starting_imports_little() -> None:
    code = (
        "import sys, checker.cli, checker.arguments; "
        "print(sorted({'yaml', 'jsonschema', 'requests', 'packaging', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
