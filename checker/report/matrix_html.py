"""A matrix as one HTML page: colours, and cells that open what was found."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from checker.report.model import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from checker.report.matrix import Cell, Matrix

_COLOURS = {Verdict.AGREE: "#cfe8cf", Verdict.DIFFER: "#f3c6c6", Verdict.UNPROVEN: "#f5e6b3"}
_STYLE = (
    "body{font:14px sans-serif;margin:2em}table{border-collapse:collapse;margin:0 0 2em}"
    "th,td{border:1px solid #999;padding:.2em .5em;text-align:left;vertical-align:top}"
    "summary{cursor:pointer}dl{max-width:60em;margin:.5em}dd{margin:0 0 .5em 1em}"
    + "".join(f".{verdict.value}{{background:{colour}}}" for verdict, colour in _COLOURS.items())
)


def page(matrix: Matrix) -> str:
    """The whole page; it needs nothing else."""
    body = "\n".join(_body(matrix))
    head = f'<meta charset="utf-8"><title>Trainers and servers</title><style>{_STYLE}</style>'
    return f"<!DOCTYPE html>\n<html lang=en><head>{head}</head><body>\n{body}\n</body></html>\n"


def _body(matrix: Matrix) -> Iterator[str]:
    table = matrix.table()
    for target, name, title in matrix.blocks:
        yield f"<h2>{escape(title)}</h2>"
        heads = "".join(f"<th>{escape(train)}</th>" for train in matrix.trainers)
        yield f"<table><tr><th></th>{heads}</tr>"
        for serve in matrix.servers:
            row = (table.get((train, serve, target, name)) for train in matrix.trainers)
            yield f"<tr><th>{escape(serve)}</th>{''.join(map(_cell, row))}</tr>"
        yield "</table>"


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return "<td></td>"
    found = {**cell.violated, **{f"{k} (unproven)": v for k, v in cell.unproven.items()}}
    inside = escape(cell.verdict.value)
    if found:
        said = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in found.items())
        title = escape(", ".join(found))
        inside = f"<details><summary>{title}</summary><dl>{said}</dl></details>"
    return f'<td class="{cell.verdict.value}">{inside}</td>'
