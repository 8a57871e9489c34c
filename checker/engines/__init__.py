"""The engines stage: an engine's description, run through the interpreter.

Takes trees, a configuration and `contracts/engines/*.yaml`; gives an `Extraction`: the logits of
each step as terms, where the checkpoint's tensors went, what was read of the configuration, and how
it ended if it did not end well. No engine's name occurs here.
"""

from checker.engines.capture import (
    Captured,
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
from checker.engines.launching import Launched, Misfit, launched
from checker.engines.stages import STEPS, Inputs, Subject

__all__ = [
    "STEPS",
    "Captured",
    "Defaults",
    "Engine",
    "Extraction",
    "Failure",
    "Inputs",
    "Launched",
    "Misfit",
    "Question",
    "Subject",
    "asking",
    "capture",
    "defaults",
    "extract_side",
    "is_registered",
    "launched",
    "load_engines",
    "load_operators",
    "load_outlines",
    "question_for",
    "targets",
    "with_schedule",
]
