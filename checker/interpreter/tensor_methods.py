"""Attributes and methods of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from checker.graph import dims
from checker.interpreter import (
    casting,
    havoc,
    indexing,
    joining,
    picking,
    products,
    shaping,
    tensor_elementwise,
    tiling,
)
from checker.interpreter.broadcasting import as_tensor, elementwise
from checker.interpreter.host_methods import MISSING
from checker.interpreter.hosting import applied
from checker.interpreter.tensor_names import OTHER_NAMES
from checker.interpreter.tensors import Root, Tensor, filled, op
from checker.interpreter.values import External, Native, Unknown, Value

if TYPE_CHECKING:
    from checker.interpreter.machine import Machine

Method = Callable[..., Value]

_DTYPES = {"float": "torch.bfloat16", "int": "torch.int64", "bool": "torch.bool"}


def attribute(m: Machine, t: Tensor, name: str, absent: bool = False) -> Value:
    """`t.name`.

    `absent`: the code asks whether there is one. Otherwise a name that is not known to be one
    of torch's is taken for one, which is a doubt.
    """
    if name in t.extra:
        return t.extra[name]
    fact = _FACTS.get(name)
    if fact is not None:
        return fact(m, t)
    method = _METHODS.get(name) or tensor_elementwise.method_called(name)
    if method is not None:
        return Native(name, lambda m, args, kwargs: _called(m, method, t, args, kwargs))
    if name.startswith("__") and name.endswith("__"):
        return m.unknown(f"{name} of a tensor") if name in _SPECIAL else MISSING
    if name not in OTHER_NAMES:
        if absent:
            return MISSING
        m.unknown(f"whether tensors have {name}")  # a doubt: it may have been set unseen
    return Native(name, lambda m, args, kwargs: _undescribed(m, t, name, args, kwargs))


def _called(
    m: Machine, method: Method, t: Tensor, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    for value in [*args, *kwargs.values()]:
        if isinstance(value, Unknown):
            havoc.forget(m, value, [t, *args, *kwargs.values()])
            return value
    return applied(m, method, (m, t, *args), kwargs)


def _undescribed(
    m: Machine, t: Tensor, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    """A method that is not interpreted.

    One whose name ends in an underscore writes to the tensor.
    """
    unknown = m.unknown(f"the tensor method {name} is not interpreted")
    changed = [t] if name.endswith("_") else []
    havoc.forget(m, unknown, [*changed, kwargs.get("out")])
    return unknown


# -- single methods --------------------------------------------------------------------------------


def _as(kind: str, integer: str | None = None) -> Method:
    """`t.float()`, `t.long()` and their like."""
    return lambda m, t, **options: casting.wide(casting.converted(m, t, kind), None, integer)


def _moved(m: Machine, t: Tensor, *args: Value, **kwargs: Value) -> Tensor:
    """`t.cuda()`, `t.cpu()`: a copy unless it is there already."""
    return casting.converted(m, t, t.kind)


def _type(m: Machine, t: Tensor, dtype: Value = None) -> Value:
    return (
        casting.to(m, t, dtype) if dtype is not None else m.unknown("the name of a tensor's type")
    )


def _detach(m: Machine, t: Tensor) -> Tensor:
    return t.alike(t.storage)


def _size(m: Machine, t: Tensor, dim: Value = None) -> Value:
    shape = t.shape(m)
    return tuple(shape) if dim is None else shape[joining.axis_index(m, t, dim)]


def _copy(m: Machine, t: Tensor, src: Value, non_blocking: Value = False) -> Tensor:
    other = as_tensor(m, src)
    t.update(m, other if other is not None else m.unknown("copy_ of something that is no tensor"))
    return t


def _fill(m: Machine, t: Tensor, value: Value) -> Tensor:
    return _copy(m, t, value)


def _zero(m: Machine, t: Tensor) -> Tensor:
    return _copy(m, t, 0)


def _masked_fill(m: Machine, t: Tensor, mask: Value, value: Value) -> Value:
    return elementwise(m, "where", [mask, value, t])


def _masked_fill_in_place(m: Machine, t: Tensor, mask: Value, value: Value) -> Value:
    t.update(m, _masked_fill(m, t, mask, value))
    return t


def _clamp_in_place(m: Machine, t: Tensor, min: Value = None, max: Value = None) -> Value:
    t.update(m, products.clamp(m, t, min, max))
    return t


def _new(value: float | None) -> Method:
    def make(m: Machine, t: Tensor, *sizes: Value, **kwargs: Value) -> Value:
        casting.check_options(m, kwargs)
        given = kwargs.get("size")
        shape = shaping.flat_sizes(sizes if given is None else (given,))
        dtype = kwargs.get("dtype")
        new = made(m, value, shape, casting.kind_of(dtype, t.kind))
        return casting.wide(new, dtype, t.integer)

    return make


def made(m: Machine, value: float | None, shape: list[Value], kind: str) -> Value:
    """A new tensor of a shape that may not be known."""
    for size in shape:
        if isinstance(size, Unknown):
            return size
        if isinstance(size, Tensor):  # one integer in a tensor will do for torch
            return m.unknown("a size that is computed by tensors")
        if not isinstance(size, (int, dims.Poly)):
            raise m.exception("TypeError", "sizes must be integers")
    return filled(m, value, tuple(shape), kind)


def _new_full(m: Machine, t: Tensor, size: Value, fill_value: Value, **kwargs: Value) -> Value:
    casting.check_options(m, kwargs)
    kind = casting.kind_of(kwargs.get("dtype"), t.kind)
    if not isinstance(fill_value, (int, float)):
        return m.unknown("new_full of a value that is not known")
    new = made(m, fill_value, shaping.flat_sizes((size,)), kind)
    return casting.wide(new, kwargs.get("dtype"), t.integer)


def _reduce(name: str) -> Method:
    def run(
        m: Machine,
        t: Tensor,
        dim: Value = None,
        keepdim: Value = False,
        axis: Value = None,
        dtype: Value = None,
    ) -> Value:
        return products.reduce(m, name, t, dim if axis is None else axis, keepdim, dtype)

    return run


def _scatter(
    m: Machine, t: Tensor, dim: Value, index: Value, src: Value = None, **options: Value
) -> Tensor:
    where = joining.axis_index(m, t, dim)
    source, places = as_tensor(m, options.pop("value", src)), as_tensor(m, index)
    if source is None or places is None or options:
        t.forget(m, m.unknown("scatter_ with computed arguments"))
        return t
    _same_element_type(m, t, source, "scatter_")
    whole = t.term(m)
    layout = str((t.axes, places.axes, source.axes))
    term = op(
        m,
        "opaque",
        whole,
        places.term(m),
        source.term(m),
        name="scatter",
        shape=whole.shape,
        dim=where - len(t.axes),
        layout=layout,
    )
    t.storage.set(m, term)
    return t


def _item(m: Machine, t: Tensor) -> Value:
    """`t.item()`: the number, where it is known."""
    term = t.term(m)
    if term.shape:
        raise m.exception(
            "RuntimeError", "a Tensor with many elements cannot be converted to Scalar"
        )
    return term.attr("value") if term.op == "const" else m.unknown("a number computed by tensors")


def _same_element_type(m: Machine, t: Tensor, source: Tensor, name: str) -> None:
    """Raises where torch refuses values of another element type; what is not known is a doubt."""
    if source.integer == "number" and t.kind != "bool":
        return
    if t.kind != source.kind or (t.integer and source.integer and t.integer != source.integer):
        raise m.exception("RuntimeError", f"{name}(): Expected self.dtype to be equal to src.dtype")
    if t.kind == "int" and not (t.integer and source.integer):
        m.unknown(f"whether {name} is given two tensors of one element type")


def _is_contiguous(m: Machine, t: Tensor, *args: Value, **kwargs: Value) -> Value:
    """A parameter that was made as it is lies in one piece; of others it is not followed."""
    whole = t.axes == tuple((axis,) for axis in range(len(t.axes)))
    if t.parameter and whole and isinstance(t.storage, Root) and not t.term(m).args:
        return True
    return m.unknown("whether a tensor is contiguous", harmless=True)


def _requires_grad(m: Machine, t: Tensor, requires_grad: Value = True) -> Tensor:
    t.requires_grad = requires_grad is not False
    return t


def _contiguous(m: Machine, t: Tensor, **options: Value) -> Tensor:
    return casting.contiguous(m, t)


def _expand_as(m: Machine, t: Tensor, other: Value) -> Value:
    return (
        shaping.expand(m, t, *other.shape(m))
        if isinstance(other, Tensor)
        else m.unknown("expand_as")
    )


def _view_as(m: Machine, t: Tensor, other: Value) -> Value:
    return (
        shaping.view(m, t, *other.shape(m)) if isinstance(other, Tensor) else m.unknown("view_as")
    )


def _select(m: Machine, t: Tensor, dim: Value, index: Value) -> Value:
    return indexing.select(m, t, joining.axis_index(m, t, dim), index)


def put(m: Machine, t: Tensor, name: str, value: Value) -> None:
    """`t.name = value`."""
    if name == "data":
        if isinstance(value, Tensor):
            t.storage, t.axes, t.kind = value.storage, value.axes, value.kind
        else:
            t.forget(m, m.unknown("the data of a tensor is set to something that is no tensor"))
    elif name == "requires_grad":
        t.requires_grad = value is not False
    else:
        t.extra[name] = value


_FACTS: dict[str, Callable[[Machine, Tensor], Value]] = {
    "shape": lambda m, t: tuple(t.shape(m)),
    "ndim": lambda m, t: len(t.axes),
    "dtype": lambda m, t: External(f"torch.{t.integer}" if t.integer else _DTYPES[t.kind]),
    "device": lambda m, t: External("torch.device.cuda"),
    "data": lambda m, t: t.alike(t.storage),
    "T": shaping.reversed_axes,
    "mT": lambda m, t: shaping.transpose(m, t, -1, -2),
    "requires_grad": lambda m, t: t.requires_grad,
    "is_cuda": lambda m, t: True,
    "is_meta": lambda m, t: False,
    "is_sparse": lambda m, t: False,
    "is_quantized": lambda m, t: False,
    "grad": lambda m, t: None,
    "__class__": lambda m, t: m.builtins["Tensor"],
    "__dict__": lambda m, t: t.extra,
}
_SPECIAL = frozenset(
    ["__add__", "__mul__", "__len__", "__getitem__", "__iter__", "__eq__", "__hash__", "__repr__"]
)
_METHODS: dict[str, Method] = {
    "contiguous": _contiguous,
    "clone": lambda m, t, **options: casting.copied(m, t),
    "detach": _detach,
    "to": casting.to,
    "type_as": casting.to,
    "type": _type,
    **dict.fromkeys(("float", "half", "bfloat16", "double"), _as("float")),
    "long": _as("int", "int64"),
    "int": _as("int", "int32"),
    "short": _as("int", "int16"),
    "bool": _as("bool"),
    **dict.fromkeys(("cuda", "cpu", "pin_memory"), _moved),
    "requires_grad_": _requires_grad,
    "size": _size,
    "dim": lambda m, t: len(t.axes),
    "ndimension": lambda m, t: len(t.axes),
    "numel": lambda m, t: dims.dim_mul(t.shape(m)),
    "nelement": lambda m, t: dims.dim_mul(t.shape(m)),
    "element_size": lambda m, t: m.unknown("the size of a tensor's elements", harmless=True),
    "view": shaping.view,
    "view_as": _view_as,
    "reshape": shaping.reshape,
    "flatten": shaping.flatten,
    "unflatten": shaping.unflatten,
    "transpose": shaping.transpose,
    "swapaxes": shaping.transpose,
    "swapdims": shaping.transpose,
    "permute": shaping.permute,
    "t": shaping.reversed_axes,
    "squeeze": shaping.squeeze,
    "unsqueeze": shaping.unsqueeze,
    "expand": shaping.expand,
    "broadcast_to": shaping.expand,
    "expand_as": _expand_as,
    "split": joining.split,
    "chunk": joining.chunk,
    "tensor_split": joining.tensor_split,
    "narrow": joining.narrow,
    "unbind": joining.unbind,
    "select": _select,
    "repeat": picking.repeat,
    "roll": tiling.roll,
    "masked_select": picking.masked_select,
    "addcmul": tensor_elementwise.addcmul,
    "addcdiv": tensor_elementwise.addcdiv,
    "tile": tiling.tile,
    "repeat_interleave": joining.repeat_interleave,
    "gather": picking.gather,
    "max": picking.largest,
    "stride": picking.stride,
    "topk": picking.largest_few,
    "copy_": _copy,
    "fill_": _fill,
    "zero_": _zero,
    "masked_fill": _masked_fill,
    "masked_fill_": _masked_fill_in_place,
    "matmul": products.matmul,
    "mm": products.matmul,
    "bmm": products.matmul,
    "mean": _reduce("mean"),
    "sum": _reduce("sum"),
    "argmax": _reduce("argmax"),
    "softmax": products.softmax,
    "clamp": tensor_elementwise.clamp,
    "clip": tensor_elementwise.clamp,
    "clamp_": _clamp_in_place,
    "clamp_min": tensor_elementwise.clamp,
    "clamp_max": lambda m, t, max: tensor_elementwise.clamp(m, t, None, max),
    "new_zeros": _new(0),
    "new_ones": _new(1),
    "new_empty": _new(None),
    "new_full": _new_full,
    "scatter_": _scatter,
    "item": _item,
    "is_contiguous": _is_contiguous,
    "is_floating_point": lambda m, t: t.kind == "float",
}
