"""Bringing an archive here: in ranges where the server has them, as a whole where not.

A whole archive is checked against the index's sha256; its source files are kept in the cache and
the rest is forgotten. A server that ignores ranges costs one download, not an error.
"""

from __future__ import annotations

import hashlib
import io
import os
import threading
import weakref
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from checker.errors import InputError
from checker.sources.archive import DIRECTORY_LIMIT, Directory, parse_directory
from checker.sources.artifact import Artifact, load_directory
from checker.sources.client import NoRanges, NotFound

if TYPE_CHECKING:
    from checker.sources.client import Client
    from checker.sources.store import Store

WHOLE_LIMIT = 8 * 1024 * 1024
"""Up to this size one download is quicker than asking for parts."""

_BLOCK = 1024 * 1024
_TAIL = 512 * 1024


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an archive lies, and what the index says of it, if it does.

    `is_sdist`: a tar, which is turned into a zip when it comes.
    """

    url: str
    size: int | None
    sha256: str | None
    is_sdist: bool


class Remote:
    """An archive that is not here yet."""

    def __init__(self, client: Client, store: Store, label: str, origin: Origin) -> None:
        self._client, self._store, self._label = client, store, label
        self._url, self._size, self._sha256 = origin.url, origin.size, origin.sha256
        self._is_sdist = origin.is_sdist
        self._whole: IO[bytes] | None = None
        self._lock = threading.Lock()

    def open(self) -> Artifact:
        """The archive's directory, from the cache, a few ranges or the whole, and kept.

        Raises:
            InputError: it cannot be had, is damaged, or is not to be read.
        """
        if self._sha256:
            for place in (self._sha256, self._place(self._sha256)):
                kept = load_directory(self._store, place)
                if kept:
                    return self._artifact(self._sha256, kept, place)
        if not self._is_sdist and (self._size is None or self._size > WHOLE_LIMIT):
            try:
                return self._open_in_ranges()
            except NoRanges:
                pass
            except NotFound:
                raise self._gone() from None
        return self._open_whole()

    def span(self, start: int, end: int) -> bytes:
        """The bytes of the archive (of the zip, for an sdist) from `start` up to `end`."""
        if self._whole is None and not self._is_sdist:
            try:
                return self._client.span(self._url, start, end)[0]
            except NoRanges:
                pass
            except NotFound:
                raise self._gone() from None
        with self._lock:
            file = self._download()
            file.seek(start)
            return file.read(end - start)

    def _open_in_ranges(self) -> Artifact:
        file = RemoteFile(self._client, self._url, self._size)
        if file.size <= WHOLE_LIMIT:
            return self._open_whole()
        directory = parse_directory(io.BufferedReader(file), self._label)
        fingerprint = self._sha256 or directory.digest
        artifact = self._artifact(fingerprint, directory, self._place(fingerprint))
        self._store_directory(artifact)
        for chunk in range(directory.sources):
            start, end = directory.chunks[chunk]
            if file.has(start):
                artifact.keep(chunk, file.span(start, end))
        return artifact

    def _open_whole(self) -> Artifact:
        file = self._download()
        directory = parse_directory(file, self._label)
        fingerprint = self._sha256 or directory.digest
        place = self._sha256 or self._place(fingerprint)
        artifact = self._artifact(fingerprint, directory, place)
        self._store_directory(artifact)
        for chunk in range(directory.sources):
            start, end = directory.chunks[chunk]
            file.seek(start)
            artifact.keep(chunk, file.read(end - start))
        return artifact

    def _artifact(self, fingerprint: str, directory: Directory, place: str) -> Artifact:
        return Artifact(self._label, fingerprint, directory, self.span, self._store, place)

    def _place(self, fingerprint: str) -> str:
        """Where what came in ranges is kept: for this address only."""
        return f"{fingerprint}.{hashlib.sha256(self._url.encode()).hexdigest()[:16]}"

    def _store_directory(self, artifact: Artifact) -> None:
        self._store.write_json(
            artifact.directory.to_json(), "artifacts", artifact.place, "directory"
        )

    def _download(self) -> IO[bytes]:
        """The whole archive as an open file, checked; fetched at most once."""
        if self._whole is not None:
            return self._whole
        file = self._store.temporary()
        try:
            return self._checked(file)
        except BaseException:
            file.close()
            raise

    def _checked(self, file: IO[bytes]) -> IO[bytes]:
        try:
            self._client.download(self._url, file)
        except NotFound:
            raise self._gone() from None
        file.seek(0)
        digest = hashlib.sha256()
        while block := file.read(_BLOCK):
            digest.update(block)
        if self._sha256 and digest.hexdigest() != self._sha256:
            raise InputError(
                "the archive that came is not the one the index lists (its sha256 differs)",
                "try again; if it stays so, do not trust this index",
                self._label,
            )
        file.seek(0)
        if self._is_sdist:
            from checker.sources.sdist import sdist_as_zip

            with file:
                file = io.BytesIO(sdist_as_zip(file, self._label))
        weakref.finalize(self, file.close)
        self._whole = file
        return file

    def _gone(self) -> InputError:
        return InputError(
            "the index lists its archive, but it is not there",
            "try again later, or use another index or a directory",
            self._label,
        )


class RemoteFile(io.RawIOBase):
    """As much of a seekable file as `zipfile` needs to read an archive's directory.

    The end of the file is fetched first, in one piece that is likely to hold the whole directory.
    """

    def __init__(self, client: Client, url: str, size: int | None) -> None:
        self._client, self._url, self._at = client, url, 0
        if size is None:
            data, self.size = client.span(url, None, _TAIL)
        else:
            tail = min(max(size // 32, _TAIL // 4), _TAIL * 2)
            data, self.size = client.span(url, max(size - tail, 0), size)
        if size is not None and size != self.size:
            raise InputError(
                f"the index says {size} bytes, the server has {self.size}", "try again", url
            )
        self._start, self._tail = self.size - len(data), data

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self.size}[whence]
        self._at = max(base + offset, 0)
        return self._at

    def readinto(self, buffer: Any, /) -> int:
        end = min(self._at + len(buffer), self.size)
        data = self.span(self._at, end) if end > self._at else b""
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def span(self, start: int, end: int) -> bytes:
        """The bytes from `start` up to `end`."""
        if end - start > DIRECTORY_LIMIT:
            raise InputError("the archive's directory is too long", "use another source", self._url)
        if start >= self._start:
            return self._tail[start - self._start : end - self._start]
        if end > self._start:  # grow the tail backwards: the directory is read in pieces
            more, _ = self._client.span(self._url, start, self._start)
            self._start, self._tail = start, more + self._tail
            return self._tail[: end - start]
        return self._client.span(self._url, start, end)[0]

    def has(self, start: int) -> bool:
        """Whether everything from `start` on is already here."""
        return start >= self._start
