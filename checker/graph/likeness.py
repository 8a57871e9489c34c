"""How alike two terms are, by the parameters and inputs that they depend on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from checker.graph.terms import encode, postorder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from checker.graph.terms import Shape, Term

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
    _heads: dict[Term, int] = field(default_factory=dict)
    _deeper: dict[Term, int] = field(default_factory=dict)
    _forms: dict[Term, int] = field(default_factory=dict)
    _known_forms: dict[tuple[object, ...], int] = field(default_factory=dict)
    _matrices: dict[Term, int] = field(default_factory=dict)
    _shapes: dict[Shape, int] = field(default_factory=dict)
    _inputs: int = 0
    _unnamed: int = 0
    _partials: dict[Term, list[Term]] = field(default_factory=dict)
    sizes: dict[Term, int] = field(default_factory=dict)

    def learn(self, roots: Iterable[Term]) -> None:
        """Compute the leaf sets of everything below these terms."""
        below: dict[Term, int] = {}
        uses: Counter[Term] = Counter()
        order: dict[Term, int] = {}
        sums: dict[Term, list[Term]] = {}  # by the deepest operand, which few have in common
        parts: dict[Term, frozenset[Term]] = {}
        terms = postorder(*roots)
        for term in terms:
            uses.update(set(term.args))
        for i, term in enumerate(terms):
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
                self._inputs |= bit if term.op == "input" else 0
                if term.attr("loaded") is False:
                    wild |= bit
                    self._unnamed |= bit
                else:
                    leaves |= bit
            below[term] = own
            self._leaves[term], self._wild[term] = leaves, wild
            self._weights[term] = term.op == "param" or (
                term.op in WEIGHT_OPS
                and all(self._weights[arg] for arg in term.args)
                and bool(leaves | wild)
            )
            self._learn_heads(term)
            self._forms[term] = self._form(term)
            self.sizes[term] = own.bit_count()
            for arg in set(term.args):  # a set that nobody asks for again would stay
                uses[arg] -= 1
                if not uses[arg]:
                    del below[arg]
            if term.op in ("add", "mul"):
                mine = parts[term] = frozenset(term.args)
                near = (t for arg in dict.fromkeys(term.args) for t in sums.get(arg, ()))
                flat = [t for t in near if t.op == term.op and parts[t] < mine]
                self._partials[term] = sorted(flat, key=order.__getitem__)
                order[term] = i
                sums.setdefault(max(term.args, key=lambda arg: arg.depth), []).append(term)

    def _learn_heads(self, term: Term) -> None:
        """The parameters applied last (by the term, or by what it is made of), and those before."""
        own, below, before, shapes, other = 0, 0, 0, 0, 0
        for arg in term.args:
            if self._weights[arg]:
                own |= self._leaves[arg] | self._wild[arg]
                shapes |= self._matrix(arg)
            else:
                below |= self._heads[arg]
                before |= self._deeper[arg]
                other |= self._matrices[arg]
        self._heads[term] = own or below
        self._deeper[term] = own | below if own else before
        self._matrices[term] = shapes if own else other

    def _form(self, term: Term) -> int:
        """A number for what the term is, whatever its parameters are called."""
        args = [self._forms[arg] for arg in term.args]
        if term.op in ("add", "mul"):
            args.sort()
        attrs = () if term.op == "param" else term.attrs
        key = (term.op, encode(tuple(attrs)), encode(term.shape), *args)
        return self._known_forms.setdefault(key, len(self._known_forms))

    def closeness(self, a: Term, b: Term) -> float:
        """2 for terms alike but for parameters' names; else by leaves, then by size."""
        if self._forms[a] == self._forms[b]:
            return 2.0
        small, large = sorted((self.sizes[a], self.sizes[b]))
        return self.ratio(a, b) * (0.9 + 0.1 * small / large)

    def _matrix(self, weight: Term) -> int:
        """A bit for the shape of a matrix: what an unloaded one can be recognised by."""
        if weight.rank != 2:
            return 0
        return 1 << self._shapes.setdefault(weight.shape, len(self._shapes))

    def kin(self, a: Term, b: Term) -> bool:
        """Whether both end in one operator with a parameter in common: one is the other, edited.

        Where the operator has no parameter itself, one more may have come between.
        """
        if a.op != b.op:
            return False
        if self._heads[a] & self._heads[b]:
            return True
        if (self._heads[a] | self._heads[b]) & self._unnamed and self._matrices[a] & self._matrices[
            b
        ]:
            return True
        if any(self._weights[arg] for arg in (*a.args, *b.args)):
            return False
        return bool(self._heads[a] & self._deeper[b] or self._deeper[a] & self._heads[b])

    def twins(self, a: Term, b: Term) -> bool:
        """Whether both are one operator over as many operands, made of the very same leaves.

        Of an operator without parameters of its own: what differs below it is no reason to take it
        for another one, even where parameters that no tensor reaches cannot be told by name.
        """
        plain = a.op == b.op and len(a.args) == len(b.args) > 1
        if not plain or any(self._weights[arg] for arg in (*a.args, *b.args)):
            return False
        return a.op == "attention" and self.ratio(a, b) == 1.0

    def kinship(self, a: Term, b: Term) -> float:
        """How surely operands of two sums are each other: by last parameters, then by inputs."""
        if not self.kin(a, b):
            return 0.0
        heads = (self._heads[a], self._heads[b])
        inputs = (self._leaves[a] & self._inputs, self._leaves[b] & self._inputs)
        small, large = sorted((self.sizes[a], self.sizes[b]))
        same = 2.0 if self._forms[a] == self._forms[b] else 0.0
        near = 0.9 + 0.1 * small / large
        return same + (0.2 + _jaccard(*heads)) * (0.5 + _jaccard(*inputs) / 2) * near

    def operands(self, term: Term) -> list[Term]:
        """What the operator is applied to, without its parameters and numbers."""
        return [arg for arg in dict.fromkeys(term.args) if arg.shape and not self._weights[arg]]

    def relation(self, a: Term, b: Term, depth: int = 1) -> float:
        """How surely `a`, or what is below it by operators in a row, is `b`: 4 if it is."""
        for _ in range(depth):
            if a is b:
                return 4.0
            if self.kin(a, b):
                return self.kinship(a, b)
            below = self.operands(a)
            if len(below) != 1:
                break
            a = below[0]
        return 0.0

    def plainness(self, a: Term, b: Term) -> float:
        """How surely two parts are each other: as they are, or by what they are applied to."""
        if a is b:
            return 8.0
        ours, theirs = self.operands(a), self.operands(b)
        below = [0.0]
        if a.op == b.op and len(ours) == len(theirs) == 1:
            below.append(self.kinship(a, b) + self.relation(ours[0], theirs[0]))
        below += [self.relation(a, arg) for arg in theirs if len(theirs) == 1]
        below += [self.relation(arg, b) for arg in ours if len(ours) == 1]
        return max(self.kinship(a, b), *below)

    def share(self, a: Term, b: Term) -> float:
        """How much of the smaller of two leaf sets the other has."""
        ours, theirs = self._leaves[a], self._leaves[b]
        return (ours & theirs).bit_count() / max(1, min(ours.bit_count(), theirs.bit_count()))

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


def _jaccard(a: int, b: int) -> float:
    return (a & b).bit_count() / ((a | b).bit_count() or 1)
