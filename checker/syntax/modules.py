"""Finding modules by path and parsing them."""

from __future__ import annotations

import ast
import warnings
from collections import OrderedDict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol
from weakref import WeakValueDictionary

from checker.syntax.index import Index, index
from checker.syntax.ledger import Asked, Ledger, Watched

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_KEPT = 768 * 1024
"""Bytes of source whose syntax is kept for others: it takes forty times as much memory."""


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


class ModuleFile:
    """One parsed module.

    `touching[name]` are the top-level statements, in order, that bind `name` or change what it
    refers to; `effects` are the top-level statements that only act on other names (registrations,
    assignments to attributes). What is asked of it is noted in the ledgers that are open.
    """

    __slots__ = (
        "__weakref__",
        "_index",
        "_ledgers",
        "_statements",
        "is_package",
        "name",
        "path",
        "touching",
        "tree",
    )

    def __init__(
        self,
        name: str,
        tree: TreeLike,
        path: str,
        is_package: bool,
        statements: list[ast.stmt],
        *,
        index: Index | None = None,
        ledgers: list[Ledger] | None = None,
    ) -> None:
        self.name = name
        self.tree = tree
        self.path = path
        self.is_package = is_package
        self._statements = statements
        self._index = index or Index()
        self._ledgers = ledgers if ledgers is not None else []
        self.touching = Asked(name, self._index.touching, self._ledgers)

    @property
    def syntax(self) -> tuple[list[ast.stmt], Index]:
        """The statements and their index, for others with the same content; nothing is noted."""
        return self._statements, self._index

    @property
    def body(self) -> list[ast.stmt]:
        """All top-level statements."""
        self._whole()
        return self._statements

    @property
    def effects(self) -> list[ast.stmt]:
        """The statements that may act on something outside the module."""
        self._whole()
        return self._index.effects

    @property
    def star_imports(self) -> list[ast.ImportFrom]:
        """The statements that import all names of another module."""
        if self._index.star_imports:
            self._whole()
        return self._index.star_imports

    def statements_of(self, names: Iterable[str]) -> list[ast.stmt]:
        """The statements that any of these names depends on, in order; nothing is noted."""
        wanted = {id(s): s for name in names for s in self._index.touching.get(name, ())}
        return sorted(wanted.values(), key=lambda s: (s.lineno, s.col_offset))

    def _whole(self) -> None:
        for ledger in self._ledgers:
            ledger.whole.add(self.name)


class _Recent:
    """The syntax of files that were parsed last.

    Both sides stand on libraries that are often the same, and neighbouring releases have most of
    their files in common. Nobody changes what is given here. A workspace holds what it has found
    for as long as it lives, and so long others are given the same.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = 0
        self._files: OrderedDict[bytes, tuple[list[ast.stmt], Index]] = OrderedDict()
        self._living: WeakValueDictionary[bytes, ModuleFile] = WeakValueDictionary()

    def lives(self, data: bytes, module: ModuleFile) -> None:
        """Tells of a module that was made of a file."""
        self._living[data] = module

    def parsed(self, data: bytes) -> tuple[list[ast.stmt], Index]:
        """A file's statements and their index."""
        known = self._files.get(data)
        if known is not None:
            self._files.move_to_end(data)
            return known
        living = self._living.get(data)
        if living is not None:
            return living.syntax
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(data).body
        found = self._files[data] = body, index(body)
        self._held += len(data)
        while self._held > self._most and len(self._files) > 1:
            self._held -= len(self._files.popitem(last=False)[0])
        return found


_recent = _Recent(_KEPT)


def parse_module(
    tree: TreeLike, path: str, name: str, is_package: bool, ledgers: list[Ledger] | None = None
) -> ModuleFile:
    """Parses one file and indexes its top level.

    Raises:
        UnparsableModule: for text which is not Python, or which nests beyond what can be parsed.
    """
    try:
        data = tree.read(path)
        body, found = _recent.parsed(data)
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
    module = ModuleFile(name, tree, path, is_package, body, index=found, ledgers=ledgers)
    _recent.lives(data, module)
    return module


def first_defining(texts: Mapping[str, bytes], name: str) -> list[str]:
    """Modules in the order in which to look for a class that one of them defines."""
    start = b"class " + name.encode()
    return sorted(texts, key=lambda module: (start not in texts[module], module))


class Workspace:
    """The trees of one engine and what it stands on, searched in order.

    Files are parsed once, when asked for.
    """

    def __init__(self, trees: list[TreeLike]) -> None:
        self._trees = trees
        self._modules: dict[str, ModuleFile | None] = {}
        self._packages: dict[str, bool] = {}
        self._ledgers: list[Ledger] = []
        self._texts: dict[str, dict[str, tuple[int, str, bytes]]] = {}
        self.trees: list[TreeLike] = [Watched(t, n, self._ledgers) for n, t in enumerate(trees)]

    @property
    def is_parsed(self) -> bool:
        """Whether any file was parsed."""
        return any(self._modules.values())

    @property
    def sources(self) -> tuple[TreeLike, ...]:
        """The trees themselves: what is read there is not noted."""
        return tuple(self._trees)

    @contextmanager
    def noting(self) -> Iterator[Ledger]:
        """Notes in a ledger what is asked while it is open."""
        ledger = Ledger()
        self._ledgers.append(ledger)
        try:
            yield ledger
        finally:
            self._ledgers[:] = [other for other in self._ledgers if other is not ledger]

    def note(self, asked: Ledger) -> None:
        """Notes what was asked before, where its answer is used again."""
        for ledger in self._ledgers:
            if ledger is not asked:
                ledger.add(asked)

    def find(self, name: str) -> ModuleFile | None:
        """The parsed module called `name`, or None when no tree holds a file for it."""
        if name not in self._modules:
            self._modules[name] = self._load(name)
        found = self._modules[name]
        for ledger in self._ledgers:
            ledger.modules[name] = found
        return found

    def place(self, name: str) -> tuple[int, str, bool] | None:
        """Where a module's file is: the number of its tree, its path, whether it is a package."""
        relative = name.replace(".", "/")
        for number, tree in enumerate(self._trees):
            for root in tree.roots:
                for path, is_package in (
                    (f"{root}{relative}.py", False),
                    (f"{root}{relative}/__init__.py", True),
                ):
                    if tree.exists(path):
                        return number, path, is_package
        return None

    def _load(self, name: str) -> ModuleFile | None:
        place = self.place(name)
        if place is None:
            return None
        number, path, is_package = place
        return parse_module(self._trees[number], path, name, is_package, self._ledgers)

    def is_package(self, name: str) -> bool:
        """Whether `name` is a folder in a tree, with or without an `__init__.py`."""
        if name not in self._packages:
            folder = name.replace(".", "/") + "/"
            self._packages[name] = any(
                bool(tree.listdir(root + folder)) for tree in self._trees for root in tree.roots
            )
        for ledger in self._ledgers:
            ledger.packages[name] = self._packages[name]
        return self._packages[name]

    def texts(self, package: str) -> dict[str, bytes]:
        """The modules that lie directly in a package, with their content; read once."""
        if package not in self._texts:
            folder = package.replace(".", "/") + "/"
            found: dict[str, tuple[int, str, bytes]] = {}
            for number, tree in enumerate(self._trees):
                for path in (root + folder for root in tree.roots):
                    for entry in sorted(tree.listdir(path)):
                        if entry.endswith(".py") and entry[:-3] not in found:
                            found[entry[:-3]] = number, path + entry, tree.read(path + entry)
            self._texts[package] = found
        for ledger in self._ledgers:
            ledger.texts.add(package)
            ledger.files.update((number, path) for number, path, _ in self._texts[package].values())
        return {name: text for name, (_, _, text) in self._texts[package].items()}

    def naming(self, package: str, word: str) -> list[str]:
        """The modules directly in a package whose files hold a word.

        What does not hold it can neither define nor list it; what seems to define it comes first.
        """
        folder, wanted = package.replace(".", "/") + "/", word.encode()
        texts: dict[str, bytes] = {}
        for tree in self._trees:
            for path in (root + folder for root in tree.roots):
                for entry in sorted(tree.listdir(path)):
                    if entry.endswith(".py") and entry[:-3] not in texts:
                        text = tree.read(path + entry)
                        if wanted in text:
                            texts[entry[:-3]] = text
        found = first_defining(texts, word)
        for ledger in self._ledgers:
            ledger.searches[package, word] = found
        return found

    def owns(self, name: str) -> bool:
        """Whether the top-level package of `name` is in one of the trees.

        If not, it is external.
        """
        return self.is_package(name.partition(".")[0])
