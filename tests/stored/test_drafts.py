"""Folders of tensors in ``verify``: what is served is what lies there, under the names it has."""

import functools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from checker.cli import main
from checker.configs import ConfigFile
from checker.contract.loading import load_contract
from checker.data import FIXTURES, SCHEMAS
from checker.engines import Inputs, load_engines, load_operators
from checker.graph.terms import Pool
from checker.pairing import open_side
from checker.report.model import ClauseResult, Report, Status
from checker.report.text import render
from checker.request import Access, Rename, Target, VerifyRequest
from checker.stored.folder import read_checkpoint
from checker.verification import verify

from .samples import safetensors

Stored = dict[str, tuple[str, tuple[int, ...], object]]
ENGINES = FIXTURES / "engines"
OFFLINE = Access(offline=True)
SMALL = {
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 6,
    "vocab_size": 40,
}


def config(name: str, size: int = 10) -> ConfigFile:
    data = json.loads((FIXTURES / "example" / name).read_text())
    data |= {"norm_before_residual": False, "draft_vocab_size": size}
    data.get("transformer_layer_config", data).update(SMALL)
    return ConfigFile(name, json.dumps(data).encode(), data)


@functools.cache
def shapes(size: int = 10) -> dict[str, tuple[tuple[int, ...], str]]:
    """What the small trainer saves."""
    side = open_side(load_engines(), "trainer", str(ENGINES / "toy_trainer"), (), OFFLINE)
    from checker.engines import extract_side

    inputs = Inputs(dict(config("train.json", size).data))
    found = extract_side(side.subject(load_operators()), Pool(), inputs)
    return {
        name: (tuple(map(int, shape)), kind) for name, (shape, kind) in found.checkpoint.items()
    }


OFFSETS = [3 * i for i in range(10)]


def trained(size: int = 10) -> Stored:
    """The tensors as training saves them, each with bytes of its own."""
    stored: Stored = {}
    for number, (name, (shape, kind)) in enumerate(shapes(size).items()):
        dtype = {"float": "BF16", "int": "I64", "bool": "BOOL"}[kind]
        stored[name] = (dtype, shape, bytes([number + 1]))
    stored["d2t"] = ("I64", (10,), OFFSETS)
    stored["t2d"] = (
        "BOOL",
        (40,),
        [int(t in {i + o for i, o in enumerate(OFFSETS)}) for t in range(40)],
    )
    return stored


def checked(
    folder: Path,
    draft: Stored | None,
    serve: Stored | None = None,
    renames: tuple[Rename, ...] = (),
    size: int = 10,
) -> Report:
    given: dict[str, Any] = {}
    for option, stored in (("draft", draft), ("serve_draft", serve)):
        if stored is not None:
            (folder / option).mkdir(parents=True)
            safetensors(folder / option / "model.safetensors", stored)
            given[option] = read_checkpoint(str(folder / option))
    return verify(
        VerifyRequest(
            train=str(ENGINES / "toy_trainer"),
            serve=str(ENGINES / "toy_server"),
            train_config=config("train.json", size),
            serve_config=config("serve.json", size),
            target=Target(config=config("target.json")),
            renames=renames,
            access=OFFLINE,
            **given,
        )
    )


def broken(report: Report) -> dict[str, ClauseResult]:
    return {c.id: c for c in report.clauses if c.status is Status.VIOLATED}


def undecided(report: Report) -> set[str]:
    return {c.id for c in report.clauses if c.undecided}


def test_the_trained_folder_agrees_and_every_tensor_is_accounted_for(tmp_path: Path) -> None:
    report = checked(tmp_path, {**trained(), "spare.weight": ("F32", (4,), None)})
    assert report.exit_status == 0, [(c.id, c.message, c.reason) for c in report.clauses]
    assert report.stored is not None
    rows = {row.name: row for row in report.stored.tensors}
    assert set(rows) == {*shapes(), "spare.weight"}
    assert rows["norm.weight"].parameter == "norm.weight"
    assert rows["layers.0.self_attn.k_proj.weight"].parameter == "layers.0.qkv_proj.weight"
    assert rows["d2t"].parameter == "target_ids"
    for name in ("t2d", "spare.weight"):
        place = rows[name].left_at
        assert rows[name].parameter is None
        assert place is not None
        lines = (ENGINES / "toy_server" / place.path).read_text().splitlines()
        assert "if name in parameters" in lines[place.line - 1]
    held = {row.path: row.tensors for row in report.stored.parameters}
    assert len(held["layers.0.qkv_proj.weight"]) == 3
    assert all(held.values())
    schema = json.loads((SCHEMAS / "report.schema.json").read_text())
    jsonschema.validate(report.to_json(), schema)
    text = render(report, load_contract())
    assert "spare.weight (F32 [4], unknown to training) is dropped at toy_server/eagle3.py" in text


def test_a_tensor_that_training_needs_and_the_folder_lacks_is_violated(tmp_path: Path) -> None:
    stored = trained()
    del stored["norm.weight"]
    report = checked(tmp_path, stored)
    found = broken(report)
    assert set(found) == {"weights-loaded"}
    assert "norm.weight is not in" in found["weights-loaded"].message
    assert report.stored is not None
    assert "parameter norm.weight keeps its initial value" in list(report.stored.lines())


@pytest.mark.parametrize("name", ["input_norm.weight", "fc.bias", "layers.1.hidden_norm.weight"])
def test_a_tensor_of_another_trained_architecture_proves_nothing(name: str, tmp_path: Path) -> None:
    """The configuration lost a switch: what was trained is not what it says."""
    report = checked(tmp_path, {**trained(), name: ("F32", (4,), None)})
    assert report.exit_status == 3
    assert "weights-loaded" in undecided(report)
    (clause,) = (c for c in report.clauses if c.id == "weights-loaded")
    assert f"{name} in the draft's folder" in (clause.reason or "")


@pytest.mark.parametrize("name", ["input_norm.weight", "fc.bias", "layers.1.hidden_norm.weight"])
@pytest.mark.parametrize("with_draft", [True, False])
def test_a_served_copy_does_not_change_what_was_trained(
    with_draft: bool, name: str, tmp_path: Path
) -> None:
    stored: Stored = {**trained(), name: ("F32", (4,), None)}
    report = checked(tmp_path, stored if with_draft else None, stored)
    assert report.exit_status == 3
    (clause,) = (c for c in report.clauses if c.id == "weights-loaded")
    assert f"{name} in the " in (clause.reason or "")


def test_tensors_under_names_that_training_has_not_are_not_told_by_a_copy(tmp_path: Path) -> None:
    """The trained folder itself does not say which tensors these are."""
    stored = {f"module.{name}": t for name, t in trained().items()}
    report = checked(tmp_path, stored, stored)
    assert report.stored is not None
    assert all(row.doubt for row in report.stored.tensors)
    found = broken(report)
    assert "keep the initial value" in found["weights-loaded"].message
    assert "is not in" not in found["weights-loaded"].message


@pytest.mark.parametrize(
    ("values", "status"),
    [([0] * 40, Status.HOLDS), ([1, -1] + [0] * 38, Status.VIOLATED), (range(40), Status.VIOLATED)],
)
def test_a_map_that_training_does_not_save_may_give_each_token_itself(
    values: Sequence[int], status: Status, tmp_path: Path
) -> None:
    """A draft of all the target's tokens; the server reads a map where there is one."""
    stored = {name: t for name, t in trained(40).items() if name not in ("d2t", "t2d")}
    report = checked(tmp_path, {**stored, "d2t": ("I64", (40,), [*values])}, size=40)
    (clause,) = (c for c in report.clauses if c.id == "vocabulary")
    assert clause.status is status, clause
    assert report.stored is not None
    (row,) = (row for row in report.stored.tensors if row.name == "d2t")
    assert row.parameter is not None
    assert checked(tmp_path / "without", stored, size=40).exit_status == 0


def test_tensors_that_can_be_made_again_may_be_missing(tmp_path: Path) -> None:
    stored = trained()
    del stored["t2d"], stored["embed_tokens.weight"]
    assert checked(tmp_path, stored).exit_status == 0


@pytest.mark.parametrize(
    ("name", "shape", "clause"),
    [
        ("fc.weight", (16, 32), "fc-shape"),
        ("layers.0.self_attn.q_proj.weight", (24, 16), "attention-projections"),
        ("layers.0.mlp.up_proj.weight", (23, 16), "mlp"),
        ("lm_head.weight", (9, 16), "vocabulary"),
        ("d2t", (9,), "vocabulary"),
    ],
)
def test_a_shape_that_was_not_trained_breaks_the_clause_that_owns_it(
    tmp_path: Path, name: str, shape: tuple[int, ...], clause: str
) -> None:
    stored = trained()
    stored[name] = (stored[name][0], shape, None)
    found = broken(checked(tmp_path, stored))
    assert set(found) == {clause}
    assert f"{name} is [{', '.join(map(str, shape))}]" in found[clause].message


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([i + o for i, o in enumerate(OFFSETS)], "holds target ids, where training saves offsets"),
        ([*OFFSETS[:9], 31], "maps draft id 9 to 40, which is no id of 40 tokens"),
        ([-1, *OFFSETS[1:]], "maps draft id 0 to -1"),
        ([*OFFSETS[:9], 23], "maps draft ids 8 and 9 both to 32"),
        ([*OFFSETS[:9], 28], "maps draft id 9 to 37, which is not marked"),
    ],
)
def test_a_map_of_ids_that_is_none_is_violated(
    tmp_path: Path, values: list[int], said: str
) -> None:
    stored = trained()
    stored["d2t"] = ("I64", (10,), values)
    found = broken(checked(tmp_path, stored))
    assert set(found) == {"vocabulary"}
    assert said in found["vocabulary"].message


def test_numbers_that_stand_for_others_prove_nothing(tmp_path: Path) -> None:
    stored = trained()
    stored["fc.weight"] = ("F8_E4M3", stored["fc.weight"][1], None)
    report = checked(tmp_path, stored)
    assert not broken(report)
    assert undecided(report) == {"weights-loaded", "config-read"}


# -- a served copy ---------------------------------------------------------------------------------


def renamed() -> Stored:
    return {name.replace("layers.0.", "block.first."): t for name, t in trained().items()}


def test_a_copy_under_other_names_is_told_by_its_bytes_and_then_not_loaded(tmp_path: Path) -> None:
    report = checked(tmp_path, trained(), renamed())
    found = broken(report)
    assert set(found) == {"weights-loaded"}  # this server's loader does not know these names
    assert report.stored is not None
    rows = {row.name: row for row in report.stored.tensors}
    own = rows["block.first.hidden_norm.weight"]
    assert (own.trained, own.parameter, own.doubt) == ("layers.0.hidden_norm.weight", None, None)


def test_a_copy_that_swapped_two_tensors_is_seen(tmp_path: Path) -> None:
    stored = trained()
    one, other = "layers.0.hidden_norm.weight", "layers.0.input_layernorm.weight"
    copy = {{one: "x", other: other}.get(name, name): t for name, t in stored.items()}
    copy = {{"x": "layers.0.input_norm.weight"}.get(name, name): t for name, t in copy.items()}
    found = broken(checked(tmp_path, stored, copy))
    assert set(found) == {"weights-loaded"}
    assert one in found["weights-loaded"].message


def test_parameters_left_alone_are_violated_whatever_the_names_mean(tmp_path: Path) -> None:
    found = broken(checked(tmp_path, None, renamed()))
    assert set(found) == {"weights-loaded"}
    assert "keep the initial value" in found["weights-loaded"].message
    assert "reach" not in found["weights-loaded"].message


def shortened() -> Stored:
    """Names that this server's loader takes, and that training does not know."""
    return {name.replace("self_attn.", ""): t for name, t in trained().items()}


def test_a_copy_under_names_that_the_loader_knows_is_told_by_its_bytes(tmp_path: Path) -> None:
    assert checked(tmp_path, trained(), shortened()).exit_status == 0


def test_the_same_copy_alone_is_unproven(tmp_path: Path) -> None:
    report = checked(tmp_path, None, shortened())
    assert not broken(report)
    assert "weights-loaded" in undecided(report)
    reasons = [c.reason or "" for c in report.clauses if c.id == "weights-loaded"]
    assert "say --rename, or give the trained folder as --draft too" in reasons[0]


def test_a_copy_that_is_given_as_the_trained_folder_is_unproven(tmp_path: Path) -> None:
    report = checked(tmp_path, shortened())
    assert not broken(report)
    reasons = [c.reason or "" for c in report.clauses if c.id == "weights-loaded"]
    assert "give it as --serve-draft" in reasons[0]


def test_bytes_that_several_tensors_share_prove_nothing(tmp_path: Path) -> None:
    stored = {name: (dtype, shape, None) for name, (dtype, shape, _) in trained().items()}
    stored["d2t"], stored["t2d"] = trained()["d2t"], trained()["t2d"]
    copy = {name.replace("layers.0.", "block.first."): t for name, t in stored.items()}
    report = checked(tmp_path, stored, copy)
    # norms are alike, so which is which is open; what has a shape of its own is told, and dropped
    assert report.stored is not None
    doubts = {row.name for row in report.stored.tensors if row.doubt}
    assert doubts >= {"block.first.hidden_norm.weight", "block.first.input_layernorm.weight"}


def test_renames_that_are_named_tell_the_copy(tmp_path: Path) -> None:
    copy = {
        name.replace("norm.", "last.") if name.startswith("norm.") else name: t
        for name, t in trained().items()
    }
    found = broken(checked(tmp_path, None, copy, (Rename("norm", "last"),)))
    assert set(found) == {"weights-loaded"}
    assert "norm.weight reaches no server parameter" in found["weights-loaded"].message


def test_the_same_folder_served_agrees(tmp_path: Path) -> None:
    assert checked(tmp_path, trained(), trained()).exit_status == 0


def test_a_copy_of_equal_tensors_under_other_names_is_unproven(tmp_path: Path) -> None:
    stored = {name: (dtype, shape, None) for name, (dtype, shape, _) in trained().items()}
    stored["d2t"], stored["t2d"] = trained()["d2t"], trained()["t2d"]
    copy = {name.replace("self_attn.", ""): t for name, t in stored.items()}
    report = checked(tmp_path, stored, copy)  # k and v have one shape, and here the same bytes
    assert not broken(report)
    assert "weights-loaded" in undecided(report)


def test_the_command_takes_a_folder_for_config_and_tensors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    safetensors(tmp_path / "model.safetensors", trained())
    (tmp_path / "config.json").write_bytes(config("train.json").raw)
    (tmp_path / "serve.json").write_bytes(config("serve.json").raw)
    words = ["verify", "--no-cache", "--offline", "--train", str(ENGINES / "toy_trainer")]
    words += ["--serve", str(ENGINES / "toy_server"), "--target", "LlamaForCausalLM:32"]
    words += ["--draft", str(tmp_path), "--serve-config", str(tmp_path / "serve.json")]
    main(words)
    assert f"Tensors of {tmp_path}" in capsys.readouterr().out


def test_the_command_refuses_a_pickled_draft(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.json").write_bytes(config("train.json").raw)
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    words = ["verify", "--train", "a", "--serve", "b", "--draft", str(tmp_path)]
    assert main(words) == 2
    assert "holds pickled tensors only (pytorch_model.bin)" in capsys.readouterr().err
