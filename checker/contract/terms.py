"""The contract's wires as graph terms, for given switches, with labels for every use of a wire."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from checker.contract.expressions import (
    BadExpression,
    Named,
    Value,
    evaluate,
    integer,
    parse,
    place,
    truth,
)
from checker.errors import InputError
from checker.graph.dims import Dim, Poly, symbol
from checker.graph.labels import Labels, Wire
from checker.graph.terms import Attr, ShapeError, Term

if TYPE_CHECKING:
    from checker.graph.builder import Builder

TOKENS: Final = symbol("S")
_WITH_PARAMETER: Final = frozenset(("linear", "rms_norm", "embedding"))
_ACTIVATIONS: Final[Mapping[str, tuple[str, Mapping[str, Attr]]]] = {
    "silu": ("silu", {}),
    "swish": ("silu", {}),
    "relu": ("relu", {}),
    "gelu": ("gelu", {"approximate": "none"}),
    "gelu_new": ("gelu", {"approximate": "tanh"}),
    "gelu_fast": ("gelu", {"approximate": "tanh"}),
    "gelu_pytorch_tanh": ("gelu", {"approximate": "tanh"}),
}


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
        for layer in range(int(switches["num_hidden_layers"])):
            wiring.wire(layer_output, _Place(step, layer))
        for name in outputs:
            named = wiring.wire(name, _Place(step))
            if not isinstance(named, Named):
                raise InputError(f"{name} is no term", "mend the contract", f"wires.{name}")
            results[name].append(named.term)
            wiring.labels.roots.setdefault(named.term, named.names)
    labels = wiring.labels
    logits, feedback = (tuple(results.get(name, ())) for name in ("logits", "feedback"))
    return ContractTerms(labels, logits, feedback, dict(sorted(labels.terms.items())))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a wire is evaluated: step, layer (None outside layers), loop variables."""

    step: int
    layer: int | None = None
    loops: tuple[tuple[str, int], ...] = ()


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
        self._wires: dict[str, Any] = {n.replace("-", "_"): d for n, d in document["wires"].items()}
        self._names = {name.replace("-", "_"): name for name in document["wires"]}
        self._layered = _layered(self._wires, self.parameters)
        self.parts: dict[Term, list[Term]] = {}
        self._values: dict[tuple[str, int, int | None], Value] = {}
        self._pending: set[tuple[str, int, int | None]] = set()

    def has(self, name: str) -> bool:
        """Whether a wire is called so, in expressions."""
        return name in self._wires

    def layered(self, name: str) -> bool:
        """Whether the wire has a value in each decoder layer."""
        return name in self._layered

    def wire(self, name: str, at: _Place) -> Value:
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
            self._values[key] = self._define(name, _Place(at.step, layer))
            self._pending.discard(key)
        value = self._values[key]
        if not isinstance(value, Named):
            return value
        wire = self._wire(name, at.step, layer)
        return Named(value.term, (wire, *(n for n in value.names if n != wire)))

    def _define(self, name: str, at: _Place) -> Value:
        wire = self._wire(name, at.step, at.layer)
        scope = _Scope(self, at, wire)
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


@dataclass(slots=True)
class _Scope:
    """The meaning of names and calls at one place."""

    wiring: _Wiring
    at: _Place
    wire: Wire

    def name(self, name: str) -> Value:
        loops = dict(self.at.loops)
        if name in loops:
            return loops[name]
        if name == "step":
            return self.at.step
        if name == "layer":
            if self.at.layer is None:
                raise BadExpression("reads `layer` outside a layer")
            return self.at.layer
        if self.wiring.has(name):
            return self.wiring.wire(name, self.at)
        if name in self.wiring.switches:
            return _plain(self.wiring.switches[name])
        raise BadExpression(f"knows no name {name!r}")

    def indexed(self, name: str, index: Value) -> Value:
        at = integer(index)
        if self.wiring.has(name):
            if at < 0:
                raise BadExpression(f"reads {name!r} before its first value")
            moved = replace(self.at, layer=at) if self.wiring.layered(name) else _Place(at)
            return self.wiring.wire(name, moved)
        items = self.name(name)
        if not isinstance(items, tuple):
            return items
        if not 0 <= at < len(items):
            raise BadExpression(f"reads {name}[{at}] of {len(items)}")
        return items[at]

    def each(self, variable: str, index: int) -> _Scope:
        if variable == "step":
            return replace(self, at=replace(self.at, step=index))
        loops = (*self.at.loops, (variable, index))
        return replace(self, at=replace(self.at, loops=loops))

    def takes_parameter(self, function: str) -> bool:
        return function in _WITH_PARAMETER

    def call(
        self, function: str, parameter: str | None, args: list[Value], attrs: dict[str, Value]
    ) -> Value:
        """An operator, with the uses of its operands labelled."""
        builder = self.wiring.builder
        made: list[Term] = []
        builder.watch = made.append
        try:
            result = self._apply(function, parameter, args, attrs)
        except (IndexError, TypeError, ValueError):
            raise BadExpression(f"gives {function} what it does not take") from None
        finally:
            builder.watch = None
        if not isinstance(result, Named):
            return result
        self._label(made, [arg for arg in args if isinstance(arg, Named)])
        reached = [a.names for a in args if isinstance(a, Named) and a.term is result.term]
        return Named(result.term, reached[0] if reached else ())

    def _label(self, made: list[Term], args: list[Named]) -> None:
        """New terms stand in this wire; those that use an operand use it by the operand's names.

        Sums of sums are one flat sum: what the inner sum was made of keeps the names it had there.
        """
        labels = self.wiring.labels
        for term in made:
            labels.nodes.setdefault(term, self.wire)
            for arg in args:
                flat = arg.term not in term.args and arg.term.op == term.op
                if arg.names and (flat or arg.term in term.args):
                    labels.edges.setdefault((term, arg.term), arg.names)
                    self.wiring.parts.setdefault(term, []).append(arg.term)
                for inner in self._inner(arg.term) if flat else ():
                    names = labels.edges.get((arg.term, inner))
                    if names:
                        labels.edges.setdefault((term, inner), names)
                        self.wiring.parts.setdefault(term, []).append(inner)

    def _inner(self, term: Term) -> tuple[Term, ...]:
        """What a sum was made of: its operands, and sums that went into it."""
        return (*term.args, *self.wiring.parts.get(term, ()))

    def _apply(
        self, function: str, parameter: str | None, args: list[Value], attrs: dict[str, Value]
    ) -> Value:
        b = self.wiring.builder
        match function:
            case "input":
                return self._input(args, attrs)
            case "chunk":
                x, (i, count) = _term(args[0]), (integer(v) for v in args[1:])
                size = _width(x) // count
                return Named(b.op("slice", x, axis=-1, start=i * size, stop=(i + 1) * size))
            case "heads":
                x, count = _term(args[0]), integer(args[1])
                sizes = (count, _width(x) // count)
                return Named(x if count == 1 else b.op("unflatten", x, axis=-1, sizes=sizes))
            case "merge":
                x = _term(args[0])
                return Named(b.op("flatten", x, axis=-1, count=2) if x.rank == 3 else x)
            case "apply":
                return self._activation(args)
            case "add" | "mul":
                terms = (a.term if isinstance(a, Named) else b.const(_number(a)) for a in args)
                return Named(b.op(function, *terms))
            case "concat":
                return Named(b.op("concat", *map(_term, args), axis=-1))
            case "attention":
                return self._attention(args, attrs)
            case "rope" | "linear" | "rms_norm" | "embedding":
                return self._operator(function, parameter, args, attrs)
        raise BadExpression(f"knows no operator {function!r}")

    def _operator(
        self, function: str, parameter: str | None, args: list[Value], attrs: dict[str, Value]
    ) -> Value:
        defaults = self.wiring.operators.get(function, {})
        full = {key: _attr(evaluate(text, self)) for key, text in defaults.items()}
        full.update({key: _attr(value) for key, value in attrs.items()})
        terms = [_term(arg) for arg in args]
        if parameter is not None:
            terms[1:1] = self._parameter(parameter)
        return Named(self.wiring.builder.op(function, *terms, **full))

    def _parameter(self, name: str) -> list[Term]:
        """The parameter's tensor, and its bias if there is one."""
        entry = self.wiring.parameters.get(name)
        if entry is None:
            raise BadExpression(f"knows no parameter {name!r}")
        known = {"layer": self.at.layer, "step": self.at.step, **dict(self.at.loops)}
        tensor = str(entry["tensor"])
        for key, value in known.items():
            tensor = tensor.replace(f"{{{key}}}", str(value))
        shape = tuple(_dim(evaluate(text, self)) for text in entry["shape"])
        b = self.wiring.builder
        terms = [b.param(tensor, shape)]
        if "bias" in entry and truth(evaluate(entry["bias"], self)):
            terms.append(b.param(f"{tensor.removesuffix('.weight')}.bias", shape[:1]))
        return terms

    def _input(self, args: list[Value], attrs: dict[str, Value]) -> Value:
        """A given value: one row for each token; in each step another if a step is named."""
        name = ".".join(str(arg) for arg in args)
        width = attrs.get("width")
        shape = (TOKENS,) if width is None else (TOKENS, _dim(width))
        return Named(self.wiring.builder.input(name, shape))

    def _activation(self, args: list[Value]) -> Value:
        known = _ACTIVATIONS.get(str(args[0]))
        if known is None:
            known = ("opaque", {"name": str(args[0]), "shape": _term(args[1]).shape})
        return Named(self.wiring.builder.op(known[0], _term(args[1]), **known[1]))

    def _attention(self, args: list[Value], attrs: dict[str, Value]) -> Value:
        """`attention(q, all keys, all values)`; the operator takes them pair by pair."""
        terms = [_term(arg) for arg in args]
        steps = len(terms) // 2
        pairs = zip(terms[1 : 1 + steps], terms[1 + steps :], strict=True)
        flat = [term for pair in pairs for term in pair]
        full = {key: _attr(value) for key, value in attrs.items()}
        return Named(self.wiring.builder.op("attention", terms[0], *flat, **full))


def _choose(definition: Any, scope: _Scope) -> object:
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


def _layered(wires: Mapping[str, Any], parameters: Mapping[str, Any]) -> set[str]:
    """The wires that have a value in each layer: they read `layer`, or another such wire plainly.

    `stream[layer - 1]` reads `layer`; `stream[num_hidden_layers - 1]` is one value for all layers.
    """
    layered = {"layer"}
    for name, entry in parameters.items():
        names = set().union(*(_reads(text) for text in entry["shape"]))
        if "{layer}" in str(entry["tensor"]) or "layer" in names:
            layered.add(name)
    reads = {name: _reads(definition) for name, definition in wires.items()}
    while True:
        more = {name for name, names in reads.items() if names & layered} - layered
        if not more:
            return layered & wires.keys()
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


def _term(value: Value) -> Term:
    if not isinstance(value, Named):
        raise BadExpression(f"{value!r} is no term")
    return value.term


def _width(term: Term) -> int:
    width = term.shape[-1]
    if not isinstance(width, int):
        raise BadExpression(f"splits a width of {width}")
    return width


def _dim(value: Value) -> Dim:
    return value if isinstance(value, Poly) else integer(value)


def _number(value: Value) -> float:
    if not isinstance(value, (int, float)):
        raise BadExpression(f"{value!r} is no number")
    return value


def _attr(value: Value) -> Attr:
    if isinstance(value, Named):
        raise BadExpression("takes a term for an attribute")
    return tuple(_attr(item) for item in value) if isinstance(value, tuple) else value


def _plain(value: Any) -> Value:
    """A switch's value: lists and mappings as tuples."""
    if isinstance(value, Mapping):
        return tuple((str(key), _plain(item)) for key, item in sorted(value.items()))
    if isinstance(value, (list, tuple)):
        return tuple(_plain(item) for item in value)
    if value is None or isinstance(value, (bool, int, float, str, Poly)):
        return value
    raise BadExpression(f"{value!r} is no value of a switch")
