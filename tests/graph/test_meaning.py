"""Property: whatever is built, the normal form computes what was asked for, and is one."""

from __future__ import annotations

import numpy as np
import pytest
from evaluate import run
from hypothesis import given
from hypothesis import strategies as st
from properties import EVERYDAY, MANY
from random_programs import ENV, Program, sane

from checker.contract.terms import contract_terms
from checker.graph.builder import Builder
from checker.graph.dims import symbol
from checker.graph.terms import Term, postorder
from tests.contract import switches

S = symbol("S")


def check_meaning(data: st.DataObject) -> None:
    """Every value of a random program equals its normal form, run on the same numbers."""
    program = Program(data.draw)
    for _ in range(program.integer(1, 12)):
        program.step()
        term, value = program.values[-1]
        if np.size(value) > 5000 or term.rank > 5:
            break
        if not sane(value):
            program.values.pop()
            continue
        result = np.asarray(run(term, ENV), dtype=float)
        assert result.shape == np.shape(value)
        np.testing.assert_allclose(result, value, rtol=1e-6, atol=1e-7, err_msg=repr(term))


def assert_normal(builder: Builder, *terms: Term) -> None:
    """Built again by a builder that remembers nothing, each term is itself."""
    fresh = Builder(builder.pool)
    for term in postorder(*terms):
        if term.args:
            assert fresh.rebuild(term, term.args) is term, term


def check_idempotence(data: st.DataObject) -> None:
    """The normal form of a normal form is itself, operator by operator."""
    program = Program(data.draw)
    program.grow()
    assert_normal(program.b, *(term for term, _ in program.values))


test_the_normal_form_computes_what_was_asked_for = EVERYDAY(given(st.data())(check_meaning))
test_many_normal_forms_compute_what_was_asked_for = pytest.mark.long(
    MANY(given(st.data())(check_meaning))
)
test_the_normal_form_is_idempotent = EVERYDAY(given(st.data())(check_idempotence))
test_many_normal_forms_are_idempotent = pytest.mark.long(MANY(given(st.data())(check_idempotence)))


@pytest.mark.parametrize("switch", [None, *switches.ON])
def test_the_contract_is_in_normal_form(switch: str | None) -> None:
    changed = {} if switch is None else {switch: switches.ON[switch]}
    builder = Builder()
    found = contract_terms(switches.document(), builder, {**switches.BASE, **changed})
    assert_normal(builder, *found.outputs)


def test_an_expansion_is_built_again_over_another_operand() -> None:
    """Its shape is not among its attributes."""
    b = Builder()
    x, y = b.input("x", (6,)), b.input("y", (6,))
    wide = b.op("expand", x, axes=(None, 0), shape=(S, 6))
    assert b.rebuild(wide, (y,)) is b.op("expand", y, axes=(None, 0), shape=(S, 6))


def test_an_operator_known_by_name_is_built_again_over_another_operand() -> None:
    b = Builder()
    x, y = b.input("x", (6,)), b.input("y", (6,))
    term = b.op("opaque", x, name="scan", shape=(S, 6))
    assert b.rebuild(term, (y,)) is b.op("opaque", y, name="scan", shape=(S, 6))


@pytest.mark.parametrize("sizes", [(1, 2), (2, 1), (1, 2, 1), (1, 1, 2)])
def test_a_merged_axis_of_one_is_split_in_any_way(sizes: tuple[int, ...]) -> None:
    """More axes of one may be wanted than were merged, or elsewhere."""
    b = Builder()
    merged = b.op("flatten", b.input("u", (3, 2, 1)), axis=-1, count=2)
    term = b.op("unflatten", merged, axis=-1, sizes=sizes)
    value = np.arange(6.0).reshape(3, 2, 1)
    np.testing.assert_array_equal(run(term, {"u": value}), value.reshape(3, *sizes))
    assert_normal(b, term)
