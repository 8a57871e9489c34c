"""`match` patterns."""

from __future__ import annotations

import ast

from checker.interpreter import attributes, builtin_names, containers, expressions, statements
from checker.interpreter.machine import Frame, Machine
from checker.interpreter.values import Unknown, Value


def matches(m: Machine, frame: Frame, pattern: ast.pattern, subject: Value) -> bool:
    """Whether `subject` fits, binding names as Python does."""
    match pattern:
        case ast.MatchValue(value=node):
            return m.truth(containers.equal(m, subject, expressions.evaluate(m, frame, node)), "case")
        case ast.MatchSingleton(value=value):
            return subject is value
        case ast.MatchAs(pattern=inner, name=name):
            if inner is not None and not matches(m, frame, inner, subject):
                return False
            if name is not None:
                statements.assign(m, frame, ast.Name(name, ast.Store()), subject)
            return True
        case ast.MatchOr(patterns=patterns):
            return any(matches(m, frame, p, subject) for p in patterns)
        case ast.MatchSequence(patterns=patterns):
            if not isinstance(subject, (list, tuple)) or len(subject) != len(patterns):
                return False
            return all(matches(m, frame, p, s) for p, s in zip(patterns, subject, strict=True))
        case ast.MatchClass(cls=node, patterns=[], kwd_attrs=names, kwd_patterns=inner_patterns):
            found = builtin_names.is_instance(m, subject, expressions.evaluate(m, frame, node))
            if isinstance(found, Unknown):
                return m.decide("whether a class pattern matches")
            return found and all(
                matches(m, frame, p, attributes.get(m, subject, n))
                for n, p in zip(names, inner_patterns, strict=True)
            )
        case _:
            raise m.stuck("this match pattern is not interpreted")
