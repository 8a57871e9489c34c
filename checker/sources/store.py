"""The cache on disk: small sealed files that many processes may read and write at once.

Every file begins with the sha256 of what follows, is written beside its place and renamed into it,
and is checked when read. A damaged or half-written file is as good as none, and so is one that
somebody else owns: it is fetched again, and whatever stands in its place makes room. What a killed
process leaves half-written is removed by a later one that writes into the same folder.

    releases/<sources>/<name>/<version>     which artifact a release is (per set of indexes)
    resolutions/<sources>/<digest>          which release satisfied a requirement
    artifacts/<place>/directory             what lies where in the artifact
    artifacts/<place>/<offset>              a range of the artifact, as it came
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import time
from pathlib import Path
from typing import IO, Any

CACHE_VARIABLE = "EAGLE3_CHECK_CACHE"
FORMAT = "1"
"""Changed whenever what is kept changes its meaning: an old cache is then as good as none."""

_DIGEST = 32
_SELDOM = 64
"""Files that are written between two counts of them."""
_READING = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
"""What stands there may be anything; opening a pipe must not wait for its other end."""
_BEGUN = ".begun-"
"""How the name of a file that is being written begins."""
_LEFT = 3600.0
"""Seconds after which nobody is still writing such a file."""


def cache_folder() -> Path:
    """This program's folder in the user's cache, or what the environment names instead."""
    override = os.environ.get(CACHE_VARIABLE)
    if override:
        return Path(override)
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("eagle3-check", appauthor=False))


def default_folder(kind: str = "sources") -> Path:
    """The folder of one kind of what is kept in the cache."""
    return cache_folder() / kind / FORMAT


class Store:
    """Sealed files below one folder. A folder that cannot be written costs only the caching."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._swept: set[Path] = set()
        self._written = 0

    def read(self, *place: str) -> bytes | None:
        """The bytes kept at a place, or None when there are none or they are damaged."""
        try:
            with os.fdopen(os.open(self._path(place), _READING), "rb") as file:
                data = file.read() if _is_own(os.fstat(file.fileno())) else b""
        except (OSError, ValueError):
            return None
        content = data[_DIGEST:]
        if len(data) < _DIGEST or hashlib.sha256(content).digest() != data[:_DIGEST]:
            return None
        return content

    def write(self, content: bytes, *place: str) -> None:
        """Keep bytes at a place, all of them or none."""
        import tempfile

        path = self._path(place)
        # A full or read-only disk makes the next run slower; it is no reason to fail this one.
        with contextlib.suppress(OSError):
            self._make_room(path)
            self._sweep(path.parent)
            handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=_BEGUN)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(hashlib.sha256(content).digest())
                    file.write(content)
                os.replace(temporary, path)
            except BaseException:
                os.unlink(temporary)
                raise

    def _make_room(self, path: Path) -> None:
        """Makes the folders above a file, in place of anything else that stands there."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError:
            for folder in reversed(path.parents):
                ours = self.folder in (folder, *folder.parents)
                if ours and not folder.is_dir():
                    folder.unlink(missing_ok=True)
            path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir() and not path.is_symlink():
            import shutil

            shutil.rmtree(path)

    def _sweep(self, folder: Path) -> None:
        """Removes what killed processes began to write, once per folder and process."""
        if folder in self._swept:
            return
        self._swept.add(folder)
        with os.scandir(folder) as entries:
            begun = [e for e in entries if e.name.startswith(_BEGUN)]
        for entry in begun:
            with contextlib.suppress(OSError):
                if time.time() - entry.stat().st_mtime > _LEFT:
                    os.unlink(entry.path)

    def read_json(self, *place: str) -> dict[str, Any] | None:
        """The object kept at a place, or None."""
        content = self.read(*place)
        if content is None:
            return None
        try:
            value = json.loads(content)
        except ValueError:
            return None
        return value if isinstance(value, dict) else None

    def write_json(self, value: dict[str, Any], *place: str) -> None:
        """Keep an object at a place."""
        self.write(json.dumps(value, separators=(",", ":")).encode(), *place)

    def names(self, *place: str) -> list[str]:
        """The sorted names kept below a place."""
        try:
            return sorted(
                name for name in os.listdir(self._path(place)) if not name.startswith(".")
            )
        except OSError:
            return []

    def names_of(self, start: str) -> list[str]:
        """The sorted names directly in the folder that begin so."""
        try:
            return sorted(name for name in os.listdir(self.folder) if name.startswith(start))
        except OSError:
            return []

    def prune(self, most: int) -> None:
        """Drops the oldest half of the files directly in the folder when there are too many.

        That is looked at now and then: counting thousands of files takes longer than writing one.
        """
        self._written += 1
        if self._written % _SELDOM != 1:
            return
        names = self.names()
        if len(names) <= most:
            return
        aged = []
        for name in names:
            with contextlib.suppress(OSError):
                aged.append((os.stat(self._path((name,))).st_mtime_ns, name))
        for _, name in sorted(aged)[: len(aged) // 2]:
            with contextlib.suppress(OSError):
                os.unlink(self._path((name,)))

    def temporary(self) -> IO[bytes]:
        """A file for a download, gone when closed; on the cache's disk, which has the room."""
        import tempfile

        folder = self.folder / "downloads"
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            return tempfile.TemporaryFile(dir=folder)
        return tempfile.TemporaryFile()

    def _path(self, place: tuple[str, ...]) -> Path:
        return self.folder.joinpath(*place)


def _is_own(status: os.stat_result) -> bool:
    """Whether a file is one, and written by this user or by who administers the machine."""
    if not stat.S_ISREG(status.st_mode):
        return False
    user = getattr(os, "geteuid", None)
    return user is None or status.st_uid in {user(), 0}
