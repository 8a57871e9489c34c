"""Which releases a project pins: its requirement files, lock files and pyproject.toml."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from checker.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_LOCKS = ("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml", "pylock.*.toml")
_REQUIREMENTS = ("requirements*.txt", "*requirements.txt", "constraints*.txt")
_SHARED = "pyproject.toml"


@dataclass(frozen=True, slots=True)
class Pinned:
    """A release that a file names: ``name==version`` at a line of it."""

    name: str
    version: str
    path: str
    line: int


def is_lock(path: str) -> bool:
    """Whether pins are looked for in a file of this name."""
    name = path.rpartition("/")[2]
    return name == _SHARED or any(fnmatch(name, p) for p in (*_LOCKS, *_REQUIREMENTS))


def pins_in(path: str, text: str, names: Iterable[str]) -> tuple[Pinned, ...]:
    """The releases of these distributions that a file pins, in its order.

    Args:
        path: the file's name, which says what it is.
        text: what is in it.
        names: the distributions that are looked for.

    Raises:
        InputError: it is not what its name says.
    """
    wanted = {canonicalize_name(name): name for name in names}
    name = path.rpartition("/")[2]
    if any(fnmatch(name, pattern) for pattern in _REQUIREMENTS):
        found = _required(_statements(text))
    else:
        table = _toml(path, text)
        found = _declared(table, text) if name == _SHARED else _locked(table, text)
    return tuple(
        Pinned(wanted[canonicalize_name(who)], version, path, line)
        for who, version, line in found
        if canonicalize_name(who) in wanted
    )


def _statements(text: str) -> Iterator[tuple[str, int]]:
    """The lines of a requirements file with their numbers, joined where they go on."""
    begun, first = "", 1
    for number, line in enumerate(text.splitlines(), start=1):
        first = first if begun else number
        begun += re.sub(r"(^|\s)#.*$", "", line)
        if begun.endswith("\\"):
            begun = begun[:-1]
        else:
            yield begun.strip(), first
            begun = ""
    if begun:
        yield begun.strip(), first


def _required(statements: Iterable[tuple[str, int]]) -> Iterator[tuple[str, str, int]]:
    for statement, line in statements:
        version = _pin(re.split(r"\s--", statement)[0])
        if version is not None:
            yield *version, line


def _pin(text: str) -> tuple[str, str] | None:
    """The distribution and the one release that a requirement allows, if it allows one only."""
    try:
        wanted = Requirement(text)
    except InvalidRequirement:
        return None
    exact = [s.version for s in wanted.specifier if s.operator in ("==", "===")]
    if len(exact) != 1 or exact[0].endswith(".*"):
        return None
    return wanted.name, exact[0]


def _locked(table: dict[str, Any], text: str) -> Iterator[tuple[str, str, int]]:
    for key in ("package", "packages"):
        listed = table.get(key)
        for item in listed if isinstance(listed, list) else ():
            if not isinstance(item, dict):
                continue
            name, version = item.get("name"), item.get("version")
            if isinstance(name, str) and isinstance(version, str):
                head = rf'^name\s*=\s*"{re.escape(name)}"\s*\n(?:.*\n)??'
                pattern = rf'{head}version\s*=\s*"{re.escape(version)}"'
                yield name, version, _line(text, pattern, after=True)


def _declared(table: dict[str, Any], text: str) -> Iterator[tuple[str, str, int]]:
    """What a pyproject.toml asks for, in the standard's tables and in Poetry's."""
    project = _table(table, "project")
    groups = [project.get("dependencies"), *_table(project, "optional-dependencies").values()]
    groups += _table(table, "dependency-groups").values()
    for group in groups:
        for item in group if isinstance(group, list) else ():
            found = _pin(item) if isinstance(item, str) else None
            if found is not None:
                yield *found, _line(text, rf"[\"']{re.escape(str(item))}[\"']")
    poetry = _table(_table(table, "tool"), "poetry")
    groups = [poetry.get("dependencies"), poetry.get("dev-dependencies")]
    groups += [_table(g, "dependencies") for g in _table(poetry, "group").values()
               if isinstance(g, dict)]  # fmt: skip
    for group in groups:
        for name, wanted in group.items() if isinstance(group, dict) else ():
            version = wanted.get("version") if isinstance(wanted, dict) else wanted
            exact = _exactly(version)
            if exact is not None:
                yield name, exact, _line(text, rf"^\s*[\"']?{re.escape(name)}[\"']?\s*=")


def _exactly(version: object) -> str | None:
    """Poetry takes a bare version for that one."""
    if not isinstance(version, str):
        return None
    try:
        return str(Version(version.strip().lstrip("=").strip()))
    except InvalidVersion:
        return None


def _table(above: dict[str, Any], key: str) -> dict[str, Any]:
    found = above.get(key)
    return found if isinstance(found, dict) else {}


def _line(text: str, pattern: str, *, after: bool = False) -> int:
    """The line of a match (of its end with `after`), for showing; 1 where there is none."""
    match = re.search(pattern, text, re.MULTILINE)
    if match is None:
        return 1
    return text.count("\n", 0, match.end() if after else match.start()) + 1


def _toml(path: str, text: str) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        found: dict[str, Any] = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"is no TOML: {error}", "mend the file at this place", path) from None
    return found
