"""Modules of the checked trees, executed definition by definition.

A model file imports a whole engine, and most of an engine does not import without its kernels. What
the static run interpreted is executed here as it stands: each top-level statement of a module runs
when a name that it binds is first asked for, with real Python semantics and unmodified text. Names
that the operator files describe are the summaries, executed as well; a name of a package that is
neither at hand nor described ends the run without a verdict.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from checker.syntax.modules import ModuleFile, Workspace
from checker.trace.parsed import classes_in, compiled, loaded_names, marked

MISSING = object()
"""What is given where nothing was found."""


class NoVerdict(Exception):
    """The run cannot say anything, and why."""


class NotRunnable(NoVerdict, ImportError):
    """What is imported is described, but not for being run; whoever tries may do without it."""


class Library:
    """All modules of one run: the trees' files, the summaries, and the rest of Python."""

    def __init__(
        self,
        workspace: Workspace,
        summaries: Any,
        operators: Any,
        eager: set[str],
        unrunnable: frozenset[str] = frozenset(),
    ) -> None:
        self.workspace = workspace
        self.summaries = summaries
        self.operators = operators
        self.eager = eager
        self.unrunnable = unrunnable
        self.stub_globals: dict[str, Globals] = {}
        self.evaluated: dict[Any, Any] = {}
        self.used: dict[str, None] = {}
        self.running: list[tuple[Globals, ast.stmt]] = []
        self._absent: dict[str, bool] = {}

    def install(self) -> None:
        """Puts the trees' packages before everything else that can be imported."""
        sys.meta_path.insert(0, _Finder(self))

    def owns(self, name: str) -> bool:
        """Whether a module belongs to a tree."""
        return self.workspace.owns(name)

    def stands_in(self, name: str) -> bool:
        """Whether summaries stand in for a package that is neither in a tree nor installed."""
        top = name.partition(".")[0]
        if top not in self._absent:
            known = top in sys.stdlib_module_names or top in sys.builtin_module_names
            installed = known or importlib.machinery.PathFinder.find_spec(top) is not None
            described = any(p.startswith(f"{top}.") for s in self.summaries.all() for p in s.match)
            self._absent[top] = described and not installed and not self.owns(top)
        return self._absent[top]

    def summary(self, path: str) -> Any:
        """The executed summary of a dotted name, or `MISSING`.

        What is installed is used as it is: only packages of the trees, and those that are not
        there at all, go by their summaries.
        """
        if not self.owns(path) and not self.stands_in(path):
            return MISSING
        for found in self.summaries.matching(path):
            if not found.overlay and not found.defines:
                return self.evaluate(found)
        return MISSING

    def overlay(self, cls: type) -> None:
        """Replaces the members of a class that an overlay describes."""
        path = f"{cls.__module__}.{cls.__name__}"
        for found in self.summaries.matching(path):
            if found.overlay and (not found.defines or any(n in vars(cls) for n in found.defines)):
                over = self.evaluate(found)
                for name, value in vars(over).items():
                    if name not in (
                        "__module__",
                        "__qualname__",
                        "__doc__",
                        "__dict__",
                        "__weakref__",
                    ):
                        setattr(cls, name, value)
                return

    def evaluate(self, summary: Any) -> Any:
        """The object that a summary defines, executed once."""
        if summary not in self.evaluated:
            space = self.stub_globals.get(summary.file)
            if space is None:
                space = Globals(self, f"<{summary.file}>", None)
                space["op"] = self.operators
                self.stub_globals[summary.file] = space
            self.used[f"{summary.file}: {summary.name}"] = None
            code = builtins.compile(summary.python, f"<{summary.file}: {summary.name}>", "exec")
            builtins.exec(code, space)
            self.evaluated[summary] = space[summary.name]
        return self.evaluated[summary]

    def naming(self, package: str, name: str) -> Iterator[str]:
        """The modules of a package in whose files a name occurs."""
        folder = package.replace(".", "/") + "/"
        for tree in self.workspace.trees:
            for root in tree.roots:
                for entry in sorted(tree.listdir(root + folder)):
                    if entry.endswith(".py") and name.encode() in tree.read(root + folder + entry):
                        yield f"{package}.{entry[:-3]}"

    def resolve(self, base: str, name: str) -> Any:
        """`from base import name`, or `MISSING`."""
        found = self.summary(f"{base}.{name}")
        if found is not MISSING:
            return found
        if not self.owns(base) and not self.stands_in(base):
            return _foreign(base, name)
        module = importlib.import_module(base)
        value = module.__dict__["__lazy__"].value(name)
        if value is not MISSING:
            return value
        if self.workspace.find(f"{base}.{name}") or self.workspace.is_package(f"{base}.{name}"):
            return importlib.import_module(f"{base}.{name}")
        return MISSING


def _foreign(base: str, name: str) -> Any:
    """A name of a package outside the trees: the real one where it is installed."""
    try:
        module = importlib.import_module(base)
    except ImportError:
        needed = f"{base}.{name} is needed, and neither installed nor described"
        package = base.partition(".")[0]
        raise NoVerdict(f"{needed} (pip install {package} there, or --prepare)") from None
    if hasattr(module, name):
        return getattr(module, name)
    try:
        return importlib.import_module(f"{base}.{name}")
    except ImportError:
        return MISSING


class Globals(dict[str, Any]):
    """A module's globals: a missing name is evaluated when it is asked for."""

    def __init__(self, library: Library, name: str, file: ModuleFile | None) -> None:
        super().__init__()
        self.library, self.file = library, file
        self.pending: set[str] = set()
        self.done: set[Any] = set()
        self.mirror: dict[str, Any] = {}
        self["__name__"] = name
        self["__builtins__"] = builtins
        if file is not None:
            self["__package__"] = name if file.is_package else name.rpartition(".")[0]

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        self.mirror[name] = value

    def __missing__(self, name: str) -> Any:
        value = self.value(name)
        if value is MISSING:
            if hasattr(builtins, name):
                return getattr(builtins, name)
            raise KeyError(name)
        return value

    def value(self, name: str) -> Any:
        """The value of a global, or `MISSING`."""
        if dict.__contains__(self, name) and (
            name in self.pending or self.file is None or name in self.done
        ):
            return dict.__getitem__(self, name)
        if self.file is None:
            return self._sibling(name)
        if name in self.pending or name in self.done or name not in self.file.touching:
            if dict.__contains__(self, name):
                return dict.__getitem__(self, name)
            return self._from_star(name) if name not in self.file.touching else MISSING
        declared = self._declared(name)
        if declared is not MISSING:
            return declared
        self.pending.add(name)
        # what is called while the module is being run sees what stands above, and no more
        running = self.library.running
        before = running[-1][1].lineno if running and running[-1][0] is self else None
        try:
            for stmt in self.file.touching[name]:
                if before is not None and stmt.lineno >= before:
                    break
                self._statement(stmt, name)
            else:
                self.done.add(name)
        finally:
            self.pending.discard(name)
        return dict.get(self, name, MISSING)

    def _sibling(self, name: str) -> Any:
        file = str(dict.__getitem__(self, "__name__")).strip("<>")
        summary = self.library.summaries.in_file(file, name)
        return self.library.evaluate(summary) if summary is not None else MISSING

    def _statement(self, stmt: ast.stmt, name: str) -> None:
        if isinstance(stmt, ast.ImportFrom):
            for alias in stmt.names:
                if (alias.asname or alias.name) == name:
                    base = absolute(str(self["__name__"]), self.file, stmt)
                    if base == "__future__":
                        continue
                    value = self.library.resolve(base, alias.name)
                    if value is MISSING:
                        if self.library.workspace.is_package(base):  # a file that was not sent?
                            full = f"{base}.{alias.name}"
                            raise NoVerdict(f"{full} was not met when the code was interpreted")
                        raise ImportError(f"cannot import name {alias.name!r} from {base!r}")
                    self[name] = value
            return
        if id(stmt) in self.done:
            return
        self.done.add(id(stmt))
        if isinstance(stmt, (ast.FunctionDef, ast.ClassDef)):
            found = self.library.summary(f"{self['__name__']}.{stmt.name}")
            if found is not MISSING:
                self[stmt.name] = found
                return
        self.execute(stmt)

    def execute(self, stmt: ast.stmt) -> None:
        """One top-level statement, as it stands.

        Annotations stay unevaluated: they compute nothing, and name half of an engine.
        """
        assert self.file is not None
        if isinstance(stmt, ast.ClassDef) and self.library.summaries.matching(
            f"{self['__name__']}.{stmt.name}"
        ):
            self["__overlaid__"] = self._overlaid
            stmt = marked(stmt)
        self.library.running.append((self, stmt))
        try:
            self._run(stmt)
        finally:
            self.library.running.pop()

    def _run(self, stmt: ast.stmt) -> None:
        assert self.file is not None
        withheld = self._prepare(stmt)
        try:
            builtins.exec(compiled(stmt, self.file.path), self)
        except NameError as error:
            if error.name in withheld:
                raise withheld[error.name] from None
            raise

    def _prepare(self, stmt: ast.stmt) -> dict[str, Exception]:
        """Evaluates the globals that class bodies use: Python looks those up in its own way.

        Gives those that could not be had: a class body that really needs one fails for that reason.
        """
        withheld: dict[str, Exception] = {}
        for cls in classes_in(stmt):
            for name in loaded_names(cls):
                if (
                    self.file is not None
                    and name in self.file.touching
                    and name not in self.pending
                ):
                    try:
                        self.value(name)
                    except (NoVerdict, ImportError) as error:
                        withheld[name] = error
        return withheld

    def _overlaid(self, cls: type) -> type:
        self.library.overlay(cls)
        return cls

    def _declared(self, name: str) -> Any:
        """Where a package that fills itself lazily says, to type checkers, that a name lives."""
        assert self.file is not None
        stmts = self.file.touching[name]
        if not self.file.is_package or not all(isinstance(s, (ast.If, ast.Try)) for s in stmts):
            return MISSING
        return self._search(stmts, name)

    def _from_star(self, name: str) -> Any:
        assert self.file is not None
        for stmt in self.file.star_imports:
            base = absolute(str(self["__name__"]), self.file, stmt)
            found = self.library.workspace.find(base)
            if found is not None and name in found.touching:
                return self.library.resolve(base, name)
        if self.file.is_package:
            return self._search(
                [s for s in self.file.body if isinstance(s, (ast.If, ast.Try))], name
            )
        return MISSING

    def _search(self, stmts: Sequence[ast.stmt], name: str) -> Any:
        assert self.file is not None
        for stmt in stmts:
            for node in ast.walk(stmt):
                if not isinstance(node, ast.ImportFrom):
                    continue
                base = absolute(str(self["__name__"]), self.file, node)
                if base == self["__name__"]:
                    continue
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        return self.library.resolve(base, alias.name)
                    if alias.name == "*":
                        found = self.library.workspace.find(base)
                        if found is not None and name in found.touching:
                            return self.library.resolve(base, name)
        return MISSING


def absolute(name: str, file: ModuleFile | None, stmt: ast.ImportFrom) -> str:
    """The dotted name a `from … import` refers to."""
    if not stmt.level:
        return stmt.module or ""
    parts = name.split(".")
    keep = len(parts) - stmt.level + (1 if file is not None and file.is_package else 0)
    base = ".".join(parts[: max(keep, 0)])
    return f"{base}.{stmt.module}" if stmt.module else base


class _LazyModule(types.ModuleType):
    """A module of a tree: attributes are its lazily evaluated globals."""

    def __getattr__(self, name: str) -> Any:
        lazy: Globals = self.__dict__["__lazy__"]
        if name.startswith("__") and name not in (lazy.file.touching if lazy.file else ()):
            raise AttributeError(name)
        found = lazy.library.summary(f"{self.__name__}.{name}")
        value = found if found is not MISSING else lazy.value(name)
        if value is MISSING:
            full = f"{self.__name__}.{name}"
            if lazy.library.workspace.find(full) or lazy.library.workspace.is_package(full):
                return importlib.import_module(full)
            if lazy.file is not None and not lazy.file.path and not name.startswith("__"):
                raise NoVerdict(f"{full} was not met when the code was interpreted")
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__"):
            super().__setattr__(name, value)
            return
        lazy: Globals = self.__dict__["__lazy__"]
        lazy[name] = value
        lazy.done.add(name)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the trees' modules."""

    def __init__(self, library: Library) -> None:
        self.library = library

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        del path, target
        if fullname.partition(".")[0] in self.library.unrunnable:
            raise NotRunnable(f"{fullname} is described, but not for being run")
        if not self.library.owns(fullname) and not self.library.stands_in(fullname):
            return None
        file = self.library.workspace.find(fullname)
        return importlib.machinery.ModuleSpec(
            fullname, self, is_package=file is None or file.is_package
        )

    def create_module(self, spec: Any) -> types.ModuleType:
        module = _LazyModule(spec.name)
        file = self.library.workspace.find(spec.name)
        lazy = module.__dict__["__lazy__"] = Globals(self.library, spec.name, file)
        lazy.mirror = module.__dict__
        if file is None:
            module.__dict__["__lazy__"].file = ModuleFile(
                spec.name, self.library.workspace.trees[0], "", True, []
            )
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing runs yet, except what registers itself in packages that are followed whole."""
        package = module.__name__.partition(".")[0]
        lazy: Globals = module.__dict__["__lazy__"]
        if package not in self.library.eager or lazy.file is None:
            return
        for stmt in lazy.file.body:
            if isinstance(stmt, ast.ImportFrom):
                base = absolute(module.__name__, lazy.file, stmt)
                if base.partition(".")[0] == package:
                    for name in (base, *(f"{base}.{a.name}" for a in stmt.names)):
                        if self.library.workspace.find(name):
                            importlib.import_module(name)
        for stmt in lazy.file.effects:
            if id(stmt) in lazy.done:
                continue
            for bound in _binds(stmt):
                lazy.value(bound)
            if id(stmt) not in lazy.done and not isinstance(stmt, (ast.ClassDef, ast.FunctionDef)):
                lazy.done.add(id(stmt))
                try:
                    lazy.execute(stmt)
                except NoVerdict:
                    continue


def _binds(stmt: ast.stmt) -> list[str]:
    if isinstance(stmt, (ast.ClassDef, ast.FunctionDef)):
        return [stmt.name]
    return []


def missing(value: Any) -> bool:
    """Whether nothing was found."""
    return value is MISSING


__all__ = ["Callable", "Globals", "Library", "Mapping", "NoVerdict", "missing"]
