"""Shapes as a person reads them, and whether two of them are one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from checker.graph.dims import evaluate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from checker.contract.model import Contract
    from checker.graph.dims import Dim


class Names:
    """Names of sizes, by the switches that state them."""

    def __init__(self, contract: Contract, switches: Mapping[str, Any]) -> None:
        self._names: dict[int, str] = {}
        sizes = {name: s.size for name, s in contract.switches.items() if s.size is not None}
        for switch, described in sorted(sizes.items(), key=lambda item: item[1].like is not None):
            size = switches.get(switch)
            if isinstance(size, int) and described.symbol is not None:
                self._names.setdefault(size, described.symbol)
        for switch, described in sizes.items():
            other = sizes.get(described.times or "")
            count, size = switches.get(switch), switches.get(described.times or "")
            if other is not None and isinstance(count, int) and isinstance(size, int):
                self._names.setdefault(count * size, f"{described.symbol}*{other.symbol}")

    def of(self, size: Dim) -> str:
        """A size with its name: 2H = 48."""
        if not isinstance(size, int):
            return str(size)
        if size in self._names:
            return f"{self._names[size]} = {size}"
        for known, name in self._names.items():
            if len(name) <= 2 and known > 1 and size % known == 0 and size // known <= 8:
                return f"{size // known}{name} = {size}"
        return str(size)


def shown(shape: Sequence[Dim], names: Names) -> str:
    """A shape in words and numbers."""
    return "[" + ", ".join(names.of(d) for d in shape) + "]"


def same_shape(read: Sequence[Dim], run: Sequence[int], tokens: int) -> bool:
    """Whether a tensor has the shape that was read.

    Axes of one element do not count, and one axis may be written as several whose product it is:
    heads and their size, side by side or apart. The heads may come before the tokens.
    """
    wanted = [n for n in (evaluate(d, {"S": tokens}) for d in read) if n != 1]
    got = [n for n in run if n != 1]
    if _merges(wanted, got) or _merges(got, wanted):
        return True
    return len(got) == 3 and _merges([got[1], got[0], got[2]], wanted)


def part_of(read: Sequence[Dim], run: Sequence[int], tokens: int) -> bool:
    """Whether a tensor is wider than what was read, and may hold it beside others."""
    wanted = [n for n in (evaluate(d, {"S": tokens}) for d in read) if n != 1]
    got = [n for n in run if n != 1]
    return len(wanted) == len(got) > 0 and wanted[:-1] == got[:-1] and wanted[-1] < got[-1]


def _merges(coarse: Sequence[int], fine: Sequence[int]) -> bool:
    """Whether neighbouring axes of `fine` multiply to those of `coarse`."""
    return _products(coarse) <= _products(fine) and _whole(coarse) == _whole(fine)


def _products(shape: Sequence[int]) -> set[int]:
    total, found = 1, set()
    for n in shape:
        total *= n
        found.add(total)
    return found


def _whole(shape: Sequence[int]) -> int:
    total = 1
    for n in shape:
        total *= n
    return total
