"""A trainer and a server, opened, with what they are checked for."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from checker.contract.formats import format_of
from checker.contract.loading import load_contract
from checker.engines import (
    Engine,
    Extraction,
    Inputs,
    Subject,
    extract_side,
    keeping,
    load_engines,
    load_operators,
    load_outlines,
)
from checker.engines.checkpoint import renamed
from checker.errors import InputError
from checker.launch import parse_launch
from checker.sources import Tree, is_project, library_trees, open_source
from checker.stored.matching import Stored, matched
from checker.syntax import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from checker.configs import ConfigFile
    from checker.contract.added import Added
    from checker.contract.model import Contract
    from checker.engines import Keeper
    from checker.graph.terms import Pool
    from checker.interpreter.stubs import Stubs
    from checker.request import Access, Pin, Target, VerifyRequest
    from checker.stored.folder import Checkpoint

_RECURSION = 12_000
DEBUG = "EAGLE3_CHECK_DEBUG"


@dataclass(frozen=True, slots=True)
class Opened:
    """One side's engine and the trees it is read from, its own first.

    `spec` and `libraries` (name, spec or None) are what the trees were asked for by; `keeper` gives
    what was worked out before; `workspaces` hold what was parsed, by the number of trees.
    """

    engine: Engine
    trees: tuple[Tree, ...]
    spec: str
    libraries: tuple[tuple[str, str | None], ...] = ()
    keeper: Keeper | None = None
    workspaces: dict[int, Workspace] = field(default_factory=dict, compare=False, repr=False)

    @property
    def tree(self) -> Tree:
        """The engine's own source."""
        return self.trees[0]

    def anew(self) -> Opened:
        """The same side, with nothing taken from what was worked out before."""
        return replace(self, keeper=None)

    def outline(self, added: Iterable[Added] = ()) -> Subject:
        """The engine's own tree alone, for running targets in outline.

        Their configurations are open: the classes that libraries have for them are not needed.
        """
        return self._subject(load_outlines(added), (self.tree,))

    def subject(self, stubs: Stubs) -> Subject:
        """What the engines stage works on."""
        return self._subject(stubs, self.trees)

    def _subject(self, stubs: Stubs, trees: tuple[Tree, ...]) -> Subject:
        workspace = self.workspaces.setdefault(len(trees), Workspace(list(trees)))
        return Subject(self.engine, workspace, stubs, self.tree.label, self.keeper)

    @property
    def is_parsed(self) -> bool:
        """Whether syntax trees are held."""
        return any(workspace.is_parsed for workspace in self.workspaces.values())

    def forget(self) -> None:
        """Drops what was parsed and read, as far as it can be had again unchanged."""
        self.workspaces.clear()
        for tree in self.trees:
            tree.forget()


@dataclass(frozen=True, slots=True)
class Pairing:
    """A trainer and a server, opened, with the configurations they are checked for."""

    contract: Contract
    trainer: Opened
    server: Opened
    stubs: Stubs
    train_config: dict[str, Any]
    serve_config: dict[str, Any]
    target: dict[str, Any] | None
    launch: dict[str, Any]
    renames: tuple[tuple[str, str], ...]
    draft: Checkpoint | None = None
    serve_draft: Checkpoint | None = None
    contracts: tuple[Added, ...] = ()

    @property
    def trees(self) -> tuple[Tree, ...]:
        """All trees that are read, the trainer's first."""
        return (*self.trainer.trees, *self.server.trees)

    def trained(self, subject: Subject, pool: Pool, config: dict[str, Any]) -> Extraction:
        """The trainer's side, for a configuration.

        Of switches that a user has added and the trainer's description does not tell, the
        configuration does.
        """
        from checker.judging.wording import spelled, stated  # a table of targets judges nothing

        found = extract_side(subject, pool, Inputs(config, self.target))
        for file in self.contracts:
            for name in file.data["switches"] if file.kind == "switches" else ():
                switch = self.contract.switches[name]
                place, value = stated(config, spelled(switch, subject.engine))
                found.switches.setdefault(name, switch.default if place is None else value)
        return found

    def stored(self, train: Extraction) -> Stored | None:
        """What lies in the draft's folders, against what the trainer saves; None without any."""
        return matched(
            train.checkpoint,
            lambda name: renamed(name, self.renames),
            self.draft,
            self.serve_draft,
        )

    def served(self, train: Extraction, stored: Stored | None = None) -> Inputs:
        """What the server is given once the trainer has saved its checkpoint."""
        taken = self.trainer.engine.from_target
        return Inputs(
            self.serve_config,
            self.target,
            self.launch,
            checkpoint=train.checkpoint,
            renames=self.renames,
            retrained=tuple(name for name in taken if name in train.trained),
            given=None if stored is None else stored.given,
        )


def pairing(request: VerifyRequest) -> Pairing:
    """Opens what a request names, with its configurations.

    Raises:
        InputError: something the user gave cannot be used.
    """
    pair = open_pair(request)
    return replace(
        pair,
        train_config=config_of(
            request.train_config, pair.trainer.engine, "--train-config", pair.contract
        ),
        serve_config=config_of(
            request.serve_config, pair.server.engine, "--serve-config", pair.contract
        ),
    )


def open_pair(request: VerifyRequest) -> Pairing:
    """Opens what a request names; configurations of the draft are not looked at.

    Raises:
        InputError: something the user gave cannot be used.
    """
    access, added = request.access, request.contracts
    engines, contract = load_engines(added), load_contract(added)
    trainer = open_side(engines, "trainer", request.train, request.train_with, access)
    server = open_side(engines, "server", request.serve, request.serve_with, access)
    return Pairing(
        contract,
        trainer,
        server,
        load_operators(added),
        {},
        {},
        target_config_of(request.target, contract.target),
        parse_launch(request.launch, server.engine.started_by) if request.launch else {},
        tuple((r.old, r.new) for r in request.renames),
        request.draft,
        request.serve_draft,
        request.contracts,
    )


def allow_deep_recursion() -> None:
    """Checked code may call deeper than our frames allow: the interpreter's own limits end it."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _RECURSION))


def open_side(
    engines: tuple[Engine, ...], role: str, spec: str, pins: Iterable[Pin], access: Access
) -> Opened:
    """Opens a source and finds the engine in it, with the libraries its classes stand on.

    Raises:
        InputError: no engine of the role is in it.
    """
    candidates = [e for e in engines if e.role == role]
    name = spec.partition("==")[0].strip()
    named = [
        e for e in candidates if e.distribution == name or spec == f"installed:{e.distribution}"
    ]
    problem: InputError | None = None
    for engine in named or candidates:
        try:
            tree = open_source(
                spec, package=engine.package, offline=access.offline, progress=access.progress
            )
        except InputError as error:
            problem = problem or error
            continue
        libraries = _libraries(engine, pins)
        found = library_trees(tree, libraries, offline=access.offline, progress=access.progress)
        keeper = keeping() if access.use_cache and not os.environ.get(DEBUG) else None
        return Opened(engine, (tree, *found), spec, libraries, keeper)
    known = ", ".join(sorted(e.distribution for e in candidates))
    if problem is not None and (named or len(candidates) == 1):
        raise problem
    if problem is not None and is_project(name):
        raise InputError(
            f"{spec} is no {role} that is described", f"give one of: {known}", f"--{_OPTION[role]}"
        )
    raise problem or InputError(
        f"no {role} is described", "describe one under contracts/engines", spec
    )


_OPTION = {"trainer": "train", "server": "serve"}


def without_loading(engine: Engine) -> Engine:
    """The engine up to the point where a checkpoint is needed: parameters go by their paths."""
    return replace(engine, stages=tuple(s for s in engine.stages if s.name != "load"))


def _libraries(engine: Engine, pins: Iterable[Pin]) -> tuple[tuple[str, str | None], ...]:
    given = {pin.name: f"{pin.name}=={pin.version}" for pin in pins}
    return tuple((library, given.get(library)) for library in engine.libraries)


def config_of(
    file: ConfigFile | None, engine: Engine, option: str, contract: Contract | None = None
) -> dict[str, Any]:
    """A configuration file's content, when it is of the engine's kind.

    Raises:
        InputError: there is none, or it is of another kind, or of another kind of draft.
    """
    if file is None:
        raise InputError(
            "a configuration is needed", f"give {option} or --draft with a config.json"
        )
    missing = [key for key in engine.config_requires if key not in file.data]
    if missing:
        found = None
        if contract is not None:
            found = format_of(file.data, contract.formats, contract.target["class"])
        kind = f"; it is in {found.title}" if found is not None else ""
        raise InputError(
            f"this is no configuration that {engine.distribution} reads: it has no"
            f" {missing[0]!r}{kind}",
            f"give the config.json saved with the draft as {option}",
            str(file.path),
        )
    for key, values in engine.config_values.items():
        if key in file.data and file.data[key] not in values:
            wanted = " or ".join(json.dumps(value) for value in values)
            raise InputError(
                f"this is a draft of another kind: {key} is {json.dumps(file.data[key])}",
                f"give the configuration of one that is checked: {wanted}",
                str(file.path),
            )
    return dict(file.data)


def target_config_of(target: Target | None, keys: Mapping[str, str]) -> dict[str, Any] | None:
    """The target's configuration, as far as it is given; `keys` are the contract's for targets."""
    if target is None:
        return None
    if target.config is not None:
        return dict(target.config.data)
    found: dict[str, Any] = {keys["class"]: [target.architecture]}
    if target.layers is not None:
        found[keys["layers"]] = target.layers
    return found
