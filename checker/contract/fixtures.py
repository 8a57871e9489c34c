"""Fixtures of clauses: a pair of small engines with a change each, as contract files say."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from checker.contract.loading import load_plain
from checker.data import CONTRACTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from checker.contract.added import Added
    from checker.contract.documents import Keys

PATHS: Final = ("train", "serve", "train-config", "serve-config", "target")
"""Keys whose values are paths, from the folder of the file."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A text of one file of one side (train or serve) that another one takes the place of."""

    side: str
    file: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Fixture:
    """A pair to try clauses on.

    `paths`: folders of the engines and files of the configurations, by their keys. `changes`: keys
    put into the configurations of a side. `violated` are exactly the clauses that it violates, and
    `unproven` those that it leaves open; None where the file does not say.
    """

    name: str
    paths: Mapping[str, Path]
    changes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    renames: tuple[tuple[str, str], ...] = ()
    launch: str | None = None
    ranks: int = 1
    edits: tuple[Edit, ...] = ()
    violated: frozenset[str] | None = None
    unproven: frozenset[str] | None = None


def load_fixtures(
    added: Iterable[Added] = (), algorithm: str = "eagle3", root: Path = CONTRACTS
) -> dict[str, Fixture]:
    """All fixtures by name: the program's own, and those of added files."""
    own = root / algorithm / "fixtures.yaml"
    data = load_plain(own)
    base = _located(data.get("base", {}), own.parent)
    found = dict(_fixtures(data, own.parent, base))
    for file in added:
        if file.kind == "clauses":
            folder = file.document.path.parent
            more = {**base, **_located(file.data.get("base", {}), folder)}
            found |= dict(_fixtures(file.data, folder, more))
    return found


def missing_paths(file: Added) -> Iterator[tuple[Keys, str]]:
    """What the fixtures of an added file name and is not there: where it is named, and its path."""
    folder = file.document.path.parent
    base = file.data.get("base", {})
    entries: list[tuple[Keys, Any]] = [(("base",), base)]
    entries += [(("fixtures", name), item) for name, item in file.data.get("fixtures", {}).items()]
    for at, item in entries:
        for key in PATHS:
            if key in item and not (folder / item[key]).exists():
                yield (*at, key), item[key]


def _located(item: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """An entry with its paths where they lead."""
    return {key: folder / value if key in PATHS else value for key, value in item.items()}


def _fixtures(
    data: Mapping[str, Any], folder: Path, base: Mapping[str, Any]
) -> Iterator[tuple[str, Fixture]]:
    for name, item in data.get("fixtures", {}).items():
        said = {**base, **_located(item, folder)}
        yield (
            name,
            Fixture(
                name,
                {key: said[key] for key in PATHS if key in said},
                {
                    side: {**base.get(f"set-{side}", {}), **item.get(f"set-{side}", {})}
                    for side in ("train", "serve")
                },
                tuple(said.get("renames", {}).items()),
                said.get("launch"),
                said.get("ranks", 1),
                tuple(Edit(**edit) for edit in said.get("edits", ())),
                frozenset(said["violated"]) if "violated" in said else None,
                frozenset(said["unproven"]) if "unproven" in said else None,
            ),
        )
