"""The cheapest way to read one term as an edited other, with memo on pairs of terms."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from checker.graph import matching as m
from checker.graph.lanes import UNARY
from checker.graph.likeness import Likeness
from checker.graph.matching import Change, Kind, Match, Move, Pair

if TYPE_CHECKING:
    from checker.graph.terms import Term

R = TypeVar("R")
Steps = Generator[Pair, Match, R]
Item = tuple["Term", ...]
Items = Sequence[Item]
Found = Sequence[tuple["int | None", "int | None"]]

ALIKE: Final = 0.34
"""Terms less alike than this are not worth looking for one inside the other."""
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
        if t.op == s.op:
            same = yield from self._same(t, s)
            best = same if same.cost <= best.cost else best
        elif t.op in _SWAPPABLE and s.op in _SWAPPABLE:
            swapped = yield from self._swapped(t, s)
            best = swapped if swapped.cost <= best.cost else best
        if best.cost > m.MISSING:
            best = yield from self._skipping(t, s, best, Move.WITHOUT_TRAIN)
        if best.cost > m.MISSING:
            best = yield from self._skipping(t, s, best, Move.WITHOUT_SERVE)
        return best

    def _skipping(self, t: Term, s: Term, best: Match, move: Move) -> Steps[Match]:
        """One side's operator left out: the other term is compared with one of its operands."""
        skipped, kept = (t, s) if move is Move.WITHOUT_TRAIN else (s, t)
        kind = Kind.MISSING if move is Move.WITHOUT_TRAIN else Kind.EXTRA
        args = [arg for arg in skipped.args if not self._likeness.weight(arg) and arg.shape]
        cost = m.MISSING * max(1, len(args) - 1)
        for arg in dict.fromkeys(args):
            if arg is not kept:
                least = cost + 1
                if best.cost <= least or self._likeness.ratio(arg, kept) < ALIKE:
                    continue
            pair = (arg, s) if move is Move.WITHOUT_TRAIN else (t, arg)
            yield from self._visit(pair)
            change = Change(kind, "operator", t, s, skipped.op)
            option = self._match(move, [(change, cost)], [pair])
            best = option if option.cost < best.cost else best
        return best

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
        changes = self._attributes(t, s)
        pairs: list[Pair] = []
        if t.op in _COMMUTATIVE:
            items, found = yield from self._regrouped(t, s)
            self._report(t, found, *items, changes, pairs)
        elif t.op == "concat":
            yield from self._parts(t, s, changes, pairs)
        elif t.op == "attention":
            yield from self._attention(t, s, changes, pairs)
        else:
            pairs.extend(zip(t.args, s.args, strict=False))
            aspect = "bias" if t.op == "linear" else "operand"
            for kind, loners in (
                (Kind.MISSING, t.args[len(s.args) :]),
                (Kind.EXTRA, s.args[len(t.args) :]),
            ):
                changes.extend((self._loner(kind, aspect, t, term), m.BIAS) for term in loners)
        for pair in pairs:
            yield from self._visit(pair)
        if not changes and all(a is c for a, c in pairs):
            changes = self._silent(t, s)
        return self._match(Move.SAME, changes, pairs)

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
        options = [(ours, theirs)]
        if len(ours) != len(theirs) or not set(ours) & set(theirs):
            options.extend((part, theirs) for part in self._with_partial(t, len(theirs)))
            options.extend((ours, part) for part in self._with_partial(s, len(ours)))
        best: tuple[int, tuple[Items, Items], Found] | None = None
        for items in options:
            found = yield from self._operands(*items)
            cost = yield from self._price(*items, found)
            if best is None or cost < best[0]:
                best = (cost, items, found)
        assert best is not None
        return best[1], best[2]

    def _with_partial(self, term: Term, count: int) -> list[Items]:
        """The operands, with a partial result that the graph has elsewhere standing for its own."""
        result: list[Items] = []
        for partial in self._likeness.partials(term):
            rest = list(term.args)
            for arg in partial.args:
                rest.remove(arg)
            if len(rest) + 1 == count:
                result.append([(partial,), *((arg,) for arg in rest)])
        return result

    def _price(self, ours: Items, theirs: Items, found: Found) -> Steps[int]:
        mask, alone = 0, 0
        for i, j in found:
            if i is None or j is None:
                alone += m.MISSING
                continue
            for pair in zip(ours[i], theirs[j], strict=True):
                match = yield from self._visit(pair)
                mask |= match.mask
        return alone + self.ledger.cost(mask)

    def _parts(
        self, t: Term, s: Term, changes: list[tuple[Change, int]], pairs: list[Pair]
    ) -> Steps[None]:
        """Parts in order, unless the same parts in another order explain more."""
        ours, theirs = [(arg,) for arg in t.args], [(arg,) for arg in s.args]
        if max(len(ours), len(theirs)) > LARGEST:
            found = _positions(len(ours), len(theirs))
        else:
            table = yield from self._table(ours, theirs)
            found = m.in_order(table, m.MISSING)
            if len(ours) == len(theirs):
                free = m.assign(table, m.MISSING)
                swapped = all(i is not None and j is not None for i, j in free)
                if swapped and _total(table, free) + m.REORDERED < _total(table, found):
                    order = m.shown(tuple(j for _, j in free))
                    changes.append((Change(Kind.REORDERED, "order", t, s, order), m.REORDERED))
                    found = free
        self._report(t, found, ours, theirs, changes, pairs)

    def _attention(
        self, t: Term, s: Term, changes: list[tuple[Change, int]], pairs: list[Pair]
    ) -> Steps[None]:
        """The query, and each step's keys and values with the band in which they are seen."""
        pairs.append((t.args[0], s.args[0]))
        ours, theirs = _groups(t), _groups(s)
        found = yield from self._operands(ours, theirs)
        bands = t.attr("visible"), s.attr("visible")
        for i, j in found:
            if i is None or j is None or not all(isinstance(b, tuple) for b in bands):
                continue
            mine, other = (b[k] for b, k in zip(bands, (i, j), strict=True) if isinstance(b, tuple))
            if mine != other:
                detail = f"{m.shown(mine)} -> {m.shown(other)}"
                change = Change(Kind.ATTRIBUTE, "visible", t, s, detail, group=ours[i][0])
                changes.append((change, m.ATTRIBUTE))
        self._report(t, found, ours, theirs, changes, pairs)

    def _report(
        self,
        t: Term,
        found: Found,
        ours: Items,
        theirs: Items,
        changes: list[tuple[Change, int]],
        pairs: list[Pair],
    ) -> None:
        for i, j in found:
            if i is not None and j is not None:
                pairs.extend(zip(ours[i], theirs[j], strict=True))
            elif i is not None:
                changes.append((self._loner(Kind.MISSING, "operand", t, ours[i][0]), m.MISSING))
            elif j is not None:
                changes.append((self._loner(Kind.EXTRA, "operand", t, theirs[j][0]), m.MISSING))

    def _loner(self, kind: Kind, aspect: str, parent: Term, term: Term) -> Change:
        train, serve = (term, None) if kind is Kind.MISSING else (None, term)
        return Change(kind, aspect, train, serve, term.op, parent)

    def _operands(self, ours: Items, theirs: Items) -> Steps[list[tuple[int | None, int | None]]]:
        """Which operand of a commutative operator is which: identical, most alike, cheapest."""
        found: list[tuple[int | None, int | None]] = []
        left, right = list(range(len(ours))), list(range(len(theirs)))
        for i in tuple(left):
            j = next((j for j in right if theirs[j] == ours[i]), None)
            if j is not None:
                found.append((i, j))
                left.remove(i)
                right.remove(j)
        if len(left) * len(right) > 4:
            likely = m.mutual(
                [ours[i] for i in left], [theirs[j] for j in right], self._alike, ALIKE
            )
            chosen = [(left[i], right[j]) for i, j in likely]
            found.extend(chosen)
            left = [i for i in left if i not in {i for i, _ in chosen}]
            right = [j for j in right if j not in {j for _, j in chosen}]
        if max(len(left), len(right)) > LARGEST:
            rest = _positions(len(left), len(right))
        else:
            table = yield from self._table([ours[i] for i in left], [theirs[j] for j in right])
            rest = m.assign(table, m.MISSING) if left else [(None, j) for j in range(len(right))]
        found.extend(
            (None if i is None else left[i], None if j is None else right[j]) for i, j in rest
        )
        return sorted(found, key=lambda ij: (ij[0] is None, ij[0] or 0, ij[1] or 0))

    def _table(self, ours: Items, theirs: Items) -> Steps[list[list[int]]]:
        table: list[list[int]] = []
        for a in ours:
            row: list[int] = []
            for c in theirs:
                mask = 0
                for pair in zip(a, c, strict=True):
                    match = yield from self._visit(pair)
                    mask |= match.mask
                row.append(self.ledger.cost(mask))
            table.append(row)
        return table

    def _alike(self, a: Item, c: Item) -> float:
        return self._likeness.ratio(a[0], c[0])

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


def _groups(term: Term) -> list[Item]:
    return [term.args[i : i + 2] for i in range(1, len(term.args), 2)]


def _positions(rows: int, columns: int) -> list[tuple[int | None, int | None]]:
    return [
        (i if i < rows else None, i if i < columns else None) for i in range(max(rows, columns))
    ]


def _total(table: Sequence[Sequence[int]], found: Found) -> int:
    return sum(m.MISSING if i is None or j is None else table[i][j] for i, j in found)
