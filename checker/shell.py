"""Commands of a shell script, as far as a launch line needs a shell: words, variables, order.

Nothing is run. What a variable holds is known where the script itself sets it; `$NAME` and `$(…)`
of which that is not known stay in the words as they are written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NAME: Final = r"[A-Za-z_]\w*"
_ASSIGNMENT: Final = re.compile(rf"({_NAME})=(.*)", re.DOTALL)
_VARIABLE: Final = re.compile(rf"\$(?:({_NAME})|\{{({_NAME})(?:(:?[-=])([^}}]*))?\}})")
_UNKNOWN: Final = re.compile(r"\$[\w{(@*#?]|`")
_OPERATOR: Final = re.compile(r"\d*(?:&>>?|[<>]{1,3}&?)|[|&;()\n]+")
_SCRIPT: Final = re.compile(r"-[a-z]*c")
_EXPORTING: Final = frozenset(("export", "declare", "typeset", "readonly"))
_GIVING: Final = frozenset(("-e", "--env"))


@dataclass(frozen=True, slots=True)
class Command:
    """A simple command: its words, and the environment that the script gives it."""

    words: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)


def is_unknown(word: str) -> bool:
    """Whether a word has a part that only the shell that runs it knows."""
    return _UNKNOWN.search(word) is not None


def commands(text: str, known: Mapping[str, str] | None = None) -> list[Command]:
    """The simple commands of a script, in order; what `sh -c "…"` runs are commands of their own.

    Args:
        text: the script.
        known: variables that are exported before it.

    Raises:
        ValueError: a quotation has no end.
    """
    variables = dict(known or {})
    exported = {*variables}
    found: list[Command] = []
    for raw in _split(text):
        words = [part for word in raw for part in _expanded(word, variables)]
        before = {}
        while words and (assigned := _ASSIGNMENT.fullmatch(words[0])):
            before[assigned[1]] = assigned[2]
            words.pop(0)
        if not words:
            variables |= before
            continue
        if words[0] in _EXPORTING:
            for word in words[1:]:
                name, equals, value = word.partition("=")
                if equals:
                    variables[name] = value
                exported.add(name)
        elif words[0] == "unset":
            for name in words[1:]:
                variables.pop(name, None)
        environment = {k: v for k, v in variables.items() if k in exported} | before
        for index, word in enumerate(words[:-1]):
            if index and _SCRIPT.fullmatch(word) and re.search(r"\s", words[index + 1]):
                given = _given(words[:index])
                found += commands(words[index + 1], {**environment, **given})
                break
        else:
            found.append(Command(tuple(words), environment))
    return found


def given_to(words: tuple[str, ...]) -> dict[str, str]:
    """Variables that a program sets for the one that it starts (`env A=1 …`, `… -e A=1 …`)."""
    return _given(list(words))


def _given(words: list[str]) -> dict[str, str]:
    found = {}
    for before, word in zip(["", *words], words, strict=False):
        told = word.removeprefix("--env=")
        assigned = _ASSIGNMENT.fullmatch(told)
        own = told != word or not before.startswith("-") or before in _GIVING
        if assigned is not None and own:
            found[assigned[1]] = assigned[2]
    return found


@dataclass(slots=True)
class _Word:
    """A word as it is written: pieces of text, and whether each stands in quotes of which kind."""

    pieces: list[tuple[str, str]] = field(default_factory=list)

    def add(self, text: str, quote: str) -> None:
        if self.pieces and self.pieces[-1][1] == quote:
            self.pieces[-1] = (self.pieces[-1][0] + text, quote)
        else:
            self.pieces.append((text, quote))


def _expanded(word: _Word, variables: Mapping[str, str]) -> Iterator[str]:
    """The words that one becomes: a variable outside of quotes may be none, or several."""

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        if name in variables and not (match[3] == ":-" and not variables[name]):
            return variables[name]
        return match[0] if match[3] is None else match[4]

    made: list[str] = []
    is_open = False  # whether the last word goes on with the next piece
    for text, quote in word.pieces:
        told = text if quote == "'" else _VARIABLE.sub(value, text)
        if quote or told == text:
            parts, first, last = [told], True, True
        else:
            parts = told.split()
            first, last = not told[:1].isspace(), not told[-1:].isspace()
        for index, part in enumerate(parts):
            if is_open and made and (index or first):
                made[-1] += part if not index else ""
                if not index:
                    continue
            made.append(part)
        is_open = last
    yield from made


def _split(text: str) -> Iterator[list[_Word]]:
    """The words of each command, unexpanded."""
    words: list[_Word] = []
    word: _Word | None = None
    index = 0
    while index < len(text):
        char = text[index]
        if text.startswith(("\\\n", "\\\r\n"), index):
            index = text.index("\n", index) + 1
            continue
        if char in " \t\r":
            if word is not None:
                words.append(word)
                word = None
            index += 1
            continue
        if char == "#" and word is None:
            index = text.find("\n", index) % (len(text) + 1)
            continue
        operator = _OPERATOR.match(text, index)
        if operator is not None and (word is None or not operator[0][0].isdigit()):
            if word is not None:
                words.append(word)
                word = None
            index = operator.end()
            if set("<>") & {*operator[0]}:  # what is written to, or read from, is no word
                index = _skipped(text, index)
                continue
            yield words
            words = []
            continue
        word = _Word() if word is None else word
        index = _piece(text, index, word)
    if word is not None:
        words.append(word)
    yield words


def _skipped(text: str, index: int) -> int:
    """The place behind the file that output goes to."""
    while index < len(text) and text[index] in " \t":
        index += 1
    ignored = _Word()
    while index < len(text) and text[index] not in " \t\n;|&<>()":
        index = _piece(text, index, ignored)
    return index


def _piece(text: str, index: int, word: _Word) -> int:
    """Reads one character, one quotation, or one `$(…)` into a word; the place behind it."""
    char = text[index]
    if char == "\\":
        word.add(text[index + 1 : index + 2], "'")
        return index + 2
    if char == "'":
        end = text.find("'", index + 1)
        if end < 0:
            raise ValueError("No closing quotation")
        word.add(text[index + 1 : end], "'")
        return end + 1
    if char == '"':
        return _quoted(text, index + 1, word)
    end = _substitution(text, index)
    word.add(text[index:end], "")
    return end


def _quoted(text: str, index: int, word: _Word) -> int:
    word.add("", '"')
    while index < len(text):
        char = text[index]
        if char == '"':
            return index + 1
        if text.startswith("\\\n", index):
            index += 2
        elif char == "\\" and text[index + 1 : index + 2] in ('"', "\\", "$", "`"):
            word.add(text[index + 1], "'")
            index += 2
        else:
            end = _substitution(text, index)
            word.add(text[index:end], '"')
            index = end
    raise ValueError("No closing quotation")


def _substitution(text: str, index: int) -> int:
    """The place behind a character, or behind all of `$(…)`, `${…}` or a text in backticks."""
    if text[index] == "`":
        end = text.find("`", index + 1)
        return len(text) if end < 0 else end + 1
    opening = text[index : index + 2]
    if opening not in ("$(", "${"):
        return index + 1
    closing, depth = {"$(": ")", "${": "}"}[opening], 0
    for place in range(index + 1, len(text)):
        depth += (text[place] == opening[1]) - (text[place] == closing)
        if not depth:
            return place + 1
    return len(text)
