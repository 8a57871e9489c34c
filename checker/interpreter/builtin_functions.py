"""Python's builtin functions, as the checked code sees them."""

from __future__ import annotations

import ast
import builtins as host_builtins
from typing import TYPE_CHECKING, Any

from checker.graph import dims
from checker.graph.dims import Poly
from checker.interpreter import builtin_types
from checker.interpreter.values import (
    BoundMethod,
    ClassMethod,
    ClassValue,
    External,
    Function,
    Instance,
    ModuleValue,
    Native,
    Partial,
    Property,
    StaticMethod,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Iterator as HostIterator

_MISSING = object()


def build(m: Any) -> dict[str, Value]:
    """The builtin namespace of one machine.

    What is not interpreted is unknown when it is called.
    """
    names: dict[str, Value] = dict(builtin_types.build())
    for name in vars(host_builtins):
        if not name.startswith("__") and name not in names:
            names[name] = Native(name, _undescribed(name))
    for name, function in _FUNCTIONS.items():
        names[name] = Native(name, _adapted(function))
    names["NotImplemented"] = External("builtins.NotImplemented")
    names["Ellipsis"] = ...
    names["None"], names["True"], names["False"] = None, True, False
    names["__debug__"] = True
    names["__import__"] = Native("__import__", _undescribed("__import__"))
    return names


def _adapted(function: Callable[..., Value]) -> Callable[..., Value]:
    """A builtin as values call it.

    Arguments that do not fit are the checked program's TypeError.
    """

    def run(m: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        from checker.interpreter.hosting import applied

        return applied(m, function, (m, *args), kwargs)

    return run


def _undescribed(name: str) -> Callable[..., Value]:
    def run(m: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        from checker.interpreter import calls

        return calls.call_undescribed(m, name, args, kwargs)

    return run


# -- attributes ------------------------------------------------------------------------------------


def _getattr(m: Any, value: Value, name: Value, *default: Value) -> Value:
    from checker.interpreter import attributes

    name = _name(m, name)
    if isinstance(name, Unknown):
        return name
    if default:
        return attributes.get_default(m, value, name, default[0])
    return attributes.get(m, value, name)


def _name(m: Any, name: Value) -> Value:
    from checker.interpreter.hosting import unwrapped

    name = unwrapped(name)
    if not isinstance(name, (str, Unknown)):
        raise m.exception("TypeError", "attribute name must be string")
    return name


def _setattr(m: Any, target: Value, name: Value, value: Value) -> Value:
    from checker.interpreter import attributes

    name = _name(m, name)
    if isinstance(name, Unknown):
        raise m.stuck(f"setattr with an unknown name ({name.reason})")
    attributes.put(m, target, name, value)


def _delattr(m: Any, value: Value, name: Value) -> Value:
    from checker.interpreter import attributes

    name = _name(m, name)
    if isinstance(name, Unknown):
        raise m.stuck(f"delattr with an unknown name ({name.reason})")
    attributes.remove(m, value, name)


def _hasattr(m: Any, value: Value, name: Value) -> Value:
    from checker.interpreter import attributes

    name = _name(m, name)
    return name if isinstance(name, Unknown) else attributes.has(m, value, name)


def _vars(m: Any, *values: Value) -> Value:
    from checker.interpreter import attributes

    if not values:
        return _locals(m)
    if isinstance(values[0], ModuleValue):
        return m.unknown("vars() of a module")
    return attributes.get(m, values[0], "__dict__")


def _callable(m: Any, value: Value) -> Value:
    if isinstance(value, (Unknown, External)):
        return m.unknown("whether a value that is not known can be called", harmless=True)
    if isinstance(value, Instance):
        if value.cls.lookup("__call__") is None and value.cls.unknown_base:
            return m.unknown(f"whether a {value.cls.name} can be called", harmless=True)
        return value.cls.lookup("__call__") is not None
    return isinstance(value, (Function, Native, BoundMethod, ClassValue, Partial, StaticMethod))


def _dir(m: Any, *values: Value) -> Value:
    if values and isinstance(values[0], ModuleValue) and values[0].file is not None:
        return sorted(values[0].file.touching)
    return m.unknown("dir()", harmless=True)


def _globals(m: Any) -> Value:
    """The module's names.

    Those that nothing has asked for yet are missing, so only lookups are safe.
    """
    from checker.interpreter import imports

    module = m.frames[-1].module
    if module.file is not None:
        for name in module.file.touching:
            imports.module_name(m, module, name)
    return module.scope.names


def _locals(m: Any) -> Value:
    return dict(m.frames[-1].scope.names)


# -- iteration -------------------------------------------------------------------------------------


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
    return _iterator(enumerate(_lazily(m, iterable), start))


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


def _any_all(wanted: bool) -> Callable[..., Value]:
    def run(m: Any, iterable: Value) -> Value:
        from checker.interpreter.tensors import Tensor

        if isinstance(iterable, Tensor):
            return m.unknown("any() or all() of a tensor")
        if isinstance(iterable, Unknown):
            return iterable
        for item in _lazily(m, iterable):
            m.tick()
            if m.truth(item, "any/all") is wanted:
                return wanted
        return not wanted

    return run


def _sum(m: Any, iterable: Value, start: Value = 0) -> Value:
    from checker.interpreter import operators

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


# -- values ----------------------------------------------------------------------------------------


def _host(name: str) -> Callable[..., Value]:
    function = getattr(host_builtins, name)

    def run(m: Any, *args: Value) -> Value:
        from checker.interpreter.broadcasting import elementwise
        from checker.interpreter.hosting import host, is_plain, plain
        from checker.interpreter.tensors import Tensor

        for value in args:
            if isinstance(value, Unknown):
                return value
        if name == "abs" and args and isinstance(args[0], Tensor):
            return elementwise(m, "abs", list(args))
        if not is_plain(*args):
            return m.unknown(f"{name}() of a value that is not plain")
        return host(m, function, *(plain(arg) for arg in args))

    return run


def _pow(m: Any, base: Value, exponent: Value, *modulus: Value) -> Value:
    from checker.interpreter import operators

    if modulus:
        return m.unknown("pow() with a modulus")
    return operators.binary(m, ast.Pow, base, exponent)


def _format(m: Any, value: Value, spec: Value = "") -> Value:
    from checker.interpreter import texts

    return texts.formatted(m, value, spec) if isinstance(spec, str) else m.unknown("format()")


def _repr(m: Any, value: Value) -> Value:
    from checker.interpreter import texts

    return texts.repr_of(m, value)


def _len(m: Any, value: Value) -> Value:
    from checker.interpreter import containers

    return containers.length(m, value)


def _property(
    m: Any, fget: Value = None, fset: Value = None, fdel: Value = None, doc: Value = None
) -> Value:
    return Property(fget, fset)


def _hash(m: Any, value: Value) -> Value:
    """Only used as a key: equal values get equal ones."""
    from checker.interpreter import equality

    key = equality.as_key(m, value)
    if isinstance(key, (int, str, float)):
        return (
            hash(key)
            if isinstance(key, (int, float))
            else m.unknown("hash() of a text", harmless=True)
        )
    return m.unknown("hash()", harmless=True)


def _id(m: Any, value: Value) -> Value:
    return value if isinstance(value, Unknown) else m.identity(value)


_FUNCTIONS: dict[str, Callable[..., Value]] = {
    "isinstance": builtin_types.is_instance,
    "issubclass": builtin_types.is_subclass,
    "len": _len,
    "getattr": _getattr,
    "setattr": _setattr,
    "delattr": _delattr,
    "hasattr": _hasattr,
    "callable": _callable,
    "property": _property,
    "staticmethod": lambda m, function: StaticMethod(function),
    "classmethod": lambda m, function: ClassMethod(function),
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
    "print": lambda m, *args, **kwargs: None,
    "repr": _repr,
    "vars": _vars,
    "globals": _globals,
    "locals": _locals,
    "dir": _dir,
    "id": _id,
    "hash": _hash,
    "pow": _pow,
    "format": _format,
    **{name: _host(name) for name in ("abs", "round", "divmod", "ord", "chr", "hex", "bin", "oct")},
}
