"""Letting Python itself compute with plain values, within bounds.

Only data whose whole content is plain (numbers, texts and containers of such) is handed to the
host: what an operation then raises is what the checked program would see. Anything else must be
dealt with before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from checker.errors import CheckerError
from checker.interpreter.values import Finished, Instance, Raised, Stuck, Value
from checker.syntax import UnparsableModule

if TYPE_CHECKING:
    from collections.abc import Callable

    from checker.interpreter.machine import Machine

SCALARS = (bool, int, float, str, bytes, type(None), range, slice, complex, type(...))
PLAIN = (*SCALARS, tuple, list, dict, set, frozenset)
_DEPTH = 40


PASSING = (Raised, Stuck, Finished, UnparsableModule, CheckerError)
"""What one part of the interpreter tells another; never an error of the host."""


class NotPlain(Exception):
    """A value holds something that only the interpreter understands."""


def unwrapped(value: Value) -> Value:
    """The builtin that an instance of a subclass of a builtin wraps; other values as they are."""
    return value.data if isinstance(value, Instance) and value.data is not None else value


def plain(value: Value, depth: int = 0, numbers: bool = True) -> Any:
    """`value` with wrapped builtins unwrapped all the way down.

    `numbers`: what is more than a number becomes the number that it is.

    Raises:
        NotPlain: something in it is no host data.
    """
    if isinstance(value, Instance):
        value = value.data if value.data is not None else value
    if isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        return slice(*(plain(part, depth, numbers) for part in parts))
    if isinstance(value, SCALARS):
        if numbers and isinstance(value, int) and type(value) not in (int, bool):
            return int(value)
        return value
    if depth > _DEPTH or not isinstance(value, (dict, list, tuple, set, frozenset)):
        raise NotPlain
    if isinstance(value, dict):
        pairs = value.items()
        return {plain(k, depth + 1, numbers): plain(v, depth + 1, numbers) for k, v in pairs}
    items = [plain(item, depth + 1, numbers) for item in value]
    if isinstance(value, list):
        return items
    kind = next(kind for kind in (tuple, set, frozenset) if isinstance(value, kind))
    return kind(items)


def is_plain(*values: Value) -> bool:
    """Whether all of the values are host data all the way down."""
    try:
        for value in values:
            plain(value, numbers=False)
    except (NotPlain, TypeError):
        return False
    return True


def host(m: Machine, function: Callable[..., Any], *args: Any) -> Value:
    """Runs a host operation on plain values; what it raises is raised in the checked program."""
    try:
        return function(*args)
    except PASSING:
        raise
    except (MemoryError, RecursionError):
        raise m.stuck("a value too large to be computed") from None
    except StopIteration:
        raise m.exception("StopIteration") from None
    except Exception as error:  # noqa: BLE001 - whatever Python raises is what the program sees
        raise m.exception(type(error).__name__, *error.args) from None


def check_growth(m: Machine, name: str, left: Any, right: Any) -> None:
    """Refuses host operations whose result would be enormous."""
    if isinstance(left, int) and isinstance(right, int):
        _check_digits(m, name, int.__int__(left), int.__int__(right))
    elif name == "mul":
        for sequence, times in ((left, right), (right, left)):
            if isinstance(sequence, (str, bytes, list, tuple)) and isinstance(times, int):
                m.check_size(len(sequence) * times)
    elif name == "add" and hasattr(left, "__len__") and hasattr(right, "__len__"):
        m.check_size(len(left) + len(right))
    elif name == "mod" and isinstance(left, str):
        check_format(m, left)


def _check_digits(m: Machine, name: str, left: int, right: int) -> None:
    bits = {
        "mul": left.bit_length() + right.bit_length(),
        "pow": left.bit_length() * right if right > 0 and abs(left) > 1 else 0,
        "lshift": left.bit_length() + right if left else 0,
    }.get(name, 0)
    if bits > m.limits.digits:
        raise m.stuck("a number too large to be computed")


def check_format(m: Machine, text: str) -> None:
    """Refuses format strings with enormous widths."""
    digits = 0
    for character in text:
        digits = digits + 1 if character.isdigit() else 0
        if digits > 4:
            raise m.stuck("a format too wide to be computed")


def applied(
    m: Machine, function: Callable[..., Value], args: tuple[Any, ...], kwargs: dict[str, Value]
) -> Value:
    """Calls one of our functions with the checked program's arguments.

    Arguments that do not fit its parameters are a TypeError of the checked program; whatever goes
    wrong inside it is not.
    """
    try:
        return function(*args, **kwargs)
    except TypeError as error:
        trace = error.__traceback__
        if trace is None or trace.tb_next is not None:
            raise
        raise m.exception("TypeError", str(error)) from None
