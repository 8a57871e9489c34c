"""Iterations that leave everything as they find it, and going on by them where more is there now.

Such an iteration does the same again wherever what it looks at is the same: what it has not looked
at, such as a list that other iterations put something into, may have become another. That stays as
it is. Whatever is reached by a name that was looked at counts as looked at, with all that it holds.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from checker.interpreter.looks import Noted
from checker.interpreter.looping_state import addends, is_made, like, move, names_of
from checker.interpreter.looping_writing import SCALAR_TYPES, Writer
from checker.interpreter.numbered import Numbered
from checker.interpreter.open_values import Open
from checker.interpreter.storages import Root, root_of
from checker.interpreter.values import Function, Instance, Native, Partial, SuperValue, Value

if TYPE_CHECKING:
    from checker.graph.terms import Term
    from checker.interpreter.looping import Loop
    from checker.interpreter.looping_state import State
    from checker.interpreter.machine import Machine
    from checker.interpreter.tensors import Tensor

_Looks = dict[int, "set[str] | None"]


class Repeated:
    """What iterations that left everything as they found it have in common.

    `same` are the places of those known to do what one of them did, `looks` what any of them looked
    at, `roots` what had been reached by then in other ways; `state` is what they left, of which
    `view` is what they look at.
    """

    def __init__(self, loop: Loop, state: State) -> None:
        self.state = state
        self.same: list[set[int]] = []
        self.looks: _Looks = {id(noted): set() for noted, _ in loop.looks.noted}
        self.roots: set[int] = set()
        self.view: View | None = None

    def add(self, loop: Loop) -> None:
        """An iteration has left everything as it was."""
        self.same.append(loop.same)
        new = loop.looks.looked()
        for key, seen in self.looks.items():
            more = new[key]
            self.looks[key] = None if seen is None or more is None else seen | more
        self.roots = set(loop.roots)
        self.view = None

    def look(self, m: Machine, loop: Loop) -> None:
        """Looks at what it has left."""
        self.view = View(m, loop, self.looks, self.roots)

    def has(self, place: int) -> bool:
        """Whether an iteration does what one of these does, if it finds the same."""
        return any(place in same for same in self.same)

    def until(self, place: int, last: int) -> int:
        """The first place, from this one on, of an iteration that does something else."""
        while place < last and self.has(place):
            place += 1
        return place

    def jump(self, m: Machine, loop: Loop, first: int, place: int) -> bool:
        """Goes on as if the iterations from `first` up to `place` had run.

        False, and nothing done, where they are not known to do what these did.
        """
        before = self.view
        if before is None or place == first:
            return False
        now = View(m, loop, self.looks, self.roots)
        outline, number = loop.outline, loop.source[first - 1]
        entry = outline.entries.get(number)
        if entry is None or not now.is_like(before):
            return False
        names = zip(before.writer.found.names, now.writer.found.names, strict=True)
        moved = {b for a, b in names if a != b}
        known = {*outline.entries.values(), *(t for part in now.aside.values() for t in part.held)}
        known |= {term for _, term, _ in outline.stored}
        if any(term is not None and not moved.isdisjoint(_names(loop, term)) for term in known):
            return False
        last = loop.source[place - 1]
        made = like(m, entry, last)
        assert made is not None
        if not now.enter(m, entry, made):
            return False
        if place - 1 > first:
            one = like(m, entry, loop.source[first])  # of all of them: no value is this one
            for passed in loop.source[first : place - 1]:
                outline.entries[passed] = one
        outline.entries[last] = made
        move(loop, now.writer.found.left, first, place)
        return True


@dataclass(frozen=True, slots=True)
class _Part:
    """Something that is not looked at: how it is written, and the terms in it.

    `is_apart`: it holds nothing of what is looked at, and everything in it was seen.
    """

    tokens: list[Any]
    held: list[Term]
    is_apart: bool


class View:
    """What iterations look at, and beside it what they do not (`aside`)."""

    def __init__(self, m: Machine, loop: Loop, looks: _Looks, roots: set[int]) -> None:
        self.loop = loop
        self.writer = _Looking(m, loop, looks)
        reached = loop.roots.items()
        self.writer.all([root for key, root in reached if key in roots])
        self.writer.aside += [(0, key, root) for key, root in reached if key not in roots]
        self.rest = _Aside(m, loop, self.writer.seen)
        self.aside = {
            (holder, key): self.rest.part(value) for holder, key, value in self.writer.aside
        }

    def is_like(self, other: View) -> bool:
        """Whether iterations would see the same, and touch nothing of what is new beside it."""
        writers = (self.writer, other.writer, self.rest, other.rest)
        if not all(writer.is_whole() for writer in writers):
            return False
        if self.writer.tokens != other.writer.tokens:
            return False
        return all(
            part.is_apart or (key in other.aside and other.aside[key].tokens == part.tokens)
            for key, part in self.aside.items()
        )

    def enter(self, m: Machine, entry: Term, made: Term) -> bool:
        """The stream is another one; False, and nothing done, where that cannot be said."""
        outline, tensors = self.loop.outline, self.writer.tensors
        roots = {id(root): root for root in (root_of(tensor.storage) for tensor in tensors)}
        kept = [tensor for tensor, _, _ in outline.stored]
        for joined in outline.joined.values():
            kept += [joined.whole, *(part for part, _ in joined.parts)]
        held = {id(root_of(tensor.storage)) for tensor in kept}
        changed: list[tuple[Root, Term]] = []
        for key, root in roots.items():
            new = _with(m, root.term(m), entry, made)
            if new is None:
                continue
            if not isinstance(root, Root) or key in held:
                return self._undone(m, changed)
            changed.append((root, root.term(m)))
            root.set(m, new)
        seen = {*self.writer.found.names, *_names(self.loop, made)}
        if any(not seen.issuperset(_names(self.loop, t.term(m))) for t in tensors):
            return self._undone(m, changed)
        return True

    def _undone(self, m: Machine, changed: list[tuple[Root, Term]]) -> bool:
        for root, term in changed:
            root.set(m, term)
        return False


class _Looking(Writer):
    """Writes down what is reached by names that were looked at."""

    def __init__(self, m: Machine, loop: Loop, looks: _Looks) -> None:
        super().__init__(m, loop)
        self.looks = looks
        self.aside: list[tuple[int, Any, Value]] = []
        self.tensors: list[Tensor] = []

    def items(self, holder: Any, items: Any, *, local: bool = False) -> None:
        """Values under keys that were looked at."""
        seen = self.looks.get(id(holder)) if isinstance(holder, Noted) else None
        if seen is not None:
            items = list(items)
            self.aside += [(id(holder), key, value) for key, value in items if key not in seen]
            items = [item for item in items if item[0] in seen]
        super().items(holder, items, local=local)

    def tensor(self, value: Tensor) -> None:
        """A tensor."""
        if id(value) not in self.seen:
            self.tensors.append(value)
        super().tensor(value)


class _Aside(Writer):
    """Writes down what was not looked at, just as it is.

    `inside` is what was looked at. Each other thing belongs to the first that has it.
    """

    def __init__(self, m: Machine, loop: Loop, inside: dict[int, int]) -> None:
        super().__init__(m, loop)
        self.inside = inside
        self.is_apart = True
        self.held: list[Term] = []

    def part(self, value: Value) -> _Part:
        """One value."""
        if type(value) in SCALAR_TYPES:
            return _Part([type(value), value], [], True)
        start, self.held, self.is_apart = len(self.tokens), [], True
        self.value(value)
        return _Part(self.tokens[start:], self.held, self.is_apart)

    def is_new(self, value: Any) -> bool:
        """Whether an object comes up for the first time."""
        self.add("#", id(value))
        self.found.kept.append(value)
        if id(value) in self.inside:
            self.is_apart = False
            return False
        if id(value) in self.seen or not self.is_whole():
            return False
        self.seen[id(value)] = 0
        return True

    def differ(self) -> None:
        """Something that is equal to nothing."""
        self.is_apart = False
        super().differ()

    def own(self, holder: Any, key: Any, value: Value, local: bool) -> bool:
        """A number, or a layer, of an iteration stays what it is."""
        return False

    def value(self, value: Value) -> None:
        """Any value."""
        if type(value) is Numbered:
            self.add("number", value.values, value.made)
            return
        if isinstance(value, (Open, Native, Partial, SuperValue)):
            self.is_apart = False  # what it holds is not all seen
        super().value(value)

    def attributes(self, value: Instance) -> None:
        """The attributes of an object; others may hold the dictionary itself."""
        if type(value.attrs) is not Noted:
            self.is_apart = False
        super().attributes(value)

    def callable(self, value: Value) -> None:
        """Functions with what they hold."""
        if isinstance(value, Function):
            self.found.kept.append(value)
        super().callable(value)

    def term(self, term: Term) -> Any:
        """A term, as it is."""
        self.held.append(term)
        return term


def _with(m: Machine, term: Term, entry: Term, made: Term) -> Term | None:
    """A term with another stream in it; None where it is neither that nor a sum that it is in."""
    if term is entry:
        return made
    if term.op != "add":
        return None
    rest, whole = Counter(addends(term)), Counter(addends(entry))
    if not whole <= rest:
        return None
    for part in (rest - whole).elements():
        made = m.builder.op("add", made, part)
    return made


def _names(loop: Loop, term: Term) -> frozenset[str]:
    """The names of what layers computed that a term is made of."""
    known = loop.names.get(term)
    if known is None:
        known = loop.names[term] = frozenset(name for name in names_of(term) if is_made(name))
    return known


__all__ = ["Repeated"]
