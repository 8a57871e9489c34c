"""``diff``: what changed in meaning between two releases of one engine.

Both are read beside the same counterpart: for a draft that the user has, or for default drafts and
single switches around them, all target classes, and a few launch lines.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from checker.diffing import Releases
from checker.engines import load_engines
from checker.errors import InputError
from checker.example import example
from checker.pairing import allow_deep_recursion, open_pair, pairing
from checker.report.changes import Change, Changes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from checker.location import Location
    from checker.pairing import Opened
    from checker.request import DiffRequest, VerifyRequest
    from checker.sources import Tree


def diff(request: DiffRequest, opened: list[Opened] | None = None) -> Changes:
    """Every change of meaning that was found, with the lines of both releases.

    Args:
        request: what is asked.
        opened: gets the sides that were opened: what the answer depends on.

    Raises:
        InputError: something the user gave cannot be used, or the two are of different engines.
    """
    allow_deep_recursion()
    server = _is_server(request)
    requests = tuple(_asked(request, spec, server) for spec in (request.old, request.new))
    whole = request.check.train_config is not None or request.check.serve_config is not None
    pairs = [(pairing if whole else open_pair)(one) for one in requests]
    if opened is not None:
        opened += [side for pair in pairs for side in (pair.trainer, pair.server)]
    engines = [(pair.server if server else pair.trainer).engine.name for pair in pairs]
    if engines[0] != engines[1]:
        raise InputError(
            f"{request.old} is {engines[0]} and {request.new} is {engines[1]}",
            "compare two releases of one engine",
        )
    releases = Releases((pairs[0], pairs[1]), (requests[0], requests[1]), server)
    found = releases.for_draft() if whole else releases.explored()
    sides = [(r.serve if server else r.train) for r in (found.old, found.new)]
    return Changes(
        sides[0],
        sides[1],
        found.new.train if server else found.new.serve,
        "server" if server else "trainer",
        found.changes,
        found.compared,
        (found.old.verdict.value, found.new.verdict.value) if whole else None,
        found.new.assumptions,
        _excerpts(found.changes, releases.trees()),
    )


def _is_server(request: DiffRequest) -> bool:
    """Whether the releases are a server's: by their name, else by who is named beside them."""
    check, name = request.check, request.old.partition("==")[0].removeprefix("installed:")
    roles = {e.distribution: e.role for e in load_engines(check.contracts)}
    if name in roles:
        server = roles[name] == "server"
    elif not check.train and not check.serve:
        raise InputError(
            f"whether {request.old} is a trainer or a server is not known by its name",
            "name the other side with --train or --serve",
        )
    else:
        server = bool(check.train)
    if check.serve if server else check.train:
        option = "--serve" if server else "--train"
        raise InputError(
            "names the side that is compared", "name only the other side, or none", option
        )
    return server


def _asked(request: DiffRequest, spec: str, server: bool) -> VerifyRequest:
    check, pair = request.check, example(request.check.access).request
    if server:
        return replace(check, serve=spec, train=check.train or pair.train)
    return replace(check, train=spec, serve=check.serve or pair.serve)


def _excerpts(changes: Iterable[Change], trees: Iterable[Tree]) -> dict[Location, str]:
    """The source line of every place that a change names."""
    by_label = {tree.label: tree for tree in trees}
    found: dict[Location, str] = {}
    for change in changes:
        for place in (*change.old, *change.new):
            tree = by_label.get(place.source)
            if tree is None:
                continue
            lines = tree.read(place.path).decode("utf-8", "replace").splitlines()
            if 0 < place.line <= len(lines):
                found[place] = lines[place.line - 1].strip()
    return found
