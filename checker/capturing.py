"""``capture``: which boundaries each target class of a server really hands over."""

from __future__ import annotations

import difflib
from dataclasses import replace
from typing import TYPE_CHECKING

from checker.engines import (
    Captured,
    Question,
    Told,
    captured,
    is_registered,
    known_targets,
    load_engines,
    told,
)
from checker.errors import InputError
from checker.pairing import Opened, allow_deep_recursion, open_side
from checker.report.capture import Row, Table, offset

if TYPE_CHECKING:
    from checker.request import CaptureRequest


def capturing(request: CaptureRequest, opened: list[Opened] | None = None) -> Table:
    """The table for one class, or for all that have the method which is told what to hand over.

    Args:
        request: what is asked.
        opened: gets the source that was opened: what the answer depends on.

    Raises:
        InputError: the source is no server, or it has no such target class.
    """
    allow_deep_recursion()
    server = open_side(
        load_engines(request.contracts), "server", request.source, request.with_, request.access
    )
    if opened is not None:
        opened.append(server)
    subject = server.outline(request.contracts)
    if subject.engine.capture is None:
        raise InputError("nothing says how this server captures", "give a server", request.source)
    known = known_targets(subject) if request.target is None else [request.target]
    if request.target is not None and not is_registered(subject, request.target):
        near = difflib.get_close_matches(request.target, known_targets(subject), n=1)
        remedy = f"did you mean {near[0]!r}?" if near else "see --target all"
        raise InputError(f"no target {request.target!r} that captures", remedy, "--target")
    config = None if request.config is None else dict(request.config.data)
    said = told(subject, {}, {}, request.ids)
    rows = []
    for name in known:
        if request.access.progress is not None:
            request.access.progress(name)
        question = Question(name, request.layers, request.ids, config)
        if request.tensor_parallel > 1:
            question = replace(question, ranks=request.tensor_parallel, launch={})
        found, replayed = captured(subject, question), None
        if said is not None and said.differs:
            replayed = captured(subject, replace(question, ids=said.graphs))
        row = _row(found, said, replayed)
        if _strange(row):
            plain = captured(subject, replace(question, ids=None))
            row = replace(row, ignores_ids=plain.boundaries == row.boundaries)
        rows.append(row)
    ranks = request.tensor_parallel
    return Table(server.tree.label, request.layers, request.ids, tuple(rows), ranks)


def _strange(row: Row) -> bool:
    """Whether nothing that is handed over is what any id, read in either way, asks for."""
    if not row.ids or not row.boundaries or offset(row.ids, row.boundaries) is not None:
        return False
    numbers = [b for b in row.boundaries if isinstance(b, int)]
    if len(numbers) < len(row.boundaries):
        return False
    return not any(b - step in row.ids for b in numbers for step in (0, 1))


def _row(found: Captured, said: Told | None, replayed: Captured | None) -> Row:
    graphs = None
    if replayed is not None and replayed.error is None and replayed.answer != found.answer:
        graphs = replayed.boundaries
    return Row(
        found.target,
        found.ids,
        found.boundaries if found.error is None else None,
        found.aliased,
        None if found.error is None else (found.error.type, found.error.message),
        found.error.location if found.error is not None else found.place,
        found.reason,
        found.setter,
        found.kept,
        found.decisions,
        graphs,
        None if said is None else said.read,
        None if said is None else said.place,
        None if said is None else said.graph_place,
        found.loop,
        found.joined,
        "" if said is None else said.reason,
    )
