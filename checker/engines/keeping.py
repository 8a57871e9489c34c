"""Results that were worked out before: kept as JSON, given again while what they depend on is so.

A result's name is the question: the program, the engine's description, the summaries and the
inputs. Under one name there may be several results, for releases that differ in what the question
touches; each has its dependencies beside it (`checker.engines.dependencies`). A release that was
never read may be given another one's result, where everything that it depends on is the same.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from checker.engines import dependencies
from checker.graph.coding import CannotBeWritten, Reader, Writer
from checker.interpreter.machine import OUT_OF_TIME, ConfigRead
from checker.location import Location
from checker.program import program_digest
from checker.sources import Tree
from checker.sources.store import Store, default_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from checker.engines.stages import Subject
    from checker.graph.terms import Pool

_Result = TypeVar("_Result")
_MOST = 4096
_TRIED = 24
_NOT_KEPT = frozenset(("engine", "results"))
_BROKEN = (zlib.error, KeyError, IndexError, TypeError, ValueError, AttributeError, AssertionError)
"""What a file raises that was sealed by this program and does not hold what it should."""


class _Shown:
    """A value of which only its text was kept."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _trees(subject: Subject) -> Sequence[Tree]:
    return cast("Sequence[Tree]", subject.workspace.sources)


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

    def result(
        self,
        question: Any,
        subject: Subject,
        pool: Pool,
        work: Callable[[], _Result],
        whole: Callable[[_Result], bool],
    ) -> _Result:
        """What `work` gives, from the disk where it was done before.

        Args:
            question: what decides the result besides the sources and the description.
            subject: what is read.
            pool: where the result's terms are made.
            work: works it out.
            whole: whether nothing in a result speaks of places in words; others are given again
                only while no line has moved.
        """
        if not all(isinstance(tree, Tree) for tree in subject.workspace.sources):
            return work()  # sources that were made up on the way: nothing says what they hold
        try:
            name = self._name(question, subject)
        except CannotBeWritten:
            return work()
        known = self._known(name, subject, pool, whole)
        if known is not None:
            return known  # type: ignore[no-any-return]
        late = len(OUT_OF_TIME)
        with subject.workspace.noting() as ledger:
            result = work()
        if len(OUT_OF_TIME) > late:
            return result  # another time it might come out otherwise
        writer = self._writer(subject)
        try:
            value = writer.value(result)
        except CannotBeWritten:
            return result
        needs = dependencies.written(ledger, subject.workspace, _trees(subject))
        entry = {"needs": needs, "terms": writer.table, "value": value}
        digest = hashlib.sha256(json.dumps(needs).encode()).hexdigest()
        content = zlib.compress(json.dumps(entry, separators=(",", ":")).encode(), 1)
        self._store.write(content, f"{name}-{digest[:24]}")
        self._store.prune(_MOST)
        return result

    def _name(self, question: Any, subject: Subject) -> str:
        writer = self._writer(subject)
        asked = [writer.value(question), writer.table]
        parts = [self._program, subject.stubs.digest, repr(subject.engine), json.dumps(asked)]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:40]

    def _known(
        self, name: str, subject: Subject, pool: Pool, whole: Callable[[Any], bool]
    ) -> Any | None:
        entries = [entry for entry in self._store.names() if entry.startswith(name)]
        for place in entries[:_TRIED]:
            content = self._store.read(place)
            if content is None:
                continue
            try:
                entry = json.loads(zlib.decompress(content))
                moves = dependencies.compared(entry["needs"], subject.workspace, _trees(subject))
                if moves is None:
                    continue
                made = partial(self._made, subject, moves)
                result = Reader(pool, entry["terms"], made).value(entry["value"])
            except dependencies.Moved:
                continue
            except _BROKEN:
                continue
            if not moves.any or whole(result):
                return result
        return None

    def _writer(self, subject: Subject) -> Writer:
        """Writes with trees by their numbers: releases of different names may give the same."""
        labels = {tree.label: number for number, tree in enumerate(_trees(subject))}
        return Writer(lambda writer, value: self._object(writer, value, labels))

    def _object(self, writer: Writer, value: Any, labels: dict[str, int]) -> Any:
        if isinstance(value, Location):
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
        self, subject: Subject, moves: dependencies.Moves, reader: Reader, value: list[Any]
    ) -> Any:
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
