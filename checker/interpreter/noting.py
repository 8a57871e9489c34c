"""Configurations that note what a run has looked at in them.

What a run gives depends on nothing else of a configuration: another one that says the same there,
however it differs elsewhere, would give the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from checker.interpreter.values import ConfigDict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

Path: TypeAlias = tuple[str, ...]
Looks: TypeAlias = "list[list[Any]]"
"""What was looked at, as JSON: how, where, and what was there."""

_KEY, _ANY, _WHOLE = "key", "any", "whole"


@dataclass(slots=True)
class Noting:
    """One configuration, and what was asked of it.

    `looks` are (how, path): a `key` that may or may not be there and whether it is an object, `any`
    for whether an object has keys, `whole` for all that is in an object: it was walked over,
    changed, or handed to something that does as it likes with it.
    """

    given: Mapping[str, Any]
    looks: set[tuple[str, Path]] = field(default_factory=set)

    def told(self) -> Looks:
        """What was looked at, and what was there."""
        return told(self.given, self.looks)


def told(given: Mapping[str, Any], looks: Iterable[tuple[str, Path]]) -> Looks:
    """What a configuration says where it is looked at."""
    return [[how, [*path], _seen(given, how, path)] for how, path in sorted(looks)]


def says_the_same(given: Mapping[str, Any], before: Looks) -> bool:
    """Whether a configuration says what another one said where that was looked at."""
    return told(given, [(how, tuple(path)) for how, path, _ in before]) == before


def _seen(given: Any, how: str, path: Path) -> Any:
    """What is there: a list of one, empty where there is nothing."""
    for key in path:
        if not isinstance(given, dict) or key not in given:
            return []
        given = given[key]
    if how == _ANY:
        return [bool(given)]
    return [{}] if how == _KEY and isinstance(given, dict) else [given]


class _Notes:
    """Every way into a dictionary is noted: by a key, or as a whole."""

    noting: Noting
    path: Path

    def note(self, noting: Noting, path: Path) -> None:
        """Begins to note."""
        self.noting, self.path = noting, path

    def _look(self, key: object) -> None:
        if isinstance(key, str):
            self.noting.looks.add((_KEY, (*self.path, key)))

    def __getitem__(self, key: Any) -> Any:
        self._look(key)
        return super().__getitem__(key)  # type: ignore[misc] # a dictionary comes after it

    def __contains__(self, key: object) -> bool:
        self._look(key)
        return bool(super().__contains__(key))  # type: ignore[misc]

    def get(self, key: Any, default: Any = None) -> Any:
        self._look(key)
        return super().get(key, default)  # type: ignore[misc]

    def __bool__(self) -> bool:
        self.noting.looks.add((_ANY, self.path))
        return dict.__len__(self) > 0  # type: ignore[arg-type]


def _whole(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        self.noting.looks.add((_WHOLE, self.path))
        return getattr(dict, name)(self, *args, **kwargs)

    return method


for _name in (
    *("__iter__", "__len__", "__reversed__", "__eq__", "__ne__", "__repr__", "__reduce_ex__"),
    *("__setitem__", "__delitem__", "__or__", "__ror__", "__ior__"),
    *("keys", "values", "items", "copy", "pop", "popitem", "setdefault", "update", "clear"),
):
    setattr(_Notes, _name, _whole(_name))


class _NotedConfig(_Notes, ConfigDict):
    """The objects that stages are given."""

    __hash__ = None  # type: ignore[assignment]


class _NotedDict(_Notes, dict[str, Any]):
    """The same data as summaries may ask for them."""

    __hash__ = None


def noted_config(config: ConfigDict, noting: Noting, path: Path = ()) -> ConfigDict:
    """A configuration, with the objects that are values in it, noting what is asked of them."""
    items = {
        key: noted_config(value, noting, (*path, key)) if isinstance(value, ConfigDict) else value
        for key, value in config.items()
    }
    made = _NotedConfig(items, config.place)
    made.note(noting, path)
    return made


def noted_dict(data: Mapping[str, Any], noting: Noting, path: Path = ()) -> dict[str, Any]:
    """The same of plain data."""
    made = _NotedDict(
        {
            key: noted_dict(value, noting, (*path, key)) if isinstance(value, dict) else value
            for key, value in data.items()
        }
    )
    made.note(noting, path)
    return made
