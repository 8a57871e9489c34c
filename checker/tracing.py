"""``trace``: an engine's real draft, run, beside what was read of it, wire by wire."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from checker.configs import read_config
from checker.contract.derived import derived
from checker.contract.loading import load_contract
from checker.contract.terms import ContractTerms, contract_terms
from checker.engines import (
    Extraction,
    Inputs,
    extract_side,
    load_engines,
    load_operators,
    with_schedule,
)
from checker.errors import InputError
from checker.example import FOLDER
from checker.extract import role_of
from checker.graph.builder import Builder
from checker.graph.difference import difference
from checker.graph.terms import Pool, Term, postorder, unknowns
from checker.judging.graphs import rotary
from checker.judging.wording import spelled, stated
from checker.pairing import allow_deep_recursion, config_of, open_side, target_config_of
from checker.report.trace import Trace
from checker.request import Pin
from checker.trace import OUT_OF_MEMORY
from checker.trace.environment import needs_of, prepared
from checker.trace.jobs import SAME, engine_job, graph_job, largest_difference
from checker.trace.process import Worker
from checker.trace.rows import Places, Rows
from checker.trace.shapes import Names
from checker.trace.shrink import Shrinker
from checker.witness import lacking, setup_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from checker.contract.model import Contract
    from checker.engines import Engine, Subject
    from checker.graph.labels import Wire
    from checker.pairing import Opened
    from checker.request import TraceRequest

_OPTIONS = {"trainer": "train.json", "server": "serve.json"}
_SIZED = ("meta", "cuda")


def trace(request: TraceRequest) -> Trace:
    """Runs one engine's draft in a process of its own and compares it with what was read.

    Raises:
        InputError: the source, the configuration or the interpreter cannot be used.
    """
    allow_deep_recursion()
    added = request.contracts
    engines, contract = load_engines(added), load_contract(added)
    role = role_of(engines, request.source)
    python = request.python
    if request.prepare:
        opened = open_side(engines, role, request.source, request.with_, request.access)
        needs = needs_of(opened.engine, opened.trees, package=request.real)
        python = prepared(needs, request.access)
    preload = (n for e in engines if e.role == role for n in e.run_time.preload)
    with Worker(python, preload=preload) as worker:  # it imports torch while the sources are read
        if request.real:
            opened = _as_installed(request, engines, role, worker)
        else:
            opened = open_side(engines, role, request.source, request.with_, request.access)
        subject = opened.subject(load_operators(added))
        config, target = _configurations(request, role, subject.engine)
        device = _device(request.device, worker)
        if device not in _SIZED:
            shrinker = Shrinker(contract)
            config, target = shrinker.shrink(config), shrinker.shrink(target)
        renames = tuple((r.old, r.new) for r in request.renames)
        draft = _Draft(contract, opened, subject, config, target, renames, request.real)
        return _traced(draft, device, request.values, worker)


def _device(asked: str, worker: Worker) -> str:
    """Where the draft runs.

    Raises:
        InputError: there is no such device.
    """
    if asked not in ("auto", "cuda"):
        return asked
    found = worker.device()
    if asked == "cuda" and found != "cuda":
        raise InputError(
            "torch finds no CUDA device here",
            "say --device cpu, or meta for full sizes",
            "--device",
        )
    return found


def _as_installed(
    request: TraceRequest, engines: tuple[Engine, ...], role: str, worker: Worker
) -> Opened:
    """The source, with its libraries read from the releases that are installed beside it.

    Raises:
        InputError: the engine is not installed there, or in another release.
    """
    names = sorted({n for e in engines if e.role == role for n in (e.distribution, *e.libraries)})
    versions = worker.versions(names)
    given = {pin.name for pin in request.with_}
    pins = [Pin(n, v) for n, v in versions.items() if v is not None and n not in given]
    opened = open_side(engines, role, request.source, [*request.with_, *pins], request.access)
    name, wanted = opened.engine.distribution, opened.tree.version
    found = versions.get(name)
    if found is None or (wanted is not None and found != wanted):
        release = name if wanted is None else f"{name}=={wanted}"
        what = f"{name} {found} is installed" if found else f"{name} is not installed"
        raise InputError(
            f"{what} here, --real runs {release}",
            f"pip install {release} there, or leave --real out to run its files alone",
            worker.python,
        )
    return opened


def _configurations(
    request: TraceRequest, role: str, engine: Engine
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is given, and the example's where nothing is."""
    file = request.config or read_config(str(FOLDER / _OPTIONS[role]))
    config = config_of(file, engine, "--config")
    contract = load_contract(request.contracts)
    target = target_config_of(request.target, contract.target)
    if target is None:
        target = dict(read_config(str(FOLDER / "target.json")).data)
        width = stated(config, spelled(contract.switches[contract.roles["hidden"]], engine))[1]
        target[contract.target["hidden"]] = width or target[contract.target["hidden"]]
    return config, target


@dataclass(frozen=True, slots=True)
class _Draft:
    """An engine's draft under one configuration."""

    contract: Contract
    opened: Opened
    subject: Subject
    config: dict[str, Any]
    target: dict[str, Any]
    renames: tuple[tuple[str, str], ...]
    real: bool


def _traced(draft: _Draft, device: str, compare: bool, worker: Worker) -> Trace:
    contract, opened, subject = draft.contract, draft.opened, draft.subject
    label = opened.tree.label
    pool = Pool()
    switches = stated_switches(contract, subject.engine, draft.config, draft.target)
    inputs = Inputs(draft.config, draft.target, renames=draft.renames, results=True)
    if subject.engine.role == "server":
        inputs = replace(inputs, checkpoint=as_trained(contract, switches))
    inputs = with_schedule(subject, inputs)
    extraction = extract_side(subject, pool, inputs)
    reason = _unreadable(extraction)
    if reason is not None:
        return Trace(label, device, reason=reason)
    setup = replace(
        setup_for(extraction),
        steps=len(extraction.logits),
        device=device,
        exact=device == "cpu",
        record=True,
    )
    wires = wires_of(contract, extraction, switches, pool)
    places = Places(opened.trees, extraction)
    job = engine_job(subject, opened.trees, inputs, setup)
    job["wanted"] = places.wanted(wires.values())
    if draft.real:
        job["real"] = {"stand_ins": subject.engine.run_time.stand_ins}
    answer = worker.ask(job)
    if "refused" in answer:
        raise InputError(
            f"the installed {subject.engine.distribution} cannot be run here: {answer['refused']}",
            "leave --real out to run its files alone, or give --python an environment in which it"
            " can be imported",
            worker.python,
        )
    reason = _no_verdict(answer)
    if reason is not None:
        if "raises" in answer or "problem" in answer:
            reason += lacking(worker, subject.engine)
        return Trace(label, device, reason=reason)
    places.seen = answer["lines"]
    values = compare and device == "cpu"
    computed = worker.ask(graph_job(extraction, setup, _terms(wires))) if values else {}
    if "problem" in computed or "raises" in computed:
        what = computed.get("problem") or computed.get("message")
        return Trace(label, device, reason=f"the extracted graph has no values: {what}")
    rows = Rows(places, computed.get("wires", {}), Names(contract, switches))
    made = tuple(rows.row(wire, term) for wire, term in wires.items())
    largest = _largest(answer, computed) if values else None
    agrees = all(row.same is not False for row in made) and (largest is None or largest <= SAME)
    return Trace(label, device, made, largest, agrees)


def _largest(answer: Mapping[str, Any], computed: Mapping[str, Any]) -> float:
    pairs = zip(answer["logits"], computed["logits"], strict=True)
    return max((largest_difference(a, b) for a, b in pairs), default=math.inf)


def _unreadable(extraction: Extraction) -> str | None:
    """Why there is nothing to compare with."""
    failure = extraction.failure
    if failure is not None:
        what = f"raises {failure.type}: {failure.message}" if failure.type else failure.message
        return f"the draft could not be followed: {what} ({failure.location})"
    found = unknowns(*extraction.logits)
    if found:
        return f"something in the draft is not known: {found[0].attr('reason')}"
    return None


def _no_verdict(answer: Mapping[str, Any]) -> str | None:
    """Why a run says nothing, with what to do about it."""
    problem = answer.get("problem")
    if problem is not None and problem.startswith(OUT_OF_MEMORY):
        return f"{problem} (give a smaller --config, or --device meta for shapes without values)"
    if problem is not None:
        return str(problem)
    if "raises" in answer:
        return f"the real code raises {answer['raises']}: {answer['message']}"
    if answer["initial"]:
        return f"parameters never loaded: {', '.join(answer['initial'][:4])}"
    if answer["stand_ins"]:
        return f"a stand-in took part: {', '.join(answer['stand_ins'][:4])}"
    return None


# -- the contract under a configuration ------------------------------------------------------------


def stated_switches(
    contract: Contract, engine: Engine, config: Mapping[str, Any], target: Mapping[str, Any]
) -> dict[str, Any]:
    """The value of every switch that the wires read, as one engine's configuration states it."""
    found = {name: switch.default for name, switch in contract.switches.items()}
    for name, switch in contract.switches.items():
        place, value = stated(config, spelled(switch, engine))
        if place is not None and value is not None:
            found[name] = value
    found["target"] = target.get(contract.target["hidden"])
    return derived(contract.wires, found)


def _contract(contract: Contract, switches: Mapping[str, Any], steps: int) -> ContractTerms:
    plain = rotary({}, [], contract.roles["head"])
    plain["rope_dim"] = switches[contract.roles["head"]]
    return contract_terms(contract.wires, Builder(Pool()), {**plain, **switches}, steps)


def as_trained(contract: Contract, switches: Mapping[str, Any]) -> dict[str, Any]:
    """A checkpoint as the contract has it: what a trainer would have saved."""
    terms = postorder(*_contract(contract, switches, 2).outputs)
    return {str(t.attr("name")): (t.shape, "float") for t in terms if t.op == "param"}


def wires_of(
    contract: Contract, extraction: Extraction, switches: dict[str, Any], pool: Pool
) -> dict[Wire, Term | None]:
    """What the engine computes on every wire."""
    steps = len(extraction.logits)
    switches = rotary(
        {**switches, **extraction.switches}, extraction.logits, contract.roles["head"]
    )
    terms = contract_terms(contract.wires, Builder(pool), switches, steps)
    found = difference(terms.logits, extraction.logits, terms.labels)
    order = {name: index for index, name in enumerate(contract.wires["wires"])}
    wires = sorted(terms.wires, key=lambda w: (w.step, max(w.layer, 0), order.get(w.name, 0)))
    return {w: found.aligned[w][1] if w in found.aligned else None for w in wires}


def _terms(wires: Mapping[Wire, Term | None]) -> dict[str, Term]:
    return {str(wire): term for wire, term in wires.items() if term is not None}
