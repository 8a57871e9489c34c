"""An architecture as a tree of labelled lines, as ``extract`` shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from checker.report.model import place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from checker.location import Location
    from checker.report.model import Json


@dataclass(frozen=True, slots=True)
class Node:
    """One line of the tree: a name, what stands there, and the line of source it comes from."""

    label: str
    detail: str = ""
    location: Location | None = None
    children: tuple[Node, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """The node and everything below it, in order."""
        return {
            "label": self.label,
            "detail": self.detail,
            "location": None if self.location is None else place(self.location),
            "children": [child.to_json() for child in self.children],
        }


def render(root: Node) -> str:
    """The tree as text, one node a line, places in a column of their own at the right."""
    rows = list(_rows(root, "", ""))
    width = min(max(len(text) for text, _ in rows), 88)
    lines = [f"{text:<{width}}  {where}".rstrip() for text, where in rows]
    return "\n".join(lines) + "\n"


def _rows(node: Node, lead: str, below: str) -> Iterator[tuple[str, str]]:
    text = f"{lead}{node.label}" + (f"  {node.detail}" if node.detail else "")
    yield text, "" if node.location is None else str(node.location)
    for index, child in enumerate(node.children):
        last = index == len(node.children) - 1
        yield from _rows(
            child, below + ("└─ " if last else "├─ "), below + ("   " if last else "│  ")
        )
