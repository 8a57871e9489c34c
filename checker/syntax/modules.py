"""Finding modules by path and parsing them."""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

from checker.syntax.index import Index, index

_KEPT = 512
"""Parsed files that are kept: a check reads fewer."""


class TreeLike(Protocol):
    """What this stage needs of a source tree (see `checker.sources`)."""

    @property
    def label(self) -> str:
        """The name the source is reported under."""

    @property
    def roots(self) -> tuple[str, ...]:
        """Folders under which import paths start, with a trailing slash unless empty."""

    def read(self, path: str) -> bytes:
        """The content of a file."""

    def exists(self, path: str) -> bool:
        """Whether there is such a file."""

    def listdir(self, folder: str) -> list[str]:
        """The names in a folder; those of folders end with a slash."""


class UnparsableModule(Exception):
    """A checked file is not Python that the grammar here accepts, or nests too deeply."""

    def __init__(self, tree: str, path: str, line: int, column: int, reason: str) -> None:
        super().__init__(f"{path}:{line}: {reason}")
        self.tree = tree
        self.path = path
        self.line = line
        self.column = column
        self.reason = reason


@dataclass(slots=True)
class ModuleFile:
    """One parsed module.

    `touching[name]` are the top-level statements, in order, that bind `name` or change what it
    refers to; `effects` are the top-level statements that only act on other names (registrations,
    assignments to attributes).
    """

    name: str
    tree: TreeLike
    path: str
    is_package: bool
    body: list[ast.stmt]
    touching: dict[str, list[ast.stmt]] = field(default_factory=dict)
    effects: list[ast.stmt] = field(default_factory=list)
    star_imports: list[ast.ImportFrom] = field(default_factory=list)


@lru_cache(maxsize=_KEPT)
def _parsed(data: bytes) -> tuple[list[ast.stmt], Index]:
    """A file's statements and their index: both sides stand on libraries that are often the same.

    Nobody changes what is given here.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        body = ast.parse(data).body
    return body, index(body)


def parse_module(tree: TreeLike, path: str, name: str, is_package: bool) -> ModuleFile:
    """Parses one file and indexes its top level.

    Raises:
        UnparsableModule: for text which is not Python, or which nests beyond what can be parsed.
    """
    try:
        body, found = _parsed(tree.read(path))
    except SyntaxError as error:
        raise UnparsableModule(
            tree.label,
            path,
            max(error.lineno or 1, 1),
            max(error.offset or 1, 1),  # below zero for some encodings
            error.msg or "invalid syntax",
        ) from None
    except (RecursionError, MemoryError):
        raise UnparsableModule(tree.label, path, 1, 1, "nests too deeply to be parsed") from None
    except ValueError as error:  # null bytes, bad source encoding
        raise UnparsableModule(tree.label, path, 1, 1, str(error)) from None
    return ModuleFile(
        name,
        tree,
        path,
        is_package,
        body,
        found.touching,
        found.effects,
        found.star_imports,
    )


class Workspace:
    """The trees of one engine and what it stands on, searched in order.

    Files are parsed once, when asked for.
    """

    def __init__(self, trees: list[TreeLike]) -> None:
        self.trees = trees
        self._modules: dict[str, ModuleFile | None] = {}
        self._packages: dict[str, bool] = {}

    def find(self, name: str) -> ModuleFile | None:
        """The parsed module called `name`, or None when no tree holds a file for it."""
        if name not in self._modules:
            self._modules[name] = self._load(name)
        return self._modules[name]

    def _load(self, name: str) -> ModuleFile | None:
        relative = name.replace(".", "/")
        for tree in self.trees:
            for root in tree.roots:
                for path, is_package in (
                    (f"{root}{relative}.py", False),
                    (f"{root}{relative}/__init__.py", True),
                ):
                    if tree.exists(path):
                        return self._parse(tree, path, name, is_package)
        return None

    def _parse(self, tree: TreeLike, path: str, name: str, is_package: bool) -> ModuleFile:
        return parse_module(tree, path, name, is_package)

    def is_package(self, name: str) -> bool:
        """Whether `name` is a folder in a tree, with or without an `__init__.py`."""
        if name not in self._packages:
            folder = name.replace(".", "/") + "/"
            self._packages[name] = any(
                bool(tree.listdir(root + folder)) for tree in self.trees for root in tree.roots
            )
        return self._packages[name]

    def owns(self, name: str) -> bool:
        """Whether the top-level package of `name` is in one of the trees.

        If not, it is external.
        """
        return self.is_package(name.partition(".")[0])
