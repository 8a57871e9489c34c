"""What a server has to be given: found, proven by `verify`, or said to be impossible with lines."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from checker.cli import main
from checker.data import FIXTURES, SCHEMAS
from checker.solving import launch_line

IDS = "eagle_aux_hidden_state_layer_ids"
SERVED = "toy_server/toy_server/eagle3.py"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The packaged engines, and a plain draft as the trainer saves it."""
    monkeypatch.setenv("EAGLE3_CHECK_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    for name in ("toy_trainer", "toy_server"):
        shutil.copytree(FIXTURES / "engines" / name, tmp_path / name)
    train = example("train")
    save("train.json", {**train, "norm_before_residual": False})
    save("target.json", example("target"))
    return tmp_path


def example(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FIXTURES / "example" / f"{name}.json").read_text("utf-8"))
    return found


def save(name: str, config: Mapping[str, Any]) -> None:
    Path(name).write_text(json.dumps(config), "utf-8")


def words(command: str, *more: str) -> list[str]:
    sides = ["--train", "./toy_trainer", "--serve", "./toy_server"]
    files = ["--train-config", "train.json", "--target", "target.json"]
    return [command, *sides, *files, *more]


def solve(capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, dict[str, Any]]:
    status = main(words("solve", "--format", "json", *more))
    out = capsys.readouterr()
    assert out.err == ""
    found: dict[str, Any] = json.loads(out.out)
    schema = json.loads((SCHEMAS / "solution.schema.json").read_text("utf-8"))
    jsonschema.validate(found, schema)
    assert found["found"] is (status == 0)
    return status, found


def edit(path: str, old: str, new: str) -> None:
    text = Path(path).read_text("utf-8")
    assert old in text
    Path(path).write_text(text.replace(old, new), "utf-8")


def test_a_trainers_configuration_is_flattened_for_the_server(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ids are in the server's base and place; verify agrees with what was written."""
    status, found = solve(capsys, "--write", "served.json")
    assert status == 0
    assert found["config"]["eagle_config"] == {IDS: [1, 15, 28]}
    assert found["config"]["hidden_size"] == 4096
    assert found["boundaries"] == [2, 16, 29]
    assert found["changes"] is None
    assert json.loads(Path("served.json").read_text("utf-8")) == found["config"]
    checked = words("verify", "--serve-config", "served.json", "--launch", found["launch_line"])
    assert main(checked) == 0


def test_a_file_that_is_there_is_not_written_over(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("served.json").write_text("mine", "utf-8")
    assert main(words("solve", "--write", "served.json")) == 2
    assert "give --force" in capsys.readouterr().err
    assert Path("served.json").read_text("utf-8") == "mine"
    assert main(words("solve", "--write", "served.json", "--force")) == 0
    assert json.loads(Path("served.json").read_text("utf-8"))["hidden_size"] == 4096


def test_what_the_user_has_is_kept_as_far_as_it_is_right(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only what breaks a clause is changed, and a key of the user's own stays."""
    had = {**example("serve"), "rope_theta": 1.0, "dtype": "half"}
    had["eagle_config"] = {IDS: [2, 16, 29], "use_aux_hidden_state": True}
    save("serve.json", had)
    status, found = solve(capsys, "--serve-config", "serve.json")
    assert status == 0
    assert found["before"] == "differ"
    changes = {change["key"]: change.get("new") for change in found["changes"]}
    assert changes[f"eagle_config.{IDS}"] == [1, 15, 28]
    assert changes["rope_theta"] == 500000.0
    assert not set(changes) & {"dtype", "hidden_size", "draft_vocab_size", "architectures"}


def test_of_the_trainers_own_file_nothing_is_kept(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Somebody has served it as it was saved."""
    status, found = solve(capsys, "--serve-config", "train.json")
    assert (status, found["before"]) == (0, "differ")
    assert "transformer_layer_config" not in found["config"]
    assert any(c["key"].startswith("transformer_layer_config.") for c in found["changes"])


def test_flags_and_names_that_do_not_suit_the_draft_are_mended(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three faults of one launch line, and a first layer that the server calls otherwise."""
    renaming = "            name = name.replace"
    edit(SERVED, renaming, "            name = name.replace('first.', 'layers.0.').replace")
    edit(SERVED, "            if name == \"d2t\":", "            if 'layers.' in name:\n"
         "                continue\n            if name == \"d2t\":")  # fmt: skip
    line = "serve --port 80 --draft-method tokens --draft-budget 9 --bits 8"
    status, found = solve(capsys, "--launch", line)
    assert status == 0
    assert found["renames"] == ["layers.0=first"]
    launched = found["launch"]
    assert launched["draft_method"] == "states"
    assert launched["draft_budget"] == 4
    assert launched["bits"] == 8, "the target's own flag is not taken away"
    assert found["launch_line"].startswith("serve --port 80 --bits 8")


def test_what_no_configuration_mends_is_named_with_its_lines(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The server's code leaves a norm out: nothing that it is given helps."""
    edit(SERVED, "self.lm_head(normed)", "self.lm_head(kept)")
    assert main(words("solve", "--write", "served.json", "--format", "json")) == 1
    out = capsys.readouterr()
    assert "served.json is not written" in out.err
    assert not Path("served.json").exists()
    (broken,) = json.loads(out.out)["broken"]
    assert broken["id"] == "final-norm"
    assert broken["always"]
    assert broken["serve"]["locations"][0]["path"].startswith("toy_server/")


@pytest.mark.long
def test_a_switch_the_server_does_not_know_is_named(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save("train.json", {**example("train"), "norm_before_residual": True})
    assert main(words("solve")) == 1
    text = capsys.readouterr().out
    assert text.startswith("NONE: no configuration makes ./toy_server compute")
    assert "1. config-read: " in text
    assert "2. residual-source: " in text
    assert text.count("no configuration that was tried mends it") == 2


def test_a_target_is_needed(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = words("solve")
    cut = asked.index("--target")
    assert main([*asked[:cut], *asked[cut + 2 :]]) == 2
    assert "a target is needed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "line"),
    [
        ({"a": 1, "b_c": True}, "run 'm n' --a 1 --b-c"),
        ({"a": 2, "b_c": True}, "run 'm n' --b-c --a 2"),
        ({"b_c": True, "d": "x"}, "run 'm n' --b-c --d x"),
    ],
)
def test_words_of_a_launch_line_stay_where_nothing_is_changed(
    flags: dict[str, Any], line: str
) -> None:
    assert launch_line("run 'm n' --a 1 --b-c", flags) == line


@pytest.mark.network
@pytest.mark.parametrize(
    ("release", "status", "broken", "ids"),
    [
        ("0.5.14", 0, set(), [5, 10, 20]),
        pytest.param("0.5.23", 0, set(), [5, 10, 20], marks=pytest.mark.long),
        pytest.param("0.5.9", 1, {"positions"}, [4, 9, 19], marks=pytest.mark.long),
    ],
)
def test_real_servers_are_given_ids_in_the_base_that_their_target_takes(
    release: str,
    status: int,
    broken: set[str],
    ids: list[int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One that guesses from the first id takes boundaries; an old one moves positions too early."""
    monkeypatch.chdir(tmp_path)
    train = {**example("train"), "norm_before_residual": False, IDS: [5, 10, 20]}
    target = {**example("target"), "architectures": ["DeepseekV3ForCausalLM"]}
    save("train.json", train)
    save("target.json", {**target, "model_type": "deepseek_v3", "num_hidden_layers": 61})
    asked = ["solve", "--train", "speculators==0.9.0", "--serve", f"sglang=={release}"]
    files = ["--train-config", "train.json", "--target", "target.json", "--format", "json"]
    assert main([*asked, *files]) == status
    found = json.loads(capsys.readouterr().out)
    assert {item["id"] for item in found["broken"]} == broken
    assert found["config"]["eagle_config"][IDS] == ids
