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
    kind = t.kind
    for value in (*args, *kwargs.values()):
        if isinstance(value, Tensor):
            kind = value.kind
        elif isinstance(value, External):
            kind = kind_of(value, kind)
    if kwargs.get("copy") is True:
        made = cast(m, t, kind)
        return made.alike(Root(made.term(m)))
    return converted(m, t, kind)


def copied(m: Machine, t: Tensor) -> Tensor:
    """`t.clone()`."""
    return t.alike(Root(t.term(m)))


def contiguous(m: Machine, t: Tensor) -> Tensor:
    """`t.contiguous()`: the tensor itself if it lies in order already."""
    return t.alike(Loose(m, t.storage))


__all__ = ["cast", "contiguous", "converted", "copied", "kind_of", "to"]
