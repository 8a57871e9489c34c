"""Functions whose results are kept: who calls one again gets the same object.

What cannot be changed may as well be worked out anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.interpreter import equality, havoc
from checker.interpreter.looks import STORE
from checker.interpreter.values import Raised, Stuck, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from checker.interpreter.machine import Machine
    from checker.interpreter.values import Function

CACHED = "cache_info"
"""The attribute by which such a function is known."""
_NAME = "cached"


def call(
    m: Machine,
    function: Function,
    args: list[Value],
    kwargs: dict[str, Value],
    work: Callable[[], Value],
) -> Value:
    """What a function gives that keeps its results."""
    try:
        key = (function, equality.as_key(m, (tuple(args), tuple(kwargs.items()))))
    except (Raised, Stuck):
        m.check_budget()
        return work()
    store: dict[Value, Value] = m.shared.setdefault((STORE, _NAME), {})
    if key not in store:
        found = work()
        if not havoc.may_change(found):
            return found
        m.changes(store)
        store[key] = found
    if m.settled is not None:
        m.settled.reads_store(m, _NAME, store)
    return store[key]


__all__ = ["CACHED", "call"]
