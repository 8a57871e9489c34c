"""Names of which it is noted which are looked at or set: of a function, or attributes of an object.

All code that runs in between sees them through such a dictionary, so that what is reached by no
name that was looked at has not been reached at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from checker.interpreter.values import Instance, Scope, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from checker.interpreter.machine import Machine

_Names = dict[str, Value]
STORE = "store"
"""What the keys begin with under which a machine holds the stores of summaries."""


class Shown(_Names):
    """The attributes of an object whose `__dict__` was asked for: others hold the dictionary."""

    __slots__ = ()


class Noted(_Names):
    """Names, those of them that were `seen`, and whether all were (`whole`).

    `raw` is the dictionary that they are put back into; `is_shown`: others hold this one.
    """

    __slots__ = ("is_shown", "raw", "seen", "whole")

    def __init__(self, raw: _Names) -> None:
        super().__init__(raw)
        self.raw = raw
        self.is_shown = False
        self.seen: set[str] = set()
        self.whole = True  # until something begins, nothing is known

    def begin(self) -> None:
        """Nothing was looked at yet."""
        self.seen = set()
        self.whole = False

    def looked(self) -> set[str] | None:
        """The names that were looked at; None where all were."""
        return None if self.whole else self.seen

    def __contains__(self, name: object) -> bool:
        self.seen.add(name)  # type: ignore[arg-type]
        return dict.__contains__(self, name)

    def __getitem__(self, name: str) -> Value:
        self.seen.add(name)
        return dict.__getitem__(self, name)

    def __setitem__(self, name: str, value: Value) -> None:
        self.seen.add(name)
        dict.__setitem__(self, name, value)

    def get(self, name: str, default: Value = None) -> Value:
        """The value of a name."""
        self.seen.add(name)
        return dict.get(self, name, default)


def _of_all(name: str) -> Callable[..., Any]:
    """A method that may tell of any name."""
    method = getattr(dict, name)

    def run(self: Noted, *args: Any, **kwargs: Any) -> Any:
        self.whole = True
        return method(self, *args, **kwargs)

    return run


for _name in (
    *("__delitem__", "__eq__", "__ge__", "__gt__", "__ior__", "__iter__", "__le__", "__len__"),
    *("__lt__", "__ne__", "__or__", "__repr__", "__reversed__", "__ror__", "clear", "copy"),
    *("items", "keys", "pop", "popitem", "setdefault", "update", "values"),
):
    setattr(Noted, _name, _of_all(_name))


def items_of(names: _Names) -> Any:
    """The items of a dictionary, which are not looked at by it."""
    return dict.items(names)


class Looks:
    """The dictionaries that are watched while a loop runs."""

    def __init__(self) -> None:
        self.noted: list[tuple[Noted, Instance | Scope]] = []

    def watch_scope(self, scope: Scope) -> None:
        """Watches the names of a function that is running."""
        if type(scope.names) is dict:
            noted = scope.names = Noted(scope.names)
            self.noted.append((noted, scope))

    def watch(self, m: Machine, instance: Instance) -> None:
        """Watches the attributes of an object, if no other run has it as well."""
        if type(instance.attrs) is dict and not _is_shared(m, instance):
            noted = instance.attrs = Noted(instance.attrs)
            self.noted.append((noted, instance))

    def begin(self) -> None:
        """Nothing was looked at yet."""
        for noted, _ in self.noted:
            noted.begin()

    def looked(self) -> dict[int, set[str] | None]:
        """What was looked at, by the dictionaries' identities; None where all names were."""
        return {id(noted): noted.looked() for noted, _ in self.noted}

    def end(self) -> None:
        """Everything is as before."""
        for noted, holder in self.noted:
            if noted.is_shown:
                continue
            raw = noted.raw
            raw.clear()
            raw.update(dict.items(noted))
            if isinstance(holder, Scope):
                holder.names = raw
            elif holder.attrs is noted:
                holder.attrs = raw
        self.noted = []


def _is_shared(m: Machine, instance: Instance) -> bool:
    """Whether runs share an object, whose attributes they put back where they lie."""
    return m.settled is not None and m.settled.shares(instance)


def show(m: Machine, instance: Instance) -> _Names:
    """The attributes of an object, to be held by others."""
    if type(instance.attrs) is dict and not _is_shared(m, instance):
        instance.attrs = Shown(instance.attrs)
    elif isinstance(instance.attrs, Noted):
        instance.attrs.is_shown = instance.attrs.whole = True
    return instance.attrs


__all__ = ["STORE", "Looks", "Noted", "items_of", "show"]
