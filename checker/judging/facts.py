"""Clauses that facts decide: registry, checkpoint, counts, reads of the configuration."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from checker.graph.terms import postorder
from checker.interpreter.fallbacks import is_fallback
from checker.judging import remedies, stored, wording
from checker.judging.graphs import depth
from checker.report.model import ClauseResult, SideValue, Status

if TYPE_CHECKING:
    from checker.contract.model import Clause, Switch
    from checker.judging.graphs import Comparison
    from checker.judging.judge import Case


def registry(case: Case, _: Mapping[str, ClauseResult]) -> ClauseResult | None:
    """The server found a class for the architecture that the configuration names."""
    clause = case.contract.fact_owner("registry")
    if clause is None or not case.serve.entry:
        return None
    places = (case.serve.entry_location,) if case.serve.entry_location else ()
    return ClauseResult(
        clause.id, Status.HOLDS, clause.severity, serve=SideValue(case.serve.entry, places)
    )


def weights(case: Case, _: Mapping[str, ClauseResult]) -> ClauseResult | None:
    """Every tensor that training needs reached a parameter; none that is used stayed initial."""
    clause = case.contract.fact_owner("weights")
    if clause is None or case.comparison is None:
        return None
    needed = _needed(case)
    served = {str(t.attr("name")) for t in postorder(*case.serve.logits) if t.op == "param"}
    exempt = {*case.train.engine.from_target, *(case.serve.refused or ())}
    exempt |= served & set(case.train.taken.values())
    lacking = {} if case.stored is None else case.stored.lacking
    absent = [n for n in sorted(needed - exempt) if n in lacking]
    unsure = stored.doubts(case, needed - exempt)
    dropped = [
        n
        for n in sorted(needed - exempt)
        if case.serve.weights.get(n) is None and n not in lacking and n not in unsure
    ]
    initial = _initial(case, case.comparison)
    if case.serve.refused and not (dropped or initial or absent):
        return None  # of the others nothing is wrong, and those raise
    loader = (case.serve.loader_location,) if case.serve.loader_location else ()
    places = stored.dropped_at(case, dropped) or loader
    if not dropped and not initial and not absent and unsure:
        reason = next(iter(unsure.values()))
        value = SideValue(None, places)
        return ClauseResult(clause.id, Status.UNPROVEN, clause.severity, reason=reason, serve=value)
    if not dropped and not initial and not absent and (more := stored.surplus(case)):
        reason = (
            f"{_listed(more)} in the draft's folder: under the configuration given for it training"
            " has no such tensor, so it was trained with another one"
        )
        value = SideValue(None, places)
        return ClauseResult(clause.id, Status.UNPROVEN, clause.severity, reason=reason, train=value)
    if not dropped and not initial and not absent:
        return ClauseResult(
            clause.id,
            Status.HOLDS,
            clause.severity,
            train=SideValue(f"{len(needed)} tensors"),
            serve=SideValue(f"{len(needed)} tensors reach parameters", places),
        )
    parts = []
    if absent and case.stored is not None:
        verb = "is" if len(absent) == 1 else "are"
        parts.append(f"{_listed(absent)} {verb} not in {lacking[absent[0]]}")
    if dropped:
        parts.append(
            f"{_listed(dropped)} {'reaches' if len(dropped) == 1 else 'reach'} no server parameter"
        )
    if initial:
        parts.append(f"{_listed(initial)} keep{'s' if len(initial) == 1 else ''} the initial value")
    return ClauseResult(
        clause.id,
        Status.VIOLATED,
        clause.severity,
        message="; ".join(parts),
        remedy="" if absent else remedies.of_lost_tensors(case, dropped, initial),
        train=SideValue(
            _listed([*absent, *dropped]) or None, _locations(case, [*absent, *dropped])
        ),
        serve=SideValue(_listed(initial) or None, places),
    )


def _initial(case: Case, comparison: Comparison) -> list[str]:
    """The parameters that kept their initial values although no tensor for them was refused.

    Where it is not known which one a refused tensor was meant for, none is named.
    """
    refused = set(case.serve.refused or ())
    meant = {mine for mine, tensor in comparison.pairs if str(tensor.attr("name")) in refused}
    if len(meant) < len(refused & _needed(case)):
        return []
    return sorted(
        {
            str(t.attr("name")).removeprefix("unloaded:")
            for t in postorder(*case.serve.logits)
            if t.op == "param" and t.attr("loaded", True) is False and t not in meant
        }
    )


def _needed(case: Case) -> set[str]:
    return {str(t.attr("name")) for t in postorder(*case.train.logits) if t.op == "param"}


def layers(case: Case, _: Mapping[str, ClauseResult]) -> ClauseResult | None:
    """Both sides run the same number of layers; a side with something unknown may run more."""
    clause = case.contract.fact_owner("layers")
    if clause is None or case.comparison is None:
        return None
    trained, served = depth(case.train), depth(case.serve)
    fewer = case.serve if served < trained else case.train
    if trained == served or any(t.op in ("unknown", "opaque") for t in postorder(*fewer.logits)):
        return None
    return ClauseResult(
        clause.id,
        Status.VIOLATED,
        clause.severity,
        message=f"training ran {trained} decoder layers, the server runs {served}",
        remedy=remedies.of_more_layers(case) if served > trained else "",
        train=SideValue(str(trained)),
        serve=SideValue(str(served)),
    )


def _locations(case: Case, names: list[str]) -> tuple[Any, ...]:
    for term in postorder(*case.train.logits):
        if (
            any(a.op == "param" and a.attr("name") in names for a in term.args)
            and term in case.train.origins
        ):
            return case.train.origins[term][:1]
    return ()


def _listed(names: list[str], most: int = 6) -> str:
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def config_reads(case: Case, results: Mapping[str, ClauseResult]) -> ClauseResult | None:
    """Every trained switch that matters here reaches the server.

    A switch matters when a clause it decides is violated, and would not be had the draft been
    trained without it; one whose value makes no difference to this server is no finding.
    """
    clause = case.contract.fact_owner("config-reads")
    if clause is None:
        return None
    for switch in case.contract.switches.values():
        violated = {
            c for c in switch.clauses if c in results and results[c].status is Status.VIOLATED
        }
        finding = _unread(case, clause, switch) if violated else None
        if finding is not None and _is_cause(case, switch, violated):
            return finding
    undecided = sorted(
        r.id
        for r in results.values()
        if r.status is Status.UNPROVEN and case.contract.clauses[r.id].implemented
    )
    if undecided:
        return ClauseResult(
            clause.id,
            Status.UNPROVEN,
            clause.severity,
            reason=f"depends on {undecided[0]}, which is unproven",
        )
    return ClauseResult(clause.id, Status.HOLDS, clause.severity)


def _unread(case: Case, clause: Clause, switch: Switch) -> ClauseResult | None:
    """A finding when a trained value of this switch does not reach the server."""
    place, value = wording.stated(case.train_config, wording.spelled(switch, case.train.engine))
    if place is None or value == switch.default:
        return None
    spellings = wording.spelled(switch, case.serve.engine)
    last = {s.rpartition(".")[2] for s in (*spellings, place)}
    reads = [r for r in case.serve.reads if r.key in last]
    read_at = {f"{r.place}.{r.key}" if r.place else r.key for r in reads if r.found}
    stands = _standing(case.serve_config, last)
    if read_at & (set(stands) | set(spellings)):
        return None
    moved = sorted({f"{r.place}.{r.key}" if r.place else r.key for r in reads} & set(stands))
    if moved:
        where = f"the server's configuration class has moved {moved[0]} when the server reads it"
    elif reads and stands:
        where = f"the server reads it at {_spots(reads)}, it stands at {', '.join(stands)}"
    elif reads:
        where = f"the server reads {_spots(reads)}, which the served config does not state"
        swallowed = [r.default for r in reads if is_fallback(r.default)]
        where += f", and takes {swallowed[0]!r}" if swallowed else ""
    else:
        where = "the server never reads it"
    places = tuple(r.location for r in reads if r.location)[:2]
    return ClauseResult(
        clause.id,
        Status.VIOLATED,
        clause.severity,
        message=f"{place} is {value!r} in training; {where}",
        when=(f"{place} == {wording.as_json(value)}",),
        train=SideValue(f"{place} = {wording.as_json(value)}"),
        serve=SideValue("not read" if not reads else _spots(reads), places),
    )


def _is_cause(case: Case, switch: Switch, violated: set[str]) -> bool:
    """Whether those clauses would hold had the draft been trained without the switch."""
    place, _ = wording.stated(case.train_config, wording.spelled(switch, case.train.engine))
    if place is None or case.comparison is None:
        return False
    other = _without(case, switch, place)
    if other is None:
        return False
    still = {
        c.id
        for f in other.findings
        if (c := case.contract.owner(f.edit.wire, f.edit.aspect, f.edit.operator))
    }
    return not violated & still


def _without(case: Case, switch: Switch, place: str) -> Comparison | None:
    """The server compared with a draft that was trained without a switch.

    Where the trainer computes just what the contract says, the contract says what that is.
    """
    train, comparison = case.train, case.comparison
    if comparison is None:
        return None
    pairs = zip(train.logits, comparison.contract.logits, strict=False)
    if (
        case.compare_as is not None
        and switch.name in train.switches
        and all(mine is contracted for mine, contracted in pairs)
    ):
        return case.compare_as({**train.switches, switch.name: switch.default})
    if case.compare_without is None:
        return None
    return case.compare_without(changed(case.train_config, place, switch.default))


def changed(config: Mapping[str, Any], place: str, value: Any) -> dict[str, Any]:
    """A configuration with one key set, or removed where the value is None."""
    made = copy.deepcopy(dict(config))
    *parents, last = place.split(".")
    node: Any = made
    for part in parents:
        node = node[part]
    if value is None:
        node.pop(last, None)
    else:
        node[last] = value
    return made


def _spots(reads: list[Any]) -> str:
    return ", ".join(sorted({f"{r.place}.{r.key}" if r.place else r.key for r in reads}))


def _standing(config: Mapping[str, Any], keys: set[str], place: str = "") -> list[str]:
    """The dotted places at which a configuration states one of these keys."""
    found: list[str] = []
    for key, value in config.items():
        here = f"{place}.{key}" if place else key
        if key in keys:
            found.append(here)
        if isinstance(value, Mapping):
            found += _standing(value, keys, here)
    return found
