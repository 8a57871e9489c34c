"""What the run-time witness saw, as a part of the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from checker._compat import StrEnum

if TYPE_CHECKING:
    from checker.report.model import Json


class Seen(StrEnum):
    """What the run-time witness saw."""

    EQUAL = "equal"
    DIFFERENT = "different"
    NO_VERDICT = "no-verdict"


@dataclass(frozen=True, slots=True)
class Witness:
    """Both sides' real code on the same small random numbers, and what it says of the report.

    `largest` is the largest difference between logits of any step. `agrees` compares with the
    clauses that such a run can show (`reach`), None without a verdict. `reason` says why there is
    none, or what was raised.
    """

    seen: Seen
    largest: float | None = None
    agrees: bool | None = None
    reason: str | None = None
    steps: int = 0
    out_of_reach: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """The witness as the report's schema has it."""
        return {
            "seen": self.seen.value,
            "largest": self.largest,
            "agrees": self.agrees,
            "reason": self.reason,
            "steps": self.steps,
            "out_of_reach": list(self.out_of_reach),
        }
