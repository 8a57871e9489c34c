"""Attention over the keys and values of one or more steps."""

from __future__ import annotations

from typing import Final

from checker.graph.arithmetic import scaled, times
from checker.graph.dims import equal, exact_div
from checker.graph.rotary import shift_of
from checker.graph.rules import Attrs, Number, Rule, Rules, need
from checker.graph.terms import Attr, ShapeError, Term

Group = tuple[Term, Term, Attr]
EVERYTHING: Final[Attr] = (None, None)


def _attention(b: Rules, args: tuple[Term, ...], attrs: Attrs) -> Term:
    """`softmax(scale * q @ k.T + mask) @ v`, the keys of all steps under one softmax.

    Step i's keys are visible where the query's index minus the key's lies in the band
    `visible[i]`. Fewer key heads than query heads means that runs of query heads share one.
    """
    need(len(args) >= 3 and len(args) % 2 == 1, f"attention takes q and pairs, not {len(args)}")
    count = len(args) // 2
    visible = attrs.get("visible", (EVERYTHING,) * count)
    if not isinstance(visible, tuple) or len(visible) != count:
        raise ShapeError(f"visible is {visible}")
    query = args[0]
    need(query.rank in (2, 3), f"attention with queries of {query.shape}")
    groups = [
        _group(b, query, args[1 + 2 * i], args[2 + 2 * i], visible[i])
        for i in range(count)
        if not _never(visible[i])
    ]
    need(bool(groups), "attention that sees no key")
    scale = _scale(attrs.get("scale"), query)
    query, groups, scale = _scales_out(b, query, groups, scale)
    query, groups = _unshifted(b, query, groups)
    groups.sort(key=_order)
    flat = [term for k, v, _ in groups for term in (k, v)]
    shape = (*query.shape[:-1], groups[0][1].shape[-1])
    bands = tuple(band for _, _, band in groups)
    return b.make("attention", (query, *flat), shape, visible=bands, scale=scale)


def _order(group: Group) -> tuple[int, str, str, str]:
    """Earlier steps are less deep; which comes first is a matter of spelling only."""
    key, value, band = group
    return (key.depth, key.key, value.key, str(band))


def _never(band: Attr) -> bool:
    if not isinstance(band, tuple) or len(band) != 2:
        raise ShapeError(f"a band is {band}")
    low, high = band
    return isinstance(low, int) and isinstance(high, int) and low > high


def _scale(given: Attr, query: Term) -> Number:
    if isinstance(given, (int, float)):
        return given
    width = query.shape[-1]
    if given is not None or not isinstance(width, int):
        raise ShapeError(f"attention of scale {given} over heads of {width}")
    return float(f"{width**-0.5:.14g}")


def _group(b: Rules, query: Term, key: Term, value: Term, band: Attr) -> Group:
    """One step's keys and values, without a repetition of heads that sharing implies."""
    heads = query.shape[-2] if query.rank == 3 else 1
    repeated = key.op == value.op == "repeat" and key.attrs == value.attrs
    if repeated and key.attr("axis") == -2 and key.rank == 3 and key.shape[-2] == heads:
        key, value = key.args[0], value.args[0]
    shared = key.op == value.op == "expand" and query.rank == 3
    if shared and key.attr("axes") == value.attr("axes") == (0, None, 1):
        key, value = key.args[0], value.args[0]
    key, value = _one_head(b, key), _one_head(b, value)
    fits = key.rank == value.rank and key.shape[:-1] == value.shape[:-1] and key.rank in (2, 3)
    need(fits, f"attention with keys of {key.shape} and values of {value.shape}")
    fits = equal(key.shape[0], query.shape[0]) is not False
    need(fits, f"attention of {query.shape[0]} queries over {key.shape[0]} keys of one step")
    fits = equal(key.shape[-1], query.shape[-1]) is not False
    need(fits, f"attention with queries of {query.shape} and keys of {key.shape}")
    fits = key.rank == 2 or exact_div(heads, key.shape[-2]) is not None
    need(fits, f"attention with queries of {query.shape} and keys of {key.shape}")
    return key, value, band


def _one_head(b: Rules, term: Term) -> Term:
    if term.rank == 3 and term.shape[-2] == 1:
        return b.op("select", term, axis=-2, index=0)
    return term


def _scales_out(
    b: Rules, query: Term, groups: list[Group], scale: Number
) -> tuple[Term, list[Group], Number]:
    """A number that multiplies the query, or the keys of all steps, belongs to the scale."""
    factor, rest = scaled(query)
    folded = times(scale, factor) if query.op == "mul" and len(rest) < len(query.args) else None
    if folded is not None:
        query, scale = b.op("mul", *rest), folded
    factors = {scaled(key)[0] for key, _, _ in groups}
    common = factors.pop() if len(factors) == 1 else 1
    folded = None if common == 1 else times(scale, common)
    if folded is not None:
        groups = [(b.op("mul", *scaled(k)[1]), v, band) for k, v, band in groups]
        scale = folded
    return query, groups, scale


def _unshifted(b: Rules, query: Term, groups: list[Group]) -> tuple[Term, list[Group]]:
    """Rotary positions count only by their differences: take a shift common to all away.

    Only if the query and *all* keys are rotated, by the same frequencies; the least constant
    becomes 0.
    """
    rotated = [query, *(key for key, _, _ in groups)]
    if any(term.op != "rope" or term.attrs != query.attrs for term in rotated):
        return query, groups
    least = min(shift_of(term.args[1]) for term in rotated)
    if least == 0:
        return query, groups
    back = b.const(-least)
    moved = [b.rebuild(t, (t.args[0], b.op("add", t.args[1], back))) for t in rotated]
    return moved[0], [(k, v, band) for k, (_, v, band) in zip(moved[1:], groups, strict=True)]


RULES: Final[dict[str, Rule]] = {"attention": _attention}
