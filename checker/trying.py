"""Trying clauses on their fixtures: whether each does what a contract file says of it."""

from __future__ import annotations

import copy
import json
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checker.configs import ConfigFile, read_config
from checker.contract.fixtures import load_fixtures
from checker.contract.loading import load_contract
from checker.errors import InputError
from checker.report.model import Status
from checker.request import Access, Rename, Target, VerifyRequest
from checker.verification import verify

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from checker.contract.added import Added
    from checker.contract.fixtures import Fixture
    from checker.report.model import Report


def report(fixture: Fixture, folder: Path, added: tuple[Added, ...] = ()) -> Report:
    """Verifies the pair of a fixture.

    Args:
        fixture: what is tried.
        folder: an empty one, where the engines are copied to and edited.
        added: contract files in use beside the program's own.

    Raises:
        InputError: a text that is to be replaced does not stand in its file once.
    """
    sides = {side: _copied(fixture.paths[side], folder, side) for side in ("train", "serve")}
    for edit in fixture.edits:
        file = sides[edit.side] / edit.file
        text = file.read_text("utf-8") if file.is_file() else ""
        if (count := text.count(edit.old)) != 1:
            message = f"{fixture.name!r} replaces a text that stands there {count} times"
            raise InputError(message, "give a text that stands in this file once", edit.file)
        file.write_text(text.replace(edit.old, edit.new), "utf-8")
    return verify(
        VerifyRequest(
            train=str(sides["train"]),
            serve=str(sides["serve"]),
            train_config=_config(fixture, "train"),
            serve_config=_config(fixture, "serve"),
            target=Target(config=read_config(str(fixture.paths["target"]))),
            launch=fixture.launch,
            renames=tuple(Rename(*pair) for pair in fixture.renames),
            tensor_parallel=fixture.ranks,
            access=Access(offline=True),
            contracts=added,
        )
    )


def misshown(added: tuple[Added, ...], only: frozenset[str] | None = None) -> Iterator[str]:
    """Runs the fixtures that clauses name, and says of each that does not show what it should.

    Args:
        added: contract files in use beside the program's own.
        only: the clauses that are asked about; None for all.

    Raises:
        InputError: a fixture cannot be tried.
    """
    contract, fixtures = load_contract(added), load_fixtures(added)
    reports: dict[str, Report] = {}
    for clause in contract.clauses.values():
        if clause.fixtures is None or (only is not None and clause.id not in only):
            continue
        for name, wanted in zip(clause.fixtures, (Status.HOLDS, Status.VIOLATED), strict=True):
            if name not in reports:
                with tempfile.TemporaryDirectory() as folder:
                    reports[name] = report(fixtures[name], Path(folder), added)
            found = next(c for c in reports[name].clauses if c.id == clause.id)
            if found.status is not wanted:
                said = found.reason or found.message
                because = f" ({said})" if said else ""
                yield f"{clause.id}: {found.status} for {name!r}, not {wanted}{because}"


def _copied(engine: Path, folder: Path, side: str) -> Path:
    place = folder / side / engine.name
    shutil.copytree(engine, place)
    return place


def _config(fixture: Fixture, side: str) -> ConfigFile:
    file = read_config(str(fixture.paths[f"{side}-config"]))
    data: dict[str, Any] = copy.deepcopy(dict(file.data))
    _put(data, fixture.changes[side])
    return ConfigFile(Path(file.path).name, json.dumps(data).encode(), data)


def _put(data: dict[str, Any], changes: Mapping[str, Any]) -> None:
    """An object's keys are put into the one that is there; everything else takes its place."""
    for key, value in changes.items():
        there = data.get(key)
        if isinstance(value, dict) and isinstance(there, dict):
            there |= value
        else:
            data[key] = value
