"""Hand-made edits of real releases: each is judged right, or unproven inside of a summary."""

from __future__ import annotations

import pytest

from checker.engines import Question, capture
from tests.capture.edits import CASES, UNPROVEN, edited

pytestmark = pytest.mark.network


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if c.every_day else (pytest.mark.long,)) for n, c in CASES.items()],
)
def test_an_edited_release(name: str) -> None:
    case = CASES[name]
    found = capture(edited(case), Question(case.target, 61, case.ids))
    if case.gives == UNPROVEN:
        assert not found.is_decided, found.boundaries
        assert "a summary stands for" in found.reason
        assert found.place is not None
        assert found.place.path.endswith(case.file)
    elif isinstance(case.gives, str):
        assert found.error is not None, found.boundaries or found.reason
        assert found.error.type == case.gives
    else:
        assert found.is_decided, found.reason
        assert (found.boundaries, found.aliased) == (case.gives, case.aliased), found.error
