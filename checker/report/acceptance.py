"""An expected acceptance length in words and as JSON."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from checker.acceptance import OTHER_TEXTS, Reading

if TYPE_CHECKING:
    from checker.acceptance import Expectation

_READINGS = {
    Reading.EXPECTED: "explained: nothing says that the draft is served as another function.",
    Reading.FIRST_STEP_ONLY: (
        "not explained: this is what comes out when only the first proposal is any good. Look at"
        " what later steps read: positions, feedback, fc-condition, attention-mask."
    ),
    Reading.NOTHING_ACCEPTED: (
        "not explained: next to no proposal is accepted. Look at what the first step reads:"
        " aux-boundaries, fc-condition, concat-order, weights-loaded, vocabulary, launch."
    ),
    Reading.JOINT: (
        "not explained as accuracies given that all earlier steps are right; it is what comes out"
        " when each of them already counts the earlier steps. Look at the clause metrics."
    ),
    Reading.LESS: "not explained: the server accepts less. Compare the two sides with verify.",
    Reading.MORE: (
        "not explained: more is accepted than a chain of these accuracies gives. Trees of drafts"
        " (a top-k above one) give more; so do other texts."
    ),
}


def render(found: Expectation) -> str:
    """Lines for people."""
    lines = ["step   accuracy   adds"]
    for step, (accuracy, gain) in enumerate(zip(found.accuracies, found.gains, strict=True), 1):
        lines.append(f"{step:>4}   {accuracy:>8.4g}   {gain:.4f}")
    lines.append(f"expected acceptance length {found.length:.2f} tokens per verification")
    lines.append("  of a chain (top-k 1), one token being the target's own; each accuracy is taken")
    lines.append("  as that of its step where all earlier steps are right")
    if found.measured is not None and found.reading is not None:
        lines.append(
            f"measured {found.measured:.2f}, tolerance {found.tolerance:.2f}:"
            f" {found.rounding:.2f} for digits left out of the accuracies,"
            f" {OTHER_TEXTS:.0%} for other texts"
        )
        lines += textwrap.wrap(_READINGS[found.reading], 92)
    return "\n".join(lines) + "\n"


def to_json(found: Expectation) -> dict[str, Any]:
    """The same for machines."""
    given = found.measured is not None
    return {
        "schema": 1,
        "step_accuracy": list(found.accuracies),
        "gains": [round(gain, 6) for gain in found.gains],
        "expected": round(found.length, 6),
        "measured": found.measured,
        "tolerance": round(found.tolerance, 6) if given else None,
        "explained": found.explained,
        "reading": found.reading.value if found.reading is not None else None,
    }
