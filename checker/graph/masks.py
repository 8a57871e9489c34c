"""Mask predicates as bands: for which distances between query and key a predicate holds.

A predicate is a term over the scalar inputs `mask.q` and `mask.k`, both known to lie in
`0 .. size - 1`. Whatever does not come out as one band for all sizes is no band (None).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from checker.graph.dims import Dim, Poly, at_most, dim_sum, exact_div, less
from checker.graph.rules import value_of

if TYPE_CHECKING:
    from checker.graph.terms import Term

Band = tuple["int | None", "int | None"]
ALWAYS: Final[Band] = (None, None)
NEVER: Final[Band] = (1, 0)
_SWAPPED: Final = {"le": "ge", "lt": "gt", "ge": "le", "gt": "lt", "eq": "eq", "ne": "ne"}
_OPPOSITE: Final = {"le": "gt", "lt": "ge", "ge": "lt", "gt": "le", "eq": "ne", "ne": "eq"}


@dataclass(frozen=True, slots=True)
class _Linear:
    """`q * query + k * key + constant`."""

    q: int
    k: int
    constant: Dim

    def scaled(self, factor: int) -> _Linear:
        return _Linear(self.q * factor, self.k * factor, self.constant * factor)

    def plus(self, other: _Linear) -> _Linear:
        return _Linear(self.q + other.q, self.k + other.k, self.constant + other.constant)

    def least(self, size: Dim) -> Dim:
        """The smallest value over all queries and keys."""
        if self.q == -self.k:
            return self.constant - (size - 1) * abs(self.q)
        return dim_sum((self.constant, (size - 1) * (min(self.q, 0) + min(self.k, 0))))

    def greatest(self, size: Dim) -> Dim:
        """The largest value over all queries and keys."""
        return self.scaled(-1).least(size) * -1


def band(term: Term, size: Dim) -> Band | None:
    """The distances (query minus key) at which the predicate holds, as (least, greatest)."""
    value = value_of(term)
    if isinstance(value, bool):
        return ALWAYS if value else NEVER
    if term.op == "full" and isinstance(term.attr("value"), bool):
        return ALWAYS if term.attr("value") else NEVER
    match term.op:
        case "and_":
            bands = [band(arg, size) for arg in term.args]
            if NEVER in bands:
                return NEVER
            return None if None in bands else _meet(*(b for b in bands if b is not None))
        case "or_":
            bands = [band(arg, size) for arg in term.args]
            if ALWAYS in bands:
                return ALWAYS
            return None if None in bands else _union(*(b for b in bands if b is not None))
        case "not_":
            return _complement(term.args[0], size)
        case "where":
            return _where(term, size)
        case "le" | "lt" | "ge" | "gt" | "eq" | "ne":
            return _compare(term.op, term.args[0], term.args[1], size)
    return None


def _where(term: Term, size: Dim) -> Band | None:
    guard = band(term.args[0], size)
    if guard in (ALWAYS, NEVER):
        return band(term.args[1 if guard == ALWAYS else 2], size)
    return None


def _complement(term: Term, size: Dim) -> Band | None:
    if term.op == "not_":
        return band(term.args[0], size)
    if term.op in _OPPOSITE:
        return _compare(_OPPOSITE[term.op], term.args[0], term.args[1], size)
    found = band(term, size)
    if found is None:
        return None
    low, high = found
    if found == NEVER:
        return ALWAYS
    if low is None:
        return NEVER if high is None else (high + 1, None)
    return (None, low - 1) if high is None else None


def _compare(op: str, left: Term, right: Term, size: Dim) -> Band | None:
    a, c = _linear(left, size), _linear(right, size)
    if a is None or c is None:
        return _congruent(left, right, size) if op == "eq" else None
    return _sign(op, a.plus(c.scaled(-1)), size)


def _congruent(left: Term, right: Term, size: Dim) -> Band | None:
    """`x mod n == 0`, where only one multiple of n is within reach of x."""
    for term, zero in ((left, right), (right, left)):
        if term.op != "mod" or value_of(zero) != 0:
            continue
        x, n = _linear(term.args[0], size), value_of(term.args[1])
        if x is None or not isinstance(n, (int, Poly)):
            return None
        for quotient in _quotients(x.constant, n):
            rest = x.plus(_Linear(0, 0, n * quotient * -1))
            if less(rest.greatest(size), n) and less(n * -1, rest.least(size)):
                return _sign("eq", rest, size)
    return None


def _sign(op: str, x: _Linear, size: Dim) -> Band | None:
    """Where `x op 0` holds."""
    low, high = x.least(size), x.greatest(size)
    decided = _decide(op, low, high)
    if decided is not None:
        return ALWAYS if decided else NEVER
    if x.q != -x.k or x.q == 0 or not isinstance(x.constant, int):
        return None
    constant, factor = x.constant, x.q
    if factor < 0:
        op, constant, factor = _SWAPPED[op], -constant, -factor
    bound, exact = -constant // factor, constant % factor == 0
    match op:
        case "ge":
            return (-(constant // factor), None)
        case "gt":
            return (bound + 1, None)
        case "le":
            return (None, bound)
        case "lt":
            return (None, -(constant // factor) - 1)
        case "eq":
            return (bound, bound) if exact else NEVER
    return None if exact else ALWAYS


def _decide(op: str, low: Dim, high: Dim) -> bool | None:
    """Whether `x op 0` holds for all x from low to high, or for none."""
    match op:
        case "ge":
            return True if at_most(0, low) else False if less(high, 0) else None
        case "gt":
            return True if less(0, low) else False if at_most(high, 0) else None
        case "le":
            return True if at_most(high, 0) else False if less(0, low) else None
        case "lt":
            return True if less(high, 0) else False if at_most(0, low) else None
    if low == 0 == high:
        return op == "eq"
    outside = less(0, low) or less(high, 0)
    if outside:
        return op == "ne"
    return None


def _linear(term: Term, size: Dim) -> _Linear | None:
    value = value_of(term)
    if isinstance(value, (int, Poly)) and not isinstance(value, bool):
        return _Linear(0, 0, value)
    match term.op:
        case "input":
            name = term.attr("name")
            return (
                _Linear(1, 0, 0)
                if name == "mask.q"
                else _Linear(0, 1, 0)
                if (name == "mask.k")
                else None
            )
        case "add":
            total = _Linear(0, 0, 0)
            for arg in term.args:
                part = _linear(arg, size)
                if part is None:
                    return None
                total = total.plus(part)
            return total
        case "mul" if len(term.args) == 2:
            for factor, other in (term.args, term.args[::-1]):
                number, below = value_of(factor), _linear(other, size)
                if isinstance(number, int) and below is not None:
                    return below.scaled(number)
            return None
        case "mod" | "floordiv":
            return _divided(term, size)
    return None


def _divided(term: Term, size: Dim) -> _Linear | None:
    """`x mod n` or `x // n` where x is a known multiple of n plus a rest within 0 .. n - 1."""
    x, divisor = _linear(term.args[0], size), _linear(term.args[1], size)
    if x is None or divisor is None or divisor.q or divisor.k:
        return None
    n = divisor.constant
    for quotient in _quotients(x.constant, n):
        rest = x.plus(_Linear(0, 0, n * quotient * -1))
        if at_most(0, rest.least(size)) and less(rest.greatest(size), n):
            return rest if term.op == "mod" else _Linear(0, 0, quotient)
    return None


def _quotients(constant: Dim, n: Dim) -> tuple[Dim, ...]:
    if isinstance(constant, int) and isinstance(n, int):
        return (constant // n,) if n > 0 else ()
    whole = exact_div(constant, n)
    if whole is not None:
        return (whole,)
    return tuple(q for q in range(-8, 9) if isinstance(constant - n * q, int))


def _meet(*bands: Band) -> Band:
    lows = [low for low, _ in bands if low is not None]
    highs = [high for _, high in bands if high is not None]
    low, high = max(lows, default=None), min(highs, default=None)
    return NEVER if low is not None and high is not None and low > high else (low, high)


def _union(*bands: Band) -> Band | None:
    """One band if the bands touch or overlap."""
    some = sorted(
        (b for b in bands if b != NEVER),
        key=lambda b: (b[0] is not None, b[0] or 0, b[1] is None, b[1] or 0),
    )
    if not some:
        return NEVER
    low, high = some[0]
    for next_low, next_high in some[1:]:
        if high is not None and next_low is not None and next_low > high + 1:
            return None
        if high is not None:
            high = None if next_high is None else max(high, next_high)
    return (low, high)
