"""What the server computes differently: a small set of edits, each owned by one wire."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from checker.graph.alignment import Aligner
from checker.graph.likeness import Likeness
from checker.graph.matching import Change, Kind, Pair
from checker.graph.ownership import Owners, Trace
from checker.graph.terms import postorder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from checker.graph.labels import Labels, Wire
    from checker.graph.terms import Term

BUDGET: Final = 40_000
"""Pairs of terms that are compared at most; two graphs of 150 terms need fewer than half."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One difference. `train` and `serve` are the terms to show; one of them may be missing.

    `aspect`: the attribute that differs, or "operator", "operand", "layer" (all operands of one
    layer), "order", "source", "bias", "parameter", "shape", "unknown".
    """

    kind: Kind
    wire: str
    step: int | None
    layer: int | None
    aspect: str
    operator: str
    train: Term | None
    serve: Term | None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """All edits, and what was found on the way.

    `aligned`: for every wire the train term and what it was compared with (None if nothing).
    `hidden`: wires that an unknown term hides. `uncompared`: wires below something missing or
    replaced. `pairs`: train parameters, and the unloaded serve parameters that stand in their
    place. `exhausted`: the budget ended, and what was not looked at is reported as replaced.
    """

    edits: tuple[Edit, ...]
    aligned: Mapping[Wire, tuple[Term, Term | None]]
    hidden: tuple[Wire, ...]
    uncompared: tuple[Wire, ...]
    pairs: tuple[tuple[Term, Term], ...]
    exhausted: bool


def difference(
    train: Sequence[Term], serve: Sequence[Term], labels: Labels, *, budget: int = BUDGET
) -> Difference:
    """Align the outputs, given in the same order on both sides, and report each difference once.

    Raises:
        ValueError: the two sides have different numbers of outputs.
    """
    likeness = Likeness()
    likeness.learn(train)
    likeness.learn(serve)
    aligner = Aligner(likeness, budget)
    roots: list[Pair] = list(zip(train, serve, strict=True))
    for pair in roots:
        aligner.align(*pair)
    trace = Trace(aligner.matches, roots)
    owners = Owners(trace, labels)
    edits: dict[Edit, None] = {}
    stand_ins: dict[Pair, None] = {}
    for change, pairs in trace.changes.items():
        if change.aspect == "unloaded":
            if change.train is not None and change.serve is not None:
                stand_ins[change.train, change.serve] = None
        else:
            edits[_edit(change, owners.of(change, pairs))] = None
    hidden, uncompared = _unseen(trace, labels, train)
    partners = trace.partners(labels)
    return Difference(
        edits=tuple(_one_per_layer(tuple(edits), trace, owners)),
        aligned={wire: (term, partners[wire]) for wire, term in _wires(labels)},
        hidden=hidden,
        uncompared=uncompared,
        pairs=tuple(stand_ins),
        exhausted=aligner.exhausted,
    )


def _wires(labels: Labels) -> list[tuple[Wire, Term]]:
    return sorted(labels.terms.items(), key=lambda item: item[0])


def _edit(change: Change, wire: Wire | None) -> Edit:
    term = change.train if change.kind is not Kind.EXTRA else change.serve
    operator = term.op if term is not None else ""
    return Edit(
        kind=change.kind,
        wire=wire.name if wire else "",
        step=wire.step if wire else None,
        layer=wire.layer if wire and wire.layer >= 0 else None,
        aspect=change.aspect,
        operator=operator,
        train=change.train,
        serve=change.serve,
        detail=change.detail,
    )


def _one_per_layer(edits: tuple[Edit, ...], trace: Trace, owners: Owners) -> list[Edit]:
    """Operands missing from one sum that are all that a layer gave to it are one edit."""
    groups: dict[tuple[Term, int, int], list[Term]] = {}
    for change in trace.changes:
        if change.kind is not Kind.MISSING or change.aspect != "operand":
            continue
        if change.parent is not None and change.train is not None:
            wire = owners.inside(change.parent, change.train)
            if wire is not None and wire.layer > 0:
                key = (change.parent, wire.step, wire.layer)
                groups.setdefault(key, []).append(change.train)
    whole: dict[Term, tuple[Term, int]] = {}
    for (parent, step, layer), terms in groups.items():
        wires = [owners.inside(parent, arg) for arg in parent.args]
        if len(terms) == sum(w is not None and (w.step, w.layer) == (step, layer) for w in wires):
            whole.update((term, (terms[0], layer)) for term in terms)
    result: list[Edit] = []
    for edit in edits:
        if edit.kind is Kind.MISSING and edit.aspect == "operand" and edit.train in whole:
            first, layer = whole[edit.train]
            if edit.train is first:
                result.append(replace(edit, aspect="layer", layer=layer))
        else:
            result.append(edit)
    return result


def _unseen(
    trace: Trace, labels: Labels, train: Sequence[Term]
) -> tuple[tuple[Wire, ...], tuple[Wire, ...]]:
    """Wires of which nothing was compared, by what hides them."""
    behind_unknown: set[Term] = set()
    for change in trace.changes:
        if change.kind is Kind.UNKNOWN and change.train is not None:
            behind_unknown.update(postorder(change.train))
    hidden: set[Wire] = set()
    lost: set[Wire] = set()
    for term in postorder(*train):
        wire = labels.nodes.get(term)
        if wire is not None and term not in trace.compared:
            (hidden if term in behind_unknown else lost).add(wire)
    return tuple(sorted(hidden)), tuple(sorted(lost - hidden))
