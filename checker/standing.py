"""Whether an answer still stands though files have changed that were read for it.

It does where every definition that it depends on says what it said (`checker.syntax.dependencies`),
and no line that it shows has moved. What was read of a file and is in no account counts whole.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from checker.errors import InputError
from checker.kept import digest_of
from checker.sources.directory import DirectoryTree
from checker.sources.seen import updated
from checker.syntax.dependencies import compared, lies_in, written
from checker.syntax.modules import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from checker.kept import Answer
    from checker.pairing import Opened
    from checker.sources import Tree
    from checker.sources.seen import Changes

_PLAIN = re.compile(r"[\w.-]+", re.ASCII)
"""Names of files that every format writes as they are."""


def owing(answer: Answer, opened: Iterable[Opened]) -> dict[str, Any] | None:
    """What an answer depends on besides bytes, as JSON; None where that is not known or all of it.

    Of each side that is read in a folder: what was asked of its modules, by the number of trees
    among which they were looked for.
    """
    marks, sides = answer.marks, [*opened]
    if marks is None or any(tree.is_read_elsewhere for side in sides for tree in side.trees):
        return None
    if marks.fingerprints != tuple(side.tree.fingerprint for side in sides):
        return None
    try:
        needs = [_needs(side) for side in sides]
    except (KeyError, InputError):  # a file has gone while it was read
        return None
    if not any(needs):
        return None
    return {
        "fingerprints": [*marks.fingerprints],
        "lines": [*marks.lines],
        "sides": needs,
    }


def _needs(side: Opened) -> list[Any]:
    if not any(isinstance(tree, DirectoryTree) for tree in side.trees):
        return []
    return [
        [count, written(workspace.ledger, workspace, side.trees[:count])]
        for count, workspace in sorted(side.workspaces.items())
    ]


def still(
    kept: Mapping[str, Any],
    owed: Mapping[str, Any],
    opened: Sequence[Sequence[Tree]],
    found: Sequence[Sequence[Changes]],
) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """An answer with what it depends on, as they are now; None where it does not stand.

    Args:
        kept: the answer, as it is kept.
        owed: what `owing` gave for it.
        opened: the trees of its sides as they are.
        found: what has changed in each.
    """
    if owed["of"] != digest_of(kept):
        return None
    texts = [kept["output"], *(text for _, text in kept["files"])]
    shown = re.sub(r"\s+", "", "".join(texts))
    lines, needs = [*owed["lines"]], [*owed["sides"]]
    names = dict(zip(owed["fingerprints"], owed["fingerprints"], strict=True))
    for number, (trees, changes) in enumerate(zip(opened, found, strict=True)):
        if not any(changes):
            continue
        anew = _side(needs[number], trees, changes)
        if anew is None:
            return None
        needs[number], moved = anew
        for n, path in _changed(changes):
            has_moved = (n, path) in moved
            if _named(path, shown) and (has_moved or not _as_shown(trees[n], path, lines)):
                return None
        gone = {(trees[n].label, path) for n, path in moved}
        lines = [line for line in lines if (line[0], line[1]) not in gone]
        old = owed["fingerprints"][number]
        names[old] = trees[0].fingerprint
        if old in shown and changes[0].folders:
            return None  # another run might read other files
    answer = {
        **kept,
        "sides": [
            _updated(side, changes) for side, changes in zip(kept["sides"], found, strict=True)
        ],
        "output": _renamed(kept["output"], names),
        "files": [[path, _renamed(text, names)] for path, text in kept["files"]],
    }
    marks = [names[name] for name in owed["fingerprints"]]
    return answer, {"fingerprints": marks, "lines": lines, "sides": needs}


def _updated(side: Mapping[str, Any], changes: Sequence[Changes]) -> dict[str, Any]:
    trees = [updated(was, change) for was, change in zip(side["trees"], changes, strict=True)]
    return {**side, "trees": trees}


def _side(
    side: list[Any], trees: Sequence[Tree], changes: Sequence[Changes]
) -> tuple[list[Any], set[tuple[int, str]]] | None:
    """What a side depends on now, and the files in which that stands elsewhere."""
    changed = _changed(changes)
    if not side or not all(any(_counts(n, file, trees) for _, n in side) for file in changed):
        return None
    listed = any(change.folders for change in changes)
    anew: list[Any] = []
    moved: set[tuple[int, str]] = set()
    for count, needs in side:
        own = None if listed else {file for file in changed if file[0] < count}
        now = compared(needs, Workspace([*trees[:count]]), trees[:count], own)
        if now is None:
            return None
        moved |= now[0].files
        anew.append([count, now[1]])
    return anew, moved


def _changed(changes: Sequence[Changes]) -> set[tuple[int, str]]:
    return {(number, path) for number, change in enumerate(changes) for path in change.files}


def _counts(needs: Mapping[str, Any], file: tuple[int, str], trees: Sequence[Tree]) -> bool:
    """Whether an account says what was made of a file."""
    if any((said["tree"], said["path"]) == file for said in needs["files"]):
        return True
    if any((n, read) == file for n, read, _ in needs["read"]):
        return True
    return any(lies_in(package, file, trees) for package, _, _ in needs["searches"])


def _named(path: str, shown: str) -> bool:
    """Whether a file may be named in a text from which all space was taken."""
    name = path.rpartition("/")[2]
    return not _PLAIN.fullmatch(name) or name in shown


def _as_shown(tree: Tree, path: str, lines: Iterable[Sequence[Any]]) -> bool:
    """Whether a file's lines say what is shown of them."""
    text = tree.peek(path).decode("utf-8", "replace").splitlines()
    return all(
        line <= len(text) and text[line - 1].strip() == said
        for label, where, line, said in lines
        if (label, where) == (tree.label, path)
    )


def _renamed(text: str, names: Mapping[str, str]) -> str:
    for old, new in names.items():
        text = text.replace(old, new)
    return text
