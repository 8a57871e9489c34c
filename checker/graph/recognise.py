"""Functions written by hand, seen in the arithmetic they are made of.

Each recogniser fires on the exact arithmetic of the function only: a mean over another axis, a
square of another tensor or a constant that is not 1 is some other function and stays as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from checker.graph.arithmetic import Factors, fold_product, power_of, raised, scaled, times
from checker.graph.rules import Attrs, Number, Rules, filled, number_attr, value_of

if TYPE_CHECKING:
    from checker.graph.terms import Term

_ROUNDING: Final = 1e-9


def bias(b: Rules, args: tuple[Term, ...]) -> Term | None:
    """`linear(x, w) + parameter` over the last axis is a linear with a bias."""
    if len(args) != 2:
        return None
    for product, added in (args, args[::-1]):
        vector = _last_axis_vector(added)
        if product.op == "linear" and len(product.args) == 2 and vector is not None:
            below = vector.args[0] if vector.op == "slice" else vector
            if below.op == "param":
                return b.op("linear", *product.args, vector)
    return None


def product(b: Rules, factors: Factors) -> Term | None:
    """A product in which a norm, a norm's weight or a gated activation is written out."""
    for found in (_rms_norm, _norm_weight, _silu):
        term = found(b, factors)
        if term is not None:
            return term
    return None


def power(b: Rules, x: Term, attrs: Attrs) -> Term:
    """`x ** exponent` for a number."""
    exponent = number_attr(attrs, "exponent")
    number = filled(x)
    folded = None if number is None else raised(number, exponent)
    if folded is not None or exponent == 0:
        return b.full(1 if folded is None else folded, x.shape)
    if exponent == 1:
        return x
    if x.op == "full":
        lifted = b.make("const", (), (), value=x.attr("value"))
        return b.op("expand", power(b, lifted, attrs), axes=(None,) * x.rank, shape=x.shape)
    if x.op == "concat" and not b.deep:
        parts = (b.op("pow", part, exponent=exponent) for part in x.args)
        return b.op("concat", *parts, axis=x.attr("axis"))
    if isinstance(exponent, int):
        known = _whole_power(b, x, exponent)
        if known is not None:
            return known
    return b.make("pow", (x,), x.shape, exponent=exponent)


def simple(b: Rules, op: str, args: tuple[Term, ...]) -> Term | None:
    """`base ** -(arange(0, dim, 2) / dim)` is the inverse frequencies of a rotary embedding."""
    if op != "power":
        return None
    base = value_of(args[0])
    factor, rest = scaled(args[1])
    if not isinstance(base, (int, float)) or not isinstance(factor, (int, float)) or not factor:
        return None
    if len(rest) != 1 or rest[0].op != "iota":
        return None
    size, dim = rest[0].shape[0], -2 / factor
    if not isinstance(size, int) or abs(dim - 2 * size) > _ROUNDING * dim:
        return None
    return b.op("inv_freq", base=base, dim=2 * size, scaling=None)


def _whole_power(b: Rules, x: Term, exponent: int) -> Term | None:
    inner = x.attr("exponent") if x.op == "pow" else None
    if isinstance(inner, (int, float)) and (isinstance(inner, int) or exponent == -1):
        return b.op("pow", x.args[0], exponent=inner * exponent)
    if x.op == "mul":
        return b.op("mul", *(b.op("pow", arg, exponent=exponent) for arg in x.args))
    if x.op == "power" and exponent == -1:
        return b.op("power", x.args[0], b.op("neg", x.args[1]))
    if x.op == "add" and exponent == -1 and len(x.args) == 2:
        for one, other in (x.args, x.args[::-1]):
            if value_of(one) == 1 and other.op == "exp":
                return b.op("sigmoid", b.op("neg", other.args[0]))
    return None


def _rms_norm(b: Rules, factors: Factors) -> Term | None:
    """`x * (mean(x**2) + eps) ** -0.5`, the mean over the last axis."""
    for i, (base, exponent) in enumerate(factors.powers):
        if exponent != -0.5:
            continue
        eps, mean = _plus_number(base)
        square = _mean_square(mean)
        root = None if square is None else _root(b, square)
        if root is None or not isinstance(eps, (int, float)):
            continue
        rest = Factors(factors.constant, factors.powers[:i] + factors.powers[i + 1 :])
        outside = _without(rest, root)
        if outside is not None:
            return _times(b, outside, b.op("rms_norm", root, eps=eps))
    return None


def _norm_weight(b: Rules, factors: Factors) -> Term | None:
    """A norm without weight, times one vector along the last axis, possibly plus 1."""
    norms = [i for i, (base, power) in enumerate(factors.powers) if power == 1 and _bare(base)]
    vectors = [
        (i, found)
        for i, (base, power) in enumerate(factors.powers)
        if power == 1 and (found := _offset_vector(base)) is not None
    ]
    if len(norms) != 1 or len(vectors) != 1:
        return None
    at, (offset, weight) = vectors[0]
    norm = factors.powers[norms[0]][0]
    weighted = b.op("rms_norm", norm.args[0], weight, eps=norm.attr("eps"), offset=offset)
    others = tuple(p for i, p in enumerate(factors.powers) if i not in (at, norms[0]))
    return _times(b, Factors(factors.constant, others), weighted)


def _silu(b: Rules, factors: Factors) -> Term | None:
    """`x * sigmoid(x)`."""
    for i, (base, exponent) in enumerate(factors.powers):
        if base.op != "sigmoid" or exponent != 1:
            continue
        rest = Factors(factors.constant, factors.powers[:i] + factors.powers[i + 1 :])
        outside = _without(rest, base.args[0])
        if outside is not None:
            return _times(b, outside, b.op("silu", base.args[0]))
    return None


def _times(b: Rules, factors: Factors, term: Term) -> Term:
    others = (power_of(b, base, exponent) for base, exponent in factors.powers)
    return b.op("mul", b.const(factors.constant), *others, term)


def _without(factors: Factors, term: Term) -> Factors | None:
    """The product with the factors of `term` taken out, if it has them all."""
    taken = fold_product((term,))
    inverse = raised(taken.constant, -1)
    constant = None if inverse is None else times(factors.constant, inverse)
    left = dict(factors.powers)
    if constant is None or len(left) != len(factors.powers):
        return None
    for base, exponent in taken.powers:
        have = left.pop(base, None)
        if have is None or (have != exponent and not 0 < exponent < have):
            return None
        if have != exponent:
            if not (isinstance(have, int) and isinstance(exponent, int)):
                return None
            left[base] = have - exponent
    return Factors(constant, tuple(left.items()))


def _root(b: Rules, square: Term) -> Term | None:
    """A term whose square this is; either sign will do, since only its square is used."""
    if square.op == "pow":
        exponent = square.attr("exponent")
        if isinstance(exponent, int) and exponent > 0 and exponent % 2 == 0:
            return b.op("pow", square.args[0], exponent=exponent // 2)
        return None
    if square.op in ("mul", "concat"):
        roots = [_root(b, arg) for arg in square.args]
        found = [root for root in roots if root is not None]
        return b.op(square.op, *found, **dict(square.attrs)) if len(found) == len(roots) else None
    number = value_of(square)
    if isinstance(number, (int, float)) and number > 0:
        return b.const(number**0.5)
    return None


def _plus_number(term: Term) -> tuple[Number, Term]:
    """`number + other` taken apart; the number is 0 for any other term."""
    if term.op == "add" and len(term.args) == 2:
        for number, other in (term.args, term.args[::-1]):
            value = value_of(number)
            if value is not None:
                return value, other
    return 0, term


def _mean_square(term: Term) -> Term | None:
    """What a mean over the last axis, broadcast back along it, is the mean of."""
    if term.op != "expand" or term.attr("axes") != (*range(term.rank - 1), None):
        return None
    mean = term.args[0]
    if mean.op != "mean" or mean.attr("axis") != -1:
        return None
    return mean.args[0] if mean.args[0].shape == term.shape else None


def _last_axis_vector(term: Term) -> Term | None:
    if term.op != "expand" or term.args[0].rank != 1:
        return None
    return term.args[0] if term.attr("axes") == (*(None,) * (term.rank - 1), 0) else None


def _offset_vector(term: Term) -> tuple[int, Term] | None:
    """A broadcast vector (0, v), or 1 plus one (1, v)."""
    number, other = _plus_number(term)
    vector = _last_axis_vector(other)
    if vector is None or number not in (0, 1):
        return None
    return (1 if number == 1 else 0), vector


def _bare(term: Term) -> bool:
    return term.op == "rms_norm" and len(term.args) == 1
