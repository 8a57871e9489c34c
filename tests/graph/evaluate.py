"""Runs terms on small arrays: what the rewrites must not change."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from checker.graph.dims import Dim, Poly, evaluate
from checker.graph.terms import Term, postorder

Array = Any
SIZES = {"S": 5}


def size(dim: Dim) -> int:
    return evaluate(dim, SIZES)


def sizes(dims: Sequence[Dim]) -> tuple[int, ...]:
    return tuple(size(dim) for dim in dims)


def run(term: Term, env: Mapping[str, Array]) -> Array:
    """The value of a term, given its inputs and parameters by name."""
    values: dict[Term, Array] = {}
    for t in postorder(term):
        if t.op in ("input", "param"):
            values[t] = env[str(t.attr("name"))]
        else:
            attrs = {**dict(t.attrs), "shape": t.shape}
            values[t] = apply(t.op, [values[arg] for arg in t.args], attrs)
        if t.op != "stack":
            assert np.shape(values[t]) == sizes(t.shape), (t, np.shape(values[t]))
    return values[term]


def apply(op: str, args: Sequence[Array], attrs: Mapping[str, Any]) -> Array:
    """One operator on arrays, straight from its definition."""
    with np.errstate(all="ignore"):
        if op in FUNCTIONS:
            return FUNCTIONS[op](*args)
        return OPERATORS[op](list(args), attrs)


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


FUNCTIONS: dict[str, Callable[..., Array]] = {
    "add": lambda *xs: sum(xs[1:], start=xs[0]),
    "mul": lambda *xs: math.prod(xs[1:], start=xs[0]),
    "sub": lambda a, b: a - b,
    "div": np.divide,
    "neg": lambda x: -x,
    "exp": np.exp,
    "cos": np.cos,
    "sin": np.sin,
    "tanh": np.tanh,
    "sigmoid": _sigmoid,
    "silu": lambda x: x * _sigmoid(x),
    "relu": lambda x: np.maximum(x, 0),
    "square": lambda x: x * x,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "power": np.power,
    "matmul": np.matmul,
    "transpose": np.transpose,
    "linear": lambda x, w, b=0.0: x @ w.T + b,
    "embedding": lambda ids, w: w[ids.astype(int)],
}


def _axis_index(rank: int, axis: int, index: Any) -> tuple[Any, ...]:
    position = axis % rank
    return (slice(None),) * position + (index,)


def _slice(args: list[Array], attrs: Mapping[str, Any]) -> Array:
    start, stop = (size(attrs[name]) for name in ("start", "stop"))
    return args[0][_axis_index(args[0].ndim, attrs["axis"], slice(start, stop))]


def _expand(args: list[Array], attrs: Mapping[str, Any]) -> Array:
    x, axes = args[0], attrs["axes"]
    kept = [axis % x.ndim for axis in axes if axis is not None]
    x = np.transpose(x, kept) if kept else x
    shape = tuple(
        1 if axis is None else n for axis, n in zip(axes, sizes(attrs["shape"]), strict=False)
    )
    return np.broadcast_to(np.reshape(x, shape), sizes(attrs["shape"]))


def _reshape(args: list[Array], attrs: Mapping[str, Any]) -> Array:
    return np.reshape(args[0], sizes(attrs["shape"]))


def unflattened(shape: tuple[int, ...], axis: int, parts: Sequence[Dim]) -> tuple[int, ...]:
    at = axis % len(shape)
    return (*shape[:at], *sizes(parts), *shape[at + 1 :])


def flattened(shape: tuple[int, ...], axis: int, count: int) -> tuple[int, ...]:
    at = axis % len(shape)
    return (*shape[: at - count + 1], math.prod(shape[at - count + 1 : at + 1]), *shape[at + 1 :])


def _update(args: list[Array], attrs: Mapping[str, Any]) -> Array:
    result = np.array(args[0], copy=True)
    where = slice(size(attrs["start"]), size(attrs["stop"]))
    result[_axis_index(result.ndim, attrs["axis"], where)] = args[1]
    return result


def _rms_norm(args: list[Array], attrs: Mapping[str, Any]) -> Array:
    x = args[0]
    normed = x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + attrs["eps"])
    return normed * (args[1] + attrs.get("offset", 0)) if len(args) == 2 else normed


def _frequencies(attrs: Mapping[str, Any]) -> Array:
    dim = attrs["dim"]
    return attrs["base"] ** (-np.arange(0, dim, 2) / dim)


def _rope(args: list[Array], attrs: Mapping[str, Any]) -> Array:
    x, positions = args
    half = attrs["dim"] // 2
    angles = positions[:, None] * _frequencies(attrs)[None, :]
    if x.ndim == 3:
        angles = angles[:, None, :]
    first, second, rest = x[..., :half], x[..., half : 2 * half], x[..., 2 * half :]
    return np.concatenate(
        [
            first * np.cos(angles) - second * np.sin(angles),
            second * np.cos(angles) + first * np.sin(angles),
            rest,
        ],
        axis=-1,
    )


def _softmax(x: Array, axis: int) -> Array:
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _attention(args: list[Array], attrs: Mapping[str, Any]) -> Array:
    q = args[0] if args[0].ndim == 3 else args[0][:, None, :]
    count = len(args) // 2
    visible = attrs.get("visible") or ((None, None),) * count
    scale = attrs.get("scale")
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    scores, values = [], []
    for i in range(count):
        k, v = args[1 + 2 * i], args[2 + 2 * i]
        k, v = (x if x.ndim == 3 else x[:, None, :] for x in (k, v))
        groups = q.shape[1] // k.shape[1]
        k, v = np.repeat(k, groups, axis=1), np.repeat(v, groups, axis=1)
        distance = np.arange(len(q))[:, None] - np.arange(len(k))[None, :]
        low, high = visible[i]
        seen = np.ones_like(distance, dtype=bool)
        seen &= distance >= low if low is not None else True
        seen &= distance <= high if high is not None else True
        scores.append(np.where(seen, np.einsum("qhd,khd->hqk", q, k) * scale, -np.inf))
        values.append(v)
    weights = _softmax(np.concatenate(scores, axis=-1), -1)
    result = np.einsum("hqk,khd->qhd", weights, np.concatenate(values, axis=0))
    return result if args[0].ndim == 3 else result[:, 0]


OPERATORS: dict[str, Callable[[list[Array], Mapping[str, Any]], Array]] = {
    "const": lambda _, attrs: _number(attrs["value"]),
    "full": lambda _, attrs: np.full(sizes(attrs["shape"]), _number(attrs["value"])),
    "empty": lambda _, attrs: np.full(sizes(attrs["shape"]), np.nan),
    "iota": lambda _, attrs: np.arange(size(attrs["shape"][0])),
    "inv_freq": lambda _, attrs: _frequencies(attrs),
    "pow": lambda args, attrs: np.power(args[0], float(attrs["exponent"])),
    "slice": _slice,
    "select": lambda args, a: args[0][_axis_index(args[0].ndim, a["axis"], size(a["index"]))],
    "concat": lambda args, attrs: np.concatenate(args, axis=attrs["axis"]),
    "stack": lambda args, attrs: np.stack(args, axis=attrs["axis"]),
    "expand": _expand,
    "permute": lambda args, attrs: np.transpose(args[0], attrs["axes"]),
    "repeat": lambda args, attrs: np.repeat(args[0], attrs["times"], axis=attrs["axis"]),
    "unflatten": lambda args, attrs: args[0].reshape(
        unflattened(args[0].shape, attrs["axis"], attrs["sizes"])
    ),
    "flatten": lambda args, attrs: args[0].reshape(
        flattened(args[0].shape, attrs["axis"], attrs["count"])
    ),
    "slice_update": _update,
    "rms_norm": _rms_norm,
    "mean": lambda args, attrs: np.mean(args[0], axis=attrs["axis"]),
    "sum": lambda args, attrs: np.sum(args[0], axis=attrs["axis"]),
    "softmax": lambda args, attrs: _softmax(args[0], attrs["axis"]),
    "argmax": lambda args, attrs: np.argmax(args[0], axis=attrs["axis"]),
    "rope": _rope,
    "attention": _attention,
}


def _number(value: Any) -> float:
    return float(size(value)) if isinstance(value, Poly) else float(value)
