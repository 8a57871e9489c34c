"""What files of the user's own repository held at an earlier revision."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from checker.errors import InputError
from checker.sources.git import git

if TYPE_CHECKING:
    from collections.abc import Callable

_LABEL = "the repository"


@dataclass(frozen=True, slots=True)
class Revision:
    """A commit of the repository at `root`."""

    root: str
    commit: str

    def files(self, wanted: Callable[[str], bool]) -> dict[str, str]:
        """The paths for which `wanted` says yes, with their texts."""
        listed = git(self.root, ["ls-tree", "-r", "-z", "--name-only", self.commit], _LABEL)
        paths = [p.decode("utf-8", "surrogateescape") for p in listed.split(b"\0") if p]
        return {
            path: git(self.root, ["cat-file", "blob", f"{self.commit}:{path}"], _LABEL).decode(
                "utf-8", "replace"
            )
            for path in paths
            if wanted(path)
        }


def branched_from(folder: str, revision: str) -> Revision:
    """The commit at which the work in a folder left another line of history.

    Raises:
        InputError: it lies in no repository, or there is no such revision.
    """
    top = git(
        folder,
        ["rev-parse", "--show-toplevel"],
        _LABEL,
        "no repository there",
        "run it in a folder of a git repository",
    )
    root = os.fsdecode(top).strip()
    if not revision or revision.startswith("-") or any(c.isspace() for c in revision):
        raise InputError(f"{revision!r} is no revision", "name a commit, branch or tag", "--base")
    commit = git(
        root,
        ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"],
        "--base",
        f"no revision {revision} there",
        "fetch it, or name what the work is compared with: --base REVISION",
    )
    words = ["merge-base", commit.decode().strip(), "HEAD"]
    problem = f"{revision} and HEAD have no commit in common"
    remedy = "fetch the whole history: git fetch --unshallow, fetch-depth: 0 or GIT_DEPTH: 0 in CI"
    base = git(root, words, "--base", problem, remedy)
    return Revision(root, base.decode().strip())


def working_files(root: str, wanted: Callable[[str], bool]) -> dict[str, str]:
    """The same of the working tree: files that git tracks or would add.

    Raises:
        InputError: it lies in no repository.
    """
    words = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = git(root, words, _LABEL).split(b"\0")
    found: dict[str, str] = {}
    for raw in listed:
        path = os.fsdecode(raw)
        if not path or not wanted(path):
            continue
        try:
            with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
                found[path] = file.read()
        except OSError:
            continue  # deleted, and not yet told to git
    return found
