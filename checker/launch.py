"""A server's launch command, as the flags it sets."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any, Final

from checker.errors import InputError

ENVIRONMENT: Final = "environment"
_MODULE: Final = "-m"
_SHELL: Final = re.compile(r"(\d*[<>]|[|&;])")
_ASSIGNMENT: Final = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


def parse_launch(text: str) -> dict[str, Any]:
    """Flags of a command line (or of a file that holds one), by their names with underscores.

    A flag without a value is True. Numbers become numbers. Variables that are set before the
    command are kept together, under `environment`.

    Raises:
        InputError: the text cannot be split into words.
    """
    words = _words(text)
    flags: dict[str, Any] = {}
    environment = {}
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        if word == _MODULE:  # what stands before is meant for Python, and for what runs that
            flags.clear()
        if not word.startswith("--") or len(word) < 3:
            if not flags and (assigned := _ASSIGNMENT.fullmatch(word)):
                environment[assigned[1]] = assigned[2]
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
    return {**flags, ENVIRONMENT: environment} if environment else flags


def arguments_of(text: str) -> tuple[str, ...]:
    """The words that a command line (or a file that holds one) gives to the program that it starts.

    Those after `-m MODULE`; without a module, those from the first flag on. Of several commands
    in a row, the one that starts a module, or else the first that has flags; what a shell takes
    for itself (`>`, `|`, `&`) ends a command.

    Raises:
        InputError: the text cannot be split into words.
    """
    commands: list[list[str]] = [[]]
    for word in _words(text):
        if _SHELL.match(word):
            commands.append([])
        else:
            commands[-1].append(word)
    for command in commands:
        if _MODULE in command[:-1]:
            return tuple(command[command.index(_MODULE) + 2 :])
    for command in commands:
        first = next((i for i, word in enumerate(command) if word.startswith("-")), None)
        if first is not None:
            return tuple(command[first:])
    return ()


def _words(text: str) -> list[str]:
    if _is_file(text):
        text = Path(text).read_text("utf-8", "replace")
    try:
        return shlex.split(text.replace("\\\n", " "), comments=True)
    except ValueError as error:
        raise InputError(
            f"the launch command cannot be read: {error}", "close its quotes", "--launch"
        ) from None


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
