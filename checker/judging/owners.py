"""Which clause owns a failure, or a tensor."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from checker.contract.model import Clause
    from checker.engines import Failure
    from checker.judging.judge import Case


def owner_of_failure(case: Case, side: str, failure: Failure) -> Clause:
    """The clause that owns what an engine was computing when it raised.

    Decided by the configuration keys that the raising condition had read, then by the parameters
    involved, then by how far it had come.
    """
    contract = case.contract
    for key in reversed(failure.keys):
        for switch in contract.switches.values():
            spelled = {s.rpartition(".")[2] for group in switch.spellings.values() for s in group}
            if key in spelled or key == switch.name:
                owners = [contract.clauses[name] for name in switch.clauses]
                return next((owner for owner in owners if owner.implemented), owners[0])
    for name in failure.parameters:
        found = owner_of_parameter(case, name, failure.step)
        if found is not None:
            return found
    nothing = side == "serve" and not case.serve.entry  # a trainer's classes are not looked up
    facts = {"construct": "registry" if nothing else "layers", "load": "weights"}
    return contract.fact_owner(facts.get(failure.stage, "layers")) or next(
        iter(contract.clauses.values())
    )


def owner_of_parameter(case: Case, name: str, step: int) -> Clause | None:
    """The clause that owns the wire in whose definition a tensor stands.

    Its shape is the matter where the wire uses the tensor at this step; that it is used at all
    where it does not.
    """
    for key, entry in case.contract.wires["parameters"].items():
        pattern = re.sub(r"\\\{\w+\\\}", r"\\d+", re.escape(str(entry["tensor"])))
        if not re.search(rf"(^|\.){pattern}$", name):
            continue
        for wire, definition in case.contract.wires["wires"].items():
            if f"({key}," in str(definition):
                at_step = _definition_at(definition, step)
                aspect = "shape" if f"({key}," in str(at_step) else "operator"
                return case.contract.owner(wire, aspect, "linear")
    return None


def _definition_at(definition: Any, step: int) -> Any:
    """The part of a wire's definition that holds at a step."""
    if isinstance(definition, Mapping) and (
        "first-step" in definition or "next-step" in definition
    ):
        return definition.get("first-step" if step == 0 else "next-step", "")
    return definition
