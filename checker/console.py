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


def save_whole(text: str, path: str, *, over: bool) -> None:
    """Writes a file, all of it or nothing.

    What was there is lost only once what takes its place is written; a link stays one.

    Args:
        text: what is written, as UTF-8.
        path: where.
        over: whether what is there may be written over.

    Raises:
        InputError: it cannot be written, or is there already.
    """
    try:
        if not over:
            with Path(path).open("x", encoding="utf-8") as stream:
                stream.write(text)
        elif (place := Path(path).resolve()).is_file() and os.access(place.parent, os.W_OK):
            _replace(text, place)
        else:  # it is new, or a device, or its folder takes no other file
            Path(path).write_text(text, "utf-8")
    except FileExistsError:
        raise InputError("is there already", "give --force to write over it", path) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be written: {reason}", "name a file", path) from None


def _replace(text: str, place: Path) -> None:
    import shutil
    import tempfile

    handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}-")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        shutil.copymode(place, temporary)
        temporary.replace(place)
    except BaseException:
        temporary.unlink()
        raise


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
