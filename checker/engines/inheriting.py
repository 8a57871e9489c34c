"""Which files can define a class that has a certain method, told from their text.

To parse every file of a package that nobody asks about would cost more than anything else of
listing a server's targets. What is told here is never less than what is so: a class is taken for
one that has the method if its text names the method, or if it names such a class as a base.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_LINES = re.MULTILINE
_CLASS = re.compile(rb"^[ \t]*class\s+(\w+)((?:[^:#]|#[^\n]*)*):", _LINES)
# in an import no other word follows, as one does in a sentence of a remark
_ALIAS = re.compile(rb"\b(\w+)\s+as\s+(\w+)[ \t\f]*(?![ \t\f\w])")
# up to the next line that begins at the margin; another binding may stand among those
_BOUND = re.compile(
    rb"^[ \t]*(\w+)[ \t]*(?::[^=\n]*)?=(?!=)(?=([^\n]*(?:\n(?:[ \t)\]}#][^\n]*)?)*))", _LINES
)
_INNER = re.compile(rb"^(?:async\b|def\b|class\b|@)[^\n]*(?:\n(?=[ \t)\]}#\n]|\Z)[^\n]*)*", _LINES)
# no part of a longer name; what begins with plain letters is found much faster
_MADE = re.compile(rb"type(?<!\wtype)\s*\(\s*[\w.\"'f]+\s*,")
_NAMES = b"__all__"
"""It holds texts, which stand for no class."""
_WORD = re.compile(rb"\w+")


@dataclass(frozen=True, slots=True)
class _File:
    """What a file's text says.

    `classes`: with the names that their bases are told by, and whether their own text names the
    method. `aliases`: other names that it gives, with those that stand for what gets them. `names`:
    it names the method somewhere; `makes`: it may make classes without a statement.
    """

    classes: list[tuple[bytes, frozenset[bytes], bool]]
    aliases: list[tuple[bytes, frozenset[bytes]]]
    names: bool
    makes: bool

    def new(self, known: set[bytes]) -> set[bytes]:
        """Names of classes that have the method, if those of `known` do."""
        every = [*((name, bases) for name, bases, _ in self.classes), *self.aliases]
        return {name for name, of in every if name not in known and of & known}


def related(texts: Mapping[str, bytes], method: str) -> list[str]:
    """Modules whose classes can have a method, by the modules' texts."""
    word = method.encode()
    put = re.compile(rb"\.%s\s*=[^=]|setattr\s*\([^)]*%s" % (word, word))
    files = {name: _read(text, word, put) for name, text in texts.items()}
    known = {name for file in files.values() for name, _, has in file.classes if has}
    new = known
    while new:
        new = {name for file in files.values() for name in file.new(known)}
        known = known | new
    return sorted(name for name, file in files.items() if _counts(file, texts[name], known))


def _read(text: bytes, word: bytes, put: re.Pattern[bytes]) -> _File:
    found = list(_CLASS.finditer(text))
    ends = [*(match.start() for match in found), len(text)][1:]
    names = word in text
    every = names and put.search(text) is not None  # whose it becomes is not looked for
    classes = [
        (match[1], _words(match[2]), every or (names and text.find(word, match.start(), end) >= 0))
        for match, end in zip(found, ends, strict=False)
    ]
    outer = _INNER.sub(b"", text)  # what stands in functions and classes binds no name of a module
    aliases = [(new, frozenset((old,))) for old, new in _ALIAS.findall(outer)]
    aliases += [(name, _words(value)) for name, value in _BOUND.findall(outer) if name != _NAMES]
    return _File(classes, aliases, names, _MADE.search(text) is not None)


def _counts(file: _File, text: bytes, known: set[bytes]) -> bool:
    """Whether a file has to be read: it may define, make or list such a class."""
    told: Iterable[bytes] = (name for name, _, _ in file.classes)
    return (
        file.names
        or any(name in known for name in told)
        or any(of & known for _, of in file.aliases)
        or (file.makes and not known.isdisjoint(_WORD.findall(text)))
    )


def _words(text: bytes) -> frozenset[bytes]:
    return frozenset(_WORD.findall(text))


__all__ = ["related"]
