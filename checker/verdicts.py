"""Conclusions that were drawn before from the same two graphs, under the same configuration.

They are kept under the digests of both sides (`checker.engines.sealing`). A place is kept as its
number among those of its side, so that it is found again in another release of the same graph; a
conclusion that speaks of places in its words holds for those very places only.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from checker.program import program_digest
from checker.report.matrix import Outcome, Place
from checker.report.model import Verdict
from checker.sources.store import Store, default_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from checker.engines import Engine, Launched
    from checker.engines.sealing import Seal
    from checker.location import Location
    from checker.pairing import Opened, Pairing
    from checker.request import VerifyRequest

    Probes = list[tuple[dict[str, Any], Seal | None]]
    """Configurations with which the trainer was read besides, and what came of it."""

_MOST = 16384


class Verdicts:
    """What was concluded of pairs of graphs.

    Args:
        check: what every pair is checked for.
    """

    def __init__(self, check: VerifyRequest) -> None:
        self._check = check
        self._store = Store(default_folder("verdicts"))
        self._program = program_digest() if check.access.use_cache else ""
        self._described: list[tuple[Engine, str]] = []

    def of(
        self, pair: Pairing, seals: tuple[Seal | None, Seal | None], flags: Launched | None
    ) -> Kept | None:
        """What is kept of a pair of graphs; None where nothing may be.

        Args:
            pair: both sides, and the configurations.
            seals: those of what was trained and of what is served.
            flags: what the server makes of its launch flags.
        """
        train, serve = seals
        if train is None or serve is None or not self._check.access.use_cache:
            return None
        check = self._check
        question = [
            self._program,
            [[file.path, file.digest] for file in check.contracts],
            [self._words(side.engine) for side in (pair.trainer, pair.server)],
            pair.stubs.digest,
            [pair.train_config, pair.serve_config, pair.target],
            [pair.launch, check.launch, pair.renames],
            [check.tensor_parallel, check.pipeline_parallel],
            serve.digest,
        ]
        asked = json.dumps(question, sort_keys=True, default=str)
        place = hashlib.sha256(asked.encode()).hexdigest()
        sides = _Side(train, pair.trainer), _Side(serve, pair.server)
        return Kept(self._store, place, sides, "" if flags is None else repr(flags))

    def _words(self, engine: Engine) -> str:
        for known, words in self._described:
            if known is engine:
                return words
        self._described.append((engine, hashlib.sha256(repr(engine).encode()).hexdigest()))
        return self._described[-1][1]


@dataclass(frozen=True, slots=True)
class _Side:
    """A side's places, and the names that are its own."""

    seal: Seal
    opened: Opened

    @property
    def names(self) -> set[str]:
        """What words that hold for this side only are recognised by."""
        return {tree.label for tree in self.opened.trees} | {p.path for p in self.seal.places}

    def number(self, place: Location) -> int | None:
        """A place's number among those of the side."""
        places = self.seal.places
        return places.index(place) if place in places else None


class Kept:
    """The conclusion of one pair of graphs.

    Args:
        store: where it is kept.
        place: the server's graph and the configuration.
        sides: the trainer's and the server's.
        flags: what became of the launch flags, in words that name places.
    """

    def __init__(self, store: Store, place: str, sides: tuple[_Side, _Side], flags: str) -> None:
        self._store = store
        self._place = place
        self._sides = sides
        self._name = sides[0].seal.digest
        exact = [flags, *([str(p.source), str(p)] for side in sides for p in side.seal.places)]
        self._exact = hashlib.sha256(json.dumps(exact).encode()).hexdigest()
        self._movable = not flags

    def known(self, probe: Callable[[dict[str, Any]], Seal | None]) -> Outcome | None:
        """The conclusion, where one is kept and the trainer gives the same in every probe."""
        said = self._read().get(self._name)
        if said is None:
            return None
        for config, digest in said["probes"]:
            seal = probe(config)
            if seal is None or seal.digest != digest:
                return None
        data = said["anywhere"] or said["exact"].get(self._exact)
        return None if data is None else self._outcome(data)

    def keep(self, outcome: Outcome, probes: Probes) -> None:
        """Keeps a conclusion."""
        if any(seal is None for _, seal in probes):
            return
        kept = self._read()
        data = self._data(outcome)
        said = kept.get(self._name)
        listed = [[config, seal.digest] for config, seal in probes if seal is not None]
        if said is None or said["probes"] != listed:
            said = {"probes": listed, "anywhere": None, "exact": {}}
        if self._movable and data is not None and not self._speaks_of_places(outcome):
            said["anywhere"] = data
        elif data is not None:
            said["exact"][self._exact] = data
        kept[self._name] = said
        self._store.write_json(kept, self._place)
        self._store.prune(_MOST)

    def _read(self) -> dict[str, Any]:
        return self._store.read_json(self._place) or {}

    def _speaks_of_places(self, outcome: Outcome) -> bool:
        texts = [text for text, _ in outcome.violated.values()] + [*outcome.unproven.values()]
        names = self._sides[0].names | self._sides[1].names
        return any(name in text for text in texts for name in names)

    def _data(self, outcome: Outcome) -> dict[str, Any] | None:
        """An outcome as JSON; None where a place of it is none of its side's."""
        violated = {}
        for clause, (text, place) in outcome.violated.items():
            at = None
            if place is not None:
                number = self._sides[place.server].number(place.location)
                if number is None:
                    return None
                at = [int(place.server), number]
            violated[clause] = [text, at]
        return {
            "verdict": outcome.verdict.value,
            "violated": violated,
            "unproven": dict(outcome.unproven),
            "counts": dict(outcome.counts),
        }

    def _outcome(self, data: dict[str, Any]) -> Outcome:
        violated = {clause: (text, self._at(at)) for clause, (text, at) in data["violated"].items()}
        return Outcome(Verdict(data["verdict"]), violated, data["unproven"], data["counts"])

    def _at(self, at: Sequence[int] | None) -> Place | None:
        if at is None:
            return None
        side, number = at
        return Place(bool(side), self._sides[side].seal.places[number])
