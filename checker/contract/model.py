"""The contract as values: clauses, the switches that change the architecture, and its wires."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from checker._compat import StrEnum

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class Severity(StrEnum):
    """How much a violation of a clause matters to serving."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Selector:
    """Which differences between two graphs a clause owns; an empty field matches anything."""

    wires: tuple[str, ...] = ()
    aspects: tuple[str, ...] = ()
    operators: tuple[str, ...] = ()

    def matches(self, wire: str, aspect: str, operator: str) -> bool:
        """Whether a difference of this kind is among those selected."""
        return (
            (not self.wires or wire in self.wires)
            and (not self.aspects or aspect in self.aspects)
            and (not self.operators or operator in self.operators)
        )

    @property
    def rank(self) -> tuple[int, bool, bool]:
        """How specific the selector is: by fields given, then an aspect, then an operator."""
        given = (bool(self.wires), bool(self.aspects), bool(self.operators))
        return sum(given), given[1], given[2]


@dataclass(frozen=True, slots=True)
class Probe:
    """Another configuration to try the server under: the switch's list cut to `keep` items.

    Where the server then leaves out the tensor of `wire` on the first step, the clause says so.
    """

    switch: str
    keep: int
    wire: str


@dataclass(frozen=True, slots=True)
class Clause:
    """One checkable statement of the contract, with everything there is to say about it.

    `owns` are the differences between the two graphs that violate it; `facts` are the other things
    it is decided by, for instance what the weight loader drops. `witness`: whether running the
    model files shows a violation. `fixtures`: the names of one for which it holds and of one that
    violates it; only a clause that is not implemented has none.
    """

    id: str
    title: str
    statement: str
    why: str
    effect: str
    remedy: str
    severity: Severity
    implemented: bool
    owns: tuple[Selector, ...]
    facts: tuple[str, ...]
    references: tuple[str, ...]
    probes: tuple[Probe, ...] = ()
    witness: bool = True
    fixtures: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Size:
    """What is to be known of a switch that states a size.

    `symbol` stands for it where shapes are shown, with `times` another switch for their product.
    `small` are numbers to run the architecture with; sizes that are `like` another's share them.
    """

    symbol: str | None = None
    times: str | None = None
    small: tuple[int, ...] = ()
    like: str | None = None


@dataclass(frozen=True, slots=True)
class Switch:
    """A configuration key that changes the architecture.

    `default` is what the plain architecture has; `spellings` are the dotted keys under which each
    engine's configuration format states it, in the order in which they are looked up; `clauses`
    own the consequences, the first one when nothing more is known.
    """

    name: str
    type: str
    default: Any
    summary: str
    clauses: tuple[str, ...]
    spellings: Mapping[str, tuple[str, ...]]
    references: tuple[str, ...] = ()
    size: Size | None = None


@dataclass(frozen=True, slots=True)
class Format:
    """A format of drafts' configurations, and what tells it.

    `has`, `any` and `lacks` are dotted keys: all, at least one and none of which stand there;
    `architecture` and `other` are patterns that an architecture named fits, or none does.
    """

    id: str
    title: str
    about: str
    has: tuple[str, ...] = ()
    any: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    architecture: str | None = None
    other: str | None = None


@dataclass(frozen=True, slots=True)
class Exploration:
    """What is tried where no configuration is given.

    `target` is a target's configuration; `draft` switches of an ordinary draft for it, where a
    trainer's defaults say nothing; `settings` switches that are set together, None to take one out.
    `layer_ids` is the switch whose items are boundaries here and layer ids in configurations; its
    values, `boundaries` in an ordinary draft and `other_boundaries` besides, are expressions over
    `layers`, the number of the target's. `matrix` are named settings of the plain draft.
    """

    layer_ids: str
    target: Mapping[str, Any]
    draft: Mapping[str, Any]
    settings: tuple[Mapping[str, Any], ...]
    boundaries: str
    other_boundaries: tuple[str, ...]
    matrix: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Contract:
    """A whole contract: what both implementations of one algorithm have to compute."""

    algorithm: str
    clauses: Mapping[str, Clause]
    switches: Mapping[str, Switch]
    wires: Mapping[str, Any]
    formats: tuple[Format, ...] = ()

    @property
    def roles(self) -> Mapping[str, str]:
        """The switches and keys that the program itself has to know, by what they are to it."""
        found: Mapping[str, str] = self.wires["roles"]
        return found

    @property
    def target(self) -> Mapping[str, str]:
        """The keys under which configurations of targets state what is asked of them."""
        found: Mapping[str, str] = self.wires["target"]
        return found

    def owner(self, wire: str, aspect: str, operator: str) -> Clause | None:
        """The clause that such a difference violates: the most specific selector decides."""
        best: tuple[tuple[int, bool, bool], Clause] | None = None
        for clause, selector in self._selectors():
            if selector.matches(wire, aspect, operator) and (
                best is None or selector.rank > best[0]
            ):
                best = (selector.rank, clause)
        return None if best is None else best[1]

    def fact_owner(self, fact: str) -> Clause | None:
        """The clause that is decided by this fact."""
        return next((item for item in self.clauses.values() if fact in item.facts), None)

    def _selectors(self) -> Iterator[tuple[Clause, Selector]]:
        for clause in self.clauses.values():
            for selector in clause.owns:
                yield clause, selector
