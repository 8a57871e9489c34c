"""Finding modules by path and parsing them."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from checker.syntax.index import Index
from checker.syntax.ledger import Asked, Ledger, Watched
from checker.syntax.recent import recent

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable, Iterator, Sequence

EFFECTS, IMPORTS = "<effects>", "<imports>"
"""What of a module may be asked for besides names; no name is written so."""


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
        self.touching.note(EFFECTS)
        return self._index.effects

    @property
    def imports(self) -> list[ast.ImportFrom]:
        """The statements at the top that import names of other modules."""
        self.touching.note(IMPORTS)
        return self._index.imports

    @property
    def star_imports(self) -> list[ast.ImportFrom]:
        """The statements that import all names of another module; every result depends on them."""
        return self._index.star_imports

    def statements_of(self, names: Iterable[str]) -> list[ast.stmt]:
        """The statements that any of these names depends on, in order; nothing is noted."""
        return statements_of(self._index, names)

    def _whole(self) -> None:
        for ledger in self._ledgers:
            ledger.whole.add(self.name)


def statements_of(found: Index, names: Iterable[str]) -> list[ast.stmt]:
    """The statements of an indexed module that any of these names depends on, in order."""
    groups: dict[str, Sequence[ast.stmt]] = {IMPORTS: found.imports, EFFECTS: found.effects}
    asked = [groups[n] if n in groups else found.touching.get(n, ()) for n in names]
    wanted = {id(statement): statement for group in asked for statement in group}
    return sorted(wanted.values(), key=lambda s: (s.lineno, s.col_offset))


def parse_module(
    tree: TreeLike, path: str, name: str, is_package: bool, ledgers: list[Ledger] | None = None
) -> ModuleFile:
    """Parses one file and indexes its top level.

    Raises:
        UnparsableModule: for text which is not Python, or which nests beyond what can be parsed.
    """
    try:
        data = tree.read(path)
        body, found = recent.parsed(data)
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
    recent.lives(data, module)
    return module


_NAMES = re.compile(rb"[A-Z]\w{7,}")
"""What may hold a long name that begins with a capital: all of it lies in one of these."""


def holds(text: bytes, word: str) -> tuple[bool, bool]:
    """Whether a file holds a word, and whether it seems to define a class of that name."""
    wanted = word.encode()
    held = wanted in text
    return held, held and b"class " + wanted in text


class Workspace:
    """The trees of one engine and what it stands on, searched in order.

    Files are parsed once, when asked for. `ledger` notes everything that is asked.
    """

    def __init__(self, trees: list[TreeLike]) -> None:
        self._trees = trees
        self._modules: dict[str, ModuleFile | None] = {}
        self._packages: dict[str, bool] = {}
        self.ledger = Ledger()
        self._ledgers: list[Ledger] = [self.ledger]
        self._texts: dict[str, dict[str, tuple[int, str, bytes]]] = {}
        self._naming: dict[tuple[str, str], list[tuple[str, bool]]] = {}
        self._named: dict[str, dict[str, bytes]] = {}
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

    def note_once(self, asked: Ledger) -> None:
        """Notes what was asked before in those ledgers that do not have it from here yet."""
        for ledger in self._ledgers:
            if ledger is not asked and id(asked) not in ledger.taken:
                ledger.taken[id(asked)] = asked
                ledger.add(asked)

    def find(self, name: str) -> ModuleFile | None:
        """The parsed module called `name`, or None when no tree holds a file for it."""
        if name not in self._modules:
            try:
                self._modules[name] = self._load(name)
            except UnparsableModule:
                self._note_broken(name)
                raise
        found = self._modules[name]
        for ledger in self._ledgers:
            ledger.modules[name] = found
        return found

    def _note_broken(self, name: str) -> None:
        place = self.place(name)
        assert place is not None  # noqa: S101 - a file lies there
        for ledger in self._ledgers:
            ledger.broken[name] = place

    def inherit(self, digest: str, needs: dict[str, Any]) -> None:
        """Notes what a result depends on that was given again."""
        for ledger in self._ledgers:
            ledger.inherited[digest] = needs

    def place(self, name: str) -> tuple[int, str, bool] | None:
        """Where a module's file is: the number of its tree, its path, whether it is a package."""
        relative = name.replace(".", "/")
        for number, tree in enumerate(self._trees):
            for root in tree.roots:
                for path, is_package in (  # Python takes the package where there are both
                    (f"{root}{relative}/__init__.py", True),
                    (f"{root}{relative}.py", False),
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
            self._texts[package] = self._direct(package)
        for ledger in self._ledgers:
            ledger.texts.add(package)
            ledger.files.update((number, path) for number, path, _ in self._texts[package].values())
        return {name: text for name, (_, _, text) in self._texts[package].items()}

    def _direct(self, package: str) -> dict[str, tuple[int, str, bytes]]:
        """The modules directly in a package: the number of the tree, the path, the content."""
        folder = package.replace(".", "/") + "/"
        found: dict[str, tuple[int, str, bytes]] = {}
        for number, tree in enumerate(self._trees):
            for path in (root + folder for root in tree.roots):
                for entry in sorted(tree.listdir(path)):
                    if entry.endswith(".py") and entry[:-3] not in found:
                        found[entry[:-3]] = number, path + entry, tree.read(path + entry)
        return found

    def naming(self, package: str, word: str) -> list[str]:
        """The modules directly in a package whose files hold a word.

        What does not hold it can neither define nor list it; what seems to define it comes first.
        """
        if (package, word) not in self._naming:
            likely = self._likely(package, word)
            said = {name: holds(text, word) for name, text in likely.items()}
            found = [(name, defines) for name, (held, defines) in said.items() if held]
            self._naming[package, word] = sorted(found, key=lambda f: (not f[1], f[0]))
        for ledger in self._ledgers:
            ledger.searches[package, word] = self._naming[package, word]
        return [name for name, _ in self._naming[package, word]]

    def _likely(self, package: str, word: str) -> dict[str, bytes]:
        """The modules directly in a package that may hold a word, with their content."""
        texts = self._texts.get(package) or self._direct(package)
        wanted = word.encode()
        if _NAMES.fullmatch(wanted) is None:
            return {name: text for name, (_, _, text) in texts.items()}
        if package not in self._named:  # classes are asked for one by one
            self._named[package] = {
                name: b" ".join(set(_NAMES.findall(text))) for name, (_, _, text) in texts.items()
            }
        named = self._named[package]
        return {name: text for name, (_, _, text) in texts.items() if wanted in named[name]}

    def owns(self, name: str) -> bool:
        """Whether the top-level package of `name` is in one of the trees.

        If not, it is external.
        """
        return self.is_package(name.partition(".")[0])
