"""The contract files as files: which there are, which schema each follows, what an entry says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from checker.contract.loading import load_plain, load_yaml
from checker.data import CONTRACTS, SCHEMAS
from checker.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

_MODELINE = re.compile(rb"#\s*yaml-language-server:\s*\$schema=\S*?([\w-]+)\.schema\.json\s*")


def to_validate(given: Sequence[str]) -> list[tuple[Path, str]]:
    """The named files, or all of the program's own, each with the schema that it names."""
    paths = [Path(name) for name in given] or own_files()
    return [(path, schema_of(path)) for path in paths]


def own_files() -> list[Path]:
    """Every YAML file of the contracts that come with the program, sorted."""
    return sorted(CONTRACTS.rglob("*.yaml"))


def schema_of(path: Path) -> str:
    """The schema that a file names in its first lines, in the way editors understand.

    Raises:
        InputError: the file cannot be read, or names no schema of ours.
    """
    known = sorted(file.name.removesuffix(".schema.json") for file in SCHEMAS.glob("*.schema.json"))
    try:
        with path.open("rb") as stream:
            head = stream.read(1024)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = f"cannot be read: {reason}"
        raise InputError(message, "give a contract file", str(path)) from None
    match = _MODELINE.search(head)
    name = match[1].decode() if match else None
    if name not in known:
        message = f"names no schema of ours ({', '.join(known)})" if name is None else (
            f"names the unknown schema {name!r} ({', '.join(known)})"
        )  # fmt: skip
        remedy = "begin it with: # yaml-language-server: $schema=../schema/NAME.schema.json"
        raise InputError(message, remedy, f"{path}:1")
    return name


def check(path: Path, schema: str) -> None:
    """Raises an `InputError` with the line of what is wrong, if anything is."""
    load_yaml(path, schema)


def entries(algorithm: str = "eagle3") -> dict[str, str]:
    """Clauses by id and switches by name, each as the YAML that defines it."""
    folder = CONTRACTS / algorithm
    clauses = load_plain(folder / "clauses.yaml")["clauses"]
    switches = load_plain(folder / "switches.yaml")["switches"]
    found = {clause["id"]: _dump(clause) for clause in clauses}
    return found | {name: _dump({name: switch}) for name, switch in switches.items()}


def _dump(data: object) -> str:
    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=96)
