"""A clause of the contract as text: statement, reason, how it shows when broken, how to mend it.

The same text is printed by ``explain`` and written as a page of the documentation.
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checker.errors import InputError
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


def render_page(clause: Clause, contract: Contract) -> str:
    """The same as a page in Markdown."""
    parts = [f"# {clause.id}: {clause.title}", f"{_standing(clause)}."]
    for heading, paragraphs in _sections(clause, contract):
        parts.append(f"## {heading}")
        listed = heading in _LISTS
        body = [textwrap.fill(" ".join(text.split()), WIDTH, **_PROSE) for text in paragraphs]
        parts.append("\n".join(f"- {text}" for text in paragraphs) if listed else "\n\n".join(body))
    return "\n\n".join(parts) + "\n"


def render_pages(contract: Contract) -> dict[str, str]:
    """Every page by its file's name: one a clause, and a list of them."""
    rows = [f"- [{c.id}]({c.id}.md): {c.title}" for c in contract.clauses.values()]
    about = (
        "What trainer and server have to have in common. These pages are written from the contract"
        " by `eagle3-check contracts pages docs/clauses`; `eagle3-check explain CLAUSE` prints the"
        " same."
    )
    index = ["# Clauses", textwrap.fill(about, WIDTH, **_PROSE), "\n".join(rows)]
    pages = {
        f"{clause.id}.md": render_page(clause, contract) for clause in contract.clauses.values()
    }
    return {"README.md": "\n\n".join(index) + "\n", **pages}


def write_pages(contract: Contract, folder: str) -> list[Path]:
    """Writes the pages into a folder; pages of clauses that there are no more are removed.

    Raises:
        InputError: the folder cannot be written to.
    """
    place, pages = Path(folder), render_pages(contract)
    try:
        place.mkdir(parents=True, exist_ok=True)
        for old in place.glob("*.md"):
            if old.name not in pages:
                old.unlink()
        for name, text in pages.items():
            (place / name).write_text(text, "utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be written: {reason}", "name a folder", folder) from None
    return [place / name for name in sorted(pages)]


_PROSE: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
_SWITCHES, _REFERENCES = "Switches", "References"
_LISTS = (_SWITCHES, _REFERENCES)


def _sections(clause: Clause, contract: Contract) -> Iterator[tuple[str, list[str]]]:
    yield "Statement", [clause.statement]
    yield "Why", [clause.why]
    yield "When it is broken", [clause.effect]
    yield "To mend it", [clause.remedy]
    switches = [item for item in contract.switches.values() if clause.id in item.clauses]
    if switches:
        yield _SWITCHES, [f"{s.name}: {' '.join(s.summary.split())}" for s in switches]
    if clause.references:
        yield _REFERENCES, list(clause.references)


def _standing(clause: Clause) -> str:
    return f"{clause.severity.value}, {'checked' if clause.implemented else 'not checked yet'}"


def _clause(clause: Clause, contract: Contract, paint: Paint) -> Iterator[str]:
    yield f"{paint('bold', clause.id)}: {clause.title} ({_standing(clause)})"
    for heading, paragraphs in _sections(clause, contract):
        yield ""
        yield paint("bold", heading)
        for text in paragraphs:
            yield from [f"  {text}"] if heading == _REFERENCES else _indented(text)


def _indented(text: str) -> list[str]:
    return textwrap.wrap(
        " ".join(text.split()),
        width=WIDTH,
        initial_indent="  ",
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
