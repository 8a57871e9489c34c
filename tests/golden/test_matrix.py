"""Every clause over every fixture of the packaged engines: the whole set of violations is compared.

The fixtures are data (`contracts/eagle3/fixtures.yaml`): each changes one line of one engine (our
own source, so plain text will do) or one key of one configuration. Each clause that the small
engines can break names one that violates it and one for which it holds, and those that change
nothing must leave everything holding.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from checker import trying
from checker.contract.fixtures import Edit, Fixture, load_fixtures
from checker.contract.loading import load_contract
from checker.report.model import Report, Status

FIXTURES = load_fixtures()
PLAIN = FIXTURES["as they are"]
DECIDED = [f for f in FIXTURES.values() if not f.unproven]
OPEN = [f for f in FIXTURES.values() if f.unproven]

DRAFT, PARTS = "toy_trainer/toy_trainer/draft.py", "toy_trainer/toy_trainer/parts.py"
SERVED = "toy_server/toy_server/eagle3.py"


@dataclass(frozen=True)
class Variant:
    """A change that a test makes up: texts replaced (path, old, new), or a launch line."""

    edits: tuple[tuple[str, str, str], ...] = ()
    launch: str | None = None
    train: dict[str, Any] = field(default_factory=dict)
    serve: dict[str, Any] = field(default_factory=dict)


def lines(*statements: str) -> str:
    """Statements of a method's body, one below the other."""
    return ("\n" + 8 * " ").join(statements)


def report(variant: Variant, folder: Path) -> Report:
    """Verifies the packaged engines with a change."""
    sides = {"toy_trainer": "train", "toy_server": "serve"}
    edits = [
        Edit(sides[path.partition("/")[0]], path.partition("/")[2], old, new)
        for path, old, new in variant.edits
    ]
    changes = {
        **PLAIN.changes,
        "train": {**PLAIN.changes["train"], **variant.train},
        "serve": {**PLAIN.changes["serve"], **variant.serve},
    }
    fixture = replace(PLAIN, edits=tuple(edits), launch=variant.launch, changes=changes)
    return trying.report(fixture, folder)


def name(fixture: Fixture) -> str:
    return fixture.name.replace(" ", "-")


@pytest.mark.parametrize("fixture", DECIDED, ids=name)
def test_exactly_the_clauses_that_own_the_change_are_violated(
    fixture: Fixture, tmp_path: Path
) -> None:
    found = trying.report(fixture, tmp_path)
    violated = {c.id for c in found.clauses if c.status is Status.VIOLATED}
    wanted = fixture.violated or frozenset()
    assert violated == wanted, [(c.id, c.message) for c in found.clauses if c.message]
    assert found.exit_status == (1 if wanted else 0)
    if not wanted:
        undecided = [(c.id, c.reason) for c in found.clauses if c.undecided]
        assert not undecided
    # what clauses say of this fixture is true of it
    statuses = {c.id: c.status for c in found.clauses}
    for clause in load_contract().clauses.values():
        for named, status in zip(
            clause.fixtures or (), (Status.HOLDS, Status.VIOLATED), strict=False
        ):
            assert named != fixture.name or statuses[clause.id] is status, clause.id


@pytest.mark.parametrize("fixture", OPEN, ids=name)
def test_what_cannot_be_followed_leaves_its_own_clauses_unproven(
    fixture: Fixture, tmp_path: Path
) -> None:
    found = trying.report(fixture, tmp_path)
    assert not [c.id for c in found.clauses if c.status is Status.VIOLATED]
    unproven = {c.id for c in found.clauses if c.undecided}
    assert unproven == fixture.unproven
    assert found.exit_status == 3


def test_every_implemented_clause_names_fixtures_that_there_are() -> None:
    for clause in load_contract().clauses.values():
        assert clause.implemented is (clause.fixtures is not None)
        assert clause.fixtures is None or set(clause.fixtures) <= set(FIXTURES), clause.id


def test_every_fixture_says_what_it_breaks_and_the_clauses_broken_are_all() -> None:
    broken = {clause for fixture in DECIDED for clause in fixture.violated or ()}
    assert broken == {c.id for c in load_contract().clauses.values() if c.implemented}


def test_a_read_that_an_except_swallows_is_told_with_what_it_leaves(tmp_path: Path) -> None:
    swallowed = lines(
        "try:",
        '    self.base = config["eagle_config"]["rotary"]["rope_theta"]',
        "except (KeyError, TypeError):",
        "    self.base = 10000.0",
    )
    old = 'self.base = config.get("rope_theta", 10000.0)'
    variant = Variant(((SERVED, old, swallowed),))
    found = report(variant, tmp_path)
    (tmp_path / "again").mkdir()
    again = report(variant, tmp_path / "again")  # from what was kept
    assert again.facts.serve.config_reads == tuple(
        replace(read, location=replace(read.location, source=again.serve.source))
        for read in found.facts.serve.config_reads
    )
    clauses = {c.id: c for c in found.clauses if c.status is Status.VIOLATED}
    assert set(clauses) == {"attention-rope"}
    reads = {read.key: read for read in found.facts.serve.config_reads}
    read = reads["eagle_config.rotary"]
    assert read.default is not None
    number = next(
        n
        for n, text in enumerate((tmp_path / "serve" / SERVED).read_text().splitlines(), 1)
        if "except (KeyError" in text
    )
    path = "toy_server/eagle3.py"
    assert read.default == f"10000.0 (by the except at {path}:{number})"
    assert (read.location.path, read.location.line) == (path, number - 1)
