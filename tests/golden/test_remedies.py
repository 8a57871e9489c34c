"""What a report says is to be done fits what is wrong."""

from pathlib import Path

from checker.report.model import Report
from tests.golden.test_matrix import SERVED, Variant, report

TARGET = "toy_server/toy_server/target.py"


def remedy(found: Report, clause: str) -> str:
    return next(c.remedy for c in found.clauses if c.id == clause)


def test_names_to_convert_are_told_where_the_structure_tells_them(tmp_path: Path) -> None:
    old = 'self.hidden_norm = FusedNorm(size, config["rms_norm_eps"])'
    called = (SERVED, old, old.replace("hidden_norm", "state_norm"))
    used = (SERVED, "self.hidden_norm(hidden)", "self.state_norm(hidden)")
    found = report(Variant((called, used)), tmp_path)
    told = "--rename layers.0.hidden_norm=layers.0.state_norm"
    assert told in remedy(found, "weights-loaded")


def test_no_name_helps_a_bias_that_was_not_trained(tmp_path: Path) -> None:
    old = 'config.get("target_hidden_size", size), size, bias=False'
    found = report(Variant(((SERVED, old, old.replace("False", "True")),)), tmp_path)
    assert "zeros for a bias" in remedy(found, "weights-loaded")
    assert "--rename" not in remedy(found, "weights-loaded")


def test_ids_to_write_come_with_the_key_that_is_read(tmp_path: Path) -> None:
    key = "eagle_aux_hidden_state_layer_ids"
    found = report(Variant(serve={"eagle_config": {key: [1, 14, 28]}}), tmp_path)
    assert f"as `eagle_config.{key}`" in remedy(found, "aux-boundaries")


def test_no_ids_help_where_none_hand_over_what_was_trained(tmp_path: Path) -> None:
    found = report(Variant(train={"eagle_aux_hidden_state_layer_ids": [2, 16, 99]}), tmp_path)
    assert remedy(found, "aux-boundaries").startswith("No ids make")


def test_a_target_that_hands_over_nothing_is_said_to(tmp_path: Path) -> None:
    found = report(Variant(((TARGET, "def hand_over", "def hand_nothing_over"),)), tmp_path)
    assert "hands over no states" in remedy(found, "aux-boundaries")


def test_fewer_layers_are_to_be_stated_where_more_are_served(tmp_path: Path) -> None:
    more = report(Variant(serve={"num_hidden_layers": 3}), tmp_path)
    assert remedy(more, "layers").startswith("State the trained number of layers")
    (tmp_path / "fewer").mkdir()
    layer = {"transformer_layer_config": {"num_hidden_layers": 2}}
    fewer = report(Variant(train=layer), tmp_path / "fewer")
    assert remedy(fewer, "layers").startswith("Train with one layer")
