"""What a server makes of its launch flags: its own handling of them, interpreted."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from checker.engines.extraction import ENDS, Failure, failure_of
from checker.engines.stages import Inputs, machine_for, run_stage, stage_module
from checker.graph.terms import Pool
from checker.interpreter.values import Unknown
from checker.location import Location

if TYPE_CHECKING:
    from collections.abc import Mapping

    from checker.engines.description import Stage
    from checker.engines.stages import Subject
    from checker.interpreter.machine import Machine

_STAGE = "launch"
_PATHS = 16
_OF_OURS = frozenset(("AttributeError", "ImportError", "ModuleNotFoundError", "NameError"))
"""What a handling raises when it meets arguments that are only modelled: no word on the server."""


@dataclass(frozen=True, slots=True)
class Misfit:
    """A flag whose value is no good for the draft, and why."""

    flag: str
    text: str


@dataclass(frozen=True, slots=True)
class Launched:
    """The flags about drafting that a launch line gives, and what the server makes of them.

    `values` are what the handling leaves, with those of flags that were not given; `changed` is
    where it set a flag. `misfits` are flags that do not suit the draft whatever else is said;
    `decides` names the clause that says whether a flag's value is the trained one. `ranks` are
    tensor and pipeline parallelism, where the line says so. `overrides` are the values that it puts
    in place of those in the draft's configuration, `target` the target's configuration with those
    that it puts there (None: as it was), `target_doubt` why that is not known. `parsed` are all
    flags that the line gives, by the names under which the server keeps them, with what the
    handling makes of their values, as far as that is known (None: as they were given).
    `failure`: how the handling ended if it did not end well, or what keeps one from knowing.
    """

    given: Mapping[str, Any] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    changed: Mapping[str, Location] = field(default_factory=dict)
    misfits: tuple[Misfit, ...] = ()
    decides: Mapping[str, str] = field(default_factory=dict)
    assumptions: tuple[str, ...] = ()
    failure: Failure | None = None
    ranks: tuple[int, int] = (1, 1)
    overrides: Mapping[str, Any] = field(default_factory=dict)
    target: dict[str, Any] | None = None
    target_doubt: str = ""
    parsed: Mapping[str, Any] | None = None

    @property
    def is_refused(self) -> bool:
        """Whether the server certainly does not start with these flags."""
        return self.failure is not None and self.failure.type is not None

    def effective(self) -> dict[str, Any]:
        """The given flags as they are after the handling, as far as that is known."""
        kept = {k: v for k, v in self.values.items() if k in self.given}
        return {k: v for k, v in kept.items() if not isinstance(v, Unknown)}


def launched(subject: Subject, inputs: Inputs) -> Launched:
    """Runs a server's handling of its flags, once per answer to what nothing decides."""
    stage = subject.engine.launch
    if stage is None:
        return Launched(
            failure=Failure(_STAGE, None, "how it handles flags is not described", None)
        )
    found: list[Launched] = []
    pending: list[tuple[bool, ...]] = [()]
    cause = None
    while pending:
        script = pending.pop()
        m = machine_for(subject, Pool(), inputs, script)
        found.append(_one(m, stage, subject, inputs))
        cause = m.decisions[0] if m.decisions else cause
        pending += [
            (*script, *(True,) * (index - len(script)), False)
            for index in range(len(script), len(m.decisions))
        ]
        if len(found) + len(pending) > _PATHS:
            break
    first = found[0]
    if cause is not None and (pending or any(_core(other) != _core(first) for other in found)):
        failure = Failure(_STAGE, None, f"depends on {cause.text}", cause.location)
        return replace(first, failure=failure)
    return first


def completed(subject: Subject, target: dict[str, Any]) -> dict[str, Any]:
    """A target's configuration with the values that its class has for what it does not state.

    As it was where nothing says how to complete it, or where its class is not known.
    """
    stage = subject.engine.target
    if stage is None:
        return target
    inputs = Inputs({}, target_config=target)
    m = machine_for(subject, Pool(), inputs)
    m.eager_packages.clear()
    module = stage_module(m, subject.engine, inputs)
    try:
        run_stage(m, module, stage)
    except ENDS:
        return target
    found = {} if m.decisions else _mapping(module.scope.names, "completed")
    known = {k: v for k, v in found.items() if isinstance(v, (bool, int, float, str))}
    return {**known, **target}


def _core(result: Launched) -> object:
    """What two ways through the handling have to agree on."""
    values = {k: "unknown" if isinstance(v, Unknown) else v for k, v in result.values.items()}
    return result.given, values, result.misfits, result.failure, result.overrides, result.target


def _one(m: Machine, stage: Stage, subject: Subject, inputs: Inputs) -> Launched:
    module = stage_module(m, subject.engine, inputs)
    failure = None
    try:
        run_stage(m, module, stage)
    except ENDS as error:
        failure = _ended(failure_of(m, error, _STAGE, inputs.config), subject.label)
    names = module.scope.names
    if failure is None and isinstance(refused := names.get("refused"), str):
        failure = Failure(_STAGE, "SystemExit", refused, None)
    if failure is None and m.doubts:
        reason, place = next(iter(m.doubts.items()))
        failure = Failure(_STAGE, None, f"whether it raises is not known: {reason}", place)
    changed = {flag: Location(*place) for flag, place in _mapping(names, "changed").items()}
    return Launched(
        _mapping(names, "given"),
        _mapping(names, "launched"),
        changed,
        tuple(Misfit(flag, text) for flag, text in names.get("misfits") or ()),
        _mapping(names, "decides"),
        tuple(m.assumptions),
        failure,
        _ranks(names.get("ranks")),
        plain(_mapping(names, "overrides").get("draft") or {}),
        *_target(names.get("retargeted")),
        _parsed(names.get("parsed")),
    )


def _target(told: Any) -> tuple[dict[str, Any] | None, str]:
    """A target's configuration as the launch line leaves it, or why it is not known."""
    if not isinstance(told, dict):
        return None, told.reason if isinstance(told, Unknown) else ""
    doubt = next((value for value in told.values() if isinstance(value, Unknown)), None)
    return (plain(told), "") if doubt is None else (None, doubt.reason)


def _parsed(told: Any) -> dict[str, Any] | None:
    """What is known of the flags that a line gives."""
    if not isinstance(told, dict):
        return None
    return {k: v for k, v in plain(told).items() if not _has_unknown(v)}


def _has_unknown(value: Any) -> bool:
    values = value.values() if isinstance(value, dict) else value
    if isinstance(value, (dict, list)):
        return any(_has_unknown(item) for item in values)
    return not (value is None or isinstance(value, (str, int, float, bool)))


def plain(value: Any) -> Any:
    """A value as it would stand in a JSON file: without the places at which it was read."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _ranks(told: Any) -> tuple[int, int]:
    counts = told if isinstance(told, tuple) and len(told) == 2 else (1, 1)
    tensor, pipeline = (n if isinstance(n, int) and n > 0 else 1 for n in counts)
    return tensor, pipeline


def _ended(failure: Failure, label: str) -> Failure:
    """An exception counts when it is one of the server's own, raised in its own files."""
    place = failure.location
    if failure.type is None or (
        place is not None and place.source == label and failure.type not in _OF_OURS
    ):
        return failure
    return replace(failure, type=None, message=f"{failure.type}: {failure.message}")


def _mapping(names: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = names.get(name)
    return dict(value) if isinstance(value, dict) else {}
