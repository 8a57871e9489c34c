"""What changed in meaning between two releases of one engine: values, text and JSON."""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from checker._compat import StrEnum
from checker.report.model import place
from checker.report.terminal import Paint, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from checker.location import Location
    from checker.report.model import Json, Side

SCHEMA = 1
_WIDTH = 96
_SHOWN = 4


class Kind(StrEnum):
    """What a change is to somebody who upgrades; the first is the worst."""

    BREAKING = "breaking"
    UNKNOWN = "unknown"
    BEHAVIOUR = "behaviour"
    NEW_SWITCH = "new switch"
    FIXED = "fixed"


_STYLES = {
    Kind.BREAKING: "bold red",
    Kind.UNKNOWN: "bold yellow",
    Kind.BEHAVIOUR: "bold blue",
    Kind.NEW_SWITCH: "bold blue",
    Kind.FIXED: "bold green",
}


@dataclass(frozen=True, slots=True)
class Change:
    """One change of meaning.

    `clauses` are those it touches; `under` says where it was seen, in words: settings of a draft,
    targets or launch lines. `old` and `new` are lines of both releases.
    """

    kind: Kind
    clauses: tuple[str, ...]
    message: str
    under: tuple[str, ...]
    old: tuple[Location, ...] = ()
    new: tuple[Location, ...] = ()

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes two changes, seen in two places, one."""
        return self.kind, self.clauses, self.message

    def to_json(self) -> dict[str, Json]:
        """The change as its schema has it."""
        return {
            "kind": self.kind.value,
            "clauses": list(self.clauses),
            "message": self.message,
            "under": list(self.under),
            "old": [place(item) for item in self.old],
            "new": [place(item) for item in self.new],
        }


def together(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Changes that are one, with all the places where they were seen; the worst first."""
    found: dict[tuple[Any, ...], Change] = {}
    for change in changes:
        known = found.get(change.key)
        if known is not None:
            under = tuple(dict.fromkeys((*known.under, *change.under)))
            change = replace(known, under=under)  # noqa: PLW2901
        found[change.key] = change
    order = {kind: number for number, kind in enumerate(Kind)}
    return tuple(sorted(found.values(), key=lambda c: (order[c.kind], c.clauses, c.message)))


@dataclass(frozen=True, slots=True)
class Changes:
    """The whole answer of ``diff``.

    `old` and `new` are the two releases, `role` what they are, `other` the engine beside them.
    `compared` says how much was looked at, in words; `draft` the verdicts where one was given.
    """

    old: Side
    new: Side
    other: Side
    role: str
    changes: tuple[Change, ...]
    compared: Mapping[str, int] = field(default_factory=dict)
    draft: tuple[str, str] | None = None
    assumptions: tuple[str, ...] = ()
    excerpts: Mapping[Location, str] = field(default_factory=dict)

    @property
    def exit_status(self) -> int:
        """0 where nothing breaks, 1 where something does, 3 where it is not known."""
        kinds = {change.kind for change in self.changes}
        return 1 if Kind.BREAKING in kinds else 3 if Kind.UNKNOWN in kinds else 0

    def to_json(self) -> dict[str, Json]:
        """The answer as its schema has it."""
        draft = None if self.draft is None else {"old": self.draft[0], "new": self.draft[1]}
        return {
            "schema": SCHEMA,
            "old": self.old.to_json(),
            "new": self.new.to_json(),
            "other": self.other.to_json(),
            "role": self.role,
            "draft": draft,  # type: ignore[dict-item] # a dict of strings is JSON
            "changes": [change.to_json() for change in self.changes],
            "compared": dict(self.compared),
            "assumptions": list(self.assumptions),
        }


def render(found: Changes, paint: Paint = Paint()) -> str:  # noqa: B008 - a value
    """The answer for people."""
    return "\n".join(_lines(found, paint)) + "\n"


def _lines(found: Changes, paint: Paint) -> Iterator[str]:
    counts = {kind: sum(c.kind is kind for c in found.changes) for kind in Kind}
    said = ", ".join(f"{count} {kind.value}" for kind, count in counts.items() if count)
    pair = f"{found.old.source} to {found.new.source}"
    yield paint("bold", printable(f"{pair}: {said or 'no change of meaning'}"))
    if found.draft is not None:
        old, new = found.draft
        yield printable(f"the draft: {old.upper()} with the old, {new.upper()} with the new")
    for number, change in enumerate(found.changes, start=1):
        yield ""
        head = f"{number}. {change.kind.value}"
        clauses = f": {', '.join(change.clauses)}" if change.clauses else ""
        yield paint(_STYLES[change.kind], head) + printable(clauses)
        yield from _wrapped(change.message, "")
        yield from _wrapped(_under(change.under), "under     ")
        for name, places in (("old", change.old), ("new", change.new)):
            for where in places[:2]:
                yield printable(f"   {name:<9} {where}")
                line = found.excerpts.get(where)
                if line:
                    yield printable(f"                 {line}")
    yield ""
    against = "trained by" if found.role == "server" else "served by"
    looked = ", ".join(f"{count} {what}" for what, count in found.compared.items())
    yield from textwrap.wrap(
        printable(f"compared {looked}; {against} {found.other.source}"), _WIDTH
    )


def _under(places: tuple[str, ...]) -> str:
    shown = "; ".join(places[:_SHOWN])
    more = len(places) - _SHOWN
    return f"{shown}; and {more} more" if more > 0 else shown


def _wrapped(text: str, label: str) -> list[str]:
    return textwrap.wrap(
        printable(f"{label}{text}"), _WIDTH, initial_indent="   ",
        subsequent_indent="   " + " " * len(label), break_on_hyphens=False,
    )  # fmt: skip


def setting_words(around: str, changed: Mapping[str, Any]) -> str:
    """A setting of a draft in words."""
    if not changed:
        return f"{around} defaults"
    said = ", ".join(
        f"{name} left out" if value is None else f"{name} = {json.dumps(value)}"
        for name, value in changed.items()
    )
    return f"{around} defaults with {said}"
