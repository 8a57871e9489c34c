"""The cache on disk: small sealed files that many processes may read and write at once.

Every file begins with the sha256 of what follows, is written beside its place and renamed into it,
and is checked when read. A damaged or half-written file is as good as none: it is fetched again.

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
from pathlib import Path
from typing import IO, Any

CACHE_VARIABLE = "EAGLE3_CHECK_CACHE"
FORMAT = "1"
"""Changed whenever what is kept changes its meaning: an old cache is then as good as none."""

_DIGEST = 32


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

    def read(self, *place: str) -> bytes | None:
        """The bytes kept at a place, or None when there are none or they are damaged."""
        try:
            data = self._path(place).read_bytes()
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
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(hashlib.sha256(content).digest())
                    file.write(content)
                os.replace(temporary, path)
            except BaseException:
                os.unlink(temporary)
                raise

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

    def prune(self, most: int) -> None:
        """Drops the oldest half of the files directly in the folder when there are too many."""
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
