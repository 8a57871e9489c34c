"""Random programs: terms and their values, grown together from random choices."""

from __future__ import annotations

from typing import Any

import numpy as np
from evaluate import SIZES, apply
from hypothesis import strategies as st

from checker.graph.builder import Builder
from checker.graph.dims import evaluate, symbol
from checker.graph.terms import Term

S = symbol("S")
LEAVES = {
    "x": (S, 6),
    "y": (S, 6),
    "z": (S, 2, 3),
    "g": (S, 2, 4),
    "w": (6, 6),
    "u": (4, 6),
    "v": (6,),
    "positions": (S,),
}


def arrays() -> dict[str, Any]:
    rng = np.random.default_rng(7)
    env: dict[str, Any] = {
        name: rng.uniform(0.3, 1.7, [evaluate(d, SIZES) for d in shape])
        for name, shape in LEAVES.items()
    }
    env["positions"] = np.arange(SIZES["S"]) * 2.0
    return env


ENV = arrays()


def sane(value: Any) -> bool:
    """Whether the numbers are small enough to be compared."""
    numbers = np.asarray(value, dtype=float)
    return bool(np.all(np.isfinite(numbers)) and np.max(np.abs(numbers), initial=0) <= 1e8)


class Program:
    """A term and its value, grown together from random choices."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.b = Builder()
        self.values: list[tuple[Term, Any]] = []
        for name, shape in LEAVES.items():
            leaf = self.b.param if name in "wuv" else self.b.input
            self.values.append((leaf(name, shape), ENV[name]))

    def pick(self, fits: Any = lambda _: True) -> tuple[Term, Any] | None:
        fitting = [pair for pair in self.values if fits(pair[0])]
        return self.draw(st.sampled_from(fitting)) if fitting else None

    def push(self, op: str, args: list[tuple[Term, Any]], **attrs: Any) -> None:
        term = self.b.op(op, *(t for t, _ in args), **attrs)
        self.values.append((term, apply(op, [value for _, value in args], attrs)))

    def integer(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def axis(self, term: Term) -> int:
        return -self.integer(1, term.rank)

    def step(self) -> None:
        name = self.draw(st.sampled_from(sorted(STEPS)))
        STEPS[name](self)

    def grow(self, most: int = 12) -> None:
        """Random steps; a value that got out of hand is taken back."""
        for _ in range(self.integer(1, most)):
            self.step()
            term, value = self.values[-1]
            if not sane(value):
                self.values.pop()
            elif np.size(value) > 5000 or term.rank > 5:
                break


def unary(p: Program) -> None:
    x = p.pick()
    op = p.draw(st.sampled_from(["neg", "cos", "sin", "tanh", "sigmoid", "silu", "relu", "square"]))
    p.push(op, [x])


def power(p: Program) -> None:
    p.push("pow", [p.pick()], exponent=p.draw(st.sampled_from([2, 3, -1, -2, 0.5, -0.5, 1, 0])))


def binary(p: Program) -> None:
    a = p.pick()
    b = p.pick(lambda t: t.shape == a[0].shape)
    p.push(p.draw(st.sampled_from(["add", "mul", "sub", "div"])), [a, b])


def number(p: Program) -> None:
    value = p.draw(st.sampled_from([0, 1, 2, -1, 0.5, 3.0, 1e-6]))
    a = p.pick()
    p.push(
        p.draw(st.sampled_from(["add", "mul", "sub", "div" if value else "add"])),
        [a, (p.b.const(value), float(value))],
    )


def cut(p: Program) -> None:
    x = p.pick(lambda t: t.rank >= 1)
    axis = p.axis(x[0])
    n = evaluate(x[0].shape[axis], SIZES)
    start = p.integer(0, n - 1)
    stop = p.integer(start + 1, n)
    end = x[0].shape[axis] if stop == n else stop
    p.push("slice", [x], axis=axis, start=start, stop=end)


def chunk_and_join(p: Program) -> None:
    x = p.pick(lambda t: t.rank >= 1)
    axis = p.axis(x[0])
    n = evaluate(x[0].shape[axis], SIZES)
    at = p.integer(0, n)
    before = len(p.values)
    p.push("slice", [x], axis=axis, start=0, stop=at)
    p.push("slice", [x], axis=axis, start=at, stop=x[0].shape[axis])
    a, b = p.values[before:]
    p.push("concat", [b, a] if p.draw(st.booleans()) else [a, b], axis=axis)
    p.values[before : before + 2] = [pair for pair in (a, b) if 0 not in pair[1].shape]


def concat(p: Program) -> None:
    a = p.pick(lambda t: t.rank >= 1)
    axis = p.axis(a[0])

    def fits(t: Term) -> bool:
        return t.rank == a[0].rank and all(
            i == axis or t.shape[i] == a[0].shape[i] for i in range(-t.rank, 0)
        )

    p.push("concat", [a, p.pick(fits)], axis=axis)


def select(p: Program) -> None:
    x = p.pick(lambda t: t.rank >= 1)
    axis = p.axis(x[0])
    p.push("select", [x], axis=axis, index=p.integer(0, evaluate(x[0].shape[axis], SIZES) - 1))


def unflatten(p: Program) -> None:
    x = p.pick(lambda t: 1 <= t.rank <= 3 and isinstance(t.shape[-1], int) and t.shape[-1] > 1)
    if x is None:
        return
    n = x[0].shape[-1]
    first = p.draw(st.sampled_from([d for d in range(1, n + 1) if n % d == 0]))
    p.push("unflatten", [x], axis=-1, sizes=(first, n // first))


def flatten(p: Program) -> None:
    x = p.pick(lambda t: t.rank >= 2)
    axis = -p.integer(1, x[0].rank - 1)
    p.push("flatten", [x], axis=axis, count=2)


def permute(p: Program) -> None:
    x = p.pick()
    p.push("permute", [x], axes=tuple(p.draw(st.permutations(range(x[0].rank)))))


def expand(p: Program) -> None:
    x = p.pick(lambda t: t.rank <= 3)
    axes: list[Any] = list(range(x[0].rank))
    axes.insert(p.integer(0, len(axes)), None)
    shape = tuple(x[0].shape[a] if a is not None else 3 for a in axes)
    p.push("expand", [x], axes=tuple(axes), shape=shape)


def repeat(p: Program) -> None:
    x = p.pick(lambda t: t.rank >= 1)
    p.push("repeat", [x], axis=p.axis(x[0]), times=2)


def linear(p: Program) -> None:
    w = p.pick(lambda t: t.rank == 2)
    x = p.pick(lambda t: t.rank >= 1 and t.shape[-1] == w[0].shape[-1])
    if x is not None:
        p.push("linear", [x, w])


def matmul(p: Program) -> None:
    w = p.pick(lambda t: t.rank == 2)
    x = p.pick(lambda t: t.rank >= 1 and t.shape[-1] == w[0].shape[0])
    if x is not None:
        p.push("matmul", [x, w])


def reduce(p: Program) -> None:
    x = p.pick(lambda t: t.rank >= 1)
    op = p.draw(st.sampled_from(["mean", "sum", "softmax"]))
    p.push(op, [x], axis=p.axis(x[0]))


def rms_norm(p: Program) -> None:
    x = p.pick(lambda t: t.rank >= 1)
    w = p.pick(lambda t: t.shape == (x[0].shape[-1],))
    args = [x, w] if w is not None else [x]
    p.push("rms_norm", args, eps=1e-3, offset=p.integer(0, 1) if w is not None else 0)


def norm_by_hand(p: Program) -> None:
    x = p.pick(lambda t: t.rank >= 1)
    rank = x[0].rank
    before = len(p.values)
    p.push("square", [x])
    p.push("mean", [p.values[-1]], axis=-1)
    p.push("add", [p.values[-1], (p.b.const(1e-3), 1e-3)])
    p.push("rsqrt", [p.values[-1]])
    p.push("expand", [p.values[-1]], axes=(*range(rank - 1), None), shape=x[0].shape)
    p.push("mul", [x, p.values[-1]])
    p.values[before:] = p.values[-1:]


def rope(p: Program) -> None:
    x = p.pick(lambda t: t.rank in (2, 3) and t.shape[0] == S and t.shape[-1] in (2, 4, 6))
    positions = p.pick(lambda t: t.shape == (S,))
    dim = p.draw(st.sampled_from([d for d in (2, 4, 6) if d <= x[0].shape[-1]]))
    p.push("rope", [x, positions], base=100, dim=dim, style="half", scaling=None)


def attention(p: Program) -> None:
    q = p.pick(lambda t: t.rank == 3 and t.shape[0] == S and isinstance(t.shape[-1], int))
    k = p.pick(lambda t: t.shape == q[0].shape)
    if p.draw(st.booleans()) and q[1].shape[-1] >= 2:
        p.push("rope", [q, p.values[7]], base=100, dim=2, style="half", scaling=None)
        q = p.values[-1]
        p.push("add", [p.values[7], (p.b.const(3), 3.0)])
        p.push("rope", [k, p.values[-1]], base=100, dim=2, style="half", scaling=None)
        k = p.values[-1]
    band = p.draw(st.sampled_from([(0, None), (0, 2), (None, None), (0, 0)]))
    p.push("attention", [q, k, k, k, q], visible=((0, None), band), scale=None)


def overwrite(p: Program) -> None:
    x = p.pick(lambda t: t.rank >= 1)
    axis = p.axis(x[0])
    n = evaluate(x[0].shape[axis], SIZES)
    at = p.integer(0, n)
    before = len(p.values)
    p.push("slice", [x], axis=axis, start=0, stop=at)
    p.push("slice", [x], axis=axis, start=at, stop=x[0].shape[axis])
    head, tail = p.values[before:]
    base = (p.b.empty(x[0].shape), np.full(x[1].shape, np.nan))
    p.push("slice_update", [base, tail], axis=axis, start=at, stop=x[0].shape[axis])
    p.push("slice_update", [p.values[-1], head], axis=axis, start=0, stop=at)
    p.values[before:] = p.values[-1:]


STEPS = {
    f.__name__: f
    for f in (
        unary, power, binary, number, cut, chunk_and_join, concat, select, unflatten, flatten,
        permute, expand, repeat, linear, matmul, reduce, rms_norm, norm_by_hand, rope, attention,
        overwrite,
    )
}  # fmt: skip
