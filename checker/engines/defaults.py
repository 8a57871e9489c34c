"""The drafts that a trainer makes by default: its own code for them, interpreted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from checker.engines.extraction import ENDS, failure_of
from checker.engines.stages import machine_for, run_stage, stage_module
from checker.graph.terms import Pool
from checker.interpreter.values import Unknown

if TYPE_CHECKING:
    from checker.engines.stages import Inputs, Subject
    from checker.location import Location


@dataclass(frozen=True, slots=True)
class Defaults:
    """Switches of the library's default draft and of the training command's, by their names.

    `command_line` is None where the release has no training command; `reason` says why not all of
    it is known, and `location` where.
    """

    library: dict[str, Any]
    command_line: dict[str, Any] | None = None
    reason: str | None = None
    location: Location | None = None


def defaults(subject: Subject, inputs: Inputs, draft_vocabulary: int) -> Defaults:
    """Runs the stage that tells a trainer's defaults for `inputs.target_config`.

    Where it cannot be followed to its end, what it has told until then counts.
    """
    stage = subject.engine.defaults
    if stage is None:
        return Defaults({}, None, f"nothing says what {subject.engine.name} trains by default")
    m = machine_for(subject, Pool(), inputs)
    module = stage_module(m, subject.engine, inputs)
    module.scope.names["DRAFT_VOCABULARY"] = draft_vocabulary
    reason, place = None, None
    try:
        run_stage(m, module, stage)
    except ENDS as error:
        failure = failure_of(m, error, stage.name, {})
        raised = f"{failure.type} is raised: {failure.message}" if failure.type else failure.message
        reason, place = raised, failure.location
    if m.decisions:
        reason, place = f"they depend on {m.decisions[0].text}", m.decisions[0].location
    names = module.scope.names
    library, command_line = (_told(names.get(name)) for name in ("library", "command_line"))
    if m.decisions:
        command_line = None
    return Defaults(library or {}, command_line, reason, place)


def _told(value: Any) -> dict[str, Any] | None:
    """Switches with their values; what is not known is left out."""
    if not isinstance(value, dict):
        return None
    return {str(key): _plain(item) for key, item in value.items() if not _is_open(item)}


def _is_open(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_is_open, value))
    if isinstance(value, dict):
        return any(map(_is_open, value.values()))
    return isinstance(value, Unknown) or not (
        value is None or isinstance(value, (bool, int, float, str))
    )


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return value
