"""Methods of Python's own values: texts, numbers, lists, dictionaries, sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from checker.interpreter import containers, equality, havoc, texts
from checker.interpreter.hosting import applied, host, is_plain, plain, unwrapped
from checker.interpreter.iteration import Generator, Iterator, iterate, lazily
from checker.interpreter.numbered import Numbered
from checker.interpreter.values import (
    ConfigDict,
    External,
    Finished,
    Instance,
    Native,
    Raised,
    Unknown,
    Value,
    type_name,
)

if TYPE_CHECKING:
    from checker.interpreter.machine import Machine

MISSING = object()

_PURE: dict[type, frozenset[str]] = {
    str: frozenset(
        [
            "capitalize",
            "casefold",
            "center",
            "count",
            "encode",
            "endswith",
            "expandtabs",
            "find",
            "index",
            "isalnum",
            "isalpha",
            "isascii",
            "isdecimal",
            "isdigit",
            "isidentifier",
            "islower",
            "isnumeric",
            "isprintable",
            "isspace",
            "istitle",
            "isupper",
            "ljust",
            "lower",
            "lstrip",
            "maketrans",
            "partition",
            "removeprefix",
            "removesuffix",
            "replace",
            "rfind",
            "rindex",
            "rjust",
            "rpartition",
            "rsplit",
            "rstrip",
            "split",
            "splitlines",
            "startswith",
            "strip",
            "swapcase",
            "title",
            "translate",
            "upper",
            "zfill",
        ]
    ),
    bytes: frozenset(("decode", "hex", "startswith", "endswith")),
    frozenset: frozenset(
        ["copy", "difference", "intersection", "isdisjoint", "issubset", "issuperset", "union"]
    ),
    int: frozenset(("bit_length", "conjugate", "is_integer")),
    float: frozenset(("is_integer", "hex", "conjugate")),
    range: frozenset(("count", "index")),
    slice: frozenset(("indices",)),
}
_VALUES = frozenset(("start", "stop", "step", "real", "imag", "numerator", "denominator"))
_WIDE = frozenset(("center", "ljust", "rjust", "zfill", "expandtabs"))

_CHANGING = frozenset(
    (
        *("append", "extend", "insert", "pop", "remove", "sort", "clear", "reverse", "setdefault"),
        *("update", "popitem", "add", "discard"),
        *("intersection_update", "difference_update", "symmetric_difference_update"),
    )
)
"""Methods that change what they are called on."""

Method = Callable[..., Value]


def attribute(m: Machine, value: Value, name: str) -> Value:
    """An attribute of a plain value or iterator.

    `MISSING` if Python's type has none of that name.
    """
    if name == "__class__":
        from checker.interpreter import builtin_types

        return builtin_types.type_of(m, value)
    if isinstance(value, Iterator):
        return _of_iterator(m, value, name)
    if type(value) is Numbered:
        value = value.seen()
    if name in _VALUES and hasattr(value, name):
        return getattr(value, name)
    special = _SPECIAL.get(name)
    if special is not None and hasattr(value, name):
        return Native(
            name, lambda m, args, kwargs: applied(m, special, (m, value, *args), kwargs), pure=True
        )
    kind = next((k for k in type(value).__mro__ if k in _METHODS), None)
    method = _METHODS[kind].get(name) if kind is not None else None
    m.look(value)
    if method is not None:

        def call(m: Machine, args: list[Value], kwargs: dict[str, Value]) -> Value:
            if name in _CHANGING:
                m.changes(value)
            return applied(m, method, (m, value, *args), kwargs)

        return Native(name, call, numbered=method is _get, pure=True)
    if any(name in names for k, names in _PURE.items() if isinstance(value, k)):
        return Native(name, lambda m, args, kwargs: _pure(m, value, name, args, kwargs), pure=True)
    if hasattr(value, name):
        return m.unknown(f"{name} of a {type_name(value)} is not interpreted")
    return MISSING


def _pure(m: Machine, value: Any, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A method that only computes: handed to Python when all arguments are plain."""
    given = [iterate(m, a) if isinstance(a, Iterator) else unwrapped(a) for a in args]
    for arg in (*given, *kwargs.values()):
        if isinstance(arg, (Unknown, External)):
            return m.unknown(f"{name}() of a value that is not known")
    if not is_plain(*given, *kwargs.values()):
        if isinstance(value, str):
            raise m.exception("TypeError", f"{name}() argument of the wrong type")
        return m.unknown(f"{name}() of a value that is not plain")
    if name in _WIDE:
        m.check_size(max((g for g in given if isinstance(g, int)), default=0))
    if name == "replace" and len(given) > 1 and isinstance(given[1], str):
        m.check_size(len(value) + value.count(given[0]) * len(given[1]))
    ready = [plain(g) for g in given]
    return host(m, lambda: getattr(value, name)(*ready, **kwargs))


# -- iterators -------------------------------------------------------------------------------------


def _of_iterator(m: Machine, value: Iterator, name: str) -> Value:
    def step(m: Machine, args: list[Value], kwargs: dict[str, Value]) -> Value:
        return advance(m, value, lambda: value.step(m))

    if name == "__next__":
        return Native(name, step)
    if name == "__iter__":
        return Native(name, lambda m, args, kwargs: value)
    if not isinstance(value, Generator):
        return MISSING
    match name:
        case "send":
            return Native(name, lambda m, a, k: advance(m, value, lambda: value.resume(m, a[0])))
        case "throw":
            return Native(name, lambda m, a, k: advance(m, value, lambda: _throw(m, value, a)))
        case "close":
            return Native(name, lambda m, a, k: value.close(m))
        case _:
            return MISSING


def advance(m: Machine, value: Iterator, step: Callable[[], Value]) -> Value:
    """One step of an iterator; its end is StopIteration of the checked program."""
    try:
        return step()
    except Finished as finished:
        stop = m.exception("StopIteration", *(() if finished.value is None else (finished.value,)))
        stop.value.attrs["value"] = finished.value
        raise stop from None


def _throw(m: Machine, value: Generator, args: list[Value]) -> Value:
    from checker.interpreter import calls

    error = args[1] if len(args) > 1 and isinstance(args[1], Instance) else args[0]
    if not isinstance(error, Instance):
        error = calls.call(m, error, [], {})
    return value.resume(m, None, Raised(error, m.location()))


# -- texts -----------------------------------------------------------------------------------------


def _join(m: Machine, value: str, items: Value) -> Value:
    parts = [unwrapped(item) for item in iterate(m, items)]
    for part in parts:
        if isinstance(part, (Unknown, External)):
            return m.unknown("a text joined from a value that is not known")
    m.check_size(sum(len(p) + len(value) for p in parts if isinstance(p, str)))
    for index, part in enumerate(parts):
        if not isinstance(part, str):
            kind = type_name(part)
            text = f"sequence item {index}: expected str instance, {kind} found"
            raise m.exception("TypeError", text)
    return value.join(parts)


def _format(m: Machine, value: str, *args: Value, **kwargs: Value) -> Value:
    return texts.str_format(m, value, list(args), kwargs)


# -- lists -----------------------------------------------------------------------------------------


def _append(m: Machine, value: list[Value], item: Value) -> None:
    value.append(item)
    m.check_size(len(value))
    if m.outline is not None:
        m.outline.keep(m, item)


def _extend(m: Machine, value: list[Value], items: Value) -> None:
    if isinstance(items, Unknown):
        raise m.stuck(f"a list is extended by an unknown value ({items.reason})")
    if items is value:
        items = list(items)
    for item in lazily(m, items):
        value.append(item)
        m.check_size(len(value))


def _pop(m: Machine, value: list[Value], index: Value = -1) -> Value:
    return host(m, value.pop, _place(m, index))


def _insert(m: Machine, value: list[Value], index: Value, item: Value) -> Value:
    return host(m, value.insert, _place(m, index), item)


def _place(m: Machine, index: Value) -> Value:
    index = unwrapped(index)
    if not isinstance(index, (int, str, float, type(None))):
        raise m.stuck("an index of a list that is not known")
    return index


def _find(m: Machine, value: Any, item: Value) -> list[int]:
    """The places at which a sequence holds something equal to `item`."""
    found: list[int] = []
    for index, candidate in enumerate(value):
        same = equality.same(m, candidate, item)
        if isinstance(same, Unknown):
            raise m.stuck(f"a search for a value that may be there ({same.reason})")
        if same:
            found.append(index)
    return found


def _index(m: Machine, value: Any, item: Value, start: Value = 0, *rest: Value) -> Value:
    for index in _find(m, value, item):
        if isinstance(start, int) and index >= start and not rest:
            return index
    if rest:
        return m.unknown("index() within bounds")
    raise m.exception("ValueError", f"item is not in {type_name(value)}")


def _count(m: Machine, value: Any, item: Value) -> Value:
    return len(_find(m, value, item))


def _remove(m: Machine, value: list[Value], item: Value) -> None:
    found = _find(m, value, item)
    if not found:
        raise m.exception("ValueError", "list.remove(x): x not in list")
    del value[found[0]]


def _sort(m: Machine, value: list[Value], **kwargs: Value) -> None:
    value[:] = containers.sorted_items(m, list(value), kwargs)


# -- dictionaries ----------------------------------------------------------------------------------


def _get(m: Machine, value: dict[Value, Value], key: Value, default: Value = None) -> Value:
    if isinstance(key, Unknown):
        return havoc.one_of(key, [*value.values(), default])
    if isinstance(value, ConfigDict) and isinstance(key, str):
        m.read(value.place, key, key in value, default)
    if type(key) is Numbered:
        return key.loop.entry(value, key, default)
    return value.get(equality.as_key(m, key), default)


def _dict_pop(m: Machine, value: dict[Value, Value], key: Value, *default: Value) -> Value:
    if isinstance(value, ConfigDict) and isinstance(key, str):
        m.read(value.place, key, key in value, default[0] if default else None)
    stored = equality.as_key(m, key)
    if stored not in value and not default:
        raise m.exception("KeyError", key)
    return value.pop(stored, *default)


def _setdefault(m: Machine, value: dict[Value, Value], key: Value, default: Value = None) -> Value:
    if isinstance(value, ConfigDict) and isinstance(key, str):
        m.read(value.place, key, key in value, default)
    return value.setdefault(equality.as_key(m, key), default)


def _update(m: Machine, value: dict[Value, Value], *others: Value, **kwargs: Value) -> None:
    for other in others:
        if isinstance(other, Unknown):
            raise m.stuck(f"a dictionary is updated by an unknown value ({other.reason})")
        value.update(containers.make_dict(m, other, True, {}))
    value.update(kwargs)


# -- sets ------------------------------------------------------------------------------------------


def _combine(name: str) -> Method:
    """A set method over other iterables."""

    def run(m: Machine, value: set[Value], *others: Value) -> Value:
        for other in others:
            if isinstance(other, Unknown):
                raise m.stuck(f"a set is combined with an unknown value ({other.reason})")
        keys = [{equality.as_key(m, item) for item in iterate(m, other)} for other in others]
        return host(m, lambda: getattr(value, name)(*keys))

    return run


def _keyed(name: str) -> Method:
    """A set method of one element."""

    def run(m: Machine, value: set[Value], item: Value) -> Value:
        key = equality.as_key(m, item)
        return host(m, lambda: getattr(value, name)(key))

    return run


def _plainly(name: str) -> Method:
    """A method that moves items without looking at them."""

    def run(m: Machine, value: Any, *args: Value) -> Value:
        return host(m, lambda: getattr(value, name)(*args))

    return run


_SETS = [
    "difference",
    "difference_update",
    "intersection",
    "intersection_update",
    "isdisjoint",
    "issubset",
    "issuperset",
    "symmetric_difference",
    "union",
    "update",
]
_METHODS: dict[type, dict[str, Method]] = {
    str: {"join": _join, "format": _format},
    list: {
        "append": _append,
        "extend": _extend,
        "pop": _pop,
        "insert": _insert,
        "index": _index,
        "count": _count,
        "remove": _remove,
        "sort": _sort,
        "clear": _plainly("clear"),
        "copy": _plainly("copy"),
        "reverse": _plainly("reverse"),
    },
    tuple: {"index": _index, "count": _count},
    dict: {
        "get": _get,
        "pop": _dict_pop,
        "setdefault": _setdefault,
        "update": _update,
        **{
            name: _plainly(name) for name in ("clear", "copy", "items", "keys", "popitem", "values")
        },
    },
    set: {
        **{name: _combine(name) for name in _SETS},
        **{name: _keyed(name) for name in ("add", "discard", "remove")},
        **{name: _plainly(name) for name in ("clear", "copy", "pop")},
    },
}


def _iter(m: Machine, value: Value) -> Value:
    return Iterator(lazily(m, value))


def _binary(op: str) -> Method:
    import ast

    from checker.interpreter import operators

    kind: type[ast.operator] = {"add": ast.Add, "mul": ast.Mult, "sub": ast.Sub}[op]
    return lambda m, value, other: operators.binary(m, kind, value, other)


def _contains(m: Machine, value: Value, item: Value) -> Value:
    return equality.contains(m, value, item)


def _compare(name: str) -> Method:
    return lambda m, value, other: equality.by_name(m, name, value, other)


_SPECIAL: dict[str, Method] = {
    "__len__": containers.length,
    "__contains__": _contains,
    "__getitem__": containers.get_item,
    "__setitem__": containers.set_item,
    "__delitem__": containers.delete_item,
    "__iter__": _iter,
    "__eq__": _compare("eq"),
    "__ne__": _compare("ne"),
    "__lt__": _compare("lt"),
    "__add__": _binary("add"),
    "__sub__": _binary("sub"),
    "__mul__": _binary("mul"),
    "__str__": texts.text_of,
    "__repr__": texts.repr_of,
    "__hash__": lambda m, value: m.unknown("hash()"),
}

__all__ = ["MISSING", "advance", "attribute"]
