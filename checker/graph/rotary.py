"""Rotary embedding, its inverse frequencies, and counting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from checker.graph.arithmetic import scaled
from checker.graph.dims import at_most, equal, exact_div
from checker.graph.frequencies import canonical, multiplied
from checker.graph.lanes import ELEMENTWISE
from checker.graph.rules import (
    Attrs,
    Number,
    Rule,
    Rules,
    arity,
    axis_attr,
    dim_attr,
    int_attr,
    need,
    number_attr,
    value_of,
)
from checker.graph.terms import ShapeError

if TYPE_CHECKING:
    from checker.graph.terms import Term

STYLES: Final = ("half", "interleaved")


def _rope(b: Rules, args: tuple[Term, ...], attrs: Attrs) -> Term:
    """Pairs of the first `dim` numbers of each head, turned by position times frequency."""
    arity("rope", args, 2)
    x, positions = args
    dim, style = int_attr(attrs, "dim"), attrs.get("style", "half")
    need(style in STYLES, f"rope of style {style}")
    need(x.rank in (2, 3) and positions.rank == 1, f"rope of {x.shape} at {positions.shape}")
    fits = equal(x.shape[0], positions.shape[0]) is not False
    need(fits, f"rope of {x.shape} at {positions.shape}")
    fits = dim % 2 == 0 and at_most(dim, x.shape[-1]) is not False
    need(fits, f"rope over {dim} of {x.shape[-1]}")
    if dim == 0:
        return x
    full: Attrs = {
        "base": number_attr(attrs, "base"),
        "dim": dim,
        "style": style,
        "scaling": canonical(attrs.get("scaling")),
    }
    if x.op == "repeat" and x.attr("axis") == -2:
        return b.op("repeat", b.op("rope", x.args[0], positions, **full), **dict(x.attrs))
    factor, rest = scaled(x)
    if len(rest) != len(x.args) and x.op == "mul":
        turned = b.op("rope", b.op("mul", *rest), positions, **full)
        return b.op("mul", b.const(factor), turned)
    if x.op == "concat" and x.attr("axis") != -1 and not b.deep:
        return _by_parts(b, x, positions, full)
    return b.make("rope", args, x.shape, **full)


def _by_parts(b: Rules, x: Term, positions: Term, attrs: Attrs) -> Term:
    axis = axis_attr(x)
    parts: list[Term] = []
    at = x.shape[axis] * 0
    for part in x.args:
        end = at + part.shape[axis]
        where = positions
        if axis == -x.rank:
            where = b.op("slice", positions, axis=-1, start=at, stop=end)
        parts.append(b.op("rope", part, where, **attrs))
        at = end
    return b.op("concat", *parts, axis=axis)


def _inv_freq(b: Rules, args: tuple[Term, ...], attrs: Attrs) -> Term:
    arity("inv_freq", args, 0)
    base, dim = number_attr(attrs, "base"), int_attr(attrs, "dim")
    need(dim > 0 and dim % 2 == 0, f"inverse frequencies of dimension {dim}")
    scaling = canonical(attrs.get("scaling"))
    return b.make("inv_freq", (), (dim // 2,), base=base, dim=dim, scaling=scaling)


def _arange(b: Rules, args: tuple[Term, ...], attrs: Attrs) -> Term:
    """`start + step * (0, 1, 2, ...)`, so that a shift is a sum."""
    arity("arange", args, 0)
    start = dim_attr({"start": attrs.get("start", 0)}, "start")
    stop, step = dim_attr(attrs, "stop"), int_attr(attrs, "step", 1)
    need(step != 0, "arange with step 0")
    span = stop - start
    if isinstance(span, int):
        size = max(0, -(-span // step))
        count = b.make("iota", (), (size,))
    else:
        length = exact_div(span, step)
        if length is None:
            raise ShapeError(f"arange over {span} by {step}")
        count = b.make("iota", (), (length,))
    return b.op("add", b.const(start), b.op("mul", b.const(step), count))


def rotated(b: Rules, parts: tuple[Term, ...]) -> Term | None:
    """Concatenated parts that are a rotary embedding written out, or one over part of a head."""
    if len(parts) not in (2, 3):
        return None
    head, tail = parts[0], parts[-1]
    factor, turning = scaled(head) if head.op == "mul" else (1, (head,))
    if len(parts) == 2 and len(turning) == 1 and turning[0].op == "rope":
        return _over_part(b, turning[0], factor, tail)
    turned = _turned(b, parts[0], parts[1])
    if turned is None or len(parts) == 2:
        return turned
    return b.op("concat", turned, tail, axis=-1)


def _over_part(b: Rules, rope: Term, factor: Number, tail: Term) -> Term | None:
    """Part of a head turned, and the rest of it. What multiplies that part goes with its angles."""
    source, attrs = rope.args[0], dict(rope.attrs)
    if source.op != "slice" or tail.op != "slice" or source.args[0] is not tail.args[0]:
        return None
    whole = b.op("concat", source, tail, axis=-1)
    if whole.op == "concat" or not isinstance(factor, (int, float)):
        return None
    if factor != 1:
        attrs["scaling"] = multiplied(attrs.get("scaling"), factor)
    return b.op("rope", whole, rope.args[1], **attrs)


def _turned(b: Rules, first: Term, second: Term) -> Term | None:
    """`(x1 * cos - x2 * sin, x2 * cos + x1 * sin)` is rope(x), x being x1 and x2 together."""
    upper, lower = _turn(b, first), _turn(b, second)
    if upper is None or lower is None:
        return None
    angle, x1, minus_x2 = upper
    other_angle, x2, also_x1 = lower
    if angle is not other_angle or x1 is not also_x1 or b.op("neg", x2) is not minus_x2:
        return None
    where = _angle(b, angle)
    if where is None or x1.shape != x2.shape or x1.rank not in (2, 3):
        return None
    positions, frequencies = where
    if frequencies.attr("dim") != x1.shape[-1] * 2:
        return None
    x = b.op("concat", x1, x2, axis=-1)
    return b.op("rope", x, positions, style="half", **dict(frequencies.attrs))


def _turn(b: Rules, term: Term) -> tuple[Term, Term, Term] | None:
    """`p * cos(angle) + q * sin(angle)` as (angle, p, q)."""
    if term.op != "add" or len(term.args) != 2:
        return None
    found: dict[str, tuple[Term, Term]] = {}
    for product in term.args:
        if product.op != "mul":
            return None
        waves = [arg for arg in product.args if arg.op in ("cos", "sin")]
        if len(waves) != 1:
            return None
        rest = b.op("mul", *(arg for arg in product.args if arg is not waves[0]))
        found[waves[0].op] = (waves[0].args[0], rest)
    if len(found) != 2 or found["cos"][0] is not found["sin"][0]:
        return None
    return found["cos"][0], found["cos"][1], found["sin"][1]


def _angle(b: Rules, term: Term) -> tuple[Term, Term] | None:
    """`position * inverse frequency`, each broadcast over the other's axis."""
    if term.op != "mul" or len(term.args) != 2:
        return None
    for places, rates in (term.args, term.args[::-1]):
        frequencies, positions = _along(b, rates, term.rank - 1), _along(b, places, 0)
        if frequencies is not None and frequencies.op == "inv_freq" and positions is not None:
            return positions, frequencies
    return None


def _along(b: Rules, term: Term, axis: int) -> Term | None:
    """The vector that was broadcast over all axes but one."""
    if term.op == "const":
        return term
    if term.op == "expand" and term.args[0].rank == 1:
        axes = term.attr("axes")
        wanted = tuple(0 if i == axis else None for i in range(term.rank))
        return term.args[0] if axes == wanted else None
    if term.op in ELEMENTWISE:
        below = [_along(b, arg, axis) for arg in term.args]
        found = [arg for arg in below if arg is not None]
        if len(found) == len(below) and any(arg.shape for arg in found):
            return b.rebuild(term, tuple(found))
    return None


def shift_of(positions: Term) -> int | float:
    """The constant in positions: 3 for `p + 3`, 0 for `p`."""
    for arg in positions.args if positions.op == "add" else ():
        value = value_of(arg)
        if isinstance(value, (int, float)):
            return value
    return 0


RULES: Final[dict[str, Rule]] = {"rope": _rope, "inv_freq": _inv_freq, "arange": _arange}
