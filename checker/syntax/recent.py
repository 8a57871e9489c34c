"""The syntax of files that were parsed, kept for whoever reads the same bytes."""

from __future__ import annotations

import ast
import warnings
from collections import OrderedDict
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from checker.syntax.index import Index, index

if TYPE_CHECKING:
    from checker.syntax.modules import ModuleFile

_KEPT = 768 * 1024
"""Bytes of source whose syntax is kept for others: it takes forty times as much memory."""


class Recent:
    """The syntax of files that were parsed last.

    Both sides stand on libraries that are often the same, and neighbouring releases have most of
    their files in common. Nobody changes what is given here. A workspace holds what it has found
    for as long as it lives, and so long others are given the same.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = 0
        self._files: OrderedDict[bytes, tuple[list[ast.stmt], Index]] = OrderedDict()
        self._living: WeakValueDictionary[bytes, ModuleFile] = WeakValueDictionary()

    def lives(self, data: bytes, module: ModuleFile) -> None:
        """Tells of a module that was made of a file."""
        self._living[data] = module

    def parsed(self, data: bytes) -> tuple[list[ast.stmt], Index]:
        """A file's statements and their index."""
        known = self._files.get(data)
        if known is not None:
            self._files.move_to_end(data)
            return known
        living = self._living.get(data)
        if living is not None:
            return living.syntax
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(data).body
        found = self._files[data] = body, index(body)
        self._held += len(data)
        while self._held > self._most and len(self._files) > 1:
            self._held -= len(self._files.popitem(last=False)[0])
        return found


recent = Recent(_KEPT)


def indexed(data: bytes) -> Index:
    """The index of a file's text.

    Raises:
        SyntaxError, RecursionError, MemoryError, ValueError: it is no Python that can be parsed.
    """
    return recent.parsed(data)[1]
