"""What all rewrite rules share: the builder as they see it, and checked access to attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, TypeAlias

from checker.graph.dims import Dim, Poly, sign
from checker.graph.terms import Attr, Shape, ShapeError, Term, encode

Number: TypeAlias = int | float | bool | Poly
Attrs: TypeAlias = Mapping[str, Attr]
Axes = tuple["int | None", ...]


class Rules(Protocol):
    """The builder, as a rewrite rule uses it."""

    joined: dict[tuple[Term, Term, int], Term | None]

    @property
    def deep(self) -> bool: ...

    def op(self, name: str, /, *args: Term, **attrs: Attr) -> Term: ...

    def make(self, op: str, args: tuple[Term, ...], shape: Shape, **attrs: Attr) -> Term: ...

    def rebuild(self, term: Term, args: tuple[Term, ...]) -> Term: ...

    def const(self, value: Number, shape: Shape = ()) -> Term: ...

    def full(self, value: Number, shape: Shape) -> Term: ...

    def empty(self, shape: Shape) -> Term: ...


Rule = Callable[[Rules, tuple[Term, ...], Attrs], Term]


def attrs_key(attrs: Attrs) -> str:
    """A text that is equal for equal attributes only."""
    return ",".join(f"{name}={encode(attrs[name])}" for name in sorted(attrs))


def need(condition: bool, message: str) -> None:
    """Raise a ShapeError unless `condition`."""
    if not condition:
        raise ShapeError(message)


def arity(op: str, args: tuple[Term, ...], *counts: int) -> None:
    """Raise a ShapeError unless `args` has one of these lengths."""
    need(
        len(args) in counts, f"{op} takes {' or '.join(map(str, counts))} operands, not {len(args)}"
    )


def int_attr(attrs: Attrs, name: str, default: int | None = None) -> int:
    """An attribute that must be an integer."""
    value = attrs.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ShapeError(f"{name} is {value}, not an integer")
    return value


def dim_attr(attrs: Attrs, name: str) -> Dim:
    """An attribute that must be a dimension."""
    value = attrs.get(name)
    if not isinstance(value, (int, Poly)) or isinstance(value, bool):
        raise ShapeError(f"{name} is {value}, not a dimension")
    return value


def number_attr(attrs: Attrs, name: str, default: float | None = None) -> float:
    """An attribute that must be a number."""
    value = attrs.get(name, default)
    if not isinstance(value, (int, float)):
        raise ShapeError(f"{name} is {value}, not a number")
    return value


def dims_attr(attrs: Attrs, name: str) -> Shape:
    """An attribute that must be a tuple of dimensions."""
    value = attrs.get(name)
    if not isinstance(value, tuple) or not all(is_dim(v) for v in value):
        raise ShapeError(f"{name} is {value}, not dimensions")
    return tuple(v for v in value if isinstance(v, (int, Poly)))


def axes_attr(attrs: Attrs, rank: int) -> Axes:
    """For each result axis of a permutation or broadcast, the operand's axis (None: new)."""
    value = attrs.get("axes")
    if not isinstance(value, tuple):
        raise ShapeError(f"axes is {value}")
    result: list[int | None] = []
    for axis in value:
        if axis is None:
            result.append(None)
            continue
        at = int_attr({"axis": axis}, "axis")
        need(-rank <= at < rank, f"axis {at} of a tensor of {rank} axes")
        result.append(at % rank)
    return tuple(result)


def is_dim(value: Attr) -> bool:
    """Whether a value can be a dimension."""
    return isinstance(value, (int, Poly)) and not isinstance(value, bool)


def axis_of(term: Term, axis: int) -> int:
    """The axis as a negative number, checked against the rank."""
    negative = axis - term.rank if axis >= 0 else axis
    need(-term.rank <= negative < 0, f"axis {axis} of a tensor of {term.rank} axes")
    return negative


def axis_attr(term: Term) -> int:
    """The axis that a term's operator works on, as a negative number."""
    return int_attr(dict(term.attrs), "axis")


def with_axis(shape: Shape, axis: int, size: Dim) -> Shape:
    """The shape with one axis (negative) set to another size."""
    at = len(shape) + axis
    return (*shape[:at], size, *shape[at + 1 :])


def positive(dim: Dim) -> bool:
    """Whether a dimension is known to be positive."""
    return sign(dim) == 1


def value_of(term: Term) -> Number | None:
    """The number of a constant scalar, else None."""
    if term.op != "const":
        return None
    value = term.attr("value")
    return value if isinstance(value, (int, float, Poly)) else None


def filled(term: Term) -> Number | None:
    """The number that a constant tensor or scalar has everywhere, else None."""
    if term.op not in ("const", "full"):
        return None
    value = term.attr("value")
    return value if isinstance(value, (int, float, Poly)) else None
