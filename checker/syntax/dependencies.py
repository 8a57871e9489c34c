"""What a result owes to the trees it was read from: written beside it, compared before it is used.

A result depends on the statements of the names that were asked of modules, on which modules there
are, and on what was searched, read or listed besides. Where a file has changed otherwise (another
function, a comment), the statements may stand on other lines: `Moves` says on which.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from checker.errors import InputError
from checker.sources.directory import DirectoryTree
from checker.sources.tree import MissingMember
from checker.syntax.modules import holds, statements_of
from checker.syntax.recent import indexed

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable, Sequence

    from checker.sources import Tree
    from checker.syntax.index import Index
    from checker.syntax.ledger import Ledger
    from checker.syntax.modules import Workspace

_Lines = list[list[int]]
_GONE = (KeyError, MissingMember, InputError, SyntaxError, ValueError, RecursionError, MemoryError)
"""What looking at a file raises that is not as it was."""
_MAPPINGS = ("modules", "packages", "texts")
_ROWS = ("files", "searches", "read", "listed")


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
        return bool(self.files)

    @property
    def files(self) -> set[tuple[int, str]]:
        """The files of which a statement stands elsewhere."""
        return {
            file
            for file, ranges in self.ranges.items()
            if any(first != now for first, _, now in ranges)
        }


def written(ledger: Ledger, workspace: Workspace, trees: Sequence[Tree]) -> dict[str, Any]:
    """A ledger as JSON, with what it has inherited."""
    digests = [tree.read_digests for tree in trees]
    numbers = {id(tree): number for number, tree in enumerate(trees)}
    modules: dict[str, Any] = {name: [*place] for name, place in ledger.broken.items()}
    files: list[dict[str, Any]] = []
    for name, file in sorted(ledger.modules.items()):
        if file is None:
            modules[name] = None
            continue
        number = numbers[id(file.tree)]
        modules[name] = [number, file.path, file.is_package]
        asked = None if name in ledger.whole else sorted(ledger.names.get(name, ()))
        said: dict[str, Any] = {"tree": number, "path": file.path, "names": asked}
        said["sha256"] = digests[number][file.path]
        if asked is not None:
            text = trees[number].peek(file.path)
            said["digest"], said["lines"] = _statements(file.syntax[1], text, asked)
        files.append(said)
    read = {*ledger.files, *((number, path) for number, path, _ in ledger.broken.values())}
    own = {
        "fingerprints": fingerprints(trees),
        "modules": modules,
        "packages": dict(ledger.packages),
        "files": files,
        "searches": [[*key, [*map(list, found)]] for key, found in ledger.searches.items()],
        "texts": {package: _listed(workspace.texts(package)) for package in ledger.texts},
        "read": [[n, path, sha256(trees[n], path)] for n, path in read],
        "listed": [[n, folder, _names(trees[n], folder)] for n, folder in ledger.folders],
    }
    return joined([own, *ledger.inherited.values()])


def joined(needs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What several results of the same trees depend on."""
    whole: dict[str, Any] = {"fingerprints": needs[0]["fingerprints"]}
    for part in _MAPPINGS:
        found = {key: value for one in needs for key, value in one[part].items()}
        whole[part] = dict(sorted(found.items()))
    for part in _ROWS:
        rows = {json.dumps(row, sort_keys=True): row for one in needs for row in one[part]}
        whole[part] = [row for _, row in sorted(rows.items())]
    return whole


def compared(
    before: dict[str, Any],
    workspace: Workspace,
    trees: Sequence[Tree],
    changed: set[tuple[int, str]] | None = None,
) -> tuple[Moves, dict[str, Any]] | None:
    """Where everything stands now that a result depends on, and what it now depends on.

    An archive never changes: its fingerprint says all. Nothing counts as read that was only
    compared.

    Args:
        before: what it depended on.
        workspace: where modules are found.
        trees: the trees as they are.
        changed: the files that have changed, where it is known that those are all, and that no
            folder has; None where nothing is known.

    Returns:
        None where something is not as it was.
    """
    if len(before["fingerprints"]) != len(trees):
        return None
    now = fingerprints(trees)
    same = [f is not None and f == g for f, g in zip(before["fingerprints"], now, strict=True)]
    if all(same):
        return Moves(), before
    try:
        if changed is None and not _found(before, workspace, trees):
            return None
        return _compared(before, trees, same, changed)
    except _GONE:
        return None


def noted(needs: dict[str, Any], trees: Sequence[Tree]) -> None:
    """Counts as read, in folders, what was read for a result that is given again."""
    folders = [isinstance(tree, DirectoryTree) for tree in trees]
    rows = [(said["tree"], said["path"], said["sha256"]) for said in needs["files"]]
    for number, path, digest in (*rows, *needs["read"]):
        if folders[number]:
            trees[number].note_read({path: digest})
    for package in {package for package, _, _ in needs["searches"]}:
        for tree, path in _direct(package, trees).values():
            if isinstance(tree, DirectoryTree):
                tree.read(path)


def _compared(
    before: dict[str, Any],
    trees: Sequence[Tree],
    same: list[bool],
    changed: set[tuple[int, str]] | None,
) -> tuple[Moves, dict[str, Any]] | None:
    def is_same(number: int, path: str, digest: str) -> bool:
        if same[number] or (changed is not None and (number, path) not in changed):
            return True
        return sha256(trees[number], path) == digest

    if not all(is_same(*row) for row in before["read"]):
        return None
    if not all(same[n] or _names(trees[n], f) == names for n, f, names in before["listed"]):
        return None
    if not all(
        _same_search(row, trees, file) for row in before["searches"] for file in changed or ()
    ):
        return None
    moves, files = Moves(), []
    for said in before["files"]:
        number, path, names = said["tree"], said["path"], said["names"]
        if is_same(number, path, said["sha256"]):
            files.append(said)
            continue
        if names is None:
            return None
        text = trees[number].peek(path)
        digest, lines = _statements(indexed(text), text, names)
        if digest != said["digest"]:
            return None
        moved = [
            (first, last, now) for (first, last), (now, _) in zip(said["lines"], lines, strict=True)
        ]
        moves.ranges.setdefault((number, path), []).extend(moved)
        files.append({**said, "sha256": sha256(trees[number], path), "lines": lines})
    return moves, {**before, "fingerprints": fingerprints(trees), "files": files}


def _found(before: dict[str, Any], workspace: Workspace, trees: Sequence[Tree]) -> bool:
    """Whether modules and packages are where they were, and searches find what they found."""
    return (
        all(_place(workspace, name) == place for name, place in before["modules"].items())
        and all(_is_package(name, trees) == there for name, there in before["packages"].items())
        and all(_listed(_direct(name, trees)) == names for name, names in before["texts"].items())
        and all(_searched(name, word, trees) == found for name, word, found in before["searches"])
    )


def _place(workspace: Workspace, module: str) -> list[Any] | None:
    found = workspace.place(module)
    return None if found is None else [*found]


def _is_package(name: str, trees: Sequence[Tree]) -> bool:
    folder = name.replace(".", "/") + "/"
    return any(bool(tree.listdir(root + folder)) for tree in trees for root in tree.roots)


def _direct(package: str, trees: Sequence[Tree]) -> dict[str, tuple[Tree, str]]:
    """The modules that lie directly in a package, with the first tree that has each."""
    folder = package.replace(".", "/") + "/"
    found: dict[str, tuple[Tree, str]] = {}
    for tree in trees:
        for path in (root + folder for root in tree.roots):
            for entry in tree.listdir(path):
                if entry.endswith(".py"):
                    found.setdefault(entry[:-3], (tree, path + entry))
    return found


def _searched(package: str, word: str, trees: Sequence[Tree]) -> list[list[Any]]:
    """What a search finds now, as it is written."""
    said = {
        name: holds(tree.peek(path), word) for name, (tree, path) in _direct(package, trees).items()
    }
    found = [[name, defines] for name, (held, defines) in said.items() if held]
    return sorted(found, key=lambda f: (not f[1], f[0]))


def lies_in(package: str, file: tuple[int, str], trees: Sequence[Tree]) -> bool:
    """Whether a file of a tree (its number, the path) is a module directly in a package."""
    number, path = file
    folder, _, name = path.rpartition("/")
    below = package.replace(".", "/")
    return name.endswith(".py") and any(
        folder == f"{root}{below}".strip("/") for root in trees[number].roots
    )


def _same_search(row: list[Any], trees: Sequence[Tree], file: tuple[int, str]) -> bool:
    """Whether a file that has changed says to a search what it said."""
    package, word, found = row
    number, path = file
    if not lies_in(package, file, trees):
        return True
    name = path.rpartition("/")[2]
    held, defines = holds(trees[number].peek(path), word)
    said = [flag for module, flag in found if module == name[:-3]]
    return said == ([defines] if held else [])


def _statements(found: Index, text: bytes, names: list[str]) -> tuple[str, _Lines]:
    """A digest of the statements that names depend on, and the lines on which they stand.

    A star import may bring any name: those count always.
    """
    split = text.splitlines()
    numbers: dict[int, int] = {}
    statements = statements_of(found, names)
    digest = hashlib.sha256()
    for number, statement in enumerate(statements):
        numbers[id(statement)] = number
    for name in names:
        parts = [numbers[id(s)] for s in statements_of(found, [name])]
        digest.update(f"{name}={parts}\0".encode())
    lines = [_extent(statement) for statement in (*statements, *found.star_imports)]
    for first, last in lines:
        for line in split[first - 1 : last]:
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


def sha256(tree: Tree, path: str) -> str:
    """The digest of a file as it is."""
    return hashlib.sha256(tree.peek(path)).hexdigest()


def _listed(names: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(names)).encode("utf-8", "replace")).hexdigest()


def _names(tree: Tree, folder: str) -> str:
    return hashlib.sha256("\n".join(tree.listdir(folder)).encode("utf-8", "replace")).hexdigest()
