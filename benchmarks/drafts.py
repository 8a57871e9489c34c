"""Configurations and places for proofs about real releases: one draft in both formats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchmarks.pairs import Config, Given

LAYER: Config = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "num_hidden_layers": 1,
    "vocab_size": 128256,
    "rms_norm_eps": 1e-5,
    "rope_theta": 500000.0,
    "rope_scaling": None,
    "max_position_embeddings": 131072,
    "attention_bias": False,
    "mlp_bias": False,
    "hidden_act": "silu",
    "tie_word_embeddings": False,
}
TARGET: Config = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "vocab_size": 128256,
    "intermediate_size": 14336,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "rms_norm_eps": 1e-5,
    "hidden_act": "silu",
}
SWITCHES = ("norm_before_residual", "norm_before_fc", "fc_norm", "norm_output")


def train(ids: list[int] | None = None, layer: Config | None = None, **switches: Any) -> Config:
    """What the trainer saves."""
    return {
        "architectures": ["Eagle3DraftModel"],
        "speculators_model_type": "eagle3",
        "speculators_version": "0.9.0",
        "draft_vocab_size": 32000,
        "tie_word_embeddings": False,
        "eagle_aux_hidden_state_layer_ids": ids or [2, 16, 29],
        "embed_requires_grad": False,
        **dict.fromkeys(SWITCHES, False),
        **switches,
        "speculators_config": {
            "algorithm": "eagle3",
            "default_proposal_method": "greedy",
            "proposal_methods": [{"proposal_type": "greedy", "speculative_tokens": 3}],
            "verifier": {"architectures": ["LlamaForCausalLM"], "name_or_path": "example/target"},
        },
        "transformer_layer_config": {**LAYER, **(layer or {})},
    }


def serve(ids: list[int] | None = None, **changes: Any) -> Config:
    """What the server reads; a change to `...` removes the key."""
    config = {
        **LAYER,
        "architectures": ["LlamaForCausalLMEagle3"],
        "draft_vocab_size": 32000,
        "eagle_config": {
            "use_aux_hidden_state": True,
            "eagle_aux_hidden_state_layer_ids": ids or [1, 15, 28],
        },
        **changes,
    }
    return {key: value for key, value in config.items() if value is not ...}


def switched(name: str) -> Given:
    """One switch on, on both sides."""
    return Given(name, train(**{name: True}), serve(**{name: True}), TARGET)


PLAIN = Given("plain", train(), serve(), TARGET)
TWO = Given("two states", train([2, 29], fc_norm=True), serve([1, 28], fc_norm=True), TARGET)
LAYERS = Given(
    "two layers",
    train(layer={"num_hidden_layers": 2}),
    serve(num_hidden_layers=2),
    TARGET,
    fair=False,
)
RESIDUAL = Given(
    "norm_before_residual",
    train(norm_before_residual=True),
    serve(norm_before_residual=True),
    TARGET,
    fair=False,
)
WIDE = Given(
    "wider target",
    train(),
    serve(target_hidden_size=5120),
    {**TARGET, "hidden_size": 5120},
    fair=False,
    wide=True,
)
TIED = Given("tied head", train(), serve(tie_word_embeddings=True), TARGET, fair=False)
SLIDING = Given(
    "sliding window",
    train(layer={
        "model_type": "qwen3", "sliding_window": 64, "use_sliding_window": True,
        "layer_types": ["sliding_attention"], "max_window_layers": 0,
    }),
    serve(),
    TARGET,
    fair=False,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Subject:
    """A file under test: which side, which release, which functions, under which configurations."""

    side: str
    release: str
    path: str
    places: tuple[str, ...]
    givens: tuple[Given, ...]

    @property
    def trainer(self) -> str:
        """The trainer's source."""
        return self.release if self.side == "train" else "speculators==0.9.0"

    @property
    def server(self) -> str:
        """The server's source."""
        return self.release if self.side == "serve" else "sglang==0.5.23"

    @property
    def renames(self) -> tuple[tuple[str, str], ...]:
        """What a conversion has to do for this server."""
        return (("layers.0", "midlayer"),) if self.server == "sglang==0.5.9" else ()


_DRAFT = ("LlamaDecoderLayer", "LlamaModel", "LlamaForCausalLMEagle3")
_PARTS = ("LlamaMLP", "LlamaAttention", "LlamaDecoderLayer.__init__", "LlamaForCausalLM.forward")
_NEW = (PLAIN, switched("fc_norm"), switched("norm_output"), TWO, switched("norm_before_fc"),
        LAYERS, WIDE, TIED)  # fmt: skip
_OLD = (PLAIN, WIDE, TIED)
_TRAIN = (PLAIN, switched("fc_norm"), switched("norm_output"), TWO, switched("norm_before_fc"),
          LAYERS, RESIDUAL, SLIDING)  # fmt: skip
_SERVED = "sglang/srt/models/"
_TRAINED = "speculators/models/eagle3/"

SUBJECTS = (
    Subject("serve", "sglang==0.5.9", _SERVED + "llama_eagle3.py", _DRAFT, _OLD),
    Subject("serve", "sglang==0.5.9", _SERVED + "llama.py", _PARTS, _OLD),
    Subject("serve", "sglang==0.5.23", _SERVED + "llama_eagle3.py", _DRAFT, _NEW),
    Subject("serve", "sglang==0.5.23", _SERVED + "llama.py", _PARTS, _NEW),
    Subject(
        "train", "speculators==0.9.0", _TRAINED + "core.py",
        tuple(f"Eagle3DraftModel.{n}" for n in ("__init__", "_build_attn_mask", "forward")), _TRAIN,
    ),
    Subject(
        "train", "speculators==0.9.0", _TRAINED + "model_definitions.py",
        ("Eagle3FirstLayerMixin", "LlamaDecoderEagle3FirstLayer"), _TRAIN,
    ),
    Subject(
        "train", "speculators==0.9.0", _TRAINED + "attention.py",
        ("create_combined_mask_mod", "extend_mask_for_draft_tokens"), _TRAIN,
    ),
)  # fmt: skip
