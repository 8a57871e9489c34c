"""Finding modules by path, and the index of their top-level statements."""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass, field
from typing import Protocol


class TreeLike(Protocol):
    """What this stage needs of a source tree (see `checker.sources`)."""

    @property
    def label(self) -> str: ...

    @property
    def roots(self) -> tuple[str, ...]: ...

    def read(self, path: str) -> bytes: ...

    def exists(self, path: str) -> bool: ...

    def listdir(self, folder: str) -> list[str]: ...


class UnparsableModule(Exception):
    """A checked file is not Python this interpreter's grammar accepts, or nests too deeply to be parsed."""

    def __init__(self, tree: str, path: str, line: int, column: int, reason: str) -> None:
        super().__init__(f"{path}:{line}: {reason}")
        self.tree = tree
        self.path = path
        self.line = line
        self.column = column
        self.reason = reason


@dataclass(slots=True)
class ModuleFile:
    """One parsed module.

    `touching[name]` are the top-level statements, in order, that bind `name` or change what it refers to;
    `effects` are the top-level statements that only act on other names (registrations, assignments to attributes).
    """

    name: str
    tree: TreeLike
    path: str
    is_package: bool
    body: list[ast.stmt]
    touching: dict[str, list[ast.stmt]] = field(default_factory=dict)
    effects: list[ast.stmt] = field(default_factory=list)
    star_imports: list[ast.ImportFrom] = field(default_factory=list)


def _targets(node: ast.expr) -> list[str]:
    """Names which an assignment target binds or whose referent it changes."""
    match node:
        case ast.Name(id=name):
            return [name]
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            return [name for elt in elts for name in _targets(elt)]
        case ast.Starred(value=value) | ast.Attribute(value=value) | ast.Subscript(value=value):
            return _targets(value)
        case _:
            return []


def _call_root(node: ast.expr) -> list[str]:
    """The name at the root of `a.b(...).c`: a bare call may change what it refers to."""
    while True:
        match node:
            case ast.Call(func=inner) | ast.Attribute(value=inner) | ast.Subscript(value=inner):
                node = inner
            case ast.Name(id=name):
                return [name]
            case _:
                return []


def _touched(stmt: ast.stmt) -> list[str]:
    match stmt:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Import(names=names):
            return [alias.asname or alias.name.split(".")[0] for alias in names]
        case ast.ImportFrom(names=names):
            return [alias.asname or alias.name for alias in names if alias.name != "*"]
        case ast.Assign(targets=targets):
            return [name for target in targets for name in _targets(target)]
        case ast.AnnAssign(target=target, value=value) if value is not None:
            return _targets(target)
        case ast.AugAssign(target=target):
            return _targets(target)
        case ast.Expr(value=ast.Call() as call):
            return _call_root(call)
        case ast.Delete(targets=targets):
            return [name for target in targets for name in _targets(target)]
        case ast.For(target=target, body=body, orelse=orelse):
            return _targets(target) + _touched_in(body + orelse)
        case ast.If(body=body, orelse=orelse) | ast.While(body=body, orelse=orelse):
            return _touched_in(body + orelse)
        case ast.With(items=items, body=body):
            bound = [n for i in items if i.optional_vars for n in _targets(i.optional_vars)]
            return bound + _touched_in(body)
        case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
            inner = [stmt for handler in handlers for stmt in handler.body]
            return _touched_in(body + inner + orelse + final)
        case _:
            return []


def _touched_in(stmts: list[ast.stmt]) -> list[str]:
    return [name for stmt in stmts for name in _touched(stmt)]


def _is_effect(stmt: ast.stmt) -> bool:
    """Whether a top-level statement does something beyond binding names of its own module."""
    match stmt:
        case ast.Expr(value=ast.Call()):
            return True
        case ast.Assign(targets=targets):
            return any(isinstance(t, (ast.Attribute, ast.Subscript)) for t in targets)
        case ast.If(body=body, orelse=orelse):
            return any(_is_effect(inner) for inner in body + orelse)
        case ast.For():
            return True
        case ast.FunctionDef(decorator_list=decorators) | ast.ClassDef(decorator_list=decorators):
            return any(isinstance(d, ast.Call) for d in decorators)
        case _:
            return False


def parse_module(tree: TreeLike, path: str, name: str, is_package: bool) -> ModuleFile:
    """Parses one file and indexes its top level.

    Raises:
        UnparsableModule: for text which is not Python, or which nests beyond what can be parsed.
    """
    data = tree.read(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = ast.parse(data)
    except SyntaxError as error:
        raise UnparsableModule(
            tree.label, path, error.lineno or 1, error.offset or 1, error.msg or "invalid syntax"
        ) from None
    except (RecursionError, MemoryError):
        raise UnparsableModule(tree.label, path, 1, 1, "nests too deeply to be parsed") from None
    except ValueError as error:  # null bytes, bad source encoding
        raise UnparsableModule(tree.label, path, 1, 1, str(error)) from None
    module = ModuleFile(name, tree, path, is_package, parsed.body)
    for stmt in parsed.body:
        if isinstance(stmt, ast.ImportFrom) and any(alias.name == "*" for alias in stmt.names):
            module.star_imports.append(stmt)
        for bound in dict.fromkeys(_touched(stmt)):
            module.touching.setdefault(bound, []).append(stmt)
        if _is_effect(stmt):
            module.effects.append(stmt)
    return module


class Workspace:
    """The trees of one engine and what it stands on, searched in order. Files are parsed once, when asked for."""

    def __init__(self, trees: list[TreeLike]) -> None:
        self.trees = trees
        self._modules: dict[str, ModuleFile | None] = {}
        self._packages: dict[str, bool] = {}

    def find(self, name: str) -> ModuleFile | None:
        """The parsed module called `name`, or None when no tree holds a file for it."""
        if name not in self._modules:
            self._modules[name] = self._load(name)
        return self._modules[name]

    def _load(self, name: str) -> ModuleFile | None:
        relative = name.replace(".", "/")
        for tree in self.trees:
            for root in tree.roots:
                for path, is_package in (
                    (f"{root}{relative}.py", False),
                    (f"{root}{relative}/__init__.py", True),
                ):
                    if tree.exists(path):
                        return parse_module(tree, path, name, is_package)
        return None

    def is_package(self, name: str) -> bool:
        """Whether `name` is a folder in a tree, with or without an `__init__.py`."""
        if name not in self._packages:
            folder = name.replace(".", "/") + "/"
            self._packages[name] = any(
                bool(tree.listdir(root + folder)) for tree in self.trees for root in tree.roots
            )
        return self._packages[name]

    def owns(self, name: str) -> bool:
        """Whether the top-level package of `name` is in one of the trees: if not, it is external."""
        return self.is_package(name.partition(".")[0])
