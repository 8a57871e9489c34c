"""Running an engine's stages, over every answer to a condition that nothing decides."""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from checker.engines import checkpoint as checkpoints
from checker.engines.description import Engine, Stage
from checker.graph.builder import Builder
from checker.graph.dims import symbol
from checker.graph.terms import Pool, Term, postorder
from checker.interpreter import statements, torch_names
from checker.interpreter.machine import ConfigRead, Decision, Frame, Machine
from checker.interpreter.stubs import Stubs
from checker.interpreter.tensors import Tensor
from checker.interpreter.values import ConfigDict, ModuleValue, Raised, Stuck, Unknown
from checker.location import Location
from checker.syntax import ModuleFile, UnparsableModule, Workspace

STEPS = 2
"""Steps that are extracted: the first, and one that consumes fed-back states."""

_PATHS = 32


@dataclass(frozen=True, slots=True)
class Failure:
    """How an extraction ended early.

    `type` is the exception the checked program would raise, None when interpretation could not go on. `keys` are
    configuration keys that the failing condition or expression had read; `parameters` are the checkpoint names or
    module paths involved; `step` is the draft step that was being computed.
    """

    stage: str
    type: str | None
    message: str
    location: Location | None
    keys: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    step: int = 0


@dataclass(frozen=True, slots=True)
class Captured:
    """How many states the target hands over; None with the reason when that could not be followed."""

    count: int | None
    reason: str = ""
    failure: Failure | None = None


@dataclass(slots=True)
class Extraction:
    """What an engine computes for one configuration.

    `logits[s]`: draft logits of step s, `feedback[s]` the state that step hands on (when the engine shows it).
    `aux_count` is the number of aux states by the configuration, `captured` what the target really hands over.
    `checkpoint`: name → shape of what the trainer saves; `weights`: name → parameter it reached (server side).
    """

    engine: Engine
    logits: list[Term] = field(default_factory=list)
    feedback: list[Term] = field(default_factory=list)
    origins: dict[Term, tuple[Location, ...]] = field(default_factory=dict)
    reads: list[ConfigRead] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)
    failure: Failure | None = None
    checkpoint: dict[str, Any] = field(default_factory=dict)
    weights: dict[str, str | None] = field(default_factory=dict)
    unloaded: dict[str, Location | None] = field(default_factory=dict)
    trained: set[str] = field(default_factory=set)
    aux_count: int | None = None
    captures: bool = False
    captured: Captured | None = None
    aux_layer_ids: list[int] | None = None
    entry: str = ""
    entry_location: Location | None = None
    loader_location: Location | None = None
    switches: dict[str, Any] = field(default_factory=dict)
    decisions: list[Decision] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a side is extracted from."""

    config: dict[str, Any]
    target_config: dict[str, Any] | None = None
    launch: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    checkpoint: Mapping[str, Any] = field(default_factory=dict)
    renames: tuple[tuple[str, str], ...] = ()
    target_embedding: str = "embed_tokens.weight"


class _ScriptTree:
    """Gives stages a place for locations."""

    label = "contracts"
    roots: tuple[str, ...] = ()

    def read(self, path: str) -> bytes:
        raise KeyError(path)

    def exists(self, path: str) -> bool:
        return False

    def listdir(self, folder: str) -> list[str]:
        return []


def extract_side(
    engine: Engine, workspace: Workspace, pool: Pool, stubs: Stubs, inputs: Inputs, label: str
) -> Extraction:
    """Extracts one side, once per combination of answers to undecided conditions, and joins what came out."""
    results: list[Extraction] = []
    pending: list[tuple[bool, ...]] = [()]
    builder = Builder(pool)
    while pending:
        script = pending.pop()
        result = _one_path(engine, workspace, pool, stubs, inputs, label, script)
        results.append(result)
        for index in range(len(script), len(result.decisions)):
            pending.append((*script, *(True,) * (index - len(script)), False))
        if len(results) + len(pending) > _PATHS:
            first = results[0]
            first.failure = Failure(
                "run",
                None,
                f"more than {_PATHS} combinations of undecided conditions",
                first.decisions[-1].location,
            )
            return first
    return _joined(results, builder)


def capture(
    engine: Engine, workspace: Workspace, stubs: Stubs, inputs: Inputs, label: str
) -> Captured | None:
    """Runs the target of a server; None when the engine or the target's configuration does not say how."""
    target = inputs.target_config
    if engine.capture is None or target is None or not target.get("architectures"):
        return None
    if any(target.get(key) is None for key in ("model_type", "hidden_size", "num_hidden_layers")):
        return None
    settings = {"target_config": target, "launch": dict(inputs.launch), **inputs.settings}
    m = Machine(workspace, Pool(), stubs, settings=settings, engine=label)
    module = _script_module(m, engine, inputs)
    module.scope.names["target_config"] = as_config_value(target, "target")
    try:
        _run_stage(m, module, engine.capture)
    except Raised as raised:
        failure = Failure("capture", raised.type_name, raised.message, raised.location)
        return Captured(None, f"it raises {raised.type_name}: {raised.message}", failure)
    except Stuck as stuck:
        return Captured(None, stuck.reason)
    except UnparsableModule as error:
        return Captured(None, str(error))
    except RecursionError:
        return Captured(None, "it nests too deeply")
    count = module.scope.names.get("captured")
    if m.decisions:
        return Captured(None, f"it depends on {m.decisions[0].text}")
    if not isinstance(count, int):
        return Captured(None, count.reason if isinstance(count, Unknown) else "no count came out")
    return Captured(count)


def _joined(results: list[Extraction], builder: Builder) -> Extraction:
    """One extraction out of all paths. Where they differ, the value is unknown and the condition is the reason."""
    failed = next((r for r in results if r.failure is not None), None)
    first = results[0]
    if len(results) == 1:
        return first
    if failed is not None:
        if all(r.failure == failed.failure for r in results):
            return failed
        decision = (failed.decisions or first.decisions)[-1]
        failed.failure = replace(
            failed.failure,
            type=None,
            message=f"depends on {decision.text}: {failed.failure.message}",
        )  # type: ignore[arg-type]
        return failed
    decision = next((d for r in results for d in reversed(r.decisions)), None)
    for name in ("logits", "feedback"):
        lists = [getattr(r, name) for r in results]
        joined = []
        for terms in zip(*lists, strict=False):
            if all(t is terms[0] for t in terms):
                joined.append(terms[0])
                continue
            builder.here = decision.location if decision else None
            reason = (
                f"depends on a condition that nothing decides: {decision.text if decision else ''}"
            )
            unknown = builder.unknown(reason, terms[0].shape)
            first.origins.update(builder.origins)
            joined.append(unknown)
        setattr(first, name, joined)
    for other in results[1:]:
        seen = set(first.reads)
        first.reads += [r for r in other.reads if r not in seen]
    return first


def _one_path(
    engine: Engine,
    workspace: Workspace,
    pool: Pool,
    stubs: Stubs,
    inputs: Inputs,
    label: str,
    script: tuple[bool, ...],
) -> Extraction:
    settings = {
        "target_config": inputs.target_config,
        "launch": dict(inputs.launch),
        **inputs.settings,
    }
    m = Machine(workspace, pool, stubs, settings=settings, script=script, engine=label)
    if engine.eager:
        m.eager_packages.add(engine.package)
    result = Extraction(engine, origins=m.builder.origins, reads=m.reads)
    result.checkpoint = dict(
        inputs.checkpoint
    )  # under the trained names, whatever they were renamed to
    module = _script_module(m, engine, inputs)
    stage_name = ""
    try:
        for stage in engine.stages:
            stage_name = stage.name
            _run_stage(m, module, stage)
            _collect(m, module.scope.names, result)
    except Raised as raised:
        if m.debug:
            sys.stderr.write("\n".join(raised.trail) + "\n")
        result.failure = Failure(
            stage_name,
            raised.type_name,
            raised.message,
            raised.location,
            raised.keys or _recent_keys(m, raised),
            (*_parameter_names(raised.terms), *raised.parameters),
            m.settings.get("step", 0),
        )
    except Stuck as stuck:
        result.failure = Failure(stage_name, None, stuck.reason, stuck.location)
    except UnparsableModule as error:
        place = Location(error.tree, error.path, error.line, error.column)
        result.failure = Failure(
            stage_name, None, f"the file cannot be parsed: {error.reason}", place
        )
    except RecursionError:
        result.failure = Failure(
            stage_name, None, "the checked code nests too deeply", m.location()
        )
    result.decisions = m.decisions
    result.assumptions = list(m.assumptions)
    result.trained = set(m.grad_used)
    _collect(m, module.scope.names, result)
    return result


def _recent_keys(m: Machine, raised: Raised) -> tuple[str, ...]:
    """Keys read on the line that raised."""
    if raised.location is None:
        return ()
    line = (raised.location.path, raised.location.line)
    return tuple(
        dict.fromkeys(
            r.key for r in m.reads if r.location and (r.location.path, r.location.line) == line
        )
    )


def _parameter_names(terms: tuple[Term, ...]) -> list[str]:
    return [str(t.attr("name")) for t in postorder(*terms) if t.op == "param"] if terms else []


def _script_module(m: Machine, engine: Engine, inputs: Inputs) -> ModuleValue:
    file = ModuleFile("<engine>", _ScriptTree(), engine.stages[0].file, False, [])
    module = ModuleValue("<engine>", file, is_stub=True, touched=True)
    names = module.scope.names
    operators = torch_names.operators(m)
    operators.attrs.update(checkpoints.natives(m))
    names.update(
        op=operators,
        draft_config=as_config_value(inputs.config, ""),
        launch=dict(inputs.launch),
        TOKENS=symbol("S"),
        STEPS=STEPS,
        target_embedding=inputs.target_embedding,
        target_hidden_size=(inputs.target_config or {}).get("hidden_size"),
        checkpoint=checkpoints.tensors(m, inputs.checkpoint, inputs.renames),
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


def _run_stage(m: Machine, module: ModuleValue, stage: Stage) -> None:
    frame = Frame(module.scope, module, stage.name)
    body = ast.parse(stage.python).body
    m.run_in(frame, lambda: statements.run_block(m, frame, body))


def _collect(m: Machine, names: dict[str, Any], result: Extraction) -> None:
    """Takes what the stages have computed so far out of their module."""
    model = names.get("model")
    if model is not None and hasattr(model, "cls"):
        result.entry = model.cls.name
        result.entry_location = _place_of(model.cls)
        loader = model.cls.lookup(result.engine.loader) if result.engine.loader else None
        result.loader_location = _place_of(loader[0]) if loader else None
    count = names.get("aux_count")
    result.aux_count = count if isinstance(count, int) else result.aux_count
    result.captures = names.get("use_aux") is True
    switches = names.get("switches")
    if isinstance(switches, dict):
        result.switches = switches
    ids = names.get("aux_layer_ids")
    if isinstance(ids, list):
        result.aux_layer_ids = list(ids)
    logits = names.get("logits")
    if isinstance(logits, list):
        result.logits = [_term(m, t, result) for t in logits]
    feedback = names.get("feedback")
    if isinstance(feedback, list):
        result.feedback = [_term(m, t, result) for t in feedback]
    if model is not None and not isinstance(model, Unknown):
        checkpoints.collect(m, model, names, result)


def _place_of(definition: Any) -> Location | None:
    """Where a class or function of the trees is defined."""
    module, node = getattr(definition, "module", None), getattr(definition, "node", None)
    if module is None or module.file is None or node is None:
        return None
    return Location(module.file.tree.label, module.file.path, node.lineno, node.col_offset + 1)


def _term(m: Machine, value: Any, result: Extraction) -> Term:
    from checker.interpreter.torch_ops import arranged

    if isinstance(value, Tensor):
        return arranged(m, value).term(m)
    reason = value.reason if isinstance(value, Unknown) else "no tensor came out"
    m.builder.here = value.location if isinstance(value, Unknown) else None
    return m.builder.unknown(reason, ())
