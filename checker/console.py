"""What commands write: an answer on standard output, a line about it on standard error."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from checker.errors import InputError, InputErrors
from checker.report.terminal import Paint, printable, wants_colour

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable


def paint_for(given: argparse.Namespace, stream: TextIO) -> Paint:
    """Colours, where the user and the stream want them."""
    return Paint(wants_colour(given.color, stream, os.environ))


def write(text: str) -> None:
    """An answer, or a part of one."""
    sys.stdout.write(text)


def save(text: str, path: str) -> None:
    """Writes an answer to a file, in place of what was there.

    Raises:
        InputError: it cannot be written.
    """
    try:
        # Names of files and checked text may hold what UTF-8 cannot.
        Path(path).write_text(text, "utf-8", "backslashreplace")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        lacking = isinstance(error, FileNotFoundError)
        remedy = f"make the folder {Path(path).parent} first" if lacking else "name another file"
        raise InputError(f"cannot be written: {reason}", remedy, path) from None


def save_all(files: Iterable[tuple[str, str]]) -> list[InputError]:
    """Writes every file that can be written; what was wrong with the others."""
    problems = []
    for path, text in files:
        try:
            save(text, path)
        except InputError as error:
            problems.append(error)
    return problems


def complain(problems: list[InputError]) -> None:
    """Raises what went wrong, after everything else was said."""
    if problems:
        raise InputErrors.of(problems)


def say(text: str) -> None:
    """One line on standard error, whatever is in the text."""
    line = printable(" ".join(text.split()))
    sys.stderr.write(f"eagle3-check: {line}\n")
