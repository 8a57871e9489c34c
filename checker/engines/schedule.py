"""What each draft pass is given: which token beside which hidden state, and at which position.

A schedule is what driving an engine's draft came to. It counts from the contract's own: in pass t
the pair at slot p has the token that is t places on and a position t further on than in the first
pass. Every position may be moved by one number: rotary embeddings see differences only. What is
compared in the end is the distance between a query and each key before it, those of the prompt and
those of the draft's own earlier passes, which the graphs of both sides hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from checker.interpreter.broadcasting import elementwise
from checker.interpreter.tensors import Tensor, fresh_input, unknown_tensor

if TYPE_CHECKING:
    from checker.interpreter.machine import Machine
    from checker.interpreter.values import Value
    from checker.location import Location


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass of the draft.

    `position`: how far its positions are beyond those of the first pass; `tokens`: the number of
    the step whose tokens it embeds, or what they are otherwise. Either is None where that is not
    known, with the reason. `places`: where positions and tokens come from.
    """

    position: int | None
    tokens: str | None
    reason: str = ""
    places: tuple[Location | None, Location | None] = (None, None)


@dataclass(frozen=True, slots=True)
class Schedule:
    """The passes of a draft, and what was assumed when it was driven."""

    passes: tuple[Pass, ...]
    assumptions: tuple[str, ...] = ()

    def told(self) -> list[Any]:
        """What the passes are given, as plain values without the places."""
        passes = [[step.position, step.tokens, step.reason] for step in self.passes]
        return [passes, [*self.assumptions]]

    def places(self) -> list[Location | None]:
        """Where all of it comes from, in order."""
        return [place for step in self.passes for place in step.places]


def plain(steps: int) -> Schedule:
    """The contract's own schedule."""
    return Schedule(tuple(Pass(step, str(step)) for step in range(steps)))


def unknown(steps: int, reason: str, place: Location | None = None) -> Schedule:
    """A schedule of which nothing is known."""
    return Schedule(tuple(Pass(None, None, reason, (place, place)) for _ in range(steps)))


def natives(schedule: Schedule) -> dict[str, Any]:
    """What stages that run a model make its inputs with."""

    def placed(m: Machine, positions: Tensor, step: Value) -> Value:
        """The positions of a pass, out of those of the first one."""
        found = schedule.passes[step]
        m.builder.here = found.places[0]
        if found.position is None:
            return _unknown(m, found, positions.shape(m), found.places[0])
        if not found.position:
            return positions
        moved = elementwise(m, "add", [positions, found.position])
        if isinstance(moved, Tensor) and found.places[0] is not None:
            m.builder.origins[moved.term(m)] = (found.places[0],)
        return moved

    def paired(m: Machine, step: Value, shape: Value) -> Value:
        """The tokens of a pass."""
        found = schedule.passes[step]
        m.builder.here = found.places[1]
        if found.tokens is None:
            return _unknown(m, found, tuple(shape), found.places[1])
        return fresh_input(m, f"tokens.{found.tokens}", tuple(shape), "int")

    return {"placed": placed, "paired": paired}


def _unknown(m: Machine, found: Pass, shape: tuple[Any, ...], place: Location | None) -> Tensor:
    made = unknown_tensor(m, found.reason, shape, "int")
    if place is not None:
        m.builder.origins[made.term(m)] = (place,)
    return made
