"""What a result owes to the trees it was read from: written beside it, compared before it is used.

A result depends on the statements of the names that were asked of modules, on which modules there
are, and on what was searched, read or listed besides. Where a file has changed otherwise (another
function, a comment), the statements may stand on other lines: `Moves` says on which.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from checker.errors import InputError
from checker.sources.directory import DirectoryTree
from checker.sources.tree import MissingMember
from checker.syntax import UnparsableModule

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable, Sequence

    from checker.sources import Tree
    from checker.syntax import Ledger, ModuleFile, Workspace

_Lines = list[list[int]]


class Moved(Exception):
    """A line that is no part of what was compared."""


@dataclass(slots=True)
class Moves:
    """Where lines stand now: `ranges[tree, path]` are (first line, last line, first line now)."""

    ranges: dict[tuple[int, str], list[tuple[int, int, int]]] = field(default_factory=dict)

    def line(self, tree: int, path: str, line: int) -> int:
        """The line that one has become.

        Raises:
            Moved: it cannot be told.
        """
        ranges = self.ranges.get((tree, path))
        if ranges is None:
            return line
        for first, last, now in ranges:
            if first <= line <= last:
                return line - first + now
        raise Moved

    @property
    def any(self) -> bool:
        """Whether some statement stands elsewhere than it stood."""
        return any(first != now for ranges in self.ranges.values() for first, _, now in ranges)


def written(ledger: Ledger, workspace: Workspace, trees: Sequence[Tree]) -> dict[str, Any]:
    """A ledger as JSON."""
    digests = [tree.read_digests for tree in trees]
    numbers = {id(tree): number for number, tree in enumerate(trees)}
    modules: dict[str, Any] = {}
    files: list[dict[str, Any]] = []
    for name, file in sorted(ledger.modules.items()):
        if file is None:
            modules[name] = None
            continue
        number = numbers[id(file.tree)]
        modules[name] = [number, file.path, file.is_package]
        asked = None if name in ledger.whole else sorted(ledger.names.get(name, ()))
        said: dict[str, Any] = {"tree": number, "path": file.path, "module": name, "names": asked}
        said["sha256"] = digests[number][file.path]
        if asked is not None:
            said["digest"], said["lines"] = _statements(file, asked, trees[number])
        files.append(said)
    return {
        "fingerprints": fingerprints(trees),
        "modules": modules,
        "packages": dict(sorted(ledger.packages.items())),
        "files": files,
        "searches": [[*key, found] for key, found in sorted(ledger.searches.items())],
        "texts": {package: _listed(workspace.texts(package)) for package in sorted(ledger.texts)},
        "read": [[n, path, digests[n][path]] for n, path in sorted(ledger.files)],
        "listed": [[n, folder, _names(trees[n], folder)] for n, folder in sorted(ledger.folders)],
    }


def compared(before: dict[str, Any], workspace: Workspace, trees: Sequence[Tree]) -> Moves | None:
    """Where everything stands now that a result depends on; None where something is not as it was.

    An archive never changes: its fingerprint says all.
    """
    if len(before["fingerprints"]) != len(trees):
        return None
    now = fingerprints(trees)
    same = [f is not None and f == g for f, g in zip(before["fingerprints"], now, strict=True)]
    if all(same):
        return Moves()
    try:
        return _compared(before, workspace, trees, same)
    except (KeyError, MissingMember, InputError, UnparsableModule):
        return None


def _compared(
    before: dict[str, Any], workspace: Workspace, trees: Sequence[Tree], same: list[bool]
) -> Moves | None:
    if not _found(before, workspace) or not _read(before, trees, same):
        return None
    moves = Moves()
    for said in before["files"]:
        number, path = said["tree"], said["path"]
        if same[number] or _sha256(trees[number], path) == said["sha256"]:
            continue
        file = None if said["names"] is None else workspace.find(said["module"])
        if file is None:
            return None
        digest, lines = _statements(file, said["names"], trees[number])
        if digest != said["digest"]:
            return None
        moves.ranges[number, path] = [
            (first, last, now) for (first, last), (now, _) in zip(said["lines"], lines, strict=True)
        ]
    return moves


def _found(before: dict[str, Any], workspace: Workspace) -> bool:
    """Whether modules and packages are where they were, and searches find what they found."""
    return (
        all(_place(workspace, name) == place for name, place in before["modules"].items())
        and all(workspace.is_package(name) == there for name, there in before["packages"].items())
        and all(_listed(workspace.texts(name)) == names for name, names in before["texts"].items())
        and all(workspace.naming(name, word) == found for name, word, found in before["searches"])
    )


def _place(workspace: Workspace, module: str) -> list[Any] | None:
    found = workspace.place(module)
    return None if found is None else [*found]


def _read(before: dict[str, Any], trees: Sequence[Tree], same: list[bool]) -> bool:
    """Whether the files and folders that were looked into besides are as they were."""
    return all(
        same[number] or _sha256(trees[number], path) == digest
        for number, path, digest in before["read"]
    ) and all(
        same[number] or _names(trees[number], folder) == names
        for number, folder, names in before["listed"]
    )


def _statements(file: ModuleFile, names: list[str], tree: Tree) -> tuple[str, _Lines]:
    """A digest of the statements that names depend on, and the lines on which they stand."""
    text = tree.read(file.path).splitlines()
    statements = file.statements_of(names)
    numbers = {id(statement): n for n, statement in enumerate(statements)}
    digest = hashlib.sha256()
    for name in names:
        parts = [numbers[id(s)] for s in file.statements_of([name])]
        digest.update(f"{name}={parts}\0".encode())
    lines = [_extent(statement) for statement in statements]
    for first, last in lines:
        for line in text[first - 1 : last]:
            digest.update(line + b"\n")
    return digest.hexdigest(), lines


def _extent(statement: ast.stmt) -> list[int]:
    decorators = getattr(statement, "decorator_list", [])
    first = min([statement.lineno, *(d.lineno for d in decorators)])
    return [first, statement.end_lineno or first]


def fingerprints(trees: Sequence[Tree]) -> list[str | None]:
    """What identifies the content of each tree for ever; None for one that may change."""
    return [_fingerprint(tree) for tree in trees]


def _fingerprint(tree: Tree) -> str | None:
    return None if isinstance(tree, DirectoryTree) else tree.fingerprint


def _sha256(tree: Tree, path: str) -> str:
    return hashlib.sha256(tree.read(path)).hexdigest()


def _listed(names: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(names)).encode("utf-8", "replace")).hexdigest()


def _names(tree: Tree, folder: str) -> str:
    return hashlib.sha256("\n".join(tree.listdir(folder)).encode("utf-8", "replace")).hexdigest()
