"""What a rewrite is, and where those of all topics are kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.editing import Edit

DRAFT = "sglang/srt/models/llama_eagle3.py"
LLAMA = "sglang/srt/models/llama.py"
OLD, NEW = "0.5.9", "0.5.23"
LAYER, LAYER_INIT = "LlamaDecoderLayer.forward", "LlamaDecoderLayer.__init__"
MODEL, MODEL_INIT = "LlamaModel.forward", "LlamaModel.__init__"
ATTENTION = "LlamaAttention.forward_prepare_native"
HEAD, LOAD = "LlamaForCausalLMEagle3", "LlamaForCausalLMEagle3.load_weights"


@dataclass(frozen=True)
class Rewrite:
    """An edit that leaves what one side computes as it is.

    `versions`: the server releases it is tried with; an edited trainer is paired with them.
    `switches` are on, on both sides.
    """

    edit: Edit
    file: str = DRAFT
    side: str = "serve"
    versions: tuple[str, ...] = (OLD, NEW)
    switches: dict[str, Any] = field(default_factory=dict)


REWRITES: dict[str, Rewrite] = {}


def rewrite(**options: Any) -> Callable[[Edit], Edit]:
    """Enters an edit under its name."""

    def register(edit: Edit) -> Edit:
        assert edit.__name__ not in REWRITES, edit.__name__
        REWRITES[edit.__name__] = Rewrite(edit, **options)
        return edit

    return register
