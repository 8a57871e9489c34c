"""Names with a meaning built in.

Functions of the tensor language, and the `op` namespace of summaries.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from checker.interpreter import havoc
from checker.interpreter.hosting import PASSING
from checker.interpreter.summary_operators import OPERATORS
from checker.interpreter.torch_functions import FUNCTIONS
from checker.interpreter.values import ClassValue, Instance, Native, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from checker.interpreter.machine import Machine


def find(path: str) -> Value:
    """A function of the tensor language, or None."""
    function = FUNCTIONS.get(path)
    if function is None and path.startswith("torch.nn.F."):
        function = FUNCTIONS.get(path.replace("torch.nn.F", "torch.nn.functional", 1))
    return native(path, function) if function is not None else None


def operators(m: Machine) -> Instance:
    """The `op` namespace of summaries."""
    cls = ClassValue("op", None, ())
    cls.mro = (cls,)
    return Instance(cls, dict(_operators()))


_KINDS = frozenset(
    ("is_unknown", "is_tensor", "is_parameter", "is_buffer", "is_function", "is_class")
)
"""Operators that see of a value what kind of value it is, and no more."""
_PURE = _KINDS | {
    *("new", "dataclass_fields", "fields", "repr", "partial", "cached_property"),
    *("setting", "store", "unknown"),
}
"""Those that give the same for the same, or that it is noted what they look at."""


@functools.cache
def _operators() -> dict[str, Native]:
    return {
        name: native(f"op.{name}", f, numbered=name in _KINDS, pure=name in _PURE)
        for name, f in OPERATORS.items()
    }


def native(
    name: str, function: Callable[..., Value], *, numbered: bool = False, pure: bool = False
) -> Native:
    """One of our functions as a value of the checked program.

    What it cannot deal with makes its result unknown, and what it was given: the checked program is
    not to blame.
    """

    def run(m: Machine, args: list[Value], kwargs: dict[str, Value]) -> Value:
        try:
            return function(m, *args, **kwargs)
        except PASSING:
            raise
        except Exception as error:
            if m.debug:
                raise
            unknown = m.unknown(f"{name} was given arguments it does not take ({error})")
            havoc.forget(m, unknown, [*args, *kwargs.values()])
            return unknown

    return Native(name, run, numbered, pure)
