"""A term in one line, as an engineer would write it."""

from __future__ import annotations

import pytest

from checker.graph.builder import Builder
from checker.graph.dims import symbol
from checker.graph.labels import Labels, Wire
from checker.graph.render import render
from checker.graph.terms import Term

S = symbol("S")
B = Builder()
X, Y = B.input("x", (S, 8)), B.input("y", (S, 8))
NORM = B.op("rms_norm", X, B.param("layers.0.input_layernorm.weight", (8,)), eps=1e-6)
DOWN = B.op("linear", B.op("silu", Y), B.param("down.weight", (8, 8)))


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (NORM, "rms_norm(layers.0.input_layernorm, x)"),
        (
            B.op("rms_norm", X, B.param("n.weight", (8,)), eps=1e-6, offset=1),
            "rms_norm(n, x, offset=1)",
        ),
        (B.op("concat", NORM, Y, axis=-1), "concat(rms_norm(layers.0.input_layernorm, x), y)"),
        (B.op("add", DOWN, X, Y), "x + y + linear(down, silu(y))"),
        (B.op("mul", B.op("add", X, Y), B.op("silu", Y)), "(x + y) * silu(y)"),
        (B.op("slice", X, axis=-1, start=2, stop=4), "x[2:4]"),
        (B.op("slice", X, axis=0, start=1, stop=S), "x[axis -2: 1:S]"),
        (B.op("square", B.op("silu", X)), "silu(x)**2"),
        (B.unknown("no source", (S,)), "unknown(no source)"),
        (B.param("p", (2,), loaded=False), "p"),
        (B.const(0.5), "0.5"),
        (B.op("opaque", X, name="fancy", shape=(S,), level=3), "fancy(x, level=3)"),
        (B.op("softmax", X, axis=-1), "softmax(x, axis=-1)"),
        (
            B.op(
                "attention",
                *(B.input(n, (S, 2, 4)) for n in "qkv"),
                visible=((0, None),),
                scale=1,
            ),
            "attention(q, k, v, visible=((0, None)))",
        ),
    ],
)
def test_a_term_reads_as_written(term: Term, text: str) -> None:
    assert render(term) == text


def test_wires_stand_by_their_names_but_for_the_term_itself() -> None:
    labels = Labels(terms={Wire("embeds", 0): X, Wire("normed", 0): NORM})
    assert render(NORM, labels=labels) == "rms_norm(layers.0.input_layernorm, embeds)"
    assert render(B.op("silu", NORM), labels=labels) == "silu(normed)"
    assert render(B.op("silu", NORM), labels=labels, names={NORM: "here"}) == "silu(here)"


def test_what_is_too_deep_is_left_out() -> None:
    assert render(B.op("silu", DOWN), depth=1) == "silu(...)"
    assert render(B.op("silu", DOWN), depth=2) == "silu(linear(down, ...))"
