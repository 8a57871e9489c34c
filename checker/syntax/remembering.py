"""What was found out of nodes of syntax, once for all who ask: nobody changes a node.

An answer holds the node it is about, and that the syntax of its file. So whoever goes through many
releases forgets the answers together with each.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

_Asked = TypeVar("_Asked", bound="Callable[..., Any]")
_remembering: list[functools._lru_cache_wrapper[Any]] = []


def remembered(most: int | None = None) -> Callable[[_Asked], _Asked]:
    """A function of nodes that is worked out once for each, until `forget`.

    Args:
        most: so many answers are kept at once; all of them by default.
    """

    def remembering(function: _Asked) -> _Asked:
        found = functools.lru_cache(most)(function)
        _remembering.append(found)
        return cast("_Asked", found)

    return remembering


def forget() -> None:
    """Drops all answers, and with them the syntax that nobody else holds."""
    for known in _remembering:
        known.cache_clear()


def held() -> int:
    """How many answers there are."""
    return sum(known.cache_info().currsize for known in _remembering)
