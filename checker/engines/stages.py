"""Running the stages of an engine's description: Python syntax over abstract values."""

from __future__ import annotations

import ast
import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from checker.engines import checkpoint as checkpoints
from checker.engines import schedule as schedules
from checker.graph.dims import symbol
from checker.interpreter import statements, torch_names
from checker.interpreter.machine import Frame, Machine
from checker.interpreter.noting import noted_config, noted_dict
from checker.interpreter.results import Results
from checker.interpreter.values import ConfigDict, ModuleValue
from checker.syntax import ModuleFile, Workspace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from checker.engines.description import Engine, Stage
    from checker.engines.keeping import Keeper
    from checker.engines.schedule import Schedule
    from checker.graph.terms import Pool
    from checker.interpreter.noting import Noting
    from checker.interpreter.settled import Definitions
    from checker.interpreter.stubs import Stubs
    from checker.location import Location
    from checker.stored.matching import Given

STEPS = 3
"""Steps that are extracted: the first, one that consumes what it fed back, and one after that:
what a step hands on shows there only."""


@dataclass(frozen=True, slots=True)
class Subject:
    """An engine, the trees it is read from, and the summaries it is read with.

    `label` is that of the engine's own tree; `keeper` gives results that were worked out before,
    where that is wanted.
    """

    engine: Engine
    workspace: Workspace
    stubs: Stubs
    label: str
    keeper: Keeper | None = None


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a side is extracted from.

    `results`: the expressions that give tensors are noted, for a run that is going to be traced.
    `noting`: which keys of the draft's configuration are looked at is noted there. `schedule`: what
    each draft pass is given, where that has been worked out. `given`: the tensors
    of a draft's folder, None where none is given: then all that training saves. `retrained` are
    tensors that the trainer takes from the target and has trained nevertheless. `widening`: a
    weight that is not as wide as what it is given is taken as if it were.
    """

    config: dict[str, Any]
    target_config: dict[str, Any] | None = None
    launch: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    checkpoint: Mapping[str, Any] = field(default_factory=dict)
    renames: tuple[tuple[str, str], ...] = ()
    retrained: tuple[str, ...] = ()
    widening: bool = False
    results: bool = False
    schedule: Schedule | None = None
    given: tuple[Given, ...] | None = None
    noting: Noting | None = None

    def question(self) -> list[Any]:
        """What decides a run, as plain values."""
        return [
            self.config,
            self.target_config,
            dict(self.launch),
            dict(self.settings),
            dict(self.checkpoint),
            self.renames,
            self.retrained,
            self.widening,
            None if self.given is None else [_plain(item) for item in self.given],
            None if self.schedule is None else self.schedule.told(),
        ]

    def places(self) -> list[Location | None]:
        """The lines that the schedule brings with it: they are in what is made of it."""
        return [] if self.schedule is None else self.schedule.places()


def _plain(item: Given) -> list[Any]:
    """What of a given tensor decides a run; where it is stored does not."""
    return [item.name, item.trained, item.shape, item.kind, item.doubt]


class _ScriptTree:
    """Gives stages a place for locations; holds no files."""

    label = "contracts"
    roots: tuple[str, ...] = ()

    def read(self, path: str) -> bytes:
        raise KeyError(path)

    def exists(self, path: str) -> bool:  # noqa: ARG002 - what every tree can be asked
        return False

    def listdir(self, folder: str) -> list[str]:  # noqa: ARG002 - what every tree can be asked
        return []


def machine_for(
    subject: Subject,
    pool: Pool,
    inputs: Inputs,
    script: tuple[bool, ...] = (),
    settled: Definitions | None = None,
) -> Machine:
    """A fresh machine for one run of a subject's stages; it may share what others have settled."""
    settings = {
        "target_config": inputs.target_config,
        "draft_config": (
            inputs.config if inputs.noting is None else noted_dict(inputs.config, inputs.noting)
        ),
        "launch": dict(inputs.launch),
        **inputs.settings,
    }
    m = Machine(
        subject.workspace,
        pool,
        subject.stubs,
        settings=settings,
        script=script,
        engine=subject.label,
        settled=settled,
    )
    if inputs.results:
        m.results = Results()
    if inputs.widening:
        m.widened = {}
    if subject.engine.eager:
        m.eager_packages.add(subject.engine.package)
    return m


def stage_module(m: Machine, engine: Engine, inputs: Inputs) -> ModuleValue:
    """The module in which an engine's stages run one after another, with what they are given."""
    file = ModuleFile("<engine>", _ScriptTree(), engine.stages[0].file, False, [])
    module = ModuleValue("<engine>", file, is_stub=True, touched=True)
    operators = torch_names.operators(m)
    operators.attrs.update(
        checkpoints.natives(schedules.natives(inputs.schedule or schedules.plain(STEPS)))
    )
    operators.attrs.update(m.shared.get("operators", {}))
    target = inputs.target_config or {}
    config = as_config_value(inputs.config, "")
    if inputs.noting is not None:
        config = noted_config(config, inputs.noting)
    module.scope.names.update(
        op=operators,
        draft_config=config,
        target_config=as_config_value(target, "target"),
        launch=dict(inputs.launch),
        TOKENS=symbol("S"),
        STEPS=STEPS,
        retrained=list(inputs.retrained),
        checkpoint=checkpoints.tensors(m, inputs),
    )
    return module


def as_config_value(value: Any, place: str) -> Any:
    """A JSON value whose objects record reads."""
    if isinstance(value, dict):
        items = {k: as_config_value(v, f"{place}.{k}" if place else k) for k, v in value.items()}
        return ConfigDict(items, place)
    if isinstance(value, list):
        return [as_config_value(v, place) for v in value]
    return value


def run_stage(m: Machine, module: ModuleValue, stage: Stage) -> None:
    """Interprets one stage; what it binds stays in the module."""
    frame = Frame(module.scope, module, stage.name)
    m.run_in(frame, lambda: statements.run_block(m, frame, _body(stage.python)))


@functools.cache
def _body(python: str) -> list[ast.stmt]:
    return ast.parse(python).body
