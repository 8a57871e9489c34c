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
        InputError: something the user gave cannot be used, or a server is neither named nor pinned.
    """
    engines = load_engines(request.contracts)
    earlier = branched_from(folder, base)
    names = [engine.distribution for engine in engines]
    old = _pins(earlier.files(is_lock), names)
    new = _pins(working_files(earlier.root, is_lock), names)
    moves = tuple(_moves(old, new))
    if not moves:
        return Gated(base)
    pairs = _pairs(request, engines, moves, new)
    changes = tuple(
        diff(_compared(_beside(move, pairs), engines, move), opened)
        for move in moves
        if move.old and move.new
    )
    notes = dict.fromkeys(n for pair in pairs for n in pair.notes if n not in request.notes)
    return Gated(base, moves, changes, tuple(verify(pair, opened) for pair in pairs), (*notes,))


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


def _pairs(
    request: VerifyRequest,
    engines: Iterable[Engine],
    moves: tuple[Move, ...],
    pins: Mapping[str, tuple[Pinned, ...]],
) -> list[VerifyRequest]:
    """What is checked: every release that a pin has moved to, beside what it is pinned with.

    Raises:
        InputError: no server is named or pinned.
    """
    sides = [_Side(request, "trainer", engines, pins), _Side(request, "server", engines, pins)]
    moved = [Pinned(m.name, m.new, m.path, m.line) for m in moves if m.new is not None]
    found: dict[tuple[str, str], VerifyRequest] = {}
    for pin in moved:
        for side, other in (sides, sides[::-1]):
            if side.follows(pin):
                for beside in other.beside(pin, moved):
                    pair = (pin, beside) if side is sides[0] else (beside, pin)
                    one = _checked(request, sides, pair)
                    found.setdefault((one.train, one.serve), one)
    if not found:  # what moved is named otherwise, or pinned no longer
        one = _checked(request, sides, (sides[0].first(moved), sides[1].first(moved)))
        found[one.train, one.serve] = one
    return [*found.values()]


class _Side:
    """One side of what is checked: a source that is named, or whatever release is pinned."""

    def __init__(
        self,
        request: VerifyRequest,
        role: str,
        engines: Iterable[Engine],
        pins: Mapping[str, tuple[Pinned, ...]],
    ) -> None:
        self.role = role
        self.given = request.train if role == "trainer" else request.serve
        names = [engine.distribution for engine in engines if engine.role == role]
        self._names = [name for name in names if self.given in ("", name)]
        self._pins = [pin for name in self._names for pin in pins.get(name, ())]

    def follows(self, pin: Pinned) -> bool:
        """Whether a pin says which release this side is."""
        return pin.name in self._names

    def first(self, moved: Iterable[Pinned]) -> Pinned | None:
        """The pin that counts where none is nearer: one that moved comes before any other."""
        return next((pin for pin in (*moved, *self._pins) if self.follows(pin)), None)

    def beside(self, pin: Pinned, moved: Iterable[Pinned]) -> list[Pinned | None]:
        """The pins of this side that belong to one of the other.

        Those in its file, else those in its folder; of them the ones that moved, if any did.
        """
        for near in (_same_file, _same_folder):
            for pins in (moved, self._pins):
                found = [p for p in pins if self.follows(p) and near(p, pin)]
                if found:
                    return [*found]
        return [self.first(moved)]

    def spec(self, pin: Pinned | None) -> tuple[str, str | None]:
        """The source, and what has to be said where nothing pins it."""
        if pin is not None:
            return f"{pin.name}=={pin.version}", None
        if not self.given:
            return "", f"no {self.role} is named or pinned"
        follows = self.given in self._names
        newest = f"{self.given} is pinned nowhere: its newest release is checked"
        return self.given, newest if follows else None


def _same_file(pin: Pinned, other: Pinned) -> bool:
    return pin.path == other.path


def _same_folder(pin: Pinned, other: Pinned) -> bool:
    return pin.path.rpartition("/")[0] == other.path.rpartition("/")[0]


def _checked(
    request: VerifyRequest, sides: Iterable[_Side], pair: tuple[Pinned | None, Pinned | None]
) -> VerifyRequest:
    """The request for two releases, with what is not pinned among its assumptions."""
    (train, lacks), (serve, newest) = (
        side.spec(pin) for side, pin in zip(sides, pair, strict=True)
    )
    if not serve:
        raise InputError("no server is named or pinned", "say --serve", "command line")
    if not train:
        train = example(request.access).request.train
        lacks = f"{lacks}: {train} of the example is taken"
    notes = tuple(note for note in (lacks, newest) if note)
    return replace(request, train=train, serve=serve, notes=(*request.notes, *notes))


def _beside(move: Move, pairs: Iterable[VerifyRequest]) -> VerifyRequest:
    """The check that a release which a pin moved to is part of; the first where none is."""
    release = f"{move.name}=={move.new}"
    found = [pair for pair in pairs if release in (pair.train, pair.serve)]
    return next(iter((*found, *pairs)))


def _compared(request: VerifyRequest, engines: Iterable[Engine], move: Move) -> DiffRequest:
    """The comparison of a pin's two releases, beside the other side as it is now."""
    roles = {engine.distribution: engine.role for engine in engines}
    server = roles[move.name] == "server"
    check = replace(request, serve="") if server else replace(request, train="")
    check = replace(check, waivers=(), baseline=None, draw=False)
    return DiffRequest(f"{move.name}=={move.old}", f"{move.name}=={move.new}", check)
