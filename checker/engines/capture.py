"""Running a server's target in outline: which boundaries it really hands over."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, overload
from weakref import WeakKeyDictionary

from checker.engines import alike, handover, pins, registry
from checker.engines.captured import Captured, CaptureError, Question
from checker.engines.stages import Inputs, machine_for, run_stage, stage_module
from checker.graph.terms import Pool
from checker.interpreter.joins import SEVERAL
from checker.interpreter.journal import Journal
from checker.interpreter.machine import ENDLESS
from checker.interpreter.merging import Merging
from checker.interpreter.numbered import DIFFERS
from checker.interpreter.outline import Outline
from checker.interpreter.outline_building import REFUSALS, UNBUILT
from checker.interpreter.settled import Definitions
from checker.interpreter.values import ClassValue, Raised, Stuck, Unknown
from checker.interpreter.ways import Script, Ways
from checker.syntax import UnparsableModule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from checker.engines.description import CaptureStage
    from checker.engines.stages import Subject
    from checker.interpreter.machine import Decision, Machine
    from checker.interpreter.stubs import Stubs
    from checker.interpreter.values import Value
    from checker.location import Location
    from checker.syntax import Workspace

_MOST_LAYERS = 1000
_MOST_ANEW = 12
"""How often runs are begun anew without something that could not be merged."""


def targets(subject: Subject) -> list[str]:
    """Architectures whose class has the method that is told which states to hand over."""
    stage = _stage(subject)
    return list(registry.having(_machine(subject, Inputs({}), ()), stage))


def is_registered(subject: Subject, name: str) -> bool:
    """Whether a class of that name is registered and has the method."""
    stage = _stage(subject)
    cls = registry.named(_machine(subject, Inputs({}), ()), stage, name)
    return cls is not None and cls.lookup(stage.setter) is not None


def question_for(
    config: dict[str, Any] | None, ids: tuple[int, ...] | None, keys: Mapping[str, str]
) -> Question | None:
    """What to ask of the target that a configuration describes; None when it says too little.

    `keys` are those under which targets state their class and their number of layers.
    """
    names = (config or {}).get(keys["class"])
    layers = _layers(config or {}, keys["layers"])
    if not isinstance(names, list) or not names or not isinstance(names[0], str) or layers is None:
        return None
    return Question(names[0], layers, ids, config)


def _layers(config: dict[str, Any], key: str) -> int | None:
    """The number of layers of a target, also of one that nests its text model's configuration."""
    for part in (config, *(v for v in config.values() if isinstance(v, dict))):
        count = part.get(key)
        if isinstance(count, int) and not isinstance(count, bool) and 0 < count <= _MOST_LAYERS:
            return count
    return None


def asking(subject: Subject, question: Question, wanted: tuple[int, ...]) -> list[int] | None:
    """Ids for which the target hands over the wanted boundaries, if plain ones do."""
    for shift in (1, 0):
        ids = tuple(boundary - shift for boundary in wanted)
        found = capture(subject, replace(question, ids=ids))
        if found.boundaries == wanted and not found.aliased:
            return list(ids)
    return None


def capture(subject: Subject, question: Question, inputs: Inputs | None = None) -> Captured:
    """Runs a target, and again with each condition that nothing decides answered otherwise.

    Each in turn and all together. Combinations that the server refuses say nothing, as long as it
    takes others. Where a short cut through a loop is what leaves something open, none is taken.
    """
    shared = alike.Shared(subject, question, inputs)
    given = _inputs(question, inputs)

    def work(run: alike.Run) -> Captured:
        return _run(_Asked(subject, question, given, run))

    first = _original(subject, question, inputs, shared)
    if first is not None:
        if not shared.tells_of(first):
            shared.run(work, instead=True)
        known = shared.get(first, question)
        if known is not None:
            return known
    return shared.run(work)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked of whom, and where it is watched what the runs look at."""

    subject: Subject
    question: Question
    inputs: Inputs
    run: alike.Run


def _original(
    subject: Subject, question: Question, inputs: Inputs | None, shared: alike.Shared
) -> ClassValue | None:
    """The class that a target is a second name of, or that was run before under this one."""
    m, stage = _machine(subject, _inputs(question, inputs), ()), _stage(subject)
    if subject.engine.eager:
        return None  # its modules change one another when they are imported
    if not shared.has(question.target) and not registry.is_bare(m, stage, question.target):
        return None
    try:
        cls = registry.named(m, stage, question.target)
    except (Raised, Stuck, UnparsableModule, RecursionError):
        return None
    if cls is None or m.decisions or cls.lookup(stage.setter) is None:
        return None
    return alike.original(cls)


def _run(asked: _Asked) -> Captured:
    """What `capture` gives, from runs of its own.

    Short cuts are for what is decided with them; anything else is asked again without.
    """
    merging, found = Merging(), None
    for _ in range(_MOST_ANEW):
        found = _captured(asked, merging=merging)
        if found is not None:
            break
        merging.begin()  # each time there is more that is not merged
    if found is None or (merging.tried and not found.is_plain and not _is_stuck_anyway(found)):
        found = _captured(asked)
    said = (found.reason, *found.decisions)
    if not found.is_decided and any(DIFFERS in text for text in said):
        return _captured(asked, shortened=False)
    return found


def _is_stuck_anyway(found: Captured) -> bool:
    """Whether a run could not be followed for a reason that has nothing to do with short cuts."""
    reason = found.reason
    return (
        found.is_stuck
        and reason != ENDLESS
        and SEVERAL not in reason
        and not reason.startswith(_DIFFER)
    )


def _inputs(question: Question, inputs: Inputs | None) -> Inputs:
    """What a target is run with."""
    inputs = replace(inputs or Inputs({}), target_config=question.config)
    if question.launch is None:
        return inputs
    settings = {**inputs.settings, "tp": question.ranks}
    return replace(inputs, settings=settings, launch=question.launch)


@overload
def _captured(asked: _Asked, *, merging: Merging) -> Captured | None: ...
@overload
def _captured(asked: _Asked, *, shortened: bool = True) -> Captured: ...
def _captured(
    asked: _Asked, *, shortened: bool = True, merging: Merging | None = None
) -> Captured | None:
    """What `capture` gives, by loops and conditions with or without short cuts.

    None if it has to be asked again, with what is merged now.
    """
    question = asked.question
    ways = Ways()
    refused: list[Captured] = []
    taken: list[Captured] = []
    while (script := ways.next()) is not None:
        outline = Outline(question.layers, shortened=shortened, merging=merging)
        found, decisions = _one_path(asked, script, outline)
        if os.environ.get("EAGLE3_CHECK_DEBUG"):
            sys.stderr.write(f"path {script}: {found} {[d.text for d in decisions]}\n")
        if merging is not None and merging.stale:
            return None
        if found.is_stuck:
            return found  # whatever the other combinations give, nothing can be said
        ways.learn(script, decisions, found.refused)
        (refused if found.refused else taken).append(found)
        if taken and not found.refused and found.answer != taken[0].answer:
            return _undecided(question, ways.differing(script), taken[0], found)
    if taken:
        norms = {result.norm for result in taken}
        return taken[0] if len(norms) < 2 else replace(taken[0], norm=None)
    if not ways.is_exhausted:
        return replace(refused[0], error=None, reason=_REFUSED.format(refused[0].said))
    # no way leads past it; where one of them ends for a reason of ours, that is not sure
    doubted = next((found for found in refused if found.error is None), refused[0])
    return replace(doubted, refused=False)


_DIFFER = "depends on a condition that nothing decides"
_REFUSED = "each of many ways to answer what nothing decides {}, but there are others"


def _undecided(question: Question, decision: Decision, one: Captured, other: Captured) -> Captured:
    text = decision.text.replace("fact: ", "")
    reason = f"{_DIFFER}: {text} ({one.said}, or {other.said})"
    return Captured(question.target, question.ids, reason=reason, place=decision.location)


def _stage(subject: Subject) -> CaptureStage:
    stage = subject.engine.capture
    if stage is None:
        raise Stuck(f"nothing says how {subject.engine.name} captures", None)
    return stage


def _machine(subject: Subject, inputs: Inputs, script: tuple[bool, ...]) -> Machine:
    m = machine_for(subject, Pool(), inputs, script, _definitions(subject))
    m.shared["operators"] = handover.natives()
    return m


def _definitions(subject: Subject) -> Definitions | None:
    """What runs of targets share; nothing where modules change one another when imported."""
    if subject.engine.eager:
        return None
    stubs, found = _DEFINITIONS.setdefault(subject.workspace, (subject.stubs, Definitions()))
    return found if stubs is subject.stubs else None


_DEFINITIONS: WeakKeyDictionary[Workspace, tuple[Stubs, Definitions]] = WeakKeyDictionary()


def _one_path(asked: _Asked, script: Script, outline: Outline) -> tuple[Captured, list[Decision]]:
    """What comes of one way; nothing can be said where a summary stands for what was not read."""
    subject, question = asked.subject, asked.question
    m = _machine(subject, asked.inputs, script)
    found, decisions = _followed(m, asked, outline)
    other = None if found.is_stuck else pins.changed(subject.workspace, m.pins)
    if other is None:
        return found, decisions
    name, place = other
    reason = f"a summary stands for {name}, which means something else here than where it was read"
    blank = Captured(question.target, question.ids, setter=found.setter)
    return replace(blank, reason=reason, place=place), decisions


def _followed(m: Machine, asked: _Asked, outline: Outline) -> tuple[Captured, list[Decision]]:
    subject, question = asked.subject, asked.question
    stage = _stage(subject)
    blank = Captured(question.target, question.ids)
    cls: ClassValue | None = None
    try:
        cls = registry.named(m, stage, question.target)
        if cls is None and registry.mentioned(m, stage, question.target):
            return replace(blank, reason="its class is not found"), []
        if cls is None and stage.fallback is not None:
            cls = registry.named(m, stage, stage.fallback)
        if cls is None:
            message = f"no class is registered for {question.target}"
            return replace(blank, error=CaptureError("ValueError", message, None)), []
        cls = asked.run.watched(m, cls)
        blank = replace(blank, setter=_place(cls, stage.setter))
        m.outline = outline
        m.journal = None if outline.merging is None else Journal()
        module = stage_module(m, subject.engine, asked.inputs)
        module.scope.names.update(
            target_class=cls,
            capture_ids=None if question.ids is None else list(question.ids),
            LAYERS=question.layers,
        )
        run_stage(m, module, stage.stage)
    except Raised as raised:
        if m.debug:
            sys.stderr.write("\n".join(raised.trail) + "\n")
        if cls is not None and raised.type_name == "AttributeError" and _lacks(cls, stage.setter):
            error = CaptureError(raised.type_name, raised.message, _place(cls))
            return replace(blank, error=error), []
        guess = next((d for d in m.decisions if UNBUILT in d.text), None)
        if guess is not None:  # what was raised may come of what could not be built
            reason = guess.text.partition(UNBUILT)[2]
            return replace(blank, reason=reason, place=guess.location), m.decisions
        guarded = bool(m.decisions) and (raised.explicit or raised.type_name not in REFUSALS)
        if not _is_trusted(raised, subject):
            reason = f"{raised.type_name}: {raised.message}"
            return (
                replace(blank, reason=reason, place=raised.location, refused=guarded),
                m.decisions,
            )
        error = CaptureError(raised.type_name, raised.message, raised.location)
        return replace(blank, error=error, refused=guarded), m.decisions
    except Stuck as stuck:
        return replace(blank, reason=stuck.reason, place=stuck.location), m.decisions
    except (UnparsableModule, RecursionError) as error:
        return replace(blank, reason=str(error) or "it nests too deeply"), m.decisions
    merged = () if outline.merging is None else outline.merging.conditions
    kept = dict.fromkeys(place for _, _, place in outline.stored if place is not None)
    blank = replace(
        blank,
        kept=tuple(kept),
        decisions=tuple(dict.fromkeys((*(d.text for d in m.decisions), *merged))),
        loop=outline.called_at,
        joined=outline.joined_at,
    )
    found = _read(blank, module.scope.names.get("captured"))
    if found.boundaries == () and outline.called_at is None:
        return replace(blank, reason="none of its layers is seen to run"), m.decisions
    if not found.is_decided and not found.reason:
        found = replace(found, reason=next(iter(outline.unclear), ""))
    return replace(found, norm=_norm(module.scope.names.get("target_norm"))), m.decisions


def _read(blank: Captured, found: Value) -> Captured:
    if isinstance(found, Unknown):
        return replace(blank, reason=found.reason, place=found.location)
    if not isinstance(found, tuple):
        return replace(blank, reason="nothing came out")
    boundaries, overwritten = found
    aliased = tuple(_requested(blank.ids, boundaries, index) for index in overwritten)
    return replace(blank, boundaries=tuple(boundaries), aliased=aliased)


def _norm(found: Value) -> tuple[float | None, float] | None:
    """Epsilon, where it is a number, and offset, which has to be one."""
    if not isinstance(found, tuple):
        return None
    eps, offset = found
    if not isinstance(offset, (int, float)):
        return None
    return float(eps) if isinstance(eps, (int, float)) else None, float(offset)


def _requested(ids: tuple[int, ...] | None, boundaries: list[Any], index: int) -> int:
    """The id that asked for a value: values come in ascending order of their ids."""
    asked = sorted(set(ids or ()))
    if len(asked) == len(boundaries):
        return asked[index]
    found: int = boundaries[index]
    for shift in (1, 0):  # some ids ask for nothing; the others are told from what they gave
        if all(b - shift in asked for b in boundaries if isinstance(b, int)):
            return found - shift
    return found


def _is_trusted(raised: Raised, subject: Subject) -> bool:
    """Whether an exception is the server's and not one of our own making.

    An attribute may be missing because it was not followed who sets it, unless that is certain;
    anything else that is no ordinary error of the server's own code is not believed either.
    """
    place = raised.location
    if place is None:
        return False
    own = place.source == subject.label
    return raised.type_name in REFUSALS or (
        own and (raised.certain or raised.type_name == "AssertionError")
    )


def _lacks(cls: ClassValue, name: str) -> bool:
    """Whether a class certainly has no such method: the server's call of it raises."""
    return cls.lookup(name) is None and cls.unknown_base is None


def _place(cls: ClassValue, name: str | None = None) -> Location | None:
    """Where a class, or a method of it, is defined."""
    from checker.engines.extraction import place_of

    found = (cls,) if name is None else cls.lookup(name)
    return place_of(found[0]) if found is not None else None
