"""Tensors of the target's that a draft has too: one name for what is one tensor."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from checker.graph.builder import Builder
from checker.graph.terms import postorder
from checker.judging.unloaded import substituted

if TYPE_CHECKING:
    from checker.engines import Extraction
    from checker.graph.terms import Pool


def shared(side: Extraction, train: Extraction, pool: Pool) -> Extraction:
    """A side with one name for tensors that are the same one, the target's.

    Training takes them from there and keeps them as they are, unless it went on with a draft that
    had others: that it did not is assumed where it matters.
    """
    if not train.taken:
        return side
    builder = Builder(pool)
    table = {}
    for term in postorder(*side.logits):
        name = train.taken.get(str(term.attr("name"))) if term.op == "param" else None
        if name is not None:
            loaded = term.attr("loaded", True) is not False
            table[term] = builder.param(name, term.shape, loaded)
    if all(term is other for term, other in table.items()):
        return side
    names = ", ".join(sorted({str(term.attr("name")) for term in table.values()}))
    assumed = f"training began with the target's own {names}, which it keeps as it is"
    return replace(
        side,
        logits=substituted(builder, side.logits, table, side.origins),
        feedback=substituted(builder, side.feedback, table, side.origins),
        assumptions=[*side.assumptions, assumed],
    )
