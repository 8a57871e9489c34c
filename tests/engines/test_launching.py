"""A server's handling of its flags that cannot be followed in full leaves the clause unproven."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from checker.data import FIXTURES
from checker.engines import Inputs, launched, load_engines, load_operators
from checker.pairing import open_side
from checker.report.model import ClauseResult, Status
from checker.request import Access
from tests.golden.test_matrix import Variant, report

if TYPE_CHECKING:
    from pathlib import Path

ARGUMENTS = "toy_server/toy_server/arguments.py"
RESET = "            self.draft_budget = self.draft_depth + 1\n"
LINE = "serve --draft-depth 1 --draft-budget 16"


def result(tmp_path: Path, new: str, old: str = RESET) -> ClauseResult:
    """The launch clause when a statement of the handling is another one."""
    found = report(Variant(((ARGUMENTS, old, new),), launch=LINE), tmp_path)
    (clause,) = (c for c in found.clauses if c.id == "launch")
    assert found.exit_status == {Status.HOLDS: 0, Status.VIOLATED: 1}.get(clause.status, 3)
    return clause


def under(condition: str, *statements: str) -> str:
    body = "".join(f"                {statement}\n" for statement in statements)
    return f"            import platform\n            if {condition}:\n{body}"


@pytest.mark.parametrize(
    "new",
    [
        under("platform.machine() == 'one'", "self.draft_budget = 9"),
        under("platform.machine() == 'one'", "raise ValueError('no')"),
        "            import platform\n            self.draft_budget = platform.node()\n",
        "            import platform\n            platform.settle(self)\n",
    ],
    ids=["value", "error", "unknown value", "anything"],
)
def test_what_depends_on_something_unknown_is_unproven(tmp_path: Path, new: str) -> None:
    clause = result(tmp_path, new)
    assert clause.status is Status.UNPROVEN
    assert "platform" in (clause.reason or "")


def test_what_comes_out_the_same_either_way_is_decided(tmp_path: Path) -> None:
    same = under("self.bits is None", "pass") + under("len(self.draft_method) > 3", "pass")
    assert result(tmp_path, same).status is Status.HOLDS


def test_an_error_of_the_handling_has_its_line(tmp_path: Path) -> None:
    clause = result(tmp_path, "            raise RuntimeError('never')\n")
    assert clause.status is Status.VIOLATED
    assert clause.error is not None
    assert (clause.error.type, clause.error.message) == ("RuntimeError", "never")
    assert clause.error.location is not None
    assert str(clause.error.location).startswith("toy_server/arguments.py:")


def test_the_line_that_changes_a_flag_is_named(tmp_path: Path) -> None:
    clause = result(tmp_path, RESET + "            self.draft_depth = 1\n")
    assert clause.status is Status.VIOLATED
    assert "--draft-budget 16 is changed to 2" in clause.message
    assert [place.path for place in clause.serve.locations] == ["toy_server/arguments.py"]


def test_a_server_of_which_nothing_is_described_is_unproven() -> None:
    source = str(FIXTURES / "engines" / "toy_server")
    opened = open_side(load_engines(), "server", source, (), Access(offline=True))
    subject = opened.subject(load_operators())
    bare = replace(subject, engine=replace(subject.engine, launch=None))
    found = launched(bare, Inputs({}))
    assert found.failure is not None
    assert found.failure.type is None
