"""What `verify` says where captured graphs hand over other states than prefill does."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest

from checker.errors import InputError
from checker.report.model import Status
from tests.real import configs
from tests.real.releases import TRAINER, check, renames, server

if TYPE_CHECKING:
    from checker.report.model import ClauseResult, Report

pytestmark = pytest.mark.network


@cache
def report(version: str, ranks: int = 1) -> Report:
    """Training captured boundaries 3, 12 and 20; the served ids ask for them."""
    train = configs.train()
    train["eagle_aux_hidden_state_layer_ids"] = [3, 12, 20]
    try:
        return check(
            TRAINER,
            server(version),
            train,
            configs.serve([2, 11, 19]),
            renames=renames(version),
            tensor_parallel=ranks,
        )
    except InputError as error:
        pytest.skip(f"the releases cannot be had: {error}")


def clause(found: Report, name: str) -> ClauseResult:
    return next(c for c in found.clauses if c.id == name)


def test_graphs_with_the_default_layers_break_the_boundaries() -> None:
    """0.5.9 captures graphs before the target is told; without graphs nothing is wrong."""
    found = report("0.5.9")
    result = clause(found, "aux-boundaries")
    assert result.status is Status.VIOLATED
    assert "[2, 12, 21]" in result.message
    assert found.facts is not None
    capture = found.facts.serve.capture
    assert (capture.boundaries, capture.graph_boundaries) == ((3, 12, 20), (2, 12, 21))


def test_graphs_captured_afterwards_hand_over_the_same() -> None:
    found = report("0.5.23")
    assert clause(found, "aux-boundaries").status is Status.HOLDS
    assert found.facts is not None
    assert found.facts.serve.capture.graph_boundaries is None
    assert clause(found, "aux-reduced").status is Status.NOT_APPLICABLE


@pytest.mark.parametrize("version", ["0.5.9", "0.5.23"])
def test_several_ranks_are_followed(version: str) -> None:
    assert clause(report(version, ranks=2), "aux-reduced").status is Status.HOLDS


@pytest.mark.parametrize("version", ["0.5.9", "0.5.23"])
def test_of_what_does_not_start_no_states_are_judged(version: str) -> None:
    """Pipeline stages are refused beside this algorithm; three ranks cannot share these heads."""
    for options in ({"pipeline_parallel": 2}, {"tensor_parallel": 7}):
        found = check(
            TRAINER,
            server(version),
            configs.train(),
            configs.serve(),
            renames=renames(version),
            **options,
        )
        assert clause(found, "launch").status is Status.VIOLATED
        reduced = clause(found, "aux-reduced")
        assert reduced.status is Status.NOT_APPLICABLE
        assert "does not start" in (reduced.reason or "")
