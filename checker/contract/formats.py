"""Which format a draft's configuration is written in, told from its content."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from checker.contract.model import Format


def format_of(config: Mapping[str, Any], formats: Iterable[Format], classes: str) -> Format | None:
    """The first format whose conditions a configuration meets; it names its `classes` so."""
    return next((found for found in formats if _fits(config, found, classes)), None)


def _fits(config: Mapping[str, Any], found: Format, classes: str) -> bool:
    named = config.get(classes)
    names = [n for n in named if isinstance(n, str)] if isinstance(named, list) else []
    return (
        all(_states(config, key) for key in found.has)
        and (not found.any or any(_states(config, key) for key in found.any))
        and not any(_states(config, key) for key in found.lacks)
        and (not found.architecture or any(fnmatchcase(n, found.architecture) for n in names))
        and not (found.other and any(fnmatchcase(n, found.other) for n in names))
    )


def _states(config: Mapping[str, Any], place: str) -> bool:
    """Whether a dotted key stands in a configuration, with whatever value."""
    node: Any = config
    for part in place.split("."):
        if not isinstance(node, dict) or part not in node:
            return False
        node = node[part]
    return True
