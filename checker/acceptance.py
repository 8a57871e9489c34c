"""The acceptance length that a trainer's accuracies predict, and whether a measured one is that.

A chain of draft tokens is accepted up to the first wrong one, and the target adds a token of its
own: with accuracies conditional on all earlier steps being right the mean is 1 + a1 + a1·a2 + ….
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import Enum

from checker.errors import InputError

OTHER_TEXTS = 0.10
"""The share by which a measurement may differ because other texts are served than were trained on.

A convention, no law: acceptance depends on the texts. A smaller share would call other texts a
fault; a larger one would hide the loss of a step.
"""
_MOST_STEPS = 64


class Reading(Enum):
    """What a measured length looks like."""

    EXPECTED = "expected"
    FIRST_STEP_ONLY = "first-step-only"
    NOTHING_ACCEPTED = "nothing-accepted"
    JOINT = "accuracies-count-earlier-steps"
    LESS = "less"
    MORE = "more"


@dataclass(frozen=True, slots=True)
class Expectation:
    """The accuracies of a chain's steps and what follows from them.

    `gains[i]` is what step i adds to the mean length; `rounding` what the digits that were left out
    of the accuracies can make of it; `tolerance` that and the share for other texts.
    """

    accuracies: tuple[float, ...]
    gains: tuple[float, ...]
    length: float
    rounding: float
    measured: float | None = None

    @property
    def tolerance(self) -> float:
        """How far a measurement may be off and still be explained."""
        return self.rounding + OTHER_TEXTS * self.length

    @property
    def explained(self) -> bool | None:
        """Whether the measured length is the expected one; None without a measurement."""
        return None if self.measured is None else self._near(self.length)

    @property
    def reading(self) -> Reading | None:
        """What the measured length looks like: the expected one, or which other one."""
        if self.measured is None:
            return None
        if self._near(self.length):
            return Reading.EXPECTED
        if self.measured > self.length:
            # if each accuracy already counts the steps before it
            joint = self._near(1 + sum(self.accuracies))
            return Reading.JOINT if joint else Reading.MORE
        others = {1.0: Reading.NOTHING_ACCEPTED, 1 + self.gains[0]: Reading.FIRST_STEP_ONLY}
        nearest = min(others, key=lambda length: abs(length - (self.measured or 0.0)))
        return others[nearest] if self._near(nearest) else Reading.LESS

    def _near(self, length: float) -> bool:
        return abs((self.measured or 0.0) - length) <= self.tolerance + 1e-12


def expectation(accuracies: str, measured: str | None = None) -> Expectation:
    """From the words of the command line: `0.75,0.7,0.66` and `1.8`.

    Raises:
        InputError: a word is no accuracy, or the measured length cannot come from so many steps.
    """
    words = [word.strip() for word in accuracies.split(",")]
    if len(words) > _MOST_STEPS:
        raise InputError(
            f"{len(words)} accuracies are given", f"give at most {_MOST_STEPS}", "--step-accuracy"
        )
    exact = [_accuracy(word) for word in words]
    values = [float(value) for value in exact]
    gains = _gains(values)
    length = 1 + sum(gains)
    halves = [float(Decimal(1).scaleb(min(0, int(v.as_tuple().exponent))) / 2) for v in exact]
    ends = (
        1 + sum(_gains([min(1.0, v + h) for v, h in zip(values, halves, strict=True)])),
        1 + sum(_gains([max(0.0, v - h) for v, h in zip(values, halves, strict=True)])),
    )
    rounding = max(abs(end - length) for end in ends)
    seen = None if measured is None else _measured(measured, len(values))
    return Expectation(tuple(values), tuple(gains), length, rounding, seen)


def _gains(accuracies: list[float]) -> list[float]:
    """What each step adds: the chance that it and all steps before it are right."""
    gains: list[float] = []
    for accuracy in accuracies:
        gains.append(accuracy * (gains[-1] if gains else 1.0))
    return gains


def _accuracy(word: str) -> Decimal:
    value = _number(word, "--step-accuracy")
    if not 0 <= value <= 1:
        raise InputError(f"{word!r} is no accuracy", "say 0.75 for 75 percent", "--step-accuracy")
    return value


def _measured(word: str, steps: int) -> float:
    value = float(_number(word, "--measured"))
    if not 1 <= value <= steps + 1:
        raise InputError(
            f"{word!r} is no mean length of {steps} step{'s' if steps > 1 else ''}",
            f"give the mean number of tokens per verification, from 1 to {steps + 1}:"
            " accepted draft tokens and the target's own",
            "--measured",
        )
    return value


def _number(word: str, option: str) -> Decimal:
    try:
        value = Decimal(word)
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite() or len(word) > 40 or not math.isfinite(float(value)):
        raise InputError(f"{word!r} is no number", "say 0.75,0.7,0.66 or 1.8", option)
    return value
