"""Dimensions form a ring, and what is decided about them is true of every value."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

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


@given(DIMS, DIMS, DIMS)
def test_addition_and_multiplication_form_a_commutative_ring(a: Dim, b: Dim, c: Dim) -> None:
    assert a + b == b + a
    assert a * b == b * a
    assert (a + b) + c == a + (b + c)
    assert (a * b) * c == a * (b * c)
    assert a * (b + c) == a * b + a * c
    assert a - a == 0
    assert a + 0 == a == a * 1
    assert a * 0 == 0


@given(DIMS, DIMS, VALUES)
def test_arithmetic_is_that_of_the_values(a: Dim, b: Dim, values: dict[str, int]) -> None:
    assert evaluate(a + b, values) == evaluate(a, values) + evaluate(b, values)
    assert evaluate(a - b, values) == evaluate(a, values) - evaluate(b, values)
    assert evaluate(a * b, values) == evaluate(a, values) * evaluate(b, values)


@given(DIMS, DIMS, VALUES)
def test_what_is_decided_holds_for_every_value(a: Dim, b: Dim, values: dict[str, int]) -> None:
    x, y = evaluate(a, values), evaluate(b, values)
    assert equal(a, b) in (None, x == y)
    assert less(a, b) in (None, x < y)
    assert at_most(a, b) in (None, x <= y)
    assert sign(a) in (None, (x > 0) - (x < 0))


@given(DIMS, DIMS)
def test_division_undoes_multiplication(a: Dim, b: Dim) -> None:
    if b != 0:
        assert exact_div(a * b, b) == a


@given(DIMS, DIMS)
def test_a_quotient_times_the_divisor_is_the_dividend(a: Dim, b: Dim) -> None:
    quotient = exact_div(a, b)
    assert quotient is None or quotient * b == a


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
