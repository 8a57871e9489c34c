"""torch.einsum, by the products, sums and permutations that it stands for."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

from checker.interpreter import products, shaping
from checker.interpreter.broadcasting import check_same, elementwise
from checker.interpreter.tensors import Tensor, regroup
from checker.interpreter.values import Unknown, Value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from checker.interpreter.machine import Machine


def einsum(m: Machine, equation: Value, *operands: Value) -> Value:
    """torch.einsum with letters for axes: operands are joined two at a time, from the left.

    An ellipsis, an axis named twice in one operand (a diagonal) and the form with lists of numbers
    are not interpreted.
    """
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    for value in (equation, *operands):
        if isinstance(value, Unknown):
            return value
    if not isinstance(equation, str):
        return m.unknown("an einsum without letters")
    if "." in equation:
        return m.unknown("an einsum with an ellipsis")
    if not all(isinstance(t, Tensor) for t in operands):
        raise m.exception("TypeError", "einsum(): operands must be tensors")
    named, result = _read(m, equation, operands)
    if any(len(set(letters)) < len(letters) for letters, _ in named):
        return m.unknown("an einsum that takes a diagonal")
    if len({t.kind for _, t in named}) > 1:
        return m.unknown("an einsum of several kinds of numbers")
    sizes: dict[str, Value] = {}
    for letters, t in named:
        for axis, (letter, size) in enumerate(zip(letters, t.shape(m), strict=True)):
            known = sizes.setdefault(letter, size)
            if known != size and 1 in (known, size):
                return m.unknown("an einsum that repeats an axis of size one")
            check_same(m, known, size, axis)
    letters, found = named[0]
    for index, (others, t) in enumerate(named[1:], start=2):
        later = {*result, *(c for more, _ in named[index:] for c in more)}
        letters, joined = _product(m, (letters, found), (others, t), later)
        if not isinstance(joined, Tensor):
            return joined
        found = joined
    letters, found = _summed(m, letters, found, set(result))
    return shaping.permute(m, found, *map(letters.index, result)) if result else found


def _read(
    m: Machine, equation: str, operands: Iterable[Value]
) -> tuple[list[tuple[str, Tensor]], str]:
    """Each operand with its letters, and those of the result."""
    tensors = [t for t in operands if isinstance(t, Tensor)]
    text, arrow, result = equation.replace(" ", "").partition("->")
    parts = text.split(",")
    if len(parts) != len(tensors) or any(
        len(p) != len(t.axes) for p, t in zip(parts, tensors, strict=False)
    ):
        raise m.exception("RuntimeError", "einsum(): operands do not fit the equation")
    if not arrow:
        result = "".join(c for c in sorted(set(text) - {","}) if text.count(c) == 1)
    wrong = set(text + result) - {",", *string.ascii_letters}
    if wrong or len(set(result)) < len(result) or not set(result) <= set(text):
        raise m.exception("RuntimeError", f"einsum(): invalid equation {equation}")
    return list(zip(parts, tensors, strict=True)), result


def _summed(m: Machine, letters: str, t: Tensor, wanted: set[str]) -> tuple[str, Tensor]:
    """Sums over the axes whose letters are not wanted."""
    left = [i for i, c in enumerate(letters) if c not in wanted]
    if left:
        made = products.reduce(m, "sum", t, left)
        assert isinstance(made, Tensor)
        t = made
    return "".join(c for c in letters if c in wanted), t


def _product(
    m: Machine, one: tuple[str, Tensor], two: tuple[str, Tensor], later: set[str]
) -> tuple[str, Value]:
    """Two operands as one: what both have and nothing later asks for is summed over."""
    a_letters, a = _summed(m, *one, later | set(two[0]))
    b_letters, b = _summed(m, *two, later | set(one[0]))
    both = [c for c in a_letters if c in b_letters]
    inner = [c for c in both if c not in later]
    batch = [c for c in both if c in later]
    left = [c for c in a_letters if c not in both]
    right = [c for c in b_letters if c not in both]
    if not (inner and left and right):
        order = [*batch, *left, *right, *inner]
        factors = [_spread(m, a_letters, a, order), _spread(m, b_letters, b, order)]
        product = elementwise(m, "mul", factors)
        if not isinstance(product, Tensor):
            return "", product
        return _summed(m, "".join(order), product, later)
    if not batch:
        return _projected(m, (a_letters, a), (b_letters, b), (left, inner, right))
    rows = _grouped(m, shaping.permute(m, a, *map(a_letters.index, batch + left + inner)),
                    [len(batch), len(left), len(inner)])  # fmt: skip
    columns = _grouped(m, shaping.permute(m, b, *map(b_letters.index, batch + inner + right)),
                       [len(batch), len(inner), len(right)])  # fmt: skip
    if isinstance(rows, Unknown) or isinstance(columns, Unknown):
        return "", rows if isinstance(rows, Unknown) else columns
    found = products.matmul(m, rows, columns)
    if not isinstance(found, Tensor):
        return "", found
    ends = [
        *(a.shape(m)[a_letters.index(c)] for c in batch + left),
        *(b.shape(m)[b_letters.index(c)] for c in right),
    ]
    if len(left) != 1 or len(right) != 1:
        return "".join(batch + left + right), shaping.reshape(m, found, *ends)
    return "".join(batch + left + right), found


def _projected(
    m: Machine,
    one: tuple[str, Tensor],
    two: tuple[str, Tensor],
    letters: tuple[list[str], list[str], list[str]],
) -> tuple[str, Value]:
    """Rows by rows: a projection of the one operand by the other as its weight."""
    left, inner, right = letters
    rows, weight = (
        _grouped(
            m, shaping.permute(m, t, *map(own.index, outer + inner)), [0, len(outer), len(inner)]
        )
        for (own, t), outer in ((one, left), (two, right))
    )
    if isinstance(rows, Unknown) or isinstance(weight, Unknown):
        return "", rows if isinstance(rows, Unknown) else weight
    found = products.linear(m, rows, regroup(m, regroup(m, weight, 0), 1))
    if not isinstance(found, Tensor) or len(left) == len(right) == 1:
        return "".join(left + right), found
    ends = [
        *(one[1].shape(m)[one[0].index(c)] for c in left),
        *(two[1].shape(m)[two[0].index(c)] for c in right),
    ]
    return "".join(left + right), shaping.reshape(m, found, *ends)


def _spread(m: Machine, letters: str, t: Tensor, order: list[str]) -> Tensor:
    """A tensor with one axis for each letter of an order, of size one where it has none."""
    t = shaping.permute(m, t, *(letters.index(c) for c in order if c in letters))
    for axis, letter in enumerate(order):
        if letter not in letters:
            t = shaping.unsqueeze(m, t, axis)
    return t


def _grouped(m: Machine, t: Tensor, counts: list[int]) -> Value:
    """A tensor with its batch axes as they are, and one axis for each of the two groups behind."""
    batch, first, second = counts
    if first == second == 1:
        return t
    shape = list(t.shape(m))
    rows, columns = shape[batch : batch + first], shape[batch + first :]
    sizes: list[Value] = list(shape[:batch])
    for group in (rows, columns):
        size: Value = 1
        for n in group:
            size = size * n
        sizes.append(size)
    return shaping.reshape(m, t, *sizes)
