"""Which operand of one sum, product or attention is which of another."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from checker.graph import matching as m
from checker.graph.elementwise import LONGEST
from checker.graph.matching import Found, Match, Pair
from checker.graph.rotary import shift_of
from checker.graph.terms import continued, summands

if TYPE_CHECKING:
    from checker.graph.likeness import Likeness
    from checker.graph.terms import Term

R = TypeVar("R")
Steps = Generator[Pair, Match, R]
"""A comparison that asks for the matches of pairs below it, and ends in a result."""
Item = tuple["Term", ...]
Items = Sequence[Item]
Measure = tuple[Callable[[Item, Item], float], float]

ALIKE: Final = 0.34
"""Terms less alike than this are not worth looking for one inside the other."""
KIN: Final = 0.1
"""Operands that end in a common parameter are at least so close."""
SLACK: Final = 2
"""A grouping that leaves so many operands more without a plain partner is tried nevertheless."""
LARGEST: Final = 7
"""More operands than this are assigned by likeness alone."""


class Operands:
    """Finds partners: identical operands, then the most alike, then the cheapest assignment."""

    def __init__(self, likeness: Likeness, ledger: m.Ledger) -> None:
        self._likeness = likeness
        self._ledger = ledger

    def regrouped(self, t: Term, s: Term) -> Steps[tuple[tuple[Items, Items], Found]]:
        """Operands one to one, or with one partial sum of either side taken as a single operand.

        A sum of sums is flat, so a step's stream holds the operands of all steps before. Where the
        other side has something else in place of an earlier stream, it must be seen as one again.
        """
        if continued(t) or continued(s):
            items = self._continued(t, s)
            found = yield from self.partners(*items)
            return items, found
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
            found = yield from self.partners(*items)
            cost = yield from self._price(*items, found)
            priced.append((cost, items, found))
        _, items, found = min(priced, key=lambda option: option[0])
        return items, found

    def _continued(self, t: Term, s: Term) -> tuple[Items, Items]:
        """Long sums taken apart from their ends, as far as it takes to have the same ends.

        What is left of the two is a pair of its own. Where one of them ends, what the other goes
        on from stands against the whole of it, or against its innermost operand.
        """
        if continued(t) and continued(s):
            items = _taken_off(t, 1), _taken_off(s, 1)
            ends = items[0][1], items[1][1]
            if max(self._akin(*ends), self._plain(*ends)) >= KIN:
                return items
        near = min(len(summands(t)), len(summands(s))) <= LONGEST + LARGEST
        most = LONGEST + LARGEST if near else LARGEST
        options = [
            (ours, theirs)
            for ours in self._ends(t, most)
            for theirs in self._ends(s, most)
            if abs(len(ours) - len(theirs)) <= 1 < len(ours) + len(theirs) - 1
        ]
        return min(options, key=lambda option: self._misfit(*option))

    def _ends(self, term: Term, most: int) -> list[Items]:
        """A sum as what it goes on from, and its last operands: none of them, one, two, ..."""
        parts = [term]
        while continued(parts[-1]) and len(parts) <= most:
            parts.append(parts[-1].args[0])
        items = [_taken_off(term, count) for count in range(len(parts))]
        first = parts[-1]
        if first.op == "add" and not continued(first):
            last = items[-1][1:]
            innermost = min(first.args, key=lambda arg: (arg.depth, arg.key))
            begun = [(innermost,), *((arg,) for arg in first.args if arg is not innermost)]
            taken = [begun, *(_taken(first, part) for part in self._likeness.partials(first))]
            items += [[*start, *last] for start in taken if len(start) <= most]
        return items

    def _misfit(self, ours: Items, theirs: Items) -> tuple[float, int]:
        """How badly the ends of two sums fit: those without a partner, less those with one."""
        ends = ours[1:], theirs[1:]
        measures = ((self._akin, KIN), (self._plain, KIN))
        found, left, right = self._partners(*ends, measures)
        rest = ours[0][0], theirs[0][0]
        same = 2 * LARGEST if rest[0] is rest[1] else 0
        return len(left) + len(right) - min(len(found), 1) - same, len(ours) + len(theirs)

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
                match = yield pair
                mask |= match.mask
        return m.loners(rows, columns) + self._ledger.cost(mask)

    def partners(self, ours: Items, theirs: Items) -> Steps[Found]:
        """Which operand of a commutative operator is which: identical, most alike, cheapest."""
        measures = ((self._akin, KIN), (self._alike, ALIKE))
        found, left, right = self._partners(ours, theirs, measures)
        if max(len(left), len(right)) > LARGEST:
            rest = positions(len(left), len(right))
        else:
            masks = yield from self.masks([ours[i] for i in left], [theirs[j] for j in right])
            rest = m.assign(masks, self._ledger) if left else positions(0, len(right))
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

    def plain_parts(self, ours: Items, theirs: Items) -> Found | None:
        """Which part is which, if it is plain for all but one; None if only costs can tell."""
        found, left, right = self._partners(ours, theirs, ((self._plain, KIN),))
        if len(ours) != len(theirs) or len(left) > 1:
            return None
        found.extend(zip(left, right, strict=True))
        return sorted(found, key=lambda ij: ij[0] or 0)

    def masks(self, ours: Items, theirs: Items) -> Steps[list[list[int]]]:
        table: list[list[int]] = []
        for a in ours:
            row: list[int] = []
            for c in theirs:
                mask = 0
                for pair in zip(a, c, strict=True):
                    match = yield pair
                    mask |= match.mask
                row.append(mask)
            table.append(row)
        return table

    def _akin(self, a: Item, c: Item) -> float:
        return sum(self._likeness.kinship(x, y) for x, y in zip(a, c, strict=True))

    def _plain(self, a: Item, c: Item) -> float:
        return self._likeness.plainness(a[0], c[0])

    def _alike(self, a: Item, c: Item) -> float:
        return self._likeness.closeness(a[0], c[0])


def shifted_alike(pairs: Sequence[Pair]) -> bool:
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


def unturned(item: Item) -> Item:
    """A key (with its value) or query without its rotation."""
    first, *rest = item
    return (first.args[0] if first.op == "rope" else first, *rest)


def _taken_off(term: Term, count: int) -> Items:
    """What a long sum goes on from, and its last operands."""
    last: list[Item] = []
    for _ in range(count):
        last.append((term.args[1],))
        term = term.args[0]
    return [(term,), *reversed(last)]


def _taken(term: Term, partial: Term) -> Items:
    """The operands of a sum, those of a partial sum taken as one."""
    rest = list(term.args)
    for arg in partial.args:
        rest.remove(arg)
    return [(partial,), *((arg,) for arg in rest)]


def positions(rows: int, columns: int) -> Found:
    """The first with the first, and so on."""
    return [
        (i if i < rows else None, i if i < columns else None) for i in range(max(rows, columns))
    ]
