"""What a proof has found so far, a JSON line each: it can be stopped and taken up again."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Record = dict[str, Any]


@dataclass
class Records:
    """Records of all parts by key; with a file they outlive the run.

    A key says part, revision of what was looked at and what was done to it. What the file holds is
    not computed again.
    """

    path: Path | None = None
    known: dict[str, Record] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.path is not None and self.path.exists():
            for line in self.path.read_text("utf-8").splitlines():
                record = json.loads(line)
                self.known[record["key"]] = record

    def __contains__(self, key: str) -> bool:
        return key in self.known

    def add(self, record: Record) -> None:
        """Keeps a record, at once."""
        self.known[record["key"]] = record
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(record) + "\n")

    def of(self, part: str) -> list[Record]:
        """The records of one part, in the order of their keys."""
        return [self.known[key] for key in sorted(self.known) if self.known[key]["part"] == part]


@dataclass(frozen=True, slots=True)
class Figure:
    """One of the four figures: a line for the table, what counts against it, what it leaves open.

    `bad`: each is a bug. `open`: each is known, harmless or undecided, and has its reason.
    """

    name: str
    asked: str
    answer: str
    counts: dict[str, Any]
    bad: tuple[str, ...] = ()
    open: tuple[str, ...] = ()

    def line(self) -> str:
        """For the terminal."""
        return f"{self.name}: {self.answer}"

    def whole(self) -> Record:
        """For machines."""
        return {
            "name": self.name,
            "asked": self.asked,
            "answer": self.answer,
            **self.counts,
            "bad": list(self.bad),
            "open": list(self.open),
        }


def markdown(figures: Sequence[Figure]) -> str:
    """The table that the README quotes, and what was found beside it."""
    lines = ["| proof | what is asked | what came out |", "| --- | --- | --- |"]
    lines += [f"| {f.name} | {f.asked} | {f.answer} |" for f in figures]
    for title, pick in (("Bugs", "bad"), ("Open", "open")):
        for figure in figures:
            found = getattr(figure, pick)
            if found:
                lines += ["", f"{title}: {figure.name}", ""]
                lines += [f"- {text}" for text in found]
    return "\n".join(lines) + "\n"
