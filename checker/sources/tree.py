"""What every source becomes: a tree of bytes, read lazily, one file at a time.

Nothing here knows where the bytes lie. A tree lists and reads; it never writes, never unpacks and
never imports what it holds.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from packaging.requirements import Requirement

    from checker.sources.metadata import RawMetadata

MEMBER_LIMIT = 16 * 1024 * 1024
"""No source file is this long; what is longer is a binary or an attack, and is not read."""
_HELD = 32 * 1024 * 1024
"""So much of what was read is kept at hand: both sides, and a registry, read the same files."""


class MissingMember(KeyError):
    """A path that a tree does not hold; callers turn it into their own `Unknown`."""

    def __init__(self, label: str, path: str) -> None:
        super().__init__(path)
        self.label = label
        self.path = path

    def __str__(self) -> str:
        return f"{self.label} holds no file {self.path}"


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a distribution says of itself, as far as it is written down statically.

    Attributes:
        requires: its requirements, extras' included (their markers tell).
        requires_python: the Python versions it declares, as written.
    """

    requires: tuple[Requirement, ...] = ()
    requires_python: str | None = None


class Tree(ABC):
    """The files of one source.

    Paths are relative to the source's root, with `/`, whatever the platform. `files` and `listdir`
    are sorted, so that everything derived from them is deterministic.

    Attributes:
        label: how reports name the source, for example `NAME==VERSION`.
        name: the distribution's name, normalised; empty where nothing says it.
        version: its version, or None where nothing static says it.
        roots: folders of the source under which import paths start: `""`, `"python/"`, `"src/"`.
        released: when the release was published, where the index says so.
        folder: where its files lie on disk, for a checkout.
        is_read_elsewhere: whether some of what was read of it was read by another process.
    """

    label: str
    name: str
    version: str | None
    roots: tuple[str, ...]
    released: datetime | None
    folder: str | None = None

    def __init__(self) -> None:
        self._digests: dict[str, str] = {}
        self._contents: dict[str, bytes] = {}
        self._held = 0
        self.is_read_elsewhere = False

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """A sha256 that identifies the content."""

    @abstractmethod
    def _fetch(self, path: str) -> bytes:
        """The bytes of a normalised path, or MissingMember."""

    @abstractmethod
    def exists(self, path: str) -> bool:
        """Whether there is a file or a folder of this path; a trailing `/` asks for a folder."""

    @abstractmethod
    def listdir(self, folder: str) -> list[str]:
        """The sorted names in a folder, folders ending with `/`; empty for a folder not there."""

    @abstractmethod
    def files(self, prefix: str = "", suffix: str = "") -> list[str]:
        """The sorted paths of all files that begin with `prefix` and end with `suffix`."""

    @abstractmethod
    def _raw_metadata(self) -> RawMetadata:
        """The distribution's own description, unparsed."""

    def read(self, path: str) -> bytes:
        """The content of a file.

        Raises:
            MissingMember: there is no such file.
            InputError: it is there and is refused or cannot be had.
        """
        path = normal(path)
        data = self.peek(path)
        if path not in self._digests:
            self._digests[path] = hashlib.sha256(data).hexdigest()
        return data

    def peek(self, path: str) -> bytes:
        """As `read`, to see whether a file is as it was: nothing comes of it, so nothing is noted.

        Raises:
            MissingMember: there is no such file.
            InputError: it is there and is refused or cannot be had.
        """
        path = normal(path)
        data = self._contents.get(path)
        if data is None:
            data = self._fetch(path)
            if self._held + len(data) <= _HELD:
                self._contents[path] = data
                self._held += len(data)
        return data

    def forget(self) -> None:
        """Drops what is kept at hand of files that were read; they are read again when asked for.

        A source that may change keeps it: it is one state of it that a run looks at.
        """
        self._contents.clear()
        self._held = 0

    def prefetch(self, paths: Iterable[str]) -> None:  # noqa: B027 - a hint may be ignored
        """Hint that these files are about to be read, so that few requests bring them all."""

    def note_read(self, digests: Mapping[str, str]) -> None:
        """Counts files as read that were read elsewhere, with the sha256 they had there."""
        for path, digest in digests.items():
            self._digests.setdefault(path, digest)

    @property
    def read_digests(self) -> dict[str, str]:
        """The sha256 of each file read so far, by path: what a result was derived from."""
        return dict(sorted(self._digests.items()))

    @cached_property
    def metadata(self) -> Metadata:
        """The declared requirements (parsed on first use: a warm run may never need them)."""
        from checker.sources.metadata import parse_requirements

        raw = self._raw_metadata()
        return Metadata(parse_requirements(raw.requires), raw.requires_python)

    @property
    def requires(self) -> tuple[str, ...]:
        """The declared requirements as they are written."""
        return self._raw_metadata().requires

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.label}>"


def normal(path: str) -> str:
    """A path as trees spell it: no leading `./`, no doubled or trailing slashes."""
    if path.startswith("/") or "//" in path or "./" in path or path.endswith(("/", "/.")):
        parts = [part for part in path.split("/") if part not in ("", ".")]
        return "/".join(parts)
    return path


def list_folder(paths: Sequence[str], folder: str) -> list[str]:
    """The names directly in `folder`, from a sorted list of all paths.

    Jumps over each subfolder by bisection: a release has five thousand files.
    """
    folder = normal(folder)
    prefix = f"{folder}/" if folder else ""
    names = []
    at = bisect_left(paths, prefix)
    while at < len(paths) and paths[at].startswith(prefix):
        head, slash, _ = paths[at][len(prefix) :].partition("/")
        names.append(head + slash)
        at = bisect_left(paths, f"{prefix}{head}0", at) if slash else at + 1
    return sorted(names)


def has_folder(paths: Sequence[str], folder: str) -> bool:
    """Whether any of the sorted paths lies below `folder`."""
    prefix = f"{folder}/"
    at = bisect_left(paths, prefix)
    return at < len(paths) and paths[at].startswith(prefix)


def select(paths: Sequence[str], prefix: str, suffix: str) -> list[str]:
    """The sorted paths that begin with `prefix` and end with `suffix`."""
    found = []
    for at in range(bisect_left(paths, prefix), len(paths)):
        if not paths[at].startswith(prefix):
            break
        if paths[at].endswith(suffix):
            found.append(paths[at])
    return found
