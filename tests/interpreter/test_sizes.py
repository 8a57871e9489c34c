"""Property: what is said of symbolic sizes is what Python says of the numbers they stand for."""

from __future__ import annotations

import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.graph.dims import Dim, evaluate, symbol
from checker.interpreter.sizes import arithmetic, decide
from tests.graph.properties import EVERYDAY, MANY

SYMBOLS = st.sampled_from([symbol("S"), symbol("H")])
SIZES = st.recursive(
    st.one_of(st.integers(-6, 6), SYMBOLS),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda p: p[0] + p[1]),
        st.tuples(inner, inner).map(lambda p: p[0] * p[1]),
    ),
    max_leaves=5,
)
VALUES = st.fixed_dictionaries({name: st.integers(1, 30) for name in "SH"})
ARITHMETIC = ("add", "sub", "mul", "floordiv", "mod")
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def check_sizes(left: Dim, right: Dim, values: dict[str, int]) -> None:
    x, y = evaluate(left, values), evaluate(right, values)
    for name in ARITHMETIC:
        if name in ("floordiv", "mod") and y == 0:
            continue  # Python raises
        result = arithmetic(name, left, right)
        assert result is None or evaluate(result, values) == getattr(operator, name)(x, y)
    for name in COMPARISONS:
        assert decide(name, left, right) in (None, getattr(operator, name)(x, y))


test_sizes_are_what_python_says_of_numbers = EVERYDAY(given(SIZES, SIZES, VALUES)(check_sizes))
test_many_sizes_are_what_python_says_of_numbers = pytest.mark.long(
    MANY(given(SIZES, SIZES, VALUES)(check_sizes))
)


def test_multiples_are_divided() -> None:
    size = symbol("S") * 6
    assert arithmetic("floordiv", size, 3) == symbol("S") * 2
    assert arithmetic("mod", size, 3) == 0
    assert arithmetic("floordiv", size, 4) is None
    assert arithmetic("mod", size, 4) is None
