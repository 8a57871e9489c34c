"""Where something stands in checked source: the origin of every value, term and finding."""

from __future__ import annotations

from dataclasses import dataclass


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
