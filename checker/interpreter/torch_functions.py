"""The tensor language by name: `torch.cat`, `torch.nn.functional.silu` and so on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from checker.interpreter import (
    casting,
    einsum,
    joining,
    picking,
    products,
    shaping,
    tensor_elementwise,
    tensor_methods,
    tiling,
)
from checker.interpreter.broadcasting import as_tensor, elementwise
from checker.interpreter.tensors import Tensor, filled
from checker.interpreter.values import Unknown, Value

if TYPE_CHECKING:
    from checker.interpreter.machine import Machine

Call = Callable[..., Value]


def _unary(name: str) -> Call:
    def run(m: Machine, input: Value, out: Value = None) -> Value:
        return tensor_elementwise.stored(m, tensor_elementwise.unary(m, name, input), out)

    return run


def _binary(name: str) -> Call:
    def run(m: Machine, input: Value, other: Value, **options: Value) -> Value:
        return tensor_elementwise.binary(m, name, input, other, **options)

    return run


def _activation(name: str) -> Call:
    def run(m: Machine, input: Value, inplace: Value = False) -> Value:
        result = elementwise(m, name, [input])
        if inplace is True and isinstance(input, Tensor):
            input.update(m, result)
            return input
        return result

    return run


def _gelu(m: Machine, input: Value, approximate: Value = "none") -> Value:
    if not isinstance(approximate, str):
        return m.unknown("a gelu whose kind is not known")
    return elementwise(m, "gelu", [input], approximate=approximate)


def _softplus(m: Machine, input: Value, beta: Value = 1, threshold: Value = 20) -> Value:
    if (beta, threshold) != (1, 20):
        return m.unknown("a softplus with other constants")
    return elementwise(m, "softplus", [input])


def _pow(m: Machine, input: Value, exponent: Value) -> Value:
    return elementwise(m, "pow", [input, exponent])


def _method(name: str) -> Call:
    """`torch.name(t, …)` as `t.name(…)`."""

    def run(m: Machine, input: Value, *args: Value, **kwargs: Value) -> Value:
        from checker.interpreter import attributes, calls

        out = kwargs.pop("out", None)
        result = calls.call(m, attributes.get(m, input, name), list(args), kwargs)
        return tensor_elementwise.stored(m, result, out)

    return run


def _filled(value: float | None) -> Call:
    def run(m: Machine, *sizes: Value, **kwargs: Value) -> Value:
        given = kwargs.get("size")
        shape = shaping.flat_sizes(sizes if given is None else (given,))
        dtype = kwargs.get("dtype")
        return casting.wide(tensor_methods.made(m, value, shape, casting.kind_of(dtype)), dtype)

    return run


def _random(m: Machine, *sizes: Value, **kwargs: Value) -> Value:
    return m.unknown("random numbers")


def _full(m: Machine, size: Value, fill_value: Value, **kwargs: Value) -> Value:
    value = as_tensor(m, fill_value)
    if value is None or isinstance(fill_value, Tensor):
        return m.unknown("torch.full of a value that is not known")
    kind = casting.kind_of(kwargs.get("dtype"), value.kind)
    made = tensor_methods.made(m, fill_value, shaping.flat_sizes((size,)), kind)
    return casting.wide(made, kwargs.get("dtype"))


def _like(value: float | None) -> Call:
    def run(m: Machine, input: Value, **kwargs: Value) -> Value:
        if isinstance(input, Unknown):
            return m.unknown(f"of the shape of something unknown: {input.reason}")
        if not isinstance(input, Tensor):
            raise m.exception("TypeError", "argument 'input' must be Tensor")
        kind = casting.kind_of(kwargs.get("dtype"), input.kind)
        made = filled(m, value, input.shape(m), kind)
        return casting.wide(made, kwargs.get("dtype"), input.integer)

    return run


def _full_like(m: Machine, input: Value, fill_value: Value, **kwargs: Value) -> Value:
    if not isinstance(input, Tensor) or not isinstance(fill_value, (int, float)):
        return m.unknown("torch.full_like of a value that is not known")
    kind = casting.kind_of(kwargs.get("dtype"), input.kind)
    made = filled(m, fill_value, input.shape(m), kind)
    return casting.wide(made, kwargs.get("dtype"), input.integer)


def _tensor(m: Machine, data: Value, **kwargs: Value) -> Value:
    dtype = kwargs.get("dtype")
    if isinstance(data, Tensor):
        made = casting.copied(m, casting.cast(m, data, casting.kind_of(dtype, data.kind)))
        return casting.wide(made, dtype, data.integer)
    if isinstance(data, (list, tuple)):
        return _of_list(m, data, dtype)
    value = as_tensor(m, data)
    if value is None:
        return m.unknown("torch.tensor of something that is no number")
    return casting.wide(casting.cast(m, value, casting.kind_of(dtype, value.kind)), dtype)


def _of_list(m: Machine, data: list[Value] | tuple[Value, ...], dtype: Value) -> Value:
    """A tensor of one axis out of numbers."""
    values = [as_tensor(m, item) for item in data]
    parts = [value for value in values if value is not None and not value.axes]
    if not data or len(parts) != len(data):
        return m.unknown("a tensor made from a list that holds more than numbers")
    if len(parts) > m.limits.forks * 8:
        return m.unknown("a tensor made from a long list")
    kind = max((p.kind for p in parts), key=("bool", "int", "float").index)
    kind = casting.kind_of(dtype, kind)
    rows = [casting.cast(m, part, kind) for part in parts]
    return casting.wide(joining.join(m, [r.alike(r.storage, ((),)) for r in rows], 0), dtype)


def _as_tensor(m: Machine, data: Value, **kwargs: Value) -> Value:
    if isinstance(data, Tensor):
        dtype = kwargs.get("dtype")
        made = casting.converted(m, data, casting.kind_of(dtype, data.kind))
        return casting.wide(made, dtype, data.integer)
    return _tensor(m, data, **kwargs)


def _creating(function: Call) -> Call:
    """A function that takes an element type and a device."""

    def run(m: Machine, *args: Value, **kwargs: Value) -> Value:
        casting.check_options(m, kwargs)
        return function(m, *args, **kwargs)

    return run


def _guard(function: Call) -> Call:
    """A function of tensors: an unknown argument makes the result unknown."""

    def run(m: Machine, *args: Value, **kwargs: Value) -> Value:
        for value in (*args, *kwargs.values()):
            if isinstance(value, Unknown):
                return value
        out = kwargs.pop("out", None)
        return tensor_elementwise.stored(m, function(m, *args, **kwargs), out)

    return run


def _named(function: Call) -> Call:
    """The same with `input=` for the first argument."""

    def run(m: Machine, *args: Value, **kwargs: Value) -> Value:
        if "input" in kwargs:
            args = (kwargs.pop("input"), *args)
        if "split_size_or_sections" in kwargs:
            kwargs["split_size"] = kwargs.pop("split_size_or_sections")
        return function(m, *args, **kwargs)

    return _guard(run)


def _dropout(m: Machine, input: Value, *args: Value, **kwargs: Value) -> Value:
    return input  # evaluation: the trained function in expectation


def _softmax(
    m: Machine, input: Value, dim: Value = -1, _stacklevel: Value = 3, dtype: Value = None
) -> Value:
    return products.softmax(m, input, dim)


def _torch_softmax(m: Machine, input: Value, dim: Value, dtype: Value = None) -> Value:
    return products.softmax(m, input, dim)


def _outer(m: Machine, input: Value, vec2: Value) -> Value:
    if len(input.axes) != 1 or len(vec2.axes) != 1:
        raise m.exception("RuntimeError", "outer: expected 1-D tensors")
    column = shaping.unsqueeze(m, input, 1)
    return elementwise(m, "mul", [column, shaping.unsqueeze(m, vec2, 0)])


def _is_tensor(m: Machine, obj: Value) -> Value:
    return obj if isinstance(obj, Unknown) else isinstance(obj, Tensor)


_AS_METHODS = [
    "argmax",
    "chunk",
    "clamp",
    "clamp_max",
    "clamp_min",
    "clone",
    "detach",
    "flatten",
    "addcdiv",
    "addcmul",
    "masked_fill",
    "masked_select",
    "mean",
    "narrow",
    "numel",
    "permute",
    "repeat_interleave",
    "reshape",
    "roll",
    "squeeze",
    "sum",
    "swapaxes",
    "swapdims",
    "t",
    "tensor_split",
    "tile",
    "transpose",
    "unbind",
    "unflatten",
    "unsqueeze",
]
_CREATED = {"zeros": 0, "ones": 1, "empty": None}
FUNCTIONS: dict[str, Call] = {
    **{f"torch.{name}": _unary(name) for name in tensor_elementwise.UNARY},
    **{f"torch.{name}": _binary(name) for name in tensor_elementwise.BINARY if name != "pow"},
    "torch.pow": _guard(_pow),
    "torch.where": _guard(products.where),
    "torch.cat": joining.cat,
    "torch.concat": joining.cat,
    "torch.concatenate": joining.cat,
    "torch.hstack": joining.hstack,
    "torch.column_stack": tiling.column_stack,
    "torch.vstack": joining.vstack,
    "torch.stack": _guard(joining.stack),
    "torch.split": _named(joining.split),
    **{f"torch.{name}": _creating(_filled(value)) for name, value in _CREATED.items()},
    **{f"torch.{name}_like": _creating(_like(value)) for name, value in _CREATED.items()},
    "torch.full": _creating(_guard(_full)),
    "torch.full_like": _creating(_guard(_full_like)),
    "torch.randn": _random,
    "torch.rand": _random,
    "torch.arange": _creating(products.arange),
    "torch.tensor": _creating(_tensor),
    "torch.as_tensor": _creating(_as_tensor),
    "torch.einsum": einsum.einsum,
    "torch.matmul": _named(products.matmul),
    "torch.mm": _named(products.matmul),
    "torch.bmm": _named(products.matmul),
    "torch.outer": _guard(_outer),
    "torch.softmax": _guard(_torch_softmax),
    "torch.max": _named(picking.largest),
    "torch.topk": _named(picking.largest_few),
    "torch.gather": _named(picking.gather),
    **{f"torch.{name}": _method(name) for name in _AS_METHODS},
    "torch.nn.functional.linear": products.linear,
    "torch.nn.functional.embedding": products.embedding,
    "torch.nn.functional.rms_norm": _guard(products.functional_rms_norm),
    "torch.rms_norm": _guard(products.functional_rms_norm),
    "torch.nn.functional.layer_norm": _guard(products.layer_norm),
    "torch.nn.functional.pad": _guard(tiling.pad),
    "torch.nn.functional.dropout": _dropout,
    "torch.nn.functional.softmax": _guard(_softmax),
    **{f"torch.nn.functional.{n}": _activation(n) for n in ("silu", "relu", "tanh", "sigmoid")},
    "torch.nn.functional.gelu": _gelu,
    "torch.nn.functional.softplus": _softplus,
    "torch.is_tensor": _is_tensor,
}
