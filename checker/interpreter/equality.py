"""Equality, membership, order, identity, and keys of dictionaries and sets."""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Any

from checker.graph.dims import Poly
from checker.interpreter import conditions, numbered, sizes
from checker.interpreter.broadcasting import elementwise
from checker.interpreter.hosting import SCALARS, host, is_plain, plain, unwrapped
from checker.interpreter.iteration import VIEWS, lazily
from checker.interpreter.numbered import Numbered
from checker.interpreter.tensors import Tensor
from checker.interpreter.values import (
    BoundMethod,
    ConfigDict,
    External,
    Instance,
    Unknown,
    Value,
    type_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from checker.interpreter.machine import Machine

Verdict = bool | Unknown

_ORDERS: dict[str, Callable[[Any, Any], Any]] = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
_NAMES: dict[type[ast.cmpop], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}
_REFLECTED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}
NOT_IMPLEMENTED = External("builtins.NotImplemented")
_DEPTH = 60
_SIMPLE = frozenset((bool, int, float, str, bytes, type(None)))
"""Values that Python itself compares: what is asked most often."""


def compare(m: Machine, op: ast.cmpop, left: Value, right: Value) -> Value:
    """One comparison."""
    if m.outline is not None and (isinstance(left, Unknown) or isinstance(right, Unknown)):
        asked = conditions.compared(op, left, right)
        if asked is not None:
            return asked
    kind = type(op)
    if kind in _NAMES:
        return by_name(m, _NAMES[kind], left, right)
    if kind is ast.Is or kind is ast.IsNot:
        same = identical(m, left, right)
        return same if isinstance(same, Unknown) else same != (kind is ast.IsNot)
    found = contains(m, right, left)
    return found if isinstance(found, Unknown) else found != (kind is ast.NotIn)


def by_name(m: Machine, name: str, left: Value, right: Value) -> Value:
    """`left < right` and its like, by the name of the special method."""
    if name in {"eq", "ne"} and type(left) in _SIMPLE and type(right) in _SIMPLE:
        return (left == right) == (name == "eq")
    if type(right) is Numbered and isinstance(left, (bool, float, complex)):
        left, right, name = right, left, _REFLECTED[name]  # which Python does not do by itself
    for side in (left, right):
        if isinstance(side, Unknown):
            return side
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        return _tensors(m, name, left, right)
    for side, other, method in (
        (left, right, f"__{name}__"),
        (right, left, f"__{_REFLECTED[name]}__"),
    ):
        made = _special(m, side, method, other)
        if made is not NOT_IMPLEMENTED:
            return made
    if name in ("eq", "ne"):
        verdict = equal(m, left, right)
        return verdict if isinstance(verdict, Unknown) else verdict == (name == "eq")
    return _ordered(m, name, unwrapped(left), unwrapped(right))


def _special(m: Machine, side: Value, method: str, other: Value) -> Value:
    """What an instance's own comparison gives; NotImplemented when it has none."""
    if not isinstance(side, Instance):
        return NOT_IMPLEMENTED
    from checker.interpreter import attributes, calls

    if side.cls.defines(method):
        made = calls.call(m, attributes.get(m, side, method, special=True), [other], {})
        return NOT_IMPLEMENTED if made == NOT_IMPLEMENTED else made
    if method == "__ne__" and side.cls.defines("__eq__"):
        made = _special(m, side, "__eq__", other)
        if made is NOT_IMPLEMENTED or isinstance(made, Unknown):
            return made
        return not m.truth(made, "!=")
    if side.data is None and (side.cls.unknown_base or side.tainted):
        return m.unknown(f"a comparison with an object of {side.cls.name}")
    return NOT_IMPLEMENTED


def _tensors(m: Machine, name: str, left: Value, right: Value) -> Value:
    if any(side is None or isinstance(side, str) for side in (left, right)):
        if name in ("eq", "ne"):
            return name == "ne"
        raise m.exception("TypeError", f"'{name}' not supported between these types")
    return elementwise(m, name, [left, right])


def _ordered(m: Machine, name: str, left: Value, right: Value) -> Value:
    sizes_only = all(isinstance(side, (int, Poly)) for side in (left, right))
    if sizes_only and not (isinstance(left, int) and isinstance(right, int)):
        decided = sizes.decide(name, left, right)
        return (
            decided
            if decided is not None
            else m.unknown(f"whether {left} {name} {right}", harmless=True)
        )
    if isinstance(left, int) and isinstance(right, int):
        return host(m, _ORDERS[name], left, right)
    if is_plain(left, right):
        return host(m, _ORDERS[name], plain(left), plain(right))
    if isinstance(left, (list, tuple)) and type(left) is type(right):
        return _lexical(m, name, left, right)
    if any(isinstance(side, (External, Poly)) for side in (left, right)):
        return m.unknown("a comparison with something that is not described")
    kinds = f"'{type_name(left)}' and '{type_name(right)}'"
    raise m.exception("TypeError", f"'{name}' not supported between instances of {kinds}")


def _lexical(m: Machine, name: str, left: Any, right: Any) -> Value:
    """Order of two sequences: that of the first items that differ."""
    for one, two in zip(left, right, strict=False):
        found = same(m, one, two)
        if isinstance(found, Unknown):
            return found
        if not found:
            return by_name(m, name, one, two)
    return _ORDERS[name](len(left), len(right))


def equal(m: Machine, left: Value, right: Value, depth: int = 0) -> Verdict:
    """`left == right` as one truth."""
    if type(left) in _SIMPLE and type(right) in _SIMPLE:
        return bool(left == right)
    if type(right) is Numbered:
        left, right = right, left  # it is asked first
    for side in (left, right):
        if isinstance(side, Unknown):
            return side
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        if left is None or right is None or isinstance(left, str) or isinstance(right, str):
            return False
        return m.unknown("equality of tensors", harmless=True)
    for side, other in ((left, right), (right, left)):
        made = _special(m, side, "__eq__", other)
        if made is not NOT_IMPLEMENTED:
            return made if isinstance(made, Unknown) else m.truth(made, "==")
    if isinstance(left, External) or isinstance(right, External):
        return _external(m, left, right)
    left, right = unwrapped(left), unwrapped(right)
    if isinstance(left, SCALARS) and isinstance(right, SCALARS):
        return bool(left == right)
    if isinstance(left, Poly) or isinstance(right, Poly):
        if not all(isinstance(s, (int, Poly)) for s in (left, right)):
            return False
        decided = sizes.decide("eq", left, right)
        return (
            decided
            if decided is not None
            else m.unknown(f"whether {left} equals {right}", harmless=True)
        )
    if depth > _DEPTH:
        raise m.stuck("an equality of values that nest too deeply")
    return _containers(m, left, right, depth + 1)


def _external(m: Machine, left: Value, right: Value) -> Verdict:
    """Of two undescribed things only names are known; element types are known to differ."""
    if isinstance(left, External) and isinstance(right, External):
        if left.path == right.path:
            return True
        if left.is_object and right.is_object:
            return False
    external = left if isinstance(left, External) else right
    if external.is_object and not (isinstance(left, External) and isinstance(right, External)):
        return False
    return m.unknown(f"{external.path} is not described")


def _containers(m: Machine, left: Value, right: Value, depth: int) -> Verdict:
    m.look(left)
    m.look(right)
    if isinstance(left, (list, tuple)):
        if not isinstance(right, list if isinstance(left, list) else tuple):
            return False
        if len(left) != len(right):
            return False
        return _all(m, zip(left, right, strict=True), depth)
    if isinstance(left, dict):
        if not isinstance(right, dict) or left.keys() != right.keys():
            return False
        return _all(m, [(left[key], right[key]) for key in left], depth)
    if isinstance(left, (set, frozenset, *VIEWS)) and isinstance(right, (set, frozenset, *VIEWS)):
        return bool(left == right)
    if isinstance(left, BoundMethod):
        _recognise(m, left.instance)
        return bool(left == right)
    _recognise(m, left, right)
    return left is right


def _recognise(m: Machine, *values: Value) -> None:
    """It comes to which objects these are: of layers each iteration of a loop has another."""
    if m.outline is not None:
        for value in values:
            if type(value) is Instance:
                m.outline.recognise(m, value)


def same(m: Machine, one: Value, two: Value, depth: int = 0) -> Verdict:
    """Whether a container takes one value for the other: an object is equal to itself."""
    if one is two:
        _recognise(m, one)
        return True
    return equal(m, one, two, depth)


def _all(m: Machine, pairs: Any, depth: int) -> Verdict:
    verdict: Verdict = True
    for one, two in pairs:
        m.tick()
        both = equal if isinstance(one, Unknown) else same
        found = both(m, one, two, depth)
        if found is False:
            return False
        if isinstance(found, Unknown):
            verdict = found
    return verdict


def identical(m: Machine, left: Value, right: Value) -> Verdict:
    """`left is right`."""
    if right is None and not isinstance(left, (Unknown, External)):
        return left is None
    for side, other in ((left, right), (right, left)):
        if isinstance(side, Unknown):
            known = other is None or other is ... or isinstance(other, Instance)
            return False if side.reason.startswith("fact: ") and known else side
    if isinstance(left, External) or isinstance(right, External):
        return _external(m, left, right)
    if type(left) is Instance and type(right) is Instance:
        _recognise(m, left, right)
    if left is right:
        return True
    if isinstance(left, Numbered) or isinstance(right, Numbered):
        numbers = all(type(side) in (int, Numbered) for side in (left, right))
        return numbers and bool(left == right)
    scalars = (int, str, bool, float, Poly)
    return isinstance(left, scalars) and type(left) is type(right) and bool(left == right)


def contains(m: Machine, container: Value, item: Value) -> Verdict:
    """`item in container`."""
    kind = type(container)
    if (kind is list or kind is tuple) and not isinstance(item, Unknown):
        m.look(container)
        return _among(m, container, item)
    if isinstance(container, Unknown):
        return container
    if isinstance(container, Instance) and container.cls.defines("__contains__"):
        from checker.interpreter import attributes, calls

        method = attributes.get(m, container, "__contains__", special=True)
        found = calls.call(m, method, [item], {})
        return found if isinstance(found, Unknown) else m.truth(found, "in")
    if isinstance(item, Unknown):
        return item
    if isinstance(container, Instance):
        if container.data is not None and not container.cls.defines("__iter__"):
            return contains(m, container.data, item)
        if container.tainted is not None:
            return container.tainted
    if isinstance(container, ConfigDict) and isinstance(item, str):
        m.read(container.place, item, item in container)
    if isinstance(container, (str, bytes)):
        return _in_text(m, container, unwrapped(item))
    m.look(container)
    if isinstance(container, (dict, set, frozenset, VIEWS[0])):
        if type(item) is Numbered:
            return numbered.contains(container, item)
        return as_key(m, item) in container
    if isinstance(container, External):
        return m.unknown(f"{container.path} is not described")
    if isinstance(container, Tensor) and not isinstance(item, (Tensor, int, float, Poly)):
        raise m.exception("RuntimeError", "Tensor.__contains__ only supports Tensor or scalar")
    return _among(m, container, item)


def _in_text(m: Machine, container: str | bytes, item: Value) -> Verdict:
    if not is_plain(item):
        return m.unknown("membership of a value that is not plain")
    return bool(host(m, operator.contains, container, item))


def _among(m: Machine, container: Value, item: Value) -> Verdict:
    unknown: Unknown | None = None
    for candidate in lazily(m, container):
        m.tick()
        found = same(m, candidate, item)
        if found is True:
            return True
        if isinstance(found, Unknown):
            unknown = found
    return unknown if unknown is not None else False


def as_key(m: Machine, key: Value) -> Value:
    """`key` as dictionaries and sets store it.

    Equal keys of the checked program are equal for the host.

    Raises:
        Raised: TypeError of the checked program for what cannot be hashed.
    """
    if isinstance(key, SCALARS) and not isinstance(key, slice):
        return key.seen() if type(key) is Numbered else key
    if isinstance(key, Unknown):
        raise m.stuck(f"a key that is unknown ({key.reason})")
    if isinstance(key, (list, dict, set, slice)):
        raise m.exception("TypeError", f"unhashable type: '{type_name(key)}'")
    if isinstance(key, tuple):
        return tuple(as_key(m, item) for item in key)
    if isinstance(key, Instance):
        return _instance_key(m, key)
    if isinstance(key, BoundMethod):
        _recognise(m, key.instance)
    return key


def _instance_key(m: Machine, key: Instance) -> Value:
    """Of instances that their class calls equal, one stands for all."""
    _recognise(m, key)
    if not key.cls.defines("__eq__"):
        if isinstance(key.data, (list, dict, set)):
            raise m.exception("TypeError", f"unhashable type: '{key.cls.name}'")
        return key
    hashed = key.cls.lookup("__hash__")
    if hashed is not None and hashed[0] is None:
        raise m.exception("TypeError", f"unhashable type: '{key.cls.name}'")
    known = m.keys.setdefault(key.cls, [])
    for other in known:
        m.tick()
        found = same(m, other, key)
        if isinstance(found, Unknown):
            raise m.stuck(f"a key whose equality is unknown ({found.reason})")
        if found:
            return other
    known.append(key)
    return key
