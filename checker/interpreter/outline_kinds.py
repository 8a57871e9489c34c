"""What may be one thing or another in an outline: parts of some class, or none at all."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from checker.interpreter import havoc
from checker.interpreter import outline_parts as parts
from checker.interpreter.open_values import Maybe, Open, Repeated
from checker.interpreter.outline import is_open, is_summarised
from checker.interpreter.values import ClassValue, Instance, Unknown, Value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from checker.interpreter.machine import Machine
    from checker.interpreter.outline import Outline


def either(m: Machine, outline: Outline, one: Value, two: Value, what: str) -> Value:
    """One of two values, nothing decides which."""
    if one is two or (parts.is_plain(one) and type(one) is type(two) and one == two):
        return one
    if isinstance(one, Open) and isinstance(two, Open):
        return Open(f"{one.reason} or {two.reason}", one.location, {}, one.everywhere)
    if isinstance(one, Instance) and isinstance(two, Instance):
        common = parts.common(one.cls, two.cls)
        if common is not None:
            return parts.merged(m, one, two, common)
        classes = [*_classes(outline, one), *_classes(outline, two)]
        if all(is_open(cls) or cls.lookup("alike") is not None for cls in classes):
            return _one_of(m, outline, classes, (one, two))
    reason = f"{what} depends on a condition that nothing decides"
    if one is None or two is None:
        part = two if one is None else one
        if isinstance(part, Instance) and is_open(part.cls):
            made = _one_of(m, outline, _classes(outline, part), (part,))
            return Maybe(reason, m.location(), made)
    if m.debug:
        sys.stderr.write(f"either: {what} {m.trail()[-3:]}\n")
    return havoc.one_of(m.unknown(reason, harmless=True), (one, two))


def repeated(m: Machine, source: Unknown, made: list[Value]) -> Value:
    """The list that has one such object for each of a number of things that is not known.

    Raises:
        Stuck: what was made is no module.
    """
    one = made[0] if len(made) == 1 else None
    if not isinstance(one, Instance) or not is_open(one.cls):
        raise m.stuck(f"iteration over an unknown value ({source.reason})")
    return Repeated(source.reason, m.location(), one)


def one_of(m: Machine, outline: Outline, items: Value) -> Value:
    """One of the modules in a list, nothing tells which: it can be called, not looked into."""
    made = [items.item] if isinstance(items, Repeated) else items
    if not isinstance(made, list) or not made:
        return m.unknown("one of what is not known", harmless=True)
    modules = [one for one in made if isinstance(one, Instance) and is_open(one.cls)]
    if len(modules) < len(made):
        unknown = m.unknown("one of several things, which is not known", harmless=True)
        return havoc.one_of(unknown, made)
    if any(id(one) in outline.indices for one in modules):
        unknown = m.unknown("one of the layers, which is not known", harmless=True)
        return havoc.one_of(unknown, made)
    classes = [cls for one in modules for cls in _classes(outline, one)]
    return _one_of(m, outline, classes, modules)


def _classes(outline: Outline, one: Instance) -> list[ClassValue]:
    """The classes of which an object may be."""
    return outline.choices.get(id(one.cls), [one.cls])


def _one_of(
    m: Machine, outline: Outline, classes: list[ClassValue], things: Iterable[Value]
) -> Instance:
    """A part of one of several classes: it can be called, but not looked into.

    `things` are those of which it is one: what it is told one of them is told.
    """
    classes = list(dict.fromkeys(classes))
    name = " or ".join(cls.name for cls in classes)
    cls = ClassValue(name, classes[0].module, (), unknown_base=name)
    only = classes[0].mro if len(classes) == 1 else ()
    cls.mro = (cls, *(only or [c for c in classes[0].mro if is_summarised(c)]))
    outline.choices[id(cls)] = classes
    outline.stands_for[id(cls)] = [
        other
        for thing in things
        if isinstance(thing, Instance)
        for other in outline.stands_for.get(id(thing.cls), [thing])
    ]
    outline.kept.append(cls)
    made = Instance(cls)
    if only:
        made.tainted = m.unknown(f"one of several of {name}", harmless=True)
    return made


__all__ = ["either", "one_of", "repeated"]
