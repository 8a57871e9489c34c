"""The compatibility table: under which settings of the switches the two sides agree."""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from checker._compat import StrEnum
from checker.report.model import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from checker.report.model import Json
    from checker.report.terminal import Paint


class Around(StrEnum):
    """Whose defaults settings are tried around."""

    COMMAND_LINE = "command-line"
    LIBRARY = "library"


@dataclass(frozen=True, slots=True)
class Explored:
    """The verdict under one setting of the switches, when settings were explored.

    `switches` are those that differ from the defaults it is put around; none for these themselves.
    `holding` serves the text: what is no longer violated may have become impossible to ask.
    """

    around: Around
    switches: Mapping[str, Json]
    verdict: Verdict
    violated: tuple[str, ...]
    unproven: tuple[str, ...] = ()
    holding: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """The configuration as the report's schema has it."""
        return {
            "around": self.around.value,
            "switches": {key: self.switches[key] for key in sorted(self.switches)},
            "verdict": self.verdict.value,
            "violated": [*sorted(self.violated)],
            "unproven": [*sorted(self.unproven)],
        }


_BASES = {
    Around.COMMAND_LINE: "the training command's defaults",
    Around.LIBRARY: "the library's defaults",
}
_STYLES = {Verdict.AGREE: "green", Verdict.DIFFER: "red", Verdict.UNPROVEN: "yellow"}
_LONG = 24
_LONGEST = 48
_WORDS = max(len(verdict.value) for verdict in Verdict)


def table(configurations: Sequence[Explored], paint: Paint) -> Iterator[str]:
    """A block of lines for each default draft: itself, and what was changed of it, one a line.

    What a change brings (`+`) and takes away (`-`) is said against the default draft.
    """
    width = max((len(_settings(c)) for c in configurations), default=0)
    for around, group in groupby(configurations, key=lambda c: c.around):
        base, *others = group
        yield ""
        verdict = paint(_STYLES[base.verdict], base.verdict.value.upper())
        yield paint("bold", f"Around {_BASES[around]}") + f": {verdict}"
        for word, clauses in (("violated", base.violated), ("unproven", base.unproven)):
            if clauses:
                said = f"{word}: {', '.join(clauses)}"
                yield from textwrap.wrap(said, 96, initial_indent="   ", subsequent_indent="     ",
                                         break_on_hyphens=False)  # fmt: skip
        for other in others:
            yield _row(_settings(other), other, _change(base, other), width, paint)


def _row(name: str, explored: Explored, said: str, width: int, paint: Paint) -> str:
    verdict = paint(_STYLES[explored.verdict], f"{explored.verdict.value.upper():<{_WORDS}}")
    return f"   {name:<{width}}  {verdict}  {said}".rstrip()


def _settings(explored: Explored) -> str:
    """What was changed, as short as it can be said."""
    said = ""
    for name, value in explored.switches.items():
        text = "left out" if value is None else f"= {_short(json.dumps(value))}"
        part = f"{name} {text}"
        if said and len(said) + len(part) > _LONGEST:
            return f"{said}, …"
        said = f"{said}, {part}" if said else part
    return said


def _short(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"


def _change(base: Explored, other: Explored) -> str:
    known = {*base.violated, *base.unproven}
    parts = [f"+{clause}" for clause in other.violated if clause not in known]
    parts += [f"+{clause} (unproven)" for clause in other.unproven if clause not in known]
    parts += [f"-{clause}" for clause in sorted(known) if clause in other.holding]
    return " ".join(parts) or "no change"
