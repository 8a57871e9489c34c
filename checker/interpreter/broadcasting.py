"""Broadcasting: operands brought to one shape, elementwise operators, writes into a layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.graph import dims
from checker.graph.dims import Dim, Poly
from checker.graph.rules import filled
from checker.interpreter.storages import Root, op
from checker.interpreter.tensors import Axes, Tensor, regroup, split_axis
from checker.interpreter.values import Unknown, Value, type_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from checker.graph.terms import Attr, Term
    from checker.interpreter.machine import Machine

_BOOLEAN = frozenset(("eq", "ne", "lt", "le", "gt", "ge", "and_", "or_", "not_"))
_FLOATING = frozenset(
    [
        "div",
        "rsqrt",
        "sqrt",
        "exp",
        "cos",
        "sin",
        "tanh",
        "sigmoid",
        "log",
        "erf",
        "reciprocal",
        "silu",
        "gelu",
        "softplus",
    ]
)
_ORDER = {"bool": 0, "int": 1, "float": 2}


def as_tensor(m: Machine, value: Value) -> Tensor | None:
    """A tensor, or a number as a scalar tensor."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, bool):
        return Tensor(Root(m.builder.const(value)), (), "bool")
    if isinstance(value, float):
        return Tensor(Root(m.builder.const(value)), (), "float")
    if isinstance(value, (int, Poly)):
        number = Tensor(Root(m.builder.const(value)), (), "int")
        number.integer = "number"
        return number
    return None


def elementwise(m: Machine, name: str, values: Sequence[Value], **attrs: Attr) -> Value:
    """An elementwise operator over tensors and numbers."""
    operands: list[Tensor] = []
    for value in values:
        if isinstance(value, Unknown):
            return value
        operand = as_tensor(m, value)
        if operand is None:
            kinds = ", ".join(type_name(v) for v in values)
            return m.unknown(f"{name} of these operands: {kinds}")
        operands.append(operand)
    if name in ("mod", "floordiv") and _may_be_zero(m, operands):
        return m.unknown("integers are divided by tensor elements that may be zero")
    terms, axes, shape = aligned(m, operands)
    if name == "pow" and len(terms) == 2 and isinstance(values[1], (int, float)):
        term = op(m, "pow", terms[0], exponent=values[1])
    else:
        term = op(m, name, *terms, **attrs)
    if not term.shape and shape:
        term = op(m, "expand", term, axes=(None,) * len(shape), shape=shape)
    made = Tensor(Root(term), axes, _kind(name, operands))
    if made.kind == "int":
        made.integer = common_integer(operands)
    return made


def _may_be_zero(m: Machine, operands: Sequence[Tensor]) -> bool:
    """Whether a division of integers may be by zero: it raises on some devices, and not on others.

    Where that element is looked up, nothing else may tell it from any other.
    """
    if any(t.kind == "float" for t in operands):
        return False
    value = filled(operands[-1].term(m))
    return value is None or (not isinstance(value, Poly) and value == 0)


def common_integer(operands: Iterable[Tensor]) -> str | None:
    """The element type of integers computed from others; a number adapts itself to tensors."""
    found = {t.integer for t in operands if t.kind == "int" and t.integer != "number"}
    if len(found) > 1:
        return None
    return found.pop() if found else "int64"


def _kind(name: str, operands: list[Tensor]) -> str:
    """The kind of a result: floats before integers before truths."""
    if name in _BOOLEAN:
        return "bool"
    taking_part = operands[1:] if name == "where" else operands
    kind = max((t.kind for t in taking_part), key=_ORDER.__getitem__)
    return "float" if kind != "float" and name in _FLOATING else kind


def aligned(m: Machine, operands: list[Tensor]) -> tuple[list[Term], Axes, tuple[Dim, ...]]:
    """Broadcasts operands against each other.

    Returns: their terms, all with one logical shape (or scalars), the layout of the result, and
    that shape. The logical order is that of the operand that covers the whole result, so that a
    permuted layout costs nothing.
    """
    rank = max(len(t.axes) for t in operands)
    operands = _same_factors(m, operands, rank)
    padded = [((),) * (rank - len(t.axes)) + t.axes for t in operands]
    _check_sizes(m, operands, padded, rank)
    widest = [max((p[i] for p in padded), key=len) for i in range(rank)]
    covering = (
        n for n, p in enumerate(padded) if all(len(p[i]) == len(widest[i]) for i in range(rank))
    )
    reference = next(covering, None)
    if reference is not None:
        axes: Axes = padded[reference]
        shape = operands[reference].term(m).shape
    else:
        axes, shape = _joint_layout(m, operands, padded, widest)
    return (
        [_spread(m, t, p, axes, shape) for t, p in zip(operands, padded, strict=True)],
        axes,
        shape,
    )


def _joint_layout(
    m: Machine, operands: list[Tensor], padded: list[Axes], widest: list[tuple[int, ...]]
) -> tuple[Axes, tuple[Dim, ...]]:
    """The layout of a result that no operand covers alone: axis by axis."""
    groups: list[tuple[int, ...]] = []
    sizes: list[Dim] = []
    for i, group in enumerate(widest):
        owner = next(n for n, p in enumerate(padded) if len(p[i]) == len(group))
        groups.append(tuple(range(len(sizes), len(sizes) + len(group))))
        sizes.extend(operands[owner].term(m).shape[x] for x in padded[owner][i])
    return tuple(groups), tuple(sizes)


def _same_factors(m: Machine, operands: list[Tensor], rank: int) -> list[Tensor]:
    """Merges the logical axes of a tensor axis where operands have it split differently."""
    result = list(operands)
    for i in range(1, rank + 1):
        factors = {factors_of(m, t, -i) for t in result if i <= len(t.axes)} - {()}
        if len(factors) > 1:
            result = [regroup(m, t, len(t.axes) - i) if i <= len(t.axes) else t for t in result]
    return result


def factors_of(m: Machine, t: Tensor, axis: int) -> tuple[Dim, ...]:
    """The sizes of the logical axes that hold a tensor axis."""
    logical = t.term(m).shape
    return tuple(logical[x] for x in t.axes[axis])


def _check_sizes(m: Machine, operands: list[Tensor], padded: list[Axes], rank: int) -> None:
    for i in range(rank):
        seen: Dim | None = None
        for t, p in zip(operands, padded, strict=True):
            if not p[i]:
                continue
            logical = t.term(m).shape
            size = dims.dim_mul(logical[x] for x in p[i])
            if seen is not None:
                check_same(m, seen, size, i)
            seen = size


def check_same(m: Machine, a: Dim, b: Dim, axis: int) -> None:
    """Raises in the checked program when two sizes that must be equal are not."""
    same = dims.equal(a, b)
    if same is False:
        text = f"The size of tensor a ({a}) must match the size of tensor b ({b})"
        raise m.exception("RuntimeError", f"{text} at non-singleton dimension {axis}")
    if same is None:
        raise m.stuck(f"whether sizes {a} and {b} are equal")


def _spread(m: Machine, t: Tensor, own: Axes, axes: Axes, shape: tuple[Dim, ...]) -> Term:
    """One operand's term, expanded or permuted to the result's logical axes.

    Scalars stay scalars.
    """
    term = t.term(m)
    if not term.shape:
        return term
    mapping: list[int | None] = [None] * len(shape)
    for mine, theirs in zip(own, axes, strict=True):
        if mine:
            for x, y in zip(mine, theirs, strict=True):
                mapping[y] = x
    if mapping == list(range(len(term.shape))):
        return term
    if None not in mapping:
        return op(m, "permute", term, axes=tuple(mapping))
    return op(m, "expand", term, axes=tuple(mapping), shape=shape)


def fitted(m: Machine, value: Tensor, target: Tensor) -> Term:
    """The term of `value`, broadcast to the shape and over the logical axes of `target`."""
    shape = target.term(m).shape
    surplus = len(value.axes) - len(target.axes)
    if surplus > 0:
        if any(value.axes[:surplus]):
            raise m.exception("RuntimeError", "the shape of the source does not match the target's")
        value = value.alike(value.storage, value.axes[surplus:])
    for i in range(1, len(value.axes) + 1):
        value = _with_factors_of(m, value, target, i)
    own = ((),) * (len(target.axes) - len(value.axes)) + value.axes
    term = _spread(m, value, own, target.axes, shape)
    if not term.shape and shape:
        term = op(m, "expand", term, axes=(None,) * len(shape), shape=shape)
    return term


def _with_factors_of(m: Machine, value: Tensor, target: Tensor, i: int) -> Tensor:
    """`value` with its i-th axis from the end split as the target's is."""
    if not value.axes[-i]:
        return value
    sizes = value.shape(m)[-i], target.shape(m)[-i]
    if not target.axes[-i]:
        raise m.exception("RuntimeError", f"shape mismatch: {sizes[0]} values for one place")
    check_same(m, *sizes, len(target.axes) - i)
    wanted = factors_of(m, target, -i)
    if factors_of(m, value, -i) == wanted:
        return value
    value = regroup(m, value, len(value.axes) - i)
    if len(wanted) > 1:
        value = split_axis(m, value, value.axes[-i][0], wanted)
    return value
