"""Engine descriptions: what `contracts/engines/*.yaml` says, as values."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from checker.contract.loading import load_plain
from checker.data import CONTRACTS
from checker.interpreter import stubs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from checker.contract.added import Added


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of getting from a configuration to a graph, in Python syntax."""

    name: str
    python: str
    file: str


@dataclass(frozen=True, slots=True)
class RunTime:
    """What an engine's real code needs where it runs, as requirements that pip understands.

    `cpu_builds` are had from `cpu_index` where the usual index has larger builds; `package` is what
    the installed package needs besides, None where no environment can be made for it; `stand_ins`
    are packages that it imports and its draft does not use; `preload` are modules that take long to
    import and will be needed.
    """

    requirements: tuple[str, ...] = ()
    cpu_builds: tuple[str, ...] = ()
    cpu_index: str | None = None
    package: tuple[str, ...] | None = None
    stand_ins: tuple[str, ...] = ()
    preload: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CaptureStage:
    """How a server's target is run, to see what it hands over.

    `setter` is the method of a target that is told which states to hand over; `package` and
    `listed` say where the targets are registered: modules, and the name they list classes under.
    `fallback` is the class that stands in for one that no module registers, in releases with it.
    Under the launch flags `overlap` a batch is computed in parts, which the stage sees to.
    """

    stage: Stage
    setter: str
    package: str
    listed: str
    fallback: str | None = None
    overlap: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DraftConfig:
    """How a draft's configuration is written for an engine.

    `keys` are in every one; `spellings` are the dotted keys of switches that are not written as
    they are looked up first; `layer_ids` is what makes a layer id of a boundary when it is added.
    `choices` are other values for `keys`; `renames` what conversions do to tensors' names; `launch`
    are flags that a server is started with to draft, `launch_choices` values for others.
    """

    keys: Mapping[str, Any] = field(default_factory=dict)
    spellings: Mapping[str, str] = field(default_factory=dict)
    layer_ids: int = 0
    choices: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    renames: Mapping[str, str] = field(default_factory=dict)
    launch: Mapping[str, Any] = field(default_factory=dict)
    launch_choices: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class VocabularyTensors:
    """The small tensors in which a trainer saves whose ids the draft's ids are.

    `map` has one number for each draft id: the target's id, or its distance with `offsets`. `mask`
    marks the target ids that the draft knows.
    """

    map: str
    offsets: bool
    mask: str | None


@dataclass(frozen=True, slots=True)
class Engine:
    """A trainer or a server.

    `libraries` are distributions whose classes the engine's classes inherit from; `eager` says that
    importing a module of the package is followed through all its own imports; `config_requires` are
    the keys by which its configuration files are told, `config_values` those that say which kind of
    draft it is, with what they say of one that is checked; `loader` is the method that takes the
    checkpoint; `capture` runs the target and counts what it hands over; `launch` runs the server's
    handling of its launch flags; `drive` follows what calls the draft from pass to pass;
    `order` follows who tells the target what to hand over, and when graphs are captured;
    `target` completes the target's configuration with what its class says;
    `started_by` are the modules and the programs (their words) by which a server is started;
    `defaults` tells what a trainer trains by default, `draft_config` how it is written down;
    `from_target` are parameters that the trainer takes from the target and does not train.
    """

    name: str
    role: str
    distribution: str
    package: str
    libraries: tuple[str, ...]
    eager: bool
    config_requires: tuple[str, ...]
    loader: str | None
    stages: tuple[Stage, ...]
    capture: CaptureStage | None
    launch: Stage | None
    from_target: tuple[str, ...]
    run_time: RunTime = RunTime()
    drive: Stage | None = None
    defaults: Stage | None = None
    draft_config: DraftConfig = DraftConfig()
    vocabulary: VocabularyTensors | None = None
    order: Stage | None = None
    target: Stage | None = None
    started_by: tuple[str, ...] = ()
    config_values: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)


def load_engines(added: Iterable[Added] = ()) -> tuple[Engine, ...]:
    """All engines that are described: added ones first, the others by their files' names.

    One that is added takes the place of the one that has its name.
    """
    more = [_engine(file.path, file.data) for file in added if file.kind == "engine"]
    own = (
        _engine(path.name, load_plain(path))
        for path in sorted((CONTRACTS / "engines").glob("*.yaml"))
    )
    found = {engine.name: engine for engine in reversed(more)}
    for engine in own:
        found.setdefault(engine.name, engine)
    return tuple(found.values())


def _engine(file: str, document: Any) -> Engine:
    stages = {n: Stage(n, item["python"], file) for n, item in document["stages"].items()}
    launch, drive = stages.pop("launch", None), stages.pop("drive", None)
    order, target = stages.pop("order", None), stages.pop("target", None)
    defaults = stages.pop("defaults", None)
    stage = stages.pop("capture", None)
    capture = None
    if stage is not None:
        said = document["stages"]["capture"]
        where = said["registry"]
        package, listed, fallback = where["package"], where["list"], where.get("fallback")
        overlap = tuple(said.get("overlap", ()))
        capture = CaptureStage(stage, said["setter"], package, listed, fallback, overlap)
    return Engine(
        document["engine"],
        document["role"],
        document["distribution"],
        document["package"],
        tuple(document.get("libraries", ())),
        bool(document.get("eager", False)),
        tuple(document.get("config-requires", ())),
        document.get("loader"),
        tuple(stages.values()),
        capture,
        launch,
        tuple(document.get("from-target", {}).get("parameters", ())),
        _run_time(document.get("run-time", {})),
        drive,
        defaults,
        _draft_config(document.get("draft-config", {})),
        _vocabulary(document.get("vocabulary")),
        order,
        target,
        tuple(document.get("started-by", ())),
        {key: tuple(values) for key, values in document.get("config-values", {}).items()},
    )


def _draft_config(document: Any) -> DraftConfig:
    return DraftConfig(
        document.get("keys", {}),
        document.get("spellings", {}),
        document.get("layer-ids", 0),
        {key: tuple(values) for key, values in document.get("choices", {}).items()},
        document.get("renames", {}),
        document.get("launch", {}),
        {flag: tuple(values) for flag, values in document.get("launch-choices", {}).items()},
    )


def _vocabulary(document: Any) -> VocabularyTensors | None:
    if document is None:
        return None
    offsets = document["holds"] == "offsets"
    return VocabularyTensors(document["map"], offsets, document.get("mask"))


def _run_time(document: Any) -> RunTime:
    package, builds = document.get("package"), document.get("cpu-builds", {})
    return RunTime(
        tuple(document.get("requirements", ())),
        tuple(builds.get("requirements", ())),
        builds.get("index"),
        None if package is None else tuple(package["requirements"]),
        tuple(package.get("stand-ins", ())) if package else (),
        tuple(document.get("preload", ())),
    )


def load_operators(added: Iterable[Added] = ()) -> stubs.Stubs:
    """All operator summaries; added ones go before the others."""
    more = [d for d in _summaries(added) if not d[1].get("outline", False)]
    return stubs.load((*more, *((path.name, _read(path)) for path in _files("operators"))))


def load_outlines(added: Iterable[Added] = ()) -> stubs.Stubs:
    """Operator summaries for targets in outline; they go before those that compute.

    What is described for the code around a draft alone (`native: false`) is left open here.
    """
    more = _summaries(added)
    paths = [*_files("outlines"), *_files("operators")]
    documents = [
        *(d for d in more if d[1].get("outline", False)),
        *(d for d in more if not d[1].get("outline", False)),
        *((path.name, _read(path)) for path in paths),
    ]
    return stubs.load((n, d) for n, d in documents if d.get("native", True))


def _summaries(added: Iterable[Added]) -> list[tuple[str, Any]]:
    """Added files of summaries, the last one first."""
    return [(file.path, file.data) for file in added if file.kind == "operators"][::-1]


@cache
def _read(path: Path) -> Any:
    """A file of summaries: drafts and targets are read with most of the same ones."""
    return load_plain(path)


def _files(folder: str) -> list[Any]:
    return sorted((CONTRACTS / folder).glob("*.yaml"))
