"""Which wire of the architecture a term, or one use of a term, belongs to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checker.graph.terms import Term


@dataclass(frozen=True, slots=True, order=True)
class Wire:
    """A named intermediate value, in one step and (for what decoder layers repeat) one layer."""

    name: str
    step: int
    layer: int = -1
    """-1 for a wire outside the decoder layers."""

    def __str__(self) -> str:
        place = f"{self.name}.{self.step}"
        return place if self.layer < 0 else f"{place}.{self.layer}"


@dataclass(slots=True)
class Labels:
    """Side tables over terms; they take no part in equality.

    `nodes`: the wire in whose definition a term stands. `edges`: the wires by whose names a term is
    used by another, outermost alias first. `roots`: the same for the outputs. `terms`: each wire's
    value.
    """

    nodes: dict[Term, Wire] = field(default_factory=dict)
    edges: dict[tuple[Term, Term], tuple[Wire, ...]] = field(default_factory=dict)
    roots: dict[Term, tuple[Wire, ...]] = field(default_factory=dict)
    terms: dict[Wire, Term] = field(default_factory=dict)
