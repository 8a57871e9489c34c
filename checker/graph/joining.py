"""Adjacent pieces of one term are that term again: what undoes a chunk that is concatenated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.graph.dims import Dim, dim_mul, same
from checker.graph.lanes import lanes, rebuild_along
from checker.graph.rules import Rules, axes_attr, axis_attr, with_axis
from checker.graph.terms import summands

if TYPE_CHECKING:
    from checker.graph.terms import Shape, Term

_CUT_ATTRS = frozenset(("shape", "sizes"))


def join(b: Rules, left: Term, right: Term, axis: int) -> Term | None:
    """`concat(left, right)` along `axis` as one term that is no concatenation, if there is one."""
    if left.op != right.op:
        return None
    pair = (left, right, axis)
    if pair not in b.joined:  # deep terms share most of what is below them
        b.joined[pair] = _join(b, left, right, axis)
    return b.joined[pair]


def _join(b: Rules, left: Term, right: Term, axis: int) -> Term | None:
    shape = with_axis(left.shape, axis, left.shape[axis] + right.shape[axis])
    if left.op == "slice":
        return _join_slices(b, left, right, axis)
    if left.op in ("full", "empty"):
        return b.make(left.op, (), shape, **dict(left.attrs)) if _same_attrs(left, right) else None
    if left.op == "flatten" and left.attr("axis") == axis:
        return _join_merged(b, left, right, axis)
    if left.op == "unflatten":
        return _join_blocks(b, left, right, axis)
    if left.op == "expand" and _source(left, axis) is None:
        if left.args == right.args and left.attr("axes") == right.attr("axes"):
            return rebuild_along(b, left, left.args, shape)
        return None
    return _join_lanes(b, left, right, axis, shape)


def _join_slices(b: Rules, left: Term, right: Term, axis: int) -> Term | None:
    x = left.args[0]
    if x is not right.args[0] or left.attr("axis") != axis or right.attr("axis") != axis:
        if left.attr("axis") == right.attr("axis") != axis and left.attrs == right.attrs:
            below = join(b, x, right.args[0], axis)
            return None if below is None else b.op("slice", below, **dict(left.attrs))
        return None
    if left.attr("stop") != right.attr("start"):
        return None
    return b.op("slice", x, axis=axis, start=left.attr("start"), stop=right.attr("stop"))


def _join_blocks(b: Rules, left: Term, right: Term, axis: int) -> Term | None:
    """Ranges of whole blocks along the outermost of split axes."""
    at = axis_attr(left)
    outer = at - (left.rank - left.args[0].rank)
    if (
        at != right.attr("axis")
        or left.rank != right.rank
        or right.args[0].rank != left.args[0].rank
    ):
        return None
    ours, theirs = (t.shape[outer : at + 1 or None] for t in (left, right))
    if axis != outer:
        return _join_lanes(b, left, right, axis, ()) if ours == theirs else None
    if ours[1:] != theirs[1:]:
        return None
    below = join(b, left.args[0], right.args[0], at)
    blocks: Dim = ours[0] + theirs[0]
    if below is None or not same(below.shape[at], blocks * dim_mul(ours[1:])):
        return None
    return b.op("unflatten", below, axis=at, sizes=(blocks, *ours[1:]))


def _join_merged(b: Rules, left: Term, right: Term, axis: int) -> Term | None:
    """Ranges of the outermost of merged axes."""
    if not _same_attrs(left, right) or left.args[0].rank != right.args[0].rank:
        return None
    outer = axis - (left.args[0].rank - left.rank)
    inner = [t.args[0].shape[outer + 1 : axis + 1 or None] for t in (left, right)]
    below = join(b, left.args[0], right.args[0], outer) if inner[0] == inner[1] else None
    return None if below is None else b.rebuild(left, (below,))


def _join_lanes(b: Rules, left: Term, right: Term, axis: int, shape: Shape) -> Term | None:
    ours, theirs = summands(left), summands(right)
    if not _same_attrs(left, right) or len(ours) != len(theirs):
        return None
    along, other = lanes(left, axis), lanes(right, axis)
    if along is None or other is None or all(lane is None for lane in along):
        return None
    joined: list[Term] = []
    free = list(zip(theirs, other, strict=True))
    commutes = left.op in ("add", "mul")
    for arg, lane in zip(ours, along, strict=True):
        for i, (candidate, candidate_lane) in enumerate(free if commutes else free[:1]):
            if lane != candidate_lane:
                continue
            if lane is None:
                whole = arg if arg is candidate else None
            else:
                whole = join(b, arg, candidate, lane)
            if whole is not None:
                joined.append(whole)
                del free[i]
                break
        else:
            return None
    return rebuild_along(b, left, tuple(joined), shape)


def _same_attrs(left: Term, right: Term) -> bool:
    ours = [pair for pair in left.attrs if pair[0] not in _CUT_ATTRS]
    return ours == [pair for pair in right.attrs if pair[0] not in _CUT_ATTRS] and [
        type(value) for _, value in ours
    ] == [type(value) for name, value in right.attrs if name not in _CUT_ATTRS]


def _source(term: Term, axis: int) -> int | None:
    return axes_attr(dict(term.attrs), term.args[0].rank)[axis]
