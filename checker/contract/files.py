"""The contract files as files: which there are, which schema each follows, what an entry says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from checker.contract.documents import read_document
from checker.contract.loading import load_plain
from checker.contract.validation import validate
from checker.data import CONTRACTS, SCHEMAS
from checker.errors import InputError, InputErrors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from checker.contract.added import Added
    from checker.contract.documents import Document

_MODELINE = re.compile(rb"#\s*yaml-language-server:\s*\$schema=\S*?([\w-]+)\.schema\.json\s*")
_KINDS = {
    "clauses": "clauses",
    "fixtures": "clauses",
    "switches": "switches",
    "engine": "engine",
    "operators": "operators",
    "exploration": "exploration",
    "formats": "formats",
    "modules": "pins",
    "wires": "wires",
    "parameters": "wires",
    "roles": "wires",
    "derived": "wires",
    "values": "wires",
}
"""The schema of a file that names none, by a key that only such files have."""
REPORTS = frozenset(("report", "solution", "changes", "matrix", "gate", "settings"))
"""Schemas of what commands answer, and of settings: of what is no contract file."""


def own_files() -> list[Path]:
    """Every YAML file of the contracts that come with the program, sorted."""
    return sorted(CONTRACTS.rglob("*.yaml"))


def schemas() -> dict[str, Path]:
    """The schemas that come with the program, by name."""
    found = sorted(SCHEMAS.glob("*.schema.json"))
    return {path.name.removesuffix(".schema.json"): path for path in found}


def validated(given: Sequence[str]) -> Iterator[tuple[Path, str]]:
    """Each named file, or all of the program's own, with the schema that it follows.

    Raises:
        InputErrors: at the end, everything that is wrong with any of them.
    """
    problems: list[InputError] = []
    for path in [Path(name) for name in given] or own_files():
        try:
            document = read_document(path)
            kind = detected(document)
            validate(document, kind)
        except InputError as error:
            problems.append(error)
        else:
            yield path, kind
    if problems:
        raise InputErrors.of(problems)


def detected(document: Document) -> str:
    """The schema that a file names in its first lines, or the one of files with such keys.

    Raises:
        InputError: it names none of ours, and nothing tells what it is.
    """
    known = [name for name in schemas() if name not in REPORTS]
    with document.path.open("rb") as stream:
        match = _MODELINE.search(stream.read(1024))
    if match is not None:
        name = match[1].decode()
        if name not in known:
            message = f"names the unknown schema {name!r} ({', '.join(known)})"
            raise InputError(message, _MARK, f"{document.path}:1")
        return name
    keys = document.data if isinstance(document.data, dict) else {}
    kinds = dict.fromkeys(kind for key, kind in _KINDS.items() if key in keys)
    if len(kinds) != 1:
        message = f"is none of ours: {', '.join(known)}"
        raise InputError(message, _MARK, f"{document.path}:1")
    return next(iter(kinds))


_MARK = "begin it with: # yaml-language-server: $schema=../schema/NAME.schema.json"


def check(path: Path) -> str:
    """The schema that a file follows.

    Raises:
        InputError: everything that is wrong with it.
    """
    document = read_document(path)
    kind = detected(document)
    validate(document, kind)
    return kind


def entries(added: Sequence[Added] = (), algorithm: str = "eagle3") -> dict[str, str]:
    """Clauses by id, switches and engines by name, each as the YAML that defines it."""
    folder = CONTRACTS / algorithm
    documents = [load_plain(folder / name) for name in ("clauses.yaml", "switches.yaml")]
    documents += [load_plain(path) for path in sorted((CONTRACTS / "engines").glob("*.yaml"))]
    found: dict[str, str] = {}
    for data in (*documents, *(file.data for file in added)):
        found |= {clause["id"]: _dump(clause) for clause in data.get("clauses", ())}
        found |= {name: _dump({name: s}) for name, s in data.get("switches", {}).items()}
        if "engine" in data:
            found[data["engine"]] = _dump(data)
    return found


def _dump(data: object) -> str:
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=96)


class _Dumper(yaml.SafeDumper):
    """Texts of several lines as they are written in the files."""


_Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style="|" if "\n" in text else None
    ),
)
