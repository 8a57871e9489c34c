"""What the evaluation of a definition looks at: whether it comes out the same in every run."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from checker.interpreter.machine import Machine
    from checker.interpreter.settled import Settled
    from checker.interpreter.values import ModuleValue, Value
    from checker.location import Location


@dataclass(slots=True, eq=False)
class Account:
    """The evaluation of one definition that is going on.

    `needs`: names that were looked up, and what they were. `summaries`: those that were used, but
    for the one that is evaluated (`own`), which itself binds the names `binds`. `settings`: facts
    of the deployment, `stores`: names of what summaries keep for each other in a run. `spoiled`: it
    has looked at what may be another thing in another run, or changed something that was settled.
    """

    own: int | None = None
    binds: frozenset[str] = frozenset()
    needs: dict[tuple[ModuleValue, str], Value] = field(default_factory=dict)
    summaries: dict[int, Settled] = field(default_factory=dict)
    settings: dict[str, Value] = field(default_factory=dict)
    stores: set[str] = field(default_factory=set)
    spoiled: bool = False
    pins: dict[str, None] = field(default_factory=dict)
    assumptions: dict[str, None] = field(default_factory=dict)
    doubts: dict[str, Location | None] = field(default_factory=dict)


@contextmanager
def accounting(m: Machine, account: Account | None) -> Iterator[None]:
    """Notes what an evaluation looks at; without an account, the one around it is spoiled.

    So it is by what is raised: what comes of that is up to who catches it.
    """
    outer, asked = m.account, m.asked
    pins, assumptions, doubts = m.pins, m.assumptions, m.doubts
    m.account = account
    if account is not None:
        m.pins, m.assumptions, m.doubts = account.pins, account.assumptions, account.doubts
    ended = False
    try:
        yield
        ended = True
    finally:
        if outer is not None and (account is None or not ended):
            outer.spoiled = True
        if account is not None:
            account.spoiled = account.spoiled or m.asked > asked
            pins.update(account.pins)
            assumptions.update(account.assumptions)
            for reason, place in account.doubts.items():
                doubts.setdefault(reason, place)
        m.account, m.asked = outer, asked
        m.pins, m.assumptions, m.doubts = pins, assumptions, doubts


__all__ = ["Account", "accounting"]
