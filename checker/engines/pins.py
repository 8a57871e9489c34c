"""Whether what summaries stand for still means what it meant when it was read.

A summary names the definitions that it was read from; `contracts/pins` holds a digest of the
meaning of each, for every release in which they were looked at. A definition of the checked code
with another digest was not looked at: what is concluded with its summary is not proven. Nothing is
ever concluded from a digest that is known.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING

from checker.contract.loading import load_plain
from checker.data import CONTRACTS
from checker.location import Location
from checker.syntax import UnparsableModule, meaning

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable, Mapping

    from checker.syntax import ModuleFile, Workspace

_BELOW = ".**"
Known = dict[str, dict[str, frozenset[str]]]


@lru_cache(maxsize=1)
def known() -> Known:
    """The digests of each definition, by module; a method's name has its class before it."""
    found: dict[str, dict[str, set[str]]] = {}
    for path in sorted((CONTRACTS / "pins").glob("*.yaml")):
        for module, releases in load_plain(path)["modules"].items():
            for digests in releases.values():
                for name, digest in digests.items():
                    found.setdefault(module, {}).setdefault(name, set()).add(digest)
    return {
        module: {name: frozenset(digests) for name, digests in names.items()}
        for module, names in found.items()
    }


def changed(workspace: Workspace, pins: Iterable[str]) -> tuple[str, Location | None] | None:
    """The first definition, of those that pins name, whose meaning is not one that was read.

    A definition or module that is not there is used by nothing.
    """
    for pin in sorted(pins):
        for module in _pinned(pin):
            found = _changed(workspace, module, pin.partition(":")[2])
            if found is not None:
                return found
    return None


@lru_cache(maxsize=512)
def _pinned(pin: str) -> list[str]:
    return modules(pin, known())


def modules(pin: str, table: Mapping[str, object]) -> list[str]:
    """The modules of a table that a pin is about."""
    name = pin.partition(":")[0]
    if not name.endswith(_BELOW):
        return [name] if name in table else []
    package = name.removesuffix(_BELOW)
    return sorted(m for m in table if m == package or fnmatchcase(m, f"{package}.*"))


def _changed(workspace: Workspace, module: str, member: str) -> tuple[str, Location | None] | None:
    """What of a module, or of one of its members, has a meaning that was not read."""
    try:
        file = workspace.find(module)
    except UnparsableModule:
        return None  # nothing came of it either
    if file is None:
        return None
    allowed = known()[module]
    for name, digest in digests(file, member).items():
        if digest not in allowed.get(name, frozenset()):
            if name not in allowed and not member:
                continue  # what is new is used by nothing, or what uses it has changed
            return f"{module}.{name}", _place(file, name)
    return None


def digests(file: ModuleFile, member: str) -> dict[str, str]:
    """The digests of a member of a module, or of all its definitions where none is named."""
    if not member:
        return _digests(tuple(file.body))
    node = _node(file, member)
    return {} if node is None else {member: _digest(node)}


@lru_cache(maxsize=512)
def _digests(body: tuple[ast.stmt, ...]) -> dict[str, str]:
    return meaning.digests(list(body))


@lru_cache(maxsize=1024)
def _digest(node: ast.stmt) -> str:
    return meaning.digest(node)


def _node(file: ModuleFile, member: str) -> ast.stmt | None:
    """A function, class or method of a module."""
    name, _, method = member.partition(".")
    node = meaning.definitions([*file.touching.get(name, ())]).get(name)
    return meaning.member(node, method) if node is not None and method else node


def _place(file: ModuleFile, name: str) -> Location | None:
    node = _node(file, name) if name != meaning.REST else None
    line = node.lineno if node is not None else 1
    return Location(file.tree.label, file.path, line, 1)
