"""The engines stage: an engine's description (`contracts/engines/*.yaml`) run through the interpreter.

Takes trees and a configuration, gives an `Extraction`: the logits of each step as terms, where the checkpoint's
tensors went, what was read of the configuration, and how it ended if it did not end well. No engine's name occurs
here.
"""

from checker.engines.description import Engine, load_engines, load_operators
from checker.engines.extraction import Captured, Extraction, Failure, Inputs, capture, extract_side

__all__ = [
    "Captured",
    "Engine",
    "Extraction",
    "Failure",
    "Inputs",
    "capture",
    "extract_side",
    "load_engines",
    "load_operators",
]
