"""Containers and plain host values: iteration, items, methods, equality."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from checker.graph.dims import Poly
from checker.interpreter.machine import Machine
from checker.interpreter.tensors import Tensor
from checker.interpreter.values import (
    ClassValue,
    ConfigDict,
    External,
    Function,
    Instance,
    ModuleValue,
    Native,
    Unknown,
    Value,
    type_name,
)

_METHODS: dict[type, frozenset[str]] = {
    str: frozenset(
        "capitalize casefold count endswith find format index isalnum isalpha isdecimal isdigit isidentifier islower"
        " isnumeric isspace istitle isupper join ljust lower lstrip partition removeprefix removesuffix replace rfind"
        " rindex rjust rpartition rsplit rstrip split splitlines startswith strip swapcase title upper zfill".split()
    ),
    bytes: frozenset(("decode",)),
    list: frozenset("append clear copy count extend index insert pop remove reverse".split()),
    tuple: frozenset(("count", "index")),
    dict: frozenset("clear copy get items keys pop popitem setdefault update values".split()),
    set: frozenset(
        "add clear copy difference difference_update discard intersection isdisjoint issubset issuperset pop remove"
        " symmetric_difference union update".split()
    ),
    frozenset: frozenset("copy difference intersection isdisjoint issubset issuperset union".split()),
    int: frozenset(("bit_length", "real", "imag", "numerator", "denominator", "is_integer")),
    float: frozenset(("is_integer", "real", "hex")),
    range: frozenset(("start", "stop", "step", "count", "index")),
    slice: frozenset(("start", "stop", "step", "indices")),
}
_VALUES = frozenset(("start", "stop", "step", "real", "imag", "numerator", "denominator"))


class Iterator:
    """A one-shot iterator (generator, zip, map, enumerate, iter): already evaluated, consumed from the front."""

    def __init__(self, items: list[Value]) -> None:
        self.items = items

    def take(self) -> list[Value]:
        items, self.items = self.items, []
        return items


def iterate(m: Machine, value: Value) -> list[Value]:
    """All items of an iterable, at most as many as the budget allows."""
    from checker.interpreter import attributes, calls

    match value:
        case list() | tuple() | set() | frozenset() | str() | bytes():
            return list(value)
        case dict():
            if isinstance(value, ConfigDict):
                for key in value:
                    m.read(value.place, key, True)
            return list(value)
        case range():
            m.check_size(len(value))
            return list(value)
        case Iterator():
            return value.take()
        case Unknown(reason=reason):
            raise m.stuck(f"iteration over an unknown value ({reason})")
        case External(path=path):
            raise m.stuck(f"iteration over {path}, which is not described")
        case ClassValue(is_enum=True):
            return list(value.namespace.get("__members__", {}).values())
        case Tensor():
            from checker.interpreter import torch_ops

            return torch_ops.unbind(m, value, 0)
        case Instance():
            if value.tainted is not None:
                raise m.stuck(f"iteration over an unknown value ({value.tainted.reason})")
            if value.cls.lookup("__iter__"):
                made = calls.call(m, attributes.get(m, value, "__iter__"), [], {})
                return iterate(m, made) if made is not value else _drain(m, value)
            if value.data is not None:
                return iterate(m, value.data)
            if value.cls.lookup("__next__"):
                return _drain(m, value)
            if value.cls.lookup("__getitem__") and value.cls.lookup("__len__"):
                count = calls.call(m, attributes.get(m, value, "__len__"), [], {})
                return [get_item(m, value, index) for index in range(count)]
            raise m.exception("TypeError", f"'{value.cls.name}' object is not iterable")
        case _:
            if type(value).__name__ in ("dict_keys", "dict_values", "dict_items"):
                return list(value)
            raise m.exception("TypeError", f"'{type_name(value)}' object is not iterable")


def _drain(m: Machine, value: Instance) -> list[Value]:
    from checker.interpreter import attributes, calls
    from checker.interpreter.values import Raised

    items: list[Value] = []
    while True:
        m.tick()
        m.check_size(len(items))
        try:
            items.append(calls.call(m, attributes.get(m, value, "__next__"), [], {}))
        except Raised as raised:
            if raised.type_name == "StopIteration":
                return items
            raise


def check_key(m: Machine, key: Value) -> None:
    if isinstance(key, (list, dict, set)):
        raise m.exception("TypeError", f"unhashable type: '{type_name(key)}'")
    if isinstance(key, Unknown):
        raise m.stuck(f"a key that is unknown ({key.reason})")


def get_item(m: Machine, base: Value, key: Value) -> Value:
    """`base[key]`."""
    from checker.interpreter import attributes, calls, expressions

    if isinstance(base, Unknown):
        return base
    if isinstance(base, Tensor):
        from checker.interpreter import indexing

        return indexing.get(m, base, key)
    if isinstance(key, Unknown):
        return key
    if isinstance(base, ConfigDict) and isinstance(key, str):
        m.read(base.place, key, key in base)
    if isinstance(base, Instance):
        if base.tainted is not None:
            return base.tainted
        if base.cls.lookup("__getitem__"):
            return calls.call(m, attributes.get(m, base, "__getitem__"), [key], {})
        if base.data is not None:
            return get_item(m, base.data, key)
        raise m.exception("TypeError", f"'{base.cls.name}' object is not subscriptable")
    if isinstance(base, ClassValue):
        if base.is_enum and isinstance(key, str):
            members = base.namespace.get("__members__", {})
            if key in members:
                return members[key]
            raise m.exception("KeyError", key)
        hook = base.lookup("__class_getitem__")
        return calls.call(m, attributes.get(m, base, "__class_getitem__"), [key], {}) if hook else base
    if isinstance(base, (External, Function, Native, ModuleValue)):
        return base if isinstance(base, (External, Native)) else m.unknown("a subscript of a function")
    if isinstance(base, (list, tuple, str, bytes, dict, range)):
        if isinstance(base, dict):
            check_key(m, key)
            if key not in base and isinstance(key, (str, int, float, bool)):
                raise m.exception("KeyError", str(key))
        key = _index(m, key)
        return expressions.host(m, lambda b, k: b[k], base, key)
    if type(base).__name__ in ("dict_keys", "dict_values", "dict_items"):
        raise m.exception("TypeError", f"'{type(base).__name__}' object is not subscriptable")
    raise m.exception("TypeError", f"'{type_name(base)}' object is not subscriptable")


def _index(m: Machine, key: Value) -> Value:
    if isinstance(key, Instance) and key.data is not None:
        return key.data
    if isinstance(key, (Tensor, Poly)):
        raise m.stuck("an index that depends on sizes or tensor values")
    if isinstance(key, slice) and any(isinstance(p, (Unknown, Poly, Tensor)) for p in (key.start, key.stop, key.step)):
        raise m.stuck("a slice of a list that depends on sizes or tensor values")
    return key


def set_item(m: Machine, base: Value, key: Value, value: Value) -> None:
    """`base[key] = value`."""
    from checker.interpreter import attributes, calls, expressions

    if isinstance(base, (Unknown, External)):
        return
    if isinstance(base, Tensor):
        from checker.interpreter import indexing

        indexing.put(m, base, key, value)
        return
    if isinstance(base, Instance):
        if base.cls.lookup("__setitem__"):
            calls.call(m, attributes.get(m, base, "__setitem__"), [key, value], {})
            return
        if base.data is not None:
            set_item(m, base.data, key, value)
            return
        raise m.exception("TypeError", f"'{base.cls.name}' object does not support item assignment")
    if not isinstance(base, (list, dict)):
        raise m.exception("TypeError", f"'{type_name(base)}' object does not support item assignment")
    check_key(m, key)

    def store(holder: Any, index: Any, item: Any) -> None:
        holder[index] = iterate(m, item) if isinstance(index, slice) else item

    expressions.host(m, store, base, _index(m, key) if isinstance(base, list) else key, value)


def delete_item(m: Machine, base: Value, key: Value) -> None:
    from checker.interpreter import expressions

    if isinstance(base, Instance) and base.data is not None:
        base = base.data
    if isinstance(base, (list, dict)):
        expressions.host(m, lambda b, k: b.__delitem__(k), base, key)


def contains(m: Machine, container: Value, item: Value) -> bool | Unknown:
    """`item in container`."""
    from checker.interpreter import attributes, calls, expressions

    if isinstance(container, Unknown):
        return container
    if isinstance(item, Unknown):
        return item
    if isinstance(container, ConfigDict) and isinstance(item, str):
        m.read(container.place, item, item in container)
    if isinstance(container, Instance):
        if container.cls.lookup("__contains__"):
            found = calls.call(m, attributes.get(m, container, "__contains__"), [item], {})
            return found if isinstance(found, Unknown) else m.truth(found, "in")
        if container.data is not None:
            return contains(m, container.data, item)
    if isinstance(container, (str, bytes)):
        if isinstance(item, Instance):
            item = item.data
        return expressions.host(m, lambda c, i: i in c, container, item)  # type: ignore[no-any-return]
    if isinstance(container, dict):
        check_key(m, item)
        return item in container
    unknown: Unknown | None = None
    for candidate in iterate(m, container):
        same = equal(m, candidate, item)
        if same is True:
            return True
        if isinstance(same, Unknown):
            unknown = same
    return unknown if unknown is not None else False


def equal(m: Machine, left: Value, right: Value) -> bool | Unknown:
    """`left == right` as one truth."""
    from checker.interpreter import sizes as dims
    from checker.interpreter import attributes, calls

    if left is right:
        return True
    for side in (left, right):
        if isinstance(side, Unknown):
            return side
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        return False if left is None or right is None else m.unknown("equality of tensors")
    if isinstance(left, (list, tuple)) and type(left) is type(right):
        if len(left) != len(right):
            return False
        verdict: bool | Unknown = True
        for one, two in zip(left, right, strict=True):
            same = equal(m, one, two)
            if same is False:
                return False
            if isinstance(same, Unknown):
                verdict = same
        return verdict
    if isinstance(left, Poly) or isinstance(right, Poly):
        if not all(isinstance(s, (int, Poly)) for s in (left, right)):
            return False
        decided = dims.decide("eq", left, right)
        return decided if decided is not None else m.unknown(f"whether {left} equals {right}")
    for side, other in ((left, right), (right, left)):
        if isinstance(side, Instance) and side.cls.lookup("__eq__"):
            result = calls.call(m, attributes.get(m, side, "__eq__"), [other], {})
            return result if isinstance(result, (bool, Unknown)) else m.truth(result, "==")
    if isinstance(left, External) and isinstance(right, External):
        return left.path == right.path
    one = left.data if isinstance(left, Instance) and left.data is not None else left
    two = right.data if isinstance(right, Instance) and right.data is not None else right
    try:
        return bool(one == two)
    except Exception:
        return m.unknown("an equality that cannot be decided")


def text_of(m: Machine, value: Value, render: Callable[[Any], str]) -> Value:
    """`str(value)` or `repr(value)` when it is plain; unknown otherwise."""
    from checker.interpreter import attributes, calls

    if isinstance(value, (str, int, float, bool, type(None), Poly)):
        return render(value)
    if isinstance(value, Instance):
        for name in ("__str__", "__repr__"):
            if value.cls.lookup(name):
                return calls.call(m, attributes.get(m, value, name), [], {})
        if value.cls.is_enum:
            return f"{value.cls.name}.{value.attrs['name']}"
        if value.data is not None:
            return render(value.data)
        args = value.attrs.get("args")
        if isinstance(args, tuple):
            return ", ".join(str(a) for a in args)
        return f"<{value.cls.name} object>"
    if isinstance(value, (list, tuple)) and all(isinstance(v, (str, int, float, bool)) for v in value):
        return render(value)
    if isinstance(value, (ClassValue, Function, Native)):
        return f"<{value.name}>"
    return f"<{type_name(value)}>"


def new_host(m: Machine, kind: str, args: list[Value]) -> Value:
    """The data of a fresh instance of a subclass of a builtin."""
    if kind == "list":
        return iterate(m, args[0]) if args else []
    if kind == "dict":
        from checker.interpreter import builtin_names

        return builtin_names.make_dict(m, args[0] if args else None, bool(args), {})
    if kind in ("set", "frozenset"):
        return set(iterate(m, args[0])) if args else set()
    if kind == "tuple":
        return tuple(iterate(m, args[0])) if args else ()
    if kind == "str":
        return str(args[0]) if args else ""
    if kind == "int":
        return int(args[0]) if args and isinstance(args[0], (int, float, str)) else 0
    return float(args[0]) if args and isinstance(args[0], (int, float, str)) else 0.0


def host_attribute(m: Machine, value: Value, name: str) -> Value:
    """An attribute of a plain host value: only methods that are known to be pure functions of values."""
    from checker.interpreter import attributes, expressions

    if name == "__class__":
        return m.builtins.get(type_name(value), m.unknown("a builtin type"))
    if isinstance(value, Iterator):
        return attributes.MISSING
    kind = next((k for k in type(value).__mro__ if k in _METHODS), None)
    if kind is None or name not in _METHODS[kind]:
        if isinstance(value, list) and name == "sort":
            return Native("sort", lambda m, args, kwargs: _sort(m, value, kwargs))
        if isinstance(value, dict) and name == "__contains__":
            return Native(name, lambda m, args, kwargs: contains(m, value, args[0]))
        if name == "__len__" and hasattr(value, "__len__"):
            return Native(name, lambda m, args, kwargs: len(value))
        if name in ("__getitem__", "__setitem__") and isinstance(value, (list, dict)):
            action = get_item if name == "__getitem__" else set_item
            return Native(name, lambda m, args, kwargs: action(m, value, *args))
        return attributes.MISSING
    if name in _VALUES:
        return getattr(value, name)

    def run(m: Machine, args: list[Value], kwargs: dict[str, Value]) -> Value:
        for arg in args:
            if isinstance(arg, Unknown) and not isinstance(value, (list, dict)):
                return arg
        if isinstance(value, ConfigDict) and name in ("get", "pop", "setdefault") and args:
            m.read(value.place, args[0], args[0] in value, args[1] if len(args) > 1 else None)
        prepared = [_materialised(m, a, value, name) for a in args]
        if isinstance(value, dict) and prepared and name in ("get", "pop", "setdefault"):
            check_key(m, prepared[0])
        m.check_size(len(value) if hasattr(value, "__len__") else 0)
        result = expressions.host(m, lambda *a: getattr(value, name)(*a, **kwargs), *prepared)
        return result

    return Native(name, run)


def _materialised(m: Machine, arg: Value, holder: Value, name: str) -> Value:
    """Arguments a host method iterates over, as host sequences."""
    if isinstance(arg, Instance) and arg.data is not None and isinstance(holder, str):
        return arg.data
    wants_items = (isinstance(holder, str) and name == "join") or (
        isinstance(holder, (list, set, frozenset)) and name in ("extend", "update", "union", "intersection", "difference")
    )
    if wants_items or isinstance(arg, Iterator):
        return iterate(m, arg)
    if isinstance(holder, dict) and name == "update" and isinstance(arg, Instance) and arg.data is not None:
        return arg.data
    return arg


def _sort(m: Machine, value: list[Value], kwargs: dict[str, Value]) -> Value:
    value[:] = sorted_items(m, value, kwargs)
    return None


def sorted_items(m: Machine, items: list[Value], kwargs: dict[str, Value]) -> list[Value]:
    from checker.interpreter import calls, expressions

    key = kwargs.get("key")
    keyed = [(calls.call(m, key, [item], {}) if key is not None else item, item) for item in items]
    if any(isinstance(k, (Unknown, Tensor)) for k, _ in keyed):
        raise m.stuck("sorting by unknown keys")
    ordered = expressions.host(
        m, lambda pairs: sorted(pairs, key=lambda p: p[0], reverse=bool(kwargs.get("reverse"))), keyed
    )
    return [item for _, item in ordered]
