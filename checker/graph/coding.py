"""Terms, dimensions and plain values as JSON, and back into a pool.

What is read back is what was written: the same terms, by their keys, except that unknown values get
numbers of their own, so that they equal nothing else in the pool.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from checker.graph.dims import Poly
from checker.graph.terms import Term

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from checker.graph.terms import Pool


class CannotBeWritten(Exception):
    """A value that has no form in JSON."""


class Writer:
    """Writes values; terms go into a table, each once."""

    def __init__(self, objects: Callable[[Writer, Any], Any] | None = None) -> None:
        self.table: list[list[Any]] = []
        self._numbers: dict[Term, int] = {}
        self._objects = objects

    def value(self, value: Any) -> Any:
        """A value as JSON: what JSON has not is a list that begins with its kind.

        Raises:
            CannotBeWritten: it is of a kind that nothing here knows.
        """
        match value:
            case None | bool() | str():
                return value
            case int():
                return value
            case float():
                return value if math.isfinite(value) else ["f", str(value)]
            case list():
                return ["l", *map(self.value, value)]
            case tuple():
                return ["t", *map(self.value, value)]
            case set() | frozenset():
                return ["s", *sorted(map(self.value, value))]
            case dict():
                return ["d", *([self.value(k), self.value(v)] for k, v in value.items())]
            case Poly(terms=terms):
                return ["p", *([c, [[name, power] for name, power in m]] for m, c in terms)]
            case Term():
                return ["n", self.term(value)]
        if self._objects is None:
            raise CannotBeWritten(type(value).__name__)
        return self._objects(self, value)

    def term(self, root: Term) -> int:
        """The number of a term in the table."""
        stack = [root]
        while stack:
            term = stack[-1]
            left = [arg for arg in term.args if arg not in self._numbers]
            if left:  # what was written before is not walked again
                stack += reversed(left)
                continue
            stack.pop()
            if term not in self._numbers:
                self._numbers[term] = len(self.table)
                self.table.append(self._row(term))
        return self._numbers[root]

    def _row(self, term: Term) -> list[Any]:
        attrs = [[name, self.value(value)] for name, value in term.attrs]
        args = [self._numbers[arg] for arg in term.args]
        return [term.op, args, attrs, [self.value(dim) for dim in term.shape]]


class Reader:
    """Reads back what a `Writer` has written.

    Raises:
        ValueError, LookupError, TypeError: it was not written by one.
    """

    def __init__(
        self,
        pool: Pool,
        table: Iterable[list[Any]],
        objects: Callable[[Reader, list[Any]], Any] | None = None,
    ) -> None:
        self._objects = objects
        self._terms: list[Term] = []
        for op, args, attrs, shape in table:
            named = {name: self.value(value) for name, value in attrs}
            if "serial" in named:
                named["serial"] = pool.serial()
            inner = tuple(self._terms[number] for number in args)
            self._terms.append(pool.make(op, inner, named, tuple(self.value(d) for d in shape)))

    def value(self, value: Any) -> Any:
        """The value that was written."""
        if not isinstance(value, list):
            return value
        kind, rest = value[0], value[1:]
        match kind:
            case "l":
                return [self.value(item) for item in rest]
            case "t":
                return tuple(self.value(item) for item in rest)
            case "s":
                return {self.value(item) for item in rest}
            case "d":
                return {self.value(key): self.value(item) for key, item in rest}
            case "p":
                return Poly(tuple((tuple((n, e) for n, e in m), c) for c, m in rest))
            case "n":
                return self._terms[rest[0]]
            case "f":
                return float(rest[0])
        if self._objects is None:
            raise ValueError(f"unknown kind {kind!r}")
        return self._objects(self, value)
