"""How alike two terms are, by the parameters and inputs that they depend on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from checker.graph.terms import postorder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from checker.graph.terms import Term

WEIGHT_OPS: Final = frozenset(("param", "slice", "permute", "concat", "select", "expand", "full"))


@dataclass(slots=True)
class Likeness:
    """Leaf sets as bit masks, computed once for all terms below the roots.

    An unloaded parameter has no name to compare; each may stand for one parameter that the other
    side has and this one lacks.
    """

    _names: dict[tuple[str, str], int] = field(default_factory=dict)
    _leaves: dict[Term, int] = field(default_factory=dict)
    _wild: dict[Term, int] = field(default_factory=dict)
    _weights: dict[Term, bool] = field(default_factory=dict)
    _partials: dict[Term, list[Term]] = field(default_factory=dict)
    sizes: dict[Term, int] = field(default_factory=dict)

    def learn(self, roots: Iterable[Term]) -> None:
        """Compute the leaf sets of everything below these terms."""
        below: dict[Term, int] = {}
        sums: list[Term] = []
        for i, term in enumerate(postorder(*roots)):
            own = 1 << i
            leaves, wild = 0, 0
            for arg in term.args:
                leaves |= self._leaves[arg]
                wild |= self._wild[arg]
                own |= below[arg]
            if term.op in ("param", "input"):
                bit = 1 << self._names.setdefault(
                    (term.op, str(term.attr("name"))), len(self._names)
                )
                if term.attr("loaded") is False:
                    wild |= bit
                else:
                    leaves |= bit
            below[term] = own
            self._leaves[term], self._wild[term] = leaves, wild
            self._weights[term] = term.op == "param" or (
                term.op in WEIGHT_OPS
                and all(self._weights[arg] for arg in term.args)
                and bool(leaves | wild)
            )
            self.sizes[term] = own.bit_count()
            if term.op in ("add", "mul"):
                flat = [t for t in sums if t.op == term.op and set(t.args) < set(term.args)]
                self._partials[term] = flat
                sums.append(term)

    def partials(self, term: Term) -> list[Term]:
        """The terms of the same operator in the same graph that have some of its operands."""
        return self._partials.get(term, [])

    def weight(self, term: Term) -> bool:
        """Whether the term is a parameter or a piece or arrangement of parameters."""
        return self._weights[term]

    def unloaded(self, term: Term) -> bool:
        """Whether the term is made of parameters that no tensor reaches."""
        return self._weights[term] and not self._leaves[term] and bool(self._wild[term])

    def ratio(self, a: Term, b: Term) -> float:
        """1 if both depend on the same leaves, 0 if on none in common."""
        ours, theirs = self._leaves[a], self._leaves[b]
        shared = (ours & theirs).bit_count()
        only_ours, only_theirs = (ours & ~theirs).bit_count(), (theirs & ~ours).bit_count()
        stands_for = min(self._wild[b].bit_count(), only_ours)
        stands_for += min(self._wild[a].bit_count(), only_theirs)
        total = shared + only_ours + only_theirs
        return (shared + stands_for) / total if total else 1.0
