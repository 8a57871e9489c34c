"""Places that several rewrites change."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from benchmarks.rewrites.table import LAYER, MODEL

if TYPE_CHECKING:
    from benchmarks.editing import Source


def joined(s: Source, text: str) -> None:
    """Another spelling of the join of the two halves; `{a}` and `{b}` stand for them."""
    call = s.call(LAYER, "torch.cat")
    first, second = call.args[0].elts  # type: ignore[attr-defined]
    s.put(call, text.format(a=s.of(first), b=s.of(second)))


def fused(s: Source, text: str) -> None:
    """Another spelling of the call of fc; `{x}` stands for its argument."""
    call = s.call(MODEL, "self.fc")
    s.put(call, text.format(x=s.of(call.args[0])))


def hidden_normed(s: Source, text: str) -> None:
    """Another spelling of the norm of the hidden half; `{x}` stands for its argument."""
    call = s.call(LAYER, "self.hidden_norm")
    s.put(call, text.format(x=s.of(call.args[0])))


def after_attention(s: Source, text: str) -> None:
    """Another spelling of the add and norm after attention."""
    s.put(s.assign(LAYER, "hidden_states, residual", -1), text)


def renamed(s: Source, place: str, old: str, new: str) -> None:
    """Another name for a local variable or an argument that callers give by position."""
    for name in s.walk(place, ast.Name):
        if name.id == old:
            s.put(name, new)
    for arg in s.walk(place, ast.arg):
        if arg.arg == old:
            s.put(arg, f"{new}: {s.of(arg.annotation)}" if arg.annotation else new)
