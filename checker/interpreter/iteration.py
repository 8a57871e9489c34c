"""Iteration: iterators of the checked program, and the items of whatever can be iterated over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from checker.interpreter.births import births
from checker.interpreter.hosting import host
from checker.interpreter.tensors import Tensor
from checker.interpreter.values import (
    ClassValue,
    ConfigDict,
    External,
    Finished,
    Instance,
    Raised,
    Unknown,
    Value,
    type_name,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from collections.abc import Generator as HostGenerator
    from collections.abc import Iterator as HostIterator

    from checker.interpreter.machine import Frame, Machine

VIEWS: tuple[type[Collection[Value]], ...] = (type({}.keys()), type({}.values()), type({}.items()))
_END = object()


class Iterator:
    """An iterator (zip, map, enumerate, iter, …): computes each item when it is asked for."""

    __slots__ = ("number", "source")

    def __init__(self, source: Iterable[Value]) -> None:
        self.source = iter(source)
        self.number = next(births)

    def step(self, m: Machine) -> Value:
        """The next item.

        Raises:
            Finished: there is none.
        """
        m.touches(self)
        item = host(m, next, self.source, _END)
        if item is _END:
            raise Finished(None)
        return item


class Counted(Iterator):
    """`enumerate(over, start)`."""

    __slots__ = ("over", "start")

    def __init__(self, over: Value, start: int, source: Iterable[Value]) -> None:
        super().__init__(enumerate(source, start))
        self.over, self.start = over, start


class Generator(Iterator):
    """A generator: its body, run piece by piece."""

    __slots__ = ("body", "finished", "frame", "running", "started")

    def __init__(self, frame: Frame, body: HostGenerator[Value, Value, Value]) -> None:
        super().__init__(())
        self.frame = frame
        self.body = body
        self.started = self.finished = self.running = False

    def step(self, m: Machine) -> Value:
        return self.resume(m, None)

    def resume(self, m: Machine, value: Value, error: Raised | None = None) -> Value:
        """Runs on to the next `yield`, which gives `value`, or at which `error` is raised.

        Raises:
            Finished: the body ended.
        """
        m.touches(self)
        if self.finished:
            if error is not None:
                raise error
            raise Finished(None)
        if self.running:
            raise m.exception("ValueError", "generator already executing")
        if not self.started and value is not None:
            raise m.exception("TypeError", "can't send non-None value to a just-started generator")
        if not self.started and error is not None:
            self.finished = True
            raise error
        self.running = self.started = True
        try:
            return m.run_in(self.frame, lambda: self._advance(value, error))
        except BaseException:
            self.finished = True
            raise
        finally:
            self.running = False

    def _advance(self, value: Value, error: Raised | None) -> Value:
        try:
            return self.body.send(value) if error is None else self.body.throw(error)
        except StopIteration as stop:
            raise Finished(stop.value) from None

    def close(self, m: Machine) -> None:
        """Ends the generator where it stands: its `finally` blocks run."""
        m.touches(self)
        if self.finished or not self.started:
            self.finished = True
            return
        closing = m.exception("GeneratorExit")
        try:
            self.resume(m, None, closing)
        except Finished:
            return
        except Raised as raised:
            if raised.type_name != "GeneratorExit":
                raise
            return
        raise m.exception("RuntimeError", "generator ignored GeneratorExit")


def lazily(m: Machine, value: Value) -> HostIterator[Value]:
    """The items of an iterable, one by one, each computed when it is asked for.

    Raises:
        Raised: TypeError of the checked program for what cannot be iterated over.
    """
    m.look(value)
    match value:
        case list() | tuple() | str() | bytes() | range():
            return iter(value)
        case dict() | set() | frozenset():
            if isinstance(value, ConfigDict):
                for key in value:
                    m.read(value.place, key, True)
            return _guarded(m, value)
        case Iterator():
            return _steps(m, value)
        case Instance():
            return _of_instance(m, value)
        case Unknown(reason=reason):
            raise m.stuck(f"iteration over an unknown value ({reason})")
        case External(path=path):
            raise m.stuck(f"iteration over {path}, which is not described")
        case ClassValue(is_enum=True):
            return iter(enum_members(value))
        case Tensor():
            from checker.interpreter import joining

            return iter(joining.unbind(m, value, 0))
        case _ if isinstance(value, VIEWS):
            return _guarded(m, value)
        case ClassValue() if value.unknown_base or value.meta:
            raise m.stuck(f"iteration over the class {value.name}")
        case _:
            raise m.exception("TypeError", f"'{type_name(value)}' object is not iterable")


def iterate(m: Machine, value: Value) -> list[Value]:
    """All items of an iterable, at most as many as the budget allows."""
    if isinstance(value, range):
        m.check_size(len(value))
    if isinstance(value, (list, tuple)):
        m.look(value)
        return list(value)
    items: list[Value] = []
    for item in lazily(m, value):
        m.tick()
        items.append(item)
        m.check_size(len(items))
    return items


def enum_members(cls: ClassValue) -> list[Instance]:
    """The members of an enum, aliases left out."""
    found: Any = cls.namespace.get("__members__", {})
    return list({id(member): member for member in found.values()}.values())


def _guarded(m: Machine, value: Any) -> HostIterator[Value]:
    """A host collection that may change while it is iterated over: Python says so.

    The order of a set of texts is no part of its meaning; here it is sorted, so that nothing
    depends on chance.
    """
    texts = isinstance(value, (set, frozenset)) and all(isinstance(v, str) for v in value)
    source = iter(sorted(value) if texts else value)
    while True:
        item = host(m, next, source, _END)
        if item is _END:
            return
        yield item


def _steps(m: Machine, iterator: Iterator) -> HostIterator[Value]:
    while True:
        m.tick()
        try:
            item = iterator.step(m)
        except Finished:
            return
        yield item


def _of_instance(m: Machine, value: Instance) -> HostIterator[Value]:
    from checker.interpreter import attributes, calls

    cls = value.cls
    if value.tainted is not None:
        raise m.stuck(f"iteration over an unknown value ({value.tainted.reason})")
    if cls.defines("__iter__"):
        made = calls.call(m, attributes.get(m, value, "__iter__", special=True), [], {})
        return lazily(m, made) if made is not value else _drain(m, value)
    if value.data is not None:
        return lazily(m, value.data)
    if cls.defines("__getitem__"):
        return _by_index(m, value)
    if cls.unknown_base is not None:
        raise m.stuck(f"iteration over an object whose class inherits {cls.unknown_base}")
    raise m.exception("TypeError", f"'{cls.name}' object is not iterable")


def _drain(m: Machine, value: Instance) -> HostIterator[Value]:
    """An object with `__next__`."""
    from checker.interpreter import attributes, calls

    if not value.cls.defines("__next__"):
        raise m.exception("TypeError", f"iter() returned non-iterator of type '{value.cls.name}'")
    while True:
        m.tick()
        try:
            item = calls.call(m, attributes.get(m, value, "__next__", special=True), [], {})
        except Raised as raised:
            if raised.type_name == "StopIteration":
                return
            raise
        yield item


def _by_index(m: Machine, value: Instance) -> HostIterator[Value]:
    """The old protocol: `value[0]`, `value[1]`, … until IndexError."""
    from checker.interpreter import containers

    index = 0
    while True:
        m.tick()
        try:
            item = containers.get_item(m, value, index)
        except Raised as raised:
            if raised.type_name == "IndexError":
                return
            raise
        yield item
        index += 1
