"""The architectures a server registers, and which of them have a certain method."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from checker.interpreter import imports
from checker.interpreter.values import ClassValue, Raised, Stuck
from checker.syntax import UnparsableModule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from checker.engines.description import CaptureStage
    from checker.interpreter.machine import Machine

_ENDS = (Raised, Stuck, UnparsableModule, RecursionError)


def having(m: Machine, stage: CaptureStage) -> dict[str, ClassValue]:
    """Registered classes that define or inherit the stage's method, by architecture."""
    found: dict[str, ClassValue] = {}
    for cls in registered(m, stage, related(_texts(m, stage.package), stage.setter)):
        if cls.lookup(stage.setter) is not None:
            found.setdefault(cls.name, cls)
    return dict(sorted(found.items()))


def named(m: Machine, stage: CaptureStage, name: str) -> ClassValue | None:
    """The class registered under a name.

    A file whose bytes do not hold the name cannot list the class and is not read further.
    """
    texts = _texts(m, stage.package)
    likely = [module for module, text in texts.items() if name.encode() in text]
    return next((cls for cls in registered(m, stage, likely) if cls.name == name), None)


def registered(m: Machine, stage: CaptureStage, names: list[str]) -> Iterator[ClassValue]:
    """The classes that modules of the registry's package list."""
    for name in names:
        module = m.module(f"{stage.package}.{name}")
        if module is None:
            continue
        try:
            listed = imports.module_name(m, module, stage.listed)
        except _ENDS:
            continue  # a module that fails to import is left out of the registry
        for cls in listed if isinstance(listed, (list, tuple)) else [listed]:
            if isinstance(cls, ClassValue):
                yield cls


def _texts(m: Machine, package: str) -> dict[str, bytes]:
    """The modules that lie directly in a package, with their content."""
    folder = package.replace(".", "/") + "/"
    texts: dict[str, bytes] = {}
    for tree in m.workspace.trees:
        for root in tree.roots:
            for entry in sorted(tree.listdir(root + folder)):
                if entry.endswith(".py"):
                    texts.setdefault(entry[:-3], tree.read(root + folder + entry))
    return texts


def related(texts: dict[str, bytes], word: str) -> list[str]:
    """Modules whose classes can have a method: those that name it, and those that name such modules.

    What names neither can neither define nor inherit it.
    """
    wanted = word.encode()
    found = {name for name, text in texts.items() if wanted in text}
    words = {name: set(re.findall(rb"\w+", text)) for name, text in texts.items()}
    new = set(found)
    while new:
        marks = {name.encode() for name in new}
        new = {name for name, used in words.items() if name not in found and used & marks}
        found |= new
    return sorted(found)


def all_names(m: Machine, stage: CaptureStage) -> list[str]:
    """Every module of the registry's package."""
    return sorted(_texts(m, stage.package))
