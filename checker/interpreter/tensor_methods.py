"""Attributes and methods of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from checker.graph import dims
from checker.interpreter import indexing, torch_ops
from checker.interpreter.machine import Machine
from checker.interpreter.tensors import (
    Root,
    Tensor,
    as_tensor,
    elementwise,
    filled,
    op,
)
from checker.interpreter.values import External, Native, Unknown, Value

Method = Callable[..., Value]

_SAME = (
    "contiguous clone detach to float half bfloat16 double cpu cuda type_as requires_grad_ pin_memory"
    " long int data_ptr_like"
).split()
_UNARY = {
    "neg": "neg",
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
_BINARY = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "div": "div",
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
}


def attribute(m: Machine, t: Tensor, name: str, absent: bool = False) -> Value:
    """`t.name`."""
    from checker.interpreter import attributes

    if name in t.extra:
        return t.extra[name]
    match name:
        case "shape":
            return tuple(t.shape(m))
        case "ndim":
            return len(t.axes)
        case "dtype":
            kinds = {"int": "torch.int64", "bool": "torch.bool"}
            return External(kinds.get(t.kind, "torch.bfloat16"))
        case "device":
            return External("torch.device.cuda")
        case "data":
            return t
        case "T" | "mT":
            return torch_ops.transpose(m, t, -1, -2)
        case "requires_grad":
            return t.requires_grad
        case "is_cuda":
            return True
        case "is_meta" | "is_sparse" | "is_quantized":
            return False
        case "grad":
            return None
        case "__class__":
            return m.builtins["Tensor"]
    method = _METHODS.get(name)
    if method is not None:
        return Native(name, lambda m, args, kwargs: _guarded(m, method, t, args, kwargs))
    if name in _UNARY:
        return Native(name, lambda m, args, kwargs: elementwise(m, _UNARY[name], [t]))
    if name in _BINARY:
        return Native(name, lambda m, args, kwargs: _binary(m, t, name, args, kwargs))
    if name.endswith("_") and (name[:-1] in _UNARY or name[:-1] in _BINARY):
        return Native(name, lambda m, args, kwargs: _in_place(m, t, name[:-1], args, kwargs))
    if name.startswith("__") or name in ("weight_loader",):
        return attributes.MISSING
    if name in _KNOWN_ABSENT or not name.isidentifier():
        return attributes.MISSING
    if name not in _TENSOR_NAMES:
        return attributes.MISSING
    return m.unknown(f"the tensor method {name} is not interpreted")


# Names which real tensors have and which are not interpreted: an access is unknown, not an AttributeError.
_TENSOR_NAMES = frozenset(
    "all any item tolist numpy scatter scatter_ scatter_add_ index_select index_copy_ gather masked_fill masked_select"
    " topk sort cumsum nonzero unique bincount roll flip tril triu diag repeat_interleave bmm mm addmm index_add_"
    " index_put_ normal_ uniform_ random_ isnan isinf nan_to_num max min prod var std norm stride storage is_floating_point"
    " untyped_storage backward register_hook view_as unfold new_tensor cross dot outer lerp addcmul clamp_".split()
)
_KNOWN_ABSENT = frozenset(("weight_scale", "input_scale", "k_scale", "v_scale"))


def _guarded(m: Machine, method: Method, t: Tensor, args: list[Value], kwargs: dict[str, Value]) -> Value:
    for value in [*args, *kwargs.values()]:
        if isinstance(value, Unknown):
            return value
    return method(m, t, *args, **kwargs)


def _binary(m: Machine, t: Tensor, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    other = args[0] if args else kwargs.get("other")
    alpha = kwargs.get("alpha", 1)
    if alpha != 1 and isinstance(alpha, (int, float)):
        other = elementwise(m, "mul", [other, alpha])
    return elementwise(m, _BINARY[name], [t, other])


def _in_place(m: Machine, t: Tensor, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    result = _binary(m, t, name, args, kwargs) if name in _BINARY else elementwise(m, _UNARY[name], [t])
    if isinstance(result, Tensor):
        t.write(m, result)
    else:
        t.forget(m, result)
    return t


def _same(m: Machine, t: Tensor, *args: Value, **kwargs: Value) -> Tensor:
    """Dtype and device moves and copies: the values stay what they are (casts are not terms)."""
    copy = Tensor(Root(t.term(m)), t.axes, t.kind)
    wanted = next((a.path for a in (*args, *kwargs.values()) if isinstance(a, External)), "")
    if "int" in wanted or "long" in wanted:
        copy.kind = "int"
    elif "bool" in wanted:
        copy.kind = "bool"
    elif "float" in wanted or "half" in wanted:
        copy.kind = "float"
    return copy


def _to(m: Machine, t: Tensor, *args: Value, **kwargs: Value) -> Tensor:
    return _same(m, t, *args, **kwargs)


def _detach(m: Machine, t: Tensor, *args: Value, **kwargs: Value) -> Tensor:
    return t.alike(t.storage)


def _size(m: Machine, t: Tensor, dim: Value = None) -> Value:
    shape = t.shape(m)
    return tuple(shape) if dim is None else shape[torch_ops.axis_index(m, t, dim)]


def _numel(m: Machine, t: Tensor) -> Value:
    return dims.dim_mul(t.shape(m))


def _copy(m: Machine, t: Tensor, source: Value, non_blocking: Value = False) -> Tensor:
    other = as_tensor(m, source)
    if other is None:
        t.forget(m, m.unknown("copy_ of something that is no tensor"))
    else:
        t.write(m, other)
    return t


def _fill(m: Machine, t: Tensor, value: Value) -> Tensor:
    return _copy(m, t, value)


def _zero(m: Machine, t: Tensor) -> Tensor:
    return _copy(m, t, 0)


def _masked_fill(m: Machine, t: Tensor, mask: Value, value: Value) -> Value:
    return elementwise(m, "where", [mask, value, t])


def _masked_fill_in_place(m: Machine, t: Tensor, mask: Value, value: Value) -> Value:
    result = _masked_fill(m, t, mask, value)
    if isinstance(result, Tensor):
        t.write(m, result)
    else:
        t.forget(m, result)
    return t


def _flatten(m: Machine, t: Tensor, start_dim: Value = 0, end_dim: Value = -1) -> Value:
    start, stop = torch_ops.axis_index(m, t, start_dim), torch_ops.axis_index(m, t, end_dim)
    merged = tuple(x for g in t.axes[start : stop + 1] for x in g)
    return t.alike(t.storage, (*t.axes[:start], merged, *t.axes[stop + 1 :]))


def _unflatten(m: Machine, t: Tensor, dim: Value, sizes: Value) -> Value:
    where = torch_ops.axis_index(m, t, dim)
    shape: list[Any] = list(t.shape(m))
    sizes = list(sizes)
    if -1 in sizes:
        known = dims.dim_mul(s for s in sizes if s != -1)
        sizes[sizes.index(-1)] = dims.exact_div(shape[where], known)
    return torch_ops.reshape(m, t, [*shape[:where], *sizes, *shape[where + 1 :]])


def _permute(m: Machine, t: Tensor, *order: Value) -> Tensor:
    return torch_ops.permute(t, [torch_ops.axis_index(m, t, d) for d in torch_ops.flat_sizes(m, order)])


def _t(m: Machine, t: Tensor) -> Tensor:
    return torch_ops.transpose(m, t, 0, 1) if len(t.axes) == 2 else t


def _pow(m: Machine, t: Tensor, exponent: Value) -> Value:
    return elementwise(m, "pow", [t, exponent])


def _new(value: float | None) -> Method:
    def make(m: Machine, t: Tensor, *sizes: Value, **kwargs: Value) -> Tensor:
        return filled(m, value, tuple(torch_ops.flat_sizes(m, sizes)), t.kind)

    return make


def _new_full(m: Machine, t: Tensor, size: Value, fill_value: Value, **kwargs: Value) -> Tensor:
    return filled(m, fill_value, tuple(size), t.kind)


def _reduce(name: str) -> Method:
    def run(
        m: Machine, t: Tensor, dim: Value = None, keepdim: Value = False, axis: Value = None, dtype: Value = None
    ) -> Value:
        return torch_ops.reduce(m, name, t, dim if axis is None else axis, keepdim)

    return run


def _scatter(m: Machine, t: Tensor, dim: Value, index: Value, src: Value) -> Tensor:
    where = torch_ops.axis_index(m, t, dim)
    source, places = as_tensor(m, src), as_tensor(m, index)
    if source is None or places is None:
        t.forget(m, m.unknown("scatter_ with computed arguments"))
        return t
    whole = t.term(m)
    term = op(
        m, "opaque", whole, places.term(m), source.term(m), name="scatter", shape=whole.shape, dim=where - len(t.axes)
    )
    t.storage.set(m, term)
    return t


def _is_floating_point(m: Machine, t: Tensor) -> bool:
    return t.kind == "float"


def put(m: Machine, t: Tensor, name: str, value: Value) -> None:
    """`t.name = value`."""
    if name == "data":
        if isinstance(value, Tensor):
            t.storage, t.axes = value.storage, value.axes
        return
    if name == "requires_grad":
        t.requires_grad = value is True
        return
    t.extra[name] = value


def _requires_grad(m: Machine, t: Tensor, flag: Value = True) -> Tensor:
    t.requires_grad = flag is True
    return t


_METHODS: dict[str, Method] = {
    **dict.fromkeys(_SAME, _same),
    "to": _to,
    "detach": _detach,
    "requires_grad_": _requires_grad,
    "size": _size,
    "dim": lambda m, t: len(t.axes),
    "numel": _numel,
    "element_size": lambda m, t: 2,
    "view": lambda m, t, *sizes: torch_ops.reshape(m, t, torch_ops.flat_sizes(m, sizes)),
    "reshape": lambda m, t, *sizes: torch_ops.reshape(m, t, torch_ops.flat_sizes(m, sizes)),
    "flatten": _flatten,
    "unflatten": _unflatten,
    "transpose": torch_ops.transpose,
    "swapaxes": torch_ops.transpose,
    "permute": _permute,
    "t": _t,
    "squeeze": lambda m, t, dim=None: torch_ops.squeeze(m, t, dim),
    "unsqueeze": torch_ops.unsqueeze,
    "expand": lambda m, t, *sizes: torch_ops.expand(m, t, torch_ops.flat_sizes(m, sizes)),
    "expand_as": lambda m, t, other: torch_ops.expand(m, t, list(other.shape(m))),
    "split": lambda m, t, split_size, dim=0: torch_ops.split_sizes(m, t, split_size, dim),
    "chunk": torch_ops.chunk,
    "narrow": torch_ops.narrow,
    "unbind": torch_ops.unbind,
    "select": lambda m, t, dim, index: indexing.select(m, t, torch_ops.axis_index(m, t, dim), index),
    "copy_": _copy,
    "fill_": _fill,
    "zero_": _zero,
    "masked_fill": _masked_fill,
    "masked_fill_": _masked_fill_in_place,
    "matmul": torch_ops.matmul,
    "pow": _pow,
    "mean": _reduce("mean"),
    "sum": _reduce("sum"),
    "argmax": _reduce("argmax"),
    "softmax": lambda m, t, dim=-1, dtype=None: torch_ops.softmax(m, t, dim),
    "clamp": lambda m, t, min=None, max=None: torch_ops.clamp(m, t, min, max),
    "new_zeros": _new(0),
    "new_ones": _new(1),
    "new_empty": _new(None),
    "new_full": _new_full,
    "scatter_": _scatter,
    "is_contiguous": lambda m, t, *args, **kwargs: True,
    "is_floating_point": _is_floating_point,
}
