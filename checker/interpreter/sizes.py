"""Arithmetic and comparisons on sizes that may be symbolic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.graph import dims

if TYPE_CHECKING:
    from checker.graph.dims import Dim


def arithmetic(name: str, left: Dim, right: Dim) -> Dim | None:
    """`left name right` as a size, or None when it is not exactly one."""
    match name:
        case "add":
            return left + right
        case "sub":
            return left - right
        case "mul":
            return left * right
        case "floordiv":
            return dims.exact_div(left, right)
        case "mod":
            return 0 if dims.exact_div(left, right) is not None else None
        case _:
            return None


def decide(name: str, left: Dim, right: Dim) -> bool | None:
    """A comparison of sizes (symbols are at least one), or None when it depends on their values."""
    match name:
        case "eq":
            return dims.equal(left, right)
        case "ne":
            return _not(dims.equal(left, right))
        case "lt":
            return dims.less(left, right)
        case "le":
            return dims.at_most(left, right)
        case "gt":
            return dims.less(right, left)
        case "ge":
            return dims.at_most(right, left)
        case _:
            return None


def _not(value: bool | None) -> bool | None:
    return None if value is None else not value
