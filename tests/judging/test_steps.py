"""Sides that give another number of steps are compared as far as they go, and no further."""

from __future__ import annotations

from checker.engines import load_engines
from checker.engines.extraction import Extraction
from checker.graph.builder import Builder
from checker.graph.dims import symbol
from checker.graph.terms import Pool, unknowns
from checker.judging.graphs import _as_many_steps


def test_a_step_that_did_not_come_is_unknown() -> None:
    pool = Pool()
    builder = Builder(pool)
    logits = [builder.input(name, (symbol("S"), 7)) for name in ("first", "next")]
    engine = load_engines()[0]
    one, two = Extraction(engine, logits[:1]), Extraction(engine, logits)
    padded = _as_many_steps(one, two, pool)
    assert padded.logits[0] is logits[0]
    assert padded.logits[1].shape == logits[1].shape
    assert "1 steps came out of" in str(unknowns(padded.logits[1])[0].attr("reason"))
    assert _as_many_steps(two, one, pool) is two
