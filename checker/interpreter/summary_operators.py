"""The `op` namespace of summaries: the graph's operators, and facts about a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from checker.interpreter import joining, products, regexes, rotary, shaping
from checker.interpreter.broadcasting import as_tensor, elementwise
from checker.interpreter.looks import STORE
from checker.interpreter.storages import Root
from checker.interpreter.summary_definitions import DEFINITIONS
from checker.interpreter.summary_fields import FIELDS
from checker.interpreter.tensors import Tensor, arranged, from_term, op, regroup, unknown_tensor
from checker.interpreter.values import Unknown, Value

if TYPE_CHECKING:
    from checker.interpreter.machine import Machine

Call = Callable[..., Value]


def _guard(function: Call) -> Call:
    """An operator of tensors: an unknown argument makes the result unknown."""

    def run(m: Machine, *args: Value, **kwargs: Value) -> Value:
        for value in (*args, *kwargs.values()):
            if isinstance(value, Unknown):
                return value
        return function(m, *args, **kwargs)

    return run


def _elementwise(name: str) -> Call:
    return lambda m, x: elementwise(m, name, [x])


def _gelu(m: Machine, x: Value, approximate: Value = "none") -> Value:
    return elementwise(m, "gelu", [x], approximate=approximate)


def _stack_op(name: str) -> Call:
    """`op.name(tensor, …, attr=…)`.

    A graph operator over whole tensors, layout of the first kept.
    """

    def run(m: Machine, *values: Value, **attrs: Value) -> Value:
        for value in (*values, *attrs.values()):
            if isinstance(value, Unknown):
                return value
        tensors = [as_tensor(m, v) for v in values if v is not None]
        terms = [arranged(m, t).term(m) for t in tensors if t is not None]
        return from_term(op(m, name, *terms, **attrs))

    return run


def _head_layout(m: Machine, t: Tensor) -> Tensor:
    """(…tokens…, heads, head_dim) with the logical order tokens, heads, head_dim."""
    return arranged(m, shaping.squeeze(m, t))


def _attention(
    m: Machine, q: Tensor, keys: Value, values: Value, visible: Value, scale: Value
) -> Value:
    """Attention of q (tokens, heads, head_dim) over one (key, value, band) per step."""
    q = rotary.one_axis_each(m, q)
    terms = [q.term(m)]
    for k, v in zip(keys, values, strict=True):
        terms += [rotary.one_axis_each(m, k).term(m), rotary.one_axis_each(m, v).term(m)]
    bands = tuple(tuple(b) for b in visible)
    return q.alike(Root(op(m, "attention", *terms, visible=bands, scale=scale)))


def _parts(m: Machine, t: Tensor, axis: Value) -> Value:
    """The pieces a tensor was concatenated from along a tensor axis (one piece if it was not)."""
    t = regroup(m, t, joining.axis_index(m, t, axis))
    group = t.axes[joining.axis_index(m, t, axis)]
    term = t.term(m)
    if group and term.op == "concat" and term.attr("axis") == group[0] - len(term.shape):
        return [t.alike(Root(part)) for part in term.args]
    return [t]


def _band(m: Machine, t: Value, size: Value = None) -> Value:
    """The band (lo, hi) of distances for which a mask predicate holds, or unknown."""
    if isinstance(t, Unknown):
        return t
    found = m.builder.band(as_tensor(m, t).term(m))  # type: ignore[union-attr]
    return m.unknown("a mask that is not a band of distances") if found is None else tuple(found)


def _input(m: Machine, name: Value, shape: Value, kind: Value = "float") -> Value:
    from checker.interpreter.tensors import fresh_input

    integers = kind.startswith("int")
    m.builder.here = None  # what is handed in comes from no line
    made = fresh_input(m, name, tuple(shape), "int" if integers else kind)
    if integers:
        made.integer = "int64" if kind == "int" else kind
    return made


def _below(m: Machine, t: Tensor, size: Value) -> Value:
    """A tensor of indices that are at least 0 and less than a size."""
    m.ranges[t.term(m)] = size
    return t


def _counted(m: Machine, t: Tensor, count: Value) -> Value:
    """A mask over one axis of which so many elements are true."""
    m.counts[t.term(m)] = count
    return t


def _number(m: Machine, t: Value) -> Value:
    """The one number that a tensor is filled with, as an integer; None if that is not known."""
    if isinstance(t, Tensor):
        value = t.term(m).attr("value") if t.term(m).op in ("const", "full") else None
        return int(value) if isinstance(value, (int, float)) and value == int(value) else None
    return t if isinstance(t, int) else None


def _same(m: Machine, a: Value, b: Value) -> Value:
    """Whether two tensors are the same term."""
    return isinstance(a, Tensor) and isinstance(b, Tensor) and a.term(m) is b.term(m)


def _parameter(m: Machine, t: Tensor, requires_grad: Value = True) -> Value:
    made = t.alike(t.storage)
    made.parameter = True
    made.requires_grad = requires_grad is True
    return made


def _buffer(m: Machine, t: Tensor, persistent: Value = True) -> Value:
    made = t.alike(t.storage)
    made.buffer = persistent is True
    return made


def _setting(m: Machine, name: Value, default: Value = None) -> Value:
    if m.settled is not None:
        m.settled.reads_setting(m, name)
    return m.settings.get(name, default)


def _assume(m: Machine, text: Value) -> Value:
    m.assumptions[text] = None
    return None


def _unknown_tensor(m: Machine, reason: Value, shape: Value) -> Value:
    """A tensor of which only the shape is known: what does not need its values goes on."""
    return unknown_tensor(m, reason, tuple(shape))


def _unknown(m: Machine, reason: Value) -> Value:
    return m.unknown(reason, harmless=True)


def _store(m: Machine, name: Value) -> Value:
    """A dict that lives as long as the machine, by name (key-value caches of a server)."""
    store: dict[Value, Value] = m.shared.setdefault((STORE, name), {})
    if m.settled is not None:
        m.settled.reads_store(m, name, store)
    return store


def _no_grad_push(m: Machine, delta: Value) -> Value:
    m.grad_disabled += delta
    return None


def _quiet(m: Machine, delta: Value) -> Value:
    m.config_quiet += delta
    return None


def _size(m: Machine, name: Value) -> Value:
    from checker.graph.dims import symbol

    return symbol(name)


OPERATORS: dict[str, Call] = {
    **DEFINITIONS,
    **FIELDS,
    "regex": regexes.find,
    "regex_expand": regexes.expand,
    "regex_escape": regexes.escape,
    "size": _size,
    "rms_norm": products.rms_norm,
    "linear": products.linear,
    "embedding": products.embedding,
    "cat": joining.cat,
    "silu": _elementwise("silu"),
    "gelu": _gelu,
    "relu": _elementwise("relu"),
    "rope": _guard(rotary.rope),
    "inv_freq": _guard(rotary.inv_freq),
    "frequencies": rotary.frequencies,
    "angles": rotary.angles,
    "heads": _guard(_head_layout),
    "attention": _guard(_attention),
    "parts": _guard(_parts),
    "band": _band,
    "input": _input,
    "number": _number,
    "same": _same,
    "parameter": _guard(_parameter),
    "buffer": _guard(_buffer),
    "below": _below,
    "counted": _counted,
    "setting": _setting,
    "assume": _assume,
    "unknown": _unknown,
    "unknown_tensor": _unknown_tensor,
    "store": _store,
    "grad": _no_grad_push,
    "quiet": _quiet,
    "is_tensor": lambda m, x: isinstance(x, Tensor),
    "is_parameter": lambda m, x: isinstance(x, Tensor) and x.parameter,
    "is_buffer": lambda m, x: isinstance(x, Tensor) and x.buffer,
    "is_unknown": lambda m, x: isinstance(x, Unknown),
    "term": lambda m, name, *values, **attrs: _stack_op(name)(m, *values, **attrs),
}
