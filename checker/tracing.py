"""``trace``: an engine's real draft, run, beside what was read of it, wire by wire."""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from checker.configs import read_config
from checker.contract.loading import load_contract
from checker.contract.terms import ContractTerms, contract_terms
from checker.engines import Extraction, Inputs, extract_side, load_engines, load_operators
from checker.example import FOLDER
from checker.extract import role_of
from checker.graph.builder import Builder
from checker.graph.difference import difference
from checker.graph.terms import Pool, Term, postorder, unknowns
from checker.judging.graphs import rotary
from checker.judging.wording import spelled, stated
from checker.pairing import allow_deep_recursion, config_of, open_side, target_config_of
from checker.report.trace import Row, Trace
from checker.trace.jobs import TOKENS, engine_job, graph_job, largest_difference
from checker.trace.process import Worker
from checker.trace.shapes import Names, part_of, same_shape, shown
from checker.trace.shrink import Shrinker
from checker.witness import SAME, setup_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from checker.contract.model import Contract
    from checker.engines import Engine, Subject
    from checker.graph.labels import Wire
    from checker.location import Location
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
    engines, contract = load_engines(), load_contract()
    role = role_of(engines, request.source)
    opened = open_side(engines, role, request.source, request.with_, request.access)
    subject = opened.subject(load_operators())
    config, target = _configurations(request, role, subject.engine)
    with Worker(request.python) as worker:
        device = request.device
        if device == "auto":
            device = worker.device()
        if device not in _SIZED:
            shrinker = Shrinker(contract)
            config, target = shrinker.shrink(config), shrinker.shrink(target)
        renames = tuple((r.old, r.new) for r in request.renames)
        draft = _Draft(contract, opened, subject, config, target, renames)
        return _traced(draft, device, request.values, worker)


def _configurations(
    request: TraceRequest, role: str, engine: Engine
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is given, and the example's where nothing is."""
    file = request.config or read_config(str(FOLDER / _OPTIONS[role]))
    config = config_of(file, engine, "--config")
    target = target_config_of(request.target)
    if target is None:
        target = dict(read_config(str(FOLDER / "target.json")).data)
        width = stated(config, spelled(load_contract().switches["hidden_size"], engine))[1]
        target["hidden_size"] = width or target["hidden_size"]
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


def _traced(draft: _Draft, device: str, compare: bool, worker: Worker) -> Trace:
    contract, opened, subject = draft.contract, draft.opened, draft.subject
    label = opened.tree.label
    pool = Pool()
    switches = stated_switches(contract, subject.engine, draft.config, draft.target)
    inputs = Inputs(draft.config, draft.target, renames=draft.renames)
    if subject.engine.role == "server":
        inputs = replace(inputs, checkpoint=as_trained(contract, switches))
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
    answer = worker.ask(engine_job(subject, opened.trees, inputs, setup))
    reason = _no_verdict(answer)
    if reason is not None:
        return Trace(label, device, reason=reason)
    wires = wires_of(contract, extraction, switches, pool)
    values = compare and device == "cpu"
    computed = worker.ask(graph_job(extraction, setup, _terms(wires))) if values else {}
    if "problem" in computed or "raises" in computed:
        what = computed.get("problem") or computed.get("message")
        return Trace(label, device, reason=f"the extracted graph has no values: {what}")
    rows = _Rows(opened, answer["lines"], computed.get("wires", {}), extraction, Names(switches))
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
    if "problem" in answer:
        return str(answer["problem"])
    if "raises" in answer:
        return f"the real code raises {answer['raises']}: {answer['message']}"
    if answer["initial"]:
        return f"parameters never loaded: {', '.join(answer['initial'][:4])}"
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
    ids = found["eagle_aux_hidden_state_layer_ids"]
    hidden, heads = found["hidden_size"], found["num_attention_heads"]
    found["aux_count"] = len(ids) if ids else found["num_aux_hidden_states"] or 3
    found["target_hidden_size"] = found["target_hidden_size"] or target.get("hidden_size") or hidden
    found["head_dim"] = found["head_dim"] or hidden // heads
    found["num_key_value_heads"] = found["num_key_value_heads"] or heads
    found["draft_vocab_size"] = found["draft_vocab_size"] or found["vocab_size"]
    found["activation"] = found["hidden_act"]
    found["qk_norm"] = False
    found["sliding_window"] = [None] * int(found["num_hidden_layers"])
    return found


def _contract(contract: Contract, switches: Mapping[str, Any], steps: int) -> ContractTerms:
    plain = {"rope_base": 10000.0, "rope_dim": switches["head_dim"], "rope_scaling": None}
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
    switches = rotary({**switches, **extraction.switches}, extraction.logits)
    terms = contract_terms(contract.wires, Builder(pool), switches, steps)
    found = difference(terms.logits, extraction.logits, terms.labels)
    order = {name: index for index, name in enumerate(contract.wires["wires"])}
    wires = sorted(terms.wires, key=lambda w: (w.step, max(w.layer, 0), order.get(w.name, 0)))
    return {w: found.aligned[w][1] if w in found.aligned else None for w in wires}


def _terms(wires: Mapping[Wire, Term | None]) -> dict[str, Term]:
    return {str(wire): term for wire, term in wires.items() if term is not None}


# -- rows ------------------------------------------------------------------------------------------


class Statements:
    """The lines of the statements in which places of checked files are."""

    def __init__(self, opened: Opened) -> None:
        self._trees = {tree.label: tree for tree in opened.trees}
        self._spans: dict[tuple[str, str], list[tuple[int, int]]] = {}

    def lines(self, place: Location) -> tuple[int, int]:
        """The first and the last line of the innermost statement around a place."""
        key = (place.source, place.path)
        if key not in self._spans:
            tree = self._trees.get(place.source)
            text = tree.read(place.path) if tree is not None else b""
            self._spans[key] = [
                (node.lineno, node.end_lineno or node.lineno)
                for node in ast.walk(ast.parse(text))
                if isinstance(node, ast.stmt) and not hasattr(node, "body")
            ]
        inside = [s for s in self._spans[key] if s[0] <= place.line <= s[1]]
        return min(inside, key=lambda s: s[1] - s[0], default=(place.line, place.line))


class _Rows:
    """Finds, for a term, what really came out of the statement that it was read from."""

    def __init__(
        self,
        opened: Opened,
        lines: Mapping[str, Mapping[str, Any]],
        values: Mapping[str, Any],
        extraction: Extraction,
        names: Names,
    ) -> None:
        self._statements = Statements(opened)
        self._lines, self._values, self._extraction = lines, values, extraction
        self._names = names

    def row(self, wire: Wire, term: Term | None) -> Row:
        """One wire's row."""
        if term is None:
            return Row(str(wire), "nothing stands here", "", None, None)
        read = shown(term.shape, self._names)
        places = self._extraction.origins.get(term, ())
        location = places[0] if places else None
        if term.op == "input":
            return Row(str(wire), read, "fed in", None, None)
        seen = next(filter(None, map(self._results, places)), [])
        fitting = [entry for entry in seen if same_shape(term.shape, entry[0], TOKENS)]
        if fitting:
            fits, value = self._value(wire, fitting)
            return Row(str(wire), read, _written(fitting[-1][0]), fits, location, value)
        if not seen:
            return Row(str(wire), read, "not seen", None, location)
        wider = [entry for entry in seen if part_of(term.shape, entry[0], TOKENS)]
        if wider:
            return Row(str(wire), read, f"within {_written(wider[-1][0])}", None, location)
        return Row(str(wire), read, _written(seen[-1][0]), False, location)

    def _value(self, wire: Wire, fitting: list[Any]) -> tuple[bool, str]:
        """Whether one of the results has the number that the graph computes, and both."""
        computed = self._values.get(str(wire), (None, None))[1]
        real = [entry[1] for entry in fitting if entry[1] is not None]
        if computed is None or not real:
            return True, ""
        nearest = min(real, key=lambda value: abs(value - computed))
        same = abs(nearest - computed) <= SAME * max(1.0, abs(computed))
        return same, f"rms {computed:.6g}" if same else f"rms {computed:.6g}, run {nearest:.6g}"

    def _results(self, place: Location) -> list[Any]:
        """What came out of the lines of the statement in which a place is."""
        noted = self._lines.get(place.path)
        if not noted:
            return []
        start, stop = self._statements.lines(place)
        return [entry for line in range(start, stop + 1) for entry in noted.get(str(line), ())]


def _written(shape: list[int]) -> str:
    return "[" + ", ".join(map(str, shape)) + "]"
