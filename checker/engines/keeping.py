"""Results that were worked out before: kept as JSON, given again while what they depend on is so.

A result's name is the question: the program, the engine's description, the summaries and the
inputs. Under one name there may be several results, for releases that differ in what the question
touches; each has its dependencies beside it (`checker.syntax.dependencies`). A release that was
never read may be given another one's result, where everything that it depends on is the same.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from checker.engines.links import Links
from checker.graph.coding import CannotBeWritten, Reader, Writer
from checker.interpreter.machine import OUT_OF_TIME, ConfigRead
from checker.interpreter.noting import says_the_same
from checker.location import Location
from checker.program import program_digest
from checker.sources import Tree
from checker.sources.store import Store, default_folder
from checker.syntax import dependencies

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from checker.engines.description import Engine
    from checker.engines.stages import Subject
    from checker.graph.terms import Pool
    from checker.interpreter.noting import Looks, Noting
    from checker.syntax import Ledger

_Result = TypeVar("_Result")
_MOST = 4096
_TRIED = 64
_DIGEST = 24
_NOT_KEPT = frozenset(("engine", "results"))
_BROKEN = (zlib.error, KeyError, IndexError, TypeError, ValueError, AttributeError, AssertionError)
"""What a file raises that was sealed by this program and does not hold what it should."""


_Standing: TypeAlias = "tuple[dependencies.Moves, dict[str, Any] | None]"
"""Where lines stand, and what is depended on now; None where all of it is of archives."""


class _Shown:
    """A value of which only its text was kept."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _trees(subject: Subject) -> Sequence[Tree]:
    return cast("Sequence[Tree]", subject.workspace.sources)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question: its name, with and without its configuration, and how to make its answer."""

    name: str
    base: str
    subject: Subject
    pool: Pool
    whole: Callable[[Any], bool]
    places: Sequence[Location | None]
    given: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class _Found:
    """A kept result, and what of a configuration it depends on."""

    result: Any
    looks: Looks | None


class Keeper:
    """Keeps results on disk.

    Args:
        kinds: the classes of results and of what is in them. Their field `engine` is not kept, it
            is the subject's; nor are `results`, which a traced run has.
        store: where they are kept.
    """

    def __init__(self, kinds: Iterable[type], store: Store | None = None) -> None:
        self._kinds = {kind.__name__: kind for kind in kinds}
        self._store = store or Store(default_folder("graphs"))
        self._program = program_digest()
        self._links = Links(self._program)
        self._alike: dict[str, list[tuple[Looks, str]]] = {}
        self._seen: list[Tree] = []
        self._moves: dict[tuple[str, tuple[int, ...]], _Standing | None] = {}
        self._described: tuple[Engine | None, str] = (None, "")

    def result(
        self,
        question: Any,
        subject: Subject,
        pool: Pool,
        work: Callable[[], _Result],
        whole: Callable[[_Result], bool],
        *,
        places: Sequence[Location | None] = (),
        noting: Noting | None = None,
    ) -> _Result:
        """What `work` gives, from the disk where it was done before.

        Args:
            question: what decides the result besides the sources and the description.
            subject: what is read.
            pool: where the result's terms are made.
            work: works it out.
            whole: whether nothing in a result speaks of places in words; others are given again
                only while no line has moved.
            places: what the question has brought with it; where they are decides nothing.
            noting: a configuration that belongs to the question, of which only what `work` has
                looked at decides the result.
        """
        if not all(isinstance(tree, Tree) for tree in subject.workspace.sources):
            return work()  # sources that were made up on the way: nothing says what they hold
        pattern = [places.index(place) for place in places]
        try:
            base = self._name([question, pattern], subject)
            given = None if noting is None else dict(noting.given)
            name = base if given is None else self._name([question, pattern, given], subject)
        except CannotBeWritten:
            return work()
        asked = _Asked(name, base, subject, pool, whole, places, given)
        known = self._known(asked)
        if known is not None:
            return known  # type: ignore[no-any-return]
        late = len(OUT_OF_TIME)
        with subject.workspace.noting() as ledger:
            result = work()
        if len(OUT_OF_TIME) > late:
            return result  # another time it might come out otherwise
        writer = self._writer(subject, places)
        try:
            value = writer.value(result)
        except CannotBeWritten:
            return result
        self._keep(asked, ledger, writer, value, None if noting is None else noting.told())
        return result

    def _keep(
        self,
        asked: _Asked,
        ledger: Ledger,
        writer: Writer,
        value: Any,
        looks: Looks | None,
    ) -> None:
        subject = asked.subject
        needs = json.dumps(dependencies.written(ledger, subject.workspace, _trees(subject)))
        entry = {"terms": writer.table, "value": value, "looks": looks}
        digest = hashlib.sha256(needs.encode()).hexdigest()[:_DIGEST]
        parts = [zlib.compress(text.encode(), 1) for text in (needs, _compact(entry))]
        place = f"{asked.name}-{digest}"
        self._store.write(len(parts[0]).to_bytes(4, "big") + b"".join(parts), place)
        self._store.prune(_MOST)
        self._remember(asked, place, dependencies.Moves(), looks)

    def _remember(
        self,
        asked: _Asked,
        place: str,
        moves: dependencies.Moves,
        looks: Looks | None,
    ) -> None:
        seal = self._links.seal(_trees(asked.subject))
        if seal is not None:
            self._links.note(seal, asked.name, place, moves)
        if looks is not None:
            self._alike.setdefault(asked.base, []).append((looks, place))

    def _name(self, question: Any, subject: Subject) -> str:
        writer = self._writer(subject)
        asked = [writer.value(question), writer.table]
        if self._described[0] is not subject.engine:
            self._described = subject.engine, repr(subject.engine)
        parts = [self._program, subject.stubs.digest, self._described[1], json.dumps(asked)]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:40]

    def _known(self, asked: _Asked) -> Any | None:
        subject = asked.subject
        seal = self._links.seal(_trees(subject))
        link = None if seal is None else self._links.find(seal, asked.name)
        if link is not None:
            found = self._read(asked, link[0], link[1])
            if found is not None:
                if found.looks is not None and asked.given is not None:
                    self._alike.setdefault(asked.base, []).append((found.looks, link[0]))
                return found.result
        places = [] if link is not None else self._like(asked)
        places += self._store.names_of(f"{asked.name}-")
        places.sort(key=lambda place: self._moves.get(self._pair(place, subject)) is None)
        for place in places[:_TRIED]:
            found = self._read(asked, place, None)
            if found is not None:
                standing = self._moves[self._pair(place, subject)]
                moves = dependencies.Moves() if standing is None else standing[0]
                self._remember(asked, place, moves, found.looks)
                return found.result
        return None

    def _like(self, asked: _Asked) -> list[str]:
        """Results for configurations that say the same where it was looked at."""
        given = asked.given
        if given is None:
            return []
        return [
            place for looks, place in self._alike.get(asked.base, ()) if says_the_same(given, looks)
        ]

    def _pair(self, place: str, subject: Subject) -> tuple[str, tuple[int, ...]]:
        """The needs of a kept result, and the trees that are compared with them."""
        return place.rpartition("-")[2], tuple(self._number(tree) for tree in _trees(subject))

    def _number(self, tree: Tree) -> int:
        """A tree's number, which no other tree gets: it is held as long as it is known."""
        for number, known in enumerate(self._seen):
            if known is tree:
                return number
        self._seen.append(tree)
        return len(self._seen) - 1

    def _read(self, asked: _Asked, place: str, moves: dependencies.Moves | None) -> _Found | None:
        """A kept result, if it is one for these trees."""
        pair, trees = self._pair(place, asked.subject), _trees(asked.subject)
        standing: _Standing | None = None if moves is None else (moves, None)
        if standing is None:
            if pair in self._moves and self._moves[pair] is None:
                return None
            standing = self._moves.get(pair)
        content = self._store.read(place)
        if content is None:
            return None
        try:
            length = 4 + int.from_bytes(content[:4], "big")
            if standing is None:
                needs = json.loads(zlib.decompress(content[4:length]))
                standing = dependencies.compared(needs, asked.subject.workspace, trees)
                self._moves[pair] = standing
                if standing is None:
                    return None
            moves, now = standing
            entry = json.loads(zlib.decompress(content[length:]))
            made = partial(self._made, asked, moves)
            result = Reader(asked.pool, entry["terms"], made).value(entry["value"])
            looks = entry["looks"]
        except (dependencies.Moved, *_BROKEN):
            return None
        if moves.any and not asked.whole(result):
            return None
        if now is not None:
            dependencies.noted(now, trees)
            asked.subject.workspace.inherit(pair[0], now)
        return _Found(result, looks)

    def _writer(self, subject: Subject, places: Sequence[Location | None] = ()) -> Writer:
        """Writes with trees by their numbers: releases of different names may give the same."""
        labels = {tree.label: number for number, tree in enumerate(_trees(subject))}
        return Writer(lambda writer, value: self._object(writer, value, labels, places))

    def _object(
        self,
        writer: Writer,
        value: Any,
        labels: dict[str, int],
        places: Sequence[Location | None],
    ) -> Any:
        if isinstance(value, Location):
            if value in places:
                return ["@", places.index(value)]
            source = labels.get(value.source, value.source)
            return ["@", source, value.path, value.line, value.column]
        kind = type(value)
        if self._kinds.get(kind.__name__) is not kind:
            raise CannotBeWritten(kind.__name__)
        said = []
        for part in fields(value):
            if part.name in _NOT_KEPT:
                continue
            item = getattr(value, part.name)
            if kind is ConfigRead and part.name == "default" and item is not None:
                item = repr(item)
            said.append([part.name, writer.value(item)])
        return ["o", kind.__name__, *said]

    def _made(
        self, asked: _Asked, moves: dependencies.Moves, reader: Reader, value: list[Any]
    ) -> Any:
        subject = asked.subject
        if value[0] == "@" and len(value) == 2:
            return asked.places[value[1]]
        if value[0] == "@":
            _, source, path, line, column = value
            if isinstance(source, str):
                return Location(source, path, line, column)
            label = _trees(subject)[source].label
            return Location(label, path, moves.line(source, path, line), column)
        _, name, *said = value
        kind = self._kinds[name]
        parts = {part: reader.value(item) for part, item in said}
        if any(part.name == "engine" for part in fields(kind)):
            parts["engine"] = subject.engine
        if kind is ConfigRead and parts["default"] is not None:
            parts["default"] = _Shown(parts["default"])
        return kind(**parts)
