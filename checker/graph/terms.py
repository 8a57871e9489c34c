"""Terms: what a tensor is a function of, hash-consed so that equal terms are one object."""

from __future__ import annotations

import math
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Union

from checker.graph.dims import Dim, Poly

if TYPE_CHECKING:
    from collections.abc import Mapping

Attr = Union[int, float, str, bool, None, Poly, "tuple[Attr, ...]"]
Shape = tuple[Dim, ...]

DIGITS = 14
"""Significant digits kept of a float: one ulp of difference is no difference in meaning."""


class ShapeError(Exception):
    """The operands do not fit: a program that computes this would raise there."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Term:
    """One operator applied to terms. Equality is identity; `key` is stable across runs.

    `depth` is the longest way down to a term without arguments.
    """

    op: str
    args: tuple[Term, ...]
    attrs: tuple[tuple[str, Attr], ...]
    shape: Shape
    key: str
    depth: int = 0

    def attr(self, name: str, default: Attr = None) -> Attr:
        """The attribute called `name`, or `default`."""
        for key, value in self.attrs:
            if key == name:
                return value
        return default

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def __repr__(self) -> str:
        attrs = ", ".join(f"{name}={value}" for name, value in self.attrs)
        return f"<{self.op} {attrs} {self.shape} {self.key[:6]}>"


class Pool:
    """Makes terms; the same operator, arguments, attributes and shape give the same object."""

    __slots__ = ("_serial", "_terms")

    def __init__(self) -> None:
        self._terms: dict[str, Term] = {}
        self._serial = 0

    def make(
        self, op: str, args: tuple[Term, ...], attrs: Mapping[str, Attr], shape: Shape
    ) -> Term:
        """The term as given, not normalised (attributes are made canonical)."""
        pairs = tuple(sorted((name, canonical(value)) for name, value in attrs.items()))
        key = _digest(op, args, pairs, shape)
        term = self._terms.get(key)
        if term is None:
            depth = 1 + max((arg.depth for arg in args), default=-1)
            term = self._terms[key] = Term(op, args, pairs, shape, key, depth)
        return term

    def serial(self) -> int:
        """A number not given before; it keeps terms apart that must never be equal."""
        self._serial += 1
        return self._serial


def canonical(value: Attr) -> Attr:
    """One spelling per number: integral floats are ints, others keep `DIGITS` digits."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return value
        rounded = float(f"{value:.{DIGITS}g}")
        return int(rounded) if rounded.is_integer() and abs(rounded) < 2**53 else rounded
    if isinstance(value, tuple):
        return tuple(canonical(item) for item in value)
    return value


def encode(value: Attr) -> str:
    """A text that is equal for equal attributes only: True is not 1."""
    if isinstance(value, tuple):
        return f"({','.join(encode(item) for item in value)})"
    return f"{type(value).__name__[0]}:{value!s}" if not isinstance(value, str) else f"s{value!r}"


def continued(term: Term) -> bool:
    """Whether the term is a long sum, which is another sum and one operand more."""
    return term.op == "add" and term.args[0].op == "add"


def summands(term: Term) -> tuple[Term, ...]:
    """The operands of a sum, with those of the sum that it goes on from; else the operands."""
    last: list[Term] = []
    while continued(term):
        last.append(term.args[1])
        term = term.args[0]
    return (*term.args, *reversed(last)) if last else term.args


def holder(term: Term, operand: Term) -> Term:
    """The part of a long sum that has this operand, or had it before all others; else the term."""
    while continued(term) and operand not in term.args:
        term = term.args[0]
    return term


def postorder(*roots: Term) -> list[Term]:
    """Every term below `roots` once, arguments before what uses them, left to right."""
    seen: set[Term] = set()
    order: list[Term] = []
    stack: list[tuple[Term, bool]] = [(root, False) for root in reversed(roots)]
    while stack:
        term, ready = stack.pop()
        if ready:
            order.append(term)
        elif term not in seen:
            seen.add(term)
            stack.append((term, True))
            stack.extend((arg, False) for arg in reversed(term.args) if arg not in seen)
    return order


def unknowns(*roots: Term) -> tuple[Term, ...]:
    """The unknown terms that `roots` depend on."""
    return tuple(term for term in postorder(*roots) if term.op == "unknown")


def _digest(
    op: str, args: tuple[Term, ...], attrs: tuple[tuple[str, Attr], ...], shape: Shape
) -> str:
    text = "\0".join(
        (
            op,
            ",".join(arg.key for arg in args),
            ",".join(f"{name!r}={encode(value)}" for name, value in attrs),
            encode(shape),
        )
    )
    return blake2b(text.encode(), digest_size=16).hexdigest()
