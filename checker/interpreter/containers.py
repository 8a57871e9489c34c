"""Items of containers, and what the builtin containers are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from checker.graph.dims import Poly
from checker.interpreter import conditions, equality, havoc
from checker.interpreter.hosting import host, is_plain, plain, unwrapped
from checker.interpreter.iteration import VIEWS, Iterator, enum_members, iterate, lazily
from checker.interpreter.numbered import Numbered
from checker.interpreter.tensors import Tensor
from checker.interpreter.values import (
    ClassValue,
    ConfigDict,
    External,
    Function,
    Instance,
    ModuleValue,
    Unknown,
    Value,
    type_name,
)

if TYPE_CHECKING:
    from checker.interpreter.machine import Machine


def get_item(m: Machine, base: Value, key: Value) -> Value:
    """`base[key]`."""
    m.look(base)
    match base:
        case Unknown():
            conditions.check(m, base, "an item")
            return base
        case Tensor():
            from checker.interpreter import indexing

            return indexing.get(m, base, key)
        case Instance():
            return _of_instance(m, base, key)
        case ClassValue():
            return _of_class(m, base, key)
        case External():
            return base if base.path.startswith(_ANNOTATIONS) else _undescribed(m, base)
        case Function() | ModuleValue():
            return _undescribed(m, base)
        case dict():
            return _of_dict(m, base, key)
        case list() | tuple() | str() | bytes() | range():
            if type(key) is Numbered and isinstance(base, (list, tuple, range)):
                return host(m, key.loop.item, base, key)
            index = _index(m, key)
            if isinstance(index, Unknown):
                return havoc.one_of(index, base if isinstance(base, (list, tuple)) else ())
            return host(m, lambda: base[index])
        case _:
            raise m.exception("TypeError", f"'{type_name(base)}' object is not subscriptable")


_ANNOTATIONS = ("typing.", "typing_extensions.", "collections.abc.")


def _undescribed(m: Machine, base: Value) -> Unknown:
    name = base.path if isinstance(base, External) else base.name
    return m.unknown(f"a subscript of {name}")


def _of_dict(m: Machine, base: dict[Value, Value], key: Value) -> Value:
    if isinstance(key, Unknown):
        if m.outline is not None and base and all(type(v) is ClassValue for v in base.values()):
            return m.outline.one_class(m, base, key)
        return havoc.one_of(key, base.values())
    if isinstance(base, ConfigDict) and isinstance(key, str):
        m.read(base.place, key, key in base)
    stored = equality.as_key(m, key)
    if stored not in base:
        raise m.exception("KeyError", key)
    return base[stored]


def _of_instance(m: Machine, base: Instance, key: Value) -> Value:
    from checker.interpreter import attributes, calls

    if base.cls.defines("__getitem__"):
        method = attributes.get(m, base, "__getitem__", special=True)
        return calls.call(m, method, [key], {})
    if base.tainted is not None:
        return base.tainted
    has_default = isinstance(base.data, dict) and base.cls.defines("__missing__")
    if has_default and not isinstance(key, Unknown) and equality.as_key(m, key) not in base.data:
        method = attributes.get(m, base, "__missing__", special=True)
        return calls.call(m, method, [key], {})
    if base.data is not None:
        return get_item(m, base.data, key)
    if base.cls.unknown_base is not None:
        return m.unknown(f"a subscript of an object whose class inherits {base.cls.unknown_base}")
    raise m.exception("TypeError", f"'{base.cls.name}' object is not subscriptable")


def _of_class(m: Machine, base: ClassValue, key: Value) -> Value:
    from checker.interpreter import attributes, calls

    if base.is_enum:
        members = base.namespace.get("__members__", {})
        if isinstance(key, Unknown):
            return key
        if key in members:
            return members[key]
        raise m.exception("KeyError", key)
    if base.lookup("__class_getitem__"):
        return calls.call(m, attributes.get(m, base, "__class_getitem__"), [key], {})
    if base.meta is not None and base.meta.lookup("__getitem__"):
        raise m.stuck(f"a subscript of the class {base.name}, whose metaclass defines it")
    return base  # a parametrised type


def _index(m: Machine, key: Value) -> Value:
    """An index or slice of a sequence, as the host takes it."""
    key = unwrapped(key)
    if isinstance(key, Unknown):
        return key
    if type(key) is Numbered:
        return key.seen()
    if isinstance(key, slice):
        parts = [unwrapped(p) for p in (key.start, key.stop, key.step)]
        parts = [p.seen() if type(p) is Numbered else p for p in parts]
        if not all(isinstance(p, (int, type(None))) for p in parts):
            raise m.stuck("a slice of a sequence that depends on sizes or tensor values")
        return slice(*parts)
    if isinstance(key, (Tensor, Poly, External)):
        raise m.stuck("an index of a sequence that depends on sizes or tensor values")
    if isinstance(key, Instance) and key.cls.defines("__index__"):
        from checker.interpreter import attributes, calls

        made = calls.call(m, attributes.get(m, key, "__index__", special=True), [], {})
        return made.seen() if type(made) is Numbered else made
    return key


def set_item(m: Machine, base: Value, key: Value, value: Value) -> None:
    """`base[key] = value`."""
    from checker.interpreter import attributes, calls

    match base:
        case Unknown() | External():
            havoc.changed(m, base)  # what is done to something unknown stays unknown
        case Tensor():
            from checker.interpreter import indexing

            indexing.put(m, base, key, value)
        case Instance() if base.cls.defines("__setitem__"):
            method = attributes.get(m, base, "__setitem__", special=True)
            calls.call(m, method, [key, value], {})
        case Instance() if base.data is not None:
            set_item(m, base.data, key, value)
        case Instance() if base.cls.unknown_base or base.tainted:
            m.changes(base)
            base.tainted = base.tainted or m.unknown(f"an item of {base.cls.name} is set")
        case dict():
            m.changes(base)
            base[equality.as_key(m, key)] = value
        case list():
            m.changes(base)
            _set_in_list(m, base, _index(m, key), value)
        case _:
            text = f"'{type_name(base)}' object does not support item assignment"
            raise m.exception("TypeError", text)


def _set_in_list(m: Machine, base: list[Value], index: Value, value: Value) -> None:
    if isinstance(index, Unknown):
        raise m.stuck(f"an assignment to an unknown place of a list ({index.reason})")
    items = iterate(m, value) if isinstance(index, slice) else value

    def store() -> None:
        base[index] = items

    host(m, store)
    m.check_size(len(base))


def delete_item(m: Machine, base: Value, key: Value) -> None:
    """`del base[key]`."""
    from checker.interpreter import attributes, calls

    if isinstance(base, Instance) and base.cls.defines("__delitem__"):
        calls.call(m, attributes.get(m, base, "__delitem__", special=True), [key], {})
        return
    data = unwrapped(base)
    m.changes(data)
    if isinstance(key, Unknown) and isinstance(data, (list, dict)):
        raise m.stuck(f"an unknown item of a container is deleted ({key.reason})")
    if isinstance(data, dict):
        stored = equality.as_key(m, key)
        if stored not in data:
            raise m.exception("KeyError", key)
        del data[stored]
    elif isinstance(data, list):
        host(m, data.__delitem__, _index(m, key))
    elif isinstance(data, (Unknown, External)):
        havoc.changed(m, data)
    else:
        raise m.exception("TypeError", f"'{type_name(data)}' object does not support item deletion")


def mapping_items(m: Machine, value: Value) -> dict[Value, Value]:
    """The items that `**value` stands for."""
    from checker.interpreter import attributes, calls

    if isinstance(value, ConfigDict):
        return {key: get_item(m, value, key) for key in iterate(m, value)}
    data = unwrapped(value)
    if isinstance(data, dict) and not (isinstance(value, Instance) and value.cls.defines("keys")):
        return dict(data)
    if isinstance(value, Unknown):
        raise m.stuck(f"the items of an unknown value ({value.reason})")
    if not isinstance(value, (Instance, External)):
        raise m.exception("TypeError", f"'{type_name(value)}' object is not a mapping")
    keys = calls.call(m, attributes.get(m, value, "keys"), [], {})
    return {equality.as_key(m, key): get_item(m, value, key) for key in iterate(m, keys)}


def new_host(m: Machine, kind: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The data of a fresh `list(…)`, `dict(…)`, `int(…)`, … of plain arguments."""
    value = args[0] if args else None
    if kind == "dict":
        return make_dict(m, value, bool(args), kwargs)
    if kind in ("list", "tuple", "set", "frozenset"):
        items = iterate(m, value) if args else []
        if kind in ("set", "frozenset"):
            keys = [equality.as_key(m, item) for item in items]
            return set(keys) if kind == "set" else frozenset(keys)
        return items if kind == "list" else tuple(items)
    if not is_plain(*args):
        return m.unknown(f"{kind}() of a value that is not plain")
    if kind == "bytes" and isinstance(value, int):
        m.check_size(value)
    types = {"str": str, "int": int, "float": float, "bytes": bytes, "complex": complex}
    arguments = [plain(arg) for arg in args]
    return host(m, lambda: types[kind](*arguments, **kwargs))


def make_dict(
    m: Machine, value: Value, given: bool, kwargs: dict[str, Value]
) -> dict[Value, Value]:
    """`dict(value, **kwargs)`."""
    result: dict[Value, Value] = {}
    if given:
        source = unwrapped(value)
        if isinstance(source, ConfigDict):
            result = ConfigDict(source, source.place)
        elif isinstance(source, dict) or (
            isinstance(value, Instance) and value.cls.defines("keys")
        ):
            result = mapping_items(m, value)
        else:
            result.update(_pairs(m, source))
    result.update(kwargs)
    return result


def _pairs(m: Machine, source: Value) -> dict[Value, Value]:
    """Items given as pairs."""
    result: dict[Value, Value] = {}
    for pair in lazily(m, source):
        if isinstance(pair, (int, float, type(None))):
            raise m.exception(
                "TypeError", "cannot convert dictionary update sequence to a sequence"
            )
        parts = iterate(m, pair)
        if len(parts) != 2:
            raise m.exception(
                "ValueError", "dictionary update sequence element has the wrong length"
            )
        result[equality.as_key(m, parts[0])] = parts[1]
    return result


def length(m: Machine, value: Value) -> Value:
    """`len(value)`."""
    from checker.interpreter import attributes, calls

    m.look(value)
    match value:
        case Unknown():
            return value
        case Tensor():
            shape = value.shape(m)
            if not shape:
                raise m.exception("TypeError", "len() of a 0-d tensor")
            return shape[0]
        case Instance() if value.cls.defines("__len__"):
            return calls.call(m, attributes.get(m, value, "__len__", special=True), [], {})
        case Instance() if value.tainted is not None:
            return value.tainted
        case Instance() if value.data is not None:
            return length(m, value.data)
        case Instance() if value.cls.unknown_base is not None:
            return m.unknown(f"the length of an object of {value.cls.name}")
        case External(path=path):
            return m.unknown(f"the length of {path}")
        case ClassValue(is_enum=True):
            return len(enum_members(value))
        case str() | bytes() | list() | tuple() | dict() | set() | frozenset() | range():
            return len(value)
        case _ if isinstance(value, VIEWS):
            return len(value)
        case _:
            raise m.exception("TypeError", f"object of type '{type_name(value)}' has no len()")


def sorted_items(m: Machine, items: list[Value], kwargs: dict[str, Value]) -> list[Value]:
    """`sorted(items, key=…, reverse=…)`."""
    from functools import cmp_to_key

    from checker.interpreter import calls

    key = kwargs.get("key")
    keyed = [(calls.call(m, key, [i], {}) if key is not None else i, i) for i in items]
    reverse = m.truth(kwargs.get("reverse", False), "reverse")
    if is_plain([k for k, _ in keyed]):
        plain_keys = [(plain(k), i) for k, i in keyed]
        ordered = host(m, lambda: sorted(plain_keys, key=lambda p: p[0], reverse=reverse))
        return [item for _, item in ordered]

    def order(one: Any, two: Any) -> int:
        m.tick()
        less = equality.by_name(m, "lt", one[0], two[0])
        if isinstance(less, (Unknown, Tensor)):
            raise m.stuck("sorting by keys whose order is unknown")
        if m.truth(less, "sorted"):
            return -1
        return 1 if m.truth(equality.by_name(m, "lt", two[0], one[0]), "sorted") else 0

    return [item for _, item in sorted(keyed, key=cmp_to_key(order), reverse=reverse)]


__all__ = ["Iterator", "get_item", "iterate", "lazily", "set_item"]
