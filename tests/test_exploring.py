"""Without configurations, default drafts are checked, and single switches around them."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from checker.cli import main
from checker.contract.loading import load_exploration
from checker.data import FIXTURES, SCHEMAS
from checker.engines import Inputs, defaults, load_engines, load_operators
from checker.pairing import allow_deep_recursion, open_side
from checker.request import Access

if TYPE_CHECKING:
    from pathlib import Path

OPTIONS = "toy_trainer/toy_trainer/options.py"
IDS = "eagle_aux_hidden_state_layer_ids"
BROUGHT: list[tuple[dict[str, Any], set[str]]] = [
    ({"num_hidden_layers": 2}, set()),
    ({"head_dim": 64}, set()),
    ({"num_key_value_heads": 32}, set()),
    ({"draft_vocab_size": 128256}, set()),
    ({"rms_norm_eps": 1e-06}, {"training-target"}),
    ({"rope_theta": 10000.0}, set()),
    ({IDS: [16]}, {"fc-condition"}),
    ({IDS: [29, 16, 2]}, {"aux-boundaries"}),  # the server hands them over in ascending order
    ({IDS: [0, 16, 32]}, {"aux-boundaries", "aux-count"}),
]
"""What each setting brings, whatever it is put around."""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EAGLE3_CHECK_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    for name in ("toy_trainer", "toy_server"):
        shutil.copytree(FIXTURES / "engines" / name, tmp_path / name)
    return tmp_path


def ask(capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, str]:
    status = main(["verify", "--train", "./toy_trainer", "--serve", "./toy_server", *more])
    return status, capsys.readouterr().out


def explored(text: str) -> list[tuple[str, dict[str, Any], list[str]]]:
    found = json.loads(text)["configurations"]
    for item in found:
        expected = "differ" if item["violated"] else "unproven" if item["unproven"] else "agree"
        assert item["verdict"] == expected
    return [(item["around"], item["switches"], item["violated"]) for item in found]


def test_every_switch_is_tried_around_both_default_drafts(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command turns a norm on that the server has not; the library leaves it off."""
    status, text = ask(capsys, "--format", "json")
    normed = {"config-read", "residual-source"}
    assert explored(text) == [
        ("command-line", {}, sorted(normed)),
        ("command-line", {"norm_before_residual": False}, []),
        ("command-line", {"norm_output": True}, sorted(normed | {"feedback"})),
        *(("command-line", switches, sorted(normed | more)) for switches, more in BROUGHT),
        ("library", {}, []),
        ("library", {"norm_before_residual": True}, sorted(normed)),
        ("library", {"norm_output": True}, ["config-read", "feedback"]),
        *(("library", switches, sorted(more)) for switches, more in BROUGHT),
    ]
    report = json.loads(text)
    jsonschema.validate(report, json.loads((SCHEMAS / "report.schema.json").read_text("utf-8")))
    assert status == 1
    assert report["verdict"] == "differ"
    assert report["configuration"]["norm_before_residual"] is True


def test_the_status_is_the_default_drafts_and_strictly_the_worst(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An agreeing default exits with 0, although other settings do not agree."""
    options = place / OPTIONS
    options.write_text(options.read_text().replace(": bool = True", ": bool = False"))
    assert ask(capsys)[0] == 0
    assert ask(capsys, "--strict")[0] == 1


def test_a_kept_answer_depends_on_what_other_processes_have_read(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An edit is seen, and without one the answer is given again."""
    first = ask(capsys)
    assert ask(capsys) == first
    served = place / "toy_server/toy_server/eagle3.py"
    served.write_text(served.read_text().replace("residual = hidden\n", "residual = hidden * 2\n"))
    assert ask(capsys) != first


def test_the_table_says_what_a_setting_changes(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, text = ask(capsys)
    table = text[text.index("Around") : text.index("Assumed")].splitlines()
    assert table[0] == "Around the training command's defaults: DIFFER"
    assert table[1] == "   violated: config-read, residual-source"
    assert "norm_before_residual = false" in table[2]
    assert table[2].endswith("AGREE     -config-read -residual-source")


def test_a_trainer_whose_defaults_cannot_be_told_needs_configurations(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = place / OPTIONS
    options.write_text(
        options.read_text().replace("return {", "raise RuntimeError('none')\n    return {")
    )
    assert main(["verify", "--train", "./toy_trainer", "--serve", "./toy_server"]) == 2
    said = capsys.readouterr().err
    assert "what ./toy_trainer trains by default is not known: RuntimeError is raised: none" in said
    assert "toy_trainer/options.py:" in said
    assert "give --train-config and --serve-config" in said


def test_a_witness_needs_configurations(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["verify", "--train", "./toy_trainer", "--serve", "./toy_server", "--witness"]
    assert main(words) == 2
    assert "--witness" in capsys.readouterr().err


@pytest.mark.network
@pytest.mark.parametrize(
    ("release", "commanded", "library"),
    [
        ("0.9.0", (True, True, True, ["sliding_attention"], "llama"), (False, False, "qwen3")),
        ("0.8.0", (True, True, True, ["sliding_attention"], "llama"), (False, False, "qwen3")),
        ("0.7.0", None, (False, False, "qwen3")),
        ("0.3.0", None, (False, None, "llama")),
    ],
)
def test_defaults_of_real_trainers_are_read_from_their_source(
    release: str, commanded: tuple[Any, ...] | None, library: tuple[Any, ...]
) -> None:
    """As their documentation and `--help` have them; wheels before 0.8 hold no training command."""
    allow_deep_recursion()
    opened = open_side(load_engines(), "trainer", f"speculators=={release}", (), Access())
    target = dict(load_exploration().target)
    told = defaults(opened.subject(load_operators()), Inputs({}, target), 32000)
    assert told.reason is None
    names = ("norm_before_residual", "norm_before_fc", "norm_output", "layer_types")
    names += ("layer_model_type",)
    found = told.command_line and tuple(told.command_line[name] for name in names)
    assert found == commanded
    if told.command_line:
        assert told.command_line["eagle_aux_hidden_state_layer_ids"] == [2, 16, 29]
        assert told.command_line["sliding_window"] == 2048
    names = ("norm_before_residual", "norm_before_fc", "layer_model_type")
    assert tuple(told.library.get(name) for name in names) == library
