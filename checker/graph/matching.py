"""What an alignment of two terms is made of: primitive changes, their costs, and matches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

from checker._compat import StrEnum
from checker.graph.terms import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from checker.graph.terms import Term

Pair = tuple["Term", "Term"]
Found = list[tuple["int | None", "int | None"]]
"""Which operand is which: pairs of indices, None for one without a partner."""
T = TypeVar("T")


class Kind(StrEnum):
    """How the server's term differs from the trainer's."""

    MISSING = "missing"
    EXTRA = "extra"
    REPLACED = "replaced"
    REORDERED = "reordered"
    ATTRIBUTE = "attribute"
    PARAMETER = "parameter"
    SHAPE = "shape"
    UNKNOWN = "unknown"


MISSING: Final = 4
ANOTHER: Final = 1
REORDERED: Final = 4
PARAMETER: Final = 3
ATTRIBUTE: Final = 2
BIAS: Final = 2
SHAPE: Final = 1
UNKNOWN: Final = 1
UNLOADED: Final = 0
REPLACED: Final = 5


@dataclass(frozen=True, slots=True)
class Change:
    """One primitive difference between a train term and a serve term.

    `parent` is set where an operand of the train term `parent` is meant, rather than a term;
    `group` tells changes of one attribute of one term apart.
    """

    kind: Kind
    aspect: str
    train: Term | None
    serve: Term | None
    detail: str = ""
    parent: Term | None = None
    group: Term | None = None


class Move(StrEnum):
    """How a pair of terms was aligned."""

    SAME = "same"
    WITHOUT_TRAIN = "without-train"
    WITHOUT_SERVE = "without-serve"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class Match:
    """The cheapest alignment of a pair that was found: what changed here, and the pairs below.

    `mask` has a bit for every distinct change at or below, so that what two parents share is
    counted once.
    """

    move: Move
    changes: tuple[Change, ...]
    below: tuple[Pair, ...]
    mask: int
    cost: int


IDENTICAL: Final = Match(Move.SAME, (), (), 0, 0)


@dataclass(slots=True)
class Ledger:
    """Numbers distinct changes, and adds up what a set of them costs."""

    _bits: dict[tuple[object, ...], int] = field(default_factory=dict)
    _by_cost: dict[int, int] = field(default_factory=dict)

    def bit(self, change: Change, cost: int) -> int:
        """The bit of a change. A missing operator is one change wherever it is missed."""
        train, serve = change.train, change.serve
        if change.aspect == "operator":
            train, serve = (train, None) if change.kind is Kind.MISSING else (None, serve)
        key = (change.kind, change.aspect, train, serve, change.parent, change.group)
        number = self._bits.get(key)
        if number is None:
            number = self._bits[key] = len(self._bits)
            self._by_cost[cost] = self._by_cost.get(cost, 0) | 1 << number
        return 1 << number

    def cost(self, mask: int) -> int:
        """What the changes of a set cost together."""
        return sum(cost * (mask & bits).bit_count() for cost, bits in self._by_cost.items())


def assign(masks: Sequence[Sequence[int]], ledger: Ledger) -> Found:
    """The cheapest one-to-one assignment of rows to columns; as few as can be have no partner.

    What several cells share is paid for once, so that two operands that both depend on something
    changed are not dropped for it.
    """
    rows, columns = len(masks), len(masks[0]) if masks else 0
    spare = max(0, rows - columns)
    best: dict[int, tuple[int, tuple[int | None, ...], int]] = {0: (0, (), 0)}
    for row in range(rows):
        following: dict[int, tuple[int, tuple[int | None, ...], int]] = {}
        for used, (_, chosen, mask) in best.items():
            options: list[int | None] = [c for c in range(columns) if not used & 1 << c]
            if row - used.bit_count() < spare:
                options.append(None)
            for column in options:
                state = used if column is None else used | 1 << column
                union = mask if column is None else mask | masks[row][column]
                cost = ledger.cost(union)
                if state not in following or cost < following[state][0]:
                    following[state] = (cost, (*chosen, column), union)
        best = following
    chosen = min(best.values(), key=lambda end: end[0])[1]
    taken = {column for column in chosen if column is not None}
    return [*enumerate(chosen), *((None, c) for c in range(columns) if c not in taken)]


def step(cost: int) -> int:
    """The cost rounded down to 0 .. 7, 8, 12, 16, 24, ...: few costs make sums of sets quick."""
    if cost < 8:
        return cost
    power = 1 << cost.bit_length() - 1
    return power + power // 2 if cost >= power + power // 2 else power


def loners(rows: int, columns: int) -> int:
    """What operands without a partner cost: the more there are, the less for each."""
    count = rows + columns
    return MISSING + ANOTHER * (count - 1) if count else 0


def price(found: Found, masks: Sequence[Sequence[int]], ledger: Ledger) -> int:
    """What an assignment costs."""
    mask, rows, columns = 0, 0, 0
    for i, j in found:
        if i is not None and j is not None:
            mask |= masks[i][j]
        elif i is not None:
            rows += 1
        else:
            columns += 1
    return ledger.cost(mask) + loners(rows, columns)


def in_order(costs: Sequence[Sequence[int]], alone: int) -> Found:
    """The cheapest assignment that keeps the order of rows and columns."""
    rows, columns = len(costs), len(costs[0]) if costs else 0
    table: list[list[tuple[int, str]]] = [[(0, "")] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows + 1):
        for j in range(columns + 1):
            options: list[tuple[int, str]] = []
            if i and j:
                options.append((table[i - 1][j - 1][0] + costs[i - 1][j - 1], "both"))
            if i:
                options.append((table[i - 1][j][0] + alone, "row"))
            if j:
                options.append((table[i][j - 1][0] + alone, "column"))
            if options:
                table[i][j] = min(options, key=lambda option: option[0])
    result: list[tuple[int | None, int | None]] = []
    i, j = rows, columns
    while i or j:
        move = table[i][j][1]
        i, j = i - (move != "column"), j - (move != "row")
        result.append((i if move != "column" else None, j if move != "row" else None))
    return result[::-1]


def mutual(
    left: Sequence[T], right: Sequence[T], likeness: Callable[[T, T], float], least: float
) -> list[tuple[int, int]]:
    """The pairs of which each is, strictly, the other's most alike, and alike enough."""
    table = [[likeness(a, c) for c in right] for a in left]
    result: list[tuple[int, int]] = []
    for i, row in enumerate(table):
        best = max(row, default=0.0)
        if best < least or row.count(best) != 1:
            continue
        j = row.index(best)
        column = [other[j] for other in table]
        if max(column) == best and column.count(best) == 1:
            result.append((i, j))
    return result


def differing(train: Term, serve: Term, skip: frozenset[str]) -> list[tuple[str, str]]:
    """The attributes in which two terms of one operator differ, with both values."""
    ours, theirs = dict(train.attrs), dict(serve.attrs)
    result: list[tuple[str, str]] = []
    for name in sorted(ours.keys() | theirs.keys()):
        a, c = ours.get(name), theirs.get(name)
        if name not in skip and encode(a) != encode(c):
            result.append((name, f"{shown(a)} -> {shown(c)}"))
    return result


def shown(value: object) -> str:
    """An attribute as it is shown."""
    if isinstance(value, tuple):
        return f"({', '.join(shown(item) for item in value)})"
    return str(value)
