"""Half-sentences of the clauses, each with an edit that breaks it and one that only looks like it.

What is violated has to be just what is named, and nothing else may be left open.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from tests.real import configs
from tests.real.releases import TRAINER, check, runs, said, server, unproven, violated

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmarks.editing import Edit, Source
    from tests.real.configs import Config
    from tests.real.releases import Copies

pytestmark = pytest.mark.network

NEW = "0.5.23"
CORE = "speculators/models/eagle3/core.py"
MODEL = "speculators/model.py"
METRICS, COUNTS = "speculators/models/eagle3/metrics.py", "speculators/models/metrics.py"
MASK = "speculators/models/eagle3/attention.py"
ROTARY = "speculators/models/eagle3/rotary_partial.py"
DRAFT, LLAMA = "sglang/srt/models/llama_eagle3.py", "sglang/srt/models/llama.py"
INIT, FORWARD = "Eagle3DraftModel.__init__", "Eagle3DraftModel.forward"
LOAD = "LlamaForCausalLMEagle3.load_weights"


@dataclass(frozen=True)
class Case:
    """An edit of one file, what it breaks, and what cannot be decided any more."""

    edit: Edit
    file: str
    violated: frozenset[str] = frozenset()
    unproven: frozenset[str] = frozenset()
    train: Config = field(default_factory=configs.train)
    target: Config = field(default_factory=dict)

    versions = (NEW,)


CASES: dict[str, Case] = {}
GEMMA: Config = {
    "architectures": ["Gemma3ForCausalLM"],
    "model_type": "gemma3_text",
    "head_dim": 16,
    "query_pre_attn_scalar": 16,
    "sliding_window": 4096,
    "layer_types": ["full_attention"] * 24,
    "hidden_activation": "gelu_pytorch_tanh",
}
"""A target whose norms multiply by one plus weight; its class hands over no stream."""


def case(file: str, *broken: str, **options: object) -> Callable[[Edit], Edit]:
    def register(edit: Edit) -> Edit:
        CASES[edit.__name__] = Case(edit, file, frozenset(broken), **options)  # type: ignore[arg-type]
        return edit

    return register


# -- positions, and which token stands beside which state -----


@case(CORE)
def positions_counted_by_another_range(s: Source) -> None:
    whole = s.assign(FORWARD, "position_ids").value
    s.put(whole, "torch.arange(1, total_seq_len + 1, device=device).unsqueeze(0)")


@case(CORE, "positions")
def positions_advanced_by_two(s: Source) -> None:
    s.put(s.assigns(FORWARD, "position_ids")[-1].value, "position_ids + 2")


@case(CORE, "token-alignment")
def later_tokens_one_place_too_far(s: Source) -> None:
    for part in s.spelled(FORWARD, "1 + ttt_step"):
        s.put(part, "2 + ttt_step")


@case(CORE, "token-alignment")
def later_tokens_moved_back(s: Source) -> None:
    joined = s.call(FORWARD, "torch.cat", 2)
    moved = (
        "[original_input_ids.new_zeros(1, 1 + ttt_step), original_input_ids[:, : -1 - ttt_step]]"
    )
    s.put(joined.args[0], moved)


@case(CORE)
def later_tokens_moved_on_by_padding(s: Source) -> None:
    joined = s.call(FORWARD, "torch.cat", 2)
    text = "torch.nn.functional.pad(original_input_ids[:, 1 + ttt_step :], (0, 1 + ttt_step))"
    s.put(joined, text)


# -- attention -----


@case(
    MASK,
    "attention-mask",
    unproven=frozenset(
        ("attention-projections", "attention-qk-norm", "attention-rope", "config-read", "norm-kind")
    ),
)
def own_earlier_steps_hidden(s: Source) -> None:
    (diagonal,) = s.walk("create_combined_mask_mod.diagonal_draft_mask_mod", ast.Compare)
    s.put(diagonal, "kv_idx == q_idx")


@case(MASK)
def own_earlier_steps_by_another_remainder(s: Source) -> None:
    (diagonal,) = s.walk("create_combined_mask_mod.diagonal_draft_mask_mod", ast.Compare)
    s.put(diagonal, "(kv_idx - q_idx) % total_seq_len == 0")


@case(ROTARY)
def rotation_by_an_added_product(s: Source) -> None:
    turned = s.assign("partial_neox_apply_rotary_pos_emb", "q_embed")
    s.put(turned.value, "torch.addcmul(q * cos, _rotate_half(q), sin)")


# -- the embedding -----


def looked_up_with_gradients(s: Source) -> None:
    guard = next(w for w in s.walk(FORWARD, ast.With) if "embed_tokens" in ast.unparse(w))
    s.put(guard.items[0].context_expr, "torch.enable_grad()")


@case(CORE)
def frozen_embedding_looked_up_with_gradients(s: Source) -> None:
    looked_up_with_gradients(s)


@case(CORE, "embedding-source", train=configs.train(embed_requires_grad=True))
def trained_embedding_looked_up_with_gradients(s: Source) -> None:
    looked_up_with_gradients(s)


@case(CORE, train=configs.train(embed_requires_grad=True))
def embedding_frozen_as_a_module(s: Source) -> None:
    looked_up_with_gradients(s)
    s.put(
        s.assign(INIT, "self.embed_tokens.weight.requires_grad"),
        "self.embed_tokens.requires_grad_(False)",
    )


# -- targets -----


@case(CORE, "training-target")
def targets_with_the_norm_of_the_draft(s: Source) -> None:
    s.put(s.call(FORWARD, "self.verifier_norm").func, "self.norm")


@case(CORE, "training-target", unproven=frozenset({"metrics"}))
def targets_from_the_head_of_the_draft(s: Source) -> None:
    s.put(s.call(FORWARD, "self.verifier_lm_head").func, "self.lm_head")


@case(CORE)
def targets_by_a_module_in_a_variable(s: Source) -> None:
    call = s.call(FORWARD, "self.verifier_norm")
    s.before(s.assign(FORWARD, "return_loss"), "norm_of_target = self.verifier_norm")
    s.put(call.func, "norm_of_target")


@case(MODEL, "training-target")
def norm_of_the_target_not_loaded(s: Source) -> None:
    place = "DraftVocabMixin._load_verifier_weights"
    s.put(s.call(place, "weights_to_load.append"), "None")


@case(MODEL)
def norm_of_the_target_asked_for_in_another_way(s: Source) -> None:
    place = "DraftVocabMixin._load_verifier_weights"
    s.put(s.call(place, "weights_to_load.append"), 'weights_to_load.extend(["model.norm.weight"])')


def one_added_to_the_norm_of_the_target(s: Source) -> None:
    place = "DraftVocabMixin._load_verifier_weights"
    read = s.spelled(place, "verifier_weights['model.norm.weight']")[0]
    s.put(read, s.of(read) + " + 1")


@case(MODEL, "training-target")
def one_added_to_a_norm_that_multiplies_by_its_weight(s: Source) -> None:
    one_added_to_the_norm_of_the_target(s)


@case(MODEL, "aux-stream", target=GEMMA)
def one_added_to_a_norm_that_multiplies_by_one_more(s: Source) -> None:
    one_added_to_the_norm_of_the_target(s)


@case(CORE, "aux-stream", "training-target", target=GEMMA)
def norm_of_another_kind_than_the_targets(s: Source) -> None:
    s.put(s.call(FORWARD, "self.verifier_norm").func, "self.verifier_norm.forward")


@case(METRICS, "training-target")
def loss_on_targets_that_are_not_moved_on(s: Source) -> None:
    s.put(s.call("compute_metrics", "compound_loss").args[1], "targets[:, :seq_len]")


@case(METRICS)
def divergence_from_the_other_side(s: Source) -> None:
    first, second, *_ = s.call("compute_metrics", "compound_loss").args
    s.swap(first, second)


# -- accuracies -----


@case(COUNTS, "metrics")
def hits_before_not_kept(s: Source) -> None:
    call = s.call("compute_accuracy_single_step", "torch.logical_and")
    s.put(call, "torch.logical_and(prev_correct, correct)")


@case(CORE, "metrics")
def hits_before_forgotten_in_every_step(s: Source) -> None:
    s.put(s.call(FORWARD, "compute_metrics").args[3], "torch.ones_like(prev_correct)")


@case(COUNTS)
def hits_before_kept_by_another_operator(s: Source) -> None:
    assign = next(
        a
        for a in s.assigns("compute_accuracy_single_step", "correct")
        if "logical_and" in ast.unparse(a)
    )
    s.put(assign.value, "prev_correct.logical_and_(correct)")


# -- loading -----


def loaded(s: Source) -> ast.Call:
    """The call that fills a parameter that is no part of a stack."""
    return next(c for c in s.calls(LOAD, "weight_loader") if len(c.args) == 2)


@case(DRAFT, "weights-loaded")
def tensors_after_the_map_never_read(s: Source) -> None:
    skip = next(i for i in s.walk(LOAD, ast.If) if "'d2t'" in ast.unparse(i.test))
    s.put(skip.body[-1], "break")


@case(DRAFT, "weights-loaded")
def fc_loaded_along_the_other_axis(s: Source) -> None:
    given = loaded(s).args[1]
    s.put(
        given, "loaded_weight.t().reshape(loaded_weight.shape) if 'fc' in name else loaded_weight"
    )


@case(DRAFT, "norm-kind")
def one_added_to_norms_at_load(s: Source) -> None:
    s.put(loaded(s).args[1], "loaded_weight + 1 if 'norm' in name else loaded_weight")


@case(DRAFT)
def parameters_filled_by_copying(s: Source) -> None:
    s.put(loaded(s), "param.data.copy_(loaded_weight)")


EVERY_DAY = frozenset(
    [
        "frozen_embedding_looked_up_with_gradients",
        "targets_with_the_norm_of_the_draft",
        "hits_before_forgotten_in_every_step",
        "tensors_after_the_map_never_read",
    ]
)


@pytest.mark.parametrize(("name", "version"), runs(CASES, EVERY_DAY, {}))
def test_just_what_an_edit_breaks_is_violated(
    copies: Copies, tmp_path: Path, name: str, version: str
) -> None:
    case = CASES[name]
    sides = {TRAINER: copies.plain(TRAINER), server(version): copies.plain(server(version))}
    if case.target:  # of whose class the copy has nothing
        sides[server(version)] = server(version)
    spec = TRAINER if case.file.startswith("speculators") else server(version)
    sides[spec] = copies.edited(spec, tmp_path, {case.file: case.edit})
    report = check(sides[TRAINER], sides[server(version)], case.train, target=case.target)
    assert (violated(report), set(unproven(report))) == (case.violated, case.unproven), said(report)


def test_attention_to_another_sequence_is_not_agreed_to(copies: Copies, tmp_path: Path) -> None:
    """Where a layer attends to what an encoder left, nothing says what a query sees."""

    def edit(s: Source) -> None:
        call = s.call("LlamaAttention.__init__", "RadixAttention")
        s.put(call.args[-1], s.of(call.args[-1]) + ", is_cross_attention=True")

    edited = copies.edited(server(NEW), tmp_path, {LLAMA: edit})
    report = check(copies.plain(TRAINER), edited)
    assert not violated(report), said(report)
    assert "attention-mask" in unproven(report), said(report)
