"""Where in the user's own repository a finding is shown, and where it stands upstream.

Code review tools show a finding at a line of the repository that is checked. Most of what is
checked here lies elsewhere, so the line is the one that the user can change: in a fork, else in the
configuration, else where the release is pinned, else where the user's own contract states what is
broken.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from checker.location import Location
    from checker.report.model import ClauseResult, Report, Side


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the user's repository; `path` is relative to its root, with `/`."""

    path: str
    line: int = 1
    column: int = 1


@dataclass(frozen=True, slots=True)
class Repository:
    """The user's repository: where findings are shown.

    `root` is its folder. `pins` say where sources are named in it, by the sources' labels;
    `clauses` where clauses stand that the user has added, by their ids (their paths start where the
    program runs).
    """

    root: str = field(default_factory=lambda: root_above(Path.cwd()))
    pins: Mapping[str, Place] = field(default_factory=dict)
    clauses: Mapping[str, Place] = field(default_factory=dict)

    def place_of(self, report: Report, result: ClauseResult) -> Place | None:
        """The line to show a result at; None where nothing of it lies in the repository."""
        return next(self._places(report, result), None)

    def _places(self, report: Report, result: ClauseResult) -> Iterator[Place]:
        for side, location in upstream(report, result):
            if location.source == side.source and side.folder is not None:
                path = self._inside(Path(side.folder, location.path))
                if path is not None:
                    yield Place(path, location.line, location.column)
        keys = [re.split(r"[\s.\[]+", when)[0] for when in result.when]
        for side in (report.serve, report.train):
            given = side.configured
            path = None if given is None or given.path is None else self._inside(Path(given.path))
            if path is not None:
                yield Place(path, _line_of(Path(self.root, path), keys))
        for side in (report.serve, report.train):
            if side.source in self.pins:
                yield self.pins[side.source]
        stated = self.clauses.get(result.id)
        path = None if stated is None else self._inside(Path(stated.path))
        if stated is not None and path is not None:
            yield Place(path, stated.line, stated.column)

    def _inside(self, path: Path) -> str | None:
        """A path as the repository has it; None for one that is not in it, or is installed."""
        if not path.is_file():
            return None
        try:
            inside = path.resolve().relative_to(Path(self.root).resolve())
        except (OSError, ValueError):
            return None
        return None if "site-packages" in inside.parts else inside.as_posix()


def root_above(here: Path) -> str:
    """The root of the repository that a folder lies in; the folder itself outside of any."""
    above = (path for path in (here, *here.parents) if (path / ".git").exists())
    return str(next(above, here))


def upstream(report: Report, result: ClauseResult) -> Iterator[tuple[Side, Location]]:
    """Every line of either side that a result names, with its side: what is raised comes first."""
    found: dict[Location, Side] = {}
    if result.error is not None and result.error.location is not None:
        location = result.error.location
        of_trainer = location.source == report.train.source
        found[location] = report.train if of_trainer else report.serve
    for side, value in ((report.serve, result.serve), (report.train, result.train)):
        for location in value.locations:
            found.setdefault(location, side)
    yield from ((side, location) for location, side in found.items())


def _line_of(path: Path, keys: list[str]) -> int:
    """The line of the first of these keys in a JSON file; 1 where none is in it."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, ValueError):
        return 1
    for key in keys:
        match = re.search(rf'"{re.escape(key)}"\s*:', text)
        if match is not None:
            return text.count("\n", 0, match.start()) + 1
    return 1
