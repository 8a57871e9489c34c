"""Dimensions form a ring, and what is decided about them is true of every value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import EVERYDAY, MANY

from checker.graph.dims import (
    Dim,
    Poly,
    at_most,
    dim_mul,
    dim_sum,
    equal,
    evaluate,
    exact_div,
    less,
    same,
    sign,
    symbol,
)  # fmt: skip

S, H = symbol("S"), symbol("H")


def combine(children: st.SearchStrategy[Dim]) -> st.SearchStrategy[Dim]:
    pairs = st.tuples(children, children, st.sampled_from("+-*"))
    return pairs.map(
        lambda p: p[0] + p[1] if p[2] == "+" else p[0] - p[1] if p[2] == "-" else p[0] * p[1]
    )


DIMS = st.recursive(
    st.one_of(st.integers(-9, 9), st.sampled_from([S, H, symbol("V")])), combine, max_leaves=6
)
VALUES = st.fixed_dictionaries({name: st.integers(1, 50) for name in "SHV"})


def check_ring(a: Dim, b: Dim, c: Dim) -> None:
    assert a + b == b + a
    assert a * b == b * a
    assert (a + b) + c == a + (b + c)
    assert (a * b) * c == a * (b * c)
    assert a * (b + c) == a * b + a * c
    assert (a + b) * c == a * c + b * c
    assert a + -a == 0 == -a + a
    assert a - b == a + -b == -(b - a)
    assert a + 0 == a == 0 + a
    assert a * 1 == a == 1 * a
    assert a * 0 == 0 == 0 * a
    assert hash(a + b) == hash(b + a)
    assert (a * b == 0) == (a == 0 or b == 0)


def check_values(a: Dim, b: Dim, values: dict[str, int]) -> None:
    x, y = evaluate(a, values), evaluate(b, values)
    assert evaluate(a + b, values) == x + y
    assert evaluate(a - b, values) == x - y
    assert evaluate(a * b, values) == x * y
    assert evaluate(-a, values) == -x
    assert evaluate(dim_mul([a, b, a]), values) == x * y * x
    assert evaluate(dim_sum([a, b, a]), values) == x + y + x


def check_decisions(a: Dim, b: Dim, values: dict[str, int]) -> None:
    x, y = evaluate(a, values), evaluate(b, values)
    assert equal(a, b) in (None, x == y)
    assert less(a, b) in (None, x < y)
    assert at_most(a, b) in (None, x <= y)
    assert sign(a) in (None, (x > 0) - (x < 0))
    assert same(a, b) <= (x == y)


def check_division(a: Dim, b: Dim, values: dict[str, int]) -> None:
    """What is divided is divided without a rest, for all values; what is a multiple is divided."""
    if b != 0:
        assert exact_div(a * b, b) == a
    quotient = exact_div(a, b)
    if quotient is not None:
        assert quotient * b == a
        x, y = evaluate(a, values), evaluate(b, values)
        if y:
            assert divmod(x, y) == (evaluate(quotient, values), 0)


test_dimensions_form_a_commutative_ring = EVERYDAY(given(DIMS, DIMS, DIMS)(check_ring))
test_arithmetic_is_that_of_the_values = EVERYDAY(given(DIMS, DIMS, VALUES)(check_values))
test_what_is_decided_holds_for_every_value = EVERYDAY(given(DIMS, DIMS, VALUES)(check_decisions))
test_division_is_that_of_the_values = EVERYDAY(given(DIMS, DIMS, VALUES)(check_division))
test_many_dimensions_form_a_commutative_ring = pytest.mark.long(
    MANY(given(DIMS, DIMS, DIMS)(check_ring))
)
test_much_arithmetic_is_that_of_the_values = pytest.mark.long(
    MANY(given(DIMS, DIMS, VALUES)(check_values))
)
test_much_that_is_decided_holds_for_every_value = pytest.mark.long(
    MANY(given(DIMS, DIMS, VALUES)(check_decisions))
)
test_many_divisions_are_those_of_the_values = pytest.mark.long(
    MANY(given(DIMS, DIMS, VALUES)(check_division))
)


def test_a_constant_result_is_an_int() -> None:
    assert S + 1 - S == 1
    assert isinstance(S + 1 - S, int)
    assert isinstance(S + 1, Poly)


def test_symbols_are_at_least_one() -> None:
    assert sign(S) == 1
    assert less(0, S) is True
    assert at_most(1, S) is True
    assert at_most(2, S) is None
    assert less(S - 1, S) is True
    assert equal(S, H) is None
    assert equal(S, 0) is False
    assert same(2 * S, S + S)


def test_folds_over_many() -> None:
    assert dim_mul([]) == 1
    assert dim_mul([2, S, 3]) == 6 * S
    assert dim_sum([1, S, S]) == 2 * S + 1


def test_division_by_what_does_not_divide_is_none() -> None:
    assert exact_div(2 * S + 1, 2) is None
    assert exact_div(S, H) is None
    assert exact_div(7, 0) is None
    assert exact_div(S * S - 1, S - 1) == S + 1


def test_a_dimension_reads_as_written() -> None:
    assert str(2 * S * H - 3) == "2*H*S - 3"
    assert str(-1 * S) == "-S"
    assert str(S * S + 1) == "S^2 + 1"
