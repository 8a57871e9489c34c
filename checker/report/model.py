"""The report as values: what a command found out, before it is written in any format.

The JSON form of these values is stable; ``contracts/schema/report.schema.json`` describes it.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from checker._compat import StrEnum
from checker.contract.model import Severity  # noqa: TC001 - part of this module's vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from checker.location import Location
    from checker.report.drawing import Drawing
    from checker.report.explored import Explored
    from checker.report.stored import Accounts
    from checker.report.witnessed import Witness

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
Boundary: TypeAlias = int | str | None
"""A number; `NOT_A_BOUNDARY` for a captured value that is none; None where nothing was proven."""

SCHEMA = 1
_PLACES = re.compile(r"(?<!\S)(?:\S+\.py:\d+|\S+==\S+)")
"""What a text names of files, lines and releases."""
NOT_A_BOUNDARY = "not-a-boundary"
NOT_IMPLEMENTED = "not-implemented"
"""Reason of a clause this version cannot check; alone it changes neither verdict nor status."""
RAISES = "raises"
"""Reason of a clause that is not applicable because the engine raises before its values exist."""


class Status(StrEnum):
    """What is known about a clause."""

    HOLDS = "holds"
    VIOLATED = "violated"
    UNPROVEN = "unproven"
    NOT_APPLICABLE = "not-applicable"


class Verdict(StrEnum):
    """The answer to the one question."""

    AGREE = "agree"
    DIFFER = "differ"
    UNPROVEN = "unproven"


UNUSABLE = 2
"""Exit status where something that the user gave cannot stay as it is."""
EXIT_STATUS = {Verdict.AGREE: 0, Verdict.DIFFER: 1, Verdict.UNPROVEN: 3}


@dataclass(frozen=True, slots=True)
class Configured:
    """The configuration that a side was given: its path, None for one that was made up.

    `format` is the id of the format it is written in, `title` what people call that.
    """

    path: str | None
    format: str | None
    title: str | None

    def to_json(self) -> dict[str, Json]:
        """The configuration as the report's schema has it."""
        return {"path": self.path, "format": self.format}


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two implementations compared.

    `with_` are the other distributions its code was read from, by name and version. `folder` is
    where the source lies on disk, for a checkout; it is no part of the JSON form.
    """

    engine: str
    source: str
    version: str | None
    fingerprint: str
    entry: str
    with_: Mapping[str, str] = field(default_factory=dict)
    configured: Configured | None = None
    folder: str | None = None

    def to_json(self) -> dict[str, Json]:
        """The side as the report's schema has it."""
        return {
            "engine": self.engine,
            "source": self.source,
            "version": self.version,
            "fingerprint": self.fingerprint,
            "entry": self.entry,
            "with": {name: self.with_[name] for name in sorted(self.with_)},
            "config": None if self.configured is None else self.configured.to_json(),
        }


@dataclass(frozen=True, slots=True)
class SideValue:
    """What one side computes where a clause looks: the rendered term and its lines."""

    value: str | None = None
    locations: tuple[Location, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """The value as the report's schema has it."""
        return {"value": self.value, "locations": [place(item) for item in self.locations]}


@dataclass(frozen=True, slots=True)
class Raised:
    """What an engine would raise instead of computing a value."""

    type: str
    message: str
    location: Location | None

    def to_json(self) -> dict[str, Json]:
        """The error as the report's schema has it."""
        location = None if self.location is None else place(self.location)
        return {"type": self.type, "message": self.message, "location": location}


@dataclass(frozen=True, slots=True)
class ClauseResult:
    """What was found out about one clause.

    `when` are conditions like ``norm_before_residual == true``; `reason` says why nothing is proven
    or why the clause does not apply. `waived` is why it does not count for the exit status.
    """

    id: str
    status: Status
    severity: Severity
    message: str = ""
    remedy: str = ""
    when: tuple[str, ...] = ()
    reason: str | None = None
    error: Raised | None = None
    train: SideValue = SideValue()
    serve: SideValue = SideValue()
    waived: str | None = None

    @property
    def fingerprint(self) -> str:
        """What the result is known by in waivers and in other tools.

        It is made of what is said and computed, not of releases, files or lines: the same finding
        keeps it when code moves, and another finding of the clause has another one.
        """
        error = None if self.error is None else [self.error.type, self.error.message]
        computed = [self.train.value, self.serve.value, error]
        said = [_PLACES.sub("", text) for text in (self.message, self.reason or "")]
        structure = json.dumps([self.id, self.status.value, computed, said])
        return hashlib.sha256(structure.encode()).hexdigest()[:16]

    @property
    def undecided(self) -> bool:
        """Whether a proof was tried and failed; a clause nobody checks yet is not undecided."""
        return self.status is Status.UNPROVEN and self.reason != NOT_IMPLEMENTED

    def to_json(self) -> dict[str, Json]:
        """The result as the report's schema has it."""
        return {
            "id": self.id,
            "fingerprint": self.fingerprint,
            "status": self.status.value,
            "severity": self.severity.value,
            "when": list(self.when),
            "message": self.message,
            "remedy": self.remedy,
            "reason": self.reason,
            "error": None if self.error is None else self.error.to_json(),
            "train": self.train.to_json(),
            "serve": self.serve.to_json(),
            **({} if self.waived is None else {"waived": self.waived}),
        }


def verdict_of(results: Iterable[ClauseResult]) -> Verdict:
    """Anything violated, else anything undecided, else agreement."""
    clauses = [*results]
    if any(clause.status is Status.VIOLATED for clause in clauses):
        return Verdict.DIFFER
    return Verdict.UNPROVEN if any(clause.undecided for clause in clauses) else Verdict.AGREE


@dataclass(frozen=True, slots=True)
class Capture:
    """Which boundaries of the target one side captures.

    `boundaries` is what prefill captures; `graph_boundaries` is given where captured graphs differ
    from it; `aliased` are the requested ids whose stored tensor is overwritten later.
    """

    layer_ids: tuple[int, ...] | None = None
    boundaries: tuple[Boundary, ...] | None = None
    graph_boundaries: tuple[Boundary, ...] | None = None
    aliased: tuple[int, ...] = ()
    error: Raised | None = None

    def to_json(self) -> dict[str, Json]:
        """The capture as the report's schema has it."""
        return {
            "layer_ids": _listed(self.layer_ids),
            "boundaries": _listed(self.boundaries),
            "graph_boundaries": _listed(self.graph_boundaries),
            "aliased": list(self.aliased),
            "error": None if self.error is None else self.error.to_json(),
        }


@dataclass(frozen=True, slots=True, order=True)
class ConfigRead:
    """A configuration key the code reads.

    `key` is dotted where it stands deeper (``outer.inner``); `default` is
    the Python spelling of what is used when the key is missing, None when nothing is.
    """

    key: str
    default: str | None
    location: Location

    def to_json(self) -> dict[str, Json]:
        """The read as the report's schema has it."""
        return {"key": self.key, "default": self.default, "location": place(self.location)}


@dataclass(frozen=True, slots=True)
class SideFacts:
    """What was learned about one side whatever the clauses say.

    `weights` maps checkpoint names to the parameters they reach, None for one that is dropped.
    """

    capture: Capture = Capture()
    config_reads: tuple[ConfigRead, ...] = ()
    weights: Mapping[str, str | None] = field(default_factory=dict)

    def to_json(self) -> dict[str, Json]:
        """The facts as the report's schema has them."""
        return {
            "capture": self.capture.to_json(),
            "config_reads": [
                read.to_json() for read in sorted(set(self.config_reads), key=_by_read)
            ],
            "weights": {name: self.weights[name] for name in sorted(self.weights)},
        }


@dataclass(frozen=True, slots=True)
class Facts:
    """What was learned about both sides."""

    train: SideFacts = field(default_factory=SideFacts)
    serve: SideFacts = field(default_factory=SideFacts)

    def to_json(self) -> dict[str, Json]:
        """The facts as the report's schema has them."""
        return {"train": self.train.to_json(), "serve": self.serve.to_json()}


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many clauses ended in which status."""

    holds: int
    violated: int
    unproven: int
    not_applicable: int

    def to_json(self) -> dict[str, Json]:
        """The counts as the report's schema has them."""
        return {
            "holds": self.holds,
            "violated": self.violated,
            "unproven": self.unproven,
            "not-applicable": self.not_applicable,
        }


@dataclass(frozen=True, slots=True)
class Report:
    """The whole answer of ``verify``. Clauses are kept sorted by id.

    `max_unproven` is the number of clauses that may be unproven without changing the exit status.

    `excerpts` are the source lines of the places named, `drawings` the two graphs step by step
    where they were asked for; they serve the formats that show them and are no part of the JSON
    form. `complaints` are what is wrong with waivers.
    """

    train: Side
    serve: Side
    clauses: tuple[ClauseResult, ...]
    assumptions: tuple[str, ...] = ()
    configuration: Mapping[str, Json] = field(default_factory=dict)
    facts: Facts = field(default_factory=Facts)
    configurations: tuple[Explored, ...] = ()
    excerpts: Mapping[Location, str] = field(default_factory=dict)
    witness: Witness | None = None
    stored: Accounts | None = None
    max_unproven: int = 0
    drawings: tuple[tuple[Drawing, Drawing], ...] = ()
    complaints: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "clauses", tuple(sorted(self.clauses, key=lambda item: item.id)))

    @property
    def verdict(self) -> Verdict:
        """Follows from the clauses."""
        return verdict_of(self.clauses)

    @property
    def exit_status(self) -> int:
        """The exit status of the command: 0 agree, 1 differ, 3 unproven or contradicted, 2 waivers.

        As many clauses as `max_unproven` may be unproven where nothing is violated. What is waived
        changes no verdict, but does not count here.
        """
        if self.witness is not None and self.witness.agrees is False:
            return EXIT_STATUS[Verdict.UNPROVEN]
        counted = verdict_of(clause for clause in self.clauses if clause.waived is None)
        tolerated = counted is Verdict.UNPROVEN and self.tolerates_unproven
        status = EXIT_STATUS[Verdict.AGREE if tolerated else counted]
        return UNUSABLE if self.complaints and status == 0 else status

    @property
    def tolerates_unproven(self) -> bool:
        """Whether no more clauses are unproven than may be."""
        undecided = sum(clause.undecided and clause.waived is None for clause in self.clauses)
        return undecided <= self.max_unproven

    @property
    def strict_exit_status(self) -> int:
        """The same when every configuration that was tried has to agree."""
        own = self.exit_status
        found = {own, *(EXIT_STATUS[c.verdict] for c in self.configurations)}
        worst = (EXIT_STATUS[verdict] for verdict in (Verdict.DIFFER, Verdict.UNPROVEN))
        return next((status for status in worst if status in found), own)

    @property
    def coverage(self) -> Coverage:
        """How many clauses ended in which status."""
        statuses = [clause.status for clause in self.clauses]
        return Coverage(
            holds=statuses.count(Status.HOLDS),
            violated=statuses.count(Status.VIOLATED),
            unproven=statuses.count(Status.UNPROVEN),
            not_applicable=statuses.count(Status.NOT_APPLICABLE),
        )

    def to_json(self) -> dict[str, Json]:
        """The report as its schema has it."""
        return {
            "schema": SCHEMA,
            "verdict": self.verdict.value,
            "train": self.train.to_json(),
            "serve": self.serve.to_json(),
            "assumptions": list(self.assumptions),
            "configuration": {key: self.configuration[key] for key in sorted(self.configuration)},
            "clauses": [clause.to_json() for clause in self.clauses],
            "facts": self.facts.to_json(),
            "coverage": self.coverage.to_json(),
            "configurations": [explored.to_json() for explored in self.configurations],
            **({"complaints": [*self.complaints]} if self.complaints else {}),
            **({"witness": self.witness.to_json()} if self.witness is not None else {}),
            **({"stored": self.stored.to_json()} if self.stored is not None else {}),
        }


def place(location: Location) -> dict[str, Json]:
    """A location as JSON: the path is relative to its source's root, numbers start at 1."""
    return {"path": location.path, "line": location.line, "column": location.column}


def _by_read(read: ConfigRead) -> tuple[str, Location, str]:
    return read.key, read.location, read.default or ""


def _listed(items: tuple[Boundary, ...] | tuple[int, ...] | None) -> list[Json] | None:
    return None if items is None else list(items)
