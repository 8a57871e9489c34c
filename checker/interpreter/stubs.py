"""Operator summaries: what leaves of the checked code mean, read from `contracts/operators/*.yaml`.

A summary is a definition in Python syntax, interpreted like the checked code itself; it stands in
for the definitions whose dotted names it lists. An overlay replaces only the members it defines.
Beside Python's builtins a summary sees `op` (the graph's operators) and whatever it imports.
"""

from __future__ import annotations

import ast
import hashlib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Any

from checker.errors import InputError
from checker.interpreter.values import (
    ClassValue,
    External,
    Function,
    ModuleValue,
    Raised,
    Stuck,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from checker.interpreter.machine import Machine


@dataclass(frozen=True, slots=True)
class Summary:
    """One entry of an operator file.

    `match`: dotted names, `*` spans any characters. `defines`: members one of which the definition
    in the tree must have for the summary to apply (so that one of several shapes of the same class
    is chosen by what is defined, never by a version). `native`: it also stands in where real code
    is run. `pins`: definitions of the checked code whose meaning it was read from, as
    `module:function`, `module:Class.method`, `module` or `package.**`.
    """

    name: str
    match: tuple[str, ...]
    python: str
    overlay: bool
    defines: tuple[str, ...]
    assumption: str | None
    file: str
    native: bool = True
    pins: tuple[str, ...] = ()


class _StubTree:
    """Gives summaries a place for locations; nothing is read through it."""

    label = "contracts"
    roots: tuple[str, ...] = ()

    def read(self, path: str) -> bytes:
        raise KeyError(path)

    def exists(self, path: str) -> bool:
        return False

    def listdir(self, folder: str) -> list[str]:
        return []


class Stubs:
    """All summaries, indexed by the last part of the names they match.

    Each is parsed when first needed.
    """

    def __init__(self, summaries: Iterable[Summary]) -> None:
        self._all = tuple(summaries)
        self._by_last: dict[str, list[Summary]] = {}
        self._by_file: dict[tuple[str, str], Summary] = {}
        self._parsed: dict[str, list[ast.stmt]] = {}
        self._matching: dict[str, list[Summary]] = {}
        for summary in self._all:
            for pattern in summary.match:
                self._by_last.setdefault(pattern.rpartition(".")[2], []).append(summary)
                self._by_file.setdefault((summary.file, pattern.rpartition(".")[2]), summary)
            self._by_file[(summary.file, summary.name)] = summary

    @cached_property
    def digest(self) -> str:
        """What identifies the summaries: all that they say."""
        said = hashlib.sha256()
        for summary in self._all:
            said.update(f"{summary!r}\0".encode())
        return said.hexdigest()

    def all(self) -> tuple[Summary, ...]:
        """Every summary, in the order of the files."""
        return self._all

    def matching(self, path: str) -> list[Summary]:
        """Summaries whose patterns match a dotted name."""
        known = self._matching.get(path)
        if known is None:
            last = path.rpartition(".")[2]
            known = self._matching[path] = [
                s
                for key in (last, "*")
                for s in self._by_last.get(key, ())
                if any(_is_like(path, pattern) for pattern in s.match)
            ]
        return known

    def in_file(self, file: str, name: str) -> Summary | None:
        """The summary of a file that defines `name`."""
        return self._by_file.get((file, name))

    def body(self, summary: Summary) -> list[ast.stmt]:
        """The parsed definition.

        Raises:
            InputError: when the summary is not Python.
        """
        if summary.python not in self._parsed:
            try:
                self._parsed[summary.python] = ast.parse(summary.python).body
            except SyntaxError as error:
                raise InputError(
                    f"the summary of {summary.name} is not Python: {error.msg}",
                    "correct the `python` text of this entry",
                    f"{summary.file}, line {error.lineno} of the text",
                ) from None
        return self._parsed[summary.python]


def load(documents: Iterable[tuple[str, Any]]) -> Stubs:
    """Summaries of already loaded operator files: pairs of file name and document."""
    summaries: list[Summary] = []
    for file, document in documents:
        for entry in document.get("operators", ()):
            match = entry["match"]
            patterns = (match,) if isinstance(match, str) else tuple(match)
            summaries.append(
                Summary(
                    entry.get("name") or patterns[0].rpartition(".")[2],
                    patterns,
                    entry["python"],
                    bool(entry.get("overlay", False)),
                    tuple(entry.get("defines", ())),
                    entry.get("assumption"),
                    file,
                    bool(document.get("native", True)),
                    tuple(entry.get("pins", ())),
                )
            )
    return Stubs(summaries)


def _is_like(path: str, pattern: str) -> bool:
    """Whether a name fits a pattern; most patterns are names, and `fnmatch` compiles each."""
    if "*" in pattern or "?" in pattern or "[" in pattern:
        return fnmatchcase(path, pattern)
    return path == pattern


def find(m: Machine, path: str) -> Value:
    """What stands in for the definition called `path`, or None when it is not summarised.

    The first entry counts: after an overlay that always applies, the definition itself is read.
    """
    for summary in m.stubs.matching(path):
        if summary.defines:
            continue
        if summary.overlay:
            return None
        return value_of(m, summary, path)
    from checker.interpreter import pure_names, torch_names

    found = torch_names.find(path)
    return found if found is not None else pure_names.find(path)


def overlay(m: Machine, cls: ClassValue) -> ClassValue | None:
    """The overlay of a class of the trees, if one matches what the class defines."""
    for summary in m.stubs.matching(cls.qualname):
        if summary.overlay and (
            not summary.defines or any(n in cls.namespace for n in summary.defines)
        ):
            value = value_of(m, summary, cls.qualname)
            if isinstance(value, ClassValue):
                return value
    return None


def stub_module(m: Machine, file: str) -> ModuleValue:
    """The module in which the summaries of one file are evaluated."""
    key = ("stub module", file)
    if key not in m.shared:
        from checker.interpreter import torch_names
        from checker.syntax import ModuleFile

        shared = {} if m.settled is None else m.settled.stubs
        if file in shared:
            m.shared[key] = shared[file]
            return shared[file]
        module = ModuleValue(
            f"<{file}>", ModuleFile(f"<{file}>", _StubTree(), file, False, []), is_stub=True
        )
        module.touched = True
        shared[file] = module
        module.scope.names["op"] = operators = torch_names.operators(m)
        operators.attrs.update(m.shared.get("operators", {}))
        m.shared[key] = module
    return m.shared[key]  # type: ignore[no-any-return]


def value_of(m: Machine, summary: Summary, path: str) -> Value:
    """What a summary says of the definition called `path`; it is evaluated once per machine.

    That is the definition named like the last part of `path`, if the summary has one, else the one
    it is named for.
    """
    from checker.interpreter import scopes, statements
    from checker.interpreter.machine import Frame

    if summary.assumption:
        m.assumptions[summary.assumption] = None
    if summary.pins:
        m.pins.update(dict.fromkeys(summary.pins))
    key = ("summary", summary)
    if key not in m.shared:
        module = stub_module(m, summary.file)
        frame = Frame(module.scope, module, summary.name)
        body = m.stubs.body(summary)
        defined = {name for stmt in body for name in _defined(stmt)} | {summary.name}

        def evaluated() -> dict[str, Value]:
            m.run_in(frame, lambda: statements.run_block(m, frame, body))
            return {name: module.scope.names[name] for name in defined}

        m.shared[key] = {}
        try:
            m.shared[key] = (
                evaluated()
                if m.settled is None
                else m.settled.summary(m, summary, module, scopes.bound_by(body), evaluated)
            )
        except (Raised, Stuck):
            del m.shared[key]  # whoever needs it next evaluates it anew
            raise
    elif m.account is not None and m.settled is not None:
        m.settled.used(m, id(summary))
    values: dict[str, Value] = m.shared[key]
    last = path.rpartition(".")[2]
    if last in values:
        return values[last]
    return values[summary.name] if values else m.unknown(f"{path} is described by itself")


def _defined(stmt: ast.stmt) -> list[str]:
    match stmt:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Assign(targets=[ast.Name(id=name)]):
            return [name]
        case _:
            return []


def sibling(m: Machine, module: ModuleValue, name: str) -> Value:
    """A name used in a summary that another summary of the same file defines.

    None if there is none.
    """
    summary = m.stubs.in_file(module.name.strip("<>"), name)
    return value_of(m, summary, name) if summary is not None else None


__all__ = ["External", "Function", "Stubs", "Summary", "find", "load", "overlay"]
