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
from checker.configs import ConfigFile
from checker.data import FIXTURES, SCHEMAS
from checker.engines import load_engines
from checker.errors import InputError
from checker.launch import parse_launch
from checker.pairing import config_of
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


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("nowhere/served.json", "its folder is not there (make the folder "),
        ("target.json/served.json", "its folder is there and no folder"),
        ("toy_server", "is a folder (name a file in it)"),
        ("train.json", "is read by this check (write to another file)"),
        ("linked.json", "is read by this check (write to another file)"),
        ("target.json", "is read by this check"),
        ("", "is no name of a file"),
        ("a\0b", "cannot be written"),
    ],
)
def test_what_cannot_be_written_is_said_before_anything_is_tried(
    place: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    said: str,
) -> None:
    """Nothing that is read is written over, by whatever name it goes."""
    monkeypatch.setattr("checker.solver.solve", None)
    Path("linked.json").symlink_to("train.json")
    before = Path("train.json").read_text("utf-8")
    assert main(words("solve", "--write", path, "--force")) == 2
    out = capsys.readouterr()
    assert said in out.err
    assert len(out.err.splitlines()) == 1
    assert Path("train.json").read_text("utf-8") == before


def test_what_the_user_has_is_mended_in_its_place(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A link stays one, and its file keeps its mode."""
    Path("there").mkdir()
    save("there/served.json", {**example("serve"), "norm_before_residual": False})
    Path("there/served.json").chmod(0o640)
    Path("served.json").symlink_to("there/served.json")
    more = ("--serve-config", "served.json", "--write", "served.json")
    assert main(words("solve", *more)) == 2
    assert "give --force" in capsys.readouterr().err
    assert main(words("solve", *more, "--force")) == 0
    assert Path("served.json").is_symlink()
    assert Path("there/served.json").stat().st_mode & 0o777 == 0o640
    assert [file.name for file in Path("there").iterdir()] == ["served.json"]
    capsys.readouterr()
    assert main(words("verify", "--serve-config", "served.json")) == 0


def test_a_file_is_lost_only_to_a_whole_one(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that is full: what was found is still printed."""
    Path("served.json").write_text("mine", "utf-8")
    count = len([*Path().iterdir()])

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copymode", full)
    assert main(words("solve", "--write", "served.json", "--force")) == 2
    out = capsys.readouterr()
    assert out.out.startswith("FOUND: ")
    assert "served.json: cannot be written: No space left on device" in out.err
    assert Path("served.json").read_text("utf-8") == "mine"
    assert len([*Path().iterdir()]) <= count + 1, "and no other file, but the cache"


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


def test_a_line_that_does_not_draft_is_given_flags_to_draft_with(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, found = solve(capsys, "--launch", "serve --port 80")
    assert status == 0
    assert found["launch_line"] == (
        "serve --port 80 --draft-depth 3 --draft-branches 1 --draft-budget 4"
    )
    status, found = solve(capsys, "--launch", "serve --draft-depth 2 --draft-budget 3")
    assert (status, found["launch_line"]) == (0, "serve --draft-depth 2 --draft-budget 3")


def test_where_training_does_not_come_to_its_end_nothing_is_looked_for(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draft = "toy_trainer/toy_trainer/draft.py"
    edit(draft, "        super().__init__()", "        raise ValueError('no such draft')")
    status, found = solve(capsys)
    assert (status, found["tried"]) == (1, 1)
    assert main(words("solve")) == 1
    out = capsys.readouterr().out
    said = "NONE: this is no draft that ./toy_trainer is seen to train: nothing is looked for\n"
    assert out.startswith(said)
    assert "the trainer raises ValueError: no such draft" in out
    assert "Configuration" not in out


@pytest.mark.parametrize("target", ["LlamaForCausalLM", "LlamaForCausalLM:32"])
def test_what_is_not_said_of_the_target_no_search_finds(
    place: Path, capsys: pytest.CaptureFixture[str], target: str
) -> None:
    """Its layers, or the epsilon of its norm: one try shows that."""
    asked = words("solve", "--format", "json")
    asked[asked.index("--target") + 1] = target
    status = main(asked)
    found = json.loads(capsys.readouterr().out)
    assert (status, found["tried"]) in ((3, 1), (0, found["tried"]))
    if target == "LlamaForCausalLM":
        assert status == 3
        assert "how many layers the target has is not given" in str(found["broken"])
        main([word for word in asked if word not in ("--format", "json")])
        assert "\n1. aux-boundaries, aux-stream\n" in capsys.readouterr().out, "said once"


def test_drafts_of_another_kind_are_refused(place: Path) -> None:
    """A trainer of several kinds says in its configurations which one it is."""
    (engine,) = (one for one in load_engines() if one.config_values)
    ((key, (kind, *_)),) = engine.config_values.items()
    for value, right in ((kind, True), ("another", False), ([], False), (None, False)):
        data = {**dict.fromkeys(engine.config_requires, "x"), key: value}
        file = ConfigFile("train.json", b"", data)
        if right:
            assert config_of(file, engine, "--train-config") == data
        else:
            with pytest.raises(InputError, match=r"train\.json: this is a draft of another kind"):
                config_of(file, engine, "--train-config")


LAYERS: list[dict[str, Any]] = [
    {},
    {"rms_norm_eps": 1e-6},
    {"rope_theta": 10000.0},
    {"hidden_size": 2048},
    {"head_dim": 64},
    {"num_key_value_heads": 32},
    {"num_hidden_layers": 2},
    {"attention_bias": True},
    {"hidden_act": "gelu"},
]
DRAFTS: list[dict[str, Any]] = [
    {"norm_before_residual": True},
    {"norm_output": True},
    {"fc_norm": True},
    {"norm_before_fc": True},
    {"draft_vocab_size": 128256},
    {IDS: [0, 16, 32]},
    {IDS: [5, 10, 20]},
    {IDS: [29, 16, 2]},
    {IDS: [16]},
    {IDS: [2, 9, 16, 29]},
]


@pytest.mark.parametrize(
    ("layer", "draft"), [*[(layer, {}) for layer in LAYERS], *[({}, draft) for draft in DRAFTS]]
)
def test_what_is_printed_is_what_verify_says(
    place: Path, capsys: pytest.CaptureFixture[str], layer: dict[str, Any], draft: dict[str, Any]
) -> None:
    """Found or not: the printed configuration, flags and names get the same verdict there."""
    train = {**example("train"), "norm_before_residual": False, **draft}
    train["transformer_layer_config"] = {**train["transformer_layer_config"], **layer}
    save("train.json", train)
    status, found = solve(capsys)
    save("found.json", found["config"])
    renames = [word for rename in found["renames"] for word in ("--rename", rename)]
    launch = ["--launch", found["launch_line"]] if found["launch_line"] else []
    more = ["--serve-config", "found.json", *launch, *renames, "--format", "json"]
    assert main(words("verify", *more)) == status
    report = json.loads(capsys.readouterr().out)
    assert report["verdict"] == found["verdict"]
    wrong = {c["id"] for c in report["clauses"] if c["status"] == "violated"}
    assert wrong == {c["id"] for c in found["broken"]} or status == 3


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


def test_of_a_script_the_command_is_given_that_starts_the_server() -> None:
    """Variables that the script sets are put in, others are left to the shell."""
    script = (
        "#!/bin/sh\n# the server\nexport PORT=80\ncd /srv && echo start\n"
        'A=1 run -m server --a 1 \\\n  --port $PORT --host ${HOST} --name "x $ME" --b-c\n'
    )
    flags = {"a": 2, "port": 80, "host": "${HOST}", "name": "x $ME", "environment": {}}
    line = launch_line(script, flags, ("server",))
    assert line == 'PORT=80 A=1 run -m server --port 80 --host ${HOST} --name "x $ME" --a 2'
    assert parse_launch(line, ("server",)) == {
        **{name: value for name, value in flags.items() if name != "environment"},
        "environment": {"PORT": "80", "A": "1"},
    }


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
