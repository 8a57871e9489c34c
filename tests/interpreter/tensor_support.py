"""Tensor programs on small arrays.

The terms they build are run and compared with what torch computed.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import evaluate
import numpy as np
from support import S

from checker.interpreter.machine import Machine
from checker.interpreter.tensors import Tensor, arranged, fresh_input
from checker.interpreter.values import Unknown

PROGRAMS = Path(__file__).parent / "tensor_programs"
RESULTS = Path(__file__).parent / "tensor_results.json"
TOKENS = evaluate.SIZES["S"]


def arrays() -> dict[str, Any]:
    """The inputs of the programs."""
    random = np.random.default_rng(7)
    return {
        "x": random.normal(size=(TOKENS, 6)),
        "y": random.normal(size=(TOKENS, 6)),
        "q": random.normal(size=(1, TOKENS, 6)),
        "v": random.normal(size=(6,)),
        "w": random.normal(size=(4, 6)),
        "ids": random.integers(0, 4, size=(TOKENS,)),
    }


def inputs(m: Machine) -> dict[str, Tensor]:
    """The same, as tensors of the checked program."""
    shapes: dict[str, Any] = {"x": (S, 6), "y": (S, 6), "q": (1, S, 6), "v": (6,), "w": (4, 6)}
    made = {name: fresh_input(m, name, shape) for name, shape in shapes.items()}
    made["ids"] = fresh_input(m, "ids", (S,), "int")
    return made


def value(m: Machine, result: Any) -> Any:
    """The array that a result stands for; a text where it is not known."""
    if isinstance(result, Unknown):
        return f"unknown: {result.reason}"
    if not isinstance(result, Tensor):
        return f"no tensor: {result!r}"
    term = arranged(m, result).term(m)
    shape = evaluate.sizes(result.shape(m))
    environment = {k: np.reshape(a, [d for d in a.shape if d != 1]) for k, a in arrays().items()}
    return np.broadcast_to(evaluate.run(term, environment), evaluate.sizes(term.shape)).reshape(
        shape
    )


def kind(result: Any) -> str:
    """The kind of number a result holds."""
    return result.kind if isinstance(result, Tensor) else "unknown"


def _opaque(args: list[Any], attrs: Any) -> Any:
    """What the operators that terms only name compute."""
    shape = evaluate.sizes(attrs["shape"])
    match attrs["name"]:
        case "reshape":
            return np.reshape(args[0], shape)
        case "truncate":
            return np.trunc(args[0])
        case "gather":
            rows = math.prod(args[0].shape[: attrs["rows"]])
            return args[0].reshape(rows, -1)[args[1].astype(int)].reshape(shape)
        case "matmul":
            return _matmul(args, attrs["ones"]).reshape(shape)
        case "max":
            return np.max(args[0], axis=int(attrs["axis"]))
        case other:
            raise AssertionError(other)


def _matmul(args: list[Any], ones: Any) -> Any:
    full = []
    for array, pattern in zip(args, ones, strict=True):
        sizes = iter(array.shape)
        full.append(array.reshape([1 if one else next(sizes) for one in pattern]))
    return np.matmul(*full)


_erf = np.vectorize(math.erf)
evaluate.FUNCTIONS.update(
    {
        "eq": np.equal,
        "ne": np.not_equal,
        "lt": np.less,
        "le": np.less_equal,
        "gt": np.greater,
        "ge": np.greater_equal,
        "and_": np.logical_and,
        "or_": np.logical_or,
        "not_": np.logical_not,
        "where": np.where,
        "maximum": np.maximum,
        "minimum": np.minimum,
        "abs": np.abs,
        "log": np.log,
        "floor": np.floor,
        "mod": np.mod,
        "floordiv": np.floor_divide,
        "erf": _erf,
        "reciprocal": np.reciprocal,
    }
)
evaluate.OPERATORS.setdefault("opaque", _opaque)
evaluate.OPERATORS["opaque"] = _opaque
evaluate.OPERATORS["gelu"] = lambda args, attrs: (
    args[0] * (1 + _erf(args[0] / math.sqrt(2))) / 2
    if attrs["approximate"] == "none"
    else args[0] * (1 + np.tanh(math.sqrt(2 / math.pi) * (args[0] + 0.044715 * args[0] ** 3))) / 2
)


def _layer_norm(args: list[Any], attrs: Any) -> Any:
    x = args[0]
    centred = x - x.mean(-1, keepdims=True)
    return (
        centred / np.sqrt((centred**2).mean(-1, keepdims=True) + attrs["eps"]) * args[1] + args[2]
    )


evaluate.OPERATORS["layer_norm"] = _layer_norm
