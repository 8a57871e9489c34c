"""The same for the trainer: what it trains is changed, and the server is not."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from tests.real import configs
from tests.real.releases import TRAINER, check, renames, runs, said, server, unproven, violated

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmarks.editing import Edit, Source
    from checker.report.model import Report
    from tests.real.configs import Config
    from tests.real.releases import Copies

pytestmark = pytest.mark.network

NEW = "0.5.23"
CORE = "speculators/models/eagle3/core.py"
LAYER = "speculators/models/eagle3/model_definitions.py"
DATA = "speculators/models/eagle3/data.py"
METRICS = "speculators/models/eagle3/metrics.py"
MASK = "speculators/models/eagle3/attention.py"
INIT, FORWARD = "Eagle3DraftModel.__init__", "Eagle3DraftModel.forward"
FIRST, PATCH = "Eagle3FirstLayerMixin.forward", "Eagle3FirstLayerMixin._patch_eagle3_projections"


@dataclass(frozen=True)
class Case:
    """An edit, the clauses of which one has to be violated (none: nothing may be said)."""

    edit: Edit
    clauses: tuple[str, ...]
    file: str = CORE
    versions: tuple[str, ...] = (NEW,)
    train: Config = field(default_factory=configs.train)
    serve: Config = field(default_factory=configs.serve)


CASES: dict[str, Case] = {}


def case(*clauses: str, **options: object) -> Callable[[Edit], Edit]:
    def register(edit: Edit) -> Edit:
        CASES[edit.__name__] = Case(edit, clauses, **options)  # type: ignore[arg-type]
        return edit

    return register


def additions(s: Source) -> list[ast.BinOp]:
    return [n for n in s.walk(FIRST, ast.BinOp) if isinstance(n.op, ast.Add)]


# -- changes of meaning -----


@case("concat-order", file=LAYER)
def halves_swapped_in_the_layer(s: Source) -> None:
    first, second = s.call(FIRST, "torch.cat").args[0].elts  # type: ignore[attr-defined]
    s.swap(first, second)


@case("residual-source", "embeds-norm")
def halves_swapped_before_the_layer(s: Source) -> None:
    first, second = s.call(FORWARD, "torch.cat", 1).args[0].elts  # type: ignore[attr-defined]
    s.swap(first, second)


@case("residual-source", file=LAYER)
def residual_switch_inverted(s: Source) -> None:
    test = s.walk(FIRST, ast.If)[0].test
    s.put(test, f"not {s.of(test)}")


@case("hidden-norm", file=LAYER)
def hidden_norm_left_out_in_training(s: Source) -> None:
    call = s.call(FIRST, "self.hidden_norm")
    s.put(call, s.of(call.args[0]))


@case("mlp", file=LAYER)
def mlp_left_out_in_training(s: Source) -> None:
    call = s.call(FIRST, "self.mlp")
    s.put(call, s.of(call.args[0]))


@case("mlp", "residual-source", file=LAYER)
def residual_left_out_in_training(s: Source) -> None:
    total = additions(s)[0]
    s.put(total, s.of(total.right))


@case("attention-projections", "weights-loaded", file=LAYER)
def keys_with_bias_in_training(s: Source) -> None:
    call = s.call(PATCH, "torch.nn.Linear", 1)
    s.put(s.keyword(call, "bias").value, "True")


@case("fc-shape", "weights-loaded")
def fc_with_bias_in_training(s: Source) -> None:
    s.put(s.keyword(s.call(INIT, "torch.nn.Linear"), "bias").value, "True")


@case("final-norm")
def final_norm_left_out_in_training(s: Source) -> None:
    call = s.call(FORWARD, "self.lm_head", 1)
    s.put(call.args[0], "hidden_states")


@case("feedback")
def feedback_switch_inverted(s: Source) -> None:
    test = next(i.test for i in s.walk(FORWARD, ast.If) if "norm_output" in ast.unparse(i.test))
    s.put(test, f"not {s.of(test)}")


@case("norm-kind")
def epsilon_constant_in_training(s: Source) -> None:
    call = s.assign(INIT, "self.norm").value
    s.put(s.keyword(call, "eps").value, "2e-3")  # type: ignore[arg-type]


@case("attention-rope")
def rotary_base_changed_in_training(s: Source) -> None:
    for assign in s.walk(INIT, ast.AugAssign):
        s.after(assign, "modified_tl_config.rope_parameters['rope_theta'] = 10000.0")


@case("attention-rope", "positions")
def positions_doubled_in_training(s: Source) -> None:
    s.put(s.call(FORWARD, "self.rotary_emb").args[1], "position_ids * 2")


@case("positions", "attention-rope")
def positions_stand_still(s: Source) -> None:
    advance = s.assigns(FORWARD, "position_ids")[-1]
    s.put(advance.value, "position_ids")


@case("layers")
def third_step_of_another_length(s: Source) -> None:
    """Only the third step shows it: the tokens of the second have the right length by chance."""
    step = next(n for n in s.walk(FORWARD, ast.Slice) if n.lower is not None)
    assert isinstance(step.lower, ast.BinOp)
    s.put(step.lower, f"{s.of(step.lower.left)} - {s.of(step.lower.right)}")


@case("layers", file=MASK)
def blocks_of_another_element_type(s: Source) -> None:
    call = s.call("extend_mask_for_draft_tokens", "torch.arange")
    first, last = call.args
    s.put(call, f"torch.arange({s.of(first)}, {s.of(last)}, device=kv_indices.device)")


@case("training-target")
def target_without_its_norm(s: Source) -> None:
    call = s.call(FORWARD, "self.verifier_norm")
    s.put(call, s.of(call.args[0]))


@case("training-target", file=DATA)
def targets_a_place_behind(s: Source) -> None:
    """Each would be the target's word on the token that is there already."""
    s.put(
        s.assign("shift_batch", "verifier_last_hidden_states", 1).value,
        "verifier_last_hidden_states[:-1]",
    )


@case("training-target", file=METRICS)
def targets_of_later_steps_not_moved_on(s: Source) -> None:
    s.put(s.assign("align_for_step", "targets").value, "targets[:, : targets.shape[1] - ttt_step]")


@case("training-target", file=DATA)
def mask_a_place_behind(s: Source) -> None:
    """Each token counts as the one before it would."""
    s.put(s.assign("shift_batch", "loss_mask", 1).value, "loss_mask[:-1]")


@case(file=DATA)
def mask_moved_on_by_another_spelling(s: Source) -> None:
    text = "loss_mask.narrow(0, 1, loss_mask.shape[0] - 1)"
    s.put(s.assign("shift_batch", "loss_mask", 1).value, text)


@case("training-target", file=METRICS)
def mask_of_later_steps_not_moved_on(s: Source) -> None:
    text = "loss_mask[:, : loss_mask.shape[1] - ttt_step]"
    s.put(s.assign("align_for_step", "loss_mask").value, text)


@case(file=METRICS)
def targets_moved_on_by_another_spelling(s: Source) -> None:
    text = "targets.narrow(1, ttt_step, targets.shape[1] - ttt_step)"
    s.put(s.assign("align_for_step", "targets").value, text)


@case("attention-mask", file=MASK)
def future_shown(s: Source) -> None:
    comparison = s.walk("create_combined_mask_mod.causal_mask_mod", ast.Compare)[0]
    s.put(comparison, "q_idx >= kv_idx - 1")


@case("token-alignment", "embedding-source")
def tokens_not_moved_on(s: Source) -> None:
    call = s.call(FORWARD, "torch.cat", 2)
    s.put(call, "original_input_ids")


@case(
    "fc-input-norm",
    train=configs.train(fc_norm=True),
    serve=configs.serve(fc_norm=True),
)
def one_norm_for_all_states_in_training(s: Source) -> None:
    element = s.walk(FORWARD, ast.ListComp)[0].elt
    s.put(element.func, "self.fc_norm[0]")  # type: ignore[attr-defined]


@case("fc-condition")
def fc_in_every_step(s: Source) -> None:
    loop = s.walk(FORWARD, ast.For)[0]
    s.before(loop.body[0], "hidden_states = self.fc(torch.cat([hidden_states] * 3, dim=-1))")


EVERY_DAY = frozenset(
    [
        "residual_switch_inverted",
        "feedback_switch_inverted",
        "positions_stand_still",
        "future_shown",
    ]
)
KNOWN: dict[str, str] = {}


def run(copies: Copies, place: Path, name: str, version: str) -> Report:
    """The report on a trainer with one of the edits."""
    case = CASES[name]
    edited = copies.edited(TRAINER, place, {case.file: case.edit})
    plain = copies.plain(server(version))
    return check(edited, plain, case.train, case.serve, renames=renames(version))


@pytest.mark.parametrize(("name", "version"), runs(CASES, EVERY_DAY, KNOWN))
def test_a_changed_trainer_is_found_out(
    copies: Copies, tmp_path: Path, name: str, version: str
) -> None:
    report = run(copies, tmp_path, name, version)
    if not CASES[name].clauses:
        assert (report.exit_status, unproven(report)) == (0, {}), said(report)
        return
    assert report.exit_status == 1, said(report)
    assert violated(report) & set(CASES[name].clauses), said(report)
