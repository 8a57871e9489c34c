"""Operators that work number by number."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from checker.graph import recognise
from checker.graph.arithmetic import (
    OPERATORS,
    fold_product,
    fold_sum,
    power_of,
    spread,
)
from checker.graph.dims import Poly, equal
from checker.graph.lanes import BINARY, UNARY
from checker.graph.linear import columns, whole_maps
from checker.graph.rules import (
    Attrs,
    Number,
    Rule,
    Rules,
    arity,
    axis_attr,
    dims_attr,
    filled,
    need,
    value_of,
)
from checker.graph.terms import continued, summands

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from checker.graph.terms import Shape, Term

LONGEST: Final = 32
"""Operands of a sum at most. A longer sum is one of these, and one operand more at a time.

The operands are put in by depth, so that what a network adds to its residual stream comes last.
"""
_FUNCTIONS: Final[dict[str, Callable[[float], float]]] = {
    "exp": math.exp,
    "cos": math.cos,
    "sin": math.sin,
    "tanh": math.tanh,
    "log": math.log,
    "erf": math.erf,
    "abs": abs,
    "floor": math.floor,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "silu": lambda x: x / (1 + math.exp(-x)),
    "relu": lambda x: max(x, 0),
}


def common_shape(op: str, args: Sequence[Term]) -> Shape:
    """The shape of an elementwise result: scalars broadcast, all others are alike."""
    shape: Shape = ()
    for arg in args:
        if not arg.shape or arg.shape == shape:  # a sum of many has one shape: said at once
            continue
        if not shape:
            shape = arg.shape
        if arg.shape is shape or arg.shape == shape:
            continue
        fits = len(shape) == arg.rank and all(
            equal(a, c) is not False for a, c in zip(shape, arg.shape, strict=True)
        )
        if not fits:  # the text is made only when it is needed: sums have many operands
            need(fits, f"{op} of {shape} and {arg.shape}")
    return shape


def thin(b: Rules, args: Sequence[Term]) -> tuple[Term, ...]:
    """Filled tensors as scalars; `widened` gives the result its shape back."""
    return tuple(_thin(b, arg) for arg in args)


def _thin(b: Rules, arg: Term) -> Term:
    if arg.op == "full":
        return b.make("const", (), (), value=arg.attr("value"))
    return arg.args[0] if arg.op == "expand" and not arg.args[0].shape else arg


def widened(b: Rules, term: Term, shape: Shape) -> Term:
    """A scalar that stands for a tensor of this shape, as that tensor."""
    if term.shape or not shape:
        return term
    return b.op("expand", term, axes=(None,) * len(shape), shape=shape)


def by_parts(
    b: Rules, args: Sequence[Term], build: Callable[[tuple[Term, ...]], Term]
) -> Term | None:
    """An operator over a concatenation is the concatenation of the operator over its parts."""
    joined = next((arg for arg in args if arg.op == "concat"), None)
    if joined is None or b.deep:
        return None
    axis = axis_attr(joined)
    parts: list[Term] = []
    at = joined.shape[axis] * 0
    for part in joined.args:
        end = at + part.shape[axis]
        cut = tuple(
            arg if not arg.shape else b.op("slice", arg, axis=axis, start=at, stop=end)
            for arg in args
        )
        parts.append(build(cut))
        at = end
    return b.op("concat", *parts, axis=axis)


def _add(b: Rules, args: tuple[Term, ...], _attrs: Attrs) -> Term:
    need(bool(args), "add takes at least one operand")
    longer = _continued(b, args)
    if longer is not None:
        return longer
    shape = common_shape("add", args)
    biased = recognise.bias(b, args)
    if biased is not None:
        return biased
    constant, terms = fold_sum(b, thin(b, args))
    if not b.deep:
        terms = whole_maps(b, terms)
    operands = [spread(b, factor, term) for term, factor in terms]
    whole = by_parts(b, operands, lambda cut: b.op("add", *cut, b.const(constant)))
    if whole is not None:
        return whole
    if not _is(constant, 0) or not operands:
        operands.append(b.const(constant))
    return widened(b, _total(b, operands), shape)


def _total(b: Rules, operands: list[Term]) -> Term:
    """The sum in its one form: the same whatever order the operands came in."""
    if len(operands) <= LONGEST:
        return _sorted(b, "add", operands)
    inward = sorted(operands, key=lambda term: (term.depth, term.key))
    total = _sorted(b, "add", inward[:LONGEST])
    for term in inward[LONGEST:]:
        total = b.make("add", (total, term), common_shape("add", (total, term)))
    return total


def _continued(b: Rules, args: tuple[Term, ...]) -> Term | None:
    """A long sum with more summands, if these are plainly none that it has.

    What is deeper than a sum is none of its summands, nor a multiple of one. So a residual stream
    costs the same in every layer, however many went before.
    """
    whole = next((arg for arg in args if _is_long(arg)), None)
    if whole is None:
        return None
    rest = [term for arg in args if arg is not whole for term in _flat_sum(arg)]
    if len(rest) != 1 and rest:
        rest = list(_flat_sum(b.op("add", *rest)))
    if not rest or not all(_goes_on(whole, term) for term in rest):
        return None
    for term in sorted(rest, key=lambda term: (term.depth, term.key)):
        whole = b.make("add", (whole, term), whole.shape)
    return whole


def _is_long(term: Term) -> bool:
    return term.op == "add" and (len(term.args) == LONGEST or continued(term))


def _flat_sum(term: Term) -> tuple[Term, ...]:
    return summands(term) if term.op == "add" else (term,)


def _goes_on(whole: Term, term: Term) -> bool:
    """Whether a summand can only be the next one: no rule takes it together with another."""
    return (
        term.depth > whole.depth
        and term.shape == whole.shape
        and term.op not in ("concat", "expand")
        and value_of(term) is None
        and not columns(term)
    )


def _mul(b: Rules, args: tuple[Term, ...], _attrs: Attrs) -> Term:
    need(bool(args), "mul takes at least one operand")
    shape = common_shape("mul", args)
    product = fold_product(thin(b, args))
    constant = product.constant
    if _is(constant, 0):
        return b.full(0, shape)
    known = recognise.product(b, product)
    if known is not None:
        return widened(b, known, shape)
    operands = [power_of(b, base, exponent) for base, exponent in product.powers]
    if len(operands) == 1 and operands[0].op == "add" and not _is(constant, 1):
        spread_out = (b.op("mul", b.const(constant), term) for term in summands(operands[0]))
        return widened(b, b.op("add", *spread_out), shape)
    whole = by_parts(b, operands, lambda cut: b.op("mul", *cut, b.const(constant)))
    if whole is not None:
        return whole
    if not _is(constant, 1) or not operands:
        operands.append(b.const(constant))
    return widened(b, _sorted(b, "mul", operands), shape)


def _sorted(b: Rules, op: str, operands: list[Term]) -> Term:
    if len(operands) == 1:
        return operands[0]
    return b.make(op, tuple(sorted(operands, key=_key)), common_shape(op, operands))


def _is(number: Number, value: int) -> bool:
    return not isinstance(number, Poly) and number == value


def _key(term: Term) -> str:
    return term.key


def _sub(b: Rules, args: tuple[Term, ...], _attrs: Attrs) -> Term:
    arity("sub", args, 2)
    return b.op("add", args[0], b.op("neg", args[1]))


def _div(b: Rules, args: tuple[Term, ...], _attrs: Attrs) -> Term:
    arity("div", args, 2)
    return b.op("mul", args[0], b.op("pow", args[1], exponent=-1))


def _neg(b: Rules, args: tuple[Term, ...], _attrs: Attrs) -> Term:
    arity("neg", args, 1)
    return b.op("mul", b.const(-1), args[0])


def _pow(b: Rules, args: tuple[Term, ...], attrs: Attrs) -> Term:
    arity("pow", args, 1, 2)
    if len(args) == 2:
        exponent = filled(args[1])
        if isinstance(exponent, (int, float)) and (not args[1].shape or args[0].shape):
            return b.op("pow", args[0], exponent=exponent)
        return b.op("power", *args)
    return recognise.power(b, args[0], attrs)


def _fixed_power(exponent: float) -> Rule:
    def rule(b: Rules, args: tuple[Term, ...], _attrs: Attrs) -> Term:
        return b.op("pow", *args, exponent=exponent)

    return rule


def _simple(op: str) -> Rule:
    """An operator with no algebra of its own: folded for numbers, taken apart over parts."""

    def rule(b: Rules, args: tuple[Term, ...], attrs: Attrs) -> Term:
        arity(op, args, 3 if op == "where" else 2 if op in BINARY else 1)
        shape = common_shape(op, args)
        thinned = thin(b, args)
        folded = _fold(b, op, thinned)
        if folded is not None:
            return widened(b, folded, shape)
        whole = by_parts(b, thinned, lambda cut: b.op(op, *cut, **attrs))
        if whole is not None:
            return whole
        known = recognise.simple(b, op, thinned)
        if known is None:
            known = b.make(op, thinned, common_shape(op, thinned), **attrs)
        return widened(b, known, shape)

    return rule


def _fold(b: Rules, op: str, args: tuple[Term, ...]) -> Term | None:
    values = [value_of(arg) for arg in args]
    if op == "where" and isinstance(values[0], bool):
        chosen = args[1 if values[0] else 2]
        return chosen if chosen.shape or not any(arg.shape for arg in args) else None
    if any(value is None for value in values) or not values:
        return None
    numbers = [value for value in values if isinstance(value, (int, float))]
    try:
        if op in OPERATORS:
            result = OPERATORS[op](*values)
            return None if result is None else b.const(result)
        if op in _FUNCTIONS and len(numbers) == 1:
            return b.const(_FUNCTIONS[op](numbers[0]))
        if op == "not_" and isinstance(values[0], bool):
            return b.const(not values[0])
    except (ArithmeticError, ValueError, TypeError):
        return None
    return None


def _gelu(b: Rules, args: tuple[Term, ...], attrs: Attrs) -> Term:
    approximate = "none" if attrs.get("approximate") in (None, "none") else "tanh"
    return _simple("gelu")(b, args, {"approximate": approximate})


def _choose(b: Rules, args: tuple[Term, ...], _attrs: Attrs) -> Term:
    arity("choose", args, 3)
    guard, yes, no = args
    if yes is no:
        return yes
    value = value_of(guard)
    if isinstance(value, bool):
        return yes if value else no
    return b.make("choose", args, yes.shape)


def _opaque(b: Rules, args: tuple[Term, ...], attrs: Attrs) -> Term:
    """An operator that is only known by name: equal names over equal operands are equal."""
    return b.make(
        "opaque",
        args,
        dims_attr(attrs, "shape"),
        **{k: v for k, v in attrs.items() if k != "shape"},
    )


RULES: Final[dict[str, Rule]] = {
    **{op: _simple(op) for op in sorted(UNARY | BINARY | {"where"})},
    "add": _add,
    "mul": _mul,
    "sub": _sub,
    "div": _div,
    "neg": _neg,
    "pow": _pow,
    "square": _fixed_power(2),
    "sqrt": _fixed_power(0.5),
    "rsqrt": _fixed_power(-0.5),
    "gelu": _gelu,
    "choose": _choose,
    "opaque": _opaque,
}
