"""A small draft in both formats, with widths that no two quantities share, and changes to it."""

from __future__ import annotations

import copy
import json
from typing import Any

from checker.configs import ConfigFile

Config = dict[str, Any]

LAYER: Config = {
    "model_type": "llama",
    "hidden_size": 96,
    "intermediate_size": 224,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "head_dim": 20,
    "num_hidden_layers": 1,
    "vocab_size": 1009,
    "rms_norm_eps": 1e-5,
    "rope_theta": 300000.0,
    "rope_scaling": None,
    "max_position_embeddings": 4096,
    "attention_bias": False,
    "mlp_bias": False,
    "hidden_act": "silu",
    "tie_word_embeddings": False,
}
SWITCHES: Config = {
    "norm_before_residual": False,
    "norm_before_fc": False,
    "fc_norm": False,
    "norm_output": False,
    "embed_requires_grad": False,
}
TARGET: Config = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "num_hidden_layers": 24,
    "hidden_size": 96,
    "vocab_size": 1009,
    "intermediate_size": 256,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "rms_norm_eps": 1e-5,
    "hidden_act": "silu",
}


def train(layer: Config | None = None, **switches: Any) -> Config:
    """What the trainer saves: `layer` changes the layer's configuration, `switches` the draft's."""
    return {
        "architectures": ["Eagle3DraftModel"],
        "speculators_model_type": "eagle3",
        "speculators_version": "0.9.0",
        "draft_vocab_size": 307,
        "tie_word_embeddings": False,
        "eagle_aux_hidden_state_layer_ids": [2, 12, 21],
        **SWITCHES,
        "speculators_config": {
            "algorithm": "eagle3",
            "default_proposal_method": "greedy",
            "proposal_methods": [{"proposal_type": "greedy", "speculative_tokens": 3}],
            "verifier": {"architectures": ["LlamaForCausalLM"], "name_or_path": "example/target"},
        },
        **switches,
        "transformer_layer_config": {**LAYER, **(layer or {})},
    }


def serve(ids: list[int] | None = None, /, **changes: Any) -> Config:
    """The same draft as flattened by hand for the server; a change to `...` removes the key."""
    config = {
        **LAYER,
        "architectures": ["LlamaForCausalLMEagle3"],
        "draft_vocab_size": 307,
        "eagle_config": {
            "use_aux_hidden_state": True,
            "eagle_aux_hidden_state_layer_ids": [1, 11, 20] if ids is None else ids,
        },
        **changes,
    }
    return {key: value for key, value in config.items() if value is not ...}


def nested(config: Config, **changes: Any) -> Config:
    """A served configuration with keys added inside `eagle_config`."""
    changed = copy.deepcopy(config)
    changed["eagle_config"].update(changes)
    return changed


def file(name: str, config: Config) -> ConfigFile:
    raw = json.dumps(config).encode()
    return ConfigFile(name, raw, json.loads(raw))
