"""Which kept result answers a question about sources that never change.

To find out whether a release may be given another one's result, both are compared; that an archive
has been compared once holds for ever, so it is written down: one file for each set of trees.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from checker.sources.store import Store, default_folder
from checker.syntax.dependencies import Moves, fingerprints

if TYPE_CHECKING:
    from collections.abc import Sequence

    from checker.sources import Tree

_MOST = 2048


class Links:
    """The links of every set of trees that is asked about.

    Args:
        program: what the results were made by.
        store: where links are kept.
    """

    def __init__(self, program: str, store: Store | None = None) -> None:
        self._program = program
        self._store = store or Store(default_folder("links"))
        self._known: dict[str, dict[str, Any]] = {}

    def seal(self, trees: Sequence[Tree]) -> str | None:
        """What the trees' links are kept under; None where one of them may change."""
        found = fingerprints(trees)
        if None in found:
            return None
        return hashlib.sha256(json.dumps([self._program, found]).encode()).hexdigest()[:40]

    def find(self, seal: str, name: str) -> tuple[str, Moves] | None:
        """The place of the result that answers a question, and where lines stand in these trees."""
        said = self._of(seal).get(name)
        if said is None:
            return None
        place, ranges = said
        moves = {(tree, path): [tuple(line) for line in lines] for tree, path, lines in ranges}
        return place, Moves(moves)

    def note(self, seal: str, name: str, place: str, moves: Moves) -> None:
        """Keeps which result answers a question."""
        ranges = [[*file, lines] for file, lines in sorted(moves.ranges.items())]
        known = self._known[seal] = {**self._read(seal), **self._of(seal), name: [place, ranges]}
        self._store.write_json(known, seal)
        self._store.prune(_MOST)

    def _of(self, seal: str) -> dict[str, Any]:
        if seal not in self._known:
            self._known[seal] = self._read(seal)
        return self._known[seal]

    def _read(self, seal: str) -> dict[str, Any]:
        return self._store.read_json(seal) or {}
