"""Which expressions gave which tensors: noted only for a run that is going to be traced.

An origin says where a term was made, among others by rewriting: many a term never was a tensor of
its own. A result is a tensor that the checked program has in hand when an expression is done.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from checker.interpreter.tensors import Tensor
from checker.location import Spot

if TYPE_CHECKING:
    from checker.graph.terms import Term
    from checker.interpreter.machine import Machine
    from checker.interpreter.values import Value

_KEPT = 8
_MAKING = (
    ast.Attribute,
    ast.AugAssign,
    ast.BinOp,
    ast.Call,
    ast.Compare,
    ast.Subscript,
    ast.UnaryOp,
)


class Result(NamedTuple):
    """The innermost expression that gave a tensor, and the engine's own one that led there."""

    inner: Spot
    own: Spot | None


class Results:
    """The expressions that gave each term, the first ones first."""

    def __init__(self) -> None:
        self.of: dict[Term, tuple[Result, ...]] = {}

    def note(self, m: Machine, node: ast.AST, value: Value) -> None:
        """An expression of the innermost frame gave a value."""
        if not isinstance(node, _MAKING):
            return
        tensors = value if type(value) in (tuple, list) else (value,)
        result: Result | None = None
        for tensor in tensors:
            if type(tensor) is not Tensor:
                continue
            m.frames[-1].node = node
            result = result or _place(m)
            if result is None:
                return
            term = tensor.term(m)
            seen = self.of.get(term, ())
            if result not in seen and len(seen) < _KEPT:
                self.of[term] = (*seen, result)


def _place(m: Machine) -> Result | None:
    inner: Spot | None = None
    for frame in reversed(m.frames):
        file, node = frame.module.file, frame.node
        if file is None or frame.module.is_stub or not isinstance(node, (ast.expr, ast.stmt)):
            continue
        here = Spot(
            file.path,
            node.lineno,
            node.col_offset,
            node.end_lineno or node.lineno,
            node.end_col_offset or node.col_offset,
        )
        inner = inner or here
        if file.tree.label == m.engine:
            return Result(inner, here)
    return None if inner is None else Result(inner, None)
