"""What counts in training, in every release of the trainer: each token as the prompt says of it."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import pytest

from benchmarks.editing import Source
from checker.errors import InputError
from checker.report.model import Status
from checker.request import Pin
from checker.sources import open_source
from tests.real import configs
from tests.real.releases import check, said, server

if TYPE_CHECKING:
    from pathlib import Path

    from checker.report.model import ClauseResult
    from checker.sources import Tree

pytestmark = pytest.mark.network

EVERY_DAY = "0.6.0"
RELEASES = ("0.3.0", "0.4.0", "0.5.0", EVERY_DAY, "0.7.0", "0.8.0", "0.9.0")
HOMES = ("speculators/models/eagle3/data.py", "speculators/train/data.py")


@functools.cache
def _tree(version: str) -> Tree:
    return open_source(f"speculators=={version}")


def target(version: str, place: Path, mask: str | None) -> ClauseResult:
    """The clause about targets, with another statement where the batch's mask is moved."""
    try:
        tree = _tree(version)
    except InputError as error:
        pytest.skip(f"the release cannot be had: {error}")
    home = next(path for path in HOMES if tree.exists(path))
    for path in tree.files():
        if not path.endswith((".py", "METADATA")):
            continue
        text = tree.read(path).decode()
        if path == home and mask is not None:
            source = Source(text)
            source.put(source.assign("shift_batch", "loss_mask", 1).value, mask)
            text = source.result()
        file = place / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    # the first releases say too little of the library that they were written for
    pins = (Pin("transformers", "4.57.1"),) if version < "0.5" else ()
    report = check(str(place), server("0.5.23"), configs.train(), configs.serve(), train_with=pins)
    (clause,) = (c for c in report.clauses if c.id == "training-target")
    assert clause.status is not Status.UNPROVEN, said(report)
    return clause


@pytest.mark.parametrize(
    "version",
    [pytest.param(v, marks=[] if v == EVERY_DAY else [pytest.mark.long]) for v in RELEASES],
)
def test_a_mask_that_is_moved_otherwise_than_tokens_is_found(version: str, tmp_path: Path) -> None:
    assert "mask" not in target(version, tmp_path / "plain", None).message
    behind = target(version, tmp_path / "behind", "loss_mask[:-1]")
    assert behind.status is Status.VIOLATED
    assert "a mask that is moved by -1 places" in behind.message
