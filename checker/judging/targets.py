"""Clauses about the target: what the trainer aims at, and whose ids the draft's ids are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.graph.terms import postorder, unknowns
from checker.judging import stored
from checker.report.model import RAISES, ClauseResult, SideValue, Status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from checker.contract.model import Clause
    from checker.graph.terms import Term
    from checker.judging.judge import Case
    from checker.location import Location


_NO_MAP = (
    "Use a release of the server that serves drafts without a map, or train with fewer draft tokens"
    " than the target has, so that a map is saved."
)
_GIVE = "give the target's config.json as --target"
_GIVE_ALL = "give the target's config.json as a whole: what is given of it does not state it"


def training_target(case: Case, _: Mapping[str, ClauseResult]) -> ClauseResult | None:
    """The trainer's targets are made from the target's final norm, of the target's own kind."""
    clause = case.contract.fact_owner("training-target")
    term = case.train.training_target
    if clause is None or not clause.implemented:
        return None
    if term is None:
        reason = "nothing says how this trainer makes its targets"
        return ClauseResult(clause.id, Status.NOT_APPLICABLE, clause.severity, reason=reason)
    places = case.train.origins.get(term, ())[:1]
    if term.op == "unknown":
        return _unproven(clause, str(term.attr("reason")))
    trained = SideValue(_norm(term), places)
    if (drafts := _of_draft(case, term)) is not None:
        message = f"training norms the target's state with {drafts}, a tensor of the draft's own"
        return _violated(clause, message, trained, SideValue("the final norm of the target"))
    if (moved := _moved(term)) is not None:
        message = f"training's targets are {moved}"
        return _violated(clause, message, trained, SideValue("the token after each pair"))
    if term.op == "input":
        message = "training makes its targets from hidden states that were never normed"
        return _violated(clause, message, trained, SideValue("the final norm of the target"))
    captured = case.serve.captured
    if captured is not None and captured.error is not None and not captured.refused:
        return ClauseResult(clause.id, Status.NOT_APPLICABLE, clause.severity, reason=RAISES)
    if term.op != "rms_norm" or term.args[0].op != "input":
        return _unproven(clause, "what training gives the target's head is no norm of its state")
    if captured is None or captured.norm is None:
        why = _GIVE
        if captured is not None:
            why = "it was not seen"
        elif not case.serve.captures:
            why = "the target is not followed where its layers' states are not handed over"
        elif _is_described(case):
            why = _GIVE_ALL
        return _unproven(clause, f"the target's own final norm is not known: {why}")
    own = (float(term.attr("eps")), float(term.attr("offset", 0)))  # type: ignore[arg-type]
    eps, offset = captured.norm
    if eps is None and offset == own[1]:
        why = _GIVE_ALL if _is_described(case) else _GIVE
        return _unproven(clause, f"the epsilon of the target's final norm is not known: {why}")
    served = SideValue(_kind(eps, offset))
    if own == captured.norm:
        return ClauseResult(clause.id, Status.HOLDS, clause.severity, train=trained, serve=served)
    message = f"training norms the target's state by {_kind(*own)}, the target by {served.value}"
    return _violated(clause, message, trained, served)


def _is_described(case: Case) -> bool:
    """Whether more is given of the target than its class and its number of layers."""
    keys = case.contract.target
    return bool(set(case.target or {}) - {keys["class"], keys["layers"]})


def _of_draft(case: Case, term: Term) -> str | None:
    """A tensor of the draft's own in the way that targets are made."""
    names = [str(t.attr("name")) for t in postorder(term) if t.op == "param"]
    return next((name for name in names if name in case.train.checkpoint), None)


def _moved(term: Term) -> str | None:
    """What is wrong with the targets beside their norm, where something is.

    A trainer's description adds it to the name of the states, after a colon.
    """
    for inner in postorder(term):
        if inner.op == "input" and (said := str(inner.attr("name")).partition(": ")[2]):
            return said
    return None


def _norm(term: Term) -> str:
    if term.op != "rms_norm":
        return "the last hidden state as it is"
    return _kind(float(term.attr("eps")), float(term.attr("offset", 0)))  # type: ignore[arg-type]


def _kind(eps: float | None, offset: float) -> str:
    weight = "weight" if offset == 0 else f"{offset:g} + weight"
    epsilon = "its own epsilon" if eps is None else f"epsilon {eps:g}"
    return f"an RMSNorm with {epsilon} times {weight}"


def vocabulary(case: Case, results: Mapping[str, ClauseResult]) -> ClauseResult | None:
    """A draft id means the same target id on both sides."""
    clause = case.contract.fact_owner("vocabulary")
    if clause is None or not clause.implemented:
        return None
    known = results.get(clause.id)
    if known is not None and known.status is not Status.HOLDS:
        return None
    if not (case.train.maps_vocabulary and case.serve.maps_vocabulary):
        reason = "nothing says how both sides turn draft ids into target ids"
        return ClauseResult(clause.id, Status.NOT_APPLICABLE, clause.severity, reason=reason)
    wanted = case.train.vocabulary_map
    found = case.serve.vocabulary_map
    trained = SideValue(None if wanted is None else "target ids by draft ids, as saved")
    places = case.serve.origins.get(found, ())[:1] if found is not None else ()
    if case.serve.vocabulary_error is not None:
        message = (
            "the server asks the draft for a map of its ids whether it has one or not, and raises:"
            f" {case.serve.vocabulary_error}"
        )
        return _violated(clause, message, trained, SideValue(None, places), _NO_MAP)
    sizes = _sizes(case)
    if sizes is not None:
        return _violated(clause, sizes, SideValue(), SideValue())
    for term in (wanted, found):
        if term is not None and unknowns(term):
            return _unproven(clause, str(unknowns(term)[0].attr("reason")), places)
    if wanted is None and found is None and _is_part(case):
        return _unproven(
            clause, "the draft knows some of the target's tokens, and nobody maps them"
        )
    plain = wanted is None and found is not None and not _is_part(case)
    if wanted is found or (plain and found is not None and stored.keeps_ids(case, found)):
        return ClauseResult(
            clause.id, Status.HOLDS, clause.severity, train=trained, serve=SideValue(None, places)
        )
    if found is None:
        message = "the server takes draft ids for target ids; training saved a map"
    elif wanted is None:
        message = "the server maps draft ids by a tensor that training does not save"
    else:
        message = "the server makes other target ids of the saved map than training does"
    return _violated(clause, message, trained, SideValue(None, places))


def _is_part(case: Case) -> bool:
    """Whether the draft has another number of tokens than the target."""
    switches, roles = case.train.switches, case.contract.roles
    return switches.get(roles["draft-vocabulary"]) != switches.get(roles["vocabulary"])


def _sizes(case: Case) -> str | None:
    """Draft and target must count in one vocabulary."""
    trained = case.train.switches.get(case.contract.roles["vocabulary"])
    target = (case.target or {}).get(case.contract.target["vocabulary"])
    if isinstance(trained, int) and isinstance(target, int) and trained != target:
        return f"the draft was trained for {trained} tokens of the target, which has {target}"
    return None


def _violated(
    clause: Clause, message: str, train: SideValue, serve: SideValue, remedy: str = ""
) -> ClauseResult:
    return ClauseResult(
        clause.id,
        Status.VIOLATED,
        clause.severity,
        message=message,
        remedy=remedy,
        train=train,
        serve=serve,
    )


def _unproven(clause: Clause, reason: str, places: tuple[Location, ...] = ()) -> ClauseResult:
    return ClauseResult(
        clause.id,
        Status.UNPROVEN,
        clause.severity,
        reason=reason,
        serve=SideValue(None, places),
    )
