"""Each refactoring leaves what a side computes as it is; nothing may be said against it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.rewrites import REWRITES
from tests.real import configs
from tests.real.releases import (
    TRAINER,
    check,
    flaws,
    renames,
    runs,
    said,
    server,
    unproven,
    violated,
)

if TYPE_CHECKING:
    from pathlib import Path

    from checker.report.model import Report
    from tests.real.releases import Copies

pytestmark = pytest.mark.network

EVERY_DAY = frozenset(
    [
        "locals_renamed",
        "join_in_a_submodule",
        "arguments_by_keyword",
        "module_reached_by_a_computed_name",
        "join_by_stack_and_flatten",
        "join_taken_apart_and_put_together",
        "join_in_a_buffer_empty",
        "fc_by_at",
        "norm_by_hand",
        "norms_in_a_loop_over_one",
        "add_and_norm_apart",
        "projections_split_by_narrow",
        "result_in_a_dataclass",
        "fc_by_einsum",
        "halves_by_slices",
    ]
)
KNOWN = {
    "heads_taken_apart_and_put_together": (
        "rotary kernels write in place, and reshape gives them what may be a copy or may be none"
    ),
}


def run(copies: Copies, place: Path, name: str, version: str) -> Report:
    """The report on a release with one of the refactorings."""
    case = REWRITES[name]
    train, serve = configs.train(**case.switches), configs.serve(**case.switches)
    sides = {"train": copies.plain(TRAINER), "serve": copies.plain(server(version))}
    spec = TRAINER if case.side == "train" else server(version)
    sides[case.side] = copies.edited(spec, place, {case.file: case.edit})
    return check(sides["train"], sides["serve"], train, serve, renames=renames(version))


def test_there_are_a_hundred_of_them() -> None:
    assert len(REWRITES) >= 100


@pytest.mark.parametrize(("name", "version"), runs(REWRITES, EVERY_DAY, KNOWN))
def test_a_rewritten_side_is_left_in_peace(
    copies: Copies, tmp_path: Path, name: str, version: str
) -> None:
    report = run(copies, tmp_path, name, version)
    assert (violated(report), unproven(report)) == (flaws(version), {}), said(report)
