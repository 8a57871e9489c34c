"""The engines stage: an engine's description, run through the interpreter.

Takes trees, a configuration and `contracts/engines/*.yaml`; gives an `Extraction`: the logits of
each step as terms, where the checkpoint's tensors went, what was read of the configuration, and how
it ended if it did not end well. No engine's name occurs here.
"""

from checker.engines.capture import (
    Captured,
    CaptureError,
    Question,
    asking,
    capture,
    is_registered,
    question_for,
    targets,
)
from checker.engines.defaults import Defaults, defaults
from checker.engines.description import Engine, load_engines, load_operators, load_outlines
from checker.engines.drive import with_schedule
from checker.engines.extraction import Extraction, Failure, extract_side
from checker.engines.keeping import Keeper
from checker.engines.launching import Launched, Misfit, launched
from checker.engines.schedule import Pass, Schedule
from checker.engines.stages import STEPS, Inputs, Subject
from checker.graph.terms import Pool
from checker.interpreter.machine import ConfigRead, Decision

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
    "asking",
    "capture",
    "captured",
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
    "targets",
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
