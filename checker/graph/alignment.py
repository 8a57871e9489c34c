"""The cheapest way to read one term as an edited other, with memo on pairs of terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from checker.graph import matching as m
from checker.graph.lanes import UNARY
from checker.graph.matching import Change, Found, Kind, Match, Move, Pair
from checker.graph.operands import (
    ALIKE,
    Item,
    Items,
    Operands,
    Steps,
    positions,
    shifted_alike,
    unturned,
)
from checker.graph.terms import holder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from checker.graph.likeness import Likeness
    from checker.graph.terms import Term

CHAIN: Final = 3
"""At most so many operators in a row that only one side has are looked through at once."""
SURE: Final = 0.95
"""Ways to skip an operator that are less sure than this, next to the surest, are no ways."""
_COMMUTATIVE: Final = frozenset(("add", "mul", "and_", "or_", "maximum", "minimum"))
_SWAPPABLE: Final = UNARY | {"rms_norm", "layer_norm"}
_BY_OPERANDS: Final = frozenset(("visible", "shape"))


class Aligner:
    """Aligns pairs of terms. Work is bounded: beyond `budget` pairs, a pair is `replaced`."""

    def __init__(self, likeness: Likeness, budget: int) -> None:
        self.ledger = m.Ledger()
        self.matches: dict[Pair, Match] = {}
        self.exhausted = False
        self._likeness = likeness
        self._operands = Operands(likeness, self.ledger)
        self._budget = budget

    def align(self, train: Term, serve: Term) -> Match:
        """The cheapest alignment of a pair. An explicit stack: graphs are deep."""
        root = (train, serve)
        stack: list[tuple[Pair, Steps[Match]]] = [(root, self._solve(*root))]
        answer: Match | None = None
        while stack:
            pair, steps = stack[-1]
            try:
                wanted = next(steps) if answer is None else steps.send(answer)
            except StopIteration as stop:
                answer = self.matches[pair] = stop.value
                stack.pop()
                continue
            answer = m.IDENTICAL if wanted[0] is wanted[1] else self.matches.get(wanted)
            if answer is None:
                stack.append((wanted, self._solve(*wanted)))
        return self.matches[root]

    # One pair

    def _solve(self, t: Term, s: Term) -> Steps[Match]:
        if t is s:
            return m.IDENTICAL
        if t.op == "unknown" or s.op == "unknown":
            return self._stop(Change(Kind.UNKNOWN, "unknown", t, s), m.UNKNOWN)
        weights = self._likeness.weight(t), self._likeness.weight(s)
        if all(weights):
            return self._weights(t, s)
        replaced = self._replaced(t, s)
        if any(weights):
            return replaced
        if len(self.matches) >= self._budget:
            self.exhausted = True
            return replaced
        best = replaced
        if t.op == s.op and t.op != "input":
            same = yield from self._same(t, s)
            sure = self._likeness.kin(t, s) or self._likeness.twins(t, s)
            if same.cost <= best.cost or sure:
                best = same
            if sure:
                return best
        elif t.op in _SWAPPABLE and s.op in _SWAPPABLE:
            swapped = yield from self._swapped(t, s)
            best = swapped if swapped.cost <= best.cost else best
        kin = [
            *self._kin_below(t, s, Move.WITHOUT_TRAIN),
            *self._kin_below(t, s, Move.WITHOUT_SERVE),
        ]
        if kin and best.cost > m.MISSING:
            options: list[Match] = []
            surest = max(strength for strength, _, _ in kin)
            for strength, move, arg in kin:
                if strength >= SURE * surest:
                    options.append((yield from self._skip(t, s, move, arg)))
            return min(options, key=lambda match: match.cost)
        for move in (Move.WITHOUT_TRAIN, Move.WITHOUT_SERVE):
            if best.cost > m.MISSING:
                best = yield from self._skipping(t, s, best, move)
        return best

    def _kin_below(self, t: Term, s: Term, move: Move) -> list[tuple[float, Move, Term]]:
        """Operands that are plainly the other side's term: the operator above them is the edit.

        What such a pair costs is not weighed against `replaced`: all that differs further below
        counts in it, and is paid for anyway.
        """
        skipped, kept = (t, s) if move is Move.WITHOUT_TRAIN else (s, t)
        args = self._likeness.operands(skipped)
        depth = CHAIN if len(args) == 1 else 1
        found = [(self._likeness.relation(arg, kept, depth), arg) for arg in args]
        strength, best = max(found, key=lambda item: item[0], default=(0.0, skipped))
        return [(strength, move, best)] if strength > 0 else []

    def _skip(self, t: Term, s: Term, move: Move, arg: Term) -> Steps[Match]:
        """One side's operator left out, all but one of its operands with it."""
        kind, skipped = (Kind.MISSING, t) if move is Move.WITHOUT_TRAIN else (Kind.EXTRA, s)
        pair = (arg, s) if move is Move.WITHOUT_TRAIN else (t, arg)
        cost = m.MISSING * len(self._likeness.operands(skipped))
        yield pair
        if skipped.op in ("add", "mul"):
            return self._match(move, self._left_out(kind, skipped, arg), [pair])
        change = Change(kind, "operator", t, s, skipped.op)
        return self._match(move, [(change, cost)], [pair])

    def _left_out(self, kind: Kind, term: Term, kept: Term) -> list[tuple[Change, int]]:
        """A sum or product of which one operand is left: it is the others that are not there.

        What the graph has as one partial sum elsewhere is one operand.
        """
        others = list(term.args)
        others.remove(kept)
        partial = [p for p in self._likeness.partials(term) if set(p.args) == set(others)]
        parent = term if kind is Kind.MISSING else None
        alone = [_loner(kind, "operand", parent, other) for other in partial[:1] or others]
        return [(change, m.ANOTHER if i else m.MISSING) for i, change in enumerate(alone)]

    def _skipping(self, t: Term, s: Term, best: Match, move: Move) -> Steps[Match]:
        """One side's operator left out: the other term is compared with one of its operands."""
        skipped, kept = (t, s) if move is Move.WITHOUT_TRAIN else (s, t)
        for arg in self._likeness.operands(skipped):
            if best.cost > m.MISSING + 1 and self._promising(arg, kept):
                option = yield from self._skip(t, s, move, arg)
                best = option if option.cost < best.cost else best
        return best

    def _promising(self, arg: Term, kept: Term) -> bool:
        """Whether one operator left out may be all: what follows is of one kind, and alike."""
        follows = arg.op == kept.op or any(
            below is kept or below.op == kept.op for below in arg.args
        )
        follows = follows or any(below.op == arg.op for below in kept.args)
        return follows and self._likeness.ratio(arg, kept) >= ALIKE

    def _replaced(self, t: Term, s: Term) -> Match:
        """Another source altogether. The more alike the two are, the less it is believed."""
        if t.op == s.op == "input" and t.attr("name") == s.attr("name"):
            detail = f"{m.shown(t.shape)} -> {m.shown(s.shape)}"
            return self._stop(Change(Kind.SHAPE, "shape", t, s, detail), m.SHAPE)
        if t.op == s.op and t.op in ("const", "full", "inv_freq"):
            changes = self._attributes(t, s)
            if changes:
                return self._match(Move.SAME, changes, [])
        ratio = self._likeness.ratio(t, s)
        if not t.args or not s.args:
            ratio = min(ratio, 0.5)
        if self._likeness.kin(t, s):
            ratio = max(ratio, self._likeness.share(t, s))
        smaller = min(self._likeness.sizes[t], self._likeness.sizes[s])
        cost = m.REPLACED + m.step(int(3 * ratio * ratio * smaller))
        return self._stop(Change(Kind.REPLACED, "source", t, s), cost)

    def _weights(self, t: Term, s: Term) -> Match:
        changes: list[tuple[Change, int]] = []
        if t.shape != s.shape:
            detail = f"{m.shown(t.shape)} -> {m.shown(s.shape)}"
            changes.append((Change(Kind.SHAPE, "shape", t, s, detail), m.SHAPE))
        if self._likeness.unloaded(s) or self._likeness.unloaded(t):
            changes.append((Change(Kind.PARAMETER, "unloaded", t, s), m.UNLOADED))
        elif t.op != "param" or s.op != "param" or t.attr("name") != s.attr("name"):
            changes.append((Change(Kind.PARAMETER, "parameter", t, s), m.PARAMETER))
        return self._match(Move.STOP, changes, [])

    def _attributes(self, t: Term, s: Term) -> list[tuple[Change, int]]:
        return [
            (Change(Kind.ATTRIBUTE, name, t, s, detail), m.ATTRIBUTE)
            for name, detail in m.differing(t, s, _BY_OPERANDS)
        ]

    # The same operator on both sides

    def _same(self, t: Term, s: Term) -> Steps[Match]:
        draft = _Draft(self._attributes(t, s), [])
        if t.op in _COMMUTATIVE:
            items, found = yield from self._operands.regrouped(t, s)
            _report(t, found, items, draft)
        elif t.op == "concat":
            yield from self._parts(t, s, draft)
        elif t.op == "attention":
            yield from self._attention(t, s, draft)
        else:
            draft.pairs.extend(zip(t.args, s.args, strict=False))
            aspect = "bias" if t.op == "linear" else "operand"
            for kind, loners in (
                (Kind.MISSING, t.args[len(s.args) :]),
                (Kind.EXTRA, s.args[len(t.args) :]),
            ):
                draft.changes.extend((_loner(kind, aspect, t, term), m.BIAS) for term in loners)
        yield from _visit(draft.pairs)
        if not draft.changes and all(a is c for a, c in draft.pairs):
            draft.changes.extend(self._silent(t, s))
        return self._match(Move.SAME, draft.changes, draft.pairs)

    def _swapped(self, t: Term, s: Term) -> Steps[Match]:
        """Another operator of the same kind in the same place."""
        pairs: list[Pair] = list(zip(t.args, s.args, strict=False))
        yield from _visit(pairs)
        change = Change(Kind.REPLACED, "operator", t, s, f"{t.op} -> {s.op}")
        return self._match(Move.SAME, [(change, m.MISSING)], pairs)

    def _silent(self, t: Term, s: Term) -> list[tuple[Change, int]]:
        """Terms that differ in nothing that was compared differ in their shapes."""
        detail = f"{m.shown(t.shape)} -> {m.shown(s.shape)}"
        return [(Change(Kind.SHAPE, "shape", t, s, detail), m.SHAPE)]

    def _parts(self, t: Term, s: Term, draft: _Draft) -> Steps[None]:
        """Parts in order, unless the same parts in another order explain more."""
        ours, theirs = [(arg,) for arg in t.args], [(arg,) for arg in s.args]
        found = self._operands.plain_parts(ours, theirs)
        if found is None:
            masks = yield from self._operands.masks(ours, theirs)
            found = positions(len(ours), len(theirs))
            if len(ours) != len(theirs):
                costs = [[self.ledger.cost(mask) for mask in row] for row in masks]
                found = m.in_order(costs, m.MISSING)
            free = m.assign(masks, self.ledger)
            prices = [m.price(f, masks, self.ledger) for f in (free, found)]
            paired = all(i is not None and j is not None for i, j in free)
            found = free if paired and prices[0] + m.REORDERED < prices[1] else found
        order = tuple(j for _, j in found if j is not None)
        if order != tuple(sorted(order)):
            change = Change(Kind.REORDERED, "order", t, s, m.shown(order))
            draft.changes.append((change, m.REORDERED))
        _report(t, found, (ours, theirs), draft)

    def _attention(self, t: Term, s: Term, draft: _Draft) -> Steps[None]:
        """The query, and each step's keys and values with the band in which they are seen."""
        ours, theirs = _groups(t), _groups(s)
        found = yield from self._operands.partners(ours, theirs)
        turned = [(t.args[0], s.args[0])]
        turned += [(ours[i][0], theirs[j][0]) for i, j in found if i is not None and j is not None]
        if shifted_alike(turned):
            draft.changes.extend(c for pair in turned for c in self._attributes(*pair))
            ours = [unturned(item) for item in ours]
            theirs = [unturned(item) for item in theirs]
            turned[0] = unturned((turned[0][0],))[0], unturned((turned[0][1],))[0]
        draft.pairs.append(turned[0])
        bands = t.attr("visible"), s.attr("visible")
        for i, j in found:
            if i is None or j is None or not all(isinstance(b, tuple) for b in bands):
                continue
            mine, other = (b[k] for b, k in zip(bands, (i, j), strict=True) if isinstance(b, tuple))
            if mine != other:
                detail = f"{m.shown(mine)} -> {m.shown(other)}"
                change = Change(Kind.ATTRIBUTE, "visible", t, s, detail, group=ours[i][0])
                draft.changes.append((change, m.ATTRIBUTE))
        _report(t, found, (ours, theirs), draft)

    # Bookkeeping

    def _known(self, pair: Pair) -> Match:
        return m.IDENTICAL if pair[0] is pair[1] else self.matches[pair]

    def _stop(self, change: Change, cost: int) -> Match:
        return self._match(Move.STOP, [(change, cost)], [])

    def _match(
        self, move: Move, changes: Sequence[tuple[Change, int]], pairs: Sequence[Pair]
    ) -> Match:
        mask = 0
        for change, cost in changes:
            mask |= self.ledger.bit(change, cost)
        for pair in pairs:
            mask |= self._known(pair).mask
        unique = tuple(dict.fromkeys(pairs))
        return Match(move, tuple(c for c, _ in changes), unique, mask, self.ledger.cost(mask))


def _visit(pairs: Sequence[Pair]) -> Steps[None]:
    """Has pairs aligned; their matches are looked up later."""
    for pair in pairs:
        _ = yield pair


@dataclass(slots=True)
class _Draft:
    """What a comparison of two terms of one operator has found so far."""

    changes: list[tuple[Change, int]]
    pairs: list[Pair]


def _report(t: Term, found: Found, items: tuple[Items, Items], draft: _Draft) -> None:
    """Adds operands with a partner as pairs, and those without as changes.

    A step's keys that an attention has no partner for are keys that one side does not see.
    """
    ours, theirs = items
    aspect = "visible" if t.op == "attention" else "operand"
    alone: list[Change] = []
    for i, j in found:
        if i is not None and j is not None:
            draft.pairs.extend(zip(ours[i], theirs[j], strict=True))
        elif i is not None:
            alone.append(_loner(Kind.MISSING, aspect, holder(t, ours[i][0]), ours[i][0]))
        elif j is not None:
            alone.append(_loner(Kind.EXTRA, aspect, t, theirs[j][0]))
    draft.changes.extend((c, m.ANOTHER if i else m.MISSING) for i, c in enumerate(alone))


def _loner(kind: Kind, aspect: str, parent: Term | None, term: Term) -> Change:
    train, serve = (term, None) if kind is Kind.MISSING else (None, term)
    operator = parent.op if aspect == "visible" and parent is not None else term.op
    return Change(kind, aspect, train, serve, operator, parent)


def _groups(term: Term) -> list[Item]:
    return [term.args[i : i + 2] for i in range(1, len(term.args), 2)]
