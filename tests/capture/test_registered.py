"""Which classes are targets: those that modules list, and those that inherit from such a class."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from checker.capturing import capturing
from checker.engines import is_registered, targets
from checker.report.capture import render
from checker.request import Access, CaptureRequest
from tests.capture.test_small_targets import FILES, LAYERS, MODEL, SUM, laid_out

if TYPE_CHECKING:
    from pathlib import Path

OTHER = """
    from torch import nn
    from sglang.srt.models import small
    from sglang.srt.models.small import Wrapper

    class Target(nn.Module):
        def set_eagle3_layers_to_capture(self, layer_ids=None):
            pass

    class Inner(Target):
        pass

    class Kind(Wrapper):
        pass
    """


def test_a_class_of_the_same_name_is_another_one(tmp_path: Path) -> None:
    """What inherits from it inherits from nothing that the server lists."""
    FILES["models/other.py"] = OTHER
    try:
        subject = laid_out(tmp_path, dedent(MODEL).replace("CAPTURED", "hidden"))
    finally:
        del FILES["models/other.py"]
    assert targets(subject) == ["Kind", "Target", "Wrapper"]
    assert is_registered(subject, "Kind")
    assert not is_registered(subject, "Inner")


SETTER = "[2, 4, 5] if layer_ids is None else [i + 1 for i in layer_ids]"


@pytest.mark.parametrize(
    ("setter", "ids", "rule"),
    [
        (SETTER, (3, 5), "id + 1"),
        (SETTER, (5, 3), "id + 1, sorted"),
        (SETTER, None, "default"),
        ("[2, 4, 5]", (7, 6, 0), "ids are ignored"),
        ("[2, 4, 5]", (7,), "ids are ignored"),
        ("[i % 8 for i in layer_ids or [1]]", (-2, 12), "-"),
        ("[i % 8 for i in layer_ids or [1]]", (3, 5), "id"),
    ],
)
def test_the_rule_is_said_in_words(
    tmp_path: Path, setter: str, ids: tuple[int, ...] | None, rule: str
) -> None:
    """Ids that are turned into others are not ignored."""
    text = dedent(MODEL).replace("CAPTURED", f"({SUM}).clone()").replace(SETTER, setter)
    laid_out(tmp_path, text)
    request = CaptureRequest(str(tmp_path), LAYERS, "Target", ids, access=Access(offline=True))
    line = render(capturing(request)).splitlines()[2]
    assert line.split("  ")[2].strip() == rule, line


def test_what_is_no_boundary_follows_no_rule(tmp_path: Path) -> None:
    """Two lists of values that are none are not the same for that."""
    laid_out(tmp_path, dedent(MODEL).replace("CAPTURED", "hidden"))
    request = CaptureRequest(
        str(tmp_path), LAYERS, "Target", (1, 3, 4), access=Access(offline=True)
    )
    line = render(capturing(request)).splitlines()[2]
    assert line.split("  ")[2].strip() == "-"
    assert line.count("not-a-boundary") == 3
