"""A server's launch command, as the flags it sets."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from checker import shell
from checker.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ENVIRONMENT: Final = "environment"
_MODULE: Final = "-m"
_INTERPRETER: Final = re.compile(r"(?:.*/)?(?:python|pypy)[\d.]*t?")
_MOST: Final = 1 << 20
"""Bytes of a file that a line names and that may say more of it."""


@dataclass(frozen=True, slots=True)
class Line:
    """What a launch line starts: a module or a program that is known (`starts`), "" else.

    `arguments` are the words that it is given, `environment` the variables that the line sets.
    """

    starts: str = ""
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


def line_of(text: str, starts: Iterable[str] = ()) -> Line:
    """The command of a line (or of a file that holds one) that starts a server.

    Of several commands in a row it is the first that starts what is named in `starts` (a module
    after `-m`, or the words of a program), else the first with a module, else the first with flags.

    Raises:
        InputError: the text cannot be split into words.
    """
    return _started(text, tuple(starts))[1]


def words_of(text: str, starts: Iterable[str] = ()) -> list[str]:
    """The words of that command, the variables that the script gives it before them.

    Raises:
        InputError: the text cannot be split into words.
    """
    command, _ = _started(text, tuple(starts))
    return [*(f"{name}={value}" for name, value in command.environment.items()), *command.words]


def _started(text: str, starts: tuple[str, ...]) -> tuple[shell.Command, Line]:
    found = [(command, _line(command, starts)) for command in _commands(text)]
    known = [one for one in found if one[1].starts in {*starts}]
    others = [one for one in found if one[1].starts]
    flagged = [one for one in found if one[1].arguments]
    return next(iter([*known, *others, *flagged, *found]), (shell.Command(()), Line()))


def parse_launch(text: str, starts: Iterable[str] = ()) -> dict[str, Any]:
    """Flags of a command line (or of a file that holds one), by their names with underscores.

    A flag without a value is True. Numbers become numbers. Variables that are set before the
    command are kept together, under `environment`.

    Raises:
        InputError: the text cannot be split into words.
    """
    line = line_of(text, starts)
    words, environment = line.arguments, dict(line.environment)
    flags: dict[str, Any] = {}
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
    return {**flags, ENVIRONMENT: environment} if environment else flags


def files_of(text: str, folder: str = "") -> dict[str, str]:
    """The texts of the files that a line's words name, by the word: a server may read more there.

    Args:
        text: the line, or a file that holds one.
        folder: where the line itself was read from; names start there too.

    Raises:
        InputError: the text cannot be split into words.
    """
    words = {word for command in _commands(text) for word in command.words}
    names = sorted(words | {word.partition("=")[2] for word in words} - {""})
    return {name: told for name in names if (told := _text(name, folder)) is not None}


def _text(name: str, folder: str) -> str | None:
    for place in (Path(name), Path(folder, name)):
        try:
            if place.is_file() and place.stat().st_size <= _MOST:
                return place.read_text("utf-8")
        except (OSError, ValueError):
            continue
    return None


def _line(command: shell.Command, starts: tuple[str, ...]) -> Line:
    words, ours = command.words, {*starts}
    for index, word in enumerate(words[:-1]):
        if word == _MODULE and (words[index + 1] in ours or _runs(words[:index])):
            return Line(
                words[index + 1],
                words[index + 2 :],
                {**command.environment, **shell.given_to(words[:index])},
            )
    for name in starts:
        program = name.split()
        for index in range(len(words) - len(program) + 1):
            here = [words[index].rpartition("/")[2], *words[index + 1 : index + len(program)]]
            if here == program and len(program) > 1:
                before = shell.given_to(words[:index])
                rest = words[index + len(program) :]
                return Line(name, rest, {**command.environment, **before})
    if _MODULE in words[:-1]:
        index = words.index(_MODULE)
        before = shell.given_to(words[:index])
        return Line(words[index + 1], words[index + 2 :], {**command.environment, **before})
    first = next((i for i, word in enumerate(words) if word.startswith("-")), len(words))
    return Line("", words[first:], command.environment)


def _runs(words: tuple[str, ...]) -> bool:
    """Whether words end in a Python interpreter, with options of its own or without."""
    return any(_INTERPRETER.fullmatch(word) for word in words)


def _commands(text: str) -> list[shell.Command]:
    if _is_file(text):
        text = Path(text).read_text("utf-8", "replace")
    try:
        found = shell.commands(text)
    except ValueError as error:
        raise InputError(
            f"the launch command cannot be read: {error}", "close its quotes", "--launch"
        ) from None
    alone = next((c.words[0] for c in found[1:] if c.words[0].startswith("--")), None)
    if alone is not None:
        raise InputError(
            f"{alone} begins a command of its own: the line above it, or a comment, ends the launch"
            " command",
            "end every line before the last with a backslash, and move comments out of the command",
            "--launch",
        )
    return found


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
