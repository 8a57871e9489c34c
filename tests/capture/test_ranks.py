"""What targets hand over where several ranks share each tensor."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import pytest

from checker.engines import Question, capture
from tests.capture.edits import FORWARD, LLAMA, MODELS, NEW, OLD, Case, edited, subject

if TYPE_CHECKING:
    from benchmarks.editing import Source
    from checker.engines import Captured, Subject

pytestmark = pytest.mark.network

IDS, HANDED = (2, 30, 58), (3, 31, 59)
FUSED = {"enable_flashinfer_allreduce_fusion": True}


def shared(subject: Subject, target: str, **launch: Any) -> Captured:
    """What two ranks hand over together."""
    return capture(subject, Question(target, 61, IDS, ranks=2, launch=launch))


@pytest.mark.parametrize(
    ("release", "target"),
    [
        (NEW, "LlamaForCausalLM"),
        (NEW, "Qwen3MoeForCausalLM"),
        ("0.5.21", "Glm4MoeForCausalLM"),
        (OLD, "Qwen3MoeForCausalLM"),
        pytest.param(NEW, "Glm4MoeForCausalLM", marks=pytest.mark.long),
        pytest.param(NEW, "GptOssForCausalLM", marks=pytest.mark.long),
        pytest.param("0.5.22", "Qwen3MoeForCausalLM", marks=pytest.mark.long),
    ],
)
@pytest.mark.parametrize("launch", [{}, FUSED], ids=["as-usual", "fused"])
def test_sums_over_ranks_are_complete_before_they_are_kept(
    release: str, target: str, launch: dict[str, Any]
) -> None:
    found = shared(subject(release), target, **launch)
    assert found.boundaries == HANDED, found.reason


@pytest.mark.parametrize("target", ["Glm4MoeForCausalLM", "GptOssForCausalLM"])
@pytest.mark.parametrize(
    "release", [pytest.param("0.5.16", marks=pytest.mark.long), "0.5.18", "0.5.20"]
)
def test_a_sum_left_to_the_next_layer_is_no_boundary(release: str, target: str) -> None:
    """Before layers had stages the state was kept while each rank held its own part."""
    assert shared(subject(release), target, **FUSED).boundaries == ("not-a-boundary",) * 3
    open_choice = shared(subject(release), target)
    assert not open_choice.is_decided
    assert "depends on a condition" in open_choice.reason


@pytest.mark.parametrize(
    ("flag", "value", "off"),
    [
        ("enable_dp_attention", True, False),
        ("attn_dp_size", 2, 1),
        ("attn_cp_size", 2, 1),
        ("attention_context_parallel_size", 2, 1),
        ("moe_dp_size", 2, 1),
        ("moe_a2a_backend", "deepep", "none"),
        ("moe_dense_tp_size", 1, 2),
        ("enable_attn_tp_input_scattered", True, False),
    ],
)
def test_rows_spread_over_ranks_are_not_proven(flag: str, value: object, off: object) -> None:
    """With some values of the flags no rank has the whole batch; with others each has."""
    found = shared(subject(NEW), "LlamaForCausalLM", **{flag: value})
    assert not found.is_decided
    assert f"--{flag.replace('_', '-')} is not described" in found.reason
    assert shared(subject(NEW), "LlamaForCausalLM", **{flag: off}).boundaries == HANDED


def _what_each_rank_has(s: Source) -> None:
    """What a layer hands on is added to the stream as it is."""
    _kept(s, "hidden_states + forward_batch.residual_stream.residual")


def _what_each_rank_has_in_full(s: Source) -> None:
    """The same of what a layer hands on once it is complete."""
    _kept(s, "residual_batch.snapshot(hidden_states, forward_batch)")


def _kept(s: Source, value: str) -> None:
    call = s.call(FORWARD, "self.layers[i]")
    s.put(s.keyword(call, "capture_output").value, "None")
    s.before(
        s.walk(FORWARD, ast.For)[0].body[0],
        f"if i in self.layers_to_capture:\n    aux_hidden_states.append({value})",
    )


def test_what_is_kept_before_it_is_summed_is_not_called_a_boundary() -> None:
    case = Case(_what_each_rank_has, LLAMA, NEW, "LlamaForCausalLM", ())
    found = shared(edited(case), "LlamaForCausalLM")
    assert found.boundaries != HANDED
    case = Case(_what_each_rank_has_in_full, LLAMA, NEW, "LlamaForCausalLM", ())
    found = shared(edited(case), "LlamaForCausalLM")
    assert found.boundaries == HANDED, found.reason


def _never_summed(s: Source) -> None:
    """The state is kept before the sum over ranks that the next layer makes."""
    call = s.calls("Qwen2MoeModel.forward", "layer")[0]
    s.put(s.keyword(call, "captured_last_layer_outputs").value, "None")
    s.before(
        s.walk("Qwen2MoeModel.forward", ast.For)[0].body[0],
        "if getattr(self.layers[i], '_is_layer_to_capture', False):\n"
        "    aux_hidden_states.append(hidden_states + residual)",
    )


def test_an_older_loop_that_keeps_parts_of_sums() -> None:
    case = Case(_never_summed, MODELS + "qwen2_moe.py", OLD, "Qwen3MoeForCausalLM", ())
    target = edited(case)
    assert capture(target, Question("Qwen3MoeForCausalLM", 61, IDS)).boundaries == HANDED
    fused = shared(target, "Qwen3MoeForCausalLM", **FUSED)
    assert fused.boundaries == ("not-a-boundary",) * 3, fused.reason
