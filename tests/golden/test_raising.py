"""What can be said of a pair where one tensor makes a side raise."""

from pathlib import Path

from checker.report.model import RAISES, Report, Status
from tests.golden.test_matrix import DRAFT, SERVED, Variant, report

COPIED = "if name in parameters:\n                    parameters[name].data.copy_(tensor)"
ANOTHER_NAME = 'parameters[name.replace("hidden_norm", "state_norm")].data.copy_(tensor)'
ROTARY = (SERVED, 'config.get("rope_theta", 10000.0)', "7.0")
COUNT = (SERVED, 'eagle.get("eagle_aux_hidden_state_layer_ids") or [0, 0, 0]', "[0, 0]")


def statuses(found: Report) -> dict[str, Status]:
    return {clause.id: clause.status for clause in found.clauses}


def violated(found: Report) -> set[str]:
    return {name for name, status in statuses(found).items() if status is Status.VIOLATED}


def test_a_tensor_that_loading_raises_for_hides_no_other_fault(tmp_path: Path) -> None:
    refusing = (SERVED, COPIED, ANOTHER_NAME)
    found = report(Variant((refusing, ROTARY)), tmp_path)
    assert violated(found) == {"weights-loaded", "attention-rope"}
    loaded = next(c for c in found.clauses if c.id == "weights-loaded")
    assert loaded.error is not None
    assert loaded.error.type == "KeyError"
    assert statuses(found)["residual-source"] is Status.HOLDS


def test_and_makes_none(tmp_path: Path) -> None:
    found = report(Variant(((SERVED, COPIED, ANOTHER_NAME),)), tmp_path)
    assert violated(found) == {"weights-loaded"}
    assert statuses(found)["attention-rope"] is Status.HOLDS


def test_a_loader_that_raises_without_tensors_shows_nothing(tmp_path: Path) -> None:
    check = COPIED + '\n        raise ValueError("never")\n'
    found = report(Variant(((SERVED, COPIED + "\n", check), ROTARY)), tmp_path)
    assert violated(found) == {"weights-loaded"}
    assert statuses(found)["mlp"] is Status.NOT_APPLICABLE


def test_a_projection_too_narrow_for_the_states_hides_no_other_fault(tmp_path: Path) -> None:
    found = report(Variant((COUNT, ROTARY)), tmp_path)
    assert violated(found) == {"fc-shape", "attention-rope"}
    assert statuses(found)["aux-count"] is Status.HOLDS
    assert statuses(found)["norm-kind"] is Status.HOLDS


def test_nor_does_the_trainers(tmp_path: Path) -> None:
    narrow = (
        DRAFT,
        "nn.Linear(self.aux_count * size, size, bias=False)",
        "nn.Linear(size, size, bias=False)",
    )
    found = report(Variant((narrow, ROTARY)), tmp_path)
    assert violated(found) == {"fc-shape", "attention-rope"}
    assert statuses(found)["aux-boundaries"] is Status.HOLDS


def test_a_weight_that_is_used_where_it_should_not_be_is_not_taken_as_wider(tmp_path: Path) -> None:
    guard = "if hidden.shape[-1] != embeds.shape[-1]:"
    found = report(Variant(((SERVED, guard, "if True:"), ROTARY)), tmp_path)
    assert violated(found) == {"fc-condition"}
    assert next(c for c in found.clauses if c.id == "attention-rope").reason == RAISES
