"""Table: spellings of one function that must be one term, and neighbours that must not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from checker.graph.builder import Builder
from checker.graph.dims import symbol
from checker.graph.terms import Pool, ShapeError, Term, unknowns
from checker.location import Location

S = symbol("S")


class Maker(Builder):
    """Shorthand for the leaves of the tables."""

    def x(self, width: int = 8, name: str = "x") -> Term:
        return self.input(name, (S, width))

    def w(self, rows: int = 6, columns: int = 8, name: str = "w") -> Term:
        return self.param(name, (rows, columns))

    def vector(self, width: int = 8, name: str = "v") -> Term:
        return self.param(name, (width,))

    def heads(self, name: str = "x", count: int = 4, width: int = 6) -> Term:
        x = self.input(name, (S, count * width))
        return self.op("unflatten", x, axis=-1, sizes=(count, width))

    def positions(self) -> Term:
        return self.input("positions", (S,))

    def wide(self, vector: Term, shape: tuple[object, ...]) -> Term:
        axes = (*(None,) * (len(shape) - 1), 0)
        return self.op("expand", vector, axes=axes, shape=shape)  # type: ignore[arg-type]

    def cut(self, x: Term, start: int, stop: int, axis: int = -1) -> Term:
        return self.op("slice", x, axis=axis, start=start, stop=stop)

    def norm(self, x: Term, eps: float = 1e-6, axis: int = -1, of: Term | None = None) -> Term:
        mean = self.op("mean", self.op("square", of or x), axis=axis)
        scale = self.op("rsqrt", self.op("add", mean, self.const(eps)))
        axes: list[int | None] = list(range(x.rank - 1))
        axes.insert(axis % x.rank, None)
        return self.op("mul", x, self.op("expand", scale, axes=tuple(axes), shape=x.shape))

    def rope(self, x: Term, shift: int = 0, **attrs: object) -> Term:
        full = {"base": 100, "dim": 6, "style": "half", "scaling": None, **attrs}
        where = self.op("add", self.positions(), self.const(shift))
        return self.op("rope", x, where, **full)  # type: ignore[arg-type]

    def angles(self, x: Term, base: float = 100.0, dim: int = 6) -> Term:
        steps = self.op("div", self.op("arange", start=0, stop=dim, step=2), self.const(dim))
        rates = self.op("div", self.const(1.0), self.op("pow", self.const(base), steps))
        shape = (S, dim // 2)
        where = self.op("expand", self.positions(), axes=(0, None), shape=shape)
        angles = self.op("mul", where, self.wide(rates, shape))
        both = self.op("concat", angles, angles, axis=-1)
        return self.op("expand", both, axes=(0, None, 1), shape=x.shape)

    def rope_by_hand(self, x: Term) -> Term:
        angles, half = self.angles(x), 3
        turned = self.op(
            "concat", self.op("neg", self.cut(x, half, 2 * half)), self.cut(x, 0, half), axis=-1
        )
        return self.op(
            "add",
            self.op("mul", x, self.op("cos", angles)),
            self.op("mul", turned, self.op("sin", angles)),
        )

    def rope_by_halves(self, x: Term) -> Term:
        angles = self.cut(self.angles(x), 0, 3)
        cos, sin = self.op("cos", angles), self.op("sin", angles)
        a, b = self.cut(x, 0, 3), self.cut(x, 3, 6)
        return self.op(
            "concat",
            self.op("sub", self.op("mul", a, cos), self.op("mul", b, sin)),
            self.op("add", self.op("mul", b, cos), self.op("mul", a, sin)),
            axis=-1,
        )

    def repeat_by_hand(self, x: Term, times: int) -> Term:
        heads, width = x.shape[1:]
        wide = self.op("expand", x, axes=(0, 1, None, 2), shape=(S, heads, times, width))
        return self.op("flatten", wide, axis=-2, count=2)

    def attention(self, shift: int = 0, step: int = 0, k_shift: int | None = None) -> Term:
        q, k = self.heads("q"), self.heads("k", 2)
        v = self.heads("v", 2)
        other = shift if k_shift is None else k_shift
        return self.op(
            "attention", self.rope(q, shift + step), self.rope(k, other), v, visible=((0, None),)
        )


Make = Callable[[Maker], Term]
SAME: dict[str, tuple[Make, Make]] = {
    "a slice of a concatenation is the part": (
        lambda b: b.cut(b.op("concat", b.x(), b.x(8, "y"), axis=-1), 8, 16),
        lambda b: b.x(8, "y"),
    ),
    "a slice across parts": (
        lambda b: b.cut(b.op("concat", b.x(), b.x(8, "y"), axis=-1), 6, 10),
        lambda b: b.op("concat", b.cut(b.x(), 6, 8), b.cut(b.x(8, "y"), 0, 2), axis=-1),
    ),
    "chunks joined again": (
        lambda b: b.op("concat", *(b.cut(b.x(), i, i + 2) for i in (0, 2, 4, 6)), axis=-1),
        lambda b: b.x(),
    ),
    "the sum over a stack of sums": (
        lambda b: b.op(
            "sum",
            b.op(
                "concat",
                *(
                    b.op("expand", x, axes=(None, 0, 1), shape=(1, S, 8))
                    for x in (b.op("add", b.x(), b.x(8, "z")), b.x(8, "y"))
                ),
                axis=-3,
            ),
            axis=-3,
        ),
        lambda b: b.op("add", b.x(), b.x(8, "y"), b.x(8, "z")),
    ),
    "the mean of a product of which one operand stands still": (
        lambda b: b.op(
            "mean",
            b.op("mul", b.x(), b.op("expand", b.input("s", (S,)), axes=(0, None), shape=(S, 8))),
            axis=-1,
        ),
        lambda b: b.op("mul", b.input("s", (S,)), b.op("mean", b.x(), axis=-1)),
    ),
    "parts stacked and flattened": (
        lambda b: b.op(
            "flatten",
            b.op(
                "concat",
                *(
                    b.op("expand", x, axes=(0, None, 1), shape=(S, 1, 8))
                    for x in (b.x(), b.x(8, "y"))
                ),
                axis=-2,
            ),
            axis=-1,
            count=2,
        ),
        lambda b: b.op("concat", b.x(), b.x(8, "y"), axis=-1),
    ),
    "a weight times the transposed, transposed back": (
        lambda b: b.op("transpose", b.op("matmul", b.w(), b.op("transpose", b.x()))),
        lambda b: b.op("linear", b.x(), b.w()),
    ),
    "a sum over ranges of a weight's columns": (
        lambda b: b.op(
            "add",
            *(
                b.op("linear", b.cut(b.x(), i, j), b.cut(b.w(), i, j))
                for i, j in ((3, 8), (0, 2), (2, 3))
            ),
        ),
        lambda b: b.op("linear", b.x(), b.w()),
    ),
    "two halves of columns, each for its own operand": (
        lambda b: b.op(
            "add",
            b.op("linear", b.x(4), b.cut(b.w(), 0, 4)),
            b.op("linear", b.x(4, "y"), b.cut(b.w(), 4, 8)),
        ),
        lambda b: b.op("linear", b.op("concat", b.x(4), b.x(4, "y"), axis=-1), b.w()),
    ),
    "chunks of an activation joined again": (
        lambda b: b.op("concat", *(b.cut(b.op("silu", b.x()), i, i + 4) for i in (0, 4)), axis=-1),
        lambda b: b.op("silu", b.x()),
    ),
    "chunks of a gated product joined again": (
        lambda b: b.op(
            "concat",
            *(b.cut(b.op("mul", b.op("silu", b.x()), b.x(8, "y")), i, i + 4) for i in (0, 4)),
            axis=-1,
        ),
        lambda b: b.op("mul", b.x(8, "y"), b.op("silu", b.x())),
    ),
    "nested concatenation": (
        lambda b: b.op("concat", b.op("concat", b.x(), b.x(8, "y"), axis=1), b.x(), axis=-1),
        lambda b: b.op("concat", b.x(), b.x(8, "y"), b.x(), axis=-1),
    ),
    "stacked weights are their parts": (
        lambda b: b.cut(
            b.op("linear", b.x(), b.op("concat", b.w(), b.w(4, 8, "w2"), axis=-2)), 6, 10
        ),
        lambda b: b.op("linear", b.x(), b.w(4, 8, "w2")),
    ),
    "rows of a weight": (
        lambda b: b.cut(b.op("linear", b.x(), b.w()), 2, 4),
        lambda b: b.op("linear", b.x(), b.cut(b.w(), 2, 4, axis=-2)),
    ),
    "linears of rows are a linear": (
        lambda b: b.op(
            "concat",
            *(b.op("linear", b.x(), b.cut(b.w(), i, i + 3, axis=-2)) for i in (0, 3)),
            axis=-1,
        ),
        lambda b: b.op("linear", b.x(), b.w()),
    ),
    "stacked biases": (
        lambda b: b.cut(b.op("linear", b.x(), b.w(), b.vector(6)), 0, 3),
        lambda b: b.op("linear", b.x(), b.cut(b.w(), 0, 3, axis=-2), b.cut(b.vector(6), 0, 3)),
    ),
    "x @ w.t()": (
        lambda b: b.op("matmul", b.x(), b.op("transpose", b.w())),
        lambda b: b.op("linear", b.x(), b.w()),
    ),
    "x @ w.t() + bias": (
        lambda b: b.op(
            "add",
            b.wide(b.vector(6), (S, 6)),
            b.op("matmul", b.x(), b.op("transpose", b.w())),
        ),
        lambda b: b.op("linear", b.x(), b.w(), b.vector(6)),
    ),
    "sums are flat and unordered": (
        lambda b: b.op("add", b.op("add", b.x(), b.x(8, "y")), b.x(8, "z")),
        lambda b: b.op("add", b.x(8, "z"), b.op("add", b.x(8, "y"), b.x())),
    ),
    "a buffer filled by assignment": (
        lambda b: b.op(
            "slice_update",
            b.op("slice_update", b.empty((S, 16)), b.x(8, "y"), axis=-1, start=8, stop=16),
            b.x(),
            axis=-1,
            start=0,
            stop=8,
        ),
        lambda b: b.op("concat", b.x(), b.x(8, "y"), axis=-1),
    ),
    "a norm by hand, without weight": (
        lambda b: b.norm(b.x()),
        lambda b: b.op("rms_norm", b.x(), eps=1e-6),
    ),
    "a norm by hand": (
        lambda b: b.op("mul", b.wide(b.vector(), (S, 8)), b.norm(b.x())),
        lambda b: b.op("rms_norm", b.x(), b.vector(), eps=1e-6),
    ),
    "a norm by hand that divides": (
        lambda b: b.op(
            "mul",
            b.op(
                "div",
                b.x(),
                b.op(
                    "expand",
                    b.op(
                        "sqrt",
                        b.op(
                            "add",
                            b.op("mean", b.op("mul", b.x(), b.x()), axis=-1),
                            b.const(1e-6),
                        ),
                    ),
                    axes=(0, None),
                    shape=(S, 8),
                ),
            ),
            b.wide(b.vector(), (S, 8)),
        ),
        lambda b: b.op("rms_norm", b.x(), b.vector(), eps=1e-6),
    ),
    "a norm by hand, of a sum of squares": (
        lambda b: b.op(
            "mul",
            b.x(),
            b.op(
                "expand",
                b.op(
                    "rsqrt",
                    b.op(
                        "add",
                        b.op("div", b.op("sum", b.op("square", b.x()), axis=-1), b.const(8)),
                        b.const(1e-6),
                    ),
                ),
                axes=(0, None),
                shape=(S, 8),
            ),
        ),
        lambda b: b.op("rms_norm", b.x(), eps=1e-6),
    ),
    "a norm by hand of a product": (
        lambda b: b.norm(b.op("mul", b.x(), b.x(8, "y"))),
        lambda b: b.op("rms_norm", b.op("mul", b.x(), b.x(8, "y")), eps=1e-6),
    ),
    "a norm by hand of a concatenation": (
        lambda b: b.norm(b.op("concat", b.x(), b.x(8, "y"), axis=-1)),
        lambda b: b.op("rms_norm", b.op("concat", b.x(), b.x(8, "y"), axis=-1), eps=1e-6),
    ),
    "a norm by hand over heads": (
        lambda b: b.op("mul", b.norm(b.heads()), b.wide(b.vector(6), (S, 4, 6))),
        lambda b: b.op("rms_norm", b.heads(), b.vector(6), eps=1e-6),
    ),
    "a norm that multiplies by 1 + w": (
        lambda b: b.op("mul", b.norm(b.x()), b.op("add", b.const(1.0), b.wide(b.vector(), (S, 8)))),
        lambda b: b.op("rms_norm", b.x(), b.vector(), eps=1e-6, offset=1),
    ),
    "silu by hand": (
        lambda b: b.op("mul", b.op("sigmoid", b.x()), b.x()),
        lambda b: b.op("silu", b.x()),
    ),
    "silu by hand, gated": (
        lambda b: b.op("mul", b.op("mul", b.x(8, "y"), b.op("sigmoid", b.x())), b.x()),
        lambda b: b.op("mul", b.op("silu", b.x()), b.x(8, "y")),
    ),
    "sigmoid by hand": (
        lambda b: b.op("div", b.const(1), b.op("add", b.const(1), b.op("exp", b.op("neg", b.x())))),
        lambda b: b.op("sigmoid", b.x()),
    ),
    "inverse frequencies by hand": (
        lambda b: b.op(
            "div",
            b.const(1.0),
            b.op(
                "pow",
                b.const(500000.0),
                b.op("div", b.op("arange", start=0, stop=16, step=2), b.const(16)),
            ),
        ),
        lambda b: b.op("inv_freq", base=500000, dim=16, scaling=None),
    ),
    "rotary by hand": (lambda b: b.rope_by_hand(b.heads()), lambda b: b.rope(b.heads())),
    "rotary by halves": (lambda b: b.rope_by_halves(b.heads()), lambda b: b.rope(b.heads())),
    "rotary by hand of normed heads": (
        lambda b: b.rope_by_hand(b.op("rms_norm", b.heads(), b.vector(6), eps=1e-6)),
        lambda b: b.rope(b.op("rms_norm", b.heads(), b.vector(6), eps=1e-6)),
    ),
    "rotary over a part of the head": (
        lambda b: b.op(
            "concat",
            b.rope(b.cut(b.heads(width=8), 0, 6)),
            b.cut(b.heads(width=8), 6, 8),
            axis=-1,
        ),
        lambda b: b.rope(b.heads(width=8)),
    ),
    "rotary by hand over a part of the head": (
        lambda b: b.op(
            "concat",
            b.rope_by_hand(b.cut(b.heads(width=8), 0, 6)),
            b.cut(b.heads(width=8), 6, 8),
            axis=-1,
        ),
        lambda b: b.rope(b.heads(width=8)),
    ),
    "heads split and merged": (
        lambda b: b.op("flatten", b.heads(), axis=-1, count=2),
        lambda b: b.x(24),
    ),
    "merged and split": (
        lambda b: b.op(
            "unflatten", b.op("flatten", b.heads(), axis=-1, count=2), axis=-1, sizes=(4, 6)
        ),
        lambda b: b.heads(),
    ),
    "split in two goes": (
        lambda b: b.op(
            "unflatten",
            b.op("unflatten", b.x(24), axis=-1, sizes=(4, 6)),
            axis=-1,
            sizes=(2, 3),
        ),
        lambda b: b.op("unflatten", b.x(24), axis=-1, sizes=(4, 2, 3)),
    ),
    "a head of stacked heads": (
        lambda b: b.op("select", b.heads(), axis=-2, index=1),
        lambda b: b.cut(b.x(24), 6, 12),
    ),
    "transposed twice": (
        lambda b: b.op("permute", b.op("permute", b.heads(), axes=(1, 0, 2)), axes=(1, 0, 2)),
        lambda b: b.heads(),
    ),
    "a shift of all positions": (lambda b: b.attention(shift=1), lambda b: b.attention()),
    "a shift of all positions, a step later": (
        lambda b: b.attention(shift=1, step=2),
        lambda b: b.attention(step=2),
    ),
    "a shift below zero": (lambda b: b.attention(shift=-3), lambda b: b.attention()),
    "repeated key heads": (
        lambda b: b.op(
            "attention",
            b.heads("q"),
            b.op("repeat", b.heads("k", 2), axis=-2, times=2),
            b.op("repeat", b.heads("v", 2), axis=-2, times=2),
        ),
        lambda b: b.op("attention", b.heads("q"), b.heads("k", 2), b.heads("v", 2)),
    ),
    "repeated key heads by hand, before rotary": (
        lambda b: b.op(
            "attention",
            b.rope(b.heads("q")),
            b.rope(b.repeat_by_hand(b.heads("k", 2), 2)),
            b.repeat_by_hand(b.heads("v", 2), 2),
        ),
        lambda b: b.op("attention", b.rope(b.heads("q")), b.rope(b.heads("k", 2)), b.heads("v", 2)),
    ),
    "the default scale": (
        lambda b: b.op("attention", b.heads("q"), b.heads("k"), b.heads("v"), scale=6**-0.5),
        lambda b: b.op("attention", b.heads("q"), b.heads("k"), b.heads("v")),
    ),
    "a scaled query": (
        lambda b: b.op(
            "attention",
            b.op("mul", b.heads("q"), b.const(0.25)),
            b.heads("k"),
            b.heads("v"),
            scale=1.0,
        ),
        lambda b: b.op("attention", b.heads("q"), b.heads("k"), b.heads("v"), scale=0.25),
    ),
    "keys that are never seen": (
        lambda b: b.op(
            "attention",
            *(b.heads(n) for n in "qkvxy"),
            visible=((0, None), (1, 0)),
        ),
        lambda b: b.op("attention", *(b.heads(n) for n in "qkv"), visible=((0, None),)),
    ),
    "the order of steps": (
        lambda b: b.op("attention", *(b.heads(n) for n in "qxykv"), visible=((0, 0), (0, None))),
        lambda b: b.op("attention", *(b.heads(n) for n in "qkvxy"), visible=((0, None), (0, 0))),
    ),
    "a choice between equals": (
        lambda b: b.op("choose", b.input("guard", ()), b.x(), b.x()),
        lambda b: b.x(),
    ),
    "numbers are numbers": (
        lambda b: b.op("pow", b.x(), exponent=2.0),
        lambda b: b.op("mul", b.x(), b.x()),
    ),
    "a broadcast bias added after the split into heads": (
        lambda b: b.op("add", b.heads(), b.wide(b.vector(6), (S, 4, 6))),
        lambda b: b.op(
            "unflatten",
            b.op(
                "add",
                b.x(24),
                b.op(
                    "flatten",
                    b.wide(b.vector(6), (S, 4, 6)),
                    axis=-1,
                    count=2,
                ),
            ),
            axis=-1,
            sizes=(4, 6),
        ),
    ),
}

DIFFERENT: dict[str, tuple[Make, Make]] = {
    "order of a concatenation": (
        lambda b: b.op("concat", b.x(), b.x(8, "y"), axis=-1),
        lambda b: b.op("concat", b.x(8, "y"), b.x(), axis=-1),
    ),
    "chunks joined in another order": (
        lambda b: b.op("concat", b.cut(b.x(), 4, 8), b.cut(b.x(), 0, 4), axis=-1),
        lambda b: b.x(),
    ),
    "chunks with a gap": (
        lambda b: b.op("concat", b.cut(b.x(), 0, 3), b.cut(b.x(), 4, 8), axis=-1),
        lambda b: b.cut(b.x(), 1, 8),
    ),
    "a norm of something else": (
        lambda b: b.norm(b.x(), of=b.x(8, "y")),
        lambda b: b.op("rms_norm", b.x(), eps=1e-6),
    ),
    "a norm over another axis": (
        lambda b: b.norm(b.x(), axis=-2),
        lambda b: b.op("rms_norm", b.x(), eps=1e-6),
    ),
    "a norm that multiplies by 2 + w": (
        lambda b: b.op("mul", b.norm(b.x()), b.op("add", b.const(2.0), b.wide(b.vector(), (S, 8)))),
        lambda b: b.op("rms_norm", b.x(), b.vector(), eps=1e-6, offset=1),
    ),
    "another epsilon": (
        lambda b: b.norm(b.x(), eps=1e-5),
        lambda b: b.op("rms_norm", b.x(), eps=1e-6),
    ),
    "a gate by another sigmoid": (
        lambda b: b.op("mul", b.x(), b.op("sigmoid", b.x(8, "y"))),
        lambda b: b.op("silu", b.x()),
    ),
    "rotary halves the other way round": (
        lambda b: b.op(
            "concat", b.cut(b.rope(b.heads()), 3, 6), b.cut(b.rope(b.heads()), 0, 3), axis=-1
        ),
        lambda b: b.rope(b.heads()),
    ),
    "a shift of the keys only": (
        lambda b: b.attention(shift=0, k_shift=1),
        lambda b: b.attention(),
    ),
    "repeated keys, but not values": (
        lambda b: b.op(
            "attention",
            b.heads("q"),
            b.op("repeat", b.heads("k", 2), axis=-2, times=2),
            b.heads("v", 4),
        ),
        lambda b: b.op("attention", b.heads("q"), b.heads("k", 2), b.heads("v", 2)),
    ),
    "another band": (
        lambda b: b.op("attention", *(b.heads(n) for n in "qkv"), visible=((0, 7),)),
        lambda b: b.op("attention", *(b.heads(n) for n in "qkv"), visible=((0, 8),)),
    ),
    "true and one": (lambda b: b.const(True), lambda b: b.const(1)),
    "x over x is not one at zero": (
        lambda b: b.op("div", b.x(), b.x()),
        lambda b: b.full(1, (S, 8)),
    ),
    "the root of a square is not the number": (
        lambda b: b.op("sqrt", b.op("square", b.x())),
        lambda b: b.x(),
    ),
    "the same unknown twice": (
        lambda b: b.unknown("why", (S, 8)),
        lambda b: b.unknown("why", (S, 8)),
    ),
    "an uncovered buffer": (
        lambda b: b.op("slice_update", b.empty((S, 16)), b.x(), axis=-1, start=0, stop=8),
        lambda b: b.op("concat", b.x(), b.x(), axis=-1),
    ),
    "loaded and unloaded": (
        lambda b: b.param("p", (8,)),
        lambda b: b.param("p", (8,), loaded=False),
    ),
}


@pytest.mark.parametrize(("left", "right"), SAME.values(), ids=SAME)
def test_one_function_is_one_term(left: Make, right: Make) -> None:
    pool = Pool()
    assert left(Maker(pool)) is right(Maker(pool))


@pytest.mark.parametrize(("left", "right"), DIFFERENT.values(), ids=DIFFERENT)
def test_another_function_is_another_term(left: Make, right: Make) -> None:
    pool = Pool()
    assert left(Maker(pool)) is not right(Maker(pool))


@pytest.mark.parametrize("make", [left for left, _ in SAME.values()], ids=SAME)
def test_keys_are_the_same_in_every_pool(make: Make) -> None:
    assert make(Maker()).key == make(Maker()).key


@pytest.mark.parametrize(
    ("op", "args", "attrs"),
    [
        ("linear", [(S, 8), (6, 7)], {}),
        ("linear", [(S, 8), (6, 8), (5,)], {}),
        ("add", [(S, 8), (S, 7)], {}),
        ("concat", [(S, 8), (4, 7)], {"axis": 0}),
        ("rms_norm", [(S, 8), (7,)], {"eps": 1e-6}),
        ("unflatten", [(S, 8)], {"axis": -1, "sizes": (3, 3)}),
        ("attention", [(S, 4, 6), (S, 3, 6), (S, 3, 6)], {}),
        ("rope", [(S, 4, 6), (S,)], {"base": 1, "dim": 8}),
        ("select", [(S, 8)], {"axis": -1, "index": 8}),
        ("select", [(S, 8)], {"axis": -3, "index": 0}),
        ("embedding", [(S,), (6,)], {}),
        ("slice", [(S, 8)], {"axis": "x", "start": 0, "stop": 1}),
        ("slice_update", [(S, 8), (S, 3)], {"axis": -1, "start": 0, "stop": 4}),
    ],
)
def test_operands_that_do_not_fit_are_refused(
    op: str, args: list[tuple[object, ...]], attrs: dict[str, object]
) -> None:
    b = Builder()
    terms = [b.input(str(i), shape) for i, shape in enumerate(args)]  # type: ignore[arg-type]
    with pytest.raises(ShapeError):
        b.op(op, *terms, **attrs)  # type: ignore[arg-type]


def test_new_terms_get_the_place_where_they_were_made() -> None:
    b = Builder()
    b.here = Location("s", "a.py", 1, 1)
    x = b.input("x", (S, 8))
    b.here = Location("s", "a.py", 2, 1)
    y = b.op("silu", x)
    assert b.origins[x] == (Location("s", "a.py", 1, 1),)
    assert b.origins[y] == (Location("s", "a.py", 2, 1),)


def test_a_part_of_a_linear_keeps_the_place_of_the_linear() -> None:
    b = Builder()
    b.here = Location("s", "a.py", 1, 1)
    stacked = b.op("linear", b.input("x", (S, 8)), b.param("w", (6, 8)))
    b.here = Location("s", "a.py", 2, 1)
    part = b.op("slice", stacked, axis=-1, start=0, stop=3)
    assert b.origins[part] == (Location("s", "a.py", 1, 1),)


def test_unknowns_are_found_wherever_they_are() -> None:
    b = Builder()
    hidden = b.unknown("no source", (S, 8))
    assert unknowns(b.op("silu", b.op("add", b.input("x", (S, 8)), hidden))) == (hidden,)


def test_deep_graphs_do_not_overflow_the_stack() -> None:
    b = Builder()
    x = b.input("x", (S, 8))
    term = x
    for i in range(3000):
        term = b.op("tanh" if i % 2 else "sigmoid", term)
    cut = b.op("slice", term, axis=-1, start=0, stop=4)
    assert cut.shape == (S, 4)
    assert b.op("expand", term, axes=(0, None, 1), shape=(S, 2, 8)).shape == (S, 2, 8)
    other = b.op("slice", term, axis=-1, start=4, stop=8)
    assert b.op("concat", cut, other, axis=-1).shape == (S, 8)
