"""`match` patterns."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from checker.interpreter import (
    attributes,
    builtin_types,
    containers,
    equality,
    expressions,
    scopes,
)
from checker.interpreter.hosting import unwrapped
from checker.interpreter.values import ClassValue, Instance, Unknown, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from checker.interpreter.machine import Frame, Machine

_SELF_MATCHING = frozenset(
    ["bool", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple"]
)


def matches(m: Machine, frame: Frame, pattern: ast.pattern, subject: Value) -> bool:
    """Whether `subject` fits, binding names as Python does."""
    match pattern:
        case ast.MatchAs(pattern=inner, name=name):
            if inner is not None and not matches(m, frame, inner, subject):
                return False
            if name is not None:
                scopes.bind(m, frame, name, subject)
            return True
        case ast.MatchOr(patterns=patterns):
            return any(matches(m, frame, p, subject) for p in patterns)
    if isinstance(subject, Unknown):
        raise m.stuck(f"a match on an unknown value ({subject.reason})")
    match pattern:
        case ast.MatchValue(value=node):
            value = expressions.evaluate(m, frame, node)
            return m.truth(equality.equal(m, subject, value), "case")
        case ast.MatchSingleton(value=value):
            return subject is value
        case ast.MatchSequence(patterns=patterns):
            return _sequence(m, frame, patterns, subject)
        case ast.MatchMapping():
            return _mapping(m, frame, pattern, subject)
        case ast.MatchClass():
            return _class(m, frame, pattern, subject)
        case _:
            raise m.stuck("this match pattern is not interpreted")


def _sequence(m: Machine, frame: Frame, patterns: Sequence[ast.pattern], subject: Value) -> bool:
    if isinstance(subject, Instance) and subject.data is None and subject.cls.unknown_base:
        raise m.stuck("a match on an object whose class is not described")
    subject = unwrapped(subject)
    if not isinstance(subject, (list, tuple, range)):
        return False
    items = list(subject)
    star = next((i for i, p in enumerate(patterns) if isinstance(p, ast.MatchStar)), None)
    if star is None:
        return len(items) == len(patterns) and all(
            matches(m, frame, p, s) for p, s in zip(patterns, items, strict=True)
        )
    after = len(patterns) - star - 1
    if len(items) < len(patterns) - 1:
        return False
    end = len(items) - after
    pairs = [*zip(patterns[:star], items, strict=False)]
    pairs += zip(patterns[star + 1 :], items[end:], strict=True)
    if not all(matches(m, frame, p, s) for p, s in pairs):
        return False
    starred = patterns[star]
    if isinstance(starred, ast.MatchStar) and starred.name is not None:
        scopes.bind(m, frame, starred.name, items[star:end])
    return True


def _mapping(m: Machine, frame: Frame, pattern: ast.MatchMapping, subject: Value) -> bool:
    if isinstance(subject, Instance) and subject.data is None and subject.cls.unknown_base:
        raise m.stuck("a match on an object whose class is not described")
    if not isinstance(unwrapped(subject), dict):
        return False
    keys = [expressions.evaluate(m, frame, key) for key in pattern.keys]
    for key, inner in zip(keys, pattern.patterns, strict=True):
        if not m.truth(equality.contains(m, subject, key), "case"):
            return False
        if not matches(m, frame, inner, containers.get_item(m, subject, key)):
            return False
    if pattern.rest is not None:
        rest = {k: v for k, v in unwrapped(subject).items() if k not in keys}
        scopes.bind(m, frame, pattern.rest, rest)
    return True


def _class(m: Machine, frame: Frame, pattern: ast.MatchClass, subject: Value) -> bool:
    cls = expressions.evaluate(m, frame, pattern.cls)
    found = builtin_types.is_instance(m, subject, cls)
    if not m.truth(found, "whether a class pattern matches"):
        return False
    names: list[str] = []
    if pattern.patterns:
        if isinstance(cls, ClassValue) and cls.name in _SELF_MATCHING and cls.module is None:
            return matches(m, frame, pattern.patterns[0], subject)
        names = list(containers.iterate(m, attributes.get(m, cls, "__match_args__")))
        if len(names) < len(pattern.patterns):
            raise m.exception("TypeError", "too many positional sub-patterns")
    pairs = [*zip(names, pattern.patterns, strict=False)]
    pairs += zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True)
    for name, inner in pairs:
        has = attributes.has(m, subject, name)
        if not m.truth(has, "case") or not matches(
            m, frame, inner, attributes.get(m, subject, name)
        ):
            return False
    return True
