"""What a loop can see between two iterations, written so that it can be compared.

Two states are equal where they differ in nothing but the names of what layers computed. The
residual stream at the boundary that was entered last counts as one such name, whatever it is the
sum of. What cannot be compared makes a state that is equal to no other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from checker.graph.terms import postorder, summands, unknowns
from checker.interpreter.numbered import Numbered

if TYPE_CHECKING:
    from checker.graph.terms import Term
    from checker.interpreter.looping import Loop
    from checker.interpreter.machine import Machine


@dataclass(slots=True)
class State:
    """The state after an iteration.

    `tokens` spells it out with names replaced by numbers in the order in which they come up, which
    is the order of `names`. `left` are the places that hold something of that iteration itself:
    what is there after another iteration is known. `kept` keeps alive what tokens name by identity.
    """

    tokens: list[Any] = field(default_factory=list)
    names: list[str] = field(default_factory=list, compare=False)
    left: list[tuple[Any, Any, Any]] = field(default_factory=list, compare=False)
    kept: list[Any] = field(default_factory=list, compare=False)

    def jump(self, m: Machine, loop: Loop, before: State, first: int, place: int) -> bool:
        """Goes on as if the iterations from `first` up to `place` had run.

        False, and nothing done, where a boundary would not be the one it is.
        """
        outline = loop.outline
        number = loop.source[first - 1]
        if number not in outline.entries:
            return False
        moved = {b for a, b in zip(before.names, self.names, strict=True) if a != b}
        for known_as, known in outline.entries.items():
            if known_as != number and known is not None and moved & set(names_of(known)):
                return False
        entry = outline.entries[number]
        one = like(m, entry, number)  # of all of them: no value is this one
        for passed in loop.source[first - 1 : place - 1]:
            outline.entries[passed] = one
        outline.entries[loop.source[place - 1]] = entry  # what it was is now the last one's
        move(loop, self.left, first, place)
        return True


def move(loop: Loop, left: list[tuple[Any, Any, Any]], first: int, place: int) -> None:
    """The iterations from `first` up to `place` have not run, and left what they would have."""
    for passed in loop.source[first - 1 : place]:
        loop.outline.passed[id(loop.layers[passed])] = loop.layers[passed]
    for holder, key, value in left:
        if isinstance(value, Numbered):
            holder[key] = Numbered(loop, value.values, place - 1)
        else:
            holder[key] = loop.layers[loop.source[place - 1]]


def like(m: Machine, entry: Term | None, number: int) -> Term | None:
    """What stands for a boundary that was skipped: as well known as the one before it."""
    if entry is None:
        return None
    if unknowns(entry):
        return m.builder.unknown(f"boundary {number}", entry.shape)
    return m.builder.input(f"boundary {number}", entry.shape)


def names_of(term: Term) -> list[str]:
    """What a term is made of, in the order of the names."""
    found = {name for part in postorder(term) if (name := name_of(part)) is not None}
    return sorted(found, key=natural)


def name_of(term: Term) -> str | None:
    """The name of what nothing more is known of."""
    if term.op == "unknown":
        return f"unknown {term.attr('serial')}"
    return str(term.attr("name")) if term.op == "input" else None


def natural(name: str) -> list[Any]:
    """Numbers in a name count as numbers."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in _PARTS.findall(name)]


_PARTS = re.compile(r"\d+|\D+")
_MADE = re.compile(r" \d+(\.\d+)?$")
"""How the names of what layers compute end: each is given only once."""


def is_made(name: str) -> bool:
    """Whether a name is that of something computed, given only once."""
    return _MADE.search(name) is not None


def addends(term: Term) -> tuple[Term, ...]:
    """What a term is the sum of: a stream of many layers is a sum of sums."""
    return summands(term) if term.op == "add" else (term,)


__all__ = ["State", "addends", "is_made", "like", "move", "name_of", "names_of", "natural"]
