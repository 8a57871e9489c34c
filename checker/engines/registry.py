"""The architectures a server registers, and which of them have a certain method."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING

from checker.engines import alike
from checker.engines.inheriting import related
from checker.interpreter import imports
from checker.interpreter.outline import said
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
    modules = related(m.workspace.texts(stage.package), stage.setter)
    for cls in registered(m, stage, modules):
        if cls.lookup(stage.setter) is not None:
            found.setdefault(cls.name, cls)
    for cls in _derived(m, stage, modules, set(found)):
        found.setdefault(cls.name, cls)
    return dict(sorted(found.items()))


def _derived(
    m: Machine, stage: CaptureStage, modules: list[str], known: set[str]
) -> Iterator[ClassValue]:
    """Classes that inherit from a registered one: servers build some of them by other ways."""
    for name in modules:
        file = m.workspace.find(f"{stage.package}.{name}")
        for node in file.body if file is not None else ():
            if not isinstance(node, ast.ClassDef) or node.name in known:
                continue
            if any(isinstance(base, ast.Name) and base.id in known for base in node.bases):
                cls = _defined(m, stage, name, node.name)
                if cls is not None:
                    yield cls


def _defined(m: Machine, stage: CaptureStage, module: str, name: str) -> ClassValue | None:
    """A class of a module, if it has the stage's method and inherits from one that is listed.

    A class of the same name as that, in another module which does not list it, is none.
    """
    home = m.module(f"{stage.package}.{module}")
    try:
        cls = None if home is None else imports.module_name(m, home, name)
        if not isinstance(cls, ClassValue) or cls.lookup(stage.setter) is None:
            return None
        return cls if any(_is_listed(m, stage, base) for base in cls.mro[1:]) else None
    except _ENDS:
        return None


def _is_listed(m: Machine, stage: CaptureStage, cls: ClassValue) -> bool:
    """Whether the module that defines a class lists it."""
    home = cls.module
    if home is None or home.is_stub or not home.name.startswith(f"{stage.package}."):
        return False
    try:
        listed = imports.module_name(m, home, stage.listed)
    except _ENDS:
        return False
    return any(item is cls for item in (listed if isinstance(listed, (list, tuple)) else [listed]))


def named(m: Machine, stage: CaptureStage, name: str) -> ClassValue | None:
    """The class registered under a name.

    A file whose bytes do not hold the name cannot list the class and is not read further.
    """
    likely = m.workspace.naming(stage.package, name)
    found = next((cls for cls in registered(m, stage, likely) if cls.name == name), None)
    if found is not None:
        return found
    return next(
        (cls for cls in (_defined(m, stage, module, name) for module in likely) if cls), None
    )


def is_bare(m: Machine, stage: CaptureStage, name: str) -> bool:
    """Whether a class of that name may be one that adds nothing to another.

    Only the file that seems to define it is opened: a class that is missed is run itself.
    """
    for module in m.workspace.naming(stage.package, name)[:1]:
        file = m.workspace.find(f"{stage.package}.{module}")
        if file is not None and name in file.touching:
            return any(alike.is_bare(node) for node in file.touching[name])
    return False


def mentioned(m: Machine, stage: CaptureStage, name: str) -> bool:
    """Whether a module of the registry's package holds a name: what none holds, none registers."""
    found = m.workspace.naming(stage.package, name)
    return bool(found) or not m.workspace.naming(stage.package, "")


def registered(m: Machine, stage: CaptureStage, names: list[str]) -> Iterator[ClassValue]:
    """The classes that modules of the registry's package list."""
    for name in names:
        module = m.module(f"{stage.package}.{name}")
        if module is None:
            continue
        try:
            listed = imports.module_name(m, module, stage.listed)
        except _ENDS as error:
            if m.debug:
                sys.stderr.write(f"registry: {name}: {said(error)}\n")
            continue  # a module that fails to import is left out of the registry
        for cls in listed if isinstance(listed, (list, tuple)) else [listed]:
            if isinstance(cls, ClassValue):
                yield cls
