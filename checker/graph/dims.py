"""Dimensions: integers, or polynomials with integer coefficients over symbols that are at least 1.

A dimension that the configuration fixes is a plain `int`; the number of tokens and open
configuration keys are symbols. Everything decided here is decided for *all* values of the symbols;
what is true for some only is `None`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Monomial = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Poly:
    """A polynomial that is not constant; make one through `symbol` and arithmetic.

    `terms` holds (monomial, coefficient) pairs, sorted, without zero coefficients, so equal
    polynomials are equal values. Arithmetic that ends in a constant gives an `int`.
    """

    terms: tuple[tuple[Monomial, int], ...]

    def __add__(self, other: Dim) -> Dim:
        sums = dict(self.terms)
        for monomial, coefficient in _terms(other):
            sums[monomial] = sums.get(monomial, 0) + coefficient
        return _collect(sums)

    def __mul__(self, other: Dim) -> Dim:
        products: dict[Monomial, int] = {}
        for left, a in self.terms:
            for right, b in _terms(other):
                monomial = _times(left, right)
                products[monomial] = products.get(monomial, 0) + a * b
        return _collect(products)

    def __neg__(self) -> Dim:
        return self * -1

    def __sub__(self, other: Dim) -> Dim:
        return self + other * -1

    def __rsub__(self, other: int) -> Dim:
        return self * -1 + other

    __radd__ = __add__
    __rmul__ = __mul__

    def __str__(self) -> str:
        return _text(self.terms)


Dim: TypeAlias = int | Poly


@lru_cache(maxsize=1024)  # few are written, most of them again and again
def _text(terms: tuple[tuple[Monomial, int], ...]) -> str:
    text = ""
    for monomial, coefficient in sorted(terms, key=_reading_order):
        factors = [name if power == 1 else f"{name}^{power}" for name, power in monomial]
        if abs(coefficient) != 1 or not factors:
            factors.insert(0, str(abs(coefficient)))
        sign = "-" if coefficient < 0 else "+"
        text += (
            f" {sign} {'*'.join(factors)}" if text else ("-" * (sign == "-")) + "*".join(factors)
        )
    return text


def symbol(name: str) -> Poly:
    """The dimension called `name`: an unknown integer that is at least 1."""
    return Poly(((((name, 1),), 1),))


def evaluate(dim: Dim, values: Mapping[str, int]) -> int:
    """The integer that `dim` is when its symbols have these values."""
    total = 0
    for monomial, coefficient in _terms(dim):
        product = coefficient
        for name, power in monomial:
            product *= values[name] ** power
        total += product
    return total


def dim_mul(dims: Iterable[Dim]) -> Dim:
    """The product of dimensions; 1 for none."""
    factors = iter(dims)
    product: Dim = next(factors, 1)
    for dim in factors:
        product = product * dim
    return product


def dim_sum(dims: Iterable[Dim]) -> Dim:
    """The sum of dimensions; 0 for none."""
    total: Dim = 0
    for dim in dims:
        total = total + dim
    return total


def exact_div(a: Dim, b: Dim) -> Dim | None:
    """`a / b` where it is a polynomial with integer coefficients, else None."""
    if isinstance(b, int):
        if b == 0 or any(coefficient % b for _, coefficient in _terms(a)):
            return None
        return _collect({monomial: c // b for monomial, c in _terms(a)})
    lead, lead_coefficient = max(b.terms, key=_division_order)
    quotient: Dim = 0
    rest = a
    while rest != 0:
        monomial, coefficient = max(_terms(rest), key=_division_order)
        ratio = _over(monomial, lead)
        if ratio is None or coefficient % lead_coefficient:
            return None
        part = _collect({ratio: coefficient // lead_coefficient})
        quotient = quotient + part
        rest = rest - part * b
    return quotient


def sign(dim: Dim) -> int | None:
    """1, 0 or -1 if `dim` has that sign for all values of its symbols, else None.

    Every symbol s is written as 1 + t with t >= 0; if all coefficients then agree in sign, so does
    the value, and strictly so if the constant is not zero.
    """
    shifted = _from_one(dim)
    constant = shifted.get((), 0)
    if not shifted:
        return 0
    if constant > 0 and all(c >= 0 for c in shifted.values()):
        return 1
    if constant < 0 and all(c <= 0 for c in shifted.values()):
        return -1
    return None


def equal(a: Dim, b: Dim) -> bool | None:
    """Whether `a == b` for all values of the symbols; None if for some only or not known."""
    if a == b:
        return True
    return False if sign(a - b) else None


def same(a: Dim, b: Dim) -> bool:
    """Whether `a` and `b` are known to be equal."""
    return a == b


def at_most(a: Dim, b: Dim) -> bool | None:
    """Whether `a <= b`, where that is known."""
    shifted = _from_one(b - a)
    if all(c >= 0 for c in shifted.values()):
        return True
    return False if sign(b - a) == -1 else None


def less(a: Dim, b: Dim) -> bool | None:
    """Whether `a < b`, where that is known."""
    swapped = at_most(b, a)
    return None if swapped is None else not swapped


def _terms(dim: Dim) -> tuple[tuple[Monomial, int], ...]:
    if isinstance(dim, Poly):
        return dim.terms
    return (((), int(dim)),) if dim else ()


def _collect(terms: Mapping[Monomial, int]) -> Dim:
    kept = tuple(sorted((m, c) for m, c in terms.items() if c))
    if not kept:
        return 0
    if len(kept) == 1 and kept[0][0] == ():
        return kept[0][1]
    return Poly(kept)


def _times(left: Monomial, right: Monomial) -> Monomial:
    powers = dict(left)
    for name, power in right:
        powers[name] = powers.get(name, 0) + power
    return tuple(sorted(powers.items()))


def _over(left: Monomial, right: Monomial) -> Monomial | None:
    powers = dict(left)
    for name, power in right:
        powers[name] = powers.get(name, 0) - power
        if powers[name] < 0:
            return None
    return tuple(sorted((name, power) for name, power in powers.items() if power))


def _degree(monomial: Monomial) -> int:
    return sum(power for _, power in monomial)


def _division_order(term: tuple[Monomial, int]) -> tuple[int, tuple[str, ...]]:
    """Graded lexicographic: a monomial order, so that division ends."""
    monomial = term[0]
    return (_degree(monomial), tuple(_Reversed(n) for n, p in monomial for _ in range(p)))


class _Reversed(str):
    """A name that sorts backwards, so that the first symbol of the alphabet leads."""

    __slots__ = ()

    def __lt__(self, other: str) -> bool:
        return str.__gt__(self, other)

    def __gt__(self, other: str) -> bool:
        return str.__lt__(self, other)


def _reading_order(term: tuple[Monomial, int]) -> tuple[int, Monomial]:
    return (-_degree(term[0]), term[0])


def _from_one(dim: Dim) -> dict[Monomial, int]:
    """The coefficients of `dim` with every symbol s replaced by 1 + s; no zeros."""
    shifted: Dim = 0
    for monomial, coefficient in _terms(dim):
        product: Dim = coefficient
        for name, power in monomial:
            for _ in range(power):
                product = product * (symbol(name) + 1)
        shifted = shifted + product
    return dict(_terms(shifted))
