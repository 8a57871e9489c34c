"""`git:PATH@REV`: a revision of a repository, read from its object store.

Nothing is checked out and nothing that the repository configures is run: blobs are asked for by
their ids. A revision or a path that looks like an option never reaches git as one.
"""

from __future__ import annotations

import os
import subprocess
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from checker.errors import InputError
from checker.sources.directory import USUAL_ROOTS
from checker.sources.metadata import RawMetadata, normal_name, parse_pyproject
from checker.sources.tree import (
    MEMBER_LIMIT,
    MissingMember,
    Tree,
    has_folder,
    list_folder,
    normal,
    select,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "LC_ALL": "C",
}
_FATAL = "fatal: "
_FILE = ("100644", "100755")


class GitTree(Tree):
    """The regular files of one commit; links and submodules are left out.

    Its fingerprint is the commit's id.
    """

    def __init__(self, repository: str, commit: str, label: str, package: str | None) -> None:
        super().__init__()
        self.label = label
        self.fingerprint_ = commit
        self._repository = repository
        self._blobs = _listing(repository, commit, label)
        self._paths = sorted(self._blobs)
        self.roots = self._find_roots(package)
        raw = self._raw_metadata()
        self.name = normal_name(raw.name) if raw.name else ""
        self.version = raw.version
        stamp = git(repository, ["show", "-s", "--format=%cI", commit], label).decode().strip()
        self.released = datetime.fromisoformat(stamp)

    @property
    def fingerprint(self) -> str:
        return self.fingerprint_

    def exists(self, path: str) -> bool:
        plain = normal(path)
        if not path.endswith("/") and plain in self._blobs:
            return True
        return not plain or has_folder(self._paths, plain)

    def listdir(self, folder: str) -> list[str]:
        return list_folder(self._paths, folder)

    def files(self, prefix: str = "", suffix: str = "") -> list[str]:
        return select(self._paths, prefix, suffix)

    @cached_property
    def _reader(self) -> subprocess.Popen[bytes]:
        """One process that hands out blobs for as long as the tree lives."""
        return subprocess.Popen(  # noqa: S603 - fixed words; what is asked goes to its input
            _words(self._repository, ["cat-file", "--batch"]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **_QUIET},
        )

    def _fetch(self, path: str) -> bytes:
        blob = self._blobs.get(path)
        if blob is None:
            raise MissingMember(self.label, path)
        reader = self._reader
        assert reader.stdin is not None  # noqa: S101 - it was asked for above
        assert reader.stdout is not None  # noqa: S101
        try:
            reader.stdin.write(f"{blob}\n".encode())
            reader.stdin.flush()
            head = reader.stdout.readline().split()
        except BrokenPipeError:
            head = []
        if len(head) != 3 or head[1] != b"blob":
            raise InputError(
                f"{path} is not in the object store", "fetch the revision in full", self.label
            )
        size = int(head[2])
        data = reader.stdout.read(size + 1)[:-1]
        if size > MEMBER_LIMIT:
            raise InputError(
                f"{path} is {size} bytes long, more than any source file",
                "check a repository that holds the sources",
                self.label,
            )
        return data

    def _find_roots(self, package: str | None) -> tuple[str, ...]:
        if package is None:
            return ("",)
        for root in USUAL_ROOTS:
            if self.exists(f"{root}{package}/") or self.exists(f"{root}{package}.py"):
                return (root,)
        raise InputError(
            f"no Python package {package} in the revision",
            f"name a revision of a repository of {package}",
            self.label,
        )

    def _raw_metadata(self) -> RawMetadata:
        for place in (f"{self.roots[0]}pyproject.toml", "pyproject.toml"):
            if place in self._blobs:
                raw = parse_pyproject(self._fetch(place).decode("utf-8", "replace"))
                if raw.name:
                    return raw
        return RawMetadata()

    def __del__(self) -> None:
        reader = self.__dict__.get("_reader")
        if reader is not None:
            reader.kill()
            reader.stdin.close()
            reader.stdout.close()
            reader.wait()


def open_git(text: str, package: str | None) -> GitTree:
    """The tree of `PATH@REV`; without a revision, of HEAD.

    Raises:
        InputError: there is no such repository, revision or package, or git is not there.
    """
    label = f"git:{text}"
    path, revision = _parted(text)
    folder = os.path.abspath(os.path.expanduser(path or "."))
    if not os.path.isdir(folder):
        raise InputError("no such folder", "write git:FOLDER@REVISION", label)
    if not revision or revision.startswith("-") or any(c.isspace() for c in revision):
        raise InputError(f"{revision!r} is no revision", "name a commit, branch or tag", label)
    found = git(
        folder,
        ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"],
        label,
        f"no revision {revision} there",
    )
    return GitTree(folder, found.decode().strip(), label, package)


def _parted(text: str) -> tuple[str, str]:
    """The folder and the revision; either may have an `@` in its name."""
    if os.path.isdir(os.path.expanduser(text)):
        return text, "HEAD"
    places = [i for i, character in enumerate(text) if character == "@"]
    for i in places:
        if os.path.isdir(os.path.expanduser(text[:i] or ".")):
            return text[:i], text[i + 1 :]
    path, _, revision = text.partition("@")
    return path, revision or "HEAD"


def _listing(repository: str, commit: str, label: str) -> dict[str, str]:
    """Paths of regular files, each with the id of its blob."""
    raw = git(repository, ["ls-tree", "-r", "-z", "--full-tree", commit], label)
    blobs: dict[str, str] = {}
    for entry in raw.split(b"\0"):
        meta, _, path = entry.partition(b"\t")
        words = meta.decode("ascii", "replace").split()
        if len(words) == 3 and words[0] in _FILE:
            blobs[path.decode("utf-8", "surrogateescape")] = words[2]
    return blobs


def _words(repository: str, words: Sequence[str]) -> list[str]:
    return ["git", "-c", "core.fsmonitor=false", "-C", repository, *words]


def git(
    repository: str,
    words: Sequence[str],
    label: str,
    problem: str | None = None,
    remedy: str = "name a repository and a revision in it",
) -> bytes:
    """What git prints, run without anything that the repository or the user configures to run.

    Args:
        repository: the folder it is run in.
        words: what it is asked; options have to end before anything that a user wrote.
        label: what errors call the repository.
        problem: what errors say where git says nothing.
        remedy: what the user can do where git refuses.

    Raises:
        InputError: git is not there, or refuses.
    """
    try:
        done = subprocess.run(  # noqa: S603 - options end before what the user wrote
            _words(repository, words),
            capture_output=True,
            check=False,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **_QUIET},
        )
    except OSError:
        raise InputError("git is not installed", "install git, or name a folder", label) from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        fatal = [line.removeprefix(_FATAL) for line in said if line.startswith(_FATAL)]
        what = next(iter((*fatal, *said[-1:])), problem)
        advice = [line.strip() for line in said if line.startswith("\t")]
        do = f"run {advice[0]}" if fatal and advice else remedy
        raise InputError(what or "git cannot read it", do, label)
    return done.stdout
