"""What commands write: an answer on standard output, a line about it on standard error."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO

from checker.report.terminal import Paint, printable, wants_colour

if TYPE_CHECKING:
    import argparse


def paint_for(given: argparse.Namespace, stream: TextIO) -> Paint:
    """Colours, where the user and the stream want them."""
    return Paint(wants_colour(given.color, stream, os.environ))


def write(text: str) -> None:
    """An answer, or a part of one."""
    sys.stdout.write(text)


def say(text: str) -> None:
    """One line on standard error, whatever is in the text."""
    line = printable(" ".join(text.split()))
    sys.stderr.write(f"eagle3-check: {line}\n")
