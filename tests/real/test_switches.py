"""Configurations of the unedited releases: what each switch does, right and wrong.

What is expected was worked out by reading the releases. `HOLDS` means that the two sides agree
altogether; otherwise the clauses named are violated, and no others but
`config-read`, which says why.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from tests.real.configs import nested, serve, train
from tests.real.releases import (
    TRAINER,
    check,
    flaws,
    renames,
    runs,
    said,
    server,
    unproven,
    violated,
)

if TYPE_CHECKING:
    from pathlib import Path

    from checker.report.model import Report
    from tests.real.configs import Config
    from tests.real.releases import Copies

pytestmark = pytest.mark.network

OLD, MIDDLE, NEW = "0.5.9", "0.5.14", "0.5.23"
HOLDS: frozenset[str] = frozenset()


def owned(*clauses: str) -> frozenset[str]:
    return frozenset(clauses)


@dataclass(frozen=True)
class Case:
    """Configurations of both sides, and the violated clauses by release."""

    train: Config
    serve: Config
    expected: dict[str, frozenset[str]]
    target: Config = field(default_factory=dict)
    either: bool = False  # one of the clauses is enough: an engine that raises breaks one only

    @property
    def versions(self) -> tuple[str, ...]:
        return tuple(self.expected)


def everywhere(expected: frozenset[str]) -> dict[str, frozenset[str]]:
    return dict.fromkeys((OLD, MIDDLE, NEW), expected)


def newer(expected: frozenset[str], old: frozenset[str]) -> dict[str, frozenset[str]]:
    return {OLD: old, MIDDLE: expected, NEW: expected}


def newest(expected: frozenset[str], old: frozenset[str]) -> dict[str, frozenset[str]]:
    return {OLD: old, MIDDLE: old, NEW: expected}


LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 512,
}
RESIDUAL = owned("residual-source")
STATES = owned("fc-input-norm", "weights-loaded")
FEEDBACK = owned("feedback")
HEAD = owned("lm-head-source", "weights-loaded")
BIASES = owned("attention-projections", "weights-loaded")
WINDOW = {"sliding_window": 64, "layer_types": ["sliding_attention"]}
FULL = {"sliding_window": 64, "layer_types": ["full_attention"]}
QWEN3 = {"model_type": "qwen3", "layer_types": ["full_attention"], "use_sliding_window": False}

CASES: dict[str, Case] = {
    "plain": Case(train(), serve(), everywhere(HOLDS)),
    # -- the residual: no release reads the switch
    "norm_before_residual": Case(
        train(norm_before_residual=True), serve(norm_before_residual=True), everywhere(RESIDUAL)
    ),
    "norm_before_residual_absent": Case(
        train(norm_before_residual=True), serve(), everywhere(RESIDUAL)
    ),
    "norm_before_residual_served_only": Case(
        train(), serve(norm_before_residual=True), everywhere(HOLDS)
    ),
    # -- one norm before fc: the newest release reads it, at two levels
    "norm_before_fc": Case(
        train(norm_before_fc=True), serve(norm_before_fc=True), newest(HOLDS, STATES)
    ),
    "norm_before_fc_nested": Case(
        train(norm_before_fc=True), nested(serve(), norm_before_fc=True), newest(HOLDS, STATES)
    ),
    "norm_before_fc_overruled": Case(
        train(norm_before_fc=True),
        nested(serve(norm_before_fc=True), norm_before_fc=False),
        everywhere(STATES),
    ),
    "norm_before_fc_absent": Case(train(norm_before_fc=True), serve(), everywhere(STATES)),
    "norm_before_fc_served_only": Case(train(), serve(norm_before_fc=True), newest(STATES, HOLDS)),
    # -- norms of single states
    "fc_norm": Case(train(fc_norm=True), serve(fc_norm=True), newer(HOLDS, STATES)),
    "fc_norm_old_spelling": Case(
        train(fc_norm=True), serve(use_aux_norm=True), newer(HOLDS, STATES)
    ),
    "fc_norm_nested": Case(train(fc_norm=True), nested(serve(), fc_norm=True), everywhere(STATES)),
    "fc_norm_absent": Case(train(fc_norm=True), serve(), everywhere(STATES)),
    "fc_norm_served_only": Case(train(), serve(fc_norm=True), newer(STATES, HOLDS)),
    # -- what is fed back
    "norm_output": Case(train(norm_output=True), serve(norm_output=True), newer(HOLDS, FEEDBACK)),
    "norm_output_nested": Case(
        train(norm_output=True), nested(serve(), norm_output=True), everywhere(FEEDBACK)
    ),
    "norm_output_absent": Case(train(norm_output=True), serve(), everywhere(FEEDBACK)),
    "norm_output_served_only": Case(train(), serve(norm_output=True), newer(FEEDBACK, HOLDS)),
    # -- biases: the draft's own projections have none, the output projection may
    "attention_bias": Case(
        train({"attention_bias": True}), serve(attention_bias=True), everywhere(BIASES)
    ),
    "attention_bias_absent": Case(train({"attention_bias": True}), serve(), everywhere(BIASES)),
    "attention_bias_served_only": Case(train(), serve(attention_bias=True), everywhere(BIASES)),
    "mlp_bias": Case(
        train({"mlp_bias": True}), serve(mlp_bias=True), everywhere(owned("mlp", "weights-loaded"))
    ),
    "mlp_bias_served_only": Case(train(), serve(mlp_bias=True), everywhere(HOLDS)),
    "bias_served_only": Case(
        train(),
        serve(bias=True),
        everywhere(owned("attention-projections", "fc-shape", "weights-loaded")),
    ),
    # -- numbers
    "rms_norm_eps": Case(
        train({"rms_norm_eps": 3e-4}), serve(rms_norm_eps=3e-4), everywhere(HOLDS)
    ),
    "rms_norm_eps_other": Case(
        train({"rms_norm_eps": 3e-4}), serve(), everywhere(owned("norm-kind"))
    ),
    "rms_norm_eps_absent": Case(
        train({"rms_norm_eps": 3e-4}), serve(rms_norm_eps=...), everywhere(owned("norm-kind"))
    ),
    "rms_norm_eps_default": Case(
        train({"rms_norm_eps": 1e-6}), serve(rms_norm_eps=...), everywhere(HOLDS)
    ),
    "rope_theta": Case(train({"rope_theta": 7e5}), serve(rope_theta=7e5), everywhere(HOLDS)),
    "rope_theta_other": Case(
        train({"rope_theta": 7e5}), serve(), everywhere(owned("attention-rope"))
    ),
    "rope_theta_absent": Case(train(), serve(rope_theta=...), everywhere(owned("attention-rope"))),
    "rope_theta_default": Case(
        train({"rope_theta": 10000.0}), serve(rope_theta=...), everywhere(HOLDS)
    ),
    "rope_theta_in_parameters": Case(
        train(),
        serve(
            rope_theta=...,
            rope_scaling=...,
            rope_parameters={"rope_type": "default", "rope_theta": 300000.0},
        ),
        newer(HOLDS, owned("attention-rope")),
    ),
    "rope_scaling": Case(
        train({"rope_scaling": LLAMA3}), serve(rope_scaling=LLAMA3), everywhere(HOLDS)
    ),
    "rope_scaling_other": Case(
        train({"rope_scaling": LLAMA3}),
        serve(rope_scaling={**LLAMA3, "factor": 4.0}),
        everywhere(owned("attention-rope")),
    ),
    "rope_scaling_absent": Case(
        train({"rope_scaling": LLAMA3}), serve(), everywhere(owned("attention-rope"))
    ),
    "rope_scaling_served_only": Case(
        train(), serve(rope_scaling=LLAMA3), everywhere(owned("attention-rope"))
    ),
    # -- what a query sees
    "sliding_window": Case(train(WINDOW), serve(**WINDOW), everywhere(owned("attention-mask"))),
    "sliding_window_of_no_layer": Case(train(FULL), serve(**FULL), everywhere(HOLDS)),
    # -- numbers of aux states
    "one_state": Case(
        train(eagle_aux_hidden_state_layer_ids=[12]),
        serve([11]),
        # graphs of 0.5.9 are captured before the target is told the ids
        newer(
            owned("fc-condition"),
            owned("fc-condition", "fc-shape", "aux-count", "aux-boundaries"),
        ),
        either=True,
    ),
    "four_states": Case(
        train(eagle_aux_hidden_state_layer_ids=[2, 8, 12, 21]),
        serve([1, 7, 11, 20]),
        newer(HOLDS, owned("fc-shape", "aux-count", "aux-boundaries")),
        either=True,
    ),
    "four_states_three_served": Case(
        train(eagle_aux_hidden_state_layer_ids=[2, 8, 12, 21]),
        serve(),
        everywhere(owned("fc-shape", "aux-count", "aux-boundaries")),
        either=True,
    ),
    "four_states_with_norms": Case(
        train(fc_norm=True, eagle_aux_hidden_state_layer_ids=[2, 8, 12, 21]),
        serve([1, 7, 11, 20], fc_norm=True),
        newer(
            HOLDS,
            owned("fc-shape", "aux-count", "aux-boundaries", "fc-input-norm", "weights-loaded"),
        ),
        either=True,
    ),
    "states_switched_off": Case(
        train(),
        nested(serve(), use_aux_hidden_state=False),
        everywhere(owned("fc-condition", "aux-count")),
        either=True,
    ),
    # -- widths
    "target_hidden_size_served": Case(
        train(), serve(target_hidden_size=128), everywhere(owned("fc-shape")), either=True
    ),
    "target_of_another_width": Case(
        train(),
        serve(),
        everywhere(owned("fc-shape", "fc-condition")),
        target={"hidden_size": 128},
        either=True,
    ),
    "head_dim_absent": Case(
        train(),
        serve(head_dim=...),
        everywhere(owned("attention-projections")),
        either=True,
    ),
    "key_heads_other": Case(
        train(),
        serve(num_key_value_heads=3),
        everywhere(owned("attention-projections")),
        either=True,
    ),
    "intermediate_size_other": Case(
        train(), serve(intermediate_size=208), everywhere(owned("mlp")), either=True
    ),
    "one_key_head": Case(
        train({"num_key_value_heads": 1}), serve(num_key_value_heads=1), everywhere(HOLDS)
    ),
    "as_many_key_heads_as_queries": Case(
        train({"num_key_value_heads": 6}), serve(num_key_value_heads=6), everywhere(HOLDS)
    ),
    "activation": Case(
        train({"hidden_act": "gelu"}),
        serve(hidden_act="gelu"),
        everywhere(owned("mlp")),
        either=True,
    ),
    # -- embedding and head
    # the trainer looks embeddings up without gradients, whatever the switch says
    "embed_requires_grad": Case(train(embed_requires_grad=True), serve(), everywhere(HOLDS)),
    "tie_word_embeddings_served": Case(train(), serve(tie_word_embeddings=True), everywhere(HEAD)),
    # -- layers
    "two_layers": Case(
        train({"num_hidden_layers": 2}),
        serve(num_hidden_layers=2),
        newer(owned("weights-loaded"), owned("layers")),
    ),
    "two_layers_one_served": Case(
        train({"num_hidden_layers": 2}),
        serve(),
        everywhere(owned("layers", "weights-loaded")),
    ),
    "qwen3_layers": Case(
        train(QWEN3),
        serve(),
        everywhere(owned("attention-qk-norm", "weights-loaded")),
    ),
}


EVERY_DAY = frozenset(
    [
        "norm_before_residual",
        "norm_before_fc_nested",
        "fc_norm",
        "norm_output_nested",
        "attention_bias",
        "rope_theta_in_parameters",
        "rope_scaling",
        "sliding_window",
        "one_state",
        "two_layers",
        "qwen3_layers",
        "embed_requires_grad",
        "two_layers_one_served",
    ]
)
KNOWN: dict[str, str] = {}


def run(copies: Copies, place: Path, name: str, version: str) -> Report:
    case = CASES[name]
    return check(
        TRAINER, server(version), case.train, case.serve, case.target, renames=renames(version)
    )


@pytest.mark.parametrize(("name", "version"), runs(CASES, EVERY_DAY, KNOWN))
def test_a_switch_does_what_the_sources_say(
    copies: Copies, tmp_path: Path, name: str, version: str
) -> None:
    case, report = CASES[name], run(copies, tmp_path, name, version)
    expected, found = case.expected[version], violated(report) - {"config-read"}
    found -= flaws(version)
    if not expected:
        assert (violated(report), unproven(report)) == (flaws(version), {}), said(report)
        return
    assert report.exit_status == 1, said(report)
    assert found <= expected if case.either else found == expected, said(report)
    assert found
