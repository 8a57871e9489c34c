"""Which classes are targets: those that modules list, and those that inherit from such a class."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

from checker.engines import is_registered, targets
from tests.capture.test_small_targets import FILES, MODEL, laid_out

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
