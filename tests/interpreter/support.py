"""Interpreting programs that tests hold in memory or beside them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from checker.engines.description import load_operators
from checker.graph.dims import symbol
from checker.graph.terms import Pool
from checker.interpreter import calls, imports, stubs
from checker.interpreter.machine import Frame, Limits, Machine
from checker.interpreter.values import (
    BoundMethod,
    ClassValue,
    Function,
    Instance,
    ModuleValue,
    Native,
    Raised,
    Stuck,
    Unknown,
)
from checker.syntax import UnparsableModule, Workspace

PROGRAMS = Path(__file__).parent / "programs"
S = symbol("S")


class MemoryTree:
    """A source tree whose files are given as text or bytes."""

    label = "checked==1"
    roots = ("",)

    def __init__(self, files: dict[str, str | bytes]) -> None:
        self.files = {k: v.encode() if isinstance(v, str) else v for k, v in files.items()}

    def read(self, path: str) -> bytes:
        return self.files[path]

    def exists(self, path: str) -> bool:
        return path in self.files

    def listdir(self, folder: str) -> list[str]:
        found = set()
        for path in self.files:
            if path.startswith(folder):
                first, slash, _ = path[len(folder) :].partition("/")
                found.add(first + slash)
        return sorted(found)


@cache
def operators() -> stubs.Stubs:
    return load_operators()


def machine(files: dict[str, str | bytes], **options: Any) -> Machine:
    tree = MemoryTree(files)
    limits = options.pop("limits", Limits(seconds=20.0))
    return Machine(
        Workspace([tree]), Pool(), operators(), engine=tree.label, limits=limits, **options
    )


def call(m: Machine, module: str, name: str, *args: Any, **kwargs: Any) -> Any:
    """Calls the function `name` of a module of the checked program."""
    found = imports.import_from(m, module, name)
    frame = Frame(ModuleValue("<test>", None).scope, ModuleValue("<test>", None), "<test>")
    return m.run_in(frame, lambda: calls.call(m, found, list(args), kwargs))


def run(
    source: str | bytes, *args: Any, files: dict[str, str] | None = None, **options: Any
) -> Any:
    """What `main()` of a program returns, as host data; exceptions and dead ends by name."""
    m = machine({"main.py": source, **(files or {})}, **options)
    return outcome(m, "main", "main", *args)


def outcome(m: Machine, module: str, name: str, *args: Any) -> Any:
    try:
        return plain(m, call(m, module, name, *args))
    except Raised as raised:
        return f"raises {raised.type_name}"
    except Stuck as stuck:
        return f"stuck: {stuck.reason}"
    except UnparsableModule as error:
        return f"unparsable: {error.reason}"


def plain(m: Machine, value: Any) -> Any:
    """A value of the checked program as host data, for comparison."""
    match value:
        case Unknown(reason=reason):
            return f"unknown: {reason}"
        case Instance() if value.cls.is_enum:
            return f"<{value.cls.name}.{value.attrs.get('_name_')}>"
        case Instance() if value.data is not None:
            return plain(m, value.data)
        case Instance():
            return f"<{value.cls.name}>"
        case ClassValue() | Function() | Native():
            return f"<{value.name}>"
        case BoundMethod():
            return "<method>"
        case list():
            return [plain(m, v) for v in value]
        case tuple():
            return tuple(plain(m, v) for v in value)
        case dict():
            return {plain(m, k): plain(m, v) for k, v in value.items()}
        case set() | frozenset():
            return {plain(m, v) for v in value}
        case _:
            return value
