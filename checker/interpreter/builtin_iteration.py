"""Builtins over iterables: they take items one by one, as Python does."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from checker.graph import dims
from checker.graph.dims import Poly
from checker.interpreter.values import External, Instance, Unknown, Value

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Iterator as HostIterator

_MISSING = object()


def _lazily(m: Any, source: Value) -> HostIterator[Value]:
    from checker.interpreter.iteration import lazily

    return lazily(m, source)


def _iterator(items: Any) -> Value:
    from checker.interpreter.iteration import Iterator

    return Iterator(items)


def _zip(m: Any, *sources: Value, strict: Value = False) -> Value:
    iterators = [_lazily(m, source) for source in sources]
    exact = m.truth(strict, "zip(strict=…)")

    def rows() -> HostIterator[Value]:
        while iterators:
            row: list[Value] = []
            for index, iterator in enumerate(iterators):
                item = next(iterator, _MISSING)
                if item is _MISSING:
                    if exact and (
                        index or any(next(i, _MISSING) is not _MISSING for i in iterators[1:])
                    ):
                        raise m.exception("ValueError", "zip() arguments have different lengths")
                    return
                row.append(item)
            yield tuple(row)

    return _iterator(rows())


def _enumerate(m: Any, iterable: Value, start: Value = 0) -> Value:
    if not isinstance(start, int):
        return m.unknown("enumerate() from a start that is not known")
    from checker.interpreter.iteration import Counted

    return Counted(iterable, start, _lazily(m, iterable))


def _map(m: Any, function: Value, *sources: Value) -> Value:
    from checker.interpreter import calls

    iterators = [_lazily(m, source) for source in sources]
    return _iterator(
        calls.call(m, function, list(row), {}) for row in zip(*iterators, strict=False)
    )


def _filter(m: Any, function: Value, source: Value) -> Value:
    from checker.interpreter import calls

    def keep(item: Value) -> bool:
        found = item if function is None else calls.call(m, function, [item], {})
        return bool(m.truth(found, "filter"))

    items = _lazily(m, source)
    return _iterator(item for item in items if keep(item))


_MOST_OPEN = 8
"""Items that nothing decides, after which `any` and `all` of a constructor are left open."""


def _any_all(wanted: bool) -> Callable[..., Value]:
    def run(m: Any, iterable: Value) -> Value:
        from checker.interpreter.tensors import Tensor

        if isinstance(iterable, Tensor):
            return m.unknown("any() or all() of a tensor")
        if isinstance(iterable, Unknown):
            return iterable
        building = m.outline is not None and bool(m.outline.building)
        open_item: Unknown | None = None
        left_open = 0
        for item in _lazily(m, iterable):
            m.tick()
            if building and isinstance(item, Unknown):
                m.asked += 1
                open_item = open_item or item
                left_open += 1
                if left_open == _MOST_OPEN:
                    break  # a later one may decide it, but each may be a layer that is built for it
            elif m.truth(item, "any/all") is wanted:
                return wanted
        if open_item is None:
            return not wanted
        name = "any" if wanted else "all"
        return m.unknown(f"{name} of several ({open_item.reason})", harmless=True)

    return run


def _sum(m: Any, iterable: Value, start: Value = 0) -> Value:
    from checker.interpreter import operators

    if isinstance(iterable, Unknown):
        return iterable
    total = start
    for item in _lazily(m, iterable):
        m.tick()
        total = operators.binary(m, ast.Add, total, item)
    return total


def _extreme(name: str) -> Callable[..., Value]:
    def run(m: Any, *args: Value, key: Value = None, default: Value = _MISSING) -> Value:
        from checker.interpreter import calls, containers

        if not args:
            raise m.exception("TypeError", f"{name} expected at least 1 argument, got 0")
        if len(args) == 1 and isinstance(args[0], Unknown):
            return args[0]
        items = containers.iterate(m, args[0]) if len(args) == 1 else list(args)
        if not items:
            if default is not _MISSING:
                return default
            raise m.exception("ValueError", f"{name}() arg is an empty sequence")
        keys = [calls.call(m, key, [i], {}) if key is not None else i for i in items]
        for value in keys:
            if isinstance(value, Unknown):
                return value
        if any(isinstance(k, Poly) for k in keys):
            return (
                _symbolic_extreme(m, name, items)
                if keys == items
                else m.unknown(f"{name} by sizes")
            )
        return _pick(m, "gt" if name == "max" else "lt", items, keys)

    return run


def _pick(m: Any, order: str, items: list[Value], keys: list[Value]) -> Value:
    """The first item whose key comes before all others."""
    from checker.interpreter import equality
    from checker.interpreter.tensors import Tensor

    best = 0
    for index in range(1, len(items)):
        m.tick()
        before = equality.by_name(m, order, keys[index], keys[best])
        if isinstance(before, (Unknown, Tensor)):
            return m.unknown("the largest or smallest of values that are not known")
        if m.truth(before, "max/min"):
            best = index
    return items[best]


def _symbolic_extreme(m: Any, name: str, items: list[Value]) -> Value:
    best = items[0]
    if not all(isinstance(item, (int, Poly)) for item in items):
        return m.unknown(f"the {name} of symbolic sizes")
    for item in items[1:]:
        smaller = dims.at_most(item, best)
        if smaller is None:
            return m.unknown(f"the {name} of symbolic sizes")
        best = item if smaller == (name == "min") else best
    return best


def _sorted(m: Any, iterable: Value, **kwargs: Value) -> Value:
    from checker.interpreter import containers

    return containers.sorted_items(m, containers.iterate(m, iterable), kwargs)


def _reversed(m: Any, source: Value) -> Value:
    from checker.interpreter import attributes, calls, containers

    if isinstance(source, Instance) and source.cls.defines("__reversed__"):
        return calls.call(m, attributes.get(m, source, "__reversed__", special=True), [], {})
    if isinstance(source, (set, frozenset)):
        raise m.exception("TypeError", "'set' object is not reversible")
    return _iterator(reversed(containers.iterate(m, source)))


def _iter(m: Any, source: Value, *sentinel: Value) -> Value:
    from checker.interpreter.iteration import Iterator

    if sentinel:
        return _iterator(_until(m, source, sentinel[0]))
    return source if isinstance(source, Iterator) else Iterator(_lazily(m, source))


def _until(m: Any, function: Value, sentinel: Value) -> HostIterator[Value]:
    from checker.interpreter import calls, equality

    while True:
        m.tick()
        item = calls.call(m, function, [], {})
        if m.truth(equality.equal(m, item, sentinel), "iter()"):
            return
        yield item


def _next(m: Any, source: Value, *default: Value) -> Value:
    from checker.interpreter import attributes, calls, host_methods
    from checker.interpreter.iteration import Iterator
    from checker.interpreter.values import Raised

    try:
        if isinstance(source, Iterator):
            return host_methods.advance(m, source, lambda: source.step(m))
        if isinstance(source, Instance) and source.cls.defines("__next__"):
            return calls.call(m, attributes.get(m, source, "__next__", special=True), [], {})
    except Raised as raised:
        if default and raised.type_name == "StopIteration":
            return default[0]
        raise
    if isinstance(source, (Unknown, External)) or (
        isinstance(source, Instance) and source.cls.unknown_base
    ):
        return m.unknown("next() of a value that is not known")
    raise m.exception("TypeError", "object is not an iterator")


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "zip": _zip,
    "enumerate": _enumerate,
    "map": _map,
    "filter": _filter,
    "any": _any_all(True),
    "all": _any_all(False),
    "sum": _sum,
    "max": _extreme("max"),
    "min": _extreme("min"),
    "sorted": _sorted,
    "reversed": _reversed,
    "iter": _iter,
    "next": _next,
}
