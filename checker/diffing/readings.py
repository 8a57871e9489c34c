"""What two readings of one engine, before and after, say of its meaning.

A reading is made with the same counterpart and the same configuration, and in one pool of terms: so
where both compute the same, they are the same terms, however the source is written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from checker.engines import STEPS
from checker.errors import InputError
from checker.graph.terms import unknowns
from checker.judging import compare, differing
from checker.judging.judge import Case
from checker.judging.wording import sentence
from checker.report.changes import Change, Kind
from checker.report.model import RAISES, Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from checker.engines import Captured, Extraction
    from checker.graph.terms import Pool
    from checker.judging.graphs import Comparison, Finding
    from checker.location import Location
    from checker.report.model import ClauseResult, Report


@dataclass(frozen=True, slots=True)
class Reading:
    """One release beside its counterpart. `server` says which side is looked at."""

    case: Case
    report: Report
    server: bool

    @property
    def side(self) -> Extraction:
        """What the release computes."""
        return self.case.serve if self.server else self.case.train

    @property
    def label(self) -> str:
        """What the release is called."""
        return (self.report.serve if self.server else self.report.train).source

    def places(self, result: ClauseResult) -> tuple[Location, ...]:
        """The lines of the release that a result names."""
        return (result.serve if self.server else result.train).locations

    @property
    def raises(self) -> bool:
        """Whether some clauses were never reached."""
        return any(clause.reason == RAISES for clause in self.report.clauses)

    @property
    def violated(self) -> frozenset[str]:
        """The clauses that are violated."""
        return frozenset(c.id for c in self.report.clauses if c.status is Status.VIOLATED)


def same(one: Reading, other: Reading) -> bool:
    """Whether two readings compute the same and give the same to the other side."""
    return _meaning(one.side) == _meaning(other.side)


def same_function(one: Reading, other: Reading) -> bool:
    """Whether two readings compute the same, whatever else is loaded or handed over."""
    return _function(one.side) == _function(other.side)


def _function(side: Extraction) -> list[Any]:
    failure = None if side.failure is None else side.failure.type or side.failure.message
    terms = [*side.logits, *side.feedback, side.vocabulary_map, side.training_target]
    return [failure, [None if term is None else id(term) for term in terms]]


def _meaning(side: Extraction) -> list[Any]:
    """Everything that a side computes, as values that are equal only where they are the same."""
    return [
        _function(side),
        [None if found is None else found.answer for found in _handed(side)],
        side.aux_boundaries,
        {name: str(getattr(t, "shape", t)) for name, t in side.checkpoint.items()},
        {name for name, parameter in side.weights.items() if parameter is None},
        side.accuracies,
    ]


def _handed(side: Extraction) -> tuple[Captured | None, Captured | None]:
    """What the target hands over in prefill, and what its captured graphs do.

    Graphs that hand over the same say nothing of their own, nor do those of a target that raises.
    """
    found = side.captured
    raises = found is not None and found.error is not None
    return found, found if raises else side.graph_captured or found


def statuses(
    old: Reading, new: Reading, under: str, expected: frozenset[str] = frozenset()
) -> Iterator[Change]:
    """Clauses whose status is another one.

    Of what the old release never came to, `expected` are the clauses that are violated anyway: by a
    draft that both come to the end of.
    """
    before = {clause.id: clause for clause in old.report.clauses}
    reached = old.raises and not new.raises
    revealed = []
    for b in new.report.clauses:
        a = before[b.id]
        if reached and a.reason == RAISES:
            if b.status is Status.VIOLATED and b.id not in expected:
                revealed.append(b)
            continue
        kind = _kind(a, b)
        if kind is None:
            continue
        said = b if b.status in (Status.VIOLATED, Status.UNPROVEN) else a
        text = said.message or said.reason or ""
        if said is a:
            text = f"holds; with {old.label} {text}" if text else "holds"
        elif b.undecided:
            text = f"not proven: {text}"
        yield Change(kind, (b.id,), text, (under,), old.places(a), new.places(b))
    for b in revealed:
        text = f"{b.message} ({old.label} raised before it came to this)"
        yield Change(Kind.BEHAVIOUR, (b.id,), text, (under,), (), new.places(b))


def undecided(old: Reading, new: Reading, under: str) -> Iterator[Change]:
    """Clauses that neither release is proven to keep or to violate, by their reasons."""
    before = {clause.id: clause for clause in old.report.clauses}
    found: dict[str, list[str]] = {}
    for clause in new.report.clauses:
        if clause.undecided and before[clause.id].undecided and clause.reason != RAISES:
            found.setdefault(clause.reason or "", []).append(clause.id)
    for reason, clauses in found.items():
        yield Change(Kind.UNKNOWN, tuple(clauses), f"not proven with either: {reason}", (under,))


def _not_known(side: Extraction) -> str | None:
    """Why it is not known what a side computes; None where it is."""
    if side.failure is not None:
        return side.failure.message if side.failure.type is None else None
    terms = [*side.logits, *side.feedback, side.vocabulary_map, side.training_target]
    open_ = unknowns(*(term for term in terms if term is not None))
    return str(open_[0].attr("reason")) if open_ else None


def _kind(a: ClauseResult, b: ClauseResult) -> Kind | None:
    """What another status is; None where it is none, or follows from an exception."""
    if a.status is b.status or b.reason == RAISES:
        return None
    if b.undecided:
        return Kind.UNKNOWN
    if b.status is Status.VIOLATED:
        return Kind.BEHAVIOUR if a.undecided else Kind.BREAKING
    if a.status is Status.VIOLATED and b.status is Status.HOLDS:
        return Kind.FIXED
    if a.undecided and b.status is Status.HOLDS:
        return Kind.BEHAVIOUR
    return None


def between(
    old: Reading,
    new: Reading,
    pool: Pool,
    under: str,
    expected: frozenset[str] = frozenset(),
) -> Iterator[Change]:
    """Every change between two readings; what a clause's other status says is said once."""
    found = [*statuses(old, new, under, expected)]
    yield from found
    reasons = [_not_known(reading.side) for reading in (old, new)]
    if all(reasons):  # two that are not known may be alike in what is known of them
        yield Change(Kind.UNKNOWN, (), f"not proven with either: {reasons[1]}", (under,))
        return
    if same(old, new):
        return
    if old.side.failure is not None or new.side.failure is not None:
        if not found:  # else an exception that comes or goes is said by the clause that it breaks
            yield from _failures(old, new, under)
        return
    known = {clause for change in found for clause in change.clauses}
    others = [*graphs(old, new, pool, under)]
    for change in others:
        if not known & {*change.clauses}:
            yield change
    if not found and not others:
        text = "computes something else, in a way that was not told apart"
        yield Change(Kind.UNKNOWN, (), text, (under,))


def graphs(old: Reading, new: Reading, pool: Pool, under: str) -> Iterator[Change]:
    """What a release that comes to its end computes otherwise, under the clauses that own it."""
    a, b = old.side, new.side
    contract = new.case.contract
    if len(a.logits) == len(b.logits) == STEPS:
        switches = {**old.case.train.switches}
        before, after = replace(a, switches=switches), replace(b, switches=switches)
        try:
            comparison = compare(before, after, pool, contract.wires)
        except InputError as error:
            yield Change(Kind.UNKNOWN, (), f"cannot be compared: {error.message}", (under,))
            return
        findings = _of_one_side(comparison)
        case = Case(contract, before, after, replace(comparison, findings=findings), {}, {})
        results = differing(case)
        found = [result for result in results if result.status is Status.VIOLATED]
        for result in found:
            text = _renamed(result.message, old.label, new.label)
            places = result.train.locations, result.serve.locations
            yield Change(Kind.BEHAVIOUR, (result.id,), text, (under,), *places)
        if not found and findings:
            ids = tuple(result.id for result in results)
            reasons = "; ".join(dict.fromkeys(result.reason or "" for result in results))
            yield Change(Kind.UNKNOWN, ids, f"not proven to be the same: {reasons}", (under,))
    yield from _facts(old, new, under)


def _of_one_side(comparison: Comparison) -> tuple[Finding, ...]:
    """Deviations from the contract without those that both releases have."""
    said = [_said_alike(finding, comparison) for finding in comparison.findings]
    sides: dict[str, set[str]] = {}
    for text, finding in zip(said, comparison.findings, strict=True):
        sides.setdefault(text, set()).add(finding.deviating)
    return tuple(
        finding
        for text, finding in zip(said, comparison.findings, strict=True)
        if len(sides[text]) == 1
    )


def _said_alike(finding: Finding, comparison: Comparison) -> str:
    """A deviation in words that are the same whichever side it is of."""
    text = sentence(finding, comparison)
    if finding.deviating == "train":
        text = _renamed(text, "the server", "training")
    return f"{finding.edit.step} {finding.edit.layer} {text}"


def _failures(old: Reading, new: Reading, under: str) -> Iterator[Change]:
    if same_function(old, new):
        return
    said: list[str] = []
    places: list[tuple[Location, ...]] = []
    kind = Kind.BEHAVIOUR
    for reading in (old, new):
        failure = reading.side.failure
        if failure is None:
            said.append(f"{reading.label} computes")
        elif failure.type is None:
            kind = Kind.UNKNOWN if reading is new else kind
            said.append(f"{reading.label} could not be followed: {failure.message}")
        else:
            said.append(f"{reading.label} raises {failure.type}: {failure.message}")
        where = None if failure is None else failure.location
        places.append(() if where is None else (where,))
    yield Change(kind, (), "; ".join(said), (under,), *places)


def _facts(old: Reading, new: Reading, under: str) -> Iterator[Change]:
    """What is no part of a graph: states handed over, tensors saved and dropped, the vocabulary."""
    contract, a, b = new.case.contract, old.side, new.side
    said: list[tuple[str, str]] = []
    if a.vocabulary_map is not b.vocabulary_map:
        said.append(("vocabulary", "draft ids are turned into target ids otherwise"))
    if a.training_target is not b.training_target:
        said.append(("training-target", "the targets of training are made otherwise"))
    if a.accuracies != b.accuracies:
        said.append(("metrics", f"accuracies are {b.accuracies}, they were {a.accuracies}"))
    if a.aux_boundaries != b.aux_boundaries:
        text = f"captures {b.aux_boundaries}, it was {a.aux_boundaries}"
        said.append(("capture", text))
    words = "the target hands over", "captured graphs hand over"
    for text, x, y in zip(words, _handed(a), _handed(b), strict=True):
        if (x and x.answer) != (y and y.answer):
            handed = [None if z is None else z.boundaries for z in (y, x)]
            said.append(("capture", f"{text} {handed[0]}, it was {handed[1]}"))
    lost, found = (_dropped(b) - _dropped(a), _dropped(a) - _dropped(b))
    if lost:
        said.append(("weights", f"drops {', '.join(sorted(lost))}"))
    if found:
        said.append(("weights", f"loads {', '.join(sorted(found))}"))
    saved = {*b.checkpoint} ^ {*a.checkpoint}
    if saved and not old.server:
        said.append(("weights", f"tensors come or go: {', '.join(sorted(saved))}"))
    for fact, text in said:
        clause = contract.fact_owner(fact)
        clauses = () if clause is None else (clause.id,)
        yield Change(Kind.BEHAVIOUR, clauses, text, (under,), _loader(a), _loader(b))


def _dropped(side: Extraction) -> set[str]:
    return {name for name, parameter in side.weights.items() if parameter is None}


def _loader(side: Extraction) -> tuple[Location, ...]:
    place = side.loader_location or side.entry_location
    return () if place is None else (place,)


def _renamed(text: str, old: str, new: str) -> str:
    """A judgement's sentence about two sides, said of two releases."""
    names = {"the server": new, "training": old}
    return re.sub(r"\bthe server\b|\btraining\b", lambda match: names[match[0]], text)
