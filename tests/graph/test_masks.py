"""Table: mask predicates, and the bands of distances in which they hold."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.graph.builder import Builder
from checker.graph.dims import symbol
from checker.graph.masks import Band
from checker.graph.terms import Term

S = symbol("S")
B = Builder()
Q, K = B.input("mask.q", ()), B.input("mask.k", ())


def n(value: object) -> Term:
    return B.const(value)  # type: ignore[arg-type]


def plus(*terms: Term) -> Term:
    return B.op("add", *terms)


def distance() -> Term:
    return B.op("sub", Q, K)


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        (B.op("ge", Q, K), (0, None)),
        (B.op("le", K, Q), (0, None)),
        (B.op("gt", Q, K), (1, None)),
        (B.op("not_", B.op("gt", K, Q)), (0, None)),
        (B.op("lt", distance(), n(8)), (None, 7)),
        (B.op("gt", K, B.op("sub", Q, n(8))), (None, 7)),
        (B.op("and_", B.op("ge", Q, K), B.op("le", distance(), n(8))), (0, 8)),
        (B.op("eq", Q, K), (0, 0)),
        (B.op("eq", distance(), n(2)), (2, 2)),
        (B.op("or_", B.op("eq", Q, K), B.op("gt", Q, K)), (0, None)),
        (B.op("or_", B.op("eq", Q, K), B.op("gt", distance(), n(1))), None),
        (B.op("or_", B.op("ge", Q, K), n(True)), (None, None)),
        (B.op("and_", B.op("ge", Q, K), n(False)), (1, 0)),
        (B.op("and_", B.op("ge", Q, K), B.op("lt", Q, K)), (1, 0)),
        (B.op("not_", B.op("ge", Q, K)), (None, -1)),
        (B.op("ne", distance(), n(0)), None),
        (B.op("ge", Q, n(3)), None),
        # what all tokens satisfy, or none
        (B.op("ge", K, n(0)), (None, None)),
        (B.op("lt", Q, n(S)), (None, None)),
        (B.op("ge", plus(K, n(S)), n(S)), (None, None)),
        (B.op("ge", K, n(S)), (1, 0)),
        (B.op("lt", distance(), n(S)), (None, None)),
        # keys of a later step lie S, 2 S, ... further on
        (B.op("eq", B.op("mod", plus(K, n(S), B.op("neg", Q)), n(S)), n(0)), (0, 0)),
        (B.op("eq", B.op("mod", plus(K, n(2 * S)), n(S)), Q), (0, 0)),
        (B.op("eq", B.op("floordiv", plus(K, n(S)), n(S)), n(1)), (None, None)),
        (B.op("eq", B.op("floordiv", plus(K, n(S)), n(S)), n(0)), (1, 0)),
        (B.op("ge", plus(K, n(S)), Q), (None, None)),
        (B.op("where", B.op("lt", K, n(S)), B.op("ge", Q, K), n(False)), (0, None)),
        (B.op("eq", B.op("mod", Q, n(2)), n(0)), None),
        (B.op("ge", B.op("mul", n(2), distance()), n(3)), (2, None)),
        (B.op("eq", B.op("mul", n(2), distance()), n(3)), (1, 0)),
        (B.unknown("no source", ()), None),
        (B.op("and_", B.unknown("no source", ()), B.op("ge", Q, K)), None),
    ],
)
def test_a_predicate_is_the_band_in_which_it_holds(predicate: Term, expected: Band | None) -> None:
    assert B.band(predicate) == expected


def holds(term: Term, q: int, k: int) -> int:
    args = [holds(arg, q, k) for arg in term.args]
    match term.op:
        case "input":
            return q if term.attr("name") == "mask.q" else k
        case "const":
            return int(str(term.attr("value") + 0))  # type: ignore[operator]
        case "add":
            return sum(args)
        case "mul":
            return args[0] * args[1]
        case "ge" | "gt" | "le" | "lt" | "eq" | "ne":
            return {
                "ge": args[0] >= args[1],
                "gt": args[0] > args[1],
                "le": args[0] <= args[1],
                "lt": args[0] < args[1],
                "eq": args[0] == args[1],
                "ne": args[0] != args[1],
            }[term.op]
        case "and_":
            return all(args)
        case "or_":
            return any(args)
        case "not_":
            return not args[0]
        case "mod":
            return args[0] % args[1]
        case "floordiv":
            return args[0] // args[1]
    raise AssertionError(term.op)


SIZE = 7
INDEX = st.recursive(
    st.one_of(st.sampled_from([Q, K]), st.integers(-9, 9).map(n)),
    lambda children: st.one_of(
        st.tuples(children, children).map(lambda p: plus(*p)),
        st.tuples(children, children).map(lambda p: B.op("sub", *p)),
        children.map(lambda x: B.op("mod", x, n(SIZE))),
        children.map(lambda x: B.op("floordiv", x, n(SIZE))),
    ),
    max_leaves=4,
)
COMPARISON = st.tuples(st.sampled_from(["ge", "gt", "le", "lt", "eq", "ne"]), INDEX, INDEX).map(
    lambda p: B.op(*p)
)
PREDICATE = st.recursive(
    COMPARISON,
    lambda children: st.one_of(
        children.map(lambda x: B.op("not_", x)),
        st.tuples(st.sampled_from(["and_", "or_"]), children, children).map(lambda p: B.op(*p)),
    ),
    max_leaves=4,
)


@given(PREDICATE)
def test_a_band_holds_exactly_where_the_predicate_does(predicate: Term) -> None:
    band = B.band(predicate, SIZE)
    if band is None:
        return
    low, high = band
    for q, k in itertools.product(range(SIZE), repeat=2):
        inside = (low is None or q - k >= low) and (high is None or q - k <= high)
        assert inside == bool(holds(predicate, q, k))
