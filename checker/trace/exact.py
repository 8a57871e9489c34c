"""Float64 everywhere: what the checked code casts to a shorter type stays long.

In short types two implementations of one function differ in the last digits and two different
functions may agree in the first ones. With every cast redirected, equal means about 1e-14 and
different starts orders of magnitude above.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHORT = ("float32", "float", "float16", "half", "bfloat16")
_UNCOMPILED = "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG"
"""The switch of torch >= 2.9 that runs flex attention as it stands, without a compiler."""


def make_exact() -> None:
    """Turns every floating type of this process into float64. There is no way back."""
    for name in _SHORT:
        setattr(torch, name, torch.float64)
    torch.set_default_dtype(torch.float64)
    for name in ("float", "half", "bfloat16", "double"):
        setattr(torch.Tensor, name, _as_long)
    for name in ("synchronize", "empty_cache"):  # housekeeping of devices that are not there
        setattr(torch.cuda, name, _nothing)
    torch.set_num_threads(1)  # sums in one order, and no time lost on tiny tensors


def run_uncompiled() -> None:
    """Runs what torch would compile first as it stands."""
    os.environ["TORCH_COMPILE_DISABLE"] = "1"  # read when something is first to be compiled
    from torch.nn.attention import flex_attention

    if hasattr(flex_attention, _UNCOMPILED):
        setattr(flex_attention, _UNCOMPILED, True)


def _nothing(*args: Any, **kwargs: Any) -> None:
    del args, kwargs


def _as_long(self: Any, *args: Any, **kwargs: Any) -> Any:
    del args, kwargs
    return self.to(torch.float64)


@contextmanager
def flex_shapes() -> Iterator[None]:
    """Flex attention where nothing has values: it refuses that device; its shape is known."""
    from torch.nn.attention import flex_attention

    original = flex_attention.flex_attention
    flex_attention.flex_attention = _flex_shape
    try:
        yield
    finally:
        flex_attention.flex_attention = original


def _flex_shape(query: Any, key: Any, value: Any, *args: Any, **kwargs: Any) -> Any:
    del key, args, kwargs
    return query.new_empty((*query.shape[:-1], value.shape[-1]))
