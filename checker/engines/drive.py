"""Driving a draft: the code that calls the model, followed from one pass to the next.

An engine's `drive` stage stands in for the models, calls what drives the draft and tells what each
pass was given. It runs in a machine of its own: whatever becomes of it, the model itself is still
read.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from checker.engines.schedule import Pass, Schedule, unknown
from checker.engines.stages import STEPS, machine_for, run_stage, stage_module
from checker.graph.terms import Pool, unknowns
from checker.interpreter.noting import Noting
from checker.interpreter.tensors import Tensor
from checker.interpreter.values import Raised, Stuck, Unknown
from checker.syntax import UnparsableModule

if TYPE_CHECKING:
    from checker.engines.description import Stage
    from checker.engines.stages import Inputs, Subject
    from checker.interpreter.machine import Machine
    from checker.location import Location


def with_schedule(subject: Subject, inputs: Inputs) -> Inputs:
    """The inputs with the schedule that the engine's own code gives its draft, worked out once."""
    if inputs.schedule is not None:
        return inputs
    if subject.keeper is None:
        return replace(inputs, schedule=drive(subject, inputs))
    noting = Noting(inputs.config)
    schedule = subject.keeper.result(
        ["drive", *_question(subject.engine.drive, inputs)],
        subject,
        Pool(),
        lambda: drive(subject, replace(inputs, noting=noting)),
        lambda found: not any(step.reason for step in found.passes),
        noting=noting,
    )
    return replace(inputs, schedule=schedule)


_CHECKPOINT = re.compile(r"\b(checkpoint|retrained|globals|locals|vars|eval|exec)\b")


def _question(stage: Stage | None, inputs: Inputs) -> list[Any]:
    """What decides a drive besides the draft's configuration: no tensors that it cannot see."""
    blind = stage is None or _CHECKPOINT.search(stage.python) is None
    asked = replace(inputs, checkpoint={}, renames=(), retrained=(), given=None)
    return (asked if blind else inputs).question()[1:]


def drive(subject: Subject, inputs: Inputs) -> Schedule:
    """What an engine's code gives each pass of its draft."""
    stage = subject.engine.drive
    if stage is None:
        return unknown(STEPS, f"nothing says what drives the draft of {subject.engine.name}")
    m = machine_for(subject, Pool(), inputs)
    m.eager_packages.clear()  # what drives a draft fills no registries
    module = stage_module(m, subject.engine, inputs)
    try:
        run_stage(m, module, stage)
        return _told(m, module.scope.names)
    except Raised as raised:
        text = f"what drives the draft could not be followed: {raised.type_name} is raised"
        message = f"{text}: {raised.message}" if raised.message else text
        return unknown(STEPS, message, raised.location)
    except Stuck as stuck:
        text = f"what drives the draft could not be followed: {stuck.reason}"
        return unknown(STEPS, text, stuck.location)
    except UnparsableModule as error:
        return unknown(STEPS, f"what drives the draft cannot be parsed: {error}")
    except RecursionError:
        return unknown(STEPS, "what drives the draft nests too deeply")


def _told(m: Machine, names: dict[str, Any]) -> Schedule:
    """The schedule that a stage has bound, if nothing undecided stood in its way."""
    if m.decisions:
        text = f"what drives the draft depends on {m.decisions[0].text}"
        return unknown(STEPS, text, m.decisions[0].location)
    positions, tokens, seen = (names.get(n) for n in ("positions", "tokens", "passes"))
    if not isinstance(seen, list) or len(seen) < STEPS:
        return unknown(STEPS, "what drives the draft makes fewer passes than were asked for")
    if not isinstance(positions, list) or not isinstance(tokens, list):
        return unknown(STEPS, "what drives the draft could not be followed")
    passes = []
    for step in range(STEPS):
        at, paired = positions[step], tokens[step]
        places = (_place(m, seen[step], "positions"), _place(m, seen[step], "tokens"))
        reason = ""
        if not isinstance(at, int):
            at, reason = None, _reason(m, seen[step], "positions")
        if not isinstance(paired, (int, str)):
            reason = reason or _reason(m, seen[step], "tokens", "hidden")
        passes.append(Pass(at, _tokens(step, paired), reason, places))
    return Schedule(tuple(passes), tuple(m.assumptions))


def _tokens(step: int, paired: Any) -> str | None:
    """A name for the tokens of a pass: that of the step where they are the contract's.

    Others have a name of their own, so that they are never taken for those of another step.
    """
    if isinstance(paired, int):
        return str(step) if paired == step else f"{step} moved by {paired - step}"
    return f"{step} {paired}" if isinstance(paired, str) else None


def _place(m: Machine, seen: dict[str, Any], name: str) -> Location | None:
    """Where a pass's tensor was written last."""
    value = seen.get(name)
    if isinstance(value, Unknown):
        return value.location
    if not isinstance(value, Tensor):
        return None
    places = m.builder.origins.get(value.term(m), ())
    return places[-1] if places else None


def _reason(m: Machine, seen: dict[str, Any], *names: str) -> str:
    """Why it is not known what a pass was given."""
    for name in names:
        value = seen.get(name)
        if isinstance(value, Unknown):
            return value.reason
        if isinstance(value, Tensor):
            for term in unknowns(value.term(m)):
                return str(term.attr("reason"))
    return f"how the {names[0]} of a draft pass come about could not be recognised"
