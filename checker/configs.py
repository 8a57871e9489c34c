"""Reading the configuration files a user names; whatever is wrong with one is said in one line."""

from __future__ import annotations

import codecs
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from checker.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_BYTES = 16 * 1024 * 1024
"""No model's config.json comes near this; a weight file given by mistake is far beyond it."""


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A configuration as it was given: its path, its bytes and the object in it."""

    path: str
    raw: bytes
    data: Mapping[str, Any]


def read_config(given: str) -> ConfigFile:
    """Reads a JSON configuration: a file, or a folder with a ``config.json`` in it.

    Raises:
        InputError: there is no such file, or what is in it is no JSON object.
    """
    path = Path(given)
    if os.path.isdir(given):  # noqa: PTH112 - a name that no file can have is no folder either
        path /= "config.json"
    raw = _read(path)
    return ConfigFile(str(path), raw, parse_object(raw, str(path)))


def parse_object(raw: bytes, place: str) -> dict[str, Any]:
    """The JSON object in these bytes; `place` is what errors call them."""
    if raw.startswith(codecs.BOM_UTF8):  # which the libraries that load configurations refuse
        _unusable(place, "begins with a byte order mark", "save it as UTF-8 without one")
    try:
        data = json.loads(raw.decode(), object_pairs_hook=_unique_keys)
    except UnicodeDecodeError as error:
        _unusable(place, f"is not UTF-8 text (byte {error.start})", "give a JSON file")
    except json.JSONDecodeError as error:
        where = f"{place}:{error.lineno}:{error.colno}"
        _unusable(where, f"is not valid JSON: {error.msg}", "mend the file at this place")
    except RecursionError:
        _unusable(place, "is nested too deeply", "give a model's config.json")
    except _DuplicateKeyError as error:
        _unusable(place, f"has the key {error.key!r} twice in one object", "keep one of the two")
    except ValueError as error:  # a number with more digits than Python converts
        _unusable(place, f"cannot be read: {error}", "give a model's config.json")
    if not isinstance(data, dict):
        _unusable(place, f"holds {_kind(data)}, not an object", "give a model's config.json")
    return data


class _DuplicateKeyError(Exception):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _DuplicateKeyError(key)
            seen.add(key)
    return result


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        _unusable(str(path), "no such file", "give the path of a config.json or its folder")
    except (OSError, ValueError) as error:  # a NUL in the name is a ValueError
        reason = getattr(error, "strerror", None) or str(error)
        _unusable(str(path), f"cannot be read: {reason}", "give a readable config.json")
    if len(raw) > MAX_BYTES:
        _unusable(str(path), f"is larger than {MAX_BYTES >> 20} MiB", "give a model's config.json")
    return raw


def _unusable(place: str, message: str, remedy: str) -> NoReturn:
    raise InputError(message, remedy, place) from None


def _kind(data: object) -> str:
    names = {list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(data), "a number")
