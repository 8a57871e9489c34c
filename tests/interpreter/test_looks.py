"""Names of which it is noted which are looked at."""

from __future__ import annotations

import copy
import json
import operator
from typing import TYPE_CHECKING, Any

import pytest

from checker.interpreter import imports
from checker.interpreter.looks import Looks, Noted, items_of, show
from checker.interpreter.settled import Definitions
from checker.interpreter.values import ClassValue, Instance, Scope
from tests.interpreter.support import machine

if TYPE_CHECKING:
    from collections.abc import Callable


def _noted() -> Noted:
    noted = Noted({"a": 1, "b": 2})
    noted.begin()
    return noted


def _given(**names: int) -> dict[str, int]:
    return names


def _matched(names: dict[str, int]) -> bool:
    match names:
        case {"a": 1, **rest}:
            return bool(rest)
    return False


ONE: dict[str, Callable[[Any], object]] = {
    "in": lambda names: "a" in names,
    "an item": lambda names: names["a"],
    "get": lambda names: names.get("a"),
    "set": lambda names: names.__setitem__("a", 2),
}
EVERY: dict[str, Callable[[Any], object]] = {
    "iteration": lambda names: [*names],
    "length": len,
    "truth": bool,
    "a dictionary": dict,
    "unpacking": lambda names: {**names},
    "keywords": lambda names: _given(**names),
    "a union": lambda names: names | {},
    "a union from the right": lambda names: {} | names,
    "an update by it": {"c": 3}.update,
    "equality": lambda names: names == {},
    "equality from the right": lambda names: operator.eq({}, names),
    "inequality": lambda names: names != {},
    "items": lambda names: names.items(),
    "keys": lambda names: names.keys(),
    "values": lambda names: names.values(),
    "a copy": lambda names: names.copy(),
    "a shallow copy": copy.copy,
    "a deep copy": copy.deepcopy,
    "backwards": lambda names: [*reversed(names)],
    "text": repr,
    "formatted": lambda names: f"{names}",
    "pop": lambda names: names.pop("a"),
    "any": lambda names: names.popitem(),
    "deletion": lambda names: names.__delitem__("a"),
    "clear": Noted.clear,
    "a default": lambda names: names.setdefault("c", 1),
    "an update": lambda names: names.update(c=1),
    "an update in place": lambda names: operator.ior(names, {"c": 1}),
    "a list": list,
    "sorted": sorted,
    "a set": set,
    "json": json.dumps,
    "a pattern": _matched,
}


@pytest.mark.parametrize("way", ONE)
def test_a_name_that_is_looked_at_is_noted(way: str) -> None:
    noted = _noted()
    ONE[way](noted)
    assert noted.looked() == {"a"}


@pytest.mark.parametrize("way", EVERY)
def test_what_tells_of_all_names_is_noted_as_such(way: str) -> None:
    """Whatever Python does with a dictionary beside single names, from C as well."""
    noted = _noted()
    EVERY[way](noted)
    assert noted.looked() is None


def test_looking_from_within_is_not_noted() -> None:
    noted = _noted()
    assert [*items_of(noted)] == [("a", 1), ("b", 2)]
    assert noted.looked() == set()


def test_no_method_of_dictionaries_is_forgotten() -> None:
    """Each is noted, or says nothing of what the dictionary holds."""
    silent = {"__class_getitem__", "__getattribute__", "__init__", "__new__", "__sizeof__"}
    plain = {*vars(dict)} - {*vars(Noted)} - silent - {"__doc__", "__hash__", "fromkeys"}
    assert plain == set()


def test_what_was_watched_is_put_back_with_what_was_set() -> None:
    m = machine({})
    names: dict[str, Any] = {"a": 1}
    scope, thing = Scope(names), Instance(ClassValue("Thing", None, ()), {"b": 2})
    attrs = thing.attrs
    looks = Looks()
    looks.watch_scope(scope)
    looks.watch(m, thing)
    scope.names["c"], thing.attrs["d"] = 3, 4
    looks.end()
    assert scope.names is names
    assert thing.attrs is attrs
    assert (names, attrs) == ({"a": 1, "c": 3}, {"b": 2, "d": 4})


def test_what_runs_share_is_not_watched() -> None:
    """Its attributes are put back where they lie when another run begins."""
    source = "class Thing:\n    def __init__(self):\n        self.a = 1\nTHING = Thing()\n"
    definitions = Definitions()
    m = machine({"main.py": source}, settled=definitions)
    thing = imports.import_from(m, "main", "THING")
    attrs = thing.attrs
    assert definitions.shares(thing)
    looks = Looks()
    looks.watch(m, thing)
    assert looks.noted == []
    assert show(m, thing) is attrs
    m.changes(attrs)
    attrs["a"] = 2
    again = machine({"main.py": source}, settled=definitions)
    again.workspace = m.workspace
    assert imports.import_from(again, "main", "THING") is thing
    assert thing.attrs == {"a": 1}


def test_a_dictionary_that_others_hold_stays() -> None:
    """Before it is watched, and while it is."""
    m = machine({})
    early, late = (Instance(ClassValue("Thing", None, ()), {"a": 1}) for _ in range(2))
    looks = Looks()
    held = [show(m, early)]
    looks.watch(m, early)
    looks.watch(m, late)
    held.append(show(m, late))
    looks.end()
    late.attrs["a"] = early.attrs["a"] = 2
    assert held == [{"a": 2}, {"a": 2}]
