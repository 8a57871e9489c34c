"""``gate``: whether an upgrade of a pinned trainer or server changes what a draft is served as."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from checker.differences import diff
from checker.engines import load_engines
from checker.errors import InputError
from checker.example import example
from checker.locks import Pinned, is_lock, pins_in
from checker.report.gated import Gated, Move
from checker.request import DiffRequest
from checker.sources.history import branched_from, working_files
from checker.verification import verify

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from checker.engines import Engine
    from checker.pairing import Opened
    from checker.request import VerifyRequest

_ORDER = ("lock", "toml", "txt")
"""Lock files say what is installed; what is asked for comes after them."""


def gate(
    request: VerifyRequest, base: str, folder: str, opened: list[Opened] | None = None
) -> Gated:
    """What the pins of a working tree changed since it left `base`, and what that does.

    Args:
        request: what is checked. A side that is not named, or named by its distribution, is the
            release that is pinned.
        base: the revision to compare with.
        folder: where the working tree is.
        opened: gets the sides that were opened.

    Raises:
        InputError: something the user gave cannot be used, a side is neither named nor pinned, or
            files move it to different releases.
    """
    engines = load_engines(request.contracts)
    earlier = branched_from(folder, base)
    names = [engine.distribution for engine in engines]
    old = _pins(earlier.files(is_lock), names)
    new = _pins(working_files(earlier.root, is_lock), names)
    moves = tuple(_moves(old, new))
    if not moves:
        return Gated(base)
    request = _with_pins(request, engines, _now(moves, new))
    changes = tuple(
        diff(_compared(request, engines, move), opened) for move in moves if move.old and move.new
    )
    return Gated(base, moves, changes, verify(request, opened))


def _pins(files: Mapping[str, str], names: Iterable[str]) -> dict[str, tuple[Pinned, ...]]:
    """The pins of each distribution, the most telling file first."""
    found: dict[str, list[Pinned]] = {}
    for path in sorted(files, key=_telling):
        for pin in pins_in(path, files[path], names):
            found.setdefault(pin.name, []).append(pin)
    return {name: tuple(pins) for name, pins in found.items()}


def _telling(path: str) -> tuple[int, int, str]:
    ending = path.rpartition(".")[2]
    rank = _ORDER.index(ending) if ending in _ORDER else len(_ORDER)
    return path.count("/"), rank, path


def _moves(
    old: Mapping[str, tuple[Pinned, ...]], new: Mapping[str, tuple[Pinned, ...]]
) -> Iterable[Move]:
    """Each distribution that has another release, where that is said first."""
    for name in sorted({*old, *new}):
        before, after = _by_path(old.get(name, ())), _by_path(new.get(name, ()))
        known = sorted(pin.version for pin in old.get(name, ()))
        said: set[str] = set()
        for pin in new.get(name, ()):
            was = [p.version for p in before[pin.path]] if pin.path in before else known
            if pin.version in was or pin.version in said:
                continue
            said.add(pin.version)
            stays = {p.version for p in after[pin.path]}
            gone = [version for version in was if version not in stays]
            yield Move(name, next(iter((*gone, *was)), None), pin.version, pin.path, pin.line)
        if name not in new:
            pin = old[name][0]
            yield Move(name, pin.version, None, pin.path, pin.line)


def _by_path(pins: Iterable[Pinned]) -> dict[str, list[Pinned]]:
    found: dict[str, list[Pinned]] = {}
    for pin in pins:
        found.setdefault(pin.path, []).append(pin)
    return found


def _now(
    moves: tuple[Move, ...], pins: Mapping[str, tuple[Pinned, ...]]
) -> dict[str, tuple[Pinned, ...]]:
    """The pins that are checked: one that moved comes before any that says what it said.

    Raises:
        InputError: files move a distribution to different releases.
    """
    found = {**pins}
    for name in {move.name for move in moves}:
        moved = [move for move in moves if move.name == name and move.new is not None]
        if len(moved) > 1:
            places = ", ".join(f"{move.new} in {move.path}:{move.line}" for move in moved)
            raise InputError(
                f"{name} moves to different releases: {places}",
                "pin one, or check each pair with eagle3-check verify",
                "gate",
            )
        found[name] = tuple(
            Pinned(name, move.new, move.path, move.line) for move in moved if move.new
        )
    return found


def _with_pins(
    request: VerifyRequest, engines: Iterable[Engine], pins: Mapping[str, tuple[Pinned, ...]]
) -> VerifyRequest:
    """The request with the release that is pinned for a side that names none."""
    sides = {"trainer": request.train, "server": request.serve}
    for role, given in sides.items():
        name = given.partition("==")[0]
        for engine in engines:
            pinned = pins.get(engine.distribution)
            if pinned and engine.role == role and name in ("", engine.distribution):
                sides[role] = f"{engine.distribution}=={pinned[0].version}"
                break
    standing = example(request.access).request
    train = sides["trainer"] or standing.train
    if not sides["server"]:
        raise InputError("no server is named or pinned", "say --serve", "command line")
    return replace(request, train=train, serve=sides["server"])


def _compared(request: VerifyRequest, engines: Iterable[Engine], move: Move) -> DiffRequest:
    """The comparison of a pin's two releases, beside the other side as it is now."""
    roles = {engine.distribution: engine.role for engine in engines}
    server = roles[move.name] == "server"
    check = replace(request, serve="") if server else replace(request, train="")
    check = replace(check, waivers=(), baseline=None, draw=False)
    return DiffRequest(f"{move.name}=={move.old}", f"{move.name}=={move.new}", check)
