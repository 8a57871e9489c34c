"""Elementwise operators by torch's names: functions, methods, in-place methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from checker.interpreter import casting, products
from checker.interpreter.broadcasting import as_tensor, elementwise
from checker.interpreter.tensors import Tensor
from checker.interpreter.values import Value

if TYPE_CHECKING:
    from checker.interpreter.machine import Machine

Method = Callable[..., Value]

UNARY = {
    "neg": "neg",
    "negative": "neg",
    "rsqrt": "rsqrt",
    "sqrt": "sqrt",
    "exp": "exp",
    "cos": "cos",
    "sin": "sin",
    "tanh": "tanh",
    "sigmoid": "sigmoid",
    "square": "square",
    "abs": "abs",
    "log": "log",
    "relu": "relu",
    "logical_not": "not_",
    "floor": "floor",
    "erf": "erf",
    "reciprocal": "reciprocal",
}
BINARY = {
    "add": "add",
    "sub": "sub",
    "subtract": "sub",
    "mul": "mul",
    "multiply": "mul",
    "div": "div",
    "divide": "div",
    "true_divide": "div",
    "floor_divide": "floordiv",
    "eq": "eq",
    "ne": "ne",
    "ge": "ge",
    "gt": "gt",
    "le": "le",
    "lt": "lt",
    "logical_and": "and_",
    "logical_or": "or_",
    "maximum": "maximum",
    "minimum": "minimum",
    "remainder": "mod",
    "pow": "pow",
}
_LOGICAL = frozenset(("logical_and", "logical_or", "logical_not"))
_SCALED = frozenset(("add", "sub", "subtract"))


def method_called(name: str) -> Method | None:
    """The tensor method of this name, if it is an elementwise operator."""
    if name in UNARY:
        return lambda m, t: unary(m, name, t)
    if name in BINARY:
        return lambda m, t, other, **options: binary(m, name, t, other, **options)
    base = name.removesuffix("_")
    if base != name and (base in UNARY or base in BINARY):
        return _in_place(base)
    return None


def unary(m: Machine, name: str, t: Value) -> Value:
    """`torch.name(t)`."""
    if name in _LOGICAL and isinstance(t, Tensor):
        t = casting.cast(m, t, "bool")
    if name == "reciprocal":
        return elementwise(m, "pow", [t, -1])
    return elementwise(m, UNARY[name], [t])


def binary(
    m: Machine,
    name: str,
    t: Value,
    other: Value,
    alpha: Value = 1,
    rounding_mode: Value = None,
    out: Value = None,
) -> Value:
    """`torch.name(t, other)`."""
    if name in _LOGICAL:
        sides = [as_tensor(m, side) for side in (t, other)]
        t, other = (casting.cast(m, s, "bool") if s is not None else s for s in sides)
    if alpha != 1:
        if name not in _SCALED:
            raise m.exception("TypeError", f"{name}() got an unexpected keyword argument 'alpha'")
        other = elementwise(m, "mul", [other, alpha])
    op_name = BINARY[name]
    if rounding_mode is not None:
        if rounding_mode != "floor":
            return m.unknown("a division that is truncated")
        op_name = "floordiv"
    return stored(m, elementwise(m, op_name, [t, other]), out)


def stored(m: Machine, result: Value, out: Value) -> Value:
    """The result, written into `out=` if there is one."""
    if not isinstance(out, Tensor):
        return result
    out.update(m, result)
    return out


def _in_place(name: str) -> Method:
    def run(m: Machine, t: Tensor, *args: Value, **kwargs: Value) -> Value:
        if any(t.overlaps(value) for value in (*args, *kwargs.values())):
            t.forget(m, m.unknown("an in-place operator over overlapping parts of a tensor"))
            return t
        result = unary(m, name, t) if name in UNARY else binary(m, name, t, *args, **kwargs)
        t.update(m, result)
        return t

    return run


def clamp(m: Machine, t: Value, min: Value = None, max: Value = None, out: Value = None) -> Value:
    """`torch.clamp`."""
    return stored(m, products.clamp(m, t, min, max), out)


def addcmul(m: Machine, t: Tensor, tensor1: Value, tensor2: Value, *, value: Value = 1) -> Value:
    """torch.addcmul: `t + value * tensor1 * tensor2`."""
    product = elementwise(m, "mul", [tensor1, tensor2])
    return elementwise(m, "add", [t, elementwise(m, "mul", [product, value])])


def addcdiv(m: Machine, t: Tensor, tensor1: Value, tensor2: Value, *, value: Value = 1) -> Value:
    """torch.addcdiv: `t + value * tensor1 / tensor2`."""
    quotient = binary(m, "div", tensor1, tensor2)
    return elementwise(m, "add", [t, elementwise(m, "mul", [quotient, value])])
