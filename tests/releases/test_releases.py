"""Every release is followed to its end, and says what the table says it says.

The whole table takes ten minutes (`-m long`); every day a few cells are looked at, chosen by their
names. Lines are printed at the end of the run. A release without a line in the table has only to be
followed to its end.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from checker.errors import InputError
from tests.releases import cells
from tests.releases.cells import PLAIN, Cell

pytestmark = pytest.mark.network
_EVERY_DAY = 4
CELLS = cells.cells()
LINES = {"  ".join(line.split()[:2]): line for line in cells.TABLE.read_text("utf-8").splitlines()}


def params() -> list[object]:
    """All cells, the least by key for every day."""
    plain = sorted((c for c in CELLS if c.setting == PLAIN), key=lambda c: c.key)
    other = sorted((c for c in CELLS if c.setting != PLAIN), key=lambda c: c.key)
    daily = {c.name for c in (*plain[: _EVERY_DAY - 1], *other[:1])}
    return [
        pytest.param(c, id=c.name, marks=() if c.name in daily else pytest.mark.long) for c in CELLS
    ]


@pytest.mark.parametrize("cell", params())
def test_a_release_is_followed_to_its_end(
    cell: Cell, record_property: Callable[[str, object], None]
) -> None:
    try:
        found = cells.find(cell)
    except InputError as error:
        pytest.skip(f"{cell.release.spec} cannot be had: {error}")
    record_property("line of the table", found.line)
    unproven = {k: v for k, v in found.unproven.items() if k not in cell.may_be_unproven}
    assert not unproven
    assert found.line == LINES.get(cell.name, found.line)
    if cell.setting == PLAIN:
        assert cells.unknown_values(cell.release) == []


def test_the_table_has_no_other_lines() -> None:
    assert set(LINES) <= {cell.name for cell in CELLS}


@pytest.mark.parametrize("kind", ["trainers", "servers"])
def test_the_list_has_no_release_twice(kind: str) -> None:
    found = [r.spec for r in cells.releases() if r.trains == (kind == "trainers")]
    assert len(found) == len(set(found)) > 10
