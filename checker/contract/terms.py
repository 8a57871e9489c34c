"""The contract's wires as graph terms, for given switches, with labels for every use of a wire."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from checker.contract.expressions import BadExpression, Named, Value, evaluate, parse, place, truth
from checker.contract.scope import Place, PlaceScope
from checker.errors import InputError
from checker.graph.labels import Labels, Wire
from checker.graph.terms import ShapeError

if TYPE_CHECKING:
    from checker.graph.builder import Builder
    from checker.graph.terms import Term


@dataclass(frozen=True, slots=True)
class ContractTerms:
    """The architecture under given switches: outputs of every step, and the labels of all wires."""

    labels: Labels
    logits: tuple[Term, ...]
    feedback: tuple[Term, ...]
    wires: Mapping[Wire, Term]

    @property
    def outputs(self) -> tuple[Term, ...]:
        """The outputs to compare: logits of every step, and the last step's feedback."""
        return (*self.logits, self.feedback[-1])


def contract_terms(
    document: Mapping[str, Any], builder: Builder, switches: Mapping[str, Any], steps: int = 2
) -> ContractTerms:
    """The wires of the contract for these switches.

    Args:
        document: the wires file, as loaded.
        builder: makes the terms; it must be used for nothing else, so that labels are complete.
        switches: the value of every switch that the wires read.
        steps: how many draft calls.

    Raises:
        InputError: an expression of the document cannot be evaluated.
    """
    wiring = _Wiring(document, builder, switches)
    layer_output = str(document["layer-output"])
    outputs = [str(name) for name in document["outputs"]]
    results: dict[str, list[Term]] = {name: [] for name in outputs}
    for step in range(steps):
        for layer in range(int(switches[document["roles"]["layers"]])):
            wiring.wire(layer_output, Place(step, layer))
        for name in outputs:
            named = wiring.wire(name, Place(step))
            if not isinstance(named, Named):
                raise InputError(f"{name} is no term", "mend the contract", f"wires.{name}")
            results[name].append(named.term)
            wiring.labels.roots.setdefault(named.term, named.names)
    labels = wiring.labels
    logits, feedback = (tuple(results.get(name, ())) for name in ("logits", "feedback"))
    return ContractTerms(labels, logits, feedback, dict(sorted(labels.terms.items())))


class _Wiring:
    """Evaluates wires on demand, each once per step and layer."""

    def __init__(
        self, document: Mapping[str, Any], builder: Builder, switches: Mapping[str, Any]
    ) -> None:
        self.builder = builder
        self.labels = Labels()
        self.switches = switches
        self.parameters: Mapping[str, Any] = document["parameters"]
        self.operators: Mapping[str, Any] = document.get("operators", {})
        defined = {**document.get("values", {}), **document["wires"]}
        self._wires: dict[str, Any] = {n.replace("-", "_"): d for n, d in defined.items()}
        self._names = {name.replace("-", "_"): name for name in defined}
        self._layered = self._find_layered()
        self.parts: dict[Term, dict[Term, None]] = {}
        self._values: dict[tuple[str, int, int | None], Value] = {}
        self._pending: set[tuple[str, int, int | None]] = set()

    def _find_layered(self) -> set[str]:
        reads: dict[str, set[str]] = {}
        for name, definition in self._wires.items():
            try:
                reads[name] = _reads(definition)
            except BadExpression as error:
                raise place(error, f"wires.{self._names[name]}") from None
        return _layered(reads, self.parameters)

    def has(self, name: str) -> bool:
        """Whether a wire is called so, in expressions."""
        return name in self._wires

    def layered(self, name: str) -> bool:
        """Whether the wire has a value in each decoder layer."""
        return name in self._layered

    def wire(self, name: str, at: Place) -> Value:
        """A wire's value at a place, reached by its name."""
        name = name.replace("-", "_")
        if name not in self._wires:
            raise BadExpression(f"knows no wire {name!r}")
        layer = at.layer if name in self._layered else None
        if name in self._layered and layer is None:
            raise BadExpression(f"reads {name!r}, which layers have, outside of them")
        key = (name, at.step, layer)
        if key not in self._values:
            if key in self._pending:
                raise BadExpression(f"depends on itself: {name!r}")
            self._pending.add(key)
            self._values[key] = self._define(name, Place(at.step, layer))
            self._pending.discard(key)
        value = self._values[key]
        if not isinstance(value, Named):
            return value
        wire = self._wire(name, at.step, layer)
        return Named(value.term, (wire, *(n for n in value.names if n != wire)))

    def _define(self, name: str, at: Place) -> Value:
        wire = self._wire(name, at.step, at.layer)
        scope = PlaceScope(self, at, wire)
        where = f"wires.{self._names[name]}"
        try:
            value = evaluate(_choose(self._wires[name], scope), scope)
        except BadExpression as error:
            raise place(error, where) from None
        except ShapeError as error:
            raise InputError(
                f"the contract's terms do not fit: {error}", "check the widths given", where
            ) from None
        if isinstance(value, Named):
            self.labels.terms.setdefault(wire, value.term)
        return value

    def _wire(self, name: str, step: int, layer: int | None) -> Wire:
        return Wire(self._names[name], step, -1 if layer is None else layer)


def _choose(definition: Any, scope: PlaceScope) -> object:
    """The expression that applies, out of a definition by condition, step or layer."""
    while isinstance(definition, Mapping):
        if "if" in definition:
            branch = "then" if truth(evaluate(definition["if"], scope)) else "else"
        elif definition.keys() <= {"first-step", "next-step"}:
            branch = "next-step" if scope.at.step else "first-step"
        else:
            branch = "later-layers" if scope.at.layer else "first-layer"
        if branch not in definition:
            raise BadExpression(f"has no {branch}")
        definition = definition[branch]
    return definition


def _layered(reads: Mapping[str, set[str]], parameters: Mapping[str, Any]) -> set[str]:
    """The wires that have a value in each layer: they read `layer`, or another such wire plainly.

    `stream[layer - 1]` reads `layer`; `stream[num_hidden_layers - 1]` is one value for all layers.
    """
    layered = {"layer"}
    for name, entry in parameters.items():
        names = set().union(*(_reads(text) for text in entry["shape"]))
        if "{layer}" in str(entry["tensor"]) or "layer" in names:
            layered.add(name)
    while True:
        more = {name for name, names in reads.items() if names & layered} - layered
        if not more:
            return layered & reads.keys()
        layered |= more


def _reads(definition: Any) -> set[str]:
    """The names that a definition mentions, except those that an index picks from."""
    if isinstance(definition, Mapping):
        names = set().union(*(_reads(item) for item in definition.values()))
        return names | ({"layer"} if definition.keys() & {"first-layer", "later-layers"} else set())
    if not isinstance(definition, str):
        return set()
    tree = parse(definition)
    picked = {node.value for node in ast.walk(tree) if isinstance(node, ast.Subscript)}
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and n not in picked}
