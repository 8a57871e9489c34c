"""The table of meanings holds what every release has that summaries were read from."""

from __future__ import annotations

import pytest

from benchmarks import pins as writing
from checker.engines import pins
from tests.capture.edits import NEW, OLD, subject

pytestmark = pytest.mark.network
EVERY_DAY = frozenset((OLD, NEW))


@pytest.mark.parametrize(
    "release",
    [
        pytest.param(r, marks=() if r in EVERY_DAY else (pytest.mark.long,))
        for r in writing.releases()
    ],
)
def test_a_release_has_nothing_that_was_not_looked_at(release: str) -> None:
    """And each digest of it stands in the table."""
    found = subject(release)
    assert pins.changed(found.workspace, writing.wanted()) is None
    known = pins.known()
    for module, digests in writing.of_release(found).items():
        missing = {n for n, digest in digests.items() if digest not in known[module].get(n, ())}
        assert not missing, (module, missing)


def test_every_pin_is_about_something() -> None:
    """A pin that no module of the table matches would never be compared."""
    for pin in writing.wanted():
        modules = pins.modules(pin, pins.known())
        assert modules, pin
        member = pin.partition(":")[2]
        assert not member or any(member in pins.known()[m] for m in modules) or _is_spare(pin), pin


def _is_spare(pin: str) -> bool:
    """Of the ways in which a norm can be called, not every class has every one."""
    return ".layernorm:" in pin
