"""Sums and products with numbers folded, and like operands collected."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from checker.graph.dims import Poly, at_most, equal, less
from checker.graph.rules import Number, Rules, value_of
from checker.graph.terms import Term, canonical, summands

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Exponent: TypeAlias = int | float
_LARGEST_FOLD: Final = 1e300


def _less(a: Number, b: Number) -> bool | None:
    if isinstance(a, float) or isinstance(b, float):
        return None if isinstance(a, Poly) or isinstance(b, Poly) else a < b
    return less(a, b)


def _at_most(a: Number, b: Number) -> bool | None:
    if isinstance(a, float) or isinstance(b, float):
        return None if isinstance(a, Poly) or isinstance(b, Poly) else a <= b
    return at_most(a, b)


def _equal(a: Number, b: Number) -> bool | None:
    if isinstance(a, float) or isinstance(b, float):
        return None if isinstance(a, Poly) or isinstance(b, Poly) else a == b
    return equal(a, b)


def _negated(value: bool | None) -> bool | None:
    return None if value is None else not value


def _whole(function: Callable[[int, int], int]) -> Callable[[Number, Number], Number | None]:
    def fold(a: Number, b: Number) -> Number | None:
        return function(a, b) if isinstance(a, int) and isinstance(b, int) and b else None

    return fold


OPERATORS: Final[dict[str, Callable[..., Number | None]]] = {
    "lt": _less,
    "le": _at_most,
    "gt": lambda a, b: _less(b, a),
    "ge": lambda a, b: _at_most(b, a),
    "eq": _equal,
    "ne": lambda a, b: _negated(_equal(a, b)),
    "and_": lambda a, b: a and b if isinstance(a, bool) and isinstance(b, bool) else None,
    "or_": lambda a, b: a or b if isinstance(a, bool) and isinstance(b, bool) else None,
    "mod": _whole(operator.mod),
    "floordiv": _whole(operator.floordiv),
    "maximum": lambda a, b: None if isinstance(a, Poly) or isinstance(b, Poly) else max(a, b),
    "minimum": lambda a, b: None if isinstance(a, Poly) or isinstance(b, Poly) else min(a, b),
    "power": lambda a, b: raised(a, b) if isinstance(b, (int, float)) else None,
}


def plus(a: Number, b: Number) -> Number | None:
    """The sum as Python has it; None where it has none."""
    if isinstance(a, Poly) or isinstance(b, Poly):
        return None if isinstance(a, float) or isinstance(b, float) else a + b
    return _number(a + b)


def times(a: Number, b: Number) -> Number | None:
    """The product as Python has it; None where it has none."""
    if isinstance(a, Poly) or isinstance(b, Poly):
        return None if isinstance(a, float) or isinstance(b, float) else a * b
    return _number(a * b)


def raised(base: Number, exponent: Exponent) -> Number | None:
    """The power as Python has it; None where it has none, or a number too large to be meant."""
    if isinstance(base, Poly):
        return base if exponent == 1 else None
    try:
        if abs(exponent) > 64 and abs(float(base)) ** abs(exponent) > _LARGEST_FOLD:
            return None
        result = base**exponent
    except (ArithmeticError, ValueError):
        return None
    return _number(result) if isinstance(result, (int, float)) else None


def _number(value: float) -> Number:
    rounded = canonical(value)
    return rounded if isinstance(rounded, (int, float)) else value


@dataclass(frozen=True, slots=True)
class Factors:
    """A product: a number times distinct bases, each to a power."""

    constant: Number
    powers: tuple[tuple[Term, Exponent], ...]


def split_power(term: Term) -> tuple[Term, Exponent]:
    """The base and exponent of a factor."""
    exponent = term.attr("exponent") if term.op == "pow" else None
    return (term.args[0], exponent) if isinstance(exponent, (int, float)) else (term, 1)


def fold_product(args: Iterable[Term]) -> Factors:
    """A flat product.

    Whole powers of one sign of the same base are added up, no others: `x * x**-1` is not 1 at
    zero, and `x**0.5 * x**0.5` is not x below it.
    """
    constant: Number = 1
    kept: list[tuple[Term, Exponent]] = []
    for arg in _flat("mul", args):
        value = value_of(arg)
        folded = None if value is None else times(constant, value)
        if folded is not None:
            constant = folded
            continue
        base, exponent = split_power(arg)
        for i, (other, power) in enumerate(kept):
            if other is base and _whole_alike(power, exponent):
                kept[i] = (base, power + exponent)
                break
        else:
            kept.append((base, exponent))
    return Factors(constant, tuple(kept))


def fold_sum(b: Rules, args: Iterable[Term]) -> tuple[Number, list[tuple[Term, Number]]]:
    """A flat sum: its number, and each distinct summand with how often it occurs."""
    constant: Number = 0
    counts: dict[Term, tuple[Term, Number]] = {}
    loose: list[tuple[Term, Number]] = []
    for arg in _flat("add", args):
        value = value_of(arg)
        folded = None if value is None else plus(constant, value)
        if folded is not None:
            constant = folded
            continue
        factor, rest = scaled(arg)
        term = rest[0] if len(rest) == 1 else b.make("mul", rest, arg.shape)
        seen = counts.get(term)
        total = factor if seen is None else plus(seen[1], factor)
        if total is None:
            loose.append((term, factor))
        else:
            counts[term] = (term, total)
    summands = [pair for pair in counts.values() if isinstance(pair[1], Poly) or pair[1] != 0]
    return constant, summands + loose


def scaled(term: Term) -> tuple[Number, tuple[Term, ...]]:
    """The number in a product, and its other operands."""
    if term.op != "mul":
        return 1, (term,)
    for arg in term.args:
        value = value_of(arg)
        if value is not None:
            return value, tuple(other for other in term.args if other is not arg)
    return 1, term.args


def spread(b: Rules, factor: Number, term: Term) -> Term:
    """A summand times how often it occurs."""
    if not isinstance(factor, Poly) and factor == 1:
        return term
    return b.op("mul", b.const(factor), term)


def power_of(b: Rules, base: Term, exponent: Exponent) -> Term:
    """A factor as a term."""
    return base if exponent == 1 else b.op("pow", base, exponent=exponent)


def _flat(op: str, args: Iterable[Term]) -> Iterable[Term]:
    for arg in args:
        if arg.op == op:
            yield from summands(arg)
        else:
            yield arg


def _whole_alike(a: Exponent, b: Exponent) -> bool:
    return isinstance(a, int) and isinstance(b, int) and (a > 0) == (b > 0)
