"""Numbers that are known for each iteration of a loop (`checker.interpreter.looping`)."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from checker.interpreter.values import Native, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from checker.interpreter.looping import Loop
    from checker.interpreter.machine import Machine

DIFFERS = "differs from layer to layer"
"""How the reason of what only a loop without short cuts can tell ends."""


class Numbered(int):
    """A number that is known for each iteration of a loop; `values` has one for each.

    It counts as such only during the iteration in which it was made.
    """

    loop: Loop
    values: tuple[int, ...]
    made: int

    def __new__(  # noqa: PYI034 - no subclass of it is made
        cls, loop: Loop, values: tuple[int, ...], at: int | None = None
    ) -> Numbered:
        made = super().__new__(cls, values[loop.at if at is None else at])
        made.loop, made.values = loop, values
        made.made = loop.at if at is None else at
        return made

    @property
    def is_live(self) -> bool:
        """Whether it is of the iteration that is running."""
        return self.loop.active and self.made == self.loop.at

    def seen(self) -> int:
        """The number itself, which no other iteration may have."""
        if self.loop.active:
            self.loop.pin()
        return int.__int__(self)

    def __bool__(self) -> bool:
        if self.is_live:
            return bool(self.loop.split([value != 0 for value in self.values]))
        return self.seen() != 0

    __hash__: Callable[[], int]


def _pinned(name: str) -> Callable[..., Any]:
    """A method that gives away the number."""
    method = getattr(int, name)

    def run(self: Numbered, *args: Any) -> Any:
        return method(self.seen(), *(int.__int__(a) if type(a) is Numbered else a for a in args))

    return run


def _each(self: Numbered, other: Any) -> list[int] | None:
    """The other operand in each iteration; None where that is not known."""
    if type(other) is Numbered:
        return list(other.values) if other.is_live and other.loop is self.loop else None
    if isinstance(other, int):
        return [int(other)] * len(self.values)
    return None


def _compared(name: str) -> Callable[[Numbered, Any], Any]:
    function = getattr(operator, name.strip("_"))

    def run(self: Numbered, other: Any) -> Any:
        others: list[Any] | None = _each(self, other) if self.is_live else None
        if others is None and self.is_live and type(other) is float:
            others = [other] * len(self.values)
        if others is not None:
            pairs = zip(self.values, others, strict=True)
            return self.loop.split([function(one, two) for one, two in pairs])
        return function(self.seen(), other.seen() if type(other) is Numbered else other)

    return run


def _computed(name: str, reflected: bool) -> Callable[[Numbered, Any], Any]:
    function = getattr(operator, name)

    def run(self: Numbered, other: Any) -> Any:
        others = _each(self, other) if self.is_live else None
        if others is not None:
            pairs = list(zip(self.values, others, strict=True))
            try:
                found = tuple(function(b, a) if reflected else function(a, b) for a, b in pairs)
            except (ArithmeticError, ValueError):
                found = ()
            if found and all(type(value) is int for value in found):
                return Numbered(self.loop, found)
        mine, its = self.seen(), other.seen() if type(other) is Numbered else other
        return function(its, mine) if reflected else function(mine, its)

    return run


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Numbered, f"__{_name}__", _compared(f"__{_name}__"))
for _name in ("add", "sub", "mul", "floordiv", "mod"):
    setattr(Numbered, f"__{_name}__", _computed(_name, False))
    setattr(Numbered, f"__r{_name}__", _computed(_name, True))
for _name in (
    *("hash", "str", "repr", "format", "int", "float", "index", "neg", "pos", "abs", "invert"),
    *("truediv", "rtruediv", "pow", "rpow", "divmod", "rdivmod", "lshift", "rlshift", "rshift"),
    *("rrshift", "and", "rand", "or", "ror", "xor", "rxor", "round", "trunc", "floor", "ceil"),
):
    setattr(Numbered, f"__{_name}__", _pinned(f"__{_name}__"))


def side_by_side(left: Any, right: Any) -> tuple[Any, Any]:
    """The operands of an operator, for Python to compute with.

    It does not ask the one on the right where another kind of number stands on the left.
    """
    if type(right) is not Numbered:
        return left, right
    if type(left) is bool:
        return int(left), right
    if isinstance(left, (float, complex)):
        return left, right.seen()
    return left, right


def contains(container: Any, item: Numbered) -> bool:
    """`item in container`, of keys."""
    if item.is_live:
        return bool(item.loop.split([value in container for value in item.values]))
    return item.seen() in container


def given_away(m: Machine, function: Value, args: list[Value], kwargs: dict[str, Value]) -> None:
    """A function that is none of the checked code's gets these: it sees the numbers themselves."""
    if m.loop is None or (isinstance(function, Native) and function.numbered):
        return
    if function is m.builtins["isinstance"]:  # which sees only that it is a number
        args[:] = [int.__int__(value) if type(value) is Numbered else value for value in args]
    for index, value in enumerate(args):
        if type(value) is Numbered:
            args[index] = value.seen()
    for name, value in kwargs.items():
        if type(value) is Numbered:
            kwargs[name] = value.seen()


__all__ = ["DIFFERS", "Numbered", "contains", "given_away", "side_by_side"]
