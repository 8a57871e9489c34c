"""What is asked of a server's target, and what it hands over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from checker.location import Location


@dataclass(frozen=True, slots=True)
class CaptureError:
    """The exception that the server raises."""

    type: str
    message: str
    location: Location | None


@dataclass(frozen=True, slots=True)
class Captured:
    """What one target hands over for one list of ids.

    `boundaries`: in the order of concatenation, each a number, "not-a-boundary", or None where it
    could not be told; None as a whole where the server raises (`error`) or nothing could be told
    (`reason` says why). `aliased`: requested ids whose stored tensor is overwritten later.
    `kept`: where values are put into lists; `decisions`: what was answered both ways.
    `refused`: what ends the run may be a configuration that the server does not take.
    `norm`: epsilon (None where the target's configuration does not tell it) and offset of the
    RMSNorm before the target's head, where it is one. `loop` and `joined`: where the layers are
    called, and where the states are concatenated.
    """

    target: str
    ids: tuple[int, ...] | None
    boundaries: tuple[int | str | None, ...] | None = None
    aliased: tuple[int, ...] = ()
    error: CaptureError | None = None
    reason: str = ""
    place: Location | None = None
    setter: Location | None = None
    refused: bool = False
    kept: tuple[Location, ...] = ()
    decisions: tuple[str, ...] = ()
    norm: tuple[float | None, float] | None = None
    loop: Location | None = None
    joined: Location | None = None

    @property
    def is_decided(self) -> bool:
        """Whether every value is told."""
        if self.boundaries is None:
            return self.error is not None and not self.refused
        return None not in self.boundaries

    @property
    def is_plain(self) -> bool:
        """Whether each value is the boundary that it is for sure, and stays it."""
        numbers = self.boundaries is not None and all(type(b) is int for b in self.boundaries)
        return numbers and not self.aliased

    @property
    def answer(self) -> tuple[object, ...]:
        """What is told, without the places."""
        error = None if self.error is None else (self.error.type, self.error.message)
        return self.boundaries, self.aliased, error

    @property
    def said(self) -> str:
        """What is told, in words."""
        if self.error is not None:
            return f"raises {self.error.type}"
        values = ", ".join("?" if b is None else str(b) for b in self.boundaries or ())
        return f"[{values}]" + (" with some overwritten later" if self.aliased else "")

    @property
    def is_stuck(self) -> bool:
        """Whether it was not followed to its end."""
        return self.boundaries is None and self.error is None and not self.refused

    @property
    def count(self) -> int | None:
        """The number of states; None where that is not known."""
        return None if self.boundaries is None else len(self.boundaries)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a target: its architecture, layers, ids, and what of its config is known.

    `ranks`: how many share each tensor; `launch` are the launch flags, where they matter: with
    several ranks, or where batches are computed in parts; else the variables that the line sets.
    """

    target: str
    layers: int
    ids: tuple[int, ...] | None
    config: dict[str, Any] | None = None
    ranks: int = 1
    launch: dict[str, Any] | None = None
