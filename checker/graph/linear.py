"""Linear maps and table look-ups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from checker.graph.dims import equal
from checker.graph.joining import join
from checker.graph.rules import Attrs, Number, Rule, Rules, arity, axis_attr, filled, need

if TYPE_CHECKING:
    from checker.graph.terms import Term


def _linear(b: Rules, args: tuple[Term, ...], _attrs: Attrs) -> Term:
    """`x @ w.T + bias` over the last axis; the weight is (out, in)."""
    arity("linear", args, 2, 3)
    x, w = args[:2]
    need(w.rank == 2 and x.rank >= 1, f"linear of {x.shape} with a weight of {w.shape}")
    fits = equal(x.shape[-1], w.shape[1]) is not False
    need(fits, f"linear of width {x.shape[-1]} with a weight of {w.shape}")
    out = w.shape[0]
    if len(args) == 3:
        bias = args[2]
        fits = bias.rank == 1 and equal(bias.shape[0], out) is not False
        need(fits, f"linear to {out} with a bias of {bias.shape}")
        if filled(bias) == 0:
            return b.op("linear", x, w)
    if w.op == "concat" and w.attr("axis") == -2 and not b.deep:
        parts: list[Term] = []
        at = out * 0
        for rows in w.args:
            end = at + rows.shape[0]
            cut = (b.op("slice", bias, axis=-1, start=at, stop=end) for bias in args[2:])
            parts.append(b.op("linear", x, rows, *cut))
            at = end
        return b.op("concat", *parts, axis=-1)
    if x.op == "concat" and x.attr("axis") != -1 and not b.deep:
        pieces = (b.op("linear", piece, *args[1:]) for piece in x.args)
        return b.op("concat", *pieces, axis=x.attr("axis"))
    return b.make("linear", args, (*x.shape[:-1], out))


def _matmul(b: Rules, args: tuple[Term, ...], _attrs: Attrs) -> Term:
    arity("matmul", args, 2)
    x, y = args
    if y.rank == 2 and x.rank >= 1:
        return b.op("linear", x, b.op("transpose", y))
    need(x.rank == y.rank and x.rank >= 2, f"matmul of {x.shape} and {y.shape}")
    fits = all(equal(p, q) is not False for p, q in zip(x.shape[:-2], y.shape[:-2], strict=True))
    need(
        fits and equal(x.shape[-1], y.shape[-2]) is not False, f"matmul of {x.shape} and {y.shape}"
    )
    return b.make("matmul", args, (*x.shape[:-1], y.shape[-1]))


def whole_maps(b: Rules, terms: list[tuple[Term, Number]]) -> list[tuple[Term, Number]]:
    """A sum's linear maps with adjacent columns of one weight are one map of what they take."""
    partial = [pair for pair in terms if columns(pair[0])]
    for i, (left, factor) in enumerate(partial):
        for right, other in partial[i + 1 :]:
            for one, two in ((left, right), (right, left)):
                if not (type(factor) is type(other) and factor == other):
                    continue
                weight = join(b, one.args[1], two.args[1], -1)
                if weight is None or one.shape != two.shape:
                    continue
                taken = b.op("concat", one.args[0], two.args[0], axis=-1)
                rest = [pair for pair in terms if pair[0] is not left and pair[0] is not right]
                return whole_maps(b, [*rest, (b.op("linear", taken, weight), factor)])
    return terms


def columns(term: Term) -> bool:
    """Whether a term applies a range of a weight's columns."""
    if term.op != "linear" or len(term.args) != 2:
        return False
    weight = term.args[1]
    return weight.op == "slice" and weight.attr("axis") == -1


def _embedding(b: Rules, args: tuple[Term, ...], _attrs: Attrs) -> Term:
    arity("embedding", args, 2)
    ids, table = args
    need(table.rank == 2, f"embedding with a table of {table.shape}")
    if ids.op == "concat" and not b.deep:
        axis = axis_attr(ids)
        return b.op("concat", *(b.op("embedding", i, table) for i in ids.args), axis=axis - 1)
    return b.make("embedding", args, (*ids.shape, table.shape[1]))


RULES: Final[dict[str, Rule]] = {
    "linear": _linear,
    "matmul": _matmul,
    "embedding": _embedding,
}
