"""Switch values of a small draft, no two widths alike."""

from __future__ import annotations

from typing import Any

import yaml

from checker.data import CONTRACTS

BASE: dict[str, Any] = {
    "hidden_size": 64,
    "target_hidden_size": 96,
    "aux_count": 3,
    "num_hidden_layers": 1,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "head_dim": 10,
    "intermediate_size": 176,
    "vocab_size": 1000,
    "draft_vocab_size": 500,
    "rms_norm_eps": 1e-6,
    "rope_base": 500000,
    "rope_dim": 10,
    "rope_scaling": None,
    "attention_scale": None,
    "sliding_window": None,
    "attention_bias": False,
    "mlp_bias": False,
    "qk_norm": False,
    "norm_before_residual": False,
    "norm_before_fc": False,
    "fc_norm": False,
    "norm_output": False,
    "activation": "silu",
}
ON: dict[str, Any] = {
    "norm_before_residual": True,
    "norm_before_fc": True,
    "fc_norm": True,
    "norm_output": True,
    "qk_norm": True,
    "attention_bias": True,
    "mlp_bias": True,
    "sliding_window": 7,
    "num_hidden_layers": 2,
}


def document() -> dict[str, Any]:
    """The wires as the repository has them; a fresh copy to edit."""
    text = (CONTRACTS / "eagle3" / "wires.yaml").read_text(encoding="utf-8")
    loaded: dict[str, Any] = yaml.safe_load(text)
    return loaded
