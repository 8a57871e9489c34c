"""Targets of real releases: what their own code was seen to hand over, of 61 layers."""

from __future__ import annotations

import sys
from functools import cache

import pytest

from checker.engines import Question, Subject, capture, known_targets, load_engines
from checker.errors import InputError
from checker.pairing import allow_deep_recursion, open_side
from checker.request import Access

pytestmark = pytest.mark.network
FAST, ALL = (), (pytest.mark.long,)
ROWS = [
    # release, target, ids, boundaries (None: raises), ids overwritten later, marks
    ("0.5.9", "LlamaForCausalLM", None, (2, 30, 58), (), FAST),
    ("0.5.9", "LlamaForCausalLM", (-1, 2, 30), None, (), FAST),
    ("0.5.9", "Qwen3ForCausalLM", (-1, 2, 30), (0, 3, 31), (-1,), FAST),
    ("0.5.9", "Qwen3ForCausalLM", (-7, -1, 30), (0, 31), (-1,), FAST),
    ("0.5.23", "LlamaForCausalLM", (59, 31, 3), (4, 32, 60), (), FAST),
    ("0.4.6", "LlamaForCausalLM", (3, 31, 59), (2, 30, 58), (), ALL),
    ("0.4.6", "Qwen3MoeForCausalLM", (2, 30, 58), None, (), ALL),
    ("0.4.6", "GptOssForCausalLM", (2, 30, 58), None, (), ALL),
    ("0.5.19", "GptOssForCausalLM", (2, 30, 58), (3, 31, 59), (), ALL),
    ("0.5.21", "Qwen3MoeForCausalLM", (2, 30, 58), (3, 31, 59), (), ALL),
    ("0.5.21", "MiniMaxM3SparseForCausalLM", (2, 30, 58), (3, 31, 59), (), ALL),
    ("0.5.23", "DbrxForCausalLM", (2, 30, 58), None, (), ALL),
    ("0.5.9", "Qwen2MoeForCausalLM", (-1, 2, 30), (0, 3, 31), (), ALL),
    ("0.5.9", "Qwen3NextForCausalLM", (2, 30, 58), (3, 31, 59), (), ALL),
    ("0.5.9", "DeepseekV3ForCausalLM", (-1, 2, 30), None, (), ALL),
    ("0.5.23", "DeepseekV3ForCausalLM", (2, 30, 58), (2, 30, 58), (), ALL),
    ("0.5.23", "DeepseekV3ForCausalLM", (-1, 2, 30), None, (), ALL),
    ("0.5.23", "Glm4MoeLiteForCausalLM", (-1, 2, 30), (2, 30), (), ALL),
    ("0.5.23", "Gemma3ForCausalLM", None, ("not-a-boundary",) * 3, (), ALL),
    ("0.5.23", "MiniMaxM3SparseForConditionalGeneration", None, (3, 31, 59), (), ALL),
    ("0.5.20", "Gemma3ForCausalLM", (60,), ("not-a-boundary",), (), ALL),
    ("0.5.23", "Glm5NextForConditionalGeneration", (-1, 2, 30), (0, 3, 31), (), ALL),
    ("0.5.23", "Glm5NextForConditionalGeneration", None, (2, 30, 58), (), FAST),
    ("0.5.23", "LongcatFlashForCausalLM", (-1, 2, 30), (0, 3, 31), (), FAST),
    ("0.5.23", "Gemma4ForCausalLM", (0, 60), (1, 61), (), FAST),
    ("0.5.19", "Gemma4ForCausalLM", (0, 60), (1, 61), (0,), ALL),
    ("0.5.23", "InternS2MobiusForConditionalGeneration", (59, 31, 3), (4, 32, 60), (), FAST),
    ("0.5.21", "InternS2MobiusForConditionalGeneration", (2, 30, 58), None, (), ALL),
    ("0.5.17", "Qwen3_5ForConditionalGeneration", (2, 30, 58), None, (), ALL),
    ("0.5.23", "DeepseekV3ForCausalLMNextN", None, None, (), FAST),
    ("0.5.9", "LlamaForCausalLMEagle3", None, None, (), FAST),
    ("0.5.23", "LlamaForCausalLMEagle3", (2, 30, 58), None, (), ALL),
    ("0.5.23", "EmbeddingGemmaModel", None, None, (), ALL),
    ("0.5.12", "MindSporeForCausalLM", None, None, (), ALL),
]


@cache
def subject(release: str) -> Subject:
    """A release, opened once."""
    return opened(release)


def opened(release: str) -> Subject:
    """A release; the test is skipped where the index cannot be reached."""
    allow_deep_recursion()
    try:
        return open_side(load_engines(), "server", f"sglang=={release}", [], Access()).outline()
    except InputError as error:
        pytest.skip(f"sglang {release} is not at hand: {error}")


@pytest.mark.parametrize(
    ("release", "target", "ids", "boundaries", "aliased"),
    [pytest.param(*row[:5], marks=row[5], id=f"{row[0]}-{row[1]}-{row[2]}") for row in ROWS],
)
def test_what_a_release_hands_over(
    release: str,
    target: str,
    ids: tuple[int, ...] | None,
    boundaries: tuple[int | str, ...] | None,
    aliased: tuple[int, ...],
) -> None:
    """As its setter and its loop over stand-in layers did when they were run."""
    found = capture(subject(release), Question(target, 61, ids))
    assert found.is_decided, found.reason
    assert (found.boundaries, found.aliased) == (boundaries, aliased)
    assert (found.error is not None) == (boundaries is None)


def test_a_target_whose_parts_its_configuration_counts() -> None:
    """Whether it says how many there are, or not: what is built for each of them is a part."""
    name = "InternS2MobiusForConditionalGeneration"
    kinds = ["linear_attention", "full_attention"] * 31
    text = {"num_hidden_layers": 61, "num_blocks": 4, "layer_types": kinds[:61]}
    found = capture(subject("0.5.23"), Question(name, 61, (2, 30, 58), {"text_config": text}))
    assert found.boundaries == (3, 31, 59), found.reason
    none = {"text_config": {**text, "num_blocks": 0}}
    refused = capture(subject("0.5.23"), Question(name, 61, (2, 30, 58), none))
    assert refused.error is not None, refused.reason
    assert "at least one" in refused.error.message


OFTEN = ["0.4.9", "0.5.2", "0.5.9", "0.5.14", "0.5.18", "0.5.20", "0.5.22", "0.5.23"]
LISTS = [(2, 30, 58), None, (-1, 2, 30), (60, 0), (59, 60, 3, 3)]


@pytest.mark.long
@pytest.mark.parametrize("ids", LISTS, ids=str)
@pytest.mark.parametrize("release", OFTEN)
def test_what_targets_share_is_what_each_gives(
    release: str, ids: tuple[int, ...] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Second names answered by the run of the first give what their own run gives, to the line."""
    server = subject(release)
    names = known_targets(server)
    asked = [Question(name, 61, ids) for name in names]
    shared = [capture(server, question) for question in asked]
    runs = sys.modules["checker.engines.capture"]
    monkeypatch.setattr(runs, "_original", lambda *_: None)
    assert shared == [capture(server, question) for question in asked]
