"""One archive, read in chunks: from memory, from the cache, else from where it lies.

What comes as a whole is checked against the sha256 the index gives. Of what comes in ranges no
such proof is possible: there, each member is checked against the CRC-32 in the archive's directory,
which guards against damage but not against a server that lies. Once fetched, chunks are kept under
their own sha256, so that two runs read the same bytes.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from checker.errors import InputError
from checker.sources.archive import Directory, extract, parse_directory, readable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from checker.sources.store import Store

_PARALLEL = 4
_JOINED = 4 * 1024 * 1024


@dataclass(slots=True)
class Artifact:
    """An archive and what is known of it.

    Attributes:
        fetch: reads a span of the archive; raises InputError where that is not possible.
        memory: chunks already at hand; `stored` are those of them that were read from the store.
        store: where chunks are kept; None for an archive that is a local file anyway.
        place: under which name. What was checked as a whole against its sha256 is kept under that;
            what came in ranges is kept for its address only, so that no server can put other bytes
            under the hash of an archive that it does not have.
    """

    label: str
    fingerprint: str
    directory: Directory
    fetch: Callable[[int, int], bytes]
    store: Store | None = None
    place: str = ""
    memory: dict[int, bytes] = field(default_factory=dict)
    stored: set[int] = field(default_factory=set)

    def read(self, path: str) -> bytes:
        """One member.

        Raises:
            MissingMember, InputError: as `Tree.read`.
        """
        row = readable(self.directory, path, self.label)
        chunk = self.directory.chunk_of[row]
        fresh = self._load([chunk])
        try:
            return extract(self.directory, row, self.memory[chunk], self.label)
        except InputError:
            if fresh:
                raise
        del self.memory[chunk]  # it was kept damaged: once more, past the cache
        self.stored.discard(chunk)
        self._load([chunk], kept=False)
        return extract(self.directory, row, self.memory[chunk], self.label)

    def prefetch(self, paths: Iterable[str]) -> None:
        """Bring the chunks of these paths, neighbours in one request, a few requests at once."""
        rows = (self.directory.row(path) for path in paths)
        chunks = {self.directory.chunk_of[row] for row in rows if row is not None}
        self._load(sorted(chunks - {-1}))

    def _load(self, chunks: list[int], kept: bool = True) -> bool:
        """Bring chunks into memory; says whether any had to be fetched."""
        missing = []
        for chunk in chunks:
            if chunk in self.memory:
                continue
            start, end = self.directory.chunks[chunk]
            data = self._kept(start) if kept else None
            if data is not None and len(data) == end - start:
                self.memory[chunk] = data
                self.stored.add(chunk)
            else:
                missing.append(chunk)
        groups = self._joined(missing)
        if len(groups) > 1:
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(_PARALLEL) as pool:
                list(pool.map(self._fetch_group, groups))
        elif groups:
            self._fetch_group(groups[0])
        return bool(missing)

    def _joined(self, chunks: list[int]) -> list[list[int]]:
        """Group chunks that lie next to each other."""
        groups: list[list[int]] = []
        spans = self.directory.chunks
        for chunk in sorted(chunks, key=lambda chunk: spans[chunk][0]):
            if groups:
                start, end = spans[groups[-1][0]][0], spans[groups[-1][-1]][1]
                if 0 <= spans[chunk][0] - end <= 4096 and spans[chunk][1] - start <= _JOINED:
                    groups[-1].append(chunk)
                    continue
            groups.append([chunk])
        return groups

    def _fetch_group(self, group: list[int]) -> None:
        spans = [self.directory.chunks[chunk] for chunk in group]
        begin, stop = spans[0][0], spans[-1][1]
        data = self.fetch(begin, stop)
        if len(data) != stop - begin:
            raise InputError(
                "the archive is shorter than its directory says", "fetch it again", self.label
            )
        for chunk, (start, end) in zip(group, spans, strict=True):
            self.keep(chunk, data[start - begin : end - begin])

    def forget(self) -> None:
        """Drop the chunks that the store can give again."""
        for chunk in self.stored:
            self.memory.pop(chunk, None)
        self.stored.clear()

    def keep(self, chunk: int, data: bytes) -> None:
        """Take a chunk that is at hand."""
        self.memory[chunk] = data
        if self.store:
            start = self.directory.chunks[chunk][0]
            self.store.write(data, "artifacts", self.place, str(start))

    def _kept(self, start: int) -> bytes | None:
        return self.store.read("artifacts", self.place, str(start)) if self.store else None


def local_artifact(path: Path, label: str) -> Artifact:
    """An archive that is a file of the user's; its directory, with all CRCs, identifies it."""
    try:
        if path.name.endswith(".tar.gz"):
            return _local_sdist(path, label)
        with open(path, "rb") as file:
            directory = parse_directory(file, label)
    except OSError as error:
        raise InputError(
            f"the archive cannot be read: {error.strerror or error}", "make it readable", label
        ) from error

    def fetch(start: int, end: int) -> bytes:
        with open(path, "rb") as file:
            file.seek(start)
            return file.read(end - start)

    return Artifact(label, directory.digest, directory, fetch)


def _local_sdist(path: Path, label: str) -> Artifact:
    from checker.sources.sdist import sdist_as_zip

    with open(path, "rb") as file:
        data = sdist_as_zip(file, label)
    directory = parse_directory(io.BytesIO(data), label)
    return Artifact(label, directory.digest, directory, lambda start, end: data[start:end])


def load_directory(store: Store, place: str) -> Directory | None:
    """The kept directory of an archive, or None."""
    content = store.read_json("artifacts", place, "directory")
    return Directory.from_json(content) if content else None
