"""A clause of the contract as text: statement, reason, how it shows when broken, how to mend it."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from checker.report.terminal import Paint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from checker.contract.model import Clause, Contract

WIDTH = 96


def render_clause(clause: Clause, contract: Contract, paint: Paint = Paint()) -> str:  # noqa: B008
    """Everything the contract says about one clause, ending in a newline."""
    return "\n".join(_clause(clause, contract, paint)) + "\n"


def render_list(contract: Contract, paint: Paint = Paint()) -> str:  # noqa: B008
    """One line a clause: its id, its title and whether this version checks it."""
    width = max(len(name) for name in contract.clauses)
    rows = []
    for clause in contract.clauses.values():
        note = "" if clause.implemented else paint("dim", "  (not checked yet)")
        rows.append(f"{paint('bold', f'{clause.id:<{width}}')}  {clause.title}{note}")
    return "\n".join(rows) + "\n"


def _clause(clause: Clause, contract: Contract, paint: Paint) -> Iterator[str]:
    checked = "checked" if clause.implemented else "not checked yet"
    yield f"{paint('bold', clause.id)}: {clause.title} ({clause.severity.value}, {checked})"
    for heading, text in (
        ("Statement", clause.statement),
        ("Why", clause.why),
        ("When it is broken", clause.effect),
        ("To mend it", clause.remedy),
    ):
        yield ""
        yield paint("bold", heading)
        yield from _indented(text)
    switches = [item for item in contract.switches.values() if clause.id in item.clauses]
    if switches:
        yield ""
        yield paint("bold", "Switches")
        for switch in switches:
            yield from _indented(f"{switch.name}: {switch.summary}")
    if clause.references:
        yield ""
        yield paint("bold", "References")
        yield from (f"  {reference}" for reference in clause.references)


def _indented(text: str) -> list[str]:
    return textwrap.wrap(
        " ".join(text.split()),
        width=WIDTH,
        initial_indent="  ",
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
