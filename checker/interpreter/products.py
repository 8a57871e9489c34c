"""Products and reductions: projections, norms, embeddings, sums, softmax."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.graph import dims
from checker.graph.dims import Dim, Poly
from checker.interpreter.broadcasting import as_tensor, check_same, elementwise
from checker.interpreter.casting import copied, kind_of, wide
from checker.interpreter.hosting import unwrapped
from checker.interpreter.joining import axis_index
from checker.interpreter.storages import Root
from checker.interpreter.tensors import (
    Tensor,
    arranged,
    filled,
    from_term,
    last_axis,
    op,
    regroup,
)
from checker.interpreter.values import Unknown, Value

if TYPE_CHECKING:
    from checker.graph.terms import Term
    from checker.interpreter.machine import Machine


def _checked(m: Machine, name: str, *values: Value) -> list[Tensor] | Unknown:
    """Operands that must be tensors, or why they are not known."""
    for value in values:
        if isinstance(value, Unknown):
            return value
    tensors = [value for value in values if isinstance(value, Tensor)]
    if len(tensors) != len(values):
        raise m.exception("TypeError", f"{name}(): arguments must be tensors")
    return tensors


def matmul(m: Machine, left: Value, right: Value) -> Value:
    """torch.matmul: a projection when the right side is a matrix; otherwise an opaque product."""
    operands = _checked(m, "matmul", left, right)
    if isinstance(operands, Unknown):
        return operands
    a, b = operands
    if not a.axes or not b.axes:
        raise m.exception("RuntimeError", "both arguments to matmul need to be at least 1D")
    inner = b.shape(m)[-2] if len(b.axes) > 1 else b.shape(m)[0]
    check_same(m, a.shape(m)[-1], inner, len(a.axes) - 1)
    extra = len(b.axes) - 2
    if (
        extra > 0 and len(a.axes) > 1 and not any(b.axes[:extra])
    ):  # batches of one: the same matrix for all
        if len(a.axes) < len(b.axes):
            a = a.alike(a.storage, ((),) * (len(b.axes) - len(a.axes)) + a.axes)
        b = b.alike(b.storage, b.axes[extra:])
    if len(b.axes) == 2 and all(len(g) == 1 for g in b.axes) and a.axes[-1]:
        x = last_axis(m, a)
        name = "linear" if b.axes == ((1,), (0,)) else "matmul"
        return _projected(m, x, op(m, name, x.term(m), b.term(m)), b.shape(m)[1])
    if len(a.axes) < 2 or len(b.axes) < 2:
        return m.unknown("a product with a vector is not interpreted")
    return _batched(m, a, b)


def _batched(m: Machine, a: Tensor, b: Tensor) -> Value:
    """A batched product, by name: which axes are of size one is part of what it is.

    Over an inner axis of size one it is the product of each pair.
    """
    if a.shape(m)[-1] == 1:
        return elementwise(m, "mul", [a, b])
    rank = max(len(a.axes), len(b.axes))
    shapes = [((1,) * (rank - len(t.axes)) + t.shape(m)) for t in (a, b)]
    batch: list[Dim] = []
    for i in range(rank - 2):
        one, two = shapes[0][i], shapes[1][i]
        if one != 1 and two != 1:
            check_same(m, one, two, i)
        batch.append(two if one == 1 else one)
    shape = (*batch, shapes[0][-2], shapes[1][-1])
    while len(shape) > 2 and all(s[0] == 1 for s in shapes):  # batches of one
        shape, shapes = shape[1:], [s[1:] for s in shapes]
    full = (*batch, shapes[0][-2], shapes[1][-1])
    ones = tuple(tuple(int(d == 1) for d in s) for s in shapes)
    terms = (arranged(m, _flat(m, a)).term(m), arranged(m, _flat(m, b)).term(m))
    logical = tuple(d for d in shape if d != 1)
    term = op(m, "opaque", *terms, name="matmul", ones=ones, shape=logical)
    return from_term(term, full, a.kind)


def _flat(m: Machine, t: Tensor) -> Tensor:
    """The tensor with one logical axis for each of its own axes."""
    for axis in range(len(t.axes)):
        t = regroup(m, t, axis)
    return t


def linear(m: Machine, input: Value, weight: Value, bias: Value = None) -> Value:
    """torch.nn.functional.linear."""
    given = (input, weight) if bias is None else (input, weight, bias)
    operands = _checked(m, "linear", *given)
    if isinstance(operands, Unknown):
        return operands
    x, w = operands[0], arranged(m, operands[1])
    if len(w.axes) != 2 or not all(len(g) == 1 for g in w.axes):
        return m.unknown("a projection by something that is no matrix")
    x = last_axis(m, x)
    terms = [x.term(m), w.term(m)] + [arranged(m, b).term(m) for b in operands[2:]]
    return _projected(m, x, op(m, "linear", *terms), w.shape(m)[0])


def _projected(m: Machine, x: Tensor, term: Term, size: Dim) -> Tensor:
    if len(term.shape) == len(x.term(m).shape):
        return x.alike(Root(term))
    return from_term(term, (*arranged(m, x).shape(m)[:-1], size), x.kind)


def rms_norm(
    m: Machine, x: Value, weight: Value = None, eps: Value = 1e-6, offset: Value = 0
) -> Value:
    """RMSNorm over the last axis."""
    operands = _checked(m, "rms_norm", *((x,) if weight is None else (x, weight)))
    if isinstance(operands, Unknown):
        return operands
    for value in (eps, offset):
        if isinstance(value, Unknown):
            return value
    t = last_axis(m, operands[0])
    terms = [t.term(m)] + [arranged(m, w).term(m) for w in operands[1:]]
    return Tensor(Root(op(m, "rms_norm", *terms, eps=eps, offset=offset)), t.axes)


def functional_rms_norm(
    m: Machine, input: Value, normalized_shape: Value, weight: Value = None, eps: Value = None
) -> Value:
    """torch.nn.functional.rms_norm over the last axis."""
    shape = unwrapped(normalized_shape)
    if not isinstance(input, Tensor) or not isinstance(shape, (tuple, list)) or len(shape) != 1:
        return m.unknown("rms_norm over several axes")
    check_same(m, input.shape(m)[-1], shape[0], len(input.axes) - 1)
    return rms_norm(m, input, weight, 1.1920928955078125e-07 if eps is None else eps)


def layer_norm(
    m: Machine,
    input: Value,
    normalized_shape: Value,
    weight: Value = None,
    bias: Value = None,
    eps: Value = 1e-5,
) -> Value:
    """torch.nn.functional.layer_norm over the last axis, with weight and bias."""
    shape = unwrapped(normalized_shape)
    if not isinstance(input, Tensor) or not isinstance(shape, (tuple, list)) or len(shape) != 1:
        return m.unknown("layer_norm over several axes")
    if not isinstance(weight, Tensor) or not isinstance(bias, Tensor):
        return m.unknown("layer_norm without weight and bias")
    t = last_axis(m, input)
    terms = (t.term(m), arranged(m, weight).term(m), arranged(m, bias).term(m))
    return Tensor(Root(op(m, "layer_norm", *terms, eps=eps)), t.axes)


def embedding(m: Machine, input: Value, weight: Value, *rest: Value, **options: Value) -> Value:
    """torch.nn.functional.embedding."""
    operands = _checked(m, "embedding", input, weight)
    if isinstance(operands, Unknown):
        return operands
    if options.get("max_norm") is not None or (len(rest) > 1 and rest[1] is not None):
        return m.unknown("an embedding with max_norm")
    ids, table = operands[0], arranged(m, operands[1])
    if len(table.axes) != 2 or not all(len(g) == 1 for g in table.axes):
        return m.unknown("an embedding in something that is no matrix")
    shape = (*ids.shape(m), table.shape(m)[1])
    return from_term(op(m, "embedding", arranged(m, ids).term(m), table.term(m)), shape)


# -- reductions ------------------------------------------------------------------------------------


def reduce(
    m: Machine,
    name: str,
    t: Tensor,
    dim: Value = None,
    keepdim: Value = False,
    dtype: Value = None,
) -> Value:
    """sum, mean or argmax over one axis, several or all."""
    if isinstance(dim, (tuple, list)) and name == "argmax":
        raise m.exception("TypeError", "argmax(): dim must be an int")
    keep = m.truth(keepdim, "keepdim")
    if dim is None and name == "argmax" and len(t.axes) > 1:
        return m.unknown("argmax over all axes")
    given = range(len(t.axes)) if dim is None or dim in ((), []) else dim
    places = given if isinstance(given, (tuple, list, range)) else (given,)
    wanted = sorted({axis_index(m, t, d) for d in places}, reverse=True)
    result = t
    if name == "sum" and t.kind == "bool" and t.term(m) in m.counts and len(wanted) == len(t.axes):
        return as_tensor(m, m.counts[t.term(m)])
    for where in wanted:
        result = _reduced(m, name, result, where, keep)
    kind = "int" if name == "argmax" else t.kind
    if name == "sum" and kind == "bool":
        kind = "int"
    made = copied(m, result) if result is t else result
    made.kind = kind_of(dtype, kind)
    return made


def _reduced(m: Machine, name: str, t: Tensor, where: int, keep: bool) -> Tensor:
    if not t.axes:  # a scalar has one axis in name only
        made = _reduced(m, name, t.alike(t.storage, ((),)), 0, False)
        return made.alike(made.storage, ())
    t = regroup(m, t, where)
    kept = (*t.axes[:where], (), *t.axes[where + 1 :]) if keep else None
    if not t.axes[where]:
        axes = kept or (*t.axes[:where], *t.axes[where + 1 :])
        if name == "argmax":
            zeros = filled(m, 0, t.term(m).shape, "int")
            return zeros.alike(zeros.storage, axes)
        return t.alike(Root(t.term(m)), axes)
    (logical,) = t.axes[where]
    rank = len(t.term(m).shape)
    term = op(m, name, t.term(m), axis=logical - rank)
    axes = tuple(tuple(x - (x > logical) for x in g if x != logical) for g in t.axes)
    if not keep:
        axes = (*axes[:where], *axes[where + 1 :])
    return t.alike(Root(term), axes)


def softmax(m: Machine, t: Tensor, dim: Value = -1, dtype: Value = None) -> Value:
    """torch.softmax."""
    where = axis_index(m, t, dim)
    t = regroup(m, t, where) if t.axes else t
    if not t.axes or not t.axes[where]:
        return t.alike(filled(m, 1, t.term(m).shape).storage)
    rank = len(t.term(m).shape)
    return t.alike(Root(op(m, "softmax", t.term(m), axis=t.axes[where][0] - rank)))


def arange(m: Machine, *args: Value, **kwargs: Value) -> Value:
    """torch.arange."""
    values: dict[str, Value] = {"start": 0, "end": None, "step": 1}
    names = ("end",) if len(args) == 1 else ("start", "end", "step")
    values.update(zip(names, args, strict=False))
    values.update({k: v for k, v in kwargs.items() if k in values})
    for value in values.values():
        if isinstance(value, Unknown):
            return value
        if not isinstance(value, (int, float, Poly)):
            return m.unknown("an arange whose bounds are not known")
    _ascending(m, values["start"], values["end"], values["step"])
    start, stop, step = values["start"], values["end"], values["step"]
    if step == 1 and start != 0 and isinstance(start, int) and not isinstance(stop, float):
        # the same count from zero, moved: what is known under a name from zero is so from here
        counted = op(m, "arange", start=0, stop=stop - start, step=1)
        term = op(m, "add", counted, m.builder.const(start))
    else:
        term = op(m, "arange", start=start, stop=stop, step=step)
    only_one = term.shape == (1,)
    if only_one:
        term = m.builder.const(values["start"], ())
    floats = any(isinstance(v, float) for v in values.values())
    kind = kind_of(kwargs.get("dtype"), "float" if floats else "int")
    shape = (1,) if only_one else None
    return wide(from_term(term, shape, kind), kwargs.get("dtype"))


def _ascending(m: Machine, start: Value, end: Value, step: Value) -> None:
    """Raises what torch raises where the bounds run against the step.

    What is not known is a doubt.
    """
    wrong: bool | None = None
    if step == 0:
        raise m.exception("RuntimeError", "step must be nonzero")
    if isinstance(step, (int, float)):
        low, high = (start, end) if step > 0 else (end, start)
        if isinstance(low, float) or isinstance(high, float):
            plain = isinstance(low, (int, float)) and isinstance(high, (int, float))
            wrong = low > high if plain else None
        else:
            within = dims.at_most(low, high)
            wrong = None if within is None else not within
    if wrong:
        text = "upper bound and lower bound inconsistent with step sign"
        raise m.exception("RuntimeError", text)
    if wrong is None:
        m.unknown(f"whether an arange from {start} to {end} by {step} is one")


def where(m: Machine, condition: Value, *branches: Value, **named: Value) -> Value:
    """torch.where with three operands."""
    operands = [*branches, *(named[k] for k in ("input", "other") if k in named)]
    if len(operands) != 2:
        return m.unknown("torch.where with one operand")
    return elementwise(m, "where", [condition, *operands])


def clamp(m: Machine, t: Value, min: Value = None, max: Value = None) -> Value:
    """torch.clamp."""
    result = t
    if min is not None:
        result = elementwise(m, "maximum", [result, min])
    if max is not None:
        result = elementwise(m, "minimum", [result, max])
    return result
