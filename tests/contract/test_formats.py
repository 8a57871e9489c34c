"""The format of a configuration is told from its content, whatever the file is called."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from checker.contract.formats import format_of
from checker.contract.loading import load_contract

FORMATS = load_contract().formats
LAYER = {"hidden_size": 64, "num_hidden_layers": 1, "model_type": "llama", "vocab_size": 512}
EAGLE3 = {**LAYER, "architectures": ["LlamaForCausalLMEagle3"], "draft_vocab_size": 256}
IDS = {"eagle_aux_hidden_state_layer_ids": [1, 2, 3], "use_aux_hidden_state": True}

CASES: list[tuple[str | None, dict[str, Any]]] = [
    ("speculators", {"speculators_model_type": "eagle3", "transformer_layer_config": LAYER}),
    ("speculators", {"architectures": ["Eagle3DraftModel"], "transformer_layer_config": LAYER}),
    ("flat", {**EAGLE3, "eagle_config": IDS}),
    ("flat", {**EAGLE3, "eagle_config": {}}),
    ("nvidia", {**EAGLE3, "eagle_config": {**IDS, "use_last_layernorm": True}}),
    ("nvidia", {**EAGLE3, "eagle_config": {"use_input_layernorm_in_first_layer": None}}),
    ("specforge", {**EAGLE3, "target_model_type": "gemma3_text"}),
    ("specforge", {**EAGLE3, "target_model_type": "x", "eagle_config": IDS}),
    ("eagle", {**LAYER, "architectures": ["LlamaForCausalLM"], "draft_vocab_size": 256}),
    ("eagle", {**LAYER, "draft_vocab_size": 256}),
    ("flat-without-ids", EAGLE3),
    ("flat-without-ids", {**LAYER, "architectures": ["AEagle3"], "target_hidden_size": 8}),
    ("named", {**LAYER, "architectures": ["LlamaForCausalLMEagle3"]}),
    ("model", {**LAYER, "architectures": ["LlamaForCausalLM"]}),
    (None, {}),
    (None, {"architectures": "LlamaForCausalLMEagle3"}),
    ("model", {**LAYER, "architectures": [None, 3, []], "eagle": 3}),
    ("flat", {**EAGLE3, "eagle_config": 7}),
]


@pytest.mark.parametrize(("expected", "config"), CASES)
def test_the_content_tells_the_format(expected: str | None, config: dict[str, Any]) -> None:
    found = format_of(copy.deepcopy(config), FORMATS, "architectures")
    assert (found.id if found else None) == expected


def test_every_format_is_told_by_some_case() -> None:
    """A format that nothing fits would never be said."""
    assert {f.id for f in FORMATS} == {name for name, _ in CASES if name}
