"""The YAML blocks of docs/contracts.md, and packaged engines under names of their own."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from checker.data import FIXTURES

PAGE = Path(__file__).parents[2] / "docs" / "contracts.md"
ENGINES = FIXTURES / "engines"

KEYS = {
    "hidden_size": "width",
    "num_attention_heads": "query_heads",
    "num_key_value_heads": "key_heads",
    "head_dim": "head_width",
    "intermediate_size": "inner_width",
    "rms_norm_eps": "epsilon",
    "rope_theta": "turn_base",
    "num_hidden_layers": "depth",
    "draft_vocab_size": "draft_words",
    "vocab_size": "words",
    "eagle_config": "draft_states",
    "eagle_aux_hidden_state_layer_ids": "after_layers",
    "transformer_layer_config": "floor",
}
"""The keys of a configuration, as the engines of these tests call them."""

NAMES = {
    "Draft(": "Apprentice(",
    "import Draft": "import Apprentice",
    "toy_server": "corner",
    "toy_trainer": "tutor",
    "toy-trainer": "tutor",
    "FusedNorm": "PairNorm",
    "Stacked": "Bundle",
    "Slots": "Seats",
    "LlamaForCausalLMEagle3": "CornerDraft",
    "FirstLayer": "Ground",
    "LaterLayer": "Upper",
    "Goal": "Aim",
    "attend": "look",
    "models = ": "drafts = ",
}


def blocks() -> list[str]:
    """The YAML blocks of the page, in order."""
    return re.findall(r"```yaml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


def written(folder: Path) -> list[Path]:
    """Each block as a file."""
    paths = [folder / f"block-{number}.yaml" for number, _ in enumerate(blocks())]
    for path, text in zip(paths, blocks(), strict=True):
        path.write_text(text, "utf-8")
    return paths


def spelled(text: str, *, keys: bool) -> str:
    """A source or description with other names; `keys`: in quotes, those of configurations too."""
    for old, new in NAMES.items():
        text = text.replace(old, new)
    if keys:
        for old, new in KEYS.items():
            text = text.replace(f'"{old}"', f'"{new}"')
    return text


def engine(folder: Path, packaged: str) -> Path:
    """A packaged engine under names of its own; its target's configuration stays as everyone's."""
    name = NAMES[packaged]
    shutil.copytree(ENGINES / packaged / packaged, folder / name / name)
    for path in (folder / name / name).glob("*.py"):
        path.write_text(spelled(path.read_text(), keys=path.name != "target.py"))
    return folder / name


def config(data: dict[str, Any], kind: str) -> dict[str, Any]:
    """A configuration under the engines' keys."""
    found = {
        KEYS.get(key, key): config(value, "") if isinstance(value, dict) else value
        for key, value in data.items()
        if key != "architectures"
    }
    return {**found, "kind": kind} if kind else found
