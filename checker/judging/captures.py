"""Clauses about what the target hands over: how many states, which boundaries, whether streams."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from checker.judging import remedies
from checker.report.model import NOT_A_BOUNDARY, RAISES, ClauseResult, Raised, SideValue, Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from checker.contract.model import Clause
    from checker.engines import Captured, Told
    from checker.judging.judge import Case

_GRAPHS_REMEDY = (
    "Use a release that tells the target its ids before it captures graphs, train on the default"
    " layers, or start the server without captured graphs."
)
_NO_TARGET = "which target it is is not given: name it with --target"
_NO_LAYERS = (
    "how many layers the target has is not given: name it as --target CLASS:LAYERS, or give its"
    " config.json"
)


def count(case: Case, _: Mapping[str, ClauseResult]) -> ClauseResult | None:
    """The draft was trained on as many aux states as the server hands over."""
    clause = case.contract.fact_owner("capture-count")
    if clause is None or case.train.aux_count is None:
        return None
    trained, handed = case.train.aux_count, case.serve.aux_count
    if case.serve.captured is not None and case.serve.captured.count is not None:
        handed = case.serve.captured.count
    if handed is None:
        return ClauseResult(
            clause.id,
            Status.UNPROVEN,
            clause.severity,
            reason="how many aux states the server hands over is not known",
        )
    same = trained == handed
    return ClauseResult(
        clause.id,
        Status.HOLDS if same else Status.VIOLATED,
        clause.severity,
        message=""
        if same
        else f"the draft was trained on {trained} aux states, the server hands over {handed}",
        train=SideValue(str(trained)),
        serve=SideValue(str(handed)),
    )


def boundaries(case: Case, _: Mapping[str, ClauseResult]) -> ClauseResult | None:
    """The target hands over the boundaries that were trained on, in their order."""
    clause = case.contract.fact_owner("capture")
    if clause is None:
        return None
    found, wanted = case.serve.captured, case.train.aux_boundaries
    early = _not_followed(case, clause, found)
    if early is not None or found is None:
        return early
    if found.error is not None:
        error = Raised(found.error.type, found.error.message, found.error.location)
        return ClauseResult(
            clause.id,
            Status.VIOLATED,
            clause.severity,
            message=f"with these ids the server raises {error.type}: {error.message}",
            remedy=remedies.of_boundaries(case),
            error=error,
            train=SideValue(None if wanted is None else _listed(wanted)),
            serve=_served(case),
        )
    if wanted is None:
        reason = "which boundaries were captured in training is not known"
        return _unproven(clause, reason)
    handed = found.boundaries or ()
    if NOT_A_BOUNDARY in handed:
        reason = "a captured value is no boundary at all"
        return ClauseResult(clause.id, Status.NOT_APPLICABLE, clause.severity, reason=reason)
    if None in handed:
        return _unproven(clause, "which boundary a captured value is could not be told")
    same = tuple(wanted) == handed
    message, remedy = "", ""
    if not same:
        trained = _listed(wanted)
        message = f"trained on boundaries {trained}, the server hands over {_listed(handed)}"
        remedy = remedies.of_boundaries(case)
    elif case.serve.told is not None and (case.serve.told.reason or not case.serve.told.is_told):
        return _unproven(clause, _not_told(case.serve.told))
    elif case.serve.graph_captured is not None:
        replayed = case.serve.graph_captured
        if not replayed.is_decided:
            return _unproven(clause, f"what captured graphs hand over: {replayed.reason}")
        same = replayed.answer == found.answer
        message = "" if same else _graphs(found, replayed)
        remedy = "" if same else _GRAPHS_REMEDY
    return ClauseResult(
        clause.id,
        Status.HOLDS if same else Status.VIOLATED,
        clause.severity,
        message=message,
        remedy=remedy,
        train=SideValue(_listed(wanted)),
        serve=_served(case),
    )


def _not_told(told: Told) -> str:
    if not told.reason:
        return "nothing in the server's set-up tells the target which states to hand over"
    place = f" ({told.stopped})" if told.stopped is not None else ""
    return f"which ids the target is told when graphs are captured: {told.reason}{place}"


def _graphs(found: Captured, replayed: Captured) -> str:
    """Graphs that were captured before the target was told its ids."""
    other = (
        f"raise {replayed.error.type}"
        if replayed.error is not None
        else f"hand over {_listed(replayed.boundaries or ())}"
    )
    return (
        f"prefill hands over {_listed(found.boundaries or ())}, but captured graphs, which run when"
        f" drafted tokens are verified, {other}: they are captured before the target is told the"
        " configuration's ids"
    )


def stream(case: Case, _: Mapping[str, ClauseResult]) -> ClauseResult | None:
    """What the target hands over is the residual stream, and stays so."""
    clause = case.contract.fact_owner("capture-stream")
    if clause is None:
        return None
    found = case.serve.captured
    early = _not_followed(case, clause, found)
    if early is not None or found is None:
        return early
    if found.error is not None:
        return ClauseResult(clause.id, Status.NOT_APPLICABLE, clause.severity, reason=RAISES)
    handed = found.boundaries or ()
    message = ""
    if NOT_A_BOUNDARY in handed:
        message = f"the server hands over {_listed(handed)}: not the residual stream of the target"
    elif found.aliased:
        message = f"what is stored for ids {_listed(found.aliased)} is overwritten in place later"
    elif None in handed:
        return _unproven(clause, "what a captured value is could not be told")
    return ClauseResult(
        clause.id,
        Status.VIOLATED if message else Status.HOLDS,
        clause.severity,
        message=message,
        serve=_served(case),
    )


def ranks(case: Case, _: Mapping[str, ClauseResult]) -> ClauseResult | None:
    """Several ranks, and batches in parts, hand over what one rank does of a whole batch."""
    clause = case.contract.fact_owner("capture-ranks")
    if clause is None or not clause.implemented:
        return None
    tensor, pipeline = case.serve.ranks
    if tensor == pipeline == 1 and case.serve.ranked is None:
        reason = "there is one rank"
        return ClauseResult(clause.id, Status.NOT_APPLICABLE, clause.severity, reason=reason)
    if case.launched is not None and case.launched.is_refused:
        reason = "the server does not start as it is launched"
        return ClauseResult(clause.id, Status.NOT_APPLICABLE, clause.severity, reason=reason)
    one, several = case.serve.captured, case.serve.ranked
    early = _not_followed(case, clause, one)
    if early is not None or one is None:
        return early
    if one.error is not None:
        return ClauseResult(clause.id, Status.NOT_APPLICABLE, clause.severity, reason=RAISES)
    if several is not None and several.is_decided and several.answer != one.answer:
        handed = (
            f"raises {several.error.type}"
            if several.error is not None
            else f"hands over {_listed(several.boundaries or ())}"
        )
        message = f"{_deployed(tensor)} the server {handed}, {_listed(one.boundaries or ())} else"
        if tensor > 1 and several.error is None:
            message += ": a captured value is not summed over ranks"
        served = replace(_served(case), value=handed)
        return ClauseResult(
            clause.id, Status.VIOLATED, clause.severity, message=message, serve=served
        )
    if pipeline != 1:
        return _unproven(clause, "what pipeline stages hand on to each other is not followed")
    if several is None or not several.is_decided:
        reason = several.reason if several is not None else "the target was not followed"
        place = f" ({several.place})" if several is not None and several.place else ""
        return _unproven(clause, f"{_deployed(tensor)}: {reason}{place}")
    return ClauseResult(clause.id, Status.HOLDS, clause.severity, serve=_served(case))


def _deployed(ranks: int) -> str:
    """What is different from one rank that computes whole batches."""
    return f"with {ranks} ranks" if ranks > 1 else "where batches are computed in parts"


def _not_followed(case: Case, clause: Clause, found: Captured | None) -> ClauseResult | None:
    """What is said where the target was not followed to its end."""
    if not case.serve.captures:
        reason = "the draft is given no states of target layers"
        return ClauseResult(clause.id, Status.NOT_APPLICABLE, clause.severity, reason=reason)
    if found is None:
        return _unproven(clause, _NO_LAYERS if case.target else _NO_TARGET)
    if found.boundaries is None and (found.error is None or found.refused):
        place = f" ({found.place})" if found.place is not None else ""
        return _unproven(clause, f"{found.target}: {found.reason or 'not followed'}{place}")
    return None


def _unproven(clause: Clause, reason: str) -> ClauseResult:
    return ClauseResult(clause.id, Status.UNPROVEN, clause.severity, reason=reason)


def _served(case: Case) -> SideValue:
    found = case.serve.captured
    if found is None:
        return SideValue()
    value = None if found.boundaries is None else _listed(found.boundaries)
    told = case.serve.told
    graphs = told.graph_place if told is not None and told.differs else None
    places = [place for place in (graphs, found.setter, *found.kept) if place is not None]
    return SideValue(value, tuple(places[:3]))


def _listed(values: Sequence[int | str | None]) -> str:
    return "[" + ", ".join("?" if value is None else str(value) for value in values) + "]"
