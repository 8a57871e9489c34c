"""Where something stands in checked source: the origin of every value, term and finding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A place in a source. Lines and columns start at 1; `path` is relative to the source's root.

    `source` is the label of the source (``name==version`` or a directory name).
    """

    source: str
    path: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


class Spot(NamedTuple):
    """The whole extent of an expression. Columns start at 0, as Python's own positions do."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
