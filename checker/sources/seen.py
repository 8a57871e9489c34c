"""What a result owes to a tree: recorded after a run, compared before an answer is given again.

An archive never changes: its fingerprint says all. A folder does, so every file that was read and
every folder that was looked into counts, those in which something was not found too.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from checker.errors import InputError
from checker.sources.directory import USUAL_ROOTS, DirectoryTree
from checker.sources.tree import MissingMember, Tree, normal


@dataclass(slots=True)
class Changes:
    """What is not as it was of what was read: files and folders, with digests of what they hold."""

    files: dict[str, str] = field(default_factory=dict)
    folders: dict[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.files or self.folders)


def seen(tree: Tree) -> dict[str, Any]:
    """What was read of a tree so far, as JSON."""
    found: dict[str, Any] = {"label": tree.label, "version": tree.version, "roots": [*tree.roots]}
    if isinstance(tree, DirectoryTree):
        found["read"] = tree.read_digests
        folders = sorted({*tree.folders_seen, *map(normal, USUAL_ROOTS)})
        found["listed"] = {folder: _names(tree, folder) for folder in folders}
    else:
        found["fingerprint"] = tree.fingerprint
    return found


def also_seen(tree: Tree, record: dict[str, Any]) -> None:
    """Notes what another process has read of the same tree."""
    if not isinstance(tree, DirectoryTree):
        return
    tree.note_read(record["read"])
    tree.is_read_elsewhere = True
    for folder in record["listed"]:
        tree.listdir(folder)


def changes(tree: Tree, before: dict[str, Any]) -> Changes | None:
    """What a tree, opened anew, would give otherwise than before; None for another tree.

    So is one in which a file is no longer there that was read.
    """
    now: dict[str, Any] = {"label": tree.label, "version": tree.version, "roots": [*tree.roots]}
    if any(before.get(key) != value for key, value in now.items()):
        return None
    if not isinstance(tree, DirectoryTree):
        return Changes() if before.get("fingerprint") == tree.fingerprint else None
    was, found = before["listed"], Changes()
    try:
        folders = {folder: _names(tree, folder) for folder in was}
        for path in before["read"]:
            tree.read(path)
    except (KeyError, MissingMember, InputError):
        return None
    found.folders = {folder: names for folder, names in folders.items() if names != was[folder]}
    files = tree.read_digests
    found.files = {path: files[path] for path, old in before["read"].items() if files[path] != old}
    return found


def updated(before: dict[str, Any], found: Changes) -> dict[str, Any]:
    """What was read of a tree, as `seen` says it, after changes that do not matter."""
    if not found:
        return before
    return {
        **before,
        "read": {**before["read"], **found.files},
        "listed": {**before["listed"], **found.folders},
    }


def _names(tree: Tree, folder: str) -> str:
    return hashlib.sha256("\n".join(tree.listdir(folder)).encode("utf-8", "replace")).hexdigest()
