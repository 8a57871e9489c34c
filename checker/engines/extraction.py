"""Extracting one side, over every answer to a condition that nothing decides."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from checker.engines import checkpoint as checkpoints
from checker.engines.drive import with_schedule
from checker.engines.onward import onward
from checker.engines.stages import machine_for, run_stage, stage_module
from checker.graph.builder import Builder
from checker.graph.terms import postorder, unknowns
from checker.interpreter.fallbacks import is_fallback
from checker.interpreter.tensors import Tensor, arranged, regroup
from checker.interpreter.values import ClassValue, Raised, Stuck, Unknown
from checker.location import Location
from checker.syntax import UnparsableModule

if TYPE_CHECKING:
    from checker.engines.captured import Captured
    from checker.engines.description import Engine
    from checker.engines.stages import Inputs, Subject
    from checker.engines.telling import Told
    from checker.graph.terms import Pool, Term
    from checker.interpreter.machine import ConfigRead, Decision, Machine
    from checker.interpreter.results import Result

_PATHS = 32
_LOAD = "load"
_NOT_THERE = ("ModuleNotFoundError", "ImportError")
"""What an engine's description raises itself, on no line of the engine, for another layout."""
ENDS = (Raised, Stuck, UnparsableModule, RecursionError)
"""What ends an extraction early: the checked program, or the limits of reading it."""


@dataclass(frozen=True, slots=True)
class Failure:
    """How an extraction ended early.

    `type` is the exception the checked program would raise, None when interpretation could not go
    on. `keys` are configuration keys that the failing condition or expression had read;
    `parameters` are the checkpoint names or module paths involved; `step` is the draft step that
    was being computed.
    """

    stage: str
    type: str | None
    message: str
    location: Location | None
    keys: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    step: int = 0


@dataclass(slots=True)
class Extraction:
    """What an engine computes for one configuration.

    `logits[s]`: draft logits of step s, `feedback[s]` the state that step hands on (when the engine
    shows it). `aux_count` is the number of aux states by the configuration, `captured` what the
    target really hands over; `told` what the server tells it, and `graph_captured` what captured
    graphs hand over where they were told something else; `ranked` what it hands over with `ranks`
    (tensor and pipeline parallelism) of more than one. `aux_boundaries` are those that training
    captured, in their order; with the ids `asking` the target would hand those over, too, with none
    where they are `unreachable`.
    `checkpoint`: name → shape of what the trainer saves; `weights`: name
    → parameter it reached (server side); `parameters`: parameter → names of the tensors in it, None
    for one that is not known, nothing where it kept its initial value; `left_at`: name in the
    loader → how far a loop came with it. `trained` are the parameters used with gradients.
    `accuracies`: what the trainer reports of each step → of what it is a share (None: unknown);
    `tells_accuracies`: whether its description says where they are counted.
    `training_target`: what the trainer gives the target's head to make its targets.
    `vocabulary_map`: target ids by draft ids, None where the side keeps none; `maps_vocabulary`:
    whether its description says so at all; `vocabulary_error`: what the side raises where there is
    none.
    `doubts`: where the checked program might have raised and was followed nevertheless. `results`:
    the expressions that gave a term, when they were asked for.
    `taken`: tensors that training takes from the target and keeps → what else they are called.
    `refused`: tensors of the checkpoint on which loading raises, None where that is not known.
    `onward`: what would be computed had it not raised (see `checker.engines.onward`).
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
    parameters: dict[str, list[str | None]] = field(default_factory=dict)
    left_at: dict[str, Location] = field(default_factory=dict)
    trained: set[str] = field(default_factory=set)
    aux_count: int | None = None
    captures: bool = False
    captured: Captured | None = None
    graph_captured: Captured | None = None
    ranked: Captured | None = None
    ranks: tuple[int, int] = (1, 1)
    told: Told | None = None
    asking: list[int] | None = None
    unreachable: bool = False
    aux_layer_ids: list[int] | None = None
    aux_boundaries: list[int] | None = None
    entry: str = ""
    entry_location: Location | None = None
    loader_location: Location | None = None
    switches: dict[str, Any] = field(default_factory=dict)
    decisions: list[Decision] = field(default_factory=list)
    doubts: list[Failure] = field(default_factory=list)
    training_target: Term | None = None
    accuracies: dict[str, str | None] = field(default_factory=dict)
    tells_accuracies: bool = False
    vocabulary_map: Term | None = None
    maps_vocabulary: bool = False
    vocabulary_error: str | None = None
    results: dict[Term, tuple[Result, ...]] = field(default_factory=dict)
    taken: dict[str, str] = field(default_factory=dict)
    refused: tuple[str, ...] | None = ()
    widened: tuple[Term, ...] = ()
    onward: Extraction | None = None

    def is_whole(self) -> bool:
        """Whether nothing was left open: what was is told in words that may name places."""
        roots = [*self.logits, *self.feedback]
        roots += [t for t in (self.training_target, self.vocabulary_map) if t is not None]
        open_ends = self.failure is not None or self.decisions or self.doubts
        if any(is_fallback(read.default) for read in self.reads):
            return False
        return not open_ends and not unknowns(*roots)


def extract_side(subject: Subject, pool: Pool, inputs: Inputs) -> Extraction:
    """Extracts one side, or gives what was extracted before from the same definitions."""
    inputs = with_schedule(subject, inputs)
    if subject.keeper is None or inputs.results:
        return _extract(subject, pool, inputs)
    return subject.keeper.result(
        ["side", *inputs.question()],
        subject,
        pool,
        lambda: _extract(subject, pool, inputs),
        Extraction.is_whole,
        places=inputs.places(),
    )


def _extract(subject: Subject, pool: Pool, inputs: Inputs) -> Extraction:
    """Extracts one side; where the checked program raises, also what it would compute if not."""
    found = _every_path(subject, pool, inputs)
    if found.failure is not None and found.failure.type is not None and not inputs.results:
        found.onward = onward(found, inputs, lambda other: _every_path(subject, pool, other))
    return found


def _every_path(subject: Subject, pool: Pool, inputs: Inputs) -> Extraction:
    """Extracts one side once per combination of answers to undecided conditions, and joins them."""
    results: list[Extraction] = []
    pending: list[tuple[bool, ...]] = [()]
    while pending:
        script = pending.pop()
        result = _one_path(subject, pool, inputs, script)
        results.append(result)
        if result.failure is not None and result.failure.type is None:
            break  # whatever the other combinations give, nothing can be said
        pending += [
            (*script, *(True,) * (index - len(script)), False)
            for index in range(len(script), len(result.decisions))
        ]
        if len(results) + len(pending) > _PATHS:
            first = results[0]
            cause = first.decisions[0]
            reason = (
                f"depends on a condition that nothing decides: {cause.text} (and on others: they"
                f" combine in more than {_PATHS} ways)"
            )
            first.failure = Failure("run", None, reason, cause.location)
            return first
    return _joined(results, Builder(pool))


def _joined(results: list[Extraction], builder: Builder) -> Extraction:
    """One extraction out of all paths: where they differ, the value is unknown."""
    first = results[0]
    if len(results) == 1:
        return first
    decision = next(d for r in results for d in reversed(r.decisions))
    failed = next((r for r in results if r.failure is not None), None)
    if failed is not None and failed.failure is not None:
        if any(r.failure != failed.failure for r in results):
            message = f"depends on {decision.text}: {failed.failure.message}"
            failed.failure = replace(failed.failure, type=None, message=message)
        return failed
    builder.here = decision.location
    first.logits = _agreed([r.logits for r in results], decision, builder)
    first.feedback = _agreed([r.feedback for r in results], decision, builder)
    first.origins.update(builder.origins)
    for other in results[1:]:
        for term, places in other.origins.items():
            first.origins.setdefault(term, places)
        seen = {_place_of_read(r) for r in first.reads}
        first.reads += [r for r in other.reads if _place_of_read(r) not in seen]
        first.doubts += [d for d in other.doubts if d not in first.doubts]
        if other.weights != first.weights:
            reason = f"which tensors are loaded depends on {decision.text}"
            first.failure = Failure("load", None, reason, decision.location)
    return first


def _place_of_read(read: ConfigRead) -> tuple[object, ...]:
    """What tells reads apart; a default may be a dictionary, which cannot be hashed."""
    return read.place, read.key, read.found, read.location


def _agreed(paths: list[list[Term]], decision: Decision, builder: Builder) -> list[Term]:
    """The terms of all paths where they are the same, unknown where they are not."""
    if len({len(terms) for terms in paths}) > 1:
        return [builder.unknown(f"the number of steps depends on {decision.text}", ())]
    looks: dict[Term, object] = {}
    return [
        terms[0]
        if all(_look(t, looks) == _look(terms[0], looks) for t in terms)
        else builder.unknown(
            f"depends on a condition that nothing decides: {decision.text}", terms[0].shape
        )
        for terms in zip(*paths, strict=True)
    ]


def _look(root: Term, looks: dict[Term, object]) -> object:
    """What a term is, with unknown values told apart by reason and place in it only.

    Two paths meet the same unknown value twice; that makes them no different.
    """
    for term in postorder(root):
        if term in looks:
            continue
        if term.op == "unknown":
            looks[term] = ("unknown", term.attr("reason"), term.shape)
        elif all(looks[a] is a for a in term.args):
            looks[term] = term
        else:
            parts = [looks[a] for a in term.args]
            commutes = term.op in ("add", "mul")
            looks[term] = (
                term.op,
                term.attrs,
                frozenset(Counter(parts).items()) if commutes else tuple(parts),
            )
    return looks[root]


def _one_path(subject: Subject, pool: Pool, inputs: Inputs, script: tuple[bool, ...]) -> Extraction:
    m = machine_for(subject, pool, inputs, script)
    result = Extraction(subject.engine, origins=m.builder.origins, reads=m.reads)
    if m.results is not None:
        result.results = m.results.of
    result.checkpoint = dict(inputs.checkpoint)  # under the trained names, whatever came of them
    for item in inputs.given or ():  # and what training does not know, under its own
        if item.trained is None and item.doubt is None:
            name = checkpoints.identity(item, inputs.checkpoint)
            result.checkpoint[name] = (item.shape, item.kind)
    module = stage_module(m, subject.engine, inputs)
    stage_name = ""
    try:
        for stage in subject.engine.stages:
            stage_name = stage.name
            m.item_done = checkpoints.place_in_loop if stage_name == _LOAD else None
            run_stage(m, module, stage)
            _note_doubts(m, stage_name, result)
            _collect(m, module.scope.names, result)
    except ENDS as error:
        result.failure = failure_of(m, error, stage_name, inputs.config)
        if stage_name == _LOAD and isinstance(error, Raised):
            result.refused = checkpoints.refused(m, module.scope.names, subject.engine.loader)
    result.widened = tuple(m.widened or ())
    result.decisions = m.decisions
    driven = inputs.schedule.assumptions if inputs.schedule else ()
    result.assumptions = list(dict.fromkeys((*m.assumptions, *driven)))
    result.trained = set(m.grad_used)
    try:  # what a model holds is asked of the checked program, which may end here too
        _collect(m, module.scope.names, result)
    except ENDS as error:
        result.failure = result.failure or failure_of(m, error, stage_name, inputs.config)
    return result


def _note_doubts(m: Machine, stage: str, result: Extraction) -> None:
    """Where the program might have raised in a stage, once each."""
    step = m.settings.get("step", 0)
    for reason, place in m.doubts.items():
        result.doubts.append(Failure(stage, None, reason, place, _keys_on_line(m, place), (), step))
    m.doubts.clear()


def failure_of(m: Machine, error: Exception, stage: str, config: dict[str, Any]) -> Failure:
    """How a stage ended, from what ended it."""
    match error:
        case Raised():
            if m.debug:
                sys.stderr.write("\n".join(error.trail) + "\n")
            return _raised(m, error, stage, config)
        case Stuck():
            return Failure(stage, None, error.reason, error.location)
        case UnparsableModule():
            place = Location(error.tree, error.path, error.line, error.column)
            return Failure(stage, None, f"the file cannot be parsed: {error.reason}", place)
        case _:
            return Failure(stage, None, "the checked code nests too deeply", m.location())


def _raised(m: Machine, raised: Raised, stage: str, config: dict[str, Any]) -> Failure:
    """An exception of the checked program, with what it was about."""
    if raised.location is None and raised.type_name in _NOT_THERE:
        reason = f"the description of {m.engine} looks for what is not there: {raised.message}"
        return Failure(stage, None, reason, None)
    keys = tuple(
        k for key in raised.keys for k in (_stating(config, key[1:]) if key[:1] == "=" else (key,))
    )
    return Failure(
        stage,
        raised.type_name,
        raised.message,
        raised.location,
        keys or _keys_on_line(m, raised.location),
        (*_parameter_names(raised.terms), *raised.parameters),
        m.settings.get("step", 0),
    )


def _stating(config: dict[str, Any], text: str) -> tuple[str, ...]:
    """The key of a configuration that states a text, if it is the only one."""
    found = [key for key, value in config.items() if value == text]
    for value in config.values():
        if isinstance(value, dict):
            found += _stating(value, text)
    return tuple(found) if len(found) == 1 else ()


def _keys_on_line(m: Machine, place: Location | None) -> tuple[str, ...]:
    """Configuration keys read on a line."""
    if place is None:
        return ()
    line = (place.path, place.line)
    read = [r for r in m.reads if r.location and (r.location.path, r.location.line) == line]
    return tuple(dict.fromkeys(r.key for r in read))


def _parameter_names(terms: tuple[Term, ...]) -> list[str]:
    """The parameters that an operator's arguments are made of, nearest first."""
    seen: dict[Term, None] = {}
    level = terms
    while level:
        seen.update(dict.fromkeys(level))
        level = tuple(a for t in level for a in t.args if a not in seen)
    return [str(t.attr("name")) for t in seen if t.op == "param"]


def _collect(m: Machine, names: dict[str, Any], result: Extraction) -> None:
    """Takes what the stages have computed so far out of their module."""
    model = names.get("model")
    cls = getattr(model, "cls", None) or names.get("model_class")
    if isinstance(cls, ClassValue):
        result.entry = cls.name
        result.entry_location = place_of(cls)
        loader = cls.lookup(result.engine.loader) if result.engine.loader else None
        result.loader_location = place_of(loader[0]) if loader else None
    count, ids, switches = (names.get(n) for n in ("aux_count", "aux_layer_ids", "switches"))
    result.aux_count = count if isinstance(count, int) else result.aux_count
    result.captures = names.get("use_aux") is True
    accuracies = names.get("accuracies")
    result.tells_accuracies = isinstance(accuracies, dict)
    if isinstance(accuracies, dict):
        result.accuracies = {
            str(n): k if isinstance(k, str) else None for n, k in accuracies.items()
        }
    taken = names.get("taken_from_target")
    if isinstance(taken, dict):
        result.taken = {str(name): str(other) for name, other in taken.items()}
    if isinstance(switches, dict):
        result.switches = switches
    if isinstance(ids, list):
        result.aux_layer_ids = list(ids)
    result.maps_vocabulary = "vocabulary_map" in names
    error = names.get("vocabulary_error")
    result.vocabulary_error = error if isinstance(error, str) else None
    for name in ("training_target", "vocabulary_map"):
        value = names.get(name)
        if isinstance(value, str):  # why there is none
            value = Unknown(value, None)
        if isinstance(value, (Tensor, Unknown)):
            setattr(result, name, _term(m, value))
    if isinstance(names.get("aux_boundaries"), list):
        result.aux_boundaries = list(names["aux_boundaries"])
    for name in ("logits", "feedback"):
        values = names.get(name)
        if isinstance(values, list):
            setattr(result, name, [_term(m, value) for value in values])
    if model is not None and not isinstance(model, Unknown):
        checkpoints.collect(m, model, names, result)


def place_of(definition: Any) -> Location | None:
    """Where a class or function of the trees is defined."""
    module, node = getattr(definition, "module", None), getattr(definition, "node", None)
    if module is None or module.file is None or node is None:
        return None
    file = module.file
    return Location(file.tree.label, file.path, node.lineno, max(node.col_offset, 0) + 1)


def _term(m: Machine, value: Any) -> Term:
    if isinstance(value, Tensor):
        for axis in range(len(value.axes)):  # as wide as it is, however it was put together
            value = regroup(m, value, axis)
        return arranged(m, value).term(m)
    reason = value.reason if isinstance(value, Unknown) else "no tensor came out"
    m.builder.here = value.location if isinstance(value, Unknown) else None
    return m.builder.unknown(reason, ())
