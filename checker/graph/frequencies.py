"""Inverse frequencies as numbers: what a term comes to that depends on nothing that is loaded.

Programs write the frequencies of a stretched rotary embedding in many ways. Whether one of them
gives what a description says is seen from the numbers; two spellings differ by rounding only.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from checker.graph.rules import axes_attr, axis_attr

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from checker.graph.terms import Attr, Term

Number = float
Index = tuple[int, ...]

_STRETCHING: Final = ("linear", "llama3", "yarn")

_AMPLITUDE: Final = "attention_factor"

CLOSE: Final = 1e-9
"""The relative difference that is rounding."""


ROWS: Final = (0, 1, 3, 100)
"""Positions at which a table of angles is looked at."""


class OpenError(Exception):
    """A term is no number: it has a size, an input or an operator that is not known here."""


def rates(base: float, dim: int, scaling: Attr) -> list[float] | None:
    """The numbers that an `inv_freq` term stands for; None for a kind that is not known."""
    given: dict[Any, Any] = dict(scaling) if isinstance(scaling, tuple) else {}  # type: ignore[arg-type]
    plain = [base ** (-2 * i / dim) for i in range(dim // 2)]
    match given.get("rope_type"):
        case None:
            return plain
        case "linear":
            return [rate / given["factor"] for rate in plain]
        case "llama3":
            return [_llama3(rate, given) for rate in plain]
        case "yarn":
            return _yarn(plain, base, dim, given)
        case _:
            return None


def _llama3(rate: float, given: Mapping[str, Any]) -> float:
    """Long waves are stretched, short ones kept, those between are blended."""
    low, high = given["low_freq_factor"], given["high_freq_factor"]
    waves = given["original_max_position_embeddings"] * rate / (2 * math.pi)
    if waves > high:
        return rate
    if waves < low or low == high:
        return float(rate / given["factor"])
    share = (waves - low) / (high - low)
    return float((1 - share) * rate / given["factor"] + share * rate)


def _yarn(plain: list[float], base: float, dim: int, given: Mapping[str, Any]) -> list[float]:
    """A ramp between frequencies that are kept and those that are stretched."""

    def place(turns: float) -> float:
        context = given["original_max_position_embeddings"]
        return dim * math.log(context / (turns * 2 * math.pi)) / (2 * math.log(base))

    low, high = place(given["beta_fast"]), place(given["beta_slow"])
    if given.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dim - 1)
    width = high - low or 0.001
    found: list[float] = []
    for i, rate in enumerate(plain):
        kept = 1 - min(max((i - low) / width, 0.0), 1.0)
        kept *= given.get("extrapolation_factor", 1)
        found.append(rate / given["factor"] * (1 - kept) + rate * kept)
    return found


def canonical(scaling: Attr) -> Attr:
    """How scaling is spelt that may do nothing: by a factor of one, nothing is stretched."""
    if not isinstance(scaling, tuple):
        return scaling
    given: dict[Any, Any] = dict(scaling)  # type: ignore[arg-type]
    if given.get("rope_type") not in _STRETCHING or given.get("factor") != 1:
        return scaling
    amplitude = given.get(_AMPLITUDE, 1)
    return None if amplitude == 1 else ((_AMPLITUDE, amplitude), ("rope_type", "default"))


def multiplied(scaling: Attr, by: float) -> Attr:
    """Scaling by which what is turned is multiplied, too."""
    given: dict[Any, Any] = dict(scaling) if isinstance(scaling, tuple) else {}  # type: ignore[arg-type]
    given = {"rope_type": "default", **given}
    given[_AMPLITUDE] = given.get(_AMPLITUDE, 1) * by
    return tuple(sorted(given.items()))


def close(a: Sequence[float], b: Sequence[float], within: float = CLOSE) -> bool:
    """Whether two lists are the same numbers but for rounding."""
    return len(a) == len(b) and all(
        math.isclose(x, y, rel_tol=within, abs_tol=within * 1e-3) for x, y in zip(a, b, strict=True)
    )


def turned(frequencies: list[float], at: int, amplitude: float) -> list[float]:
    """A row of a table: the cosines of a position's angles, then their sines."""
    turns = [at * rate for rate in frequencies]
    return [amplitude * wave(turn) for wave in (math.cos, math.sin) for turn in turns]


def vector(term: Term) -> list[float] | None:
    """The numbers of a term of one axis; None if it depends on more than numbers."""
    if term.rank != 1 or not isinstance(term.shape[0], int):
        return None
    known: dict[tuple[str, Index], Number] = {}
    try:
        return [float(_at(term, (i,), known)) for i in range(term.shape[0])]
    except (OpenError, ArithmeticError, TypeError, ValueError):
        return None


def _at(term: Term, index: Index, known: dict[tuple[str, Index], Number]) -> Number:
    """One number of a term."""
    key = (term.key, index)
    if key not in known:
        known[key] = _computed(term, index, known)
    return known[key]


def _computed(term: Term, index: Index, known: dict[tuple[str, Index], Number]) -> Number:
    function = _LANES.get(term.op)
    if function is not None:
        return function(term, *(_at(arg, _aligned(arg, index), known) for arg in term.args))
    match term.op:
        case "const" | "full":
            return _plain(term.attr("value"))
        case "iota":
            return index[0]
        case "inv_freq":
            return _rate(term, index[0])
        case "expand":
            x = term.args[0]
            inner = [0] * x.rank
            for at, axis in zip(index, axes_attr(dict(term.attrs), x.rank), strict=True):
                if axis is not None:
                    inner[axis] = at
            return _at(x, tuple(inner), known)
        case "slice":
            start = _plain(term.attr("start"))
            return _at(term.args[0], _moved(term, index, start), known)
        case "concat":
            return _part(term, index, known)
        case _:
            raise OpenError(term.op)


def _rate(term: Term, at: int) -> float:
    base, dim = term.attr("base"), term.attr("dim")
    if not isinstance(base, (int, float)) or not isinstance(dim, int):
        raise OpenError("inv_freq")
    if term.attr("scaling") is None:
        return float(base ** (-2 * at / dim))
    found = rates(base, dim, term.attr("scaling"))
    if found is None:
        raise OpenError("inv_freq")
    return found[at]


def _aligned(arg: Term, index: Index) -> Index:
    """Where an operand's number lies: axes count from the last, those of size one are repeated."""
    inner = index[len(index) - arg.rank :]
    return tuple(0 if n == 1 else at for at, n in zip(inner, arg.shape, strict=True))


def _moved(term: Term, index: Index, start: float) -> Index:
    axis = axis_attr(term)
    inner = list(index)
    inner[axis] += int(start)
    return tuple(inner)


def _part(term: Term, index: Index, known: dict[tuple[str, Index], Number]) -> Number:
    """A number of a concatenation."""
    axis = axis_attr(term)
    inner = list(index)
    for part in term.args:
        size = part.shape[axis]
        if not isinstance(size, int):
            raise OpenError("concat")
        if inner[axis] < size:
            return _at(part, tuple(inner), known)
        inner[axis] -= size
    raise OpenError("concat")


def _plain(value: Attr) -> Number:
    if isinstance(value, (int, float)):
        return value
    raise OpenError("a size")


def _exponent(term: Term) -> Number:
    return _plain(term.attr("exponent"))


_LANES: Final[dict[str, Callable[..., Number]]] = {
    "add": lambda _, *xs: math.fsum(xs),
    "mul": lambda _, *xs: math.prod(xs),
    "pow": lambda t, x: x ** _exponent(t),
    "power": lambda _, x, y: x**y,
    "exp": lambda _, x: math.exp(x),
    "log": lambda _, x: math.log(x),
    "cos": lambda _, x: math.cos(x),
    "sin": lambda _, x: math.sin(x),
    "abs": lambda _, x: abs(x),
    "floor": lambda _, x: math.floor(x),
    "maximum": lambda _, x, y: max(x, y),
    "minimum": lambda _, x, y: min(x, y),
    "where": lambda _, c, x, y: x if c else y,
    "not_": lambda _, x: not x,
    "and_": lambda _, x, y: bool(x and y),
    "or_": lambda _, x, y: bool(x or y),
    "ge": lambda _, x, y: x >= y,
    "gt": lambda _, x, y: x > y,
    "le": lambda _, x, y: x <= y,
    "lt": lambda _, x, y: x < y,
    "eq": lambda _, x, y: x == y,
    "ne": lambda _, x, y: x != y,
}
