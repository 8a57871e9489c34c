"""The table of releases by settings, cell by cell: what is asked, and what is found.

    python -m tests.releases.cells > tests/releases/table.txt

makes the table that `test_releases.py` compares with: a line per cell, sorted as releases appeared.
Every release is asked for the plain draft, and for a part of the other settings, chosen by the
names alone so that a new release moves no other cell.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from checker.extract import extract
from checker.report.model import Status
from checker.report.tree import Node
from checker.request import ExtractRequest, VerifyRequest
from checker.verification import verify
from tests.releases.settings import SETTINGS, request

FOLDER = Path(__file__).parent
TABLE = FOLDER / "table.txt"
PLAIN = "plain"
_ONE_IN = 6


@dataclass(frozen=True)
class Release:
    """A line of `releases.yaml`, with what its group says of it."""

    spec: str
    trains: bool
    neighbour: str
    renamed: bool
    offset: int
    incomplete: frozenset[str]

    def request(self, setting: str) -> VerifyRequest:
        train, serve = self.spec, self.neighbour
        if not self.trains:
            train, serve = serve, train
        return request(train, serve, setting, offset=self.offset, renamed=self.renamed)


@dataclass(frozen=True)
class Cell:
    """A release in one setting."""

    release: Release
    setting: str

    @property
    def name(self) -> str:
        return f"{self.release.spec}  {self.setting}"

    @property
    def key(self) -> int:
        """A number that its name alone decides."""
        return zlib.crc32(self.name.encode())

    @property
    def may_be_unproven(self) -> frozenset[str]:
        """Clauses about what this cell was not given.

        A target that is named by its class states no epsilon.
        """
        known = SETTINGS[self.setting].target is None
        return self.release.incomplete | (frozenset() if known else {"training-target"})


@dataclass(frozen=True)
class Found:
    """What came out: a line of the table, and why clauses are unproven."""

    line: str
    unproven: Mapping[str, str]


def releases() -> Iterator[Release]:
    """All lines of `releases.yaml`."""
    document: dict[str, Any] = yaml.safe_load((FOLDER / "releases.yaml").read_text("utf-8"))
    for kind in ("trainers", "servers"):
        for group in document[kind]["groups"]:
            for spec in group["releases"]:
                yield Release(
                    spec,
                    kind == "trainers",
                    document[kind]["neighbour"],
                    "renamed" in group,
                    group.get("offset", 0),
                    frozenset(group.get("incomplete", ())),
                )


def cells() -> list[Cell]:
    """The cells of the table."""
    found = []
    for release in releases():
        for name, setting in SETTINGS.items():
            cell = Cell(release, name)
            asked = cell.key % _ONE_IN == 0 and not (release.trains and setting.launch)
            if name == PLAIN or asked:
                found.append(cell)
    return found


def find(cell: Cell) -> Found:
    """Checks a cell."""
    report = verify(cell.release.request(cell.setting))
    unproven = {c.id: c.reason or "" for c in report.clauses if c.undecided}
    violated = [c.id for c in report.clauses if c.status is Status.VIOLATED]
    words = (", ".join(violated) or "-", "; unproven: " + ", ".join(unproven) if unproven else "")
    name = f"{cell.release.spec:<22} {cell.setting:<17} {report.verdict.value:<9}"
    return Found(f"{name} {words[0]}{words[1]}", unproven)


def unknown_values(release: Release) -> list[str]:
    """What `extract` could not tell of a release's draft."""
    asked = release.request(PLAIN)
    config = asked.train_config if release.trains else asked.serve_config
    tree = extract(ExtractRequest(release.spec, config, asked.target))
    return [f"{n.detail} ({n.location})" for n in _nodes(tree) if n.label == "unknown"]


def _nodes(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from _nodes(child)


if __name__ == "__main__":
    for wanted in cells():
        sys.stdout.write(find(wanted).line + "\n")
        sys.stdout.flush()
