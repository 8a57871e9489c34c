"""What each release is asked: one small draft in several settings, and several targets.

Trainer and server are given what a careful user gives them: ids that mean the same boundaries, keys
flattened by hand for the server, tensor names converted where a release knows only the old ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from checker.request import Rename, Target, VerifyRequest
from tests.real import configs
from tests.real.configs import Config

LAUNCH = (
    "python -m sglang.launch_server --model-path m --speculative-algorithm EAGLE3"
    " --speculative-draft-model-path d --speculative-num-steps 3 --speculative-eagle-topk 1"
    " --speculative-num-draft-tokens 4"
)
LAYERS = 24
"""Of the small target, `tests.real.configs.TARGET`."""


@dataclass(frozen=True)
class Setting:
    """Changes to the plain draft: of its layers, of the trainer's and the server's configuration.

    `target` is a class with its number of layers; without one it is the small target.
    """

    layer: Config = field(default_factory=dict)
    switches: Config = field(default_factory=dict)
    served: Config = field(default_factory=dict)
    target: tuple[str, int] | None = None
    launch: str | None = None


def switch(**switches: Any) -> Setting:
    """A switch of the trainer's, under the same name in the server's configuration."""
    return Setting(switches=switches, served=switches)


WINDOW = {
    "sliding_window": 64,
    "use_sliding_window": True,
    "layer_types": ["sliding_attention"],
}
SETTINGS: dict[str, Setting] = {
    "plain": Setting(),
    "residual-normed": switch(norm_before_residual=True),
    "state-norms": switch(fc_norm=True),
    "normed-output": switch(norm_output=True),
    "fc-normed": switch(norm_before_fc=True),
    "two-layers": Setting({"num_hidden_layers": 2}, served={"num_hidden_layers": 2}),
    "whole-vocabulary": switch(draft_vocab_size=configs.TARGET["vocab_size"]),
    "window": Setting(WINDOW, served=WINDOW),
    "launched": Setting(launch=LAUNCH),
}
TARGETS = {
    "Llama": ("LlamaForCausalLM", 32),
    "Qwen3": ("Qwen3ForCausalLM", 36),
    "Qwen2": ("Qwen2ForCausalLM", 28),
    "DeepseekV3": ("DeepseekV3ForCausalLM", 61),
    "GptOss": ("GptOssForCausalLM", 24),
    "Llama4": ("Llama4ForConditionalGeneration", 48),
    "Qwen3Moe": ("Qwen3MoeForCausalLM", 48),
}
SETTINGS |= {f"on-{name}": Setting(target=target) for name, target in TARGETS.items()}


def request(train: str, serve: str, name: str, *, offset: int, renamed: bool) -> VerifyRequest:
    """A release and its neighbour in one setting.

    Args:
        train: the trainer.
        serve: the server.
        name: the setting.
        offset: what this trainer's ids lie below the boundaries that it captures.
        renamed: whether the draft's first layer has the reference's name in the checkpoint.
    """
    setting = SETTINGS[name]
    layers = setting.target[1] if setting.target else LAYERS
    boundaries = [b + offset for b in (2, layers // 2, layers - 3)]
    trained = configs.train(
        setting.layer,
        eagle_aux_hidden_state_layer_ids=[b - offset for b in boundaries],
        **setting.switches,
    )
    served = configs.serve([b - 1 for b in boundaries], **setting.served)
    target = Target(configs.file("target.json", configs.TARGET))
    if setting.target:
        target = Target(architecture=setting.target[0], layers=setting.target[1])
    return VerifyRequest(
        train,
        serve,
        configs.file("train.json", trained),
        configs.file("serve.json", served),
        target,
        launch=setting.launch,
        renames=(Rename("layers.0", "midlayer"),) if renamed else (),
    )
