"""Element types: which conversions change values, and which only change how they are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.interpreter.storages import Loose, Root, op
from checker.interpreter.tensors import Tensor
from checker.interpreter.values import DTYPES, External, Value

if TYPE_CHECKING:
    from checker.interpreter.machine import Machine


def kind_of(dtype: Value, default: str = "float") -> str:
    """The kind of number that an element type holds."""
    if isinstance(dtype, External):
        return DTYPES.get(dtype.path, default)
    return default


def integer_of(dtype: Value, default: str | None = None) -> str | None:
    """The element type that holds the integers, "int32" say."""
    if isinstance(dtype, External) and DTYPES.get(dtype.path) == "int":
        return dtype.path.rpartition(".")[2]
    return default


def wide(made: Value, dtype: Value, default: str | None = "int64") -> Value:
    """A new tensor; if it holds integers, of the element type that was asked for."""
    if isinstance(made, Tensor) and made.kind == "int":
        made.integer = integer_of(dtype, default)
    return made


def check_options(m: Machine, options: dict[str, Value]) -> None:
    """Raises what torch raises where an element type is given for a device, or the reverse."""
    dtype, device = options.get("dtype"), options.get("device")
    if isinstance(device, External) and device.path in DTYPES:
        raise m.exception("TypeError", f"device must be a device, not {device.path}")
    wrong = isinstance(dtype, External) and dtype.path.startswith("torch.device")
    if wrong or isinstance(dtype, (str, int)):
        raise m.exception("TypeError", "dtype must be a torch.dtype")


def cast(m: Machine, t: Tensor, kind: str) -> Tensor:
    """The tensor's values as another kind of number: a new tensor if that changes anything.

    Precision is not part of a term; what truncates or tests is.
    """
    if t.kind == kind:
        return t
    term = t.term(m)
    if kind == "bool":
        term = op(m, "ne", term, m.builder.const(0))
    elif t.kind == "float" and kind == "int" and not _is_integral(t, m):
        term = op(m, "opaque", term, name="truncate", shape=term.shape)
    return Tensor(Root(term), t.axes, kind)


def _is_integral(t: Tensor, m: Machine) -> bool:
    """Whether a float tensor is filled with a whole number."""
    term = t.term(m)
    value = term.attr("value") if term.op in ("const", "full") else None
    return isinstance(value, int)


def converted(m: Machine, t: Tensor, kind: str) -> Tensor:
    """`t.to(…)`: a copy unless nothing changes, which is not known."""
    made = cast(m, t, kind)
    return t.alike(Loose(m, t.storage)) if made is t else made


def to(m: Machine, t: Tensor, *args: Value, **kwargs: Value) -> Value:
    """`t.to(dtype)`, `t.to(device)`, `t.to(other)`."""
    check_options(m, kwargs)
    kind, integer = t.kind, t.integer
    for value in (*args, *kwargs.values()):
        if isinstance(value, Tensor):
            kind, integer = value.kind, value.integer
        elif isinstance(value, External):
            kind, integer = kind_of(value, kind), integer_of(value, integer)
    if kwargs.get("copy") is True:
        made = cast(m, t, kind)
        return wide(made.alike(Root(made.term(m))), None, integer)
    return wide(converted(m, t, kind), None, integer)


def copied(m: Machine, t: Tensor) -> Tensor:
    """`t.clone()`."""
    return t.alike(Root(t.term(m)))


def contiguous(m: Machine, t: Tensor) -> Tensor:
    """`t.contiguous()`: the tensor itself if it lies in order already."""
    return t.alike(Loose(m, t.storage))


__all__ = [
    "cast",
    "check_options",
    "contiguous",
    "converted",
    "copied",
    "integer_of",
    "kind_of",
    "to",
    "wide",
]
