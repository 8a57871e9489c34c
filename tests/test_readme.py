"""What the README shows is what is printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from checker.cli import main

README = Path(__file__).parents[1] / "README.md"


@pytest.mark.network
def test_the_first_output_is_what_the_first_command_prints(
    capsys: pytest.CaptureFixture[str],
) -> None:
    blocks = re.findall(
        r"^```text\n(.*?)^```$", README.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    assert main(["verify"]) == 1
    assert capsys.readouterr().out == blocks[0]
