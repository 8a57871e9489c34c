"""Regular expressions, as far as they surely end soon."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from checker.interpreter.hosting import is_plain, unwrapped
from checker.interpreter.values import Unknown, Value

if TYPE_CHECKING:
    from checker.interpreter.machine import Machine

_TEXT = 2_000
_PATTERN = 500
_STEPS = 5_000_000
_UNBOUNDED = ("*", "+", "{")


def find(m: Machine, kind: Value, pattern: Value, flags: Value, text: Value) -> Value:
    """The matches of a pattern: (start, end, groups, named groups) of each.

    `kind`: match, fullmatch, search or all.
    """
    compiled = _prepared(m, pattern, flags, text)
    if isinstance(compiled, Unknown):
        return compiled
    text = unwrapped(text)
    if kind == "all":
        found = list(compiled.finditer(text))
        m.check_size(len(found))
    else:
        one = getattr(compiled, str(kind))(text)
        found = [one] if one is not None else []
    return [(match.start(), match.end(), match.groups(), match.groupdict()) for match in found]


def expand(
    m: Machine, pattern: Value, flags: Value, template: Value, text: Value, start: int, end: int
) -> Value:
    """What a replacement text makes of the match at `start:end`."""
    compiled = _prepared(m, pattern, flags, text)
    if isinstance(compiled, Unknown):
        return compiled
    template = unwrapped(template)
    if not isinstance(template, str):
        return m.unknown("a replacement that is no plain text")
    for match in compiled.finditer(unwrapped(text)):
        if match.span() == (start, end):
            try:
                return match.expand(template)
            except (re.error, IndexError) as error:
                raise m.exception("ValueError", str(error)) from None
    return m.unknown("a replacement of a match that is not found again")


def escape(m: Machine, text: Value) -> Value:
    """`re.escape`."""
    text = unwrapped(text)
    return re.escape(text) if isinstance(text, str) else m.unknown("re.escape of no plain text")


def _prepared(m: Machine, pattern: Value, flags: Value, text: Value) -> Any:
    """The compiled pattern, or why it is not used."""
    pattern, flags, text = unwrapped(pattern), unwrapped(flags), unwrapped(text)
    for value in (pattern, flags, text):
        if isinstance(value, Unknown):
            return value
    if not is_plain(pattern, flags, text):
        return m.unknown("a regular expression that is no plain text")
    if not isinstance(pattern, str) or not isinstance(text, str):
        raise m.exception("TypeError", "expected string or bytes-like object")
    if len(text) > _TEXT or len(pattern) > _PATTERN or not _ends_soon(pattern, len(text)):
        return m.unknown("a regular expression that may take for ever")
    try:
        return re.compile(pattern, flags)
    except re.error as error:
        raise m.exception("ValueError", str(error)) from None
    except (RecursionError, OverflowError):
        return m.unknown("a regular expression that nests too deeply")


def _ends_soon(pattern: str, length: int) -> bool:
    """Whether the search is short.

    Nothing ambiguous inside a repeated group, and few repetitions for the text.
    """
    repeats = 0
    groups: list[bool] = [False]
    index, in_class = 0, False
    while index < len(pattern):
        character = pattern[index]
        if character == "\\":
            index += 1
        elif in_class:
            in_class = character != "]"
        elif character == "[":
            in_class = True
            index += pattern[index + 1 : index + 2] == "]"
        elif character == "(":
            groups.append(False)
        elif character == ")" and len(groups) > 1:
            inner = groups.pop()
            if inner and pattern[index + 1 : index + 2] in _UNBOUNDED:
                return False
            groups[-1] = groups[-1] or inner
        elif character == "|":
            groups[-1] = True
        elif character in _UNBOUNDED:
            repeats += 1
            groups[-1] = True
        index += 1
    return repeats < 8 and max(length, 2) ** repeats <= _STEPS and "(?P=" not in pattern
