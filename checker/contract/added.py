"""Contract files that a user adds, on the command line or in the settings of a folder."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from checker.contract.documents import read_document
from checker.contract.files import detected
from checker.contract.validation import validate
from checker.errors import InputError, InputErrors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from checker.contract.documents import Document, Keys
    from checker.contract.fixtures import Fixture
    from checker.contract.model import Contract

ADDABLE = ("clauses", "engine", "operators", "switches", "wires")
"""The kinds of files that a user can add."""


@dataclass(frozen=True, slots=True)
class Added:
    """A contract file in use beside the program's own; `kind` is the name of its schema."""

    document: Document
    kind: str
    digest: str

    @property
    def path(self) -> str:
        """The file, as it was named."""
        return str(self.document.path)

    @property
    def data(self) -> Any:
        """What it says."""
        return self.document.data


def added(paths: Sequence[Path]) -> tuple[Added, ...]:
    """The files, read and checked.

    Raises:
        InputErrors: all that is wrong with any of them.
    """
    found: list[Added] = []
    problems: list[InputError] = []
    for path in paths:
        try:
            found.append(_read(path))
        except InputError as error:
            problems.append(error)
    if problems:
        raise InputErrors.of(problems)
    return tuple(found)


def _read(path: Path) -> Added:
    document = read_document(path)
    kind = detected(document)
    if kind not in ADDABLE:
        message = f"is a file of the kind {kind!r}, which cannot be added"
        raise InputError(message, f"add one of: {', '.join(ADDABLE)}", f"{path}:1")
    validate(document, kind)
    return Added(document, kind, hashlib.sha256(path.read_bytes()).hexdigest())


def clauses_at(files: Iterable[Added]) -> dict[str, tuple[str, int, int]]:
    """Where each clause stands that the files state: path, line and column; the last one counts."""
    return {
        clause["id"]: (file.path, *file.document.place(("clauses", number, "id")))
        for file in files
        if file.kind == "clauses"
        for number, clause in enumerate(file.data["clauses"])
    }


# -- what one file says of another -----------------------------------------------------------------


def check_references(contract: Contract, files: Sequence[Added]) -> None:
    """What added files name has to be there.

    Raises:
        InputErrors: clauses, switches, wires or fixtures are named that there are none of.
    """
    from checker.contract.fixtures import load_fixtures, missing_paths

    fixtures = load_fixtures(files) if any(file.kind == "clauses" for file in files) else {}
    problems = [
        file.document.error(keys, f"there is no {kind} {name!r}", f"see contracts list, {near}")
        for file in files
        for keys, kind, name, known in _references(contract, file, fixtures)
        if name not in known
        for near in [_near(name, known)]
    ]
    problems += [
        file.document.error(
            keys,
            f"there is no {path!r} beside this file",
            "correct the path: it starts here",
        )
        for file in files
        if file.kind == "clauses"
        for keys, path in missing_paths(file)
    ]
    if problems:
        raise InputErrors.of(problems)


def _near(name: str, known: Iterable[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, sorted(known), n=1)
    return f"or did you mean {near[0]!r}?" if near else "or add a file that defines it"


_Named: TypeAlias = "tuple[Keys, str, str, Iterable[str]]"
"""Where something is named, its kind and name, and the names there are."""


def _references(
    contract: Contract, file: Added, fixtures: Mapping[str, Fixture]
) -> Iterator[_Named]:
    kinds = {
        "clauses": _in_clauses,
        "switches": _in_switches,
        "engine": _in_engine,
        "wires": _in_wires,
    }
    if file.kind == "clauses":
        for number, clause in enumerate(file.data.get("clauses", ())):
            for key, name in clause.get("fixtures", {}).items():
                yield ("clauses", number, "fixtures", key), "fixture", name, fixtures
    if file.kind in kinds:
        yield from kinds[file.kind](contract, file.data)


def _wires(contract: Contract) -> set[str]:
    return {*contract.wires["wires"], *contract.wires.get("values", ())}


def _in_clauses(contract: Contract, data: Any) -> Iterator[_Named]:
    wires = _wires(contract)
    for number, clause in enumerate(data.get("clauses", ())):
        at: Keys = ("clauses", number)
        for index, selector in enumerate(clause.get("owns", ())):
            for wire in _several(selector.get("wire", ())):
                yield (*at, "owns", index, "wire"), "wire", wire, wires
        for index, probe in enumerate(clause.get("probes", ())):
            here = (*at, "probes", index)
            yield (*here, "switch"), "switch", probe["switch"], contract.switches
            yield (*here, "wire"), "wire", probe["wire"], wires


def _in_switches(contract: Contract, data: Any) -> Iterator[_Named]:
    for name, switch in data["switches"].items():
        for clause in _several(switch["clause"]):
            yield ("switches", name, "clause"), "clause", clause, contract.clauses
        for key in ("times", "like"):
            other = switch.get("size", {}).get(key)
            if other is not None:
                yield ("switches", name, "size", key), "switch", other, contract.switches


def _in_engine(contract: Contract, data: Any) -> Iterator[_Named]:
    for name in data.get("spellings", ()):
        yield ("spellings", name), "switch", name, contract.switches


def _in_wires(contract: Contract, data: Any) -> Iterator[_Named]:
    values = {*contract.switches, *contract.wires.get("derived", ())}
    for name, switch in data.get("roles", {}).items():
        yield ("roles", name), "switch", switch, values
    for key in ("layer-output", "outputs"):
        for wire in _several(data.get(key, ())):
            yield (key,), "wire", wire, _wires(contract)


def _several(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)
