"""The cheapest way to read one term as an edited other, with memo on pairs of terms."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from checker.graph import matching as m
from checker.graph.lanes import UNARY
from checker.graph.matching import Change, Found, Kind, Match, Move, Pair
from checker.graph.rotary import shift_of

if TYPE_CHECKING:
    from checker.graph.likeness import Likeness
    from checker.graph.terms import Term

R = TypeVar("R")
Steps = Generator[Pair, Match, R]
Item = tuple["Term", ...]
Items = Sequence[Item]
Measure = tuple[Callable[[Item, Item], float], float]

ALIKE: Final = 0.34
"""Terms less alike than this are not worth looking for one inside the other."""
SLACK: Final = 2
KIN: Final = 0.1
CHAIN: Final = 3
"""At most so many operators in a row that only one side has are looked through at once."""
LARGEST: Final = 7
"""More operands than this are assigned by likeness alone."""
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
            if same.cost <= best.cost or self._likeness.kin(t, s):
                best = same
            if self._likeness.kin(t, s):
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
            for move, arg in kin:
                options.append((yield from self._skip(t, s, move, arg)))
            return min(options, key=lambda match: match.cost)
        for move in (Move.WITHOUT_TRAIN, Move.WITHOUT_SERVE):
            if best.cost > m.MISSING:
                best = yield from self._skipping(t, s, best, move)
        return best

    def _kin_below(self, t: Term, s: Term, move: Move) -> list[tuple[Move, Term]]:
        """Operands that are plainly the other side's term: the operator above them is the edit.

        What such a pair costs is not weighed against `replaced`: all that differs further below
        counts in it, and is paid for anyway.
        """
        skipped, kept = (t, s) if move is Move.WITHOUT_TRAIN else (s, t)
        args = self._kept_args(skipped)
        found = [(self._relation(arg, kept, CHAIN if len(args) == 1 else 1), arg) for arg in args]
        best = max(found, key=lambda item: item[0], default=(0.0, skipped))
        return [(move, best[1])] if best[0] > 0 else []

    def _relation(self, arg: Term, kept: Term, depth: int) -> float:
        """How surely an operand is the other side's term, looking through operators in a row."""
        for _ in range(depth):
            if arg is kept:
                return 4.0
            if self._likeness.kin(arg, kept):
                return self._likeness.kinship(arg, kept)
            below = self._kept_args(arg)
            if len(below) != 1:
                break
            arg = below[0]
        return 0.0

    def _kept_args(self, term: Term) -> list[Term]:
        args = dict.fromkeys(term.args)
        return [arg for arg in args if not self._likeness.weight(arg) and arg.shape]

    def _skip(self, t: Term, s: Term, move: Move, arg: Term) -> Steps[Match]:
        """One side's operator left out, all but one of its operands with it."""
        kind, skipped = (Kind.MISSING, t) if move is Move.WITHOUT_TRAIN else (Kind.EXTRA, s)
        pair = (arg, s) if move is Move.WITHOUT_TRAIN else (t, arg)
        cost = m.MISSING * len(self._kept_args(skipped))
        yield from self._visit(pair)
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
        for arg in self._kept_args(skipped):
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
        cost = m.REPLACED + int(3 * ratio * ratio * smaller)
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
            items, found = yield from self._regrouped(t, s)
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
        for pair in draft.pairs:
            yield from self._visit(pair)
        if not draft.changes and all(a is c for a, c in draft.pairs):
            draft.changes.extend(self._silent(t, s))
        return self._match(Move.SAME, draft.changes, draft.pairs)

    def _swapped(self, t: Term, s: Term) -> Steps[Match]:
        """Another operator of the same kind in the same place."""
        pairs: list[Pair] = list(zip(t.args, s.args, strict=False))
        for pair in pairs:
            yield from self._visit(pair)
        change = Change(Kind.REPLACED, "operator", t, s, f"{t.op} -> {s.op}")
        return self._match(Move.SAME, [(change, m.MISSING)], pairs)

    def _silent(self, t: Term, s: Term) -> list[tuple[Change, int]]:
        """Terms that differ in nothing that was compared differ in their shapes."""
        detail = f"{m.shown(t.shape)} -> {m.shown(s.shape)}"
        return [(Change(Kind.SHAPE, "shape", t, s, detail), m.SHAPE)]

    def _regrouped(self, t: Term, s: Term) -> Steps[tuple[tuple[Items, Items], Found]]:
        """Operands one to one, or with one partial sum of either side taken as a single operand.

        A sum of sums is flat, so a step's stream holds the operands of all steps before. Where the
        other side has something else in place of an earlier stream, it must be seen as one again.
        """
        ours: Items = [(arg,) for arg in t.args]
        theirs: Items = [(arg,) for arg in s.args]
        options = self._both_partial(t, s)
        if len(ours) != len(theirs) or not set(ours) & set(theirs):
            options.extend((part, theirs) for part in self._with_partial(t, len(theirs)))
            options.extend((ours, part) for part in self._with_partial(s, len(ours)))
        strangers = {i: self._strangers(*items) for i, items in enumerate(options)}
        most = min((self._strangers(ours, theirs), *strangers.values())) + SLACK
        likely = sorted((i for i in strangers if strangers[i] <= most), key=lambda i: strangers[i])
        options = [*(options[i] for i in likely[:LARGEST]), (ours, theirs)]
        priced: list[tuple[int, tuple[Items, Items], Found]] = []
        for items in options:
            found = yield from self._operands(*items)
            cost = yield from self._price(*items, found)
            priced.append((cost, items, found))
        _, items, found = min(priced, key=lambda option: option[0])
        return items, found

    def _strangers(self, ours: Items, theirs: Items) -> int:
        """How many operands have no plain partner: a cheap view of how well a grouping fits."""
        _, left, right = self._partners(ours, theirs, ((self._akin, KIN),))
        return len(left) + len(right)

    def _with_partial(self, term: Term, count: int) -> list[Items]:
        """The operands, with a partial result that the graph has elsewhere standing for its own."""
        items = [_taken(term, partial) for partial in self._likeness.partials(term)]
        return [item for item in items if len(item) in (count, count + 1)][:LARGEST]

    def _both_partial(self, t: Term, s: Term) -> list[tuple[Items, Items]]:
        """Both sides with a partial result: two that leave as many operands, or the most alike."""
        ours, theirs = self._likeness.partials(t), self._likeness.partials(s)
        rest = {len(s.args) - len(p.args): p for p in theirs}
        pairs = [
            (p, rest[len(t.args) - len(p.args)])
            for p in sorted(ours, key=lambda p: -len(p.args))
            if len(t.args) - len(p.args) in rest
        ][:4]
        alike = m.mutual(ours, theirs, self._likeness.closeness, ALIKE)
        alike.sort(key=lambda ij: -len(ours[ij[0]].args))
        pairs += [(ours[i], theirs[j]) for i, j in alike[:3]]
        return [(_taken(t, p), _taken(s, q)) for p, q in dict.fromkeys(pairs)]

    def _price(self, ours: Items, theirs: Items, found: Found) -> Steps[int]:
        mask, rows, columns = 0, 0, 0
        for i, j in found:
            if i is None or j is None:
                rows, columns = rows + (j is None), columns + (i is None)
                continue
            for pair in zip(ours[i], theirs[j], strict=True):
                match = yield from self._visit(pair)
                mask |= match.mask
        return m.loners(rows, columns) + self.ledger.cost(mask)

    def _parts(self, t: Term, s: Term, draft: _Draft) -> Steps[None]:
        """Parts in order, unless the same parts in another order explain more."""
        ours, theirs = [(arg,) for arg in t.args], [(arg,) for arg in s.args]
        alike = [self._likeness.kin(a, c) or a is c for a, c in zip(t.args, s.args, strict=False)]
        if max(len(ours), len(theirs)) > LARGEST or (len(ours) == len(theirs) and all(alike)):
            found = _positions(len(ours), len(theirs))
        else:
            masks = yield from self._masks(ours, theirs)
            found = _positions(len(ours), len(theirs))
            if len(ours) != len(theirs):
                costs = [[self.ledger.cost(mask) for mask in row] for row in masks]
                found = m.in_order(costs, m.MISSING)
            free = m.assign(masks, self.ledger)
            prices = [m.price(f, masks, self.ledger) for f in (free, found)]
            paired = all(i is not None and j is not None for i, j in free)
            if paired and prices[0] + m.REORDERED < prices[1]:
                order = m.shown(tuple(j for _, j in free))
                draft.changes.append((Change(Kind.REORDERED, "order", t, s, order), m.REORDERED))
                found = free
        _report(t, found, (ours, theirs), draft)

    def _attention(self, t: Term, s: Term, draft: _Draft) -> Steps[None]:
        """The query, and each step's keys and values with the band in which they are seen."""
        ours, theirs = _groups(t), _groups(s)
        found = yield from self._operands(ours, theirs)
        turned = [(t.args[0], s.args[0])]
        turned += [(ours[i][0], theirs[j][0]) for i, j in found if i is not None and j is not None]
        if _shifted_alike(turned):
            draft.changes.extend(c for pair in turned for c in self._attributes(*pair))
            ours = [_unturned(item) for item in ours]
            theirs = [_unturned(item) for item in theirs]
            turned[0] = _unturned((turned[0][0],))[0], _unturned((turned[0][1],))[0]
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

    def _operands(self, ours: Items, theirs: Items) -> Steps[Found]:
        """Which operand of a commutative operator is which: identical, most alike, cheapest."""
        measures = ((self._akin, KIN), (self._alike, ALIKE))
        found, left, right = self._partners(ours, theirs, measures)
        if max(len(left), len(right)) > LARGEST:
            rest = _positions(len(left), len(right))
        else:
            masks = yield from self._masks([ours[i] for i in left], [theirs[j] for j in right])
            rest = m.assign(masks, self.ledger) if left else _positions(0, len(right))
        found.extend(
            (None if i is None else left[i], None if j is None else right[j]) for i, j in rest
        )
        return sorted(found, key=lambda ij: (ij[0] is None, ij[0] or 0, ij[1] or 0))

    def _partners(
        self, ours: Items, theirs: Items, measures: Sequence[Measure]
    ) -> tuple[Found, list[int], list[int]]:
        """The operands that are identical or each other's most alike, and those that are left."""
        found: Found = []
        left, right = list(range(len(ours))), list(range(len(theirs)))
        for i in tuple(left):
            j = next((j for j in right if theirs[j] == ours[i]), None)
            if j is not None:
                found.append((i, j))
                left.remove(i)
                right.remove(j)
        for measure, least in measures:
            if least == ALIKE and len(left) * len(right) <= 4:
                break
            likely = m.mutual([ours[i] for i in left], [theirs[j] for j in right], measure, least)
            chosen = [(left[i], right[j]) for i, j in likely]
            found.extend(chosen)
            left = [i for i in left if i not in {i for i, _ in chosen}]
            right = [j for j in right if j not in {j for _, j in chosen}]
        return found, left, right

    def _masks(self, ours: Items, theirs: Items) -> Steps[list[list[int]]]:
        table: list[list[int]] = []
        for a in ours:
            row: list[int] = []
            for c in theirs:
                mask = 0
                for pair in zip(a, c, strict=True):
                    match = yield from self._visit(pair)
                    mask |= match.mask
                row.append(mask)
            table.append(row)
        return table

    def _akin(self, a: Item, c: Item) -> float:
        return self._likeness.kinship(a[0], c[0])

    def _alike(self, a: Item, c: Item) -> float:
        return self._likeness.closeness(a[0], c[0])

    # Bookkeeping

    def _visit(self, pair: Pair) -> Steps[Match]:
        return (yield pair)

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


def _shifted_alike(pairs: Sequence[Pair]) -> bool:
    """Whether all positions differ by one constant, which rotary attention does not see.

    The normal form takes a common shift away, but what is common depends on how many steps' keys
    there are; two attentions over different steps may have kept different constants.
    """
    if any(t.op != "rope" or s.op != "rope" for t, s in pairs):
        return False
    moved = {shift_of(s.args[1]) - shift_of(t.args[1]) for t, s in pairs}
    fixed = all(_varying(t.args[1]) == _varying(s.args[1]) for t, s in pairs)
    return fixed and len(moved) == 1 and moved != {0}


def _varying(positions: Term) -> list[Term]:
    args = positions.args if positions.op == "add" else (positions,)
    return [arg for arg in args if arg.op != "const"]


def _unturned(item: Item) -> Item:
    first, *rest = item
    return (first.args[0] if first.op == "rope" else first, *rest)


@dataclass(slots=True)
class _Draft:
    """What a comparison of two terms of one operator has found so far."""

    changes: list[tuple[Change, int]]
    pairs: list[Pair]


def _report(t: Term, found: Found, items: tuple[Items, Items], draft: _Draft) -> None:
    """Adds operands with a partner as pairs, and those without as changes."""
    ours, theirs = items
    alone: list[Change] = []
    for i, j in found:
        if i is not None and j is not None:
            draft.pairs.extend(zip(ours[i], theirs[j], strict=True))
        elif i is not None:
            alone.append(_loner(Kind.MISSING, "operand", t, ours[i][0]))
        elif j is not None:
            alone.append(_loner(Kind.EXTRA, "operand", t, theirs[j][0]))
    draft.changes.extend((c, m.ANOTHER if i else m.MISSING) for i, c in enumerate(alone))


def _loner(kind: Kind, aspect: str, parent: Term | None, term: Term) -> Change:
    train, serve = (term, None) if kind is Kind.MISSING else (None, term)
    return Change(kind, aspect, train, serve, term.op, parent)


def _groups(term: Term) -> list[Item]:
    return [term.args[i : i + 2] for i in range(1, len(term.args), 2)]


def _taken(term: Term, partial: Term) -> Items:
    """The operands of a sum, those of a partial sum taken as one."""
    rest = list(term.args)
    for arg in partial.args:
        rest.remove(arg)
    return [(partial,), *((arg,) for arg in rest)]


def _positions(rows: int, columns: int) -> Found:
    return [
        (i if i < rows else None, i if i < columns else None) for i in range(max(rows, columns))
    ]
