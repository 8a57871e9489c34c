"""The engines stage: an engine's description, run through the interpreter.

Takes trees, a configuration and `contracts/engines/*.yaml`; gives an `Extraction`: the logits of
each step as terms, where the checkpoint's tensors went, what was read of the configuration, and how
it ended if it did not end well. No engine's name occurs here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from checker.engines.capture import (
    asking,
    capture,
    is_registered,
    question_for,
    targets,
)
from checker.engines.captured import Captured, CaptureError, Question
from checker.engines.defaults import Defaults, defaults
from checker.engines.description import Engine, load_engines, load_operators, load_outlines
from checker.engines.drive import with_schedule
from checker.engines.extraction import Extraction, Failure, extract_side
from checker.engines.keeping import Keeper
from checker.engines.launching import Launched, Misfit, completed, launched
from checker.engines.schedule import Pass, Schedule
from checker.engines.sealing import sealed
from checker.engines.stages import STEPS, Inputs, Subject
from checker.engines.telling import Told, telling
from checker.graph.terms import Pool
from checker.interpreter.machine import ConfigRead, Decision
from checker.interpreter.noting import Noting

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "STEPS",
    "Captured",
    "Defaults",
    "Engine",
    "Extraction",
    "Failure",
    "Inputs",
    "Keeper",
    "Launched",
    "Misfit",
    "Question",
    "Subject",
    "Told",
    "asking",
    "capture",
    "captured",
    "completed",
    "defaults",
    "extract_side",
    "is_registered",
    "keeping",
    "known_targets",
    "launched",
    "load_engines",
    "load_operators",
    "load_outlines",
    "question_for",
    "sealed",
    "targets",
    "told",
    "with_schedule",
]


def keeping() -> Keeper:
    """Keeps what the stages give."""
    kinds = (
        Extraction,
        Failure,
        ConfigRead,
        Decision,
        Schedule,
        Pass,
        Question,
        Captured,
        CaptureError,
        Told,
    )
    return Keeper(kinds)


def captured(subject: Subject, question: Question) -> Captured:
    """What a target hands over, from before where that was kept."""
    if subject.keeper is None:
        return capture(subject, question)
    return subject.keeper.result(
        ["capture", question],
        subject,
        Pool(),
        lambda: capture(subject, question),
        lambda found: found.is_decided and found.error is None,
    )


def known_targets(subject: Subject) -> list[str]:
    """The targets that can be told what to hand over, from before where that was kept."""
    if subject.keeper is None:
        return targets(subject)
    return subject.keeper.result(
        ["targets"], subject, Pool(), lambda: targets(subject), lambda _: True
    )


def told(
    subject: Subject,
    config: dict[str, Any],
    launch: Mapping[str, Any],
    ids: tuple[int, ...] | None = None,
) -> Told | None:
    """What the server tells its target to hand over, from before where that was kept.

    With `ids`, for a draft that states those and of which nothing else is known.
    """
    settings = {} if ids is None else {"asked ids": list(ids)}
    inputs = Inputs(config, launch=launch, settings=settings)
    if subject.keeper is None or subject.engine.order is None:
        return telling(subject, inputs)
    noting = Noting(config)
    return subject.keeper.result(
        ["told", dict(launch), settings],
        subject,
        Pool(),
        lambda: telling(subject, replace(inputs, noting=noting)),
        lambda found: found is not None and not found.reason,
        noting=noting,
    )
