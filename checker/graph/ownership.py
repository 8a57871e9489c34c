"""Which wire a change belongs to: where the changed term stands, or by which name it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.graph.matching import IDENTICAL, Change, Kind, Match, Move, Pair
from checker.graph.terms import holder, postorder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from checker.graph.labels import Labels, Wire
    from checker.graph.terms import Term

Edge = tuple["Term | None", "Term"]


class Trace:
    """The part of an alignment that was chosen: visited pairs, and the uses that lead to them.

    A use is an edge (user, used) of the train graph; the user of an output is None.
    """

    def __init__(self, matches: Mapping[Pair, Match], roots: Sequence[Pair]) -> None:
        self.uses: dict[Pair, dict[Edge, None]] = {}
        self.changes: dict[Change, list[Pair]] = {}
        self.compared: set[Term] = set()
        self.clean: set[Term] = set()
        self._at: dict[Edge, Pair] = {}
        self._kept: set[Term] = set()
        identical: list[Term] = []
        for root in roots:
            self.uses.setdefault(root, {})[None, root[0]] = None
        for pair in _topological(matches, roots):
            match = _match(matches, pair)
            for edge in self.uses[pair]:
                self._at.setdefault(edge, pair)
            if pair[0] is pair[1]:
                identical.append(pair[0])
            if match.move is not Move.STOP:
                self.compared.add(pair[0])
            if match.move in (Move.SAME, Move.STOP):
                self._kept.add(pair[0])
                if not match.changes:
                    self.clean.add(pair[0])
            for change in match.changes:
                self.changes.setdefault(change, []).append(pair)
            for below in match.below:
                inherited: dict[Edge, None] = (
                    self.uses[pair]
                    if match.move is Move.WITHOUT_SERVE
                    else {(holder(pair[0], below[0]), below[0]): None}
                )
                self.uses.setdefault(below, {}).update(inherited)
        alike = postorder(*identical)
        self.clean.update(alike)
        self.edges: dict[Edge, None] = dict.fromkeys(e for used in self.uses.values() for e in used)
        self.edges.update(((user, used), None) for user in alike for used in user.args)
        self.compared.update(alike)
        self._kept.update(alike)
        self._users: dict[Term, list[tuple[int, Term]]] = {}
        for place, (user, used) in enumerate(self._at):
            if user is not None:
                self._users.setdefault(used, []).append((place, user))

    def kept(self, term: Term) -> bool:
        """Whether a term that is missing for one use is there for another."""
        return term in self._kept

    def at(self, edge: Edge) -> Pair | None:
        """The pair that a use was aligned as."""
        return self._at.get(edge)

    def users(self, term: Term) -> list[Term]:
        """The train terms that lead to this one, nearest first."""
        result: dict[Term, None] = {}
        frontier = [term]
        while frontier:
            found = sorted(
                (user for used in frontier for user in self._users.get(used, ())),
                key=lambda user: user[0],
            )
            frontier = [u for u in dict.fromkeys(term for _, term in found) if u not in result]
            result.update(dict.fromkeys(frontier))
        return list(result)

    def partners(self, labels: Labels) -> dict[Wire, Term | None]:
        """The serve terms that stand in the places of wires, found in one pass."""
        by_use: dict[Wire, Term] = {}
        for edge, names in labels.edges.items():
            if edge in self._at:
                for name in names:
                    by_use.setdefault(name, self._at[edge][1])
        by_term: dict[Term, Term] = {}
        for train, serve in self.uses:
            by_term.setdefault(train, serve)
        found: dict[Wire, Term | None] = {}
        for wire, term in labels.terms.items():
            partner = by_use.get(wire, by_term.get(term))
            found[wire] = term if partner is None and term in self._kept else partner
        return found


class Owners:
    """Answers which wire owns a change."""

    def __init__(self, trace: Trace, labels: Labels) -> None:
        self._trace = trace
        self._labels = labels
        self._carrying: dict[Wire, set[Edge]] = {}
        for edge in trace.edges:
            for name in self._names(edge):
                self._carrying.setdefault(name, set()).add(edge)

    def of(self, change: Change, pairs: Sequence[Pair]) -> Wire | None:
        """The owner of a change that was made at these pairs."""
        uses = list(dict.fromkeys(edge for pair in pairs for edge in self._trace.uses[pair]))
        train = change.train
        if (change.parent or train) in self._trace.clean and change.kind not in (
            Kind.MISSING,
            Kind.EXTRA,
        ):
            return self._by_use(uses)
        if change.parent is not None:
            if change.parent in self._trace.clean:
                used = self._by_use(uses)
                if used != self._labels.nodes.get(change.parent):
                    return used
            steps = change.parent.op == "attention"
            if change.kind is Kind.MISSING and change.aspect == "operand" and train and not steps:
                return self._by_use([(change.parent, train)])
            return self._standing(self._whole(change, change.parent, uses))
        match change.kind:
            case Kind.EXTRA:
                return self._same_weight(change.serve, uses) or self._by_use(uses)
            case Kind.REPLACED | Kind.UNKNOWN if change.aspect != "operator":
                return self._by_use(uses)
            case Kind.MISSING if train is not None and self._trace.kept(train):
                return self._by_use(uses)
        if train is None:
            return self._by_use(uses)
        if change.kind is Kind.MISSING:
            return self._standing(train)
        if train.op == "input":
            return self._standing(train)
        if not train.args and train.op != "inv_freq":
            return self._by_use(uses)
        if change.kind in (Kind.PARAMETER, Kind.SHAPE) and train not in self._labels.nodes:
            return self._by_use(uses)
        return self._standing(train)

    def _whole(self, change: Change, parent: Term, uses: Sequence[Edge]) -> Term:
        """The sum that an operand too many is in: a longer one, if only as its part is it met."""
        users = [user for user, _ in uses]
        if change.kind is Kind.EXTRA and parent.op == "add":
            longer = [user for user in users if user is not None and user.op == "add"]
            if longer and len(longer) == len(users):
                return longer[0]
        return parent

    def inside(self, parent: Term, operand: Term) -> Wire | None:
        """The innermost wire by whose name an operand is used, or in which it stands."""
        names = self._labels.edges.get((parent, operand))
        return names[-1] if names else self._labels.nodes.get(operand)

    def _standing(self, term: Term) -> Wire | None:
        """The wire that defines a term, or the nearest term that uses it."""
        for candidate in (term, *self._trace.users(term)):
            wire = self._labels.nodes.get(candidate)
            if wire is not None:
                return wire
        return None

    def _by_use(self, uses: Sequence[Edge]) -> Wire | None:
        """The wire that is changed, given which uses of a value are.

        A value has many names: `residual` is `fused`, which is the last step's `feedback`. Of the
        names all of whose uses are changed, the outermost says where, but one of an earlier step
        comes first: there the value was handed on. If some uses of every name are unchanged, it is
        the wire that makes another use of it; an operand of a sum is no use of its own, and there
        the outermost name that the changed uses share tells them apart.
        """
        shared = [
            name
            for name in self._names(uses[0])
            if all(name in self._names(edge) for edge in uses[1:])
        ]
        changed = set(uses)
        whole = [name for name in shared if self._carrying.get(name, set()) <= changed]
        if whole:
            return min(whole, key=lambda name: name.step)
        users = [user for user, _ in uses if user is not None and user.op not in ("add", "mul")]
        using = {self._labels.nodes.get(user) for user in users}
        if shared and len(users) == len(uses) and len(using) == 1:
            return using.pop() or shared[0]
        if shared:
            return shared[0]
        names = self._names(uses[0])
        if names:
            return names[0]
        user, used = uses[0]
        return self._standing(used if user is None else user)

    def _same_weight(self, extra: Term | None, uses: Sequence[Edge]) -> Wire | None:
        """A wire by whose name the value is used, and which elsewhere applies the extra weight."""
        weights = {arg for arg in (extra.args if extra else ()) if arg.op == "param"}
        defining = {self._labels.nodes[w].name for w in weights if w in self._labels.nodes}
        return next((name for name in self._names(uses[0]) if name.name in defining), None)

    def _names(self, edge: Edge) -> tuple[Wire, ...]:
        user, used = edge
        if user is None:
            return self._labels.roots.get(used, ())
        return self._labels.edges.get((user, used), ())


def _match(matches: Mapping[Pair, Match], pair: Pair) -> Match:
    return IDENTICAL if pair[0] is pair[1] else matches[pair]


def _topological(matches: Mapping[Pair, Match], roots: Sequence[Pair]) -> list[Pair]:
    """Every pair of the chosen alignment, users before what they use."""
    seen: set[Pair] = set()
    order: list[Pair] = []
    stack: list[tuple[Pair, bool]] = [(root, False) for root in roots]
    while stack:
        pair, ready = stack.pop()
        if ready:
            order.append(pair)
        elif pair not in seen:
            seen.add(pair)
            stack.append((pair, True))
            stack.extend((below, False) for below in reversed(_match(matches, pair).below))
    return order[::-1]
