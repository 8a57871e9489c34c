"""Functions of Python's own library that only compute with numbers: they are what they are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from checker.graph.dims import Poly
from checker.interpreter.hosting import host, is_plain, plain
from checker.interpreter.values import Native, Unknown, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from checker.interpreter.machine import Machine

_MATH = [
    "acos",
    "asin",
    "atan",
    "atan2",
    "ceil",
    "copysign",
    "cos",
    "degrees",
    "exp",
    "expm1",
    "fabs",
    "floor",
    "fmod",
    "frexp",
    "fsum",
    "gcd",
    "hypot",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "log",
    "log10",
    "log1p",
    "log2",
    "modf",
    "pow",
    "prod",
    "radians",
    "sin",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
]
_CONSTANTS = {f"math.{name}": getattr(math, name) for name in ("e", "inf", "nan", "pi", "tau")}
_FLAGS = [
    "A",
    "ASCII",
    "I",
    "IGNORECASE",
    "M",
    "MULTILINE",
    "S",
    "DOTALL",
    "X",
    "VERBOSE",
    "U",
    "UNICODE",
    "NOFLAG",
]


def _adapted(name: str, function: Callable[..., Any]) -> Native:
    def run(m: Machine, args: list[Value], kwargs: dict[str, Value]) -> Value:
        for arg in (*args, *kwargs.values()):
            if isinstance(arg, Unknown):
                return arg
        if name in ("ceil", "floor", "trunc") and args and isinstance(args[0], Poly):
            return args[0]
        if not is_plain(*args, *kwargs.values()):
            return m.unknown(f"math.{name}() of a value that is not plain")
        numbers = [plain(arg) for arg in args]
        if name == "prod" and numbers and isinstance(numbers[0], (list, tuple)):
            m.check_size(len(numbers[0]) * 100)
        return host(m, lambda: function(*numbers, **kwargs))

    return Native(f"math.{name}", run)


_FUNCTIONS = {f"math.{name}": _adapted(name, getattr(math, name)) for name in _MATH}


def find(path: str) -> Value:
    """The function or number of this name; None if there is none."""
    if path in _CONSTANTS:
        return _CONSTANTS[path]
    if path.startswith("re.") and path[3:] in _FLAGS:
        import re

        return int(getattr(re, path[3:], 0))
    return _FUNCTIONS.get(path)
