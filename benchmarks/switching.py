"""Values of every switch of the contract, in both formats, and what else they change."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchmarks import drafts

Config = dict[str, Any]
LLAMA3: Config = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
LINEAR: Config = {"rope_type": "linear", "factor": 2.0}
YARN: Config = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}
PARAMETERS: Config = {
    "rope_theta": ...,
    "rope_scaling": ...,
    "rope_parameters": {"rope_type": "default", "rope_theta": 3e5},
}
QWEN3: Config = {
    "model_type": "qwen3",
    "layer_types": ["full_attention"],
    "use_sliding_window": False,
}
WINDOW: Config = {"sliding_window": 64, "layer_types": ["sliding_attention"]}
QWEN3_WINDOW: Config = {**QWEN3, **WINDOW, "use_sliding_window": True, "max_window_layers": 0}


@dataclass(frozen=True)
class Value:
    """One value of one switch; `None` for a side that has no such key.

    `train` changes the draft's configuration, `layer` that of its layers, `eagle` what the server
    nests, `extra` are tensors that only this server asks for: no trainer has saved them.
    """

    switch: str
    label: str
    train: Config | None = None
    layer: Config | None = None
    serve: Config | None = None
    eagle: Config | None = None
    target: Config = field(default_factory=dict)
    extra: tuple[str, ...] = ()

    @property
    def trains(self) -> bool:
        """Whether the trainer has this switch."""
        return self.train is not None or self.layer is not None

    @property
    def serves(self) -> bool:
        """Whether the server has it."""
        return self.serve is not None or self.eagle is not None

    def trained(self) -> Config:
        """The trainer's configuration."""
        whole = {**drafts.train(layer=self.layer), **(self.train or {})}
        whole["transformer_layer_config"] = _stated(whole["transformer_layer_config"])
        return _stated(whole)

    def served(self) -> Config:
        """The server's."""
        config = drafts.serve(**(self.serve or {}))
        config["eagle_config"] = {**config["eagle_config"], **(self.eagle or {})}
        return config

    def aimed(self) -> Config:
        """The target's."""
        return {**drafts.TARGET, **self.target}


def _stated(config: Config) -> Config:
    """Without the keys that a change to `...` removes."""
    return {key: value for key, value in config.items() if value is not ...}


def _both(switch: str, value: Any, label: str = "", **more: Any) -> Value:
    """A key of the draft, spelled alike on both sides."""
    return Value(switch, label or str(value), {switch: value}, None, {switch: value}, **more)


def _layer(switch: str, value: Any, label: str = "", **more: Any) -> Value:
    """A key of the layers' configuration, which the server has at the top."""
    changes = {switch: value}
    return Value(switch, label or str(value), None, changes, changes, **more)


def _ids(trained: list[int], served: list[int]) -> Value:
    name = "eagle_aux_hidden_state_layer_ids"
    return Value(name, f"{len(trained)} states", {name: trained}, None, None, {name: served})


_ATTENTION = tuple(f"layers.0.self_attn.{n}_proj.bias" for n in "qkvo")
_MLP = tuple(f"layers.0.mlp.{n}_proj.bias" for n in ("gate", "up", "down"))

VALUES = (
    *(_both(name, on) for name in drafts.SWITCHES for on in (False, True)),
    Value("norm_before_fc", "nested", None, None, {}, {"norm_before_fc": True},
          extra=("input_norm.weight",)),
    Value("fc_norm", "as use_aux_norm", {"fc_norm": True}, None, {"use_aux_norm": True}),
    Value("fc_norm", "with norm_output and two states",
          {"fc_norm": True, "norm_output": True, "eagle_aux_hidden_state_layer_ids": [2, 29]}, None,
          {"fc_norm": True, "norm_output": True}, {"eagle_aux_hidden_state_layer_ids": [1, 28]}),
    _ids([16], [15]), _ids([2, 29], [1, 28]), _ids([2, 9, 16, 29], [1, 8, 15, 28]),
    Value("eagle_aux_hidden_state_layer_ids", "none stated",
          {"eagle_aux_hidden_state_layer_ids": None}, None, {},
          {"eagle_aux_hidden_state_layer_ids": None}),
    Value("num_aux_hidden_states", "4",
          {"eagle_aux_hidden_state_layer_ids": [2, 9, 16, 29]}, None,
          {"num_aux_hidden_states": 4}, {"eagle_aux_hidden_state_layer_ids": [1, 8, 15, 28]}),
    Value("use_aux_hidden_state", "False", None, None, {}, {"use_aux_hidden_state": False}),
    Value("target_hidden_size", "5120", None, None, {"target_hidden_size": 5120},
          target={"hidden_size": 5120}, extra=("fc.weight",)),
    _layer("hidden_size", 2048, target={"hidden_size": 2048}),
    _layer("num_hidden_layers", 2), _layer("num_hidden_layers", 3),
    Value("layer_model_type", "qwen3", None, QWEN3, {"model_type": "qwen3"}),
    _layer("num_attention_heads", 16),
    _layer("num_key_value_heads", 32), _layer("num_key_value_heads", 1),
    Value("num_key_value_heads", "absent", None, {"num_key_value_heads": None},
          {"num_key_value_heads": ...}),
    _layer("head_dim", 64),
    Value("head_dim", "absent", None, {"head_dim": None}, {"head_dim": ...}),
    _layer("attention_bias", True, extra=_ATTENTION),
    Value("bias", "True", None, None, {"bias": True}, extra=(*_ATTENTION, "fc.bias")),
    _layer("rope_theta", 10000.0),
    Value("rope_theta", "in rope_parameters", None, PARAMETERS, PARAMETERS),
    *(_layer("rope_scaling", kind, label=kind["rope_type"]) for kind in (LLAMA3, LINEAR, YARN)),
    _layer("partial_rotary_factor", 0.5),
    _layer("max_position_embeddings", 8192),
    Value("sliding_window", "of every layer", None, WINDOW, WINDOW),
    Value("use_sliding_window", "True", None, QWEN3_WINDOW, QWEN3_WINDOW),
    Value("layer_types", "full", None, {**WINDOW, "layer_types": ["full_attention"]},
          {**WINDOW, "layer_types": ["full_attention"]}),
    _layer("rms_norm_eps", 3e-4),
    *(_layer("hidden_act", name) for name in ("gelu", "relu", "gelu_pytorch_tanh")),
    _layer("intermediate_size", 8192),
    _layer("mlp_bias", True, extra=_MLP),
    _both("tie_word_embeddings", True),
    _both("embed_requires_grad", True),
    _layer("vocab_size", 32768),
    _both("draft_vocab_size", 128256),
    Value("draft_vocab_size", "absent", None, None, {"draft_vocab_size": ...}),
    Value("architectures", "another class", None, None, {"architectures": ["LlamaForCausalLM"]}),
    Value("architectures", "no such class", {"architectures": ["Other"]}, None,
          {"architectures": ["Other"]}),
)  # fmt: skip
"""Values of all switches; every switch of the contract has one."""
