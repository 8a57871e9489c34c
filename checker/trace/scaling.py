"""Rotary frequencies stretched to longer contexts, as their papers have them."""

from __future__ import annotations

import math
from typing import Any

import torch


def scaled(inverse: Any, scaling: Any) -> Any:
    """Inverse frequencies after scaling (none: as they are).

    Args:
        inverse: unscaled inverse frequencies.
        scaling: a mapping with `rope_type`, or its items.

    Raises:
        LookupError: a kind that has no reference here.
    """
    if not scaling:
        return inverse
    given = dict(scaling)
    if "attention_factor" in given:
        raise LookupError("no reference for a part of a head that is multiplied")
    match given["rope_type"]:
        case "linear":
            return inverse / given["factor"]
        case "llama3":
            return _llama3(inverse, given)
        case kind:
            raise LookupError(f"no reference for rotary scaling of kind {kind}")


def _llama3(inverse: Any, given: dict[str, Any]) -> Any:
    """Long waves are stretched, short ones kept, those between are blended."""
    context = given["original_max_position_embeddings"]
    low, high = given["low_freq_factor"], given["high_freq_factor"]
    waves = context * inverse / (2 * math.pi)  # how many fit into the original context
    share = ((waves - low) / (high - low)).clamp(0, 1)
    blended = (1 - share) * inverse / given["factor"] + share * inverse
    return torch.where(waves < low, inverse / given["factor"], blended)
