"""A status for every clause that this version can check."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from checker.graph.matching import Kind
from checker.graph.terms import Term, postorder, unknowns
from checker.judging import accuracies, captures, facts, flags, owners, stored, targets, wording
from checker.report.model import RAISES, ClauseResult, Raised, SideValue, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from checker.contract.model import Clause, Contract
    from checker.engines import Extraction, Failure, Launched
    from checker.graph.difference import Edit
    from checker.graph.labels import Wire
    from checker.judging.graphs import Comparison, Finding
    from checker.location import Location
    from checker.stored.matching import Stored


@dataclass(frozen=True, slots=True)
class Case:
    """Everything a judgement is made from.

    `comparison` is None when a side failed. `compare_without` compares the server with a draft
    trained from another configuration (None when that one cannot be followed), `compare_as` with
    what the contract says of other switches. `target` is the target's configuration, where one was
    given. `launched` is what the server makes of its launch line, None when none is given. `stored`
    is what lies in the draft's folders, if one was given. `onward` is the same where a side raised,
    with what it would compute if it did not.
    """

    contract: Contract
    train: Extraction
    serve: Extraction
    comparison: Comparison | None
    serve_config: Mapping[str, Any]
    train_config: Mapping[str, Any]
    compare_without: Callable[[dict[str, Any]], Comparison | None] | None = None
    compare_as: Callable[[dict[str, Any]], Comparison | None] | None = None
    target: Mapping[str, Any] | None = None
    launched: Launched | None = None
    stored: Stored | None = None
    onward: Case | None = None


def judge(case: Case) -> list[ClauseResult]:
    """Results for the clauses that can be decided; the others are completed by the report."""
    results: dict[str, ClauseResult] = {}
    for side, extraction in (("train", case.train), ("serve", case.serve)):
        if extraction.failure is not None:
            _failed(case, side, extraction.failure, results)
            _onward(case, results)
            return _beside(case, results)
    if case.comparison is not None:
        _by_graph(case, case.comparison, results)
    stored.shapes(case, results)
    _by_facts(case, results)
    if all(r.status in (Status.HOLDS, Status.NOT_APPLICABLE) for r in results.values()):
        _doubted(case, results)
    return _beside(case, results)


def differing(case: Case) -> list[ClauseResult]:
    """The clauses that what differs between the two graphs belongs to, and those left open."""
    results: dict[str, ClauseResult] = {}
    if case.comparison is not None:
        _by_graph(case, case.comparison, results)
    decided = (Status.HOLDS, Status.NOT_APPLICABLE)
    return [results[key] for key in sorted(results) if results[key].status not in decided]


def _beside(case: Case, results: dict[str, ClauseResult]) -> list[ClauseResult]:
    """All results, with those that do not hang on how the two sides came out."""
    launch = flags.launch(case, results)
    if launch is not None:
        results[launch.id] = launch
    return [results[key] for key in sorted(results)]


def _onward(case: Case, results: dict[str, ClauseResult]) -> None:
    """What can be said of the clauses that an exception kept from being reached.

    Only what is decided: what is open there may be so for the exception.
    """
    if case.onward is None:
        return
    for found in judge(case.onward):
        known = results.get(found.id)
        if known is None or known.reason != RAISES:
            continue
        if found.status in (Status.HOLDS, Status.VIOLATED):
            results[found.id] = found


def _doubted(case: Case, results: dict[str, ClauseResult]) -> None:
    """Nothing holds for certain while a side might raise where it was followed nevertheless."""
    for side, name in (("train", "the trainer"), ("serve", "the server")):
        for doubt in getattr(case, side).doubts:
            owner = owners.owner_of_failure(case, side, doubt)
            places = (doubt.location,) if doubt.location else ()
            where = f" ({doubt.location})" if doubt.location else ""
            results[owner.id] = ClauseResult(
                owner.id,
                Status.UNPROVEN,
                owner.severity,
                reason=f"whether {name} raises is not known: {doubt.message}{where}",
                train=SideValue(None, places) if side == "train" else SideValue(),
                serve=SideValue(None, places) if side == "serve" else SideValue(),
            )


def _by_facts(case: Case, results: dict[str, ClauseResult]) -> None:
    for decide in (
        facts.registry,
        facts.layers,
        facts.weights,
        captures.count,
        captures.stream,
        captures.boundaries,
        captures.ranks,
        facts.config_reads,
        targets.vocabulary,
        targets.training_target,
        stored.values,
        accuracies.metrics,
    ):
        result = decide(case, results)
        if result is not None:
            known = results.get(result.id)
            if known is None or known.status is not Status.VIOLATED:
                results[result.id] = result
            elif result.remedy and not known.remedy:
                results[result.id] = replace(known, remedy=result.remedy)


# -- by the graph --------------------------------------------------------------------------------


def _by_graph(case: Case, comparison: Comparison, results: dict[str, ClauseResult]) -> None:
    owned: dict[str, list[Finding]] = {}
    unknown: dict[str, list[Finding]] = {}
    for finding in comparison.findings:
        clause = _owner(case.contract, finding.edit)
        bucket = unknown if _uncertain(comparison, finding) else owned
        bucket.setdefault(clause.id, []).append(finding)
    wires = _wires_by_clause(case.contract, comparison)
    for clause in case.contract.clauses.values():
        findings = owned.get(clause.id, [])
        if findings:
            results[clause.id] = _violated(case, comparison, clause, findings)
        elif clause.implemented and (clause.owns and wires.get(clause.id, ()) != ()):
            results[clause.id] = _unviolated(
                case, comparison, clause, unknown.get(clause.id, []), wires.get(clause.id, ())
            )
        elif clause.id in unknown:
            results[clause.id] = _unproven(case, clause, unknown[clause.id])


_STRUCTURAL = (Kind.MISSING, Kind.EXTRA, Kind.REPLACED, Kind.REORDERED)


def _uncertain(comparison: Comparison, finding: Finding) -> bool:
    """Whether a difference may be none, because something unknown stands where it was seen.

    What stands there is looked through down to the next wires: behind an unknown value may be just
    what seems to be missing.
    """
    edit = finding.edit
    if edit.kind is Kind.UNKNOWN:
        return True
    mine = 1 if finding.deviating == "serve" else 0
    if _hides(comparison, edit.wire, 1 - mine, None):
        return True
    return edit.kind in _STRUCTURAL and _hides(comparison, edit.wire, mine, edit.serve)


def _hides(comparison: Comparison, wire: str, side: int, start: Term | None) -> bool:
    """Whether one side has something unknown on a wire, before the next wires below.

    An operator that is known by name only may compute what something else does: no proof of a
    difference goes through it.
    """
    own = [t[side] for w, t in comparison.wires.items() if w.name == wire]
    others = {t[side] for w, t in comparison.wires.items() if w.name != wire} - {None}
    stack = [t for t in (start, *own) if t is not None]
    seen: set[Term] = set()
    while stack:
        term = stack.pop()
        if term.op in ("unknown", "opaque"):
            return True
        if term not in seen:
            seen.add(term)
            stack += [a for a in term.args if a not in others or a.op == "unknown"]
    return False


def _owner(contract: Contract, edit: Edit) -> Clause:
    loading = contract.fact_owner("weights")
    if loading is not None and _is_changed_tensor(edit):
        return loading
    clause = contract.owner(edit.wire, edit.aspect, edit.operator)
    if clause is None:
        clause = contract.owner("stream", "operator", "") or next(iter(contract.clauses.values()))
    return clause


def _is_changed_tensor(edit: Edit) -> bool:
    """Whether a tensor as trained stands against something that is made of tensors only.

    So a parameter is filled with what a loader makes of the checkpoint.
    """
    if edit.train is None or edit.serve is None or edit.train.op != "param":
        return False
    if edit.serve.op in ("param", "unknown", "opaque") or not edit.serve.args:
        return False
    leaves = {term.op for term in postorder(edit.serve) if not term.args}
    return "param" in leaves and leaves <= {"param", "const"}


def _wires_by_clause(contract: Contract, comparison: Comparison) -> dict[str, tuple[Wire, ...]]:
    """The wires each clause looks at: "holds" is said only where something was looked at."""
    found: dict[str, list[Wire]] = {}
    every = sorted(comparison.contract.wires)
    given = {w for w, term in comparison.contract.wires.items() if _is_given(term)}
    for clause in contract.clauses.values():
        names = {name for selector in clause.owns for name in selector.wires}
        anywhere = any(not selector.wires for selector in clause.owns)
        found[clause.id] = [w for w in every if w.name in names or (anywhere and w not in given)]
    return {key: tuple(wires) for key, wires in found.items()}


def _is_given(term: Term) -> bool:
    """Whether a wire is what a pass is given, with nothing in it but where it is counted from."""
    seen: set[Term] = set()
    stack = [term]
    while stack:  # most end at once: whole models hang below a wire
        inner = stack.pop()
        if inner.op not in ("input", "const", "full", "add"):
            return False
        if inner not in seen:
            seen.add(inner)
            stack.extend(inner.args)
    return True


def _violated(
    case: Case, comparison: Comparison, clause: Clause, findings: list[Finding]
) -> ClauseResult:
    findings = sorted(findings, key=lambda f: (f.edit.step or 0, f.edit.layer or 0))
    first = findings[0]
    train, serve = _values(case, comparison, first)
    return ClauseResult(
        clause.id,
        Status.VIOLATED,
        clause.severity,
        message=wording.message(findings, comparison),
        when=wording.conditions(case, clause),
        train=train,
        serve=serve,
    )


def _unviolated(
    case: Case,
    comparison: Comparison,
    clause: Clause,
    unknown: list[Finding],
    wires: tuple[Wire, ...],
) -> ClauseResult:
    if unknown:
        return _unproven(case, clause, unknown)
    hidden = [w for w in wires if w in comparison.hidden]
    if hidden:
        reason = _unknown_reason(comparison)
        return ClauseResult(
            clause.id,
            Status.UNPROVEN,
            clause.severity,
            reason=f"{hidden[0].name} is hidden: {reason}",
        )
    if comparison.exhausted:
        return ClauseResult(
            clause.id,
            Status.UNPROVEN,
            clause.severity,
            reason="the graphs are too large to compare",
        )
    moot = _of_absent_layers(case.contract, comparison)
    lost = [
        w
        for w in wires
        if w in comparison.uncompared and None in comparison.wires[w] and w not in moot
    ]
    if lost:
        name = lost[0].name
        reason = f"{name} was compared with nothing: what stands above it differs or is unknown"
        return ClauseResult(clause.id, Status.UNPROVEN, clause.severity, reason=reason)
    if not comparison.same and not comparison.findings and not comparison.pairs:
        return ClauseResult(
            clause.id,
            Status.UNPROVEN,
            clause.severity,
            reason="the graphs differ in a way that was not found",
        )
    train, serve = (
        _wire_values(case, comparison, wires[0]) if len(wires) <= 8 else (SideValue(), SideValue())
    )
    return ClauseResult(clause.id, Status.HOLDS, clause.severity, train=train, serve=serve)


def _of_absent_layers(contract: Contract, comparison: Comparison) -> set[Wire]:
    """Wires of layers that one side leaves out, and what the layer before hands to them."""
    moot: set[Wire] = set()
    for finding in comparison.findings:
        edit = finding.edit
        if edit.aspect == "layer" and edit.layer is not None:
            owner = _owner(contract, edit)
            moot.update(
                w
                for w in comparison.contract.wires
                if w.layer == edit.layer
                or (w.layer == edit.layer - 1 and contract.owner(w.name, "", "") is owner)
            )
    return moot


def _unknown_reason(comparison: Comparison) -> str:
    for finding in comparison.findings:
        if _uncertain(comparison, finding):
            return _reason(finding.edit)
    return "something unknown stands before it"


def _reason(edit: Edit) -> str:
    for term in (edit.serve, edit.train):
        for inner in unknowns(term) if term is not None else ():
            return str(inner.attr("reason"))
    for term in (edit.serve, edit.train):
        named = next((t for t in postorder(term) if t.op == "opaque"), None) if term else None
        if named is not None:
            return f"what {named.attr('name')} computes there is known by its name only"
    return edit.detail or "unknown"


def _unproven(case: Case, clause: Clause, findings: list[Finding]) -> ClauseResult:
    finding = findings[0]
    side = case.serve if finding.deviating == "serve" else case.train
    places = _places(side, finding.edit.serve)
    where = f" ({places[0]})" if places else ""
    value = SideValue(None, places)
    return ClauseResult(
        clause.id,
        Status.UNPROVEN,
        clause.severity,
        reason=f"{_reason(finding.edit)}{where}",
        train=SideValue() if finding.deviating == "serve" else value,
        serve=value if finding.deviating == "serve" else SideValue(),
    )


def _values(case: Case, comparison: Comparison, finding: Finding) -> tuple[SideValue, SideValue]:
    """What each side computes where a finding is."""
    edit = finding.edit
    wire = next(
        (
            w
            for w in sorted(comparison.contract.wires)
            if w.name == edit.wire
            and w.step == (edit.step or 0)
            and (edit.layer is None or w.layer in (-1, edit.layer))
        ),
        None,
    )
    whole_train, whole_serve = comparison.wires.get(wire, (None, None)) if wire else (None, None)
    mine, theirs = edit.train, edit.serve
    if finding.deviating == "train":
        mine, theirs = theirs, mine
    return (
        _side_value(comparison, case.train, mine, whole_train),
        _side_value(comparison, case.serve, theirs, whole_serve),
    )


def _side_value(
    comparison: Comparison, side: Extraction, term: Term | None, whole: Term | None
) -> SideValue:
    shown = term if term is not None else whole
    if shown is None:
        return SideValue()
    leaf = (
        shown.op in ("param", "input", "const") and whole is not None
    )  # a leaf's line says nothing: its user's does
    places = _places(side, whole if leaf else shown) or _places(side, whole)
    return SideValue(wording.rendered(shown, comparison), places)


def _wire_values(case: Case, comparison: Comparison, wire: Wire) -> tuple[SideValue, SideValue]:
    train, serve = comparison.wires[wire]
    return (
        _side_value(comparison, case.train, train, None),
        _side_value(comparison, case.serve, serve, None),
    )


def _places(side: Extraction, term: Term | None) -> tuple[Location, ...]:
    """Where a term comes from: its own line, else the first line of what it is made of."""
    if term is None:
        return ()
    if term in side.origins:
        return side.origins[term][:1]
    for inner in reversed(postorder(term)):
        if inner in side.origins:
            return side.origins[inner][:1]
    return ()


# -- an engine that stops ------------------------------------------------------------------------


def _failed(case: Case, side: str, failure: Failure, results: dict[str, ClauseResult]) -> None:
    """What is left to say when a side ended early.

    One that would raise violates the clause that owns what it was computing; one that could not be
    followed leaves everything unproven.
    """
    name = "the trainer" if side == "train" else "the server"
    implemented = [c for c in case.contract.clauses.values() if c.implemented]
    where = f" ({failure.location})" if failure.location else ""
    if failure.type is None:
        for clause in implemented:
            value = SideValue(None, (failure.location,) if failure.location else ())
            results[clause.id] = ClauseResult(
                clause.id,
                Status.UNPROVEN,
                clause.severity,
                reason=f"{name} could not be followed: {failure.message}{where}",
                train=value if side == "train" else SideValue(),
                serve=value if side == "serve" else SideValue(),
            )
        return
    owner = owners.owner_of_failure(case, side, failure)
    places = (failure.location,) if failure.location else ()
    for clause in implemented:
        if clause.id == owner.id:
            continue
        results[clause.id] = ClauseResult(
            clause.id, Status.NOT_APPLICABLE, clause.severity, reason=RAISES
        )
    results[owner.id] = ClauseResult(
        owner.id,
        Status.VIOLATED,
        owner.severity,
        message=f"{name} raises {failure.type}: {failure.message}"
        if failure.message
        else f"{name} raises {failure.type}",
        when=wording.conditions(case, owner),
        error=Raised(failure.type, failure.message, failure.location),
        train=SideValue(None, places) if side == "train" else SideValue(),
        serve=SideValue(None, places) if side == "serve" else SideValue(),
    )
    if side == "serve":  # what the target hands over does not depend on the draft
        for decide in (captures.stream, captures.boundaries, captures.ranks):
            found = decide(case, results)
            if found is not None and found.id != owner.id:
                results[found.id] = found
    if side == "serve" and case.serve.entry:
        registered = facts.registry(case, results)
        if registered is not None and owner.id != registered.id:
            results[registered.id] = registered
