"""Shapes of the wires, read and run, as ``trace`` shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from checker.report.model import place

if TYPE_CHECKING:
    from checker.location import Location
    from checker.report.model import Json


@dataclass(frozen=True, slots=True)
class Row:
    """One wire: its shape as read (in words and numbers) and as run; `same` None where not seen."""

    wire: str
    read: str
    run: str
    same: bool | None
    location: Location | None
    value: str = ""

    def to_json(self) -> dict[str, Json]:
        """The row with its place."""
        return {
            "wire": self.wire,
            "read": self.read,
            "run": self.run,
            "same": self.same,
            "value": self.value,
            "location": None if self.location is None else place(self.location),
        }


@dataclass(frozen=True, slots=True)
class Trace:
    """What one engine's real code did, beside what was read of it.

    `reason` says why there is no verdict; `largest` is the largest difference between logits of
    the real code and of the extracted graph, where values were compared.
    """

    label: str
    device: str
    rows: tuple[Row, ...] = ()
    largest: float | None = None
    agrees: bool = True
    reason: str | None = None

    @property
    def exit_status(self) -> int:
        """0 the same, 1 a disagreement, 3 no verdict."""
        if self.reason is not None:
            return 3
        return 0 if self.agrees else 1

    def to_json(self) -> dict[str, Json]:
        """The whole as data."""
        return {
            "source": self.label,
            "device": self.device,
            "agrees": None if self.reason is not None else self.agrees,
            "reason": self.reason,
            "largest": self.largest,
            "wires": [row.to_json() for row in self.rows],
        }


def render(trace: Trace) -> str:
    """A table, then one line that says what came of it."""
    lines = []
    if trace.rows:
        widths = [
            max(len(text) for text in column)
            for column in zip(*((r.wire, r.read, r.run) for r in trace.rows), strict=True)
        ]
        for row in trace.rows:
            mark = {True: "=", False: "≠", None: "?"}[row.same]
            cells = (f"{row.wire:<{widths[0]}}", f"{row.read:<{widths[1]}}", mark)
            where = str(row.location) if row.location is not None else ""
            text = "  ".join((*cells, f"{row.run:<{widths[2]}}", row.value, where))
            lines.append(" ".join(text.rstrip().split("\n")))
        lines.append("")
    lines.append(_verdict(trace))
    return "\n".join(lines) + "\n"


def _verdict(trace: Trace) -> str:
    where = f"{trace.label} on {trace.device}"
    if trace.reason is not None:
        return f"no verdict: {where}: {trace.reason}"
    seen = sum(row.same is not None for row in trace.rows)
    numbers = ""
    if trace.largest is not None:
        told = sum(bool(row.value) for row in trace.rows)
        numbers = (
            f"; {told} with the numbers of their own expression; logits of the real code and of the"
            f" extracted graph differ by at most {trace.largest:.2g}"
        )
    if trace.agrees:
        return f"agree: {where}: {seen} of {len(trace.rows)} wires seen, all as read{numbers}"
    wrong = sum(row.same is False for row in trace.rows)
    return f"differ: {where}: {wrong} of {seen} wires seen are not as read{numbers}"
