"""A server's launch command, as the flags it sets."""

from __future__ import annotations

import shlex
from pathlib import Path

from checker.errors import InputError


def parse_launch(text: str) -> dict[str, str | int | float | bool]:
    """Flags of a command line (or of a file that holds one), by their names with underscores.

    A flag without a value is True. Numbers become numbers.

    Raises:
        InputError: the text cannot be split into words.
    """
    if _is_file(text):
        text = Path(text).read_text("utf-8", "replace")
    try:
        words = shlex.split(text.replace("\\\n", " "), comments=True)
    except ValueError as error:
        raise InputError(
            f"the launch command cannot be read: {error}", "close its quotes", "--launch"
        ) from None
    flags: dict[str, str | int | float | bool] = {}
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        if not word.startswith("--") or len(word) < 3:
            continue
        name, separator, value = word[2:].partition("=")
        if not separator:
            if index < len(words) and not words[index].startswith("--"):
                value = words[index]
                index += 1
            else:
                flags[name.replace("-", "_")] = True
                continue
        flags[name.replace("-", "_")] = _value(value)
    return flags


def _is_file(text: str) -> bool:
    """Whether the text names a file. Most command lines are too long for a name."""
    try:
        return "\n" not in text and Path(text).is_file()
    except (OSError, ValueError):
        return False


def _value(text: str) -> str | int | float:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
