"""What `solve` found: a configuration ready to save, or the clauses that none mends."""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from checker.report.model import Status, Verdict
from checker.report.terminal import Paint, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from checker.contract.model import Contract
    from checker.report.model import Boundary, ClauseResult, Json, Report

SCHEMA = 1
_WIDTH = 96
_WORDS = {
    Verdict.AGREE: ("bold green", "FOUND"),
    Verdict.DIFFER: ("bold red", "NONE"),
    Verdict.UNPROVEN: ("bold yellow", "UNPROVEN"),
}


@dataclass(frozen=True, slots=True)
class Change:
    """One key of the configuration that is another than the user's; None where there is none."""

    key: str
    old: Any
    new: Any
    had: bool
    has: bool

    def to_json(self) -> dict[str, Json]:
        """The change as its schema has it."""
        found: dict[str, Json] = {"key": self.key}
        if self.had:
            found["old"] = self.old
        if self.has:
            found["new"] = self.new
        return found


@dataclass(frozen=True, slots=True)
class Solution:
    """The best of what was tried, with the report that `verify` gives for it.

    `line` is the launch line with the flags in `launch`; `had`, `launch_had` and `renames_had` are
    what the user gave; `always` the clauses that are broken, or open, whatever is tried; `before`
    the verdict for what the user had; `boundaries` what the target hands over; `trained` whether
    training came to its end, without which nothing is looked for.
    """

    report: Report
    config: Mapping[str, Any]
    had: Mapping[str, Any] | None
    launch: Mapping[str, Any]
    launch_had: Mapping[str, Any] | None
    line: str
    renames: tuple[tuple[str, str], ...]
    renames_had: tuple[tuple[str, str], ...]
    tried: int
    always: tuple[str, ...] = ()
    before: Verdict | None = None
    boundaries: tuple[Boundary, ...] | None = None
    trained: bool = True

    @property
    def verdict(self) -> Verdict:
        """What `verify` says of it."""
        return self.report.verdict

    @property
    def exit_status(self) -> int:
        """0 where every clause holds, 1 where none was found, 3 where some are unproven."""
        return {Verdict.AGREE: 0, Verdict.DIFFER: 1, Verdict.UNPROVEN: 3}[self.verdict]

    @property
    def changes(self) -> tuple[Change, ...] | None:
        """How the configuration differs from the user's; None where there was none."""
        if self.had is None:
            return None
        old, new = dict(_flat(self.had)), dict(_flat(self.config))
        return tuple(
            Change(key, old.get(key), new.get(key), key in old, key in new)
            for key in dict.fromkeys((*old, *new))
            if key not in old or key not in new or _spelled(old[key]) != _spelled(new[key])
        )

    def saved(self) -> str:
        """The configuration as a file."""
        return json.dumps(self.config, indent=2) + "\n"

    def broken(self) -> tuple[ClauseResult, ...]:
        """The clauses that stand in the way."""
        wrong = [c for c in self.report.clauses if c.status is Status.VIOLATED]
        return tuple(wrong or [c for c in self.report.clauses if c.undecided])

    def to_json(self) -> dict[str, Json]:
        """The solution as its schema has it."""
        changes = self.changes
        broken = [{**c.to_json(), "always": c.id in self.always} for c in self.broken()]
        return {
            "schema": SCHEMA,
            "found": self.verdict is Verdict.AGREE,
            "verdict": self.verdict.value,
            "train": self.report.train.to_json(),
            "serve": self.report.serve.to_json(),
            "config": dict(self.config),
            "changes": None if changes is None else [change.to_json() for change in changes],
            "launch": dict(self.launch),
            "launch_line": self.line,
            "renames": [f"{old}={new}" for old, new in self.renames],
            "boundaries": None if self.boundaries is None else list(self.boundaries),
            "before": None if self.before is None else self.before.value,
            "tried": self.tried,
            "broken": broken,  # type: ignore[dict-item] # clauses are JSON already
            "assumptions": list(self.report.assumptions),
        }


def render(found: Solution, contract: Contract, paint: Paint) -> str:
    """The solution for people; the configuration stands in it as it would be saved."""
    return "\n".join(_lines(found, contract, paint)) + "\n"


def _lines(found: Solution, contract: Contract, paint: Paint) -> Iterator[str]:
    style, word = _WORDS[found.verdict]
    train, serve = found.report.train.source, found.report.serve.source
    tried = "1 was tried" if found.tried == 1 else f"{found.tried} were tried"
    said = {
        Verdict.AGREE: f"with this, {serve} computes what {train} trained",
        Verdict.DIFFER: f"no configuration makes {serve} compute what {train} trained",
        Verdict.UNPROVEN: f"nothing speaks against this, and not everything is proven: {serve},"
        f" {train}",
    }[found.verdict]
    if not found.trained:
        said = f"this is no draft that {train} is seen to train: nothing is looked for"
        yield paint(style, printable(f"{word}: {said}"))
    else:
        yield paint(style, printable(f"{word}: {said} ({tried})"))
    for number, clauses in enumerate(_alike(found.broken()), start=1):
        yield ""
        yield from _clause(found, clauses, number, contract)
    if not found.trained:
        return
    yield ""
    if found.verdict is Verdict.AGREE:
        yield "Configuration"
    else:
        yield "The best that was tried"
    yield from found.saved().splitlines()
    yield from _changed(found)
    yield ""
    if found.line:
        yield "Launch flags" + ("" if found.launch != found.launch_had else " (as they were)")
        yield f"   {printable(found.line)}"
    if found.renames:
        yield "Renamed tensors" + ("" if found.renames != found.renames_had else " (as they were)")
        yield from [f"   {old} becomes {new}" for old, new in found.renames]
    else:
        yield "Renamed tensors: none"


def _changed(found: Solution) -> Iterator[str]:
    changes = found.changes
    if changes is None:
        return
    yield ""
    yield "Changed" if changes else "Nothing is changed"
    for change in changes:
        if not change.has:
            yield f"   {change.key}: {_spelled(change.old)} is taken out"
        elif not change.had:
            yield f"   {change.key}: {_spelled(change.new)} is added"
        else:
            yield f"   {change.key}: {_spelled(change.old)} becomes {_spelled(change.new)}"


def _alike(clauses: Iterable[ClauseResult]) -> list[list[ClauseResult]]:
    """Clauses, those together that one and the same thing keeps from being proven."""
    found: dict[object, list[ClauseResult]] = {}
    for clause in clauses:
        places = clause.train.locations, clause.serve.locations
        same = (clause.reason, *places) if clause.status is not Status.VIOLATED else clause.id
        found.setdefault(same, []).append(clause)
    return [*found.values()]


def _clause(
    found: Solution, clauses: list[ClauseResult], number: int, contract: Contract
) -> Iterator[str]:
    clause = clauses[0]
    said = contract.clauses.get(clause.id)
    if len(clauses) > 1:
        names = f"{number}. " + ", ".join(one.id for one in clauses)
        yield from textwrap.wrap(names, _WIDTH, subsequent_indent="   ", break_on_hyphens=False)
    else:
        title = f": {said.title}" if said is not None else ""
        yield printable(f"{number}. {clause.id}{title}")
    yield from _wrapped(clause.message or clause.reason or "")
    if found.trained:
        always = all(one.id in found.always for one in clauses)
        yield from _wrapped(
            "no configuration that was tried mends it"
            if always
            else "mended by others, which break something else"
        )
    for name, side in (("trainer", clause.train), ("server", clause.serve)):
        for place in side.locations[:2]:
            line = found.report.excerpts.get(place)
            yield printable(f"   {name:<9} {place.path}:{place.line}")
            if line:
                yield printable(f"                 {line}")
    if clause.status is Status.VIOLATED and said is not None:
        yield from _wrapped(f"to mend   {' '.join((clause.remedy or said.remedy).split())}")


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(printable(text), _WIDTH - 3, initial_indent="   ", subsequent_indent="   ")


def _spelled(value: Any) -> str:
    return json.dumps(value)


def _flat(config: Mapping[str, Any], under: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in config.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{under}{key}.")
        else:
            yield f"{under}{key}", value
