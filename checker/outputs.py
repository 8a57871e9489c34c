"""The files that reports are written to: none over another, none over what is read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from checker.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

_READ = ("train", "serve", "draft", "serve_draft", "train_config", "serve_config", "target",
         "launch", "baseline", "settings")  # fmt: skip


def refuse_overwriting(given: argparse.Namespace, read: Iterable[str | os.PathLike[str]]) -> None:
    """Refuses outputs that would take the place of each other, or of a file that is read.

    What is named twice in one format is written once. A device or a pipe holds any number.

    Args:
        given: the words of a command with ``--output``.
        read: files that are read besides those that the words name.

    Raises:
        InputError: they would.
    """
    named = [getattr(given, option, None) for option in _READ]
    named += [*getattr(given, "contract", ()), *read]
    sources = {place for path in named if path for place in _files(os.fspath(path))}
    taken: dict[str, str] = {}
    for form, path in given.output:
        place = os.path.realpath(path)
        if os.path.lexists(place) and not Path(place).is_file():
            continue
        if place in sources:
            raise InputError("is read by this check", "write the report to another file", path)
        if taken.setdefault(place, form) != form:
            what = f"is to hold two formats, {taken[place]} and {form}"
            raise InputError(what, "give each a file of its own", path)
    given.output = [*dict.fromkeys(given.output)]


def refuse_saving(given: argparse.Namespace, keeps: str) -> None:
    """Refuses, before anything is worked out, a ``--write PATH`` that could not be written.

    Nothing that is read is written over, whatever is said, but what the option `keeps` names: that
    is what the user has so far, and may be mended in its place.

    Raises:
        InputError: it could not.
    """
    path = given.write
    if not path:
        raise InputError("is no name of a file", "name one", "--write")
    if os.path.lexists(path) and not given.force:
        raise InputError("is there already", "give --force to write over it", path)
    named = [getattr(given, option, None) for option in _READ if option != keeps]
    read = [os.fspath(one) for one in (*named, *given.contract) if one]
    try:
        place = os.path.realpath(path)
        if any(place in _files(one) for one in read):
            raise InputError("is read by this check", "write to another file", path)
        there, folder = Path(place).exists(), Path(place).parent
        if Path(place).is_dir():
            raise InputError("is a folder", "name a file in it", path)
        if not folder.is_dir():
            what = "is there and no folder" if folder.exists() else "is not there"
            raise InputError(f"its folder {what}", f"make the folder {folder} first", path)
    except (OSError, ValueError) as error:  # a name that no file can have
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be written: {reason}", "name a file", path) from None
    if not os.access(place if there else folder, os.W_OK):
        raise InputError("cannot be written: Permission denied", "name another file", path)


def _files(path: str) -> Iterable[str]:
    """The file at a path, or those that lie right in its folder."""
    try:
        if Path(path).is_file():
            return [os.path.realpath(path)]
        if Path(path).is_dir():
            return [
                os.path.realpath(file) for file in Path(path).iterdir() if _is_source(file.name)
            ]
    except (OSError, ValueError):
        pass  # a name of something else
    return []


def _is_source(name: str) -> bool:
    return name.endswith((".py", ".safetensors", ".safetensors.index.json")) or name in (
        "config.json",
        "pyproject.toml",
    )
