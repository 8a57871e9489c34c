"""Property: there is a difference exactly where graphs are not the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from evaluate import apply, run
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from properties import EVERYDAY, MANY
from random_programs import ENV, Program, sane
from test_difference import MUTATIONS, build

from checker.graph.builder import Builder
from checker.graph.difference import difference
from checker.graph.labels import Labels
from checker.graph.terms import Pool, Term, postorder

VALUES: dict[str, list[Any]] = {
    "num_hidden_layers": [1, 2, 3],
    "rms_norm_eps": [1e-6, 1e-5],
    "rope_base": [10000, 500000],
    "sliding_window": [None, 7, 8],
    "num_key_value_heads": [2, 4],
    "activation": ["silu", "gelu"],
    **{
        name: [False, True]
        for name in ("attention_bias", "mlp_bias", "qk_norm", "norm_before_residual", "norm_output")
    },
}  # fmt: skip
SWITCHES = st.fixed_dictionaries({name: st.sampled_from(v) for name, v in VALUES.items()})
NARROW = {"aux_count": 1, "target_hidden_size": 64}
"""Widths with which every edited wire still fits."""


def check_contract(data: st.DataObject) -> None:
    """Random switches; of the other graph a few switches and wires are changed, or none."""
    pool = Pool()
    before = {**data.draw(SWITCHES), **NARROW}
    names = st.lists(st.sampled_from(sorted(VALUES)), max_size=2, unique=True)
    changed = {n: data.draw(st.sampled_from(VALUES[n])) for n in data.draw(names)}
    wires: dict[str, Any] = {}
    for name in data.draw(st.lists(st.sampled_from(sorted(MUTATIONS)), max_size=2)):
        wires |= MUTATIONS[name][0]
    train, serve = build(pool, None, before), build(pool, wires, {**before, **changed})
    same = all(a is c for a, c in zip(train.outputs, serve.outputs, strict=True))
    if changed.items() <= before.items() and not wires:
        assert same
    found = difference(train.outputs, serve.outputs, train.labels)
    assert bool(found.edits) == (not same)
    back = difference(serve.outputs, train.outputs, serve.labels)
    assert bool(back.edits) == (not same)


def with_values(root: Term, known: dict[Term, Any]) -> Any:
    """The value of a term when some of its subterms have these values."""
    values = dict(known)
    for t in postorder(root):
        if t in values:
            continue
        if t.args:
            attrs = {**dict(t.attrs), "shape": t.shape}
            values[t] = apply(t.op, [values[arg] for arg in t.args], attrs)
        else:
            values[t] = run(t, ENV)
    return values[root]


def check_edited(data: st.DataObject) -> None:
    """In a random graph, one subterm gives way to another of its shape.

    The edited graph computes what it should, and is told from the first if the numbers differ.
    """
    program = Program(data.draw)
    program.grow(8)
    root, _ = program.values[-1]
    inner = data.draw(st.sampled_from(postorder(root)))
    others = [t for t, _ in program.values if t.shape == inner.shape]
    assume(others)
    other = data.draw(st.sampled_from(others))
    builder = Builder(program.b.pool)
    done: dict[Term, Term] = {inner: other}
    for t in postorder(root):
        if t not in done:
            done[t] = builder.rebuild(t, tuple(done[a] for a in t.args)) if t.args else t
    edited = done[root]
    with np.errstate(all="ignore"):
        wanted = np.asarray(with_values(root, {inner: run(other, ENV)}), dtype=float)
    assume(sane(wanted))
    np.testing.assert_allclose(run(edited, ENV), wanted, rtol=1e-6, atol=1e-7)
    found = difference([root], [edited], Labels())
    assert bool(found.edits) == (edited is not root)
    assert bool(difference([edited], [root], Labels()).edits) == (edited is not root)
    if not np.allclose(run(root, ENV), wanted, rtol=1e-5, atol=1e-6):
        assert found.edits


# A comparison of two contract graphs takes a third of a second.
test_contract_graphs_differ_exactly_if_there_is_an_edit = settings(EVERYDAY, max_examples=8)(
    given(st.data())(check_contract)
)
test_many_contract_graphs_differ_exactly_if_there_is_an_edit = pytest.mark.long(
    settings(MANY, max_examples=400)(given(st.data())(check_contract))
)
test_edited_graphs_differ_exactly_if_there_is_an_edit = EVERYDAY(given(st.data())(check_edited))
test_many_edited_graphs_differ_exactly_if_there_is_an_edit = pytest.mark.long(
    MANY(given(st.data())(check_edited))
)


def test_two_unknown_values_are_never_the_same() -> None:
    b = Builder()
    first, second = (b.unknown("the same reason", (6,)) for _ in range(2))
    assert difference([first], [second], Labels()).edits
    assert difference([b.op("neg", first)], [b.op("neg", second)], Labels()).edits
