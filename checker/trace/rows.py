"""What was read of a wire beside what really came out of the expressions that gave it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from checker.report.trace import Row
from checker.trace.jobs import SAME, TOKENS
from checker.trace.shapes import Names, part_of, same_shape, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from checker.engines import Extraction
    from checker.graph.labels import Wire
    from checker.graph.terms import Term
    from checker.interpreter.results import Result
    from checker.location import Location, Spot
    from checker.sources import Tree

Entry = dict[str, Any]
"""One result of the run: its shape, its numbers, and where it came out, innermost place first."""


class Statements:
    """The lines of the statements in which places of checked files are."""

    def __init__(self, trees: Iterable[Tree]) -> None:
        self._trees = {tree.label: tree for tree in trees}
        self._spans: dict[tuple[str, str], list[tuple[int, int]]] = {}

    def lines(self, place: Location) -> tuple[int, int]:
        """The first and the last line of the innermost statement around a place."""
        key = (place.source, place.path)
        if key not in self._spans:
            tree = self._trees.get(place.source)
            text = tree.read(place.path) if tree is not None else b""
            self._spans[key] = [
                (node.lineno, node.end_lineno or node.lineno)
                for node in ast.walk(ast.parse(text))
                if isinstance(node, ast.stmt) and not hasattr(node, "body")
            ]
        inside = [s for s in self._spans[key] if s[0] <= place.line <= s[1]]
        return min(inside, key=lambda s: s[1] - s[0], default=(place.line, place.line))


class Places:
    """Where the terms of wires came from: the lines to look at, and what was seen there."""

    def __init__(self, trees: Iterable[Tree], extraction: Extraction) -> None:
        self._statements = Statements(trees)
        self._extraction = extraction
        self.seen: Mapping[str, Mapping[str, list[Entry]]] = {}

    def wanted(self, terms: Iterable[Term | None]) -> dict[str, list[int]]:
        """The lines on which the values of terms come out, by file."""
        found: dict[str, set[int]] = {}
        for term in terms:
            if term is None:
                continue
            for spot, _ in self._extraction.results.get(term, ()):
                found.setdefault(spot.path, set()).update(range(spot.line, spot.end_line + 1))
            for place in self._extraction.origins.get(term, ()):
                first, last = self._statements.lines(place)
                found.setdefault(place.path, set()).update(range(first, last + 1))
        return {path: sorted(lines) for path, lines in sorted(found.items())}

    def origin(self, term: Term) -> Location | None:
        """Where a term was made first."""
        places = self._extraction.origins.get(term, ())
        return places[0] if places else None

    def exact(self, term: Term) -> list[Entry]:
        """What came out of the very expressions that gave a term."""
        return [e for r in self._extraction.results.get(term, ()) for e in self._at(r)]

    def near(self, term: Term) -> list[Entry]:
        """What came out of the statements in which a term was made."""
        for place in self._extraction.origins.get(term, ()):
            first, last = self._statements.lines(place)
            found = list(self._on(place.path, first, last))
            if found:
                return found
        return []

    def _on(self, path: str, first: int, last: int) -> Iterator[Entry]:
        noted = self.seen.get(path, {})
        for line in range(first, last + 1):
            yield from noted.get(str(line), ())

    def _at(self, result: Result) -> list[Entry]:
        """The results of one expression.

        Where the run went deeper than reading did (a class that is summarised) its own expressions
        count as well, unless something came out right where it was read.
        """
        inner, own = result
        depths: dict[int, list[Entry]] = {}
        for entry in self._on(inner.path, inner.line, inner.end_line):
            chain = entry["chain"]
            depth = next((i for i, spot in enumerate(chain) if same_spot(inner, spot)), None)
            if depth is None:
                continue
            if own is None or any(same_spot(own, spot) for spot in chain[depth:]):
                depths.setdefault(depth, []).append(entry)
        return depths[min(depths)] if depths else []


def same_spot(read: Spot, run: Sequence[Any]) -> bool:
    """Whether an expression is the one at which a frame stood.

    Python lets a method call on several lines begin at the method's name. Where it tells lines only
    (before 3.11), the line has to do.
    """
    path, line = str(run[0]), int(run[1])
    if path != read.path:
        return False
    if len(run) == 2:
        return read.line <= line <= read.end_line
    begin, end = (line, run[2]), (run[3], run[4])
    if end != (read.end_line, read.end_column):
        return False
    start = (read.line, read.column)
    return begin == start or (read.line < read.end_line and start < begin < end)


class Rows:
    """Makes the rows of a trace.

    Args:
        places: with what was seen.
        values: what the extracted graph computes on each wire, if numbers are compared.
    """

    def __init__(self, places: Places, values: Mapping[str, Entry], names: Names) -> None:
        self._places, self._values, self._names = places, values, names

    def row(self, wire: Wire, term: Term | None) -> Row:
        """One wire's row."""
        if term is None:
            return Row(str(wire), "nothing stands here", "", None, None)
        read = shown(term.shape, self._names)
        location = self._places.origin(term)
        if term.op == "input":
            return Row(str(wire), read, "fed in", None, None)
        exact, computed = self._places.exact(term), self._values.get(str(wire))
        fitting = [e for e in exact if same_shape(term.shape, e["shape"], TOKENS)]
        if fitting:
            run, same, value = _compared(computed, fitting)
            return Row(str(wire), read, _written(run["shape"]), same, location, value)
        wider = [e for e in exact if part_of(term.shape, e["shape"], TOKENS)]
        if wider:
            return self._part(str(wire), read, location, computed, wider)
        if exact:
            return Row(str(wire), read, _written(exact[-1]["shape"]), False, location)
        return self._nearby(str(wire), term, read, location)

    def _nearby(self, wire: str, term: Term, read: str, location: Location | None) -> Row:
        """A row for a term that is no expression's result, from the statement that it is in."""
        seen, computed = self._places.near(term), self._values.get(wire)
        fitting = [e for e in seen if same_shape(term.shape, e["shape"], TOKENS)]
        if fitting:
            run, same, value = _compared(computed, fitting)
            return Row(wire, read, _written(run["shape"]), True, location, value if same else "")
        if not seen:
            return Row(wire, read, "not seen", None, location)
        wider = [e for e in seen if part_of(term.shape, e["shape"], TOKENS)]
        if wider:
            return self._part(wire, read, location, computed, wider)
        return Row(wire, read, _written(seen[-1]["shape"]), False, location)

    def _part(
        self,
        wire: str,
        read: str,
        location: Location | None,
        computed: Entry | None,
        wider: list[Entry],
    ) -> Row:
        """A row for a wire that is a part of something wider, in which its numbers must stand."""
        if computed is not None:
            for entry in reversed(wider):
                if _within(computed["columns"], entry["columns"]):
                    run = f"within {_written(entry['shape'])}"
                    return Row(wire, read, run, True, location, f"rms {computed['rms']:.6g}")
        return Row(wire, read, f"within {_written(wider[-1]['shape'])}", None, location)


def _compared(computed: Entry | None, fitting: list[Entry]) -> tuple[Entry, bool, str]:
    """The result to show, whether one has the numbers that the graph computes, and both."""
    known = [entry for entry in fitting if entry["columns"] is not None]
    if computed is None or computed["columns"] is None or not known:
        return fitting[-1], True, ""
    rms = f"rms {computed['rms']:.6g}"
    for entry in known:
        if _alike(computed["columns"], entry["columns"]):
            return entry, True, rms
    nearest = min(known, key=lambda entry: abs(entry["rms"] - computed["rms"]))
    other = f"{rms}, run {nearest['rms']:.6g}"
    if abs(nearest["rms"] - computed["rms"]) <= SAME:
        other += " with other columns"
    return nearest, False, other


def _alike(read: Sequence[float], run: Sequence[float]) -> bool:
    return len(read) == len(run) and all(
        abs(a - b) <= SAME * max(1.0, abs(a)) for a, b in zip(read, run, strict=True)
    )


def _within(read: Sequence[float] | None, run: Sequence[float] | None) -> bool:
    """Whether the columns stand side by side among those of something wider."""
    if not read or not run:
        return False
    return any(_alike(read, run[i : i + len(read)]) for i in range(len(run) - len(read) + 1))


def _written(shape: list[int]) -> str:
    return "[" + ", ".join(map(str, shape)) + "]"
