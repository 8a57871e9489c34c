"""One server beside all trainers: a column of a matrix.

Nothing is done twice. Sides come from the cache of graphs, whichever release they were read from;
what was concluded of two sides is kept under their digests, in which places count by their order
only, so that it is true of every pair of releases with these two graphs.
"""

from __future__ import annotations

import gc
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from checker.contract.derived import derived
from checker.contract.loading import load_contract, load_exploration
from checker.drafts import place_of, written
from checker.engines import Extraction, load_engines, load_operators, sealed
from checker.engines.checkpoint import renamed
from checker.engines.sealing import Seal
from checker.exploring import target_for
from checker.graph.terms import Pool
from checker.launch import parse_launch
from checker.pairing import Pairing, config_of, open_side, target_config_of
from checker.report.matrix import cell_of, outcome_of
from checker.syntax import remembering
from checker.verdicts import Verdicts
from checker.verification import Reader, Served, case_of, results_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from checker.pairing import Opened
    from checker.report.matrix import Cell, Outcome
    from checker.request import MatrixRequest, Target, VerifyRequest
    from checker.verdicts import Probes

_GIVEN = "given"


_NOTHING = Seal("nothing is served", ())


@dataclass(frozen=True, slots=True)
class Column:
    """A server, and the trainers that it is put beside."""

    server: str
    trainers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Trained:
    """A trainer's side under one configuration, without its graph.

    `side` has what the server is given of it; the graph is read again where it is needed.
    """

    side: Extraction
    seal: Seal | None


class Columns:
    """Reads trainers, and gives the cells of one server after the other."""

    def __init__(self, request: MatrixRequest) -> None:
        check = request.check
        self._request = request
        self._exploration = load_exploration()
        self._contract = load_contract(check.contracts)
        self._engines = load_engines(check.contracts)
        self._stubs = load_operators(check.contracts)
        given = check.train_config is not None or check.serve_config is not None
        self._given = given
        self.configurations: Mapping[str, Mapping[str, Any]] = (
            {_GIVEN: {}} if given else self._exploration.matrix
        )
        classes = self._exploration.target[self._contract.target["class"]]
        plain = _GIVEN if given else str(classes[0])
        self._targets: dict[str, Target | None] = {
            plain if target is None else target.name: target for target in request.targets
        }
        self.targets = tuple(self._targets)
        self._trainers: dict[str, Opened] = {}
        self._trained: dict[tuple[str, str, str], Trained] = {}
        self._probes: dict[tuple[str, str, str], Seal | None] = {}
        self._verdicts = Verdicts(check)
        self._reader = Reader()

    def elsewhere(self) -> Columns:
        """The same in another process, without a word."""
        check = self._request.check
        quiet = replace(check, access=replace(check.access, progress=None))
        other = Columns(replace(self._request, check=quiet))
        other._trained = self._trained
        return other

    def know(self, trained: Mapping[tuple[str, str, str], Trained]) -> None:
        """Takes what was found out of a trainer, here or in another process."""
        self._trained.update(trained)

    def work(self, item: str | Column) -> Any:
        """The cells of a column; of a trainer, what it trains for each target."""
        if isinstance(item, str):
            found = {}
            for target in self.targets:
                pair = self._pair(item, None, target)
                for name in self.configurations:
                    found[item, target, name] = self._of_trainer(pair, item, target, name)
            self._trainers.clear()
            remembering.forget()
            self._collect()
            return found
        server = self._opened("server", item.server)
        cells = [cell for target in self.targets for cell in self._cells(item, server, target)]
        self._reader = Reader()  # what a target hands over is of no use to the next server
        server.forget()
        remembering.forget()
        self._collect()
        return cells

    def _collect(self) -> None:
        """Drops graphs and syntax trees, which refer to each other: they are a release's own."""
        for opened in self._trainers.values():
            opened.forget()
        gc.collect()

    # -- pairs ------------------------------------------------------------------------------

    def _opened(self, role: str, spec: str) -> Opened:
        check = self._request.check
        pins = check.train_with if role == "trainer" else check.serve_with
        return open_side(self._engines, role, spec, pins, check.access)

    def _pair(self, train: str, server: Opened | None, target: str) -> Pairing:
        """A trainer and a server for a target; the trainer alone where there is no server yet."""
        if train not in self._trainers:
            self._trainers[train] = self._opened("trainer", train)
        check, trainer = self._request.check, self._trainers[train]
        pair = Pairing(
            self._contract,
            trainer,
            trainer if server is None else server,
            self._stubs,
            {},
            {},
            target_config_of(self._targets[target], self._contract.target),
            self._flags(server),
            tuple((r.old, r.new) for r in check.renames),
            contracts=check.contracts,
        )
        if self._given:
            return pair
        return replace(pair, target=target_for(pair, self._exploration))

    def _flags(self, server: Opened | None) -> dict[str, Any]:
        line = self._request.check.launch
        return parse_launch(line, server.engine.started_by) if line and server else {}

    def _set(self, pair: Pairing, name: str) -> Pairing:
        """The pair under a named configuration: the plain draft with these switches."""
        if self._given:
            check = self._request.check
            train = config_of(
                check.train_config, pair.trainer.engine, "--train-config", pair.contract
            )
            if pair.server is pair.trainer:
                return replace(pair, train_config=train)
            serve = config_of(
                check.serve_config, pair.server.engine, "--serve-config", pair.contract
            )
            return replace(pair, train_config=train, serve_config=serve)
        ids, layers = self._exploration.layer_ids, pair.contract.target["layers"]
        count = (pair.target or {}).get(layers) or self._exploration.target[layers]
        switches = {
            name: switch.default
            for name, switch in pair.contract.switches.items()
            if place_of(switch, pair.trainer.engine) is not None
        }
        changed = self.configurations[name]
        switches |= {**self._exploration.draft, ids: self._exploration.boundaries, **changed}
        said = {"derived": {ids: switches[ids]}}
        switches[ids] = derived(said, {"layers": count})[ids]
        train, serve = (
            written(pair.contract, ids, switches, engine)
            for engine in (pair.trainer.engine, pair.server.engine)
        )
        return replace(pair, train_config=train, serve_config=serve)

    # -- sides ------------------------------------------------------------------------------

    def _of_trainer(self, pair: Pairing, train: str, target: str, name: str) -> Trained:
        key = train, target, name
        if key not in self._trained:
            side = self._read_trainer(self._set(pair, name), Pool())
            seal = sealed(side, pair.trainer.trees)
            bare = Extraction(
                side.engine,
                checkpoint=side.checkpoint,
                trained=side.trained,
                failure=side.failure,
                aux_boundaries=side.aux_boundaries,
            )
            self._trained[key] = Trained(bare, seal)
        return self._trained[key]

    @staticmethod
    def _read_trainer(pair: Pairing, pool: Pool) -> Extraction:
        return pair.trained(pair.trainer.subject(pair.stubs), pool, pair.train_config)

    # -- cells ------------------------------------------------------------------------------

    def _cells(self, column: Column, server: Opened, target: str) -> list[Cell]:
        """The cells of a target, configuration by configuration.

        They are made trainer by trainer: the syntax trees of all of them would take more memory
        than everything else.
        """
        beside = {name: _Beside(self._reader, self._request.check) for name in self.configurations}
        found: dict[tuple[str, str], Cell] = {}
        for train in column.trainers:
            pair = self._pair(train, server, target)
            for name, served in beside.items():
                trained = self._of_trainer(pair, train, target, name)
                asked = self._set(pair, name)
                outcome = self._concluded(asked, trained, served)
                if not self._given and not asked.renames:
                    asked, outcome = self._named(asked, trained, outcome, served)
                    pair = replace(pair, renames=asked.renames)
                renames = tuple(f"{old}={new}" for old, new in asked.renames)
                place = (train, column.server, target, name)
                found[name, train] = cell_of(place, outcome, renames)
            if pair.trainer.is_parsed:
                pair.trainer.forget()
                gc.collect()
        return [found[name, train] for name in beside for train in column.trainers]

    def _concluded(self, asked: Pairing, trained: Trained, beside: _Beside) -> Outcome:
        """What is to be said of a cell: what was concluded from the same two graphs, or anew."""
        served, seal = beside.served(asked, trained)
        kept = self._verdicts.of(asked, (trained.seal, seal), served.flags)
        known = None if kept is None else kept.known(lambda config: self._probe(asked, config))
        if known is not None:
            return known
        probes: Probes = []

        def probed(config: dict[str, Any], other: Extraction) -> None:
            probes.append((config, sealed(other, asked.trainer.trees)))

        train = self._read_trainer(asked, beside.pool)
        served = replace(served, side=replace(served.side))  # what a comparison finds is its own
        case = case_of(asked, train, served, beside.pool, probed=probed)
        outcome = outcome_of(results_of(case))
        if kept is not None:
            kept.keep(outcome, probes)
        return outcome

    def _probe(self, asked: Pairing, config: dict[str, Any]) -> Seal | None:
        words = json.dumps([config, asked.target], sort_keys=True)
        key = asked.trainer.spec, asked.trainer.tree.label, words
        if key not in self._probes:
            side = self._read_trainer(replace(asked, train_config=config), Pool())
            self._probes[key] = sealed(side, asked.trainer.trees)
        return self._probes[key]

    def _named(
        self, asked: Pairing, trained: Trained, outcome: Outcome, beside: _Beside
    ) -> tuple[Pairing, Outcome]:
        """The pair with the tensor names that its server knows, as a conversion gives them."""
        clause = asked.contract.fact_owner("weights")
        renames = tuple(asked.server.engine.draft_config.renames.items())
        if clause is None or not outcome.violated:
            return asked, outcome
        lost = _lost(beside.served(asked, trained)[0])
        if not any(renamed(name, renames) != name for name in lost):
            return asked, outcome
        other = replace(asked, renames=renames)
        if len(_lost(beside.served(other, trained)[0])) >= len(lost):
            return asked, outcome
        return other, self._concluded(other, trained, beside)


class _Beside:
    """A server's sides under one configuration, each worked out once whatever trainer asks."""

    def __init__(self, reader: Reader, check: VerifyRequest) -> None:
        self._reader = reader
        self._check = check
        self.pool = Pool()
        self._known: list[tuple[Any, Served, Seal | None]] = []

    def served(self, asked: Pairing, trained: Trained) -> tuple[Served, Seal | None]:
        """The side that is given what was trained; where training ends early, none is needed."""
        inputs = asked.served(trained.side)
        if trained.side.failure is not None:
            subject = asked.server.subject(asked.stubs)
            return Served(asked, Extraction(subject.engine), inputs, subject, None), _NOTHING
        for question, served, seal in self._known:
            if question == inputs:
                return served, seal
        served = self._reader.served(asked, self._check, trained.side, self.pool)
        seal = sealed(served.side, asked.server.trees)
        self._known.append((inputs, served, seal))
        return served, seal


def _lost(served: Served) -> list[str]:
    """The tensors that reach no parameter."""
    return [name for name, parameter in served.side.weights.items() if parameter is None]
