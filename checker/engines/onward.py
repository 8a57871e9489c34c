"""What a side would compute had it not raised where a checkpoint does not fit.

One tensor that does not fit ends loading, and with it all that could be said of the rest. Yet the
rest is written in the same files: it is read as if the tensors on which loading raises were not in
the checkpoint, which is what other releases make of them, and as if a weight that is too narrow for
what it is given were as wide. What raises is told nevertheless; this is for the other clauses only.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from checker.engines.checkpoint import given_of
from checker.graph.terms import postorder

if TYPE_CHECKING:
    from collections.abc import Callable

    from checker.engines.extraction import Extraction
    from checker.engines.stages import Inputs

_LATER = ("load", "run")
"""The stages behind the building of the model: what cannot be built has no graph."""


def onward(
    found: Extraction, inputs: Inputs, extract: Callable[[Inputs], Extraction]
) -> Extraction | None:
    """A side that raised, as it would be otherwise; None where that cannot be said."""
    failure = found.failure
    if failure is None or failure.stage not in _LATER or found.refused is None:
        return None
    other = replace(inputs, widening=True)
    refused = set(found.refused)
    if failure.stage == _LATER[0]:
        if not refused:
            return None
        left = tuple(item for item in given_of(inputs) if item.name not in refused)
        other = replace(other, given=left)
    made = extract(other)
    if made.failure is not None or not _is_of_one_width(made):
        return None
    made.refused = tuple(
        sorted(item.trained or item.name for item in given_of(inputs) if item.name in refused)
    )
    return made


def _is_of_one_width(made: Extraction) -> bool:
    """Whether at most one weight was widened, and that one everywhere.

    Of several misfits the others would have to be told, too. One that fits elsewhere is used where
    it should not be: that it is too narrow there is not what is wrong.
    """
    if not made.widened:
        return True
    name = made.widened[0].attr("name")
    used = {t for t in postorder(*made.logits) if t.op == "param" and t.attr("name") == name}
    return len(made.widened) == 1 and used <= set(made.widened)
