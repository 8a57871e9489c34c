"""Sums of many operands: one form each, whatever their order, and the same cost for each more."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from checker.contract.terms import contract_terms
from checker.graph.builder import Builder
from checker.graph.difference import difference
from checker.graph.dims import symbol
from checker.graph.elementwise import LONGEST
from checker.graph.matching import Kind
from checker.graph.terms import Pool, Term, postorder, summands
from tests.graph.evaluate import SIZES, run
from tests.graph.test_difference import SWITCHES, WIRES

S = symbol("S")


def stream(b: Builder, count: int, factors: dict[int, float] | None = None) -> tuple[Term, ...]:
    """What a residual network adds up: each operand is a function of the sum before it."""
    total = b.input("x", (S, 4))
    operands = [total]
    for i in range(count):
        more = b.op("silu", b.op("rms_norm", total, eps=1e-6))
        if i in (factors or {}):
            more = b.op("mul", b.const((factors or {})[i]), more)
        operands.append(more)
        total = b.op("add", total, more)
    return (total, *operands)


@pytest.mark.parametrize("count", [LONGEST - 2, LONGEST - 1, LONGEST, LONGEST + 1, 3 * LONGEST])
def test_a_long_sum_is_one_term_in_any_order(count: int) -> None:
    b = Builder()
    total, *operands = stream(b, count)
    shuffled = random.Random(count)
    for _ in range(5):
        shuffled.shuffle(operands)
        at = shuffled.randrange(1, len(operands))
        assert b.op("add", *operands) is total
        assert b.op("add", b.op("add", *operands[:at]), b.op("add", *operands[at:])) is total


@pytest.mark.parametrize("count", [LONGEST + 1, 2 * LONGEST + 3])
def test_what_is_in_a_long_sum_is_found_there(count: int) -> None:
    b = Builder()
    total, first, *rest = stream(b, count)
    twice = b.op("add", total, rest[4])
    assert twice is b.op("add", first, *rest, rest[4])
    assert b.op("mul", b.const(2), rest[4]) in summands(twice)
    assert b.op("sub", twice, rest[4]) is total
    without = b.op("sub", total, first)
    assert first not in summands(without)
    assert without is b.op("add", *rest)
    assert b.op("sub", total, total) is b.full(0, (S, 4))
    doubled = b.op("mul", total, b.const(2))
    assert doubled is b.op("add", total, total)
    assert b.op("add", total, b.const(3)) is b.op("add", b.const(1), *rest, first, b.const(2))


def test_multiples_are_not_mistaken_for_the_next_operand() -> None:
    b = Builder()
    total, *operands = stream(b, LONGEST + 4)
    last = operands[-1]
    more = b.op("add", total, b.op("mul", b.const(3), last))
    assert more is b.op("add", *operands, last, last, last)
    assert b.op("mul", b.const(4), last) in summands(more)


@pytest.mark.parametrize("count", [LONGEST + 6, 2 * LONGEST])
def test_rewrites_reach_every_operand(count: int) -> None:
    b = Builder()
    total, *operands = stream(b, count, {3: 0.5, count - 1: -2.0})
    cut = b.op("slice", total, axis=-2, start=1, stop=3)
    assert cut is b.op("add", *(b.op("slice", t, axis=-2, start=1, stop=3) for t in operands))
    chosen = b.op("select", total, axis=-2, index=2)
    assert chosen is b.op("add", *(b.op("select", t, axis=-2, index=2) for t in operands))
    halves = [b.op("slice", total, axis=-2, start=a, stop=z) for a, z in ((0, 2), (2, S))]
    assert b.op("concat", *halves, axis=-2) is total


@pytest.mark.parametrize("count", [LONGEST + 2, 2 * LONGEST])
def test_a_long_sum_keeps_its_value(count: int) -> None:
    b = Builder()
    total, *_ = stream(b, count, {2: 0.25, 7: -1.0})
    x = np.random.default_rng(count).normal(size=(SIZES["S"], 4))
    want = x
    for i in range(count):
        normed = want / np.sqrt(np.mean(want**2, axis=-1, keepdims=True) + 1e-6)
        want = want + {2: 0.25, 7: -1.0}.get(i, 1) * normed / (1 + np.exp(-normed))
    np.testing.assert_allclose(run(total, {"x": x}), want, rtol=1e-6)


def test_one_operand_more_costs_the_same_however_many_there_are() -> None:
    def edges(count: int) -> int:
        return sum(len(term.args) for term in postorder(stream(Builder(), count)[0]))

    per_operand = [(edges(2 * n) - edges(n)) / n for n in (2 * LONGEST, 8 * LONGEST)]
    assert per_operand[0] == per_operand[1]


def _contract(pool: Pool, layers: int, **switches: Any) -> Any:
    document = yaml.safe_load(Path(WIRES).read_text(encoding="utf-8"))
    values = {**SWITCHES, "num_hidden_layers": layers, **switches}
    return contract_terms(document, Builder(pool), values, steps=3)


@pytest.mark.parametrize("layers", [2, 12, 40])
@pytest.mark.parametrize(
    ("switches", "wires"),
    [
        ({"norm_before_residual": True}, {"residual"}),
        ({"norm_output": True}, {"feedback"}),
        ({"norm_before_fc": False}, {"fc-input"}),
    ],
)
def test_deep_drafts_differ_where_shallow_ones_do(
    layers: int, switches: dict[str, Any], wires: set[str]
) -> None:
    pool = Pool()
    train, serve = _contract(pool, layers), _contract(pool, layers, **switches)
    found = difference(train.outputs, serve.outputs, train.labels)
    assert not found.exhausted
    assert {edit.wire for edit in found.edits if edit.kind is not Kind.ATTRIBUTE} == wires
