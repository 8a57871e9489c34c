"""What a piece of work has asked of the modules of a workspace: what its result depends on.

Names are asked for one by one, so a module's part in a result is the statements that those names
depend on, or that it has none. What walks over a whole module depends on all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ast

    from checker.syntax.modules import ModuleFile, TreeLike


@dataclass(slots=True)
class Ledger:
    """One piece of work's account.

    `modules`: the file that each module name was found to be, None where there is none; `packages`:
    which names were found to be packages. `names`: by module name, the names that were asked of it;
    `whole`: modules that were walked over. `files` and `folders`: what was read and listed apart
    from modules, as (number of the tree, path); `searches`: the modules of a package that were
    found to hold a word, those first that seem to define it, each with whether it does; `texts`:
    packages of which all modules were read. `broken`: where modules are that cannot be parsed.
    `inherited`: by digest, what results that were given again depend on. `taken`: other accounts
    that this one has taken over as a whole.
    """

    modules: dict[str, ModuleFile | None] = field(default_factory=dict)
    packages: dict[str, bool] = field(default_factory=dict)
    names: dict[str, set[str]] = field(default_factory=dict)
    whole: set[str] = field(default_factory=set)
    files: set[tuple[int, str]] = field(default_factory=set)
    folders: set[tuple[int, str]] = field(default_factory=set)
    searches: dict[tuple[str, str], list[tuple[str, bool]]] = field(default_factory=dict)
    texts: set[str] = field(default_factory=set)
    broken: dict[str, tuple[int, str, bool]] = field(default_factory=dict)
    inherited: dict[str, dict[str, Any]] = field(default_factory=dict)
    taken: dict[int, Ledger] = field(default_factory=dict)

    def add(self, other: Ledger) -> None:
        """Takes over what another piece of work has asked."""
        self.modules.update(other.modules)
        self.packages.update(other.packages)
        for module, names in other.names.items():
            self.names.setdefault(module, set()).update(names)
        self.whole |= other.whole
        self.files |= other.files
        self.folders |= other.folders
        self.searches.update(other.searches)
        self.texts |= other.texts
        self.broken.update(other.broken)
        self.inherited.update(other.inherited)


class Asked(Mapping[str, "list[ast.stmt]"]):
    """The index of a module's names, which notes what is asked of it."""

    __slots__ = ("_ledgers", "_module", "_touching")

    def __init__(
        self, module: str, touching: Mapping[str, list[ast.stmt]], ledgers: list[Ledger]
    ) -> None:
        self._module = module
        self._touching = touching
        self._ledgers = ledgers

    def __getitem__(self, name: str) -> list[ast.stmt]:
        self.note(name)
        return self._touching[name]

    def __contains__(self, name: object) -> bool:
        self.note(str(name))
        return name in self._touching

    def __iter__(self) -> Iterator[str]:
        for ledger in self._ledgers:
            ledger.whole.add(self._module)
        return iter(self._touching)

    def __len__(self) -> int:
        return len(self._touching)

    def note(self, name: str) -> None:
        """Notes that a name was asked for."""
        for ledger in self._ledgers:
            ledger.names.setdefault(self._module, set()).add(name)


class Watched:
    """A tree as it is handed out: what is read and listed there is noted."""

    def __init__(self, tree: TreeLike, number: int, ledgers: list[Ledger]) -> None:
        self._tree = tree
        self._number = number
        self._ledgers = ledgers

    @property
    def label(self) -> str:
        """The name the source is reported under."""
        return self._tree.label

    @property
    def roots(self) -> tuple[str, ...]:
        """Folders under which import paths start."""
        return self._tree.roots

    def read(self, path: str) -> bytes:
        """The content of a file."""
        for ledger in self._ledgers:
            ledger.files.add((self._number, path))
        return self._tree.read(path)

    def exists(self, path: str) -> bool:
        """Whether there is such a file."""
        for ledger in self._ledgers:
            ledger.folders.add((self._number, path.rpartition("/")[0]))
        return self._tree.exists(path)

    def listdir(self, folder: str) -> list[str]:
        """The names in a folder."""
        for ledger in self._ledgers:
            ledger.folders.add((self._number, folder.rstrip("/")))
        return self._tree.listdir(folder)
