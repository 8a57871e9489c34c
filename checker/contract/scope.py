"""Where an expression of the contract stands, and what names and operators mean there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from checker.contract.expressions import BadExpression, Named, Value, evaluate, integer, truth
from checker.graph.dims import Dim, Poly, symbol

if TYPE_CHECKING:
    from checker.graph.builder import Builder
    from checker.graph.labels import Labels, Wire
    from checker.graph.terms import Attr, Term

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
class Place:
    """Where a wire is evaluated: step, layer (None outside layers), loop variables."""

    step: int
    layer: int | None = None
    loops: tuple[tuple[str, int], ...] = ()


class Wiring(Protocol):
    """The wires as an expression sees them."""

    builder: Builder
    labels: Labels
    switches: Mapping[str, Any]
    parameters: Mapping[str, Any]
    operators: Mapping[str, Any]
    parts: dict[Term, dict[Term, None]]

    def has(self, name: str) -> bool: ...

    def layered(self, name: str) -> bool: ...

    def wire(self, name: str, at: Place) -> Value: ...


@dataclass(slots=True)
class PlaceScope:
    """The meaning of names and calls at one place."""

    wiring: Wiring
    at: Place
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
            moved = replace(self.at, layer=at) if self.wiring.layered(name) else Place(at)
            return self.wiring.wire(name, moved)
        items = self.name(name)
        if not isinstance(items, tuple):
            return items
        if not 0 <= at < len(items):
            raise BadExpression(f"reads {name}[{at}] of {len(items)}")
        return items[at]

    def each(self, variable: str, index: int) -> PlaceScope:
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
                    self.wiring.parts.setdefault(term, {})[arg.term] = None
                for inner in self._inner(arg.term) if flat else ():
                    names = labels.edges.get((arg.term, inner))
                    if names:
                        labels.edges.setdefault((term, inner), names)
                        self.wiring.parts.setdefault(term, {})[inner] = None

    def _inner(self, term: Term) -> tuple[Term, ...]:
        """What a sum was made of: its operands, and sums that went into it."""
        return tuple(dict.fromkeys((*term.args, *self.wiring.parts.get(term, ()))))

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
