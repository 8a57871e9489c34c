"""Who tells the target what to hand over, with which ids, and what captured graphs hand over.

An engine's `order` stage follows the server's set-up. It notes, in their order, the calls that tell
the target its ids and the capturing of graphs: a graph replays what the target was told when it was
captured, other passes obey what it was told last.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from checker.engines.stages import machine_for, run_stage, stage_module
from checker.graph.terms import Pool
from checker.interpreter.values import Raised, Stuck, Unknown
from checker.location import Location
from checker.syntax import UnparsableModule

if TYPE_CHECKING:
    from checker.engines.description import Stage
    from checker.engines.stages import Inputs, Subject
    from checker.interpreter.machine import Decision, Machine

Ids = tuple[int, ...] | None
_MOST = 12
_NO_GRAPHS = "where graphs are captured could not be followed"
"""Also what a way ends in that captures none; it says nothing where another one does."""


@dataclass(frozen=True, slots=True)
class Told:
    """What the target is told.

    `is_told`: whether it is told at all. `ids`: what it is told last (None: its default). `graphs`:
    what it had been told when graphs were captured, where that is something else, and `graph_place`
    where it was. `read`: where the ids are read. `reason`: why it could not be followed.
    """

    is_told: bool = False
    ids: Ids = None
    place: Location | None = None
    differs: bool = False
    graphs: Ids = None
    graph_place: Location | None = None
    reason: str = ""
    stopped: Location | None = None
    read: Location | None = None

    @property
    def answer(self) -> tuple[object, ...]:
        """What is told, without the places."""
        return self.is_told, self.ids, self.differs, self.graphs, self.reason


def telling(subject: Subject, inputs: Inputs) -> Told | None:
    """Follows the set-up, with each condition that nothing decides answered both ways.

    None where nothing says how to follow it.
    """
    stage = subject.engine.order
    if stage is None:
        return None
    ways: list[Told] = []
    pending: list[tuple[bool, ...]] = [()]
    first: list[Decision] = []
    for script in pending:
        found, decisions = _one_way(subject, stage, inputs, script)
        if os.environ.get("EAGLE3_CHECK_DEBUG"):
            sys.stderr.write(f"told {script}: {found} {[d.text for d in decisions]}\n")
        if found.reason not in ("", _NO_GRAPHS):
            return found
        if not ways:
            first = decisions
            if len(decisions) > _MOST:
                return _undecided(decisions[0])
            pending += [(*(True,) * index, False) for index in range(len(decisions))]
        ways.append(found)
        counted = [way for way in ways if not way.reason] or ways
        alike = all((way.is_told, way.ids) == (found.is_told, found.ids) for way in ways)
        if not alike or any(way.answer != counted[0].answer for way in counted):
            return _undecided(first[len(script) - 1])
    return next((way for way in ways if not way.reason), ways[0])


def _undecided(decision: Decision) -> Told:
    text = decision.text.removeprefix("fact: ")
    return Told(
        reason=f"depends on a condition that nothing decides: {text}", stopped=decision.location
    )


def _one_way(
    subject: Subject, stage: Stage, inputs: Inputs, script: tuple[bool, ...]
) -> tuple[Told, list[Decision]]:
    m = machine_for(subject, Pool(), inputs, script)
    m.eager_packages.clear()  # setting up fills no registries
    module = stage_module(m, subject.engine, inputs)
    try:
        run_stage(m, module, stage)
    except Raised as raised:
        reason = f"{raised.type_name}: {raised.message}"
        return Told(reason=reason, stopped=raised.location), m.decisions
    except Stuck as stuck:
        return Told(reason=stuck.reason, stopped=stuck.location), m.decisions
    except (UnparsableModule, RecursionError) as error:
        return Told(reason=str(error) or "it nests too deeply"), m.decisions
    found = _read(module.scope.names.get("events"))
    config = module.scope.names.get("draft_config")
    return replace(found, read=_read_at(m, config, found.ids)), m.decisions


def _read_at(m: Machine, config: Any, ids: Ids) -> Location | None:
    """Where the key was read that states the ids."""
    for read in reversed(m.reads):
        value: Any = config
        for part in (*filter(None, read.place.split(".")), read.key):
            value = value.get(part) if isinstance(value, dict) else None
        if ids is not None and isinstance(value, list) and tuple(value) == ids:
            return read.location
    return None


def _read(events: Any) -> Told:
    """What the events come to."""
    last: tuple[Ids, Location | None] | None = None
    captured: list[tuple[Ids, Location | None] | None] = []
    without = False
    for kind, given, where in events:
        if kind == "without":  # there are no graphs
            without = True
            continue
        if kind == "captured":
            captured.append(last)
            continue
        place = Location(*where) if where is not None else None
        if isinstance(given, Unknown):
            return Told(reason=given.reason, stopped=given.location or place)
        if given is not None and not (
            isinstance(given, (list, tuple)) and all(isinstance(i, int) for i in given)
        ):
            return Told(
                reason="the ids that the target is told are no list of numbers", stopped=place
            )
        last = (None if given is None else tuple(given), place)
    if last is None:
        return Told()
    if not captured and not without:
        return Told(True, *last, reason=_NO_GRAPHS)
    ids, place = last
    others = dict.fromkeys(c for c in captured if c is None or c[0] != ids)
    if None in others:
        return Told(
            True, ids, place, reason="graphs are captured before the target is told anything"
        )
    if len({other[0] for other in others if other is not None}) > 1:
        return Told(True, ids, place, reason="graphs are captured with several lists of ids")
    first = next(iter(others), None)
    if first is None:
        return Told(True, ids, place)
    return Told(True, ids, place, True, first[0], first[1])


__all__ = ["Told", "telling"]
