"""What a result owes to a tree: recorded after a run, compared before an answer is given again.

An archive never changes: its fingerprint says all. A folder does, so every file that was read and
every folder that was looked into counts, those in which something was not found too.
"""

from __future__ import annotations

import hashlib
from typing import Any

from checker.errors import InputError
from checker.sources.directory import USUAL_ROOTS, DirectoryTree
from checker.sources.tree import MissingMember, Tree, normal


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
    for folder in record["listed"]:
        tree.listdir(folder)


def unchanged(tree: Tree, before: dict[str, Any]) -> bool:
    """Whether a tree, opened anew, would still give what was read of it before."""
    now: dict[str, Any] = {"label": tree.label, "version": tree.version, "roots": [*tree.roots]}
    if any(before.get(key) != value for key, value in now.items()):
        return False
    if not isinstance(tree, DirectoryTree):
        return bool(before.get("fingerprint") == tree.fingerprint)
    try:
        return all(
            _names(tree, folder) == names for folder, names in before["listed"].items()
        ) and all(
            hashlib.sha256(tree.read(path)).hexdigest() == digest
            for path, digest in before["read"].items()
        )
    except (KeyError, MissingMember, InputError):
        return False


def _names(tree: Tree, folder: str) -> str:
    return hashlib.sha256("\n".join(tree.listdir(folder)).encode("utf-8", "replace")).hexdigest()
