"""A project's settings: ``eagle3-check.toml``, or ``[tool.eagle3-check]`` of its pyproject.toml.

They stand for words of the command line, and are put before those that are really there: what the
user types comes last and decides.
"""

from __future__ import annotations

import datetime
import hashlib
import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checker.errors import InputError
from checker.request import Waiver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from checker.contract.documents import Keys, Place

TABLE = "eagle3-check"
OWN_FILE = "eagle3-check.toml"
SHARED_FILE = "pyproject.toml"
_SPECS = ("train", "serve")
_PATHS = ("draft", "serve-draft", "train-config", "serve-config", "target", "launch", "baseline")
_WORDS = ("tp", "pp", "max-unproven", "fail-on")
_LISTS = ("train-with", "serve-with", "rename")
_MENTIONED = re.compile(rb"eagle3[-_]check", re.IGNORECASE)
_ARGUMENT = re.compile(r"argument (--[\w-]+): ")
"""How the library for command lines says which option it complains about."""
_MOST = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Settings:
    """What the settings of a folder say, checked; nothing where there are none.

    `folder` is where relative paths start, as seen from the current one.
    """

    path: str | None = None
    folder: str = ""
    table: Mapping[str, Any] = field(default_factory=dict)

    def words(self) -> list[str]:
        """The words of a command line of ``verify`` that they stand for."""
        return [*self._words()]

    def _words(self) -> Iterator[str]:
        said = self.table
        for key in _SPECS:
            if key in said:
                yield f"--{key}={self._source(said[key])}"
        for key in _PATHS:
            if key in said:
                yield f"--{key}={self._placed(said[key])}"
        for key in _WORDS:
            if key in said:
                value = said[key]  # TOML's 2.0 is the integer that JSON's is
                yield f"--{key}={int(value) if isinstance(value, float) else value}"
        for key in _LISTS:
            yield from (f"--{key}={item}" for item in said.get(key, ()))
        if said.get("strict"):
            yield "--strict"
        for item in said.get("output", ()):
            form, _, path = item.partition("=")
            yield f"--output={form}={os.path.join(self.folder, path)}"

    @property
    def contracts(self) -> list[Path]:
        """The contract files that they name."""
        return [Path(self.folder, name) for name in self.table.get("contracts", ())]

    @property
    def waivers(self) -> tuple[Waiver, ...]:
        """The findings that do not count, and for how long."""
        return tuple(
            Waiver(
                clause=said["clause"],
                fingerprint=said["fingerprint"],
                reason=said["reason"],
                owner=said["owner"],
                expires=said.get("expires"),
                until=said.get("until"),
                place=f"{self.path}: waivers.{number}",
            )
            for number, said in enumerate(self.table.get("waivers", ()))
        )

    def source(self, key: str) -> str | None:
        """The source of a side (``train`` or ``serve``), as a command line would name it."""
        return self._source(self.table[key]) if key in self.table else None

    def blamed(self, error: InputError, typed: Iterable[str]) -> InputError:
        """An error about words that stand in the settings, with their place there.

        Args:
            error: what is said of the words of a command line.
            typed: the words that are really on it: those are not the settings'.
        """
        from checker.errors import InputErrors

        options = {word.partition("=")[0] for word in typed}
        words = [word for word in self.words() if word.partition("=")[0] not in options]
        return InputErrors.of([self._blamed(problem, words) for problem in error.problems])

    def _blamed(self, error: InputError, words: Iterable[str]) -> InputError:
        said = _ARGUMENT.match(error.message) if error.place == "command line" else None
        for word in words:
            option, _, value = word.partition("=")
            where = f"{self._place(option[2:])}: {option[2:]}"
            if said is not None and said[1] == option:
                return InputError(error.message[said.end() :], error.remedy, where)
            if error.place == option:
                return InputError(error.message, error.remedy, where)
            if value and error.place in (value, value.partition("=")[2]):
                return InputError(error.message, error.remedy, f"{where}: {error.place}")
        if error.place in [str(path) for path in self.contracts]:
            where = f"{self._place('contracts')}: contracts: {error.place}"
            return InputError(error.message, error.remedy, where)
        return error

    def _place(self, key: str) -> str:
        """The file, and the line and column of a key in it."""
        path = Path(self.path or "")
        raw = _read(path, needed=False) or b""
        above = ("tool", TABLE) if path.name == SHARED_FILE else ()
        places = _places(raw.decode("utf-8-sig", "replace"), above)
        line, column = places.get((key,), (1, 1))
        return f"{path}:{line}:{column}"

    def _source(self, spec: str) -> str:
        """A source, where it is a folder or in one."""
        scheme, colon, rest = spec.partition(":")
        if colon and scheme == "git":
            return f"git:{os.path.join(self.folder, rest)}"
        is_path = spec.startswith(".") or "/" in spec
        return os.path.join(self.folder, spec) if is_path else spec

    def _placed(self, given: str) -> str:
        """A path; what may be something else too (a class, a command line) is left as it is."""
        path = os.path.join(self.folder, given)
        other = any(c.isspace() for c in given) or not ("/" in given or "." in given)
        return given if other and not os.path.lexists(path) else path


def find_settings(start: Path | None = None, named: str | None = None) -> Settings:
    """The settings for a folder: its own, or those of the nearest one above it in its repository.

    Args:
        start: the folder, the current one by default.
        named: a file to read them from instead.

    Raises:
        InputError: they cannot be used.
    """
    if named is not None:
        path = Path(named)
        return _settings(path, _read(path, needed=True) or b"", whole=path.name != SHARED_FILE)
    here = (start or Path()).resolve()
    for folder in (here, *here.parents):
        for name in (OWN_FILE, SHARED_FILE):
            shown = Path(os.path.relpath(folder / name)) if start is None else folder / name
            # A file of the tool's own that cannot be read must not pass for none.
            raw = _read(shown, needed=name == OWN_FILE and os.path.lexists(shown))
            if raw is not None and (name == OWN_FILE or _MENTIONED.search(raw)):
                found = _settings(shown, raw, whole=name == OWN_FILE)
                if found.path is not None:
                    return found
        if os.path.lexists(folder / ".git"):
            break
    return Settings()


def _read(path: Path, *, needed: bool) -> bytes | None:
    try:
        raw = path.read_bytes()
    except (OSError, ValueError) as error:
        if not needed:
            return None
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be read: {reason}", "name a file", str(path)) from None
    if len(raw) > _MOST:
        raise InputError(f"is larger than {_MOST >> 20} MiB", "name a settings file", str(path))
    return raw


def _settings(path: Path, raw: bytes, *, whole: bool) -> Settings:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        text = raw.decode("utf-8-sig")
        table: Any = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        message = f"is no TOML: {error}"
        raise InputError(message, "mend the file at this place", str(path)) from None
    keys: Keys = () if whole else ("tool", TABLE)
    if not whole:
        tools = table.get("tool", {})
        if not isinstance(tools, dict):
            return Settings()
        if TABLE not in tools:
            other = next((n for n in tools if n.replace("_", "-").lower() == TABLE), None)
            if other is not None:
                raise InputError(f"tool.{other} is not read", f"say [tool.{TABLE}]", str(path))
            return Settings()
        table = tools[TABLE]
        if not isinstance(table, dict):
            raise InputError(f"tool.{TABLE} is no table", f"say [tool.{TABLE}]", str(path))
    table = _plain(table)
    _check(path, raw, table, lambda: _places(text, keys))
    folder = os.path.dirname(path)
    return Settings(str(path), folder, table)


def _check(
    path: Path, raw: bytes, table: Mapping[str, Any], places: Callable[[], dict[Keys, Place]]
) -> None:
    """Refuses settings that are not what their schema says; bytes that passed once are known.

    Checking takes longer than everything else that a repeated run does.
    """
    from checker.program import program_digest
    from checker.sources.store import Store, default_folder

    store = Store(default_folder("settings"))
    sealed = hashlib.sha256(program_digest().encode() + path.name.encode() + b"\0" + raw)
    if store.read(sealed.hexdigest()) is not None:
        return
    from checker.contract.documents import Document
    from checker.contract.validation import validate

    validate(Document(path, table, places(), {}), "settings")
    store.write(b"", sealed.hexdigest())


def _plain(value: Any) -> Any:
    """TOML's dates as texts, as JSON has them."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.isoformat() if isinstance(value, (datetime.date, datetime.time)) else value


_HEAD = re.compile(r"\s*\[(\[?)\s*([\w\s.\"'-]+?)\s*\]\]?")
_KEY = re.compile(r"\s*([A-Za-z0-9_\"'-]+)\s*=")


def _places(
    text: str, above: tuple[str | int, ...]
) -> dict[tuple[str | int, ...], tuple[int, int]]:
    """Where keys stand, as far as lines tell: the parser of the standard library does not say."""
    places: dict[Keys, Place] = {(): (1, 1)}
    counts: dict[Keys, int] = {}
    table: Keys = ()
    for number, line in enumerate(text.splitlines(), start=1):
        head = _HEAD.match(line)
        if head is not None:
            table = tuple(part.strip(" \"'") for part in head[2].split("."))
            if head[1]:
                counts[table] = counts.get(table, -1) + 1
                table = (*table, counts[table])
            keys = table
        else:
            key = _KEY.match(line)
            if key is None:
                continue
            keys = (*table, key[1].strip("\"'"))
        if keys[: len(above)] == above:
            column = len(line) - len(line.lstrip()) + 1
            places.setdefault(keys[len(above) :], (number, column))
            if keys == above:
                places[()] = (number, column)
    return places
