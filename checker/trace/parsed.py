"""What a worker keeps between jobs: parsed files and compiled statements.

Jobs of one comparison differ in a file or two, and parsing an engine's files costs more than
running its draft.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import hashlib
from typing import TYPE_CHECKING, Any

from checker.syntax.modules import ModuleFile, Workspace, parse_module

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from checker.syntax.modules import TreeLike

_ANNOTATIONS = __future__.annotations.compiler_flag
_MOST = 4096

_files: dict[tuple[str, str, str], ModuleFile] = {}
_codes: dict[tuple[int, str], tuple[ast.stmt, Any]] = {}
_marked: dict[int, tuple[ast.stmt, ast.ClassDef]] = {}
_classes: dict[int, tuple[ast.stmt, list[ast.ClassDef]]] = {}
_names: dict[int, tuple[ast.stmt, list[str]]] = {}


class ParsedWorkspace(Workspace):
    """A workspace whose files are parsed once a process, whatever job they came with."""

    def _parse(self, tree: TreeLike, path: str, name: str, is_package: bool) -> ModuleFile:
        return _parsed(tree, path, name, is_package)


def _parsed(tree: Any, path: str, name: str, is_package: bool) -> ModuleFile:
    key = (path, name, hashlib.sha256(tree.read(path)).hexdigest())
    if key not in _files:
        if len(_files) > _MOST:
            forget()
        _files[key] = parse_module(tree, path, name, is_package)
    return _files[key]


def forget() -> None:
    """Starts anew: what is kept is keyed by statements that the files hold alive."""
    for kept in (_files, _codes, _marked, _classes, _names):
        kept.clear()


def compiled(stmt: ast.stmt, path: str) -> Any:
    """The code of a top-level statement, its annotations left unevaluated."""
    key = (id(stmt), path)
    if key not in _codes:
        module = ast.fix_missing_locations(ast.Module([stmt], []))
        code = builtins.compile(module, path, "exec", flags=_ANNOTATIONS, dont_inherit=True)
        _codes[key] = (stmt, code)
    return _codes[key][1]


def marked(stmt: ast.ClassDef) -> ast.ClassDef:
    """A class whose members a summary overlays, with the decorator that does it.

    It comes last: what other decorators put into the class (a dataclass its initialiser) is
    overlaid as well.
    """
    if id(stmt) not in _marked:
        mark = ast.copy_location(ast.Name("__overlaid__", ast.Load()), stmt)
        made = ast.ClassDef(
            stmt.name, stmt.bases, stmt.keywords, stmt.body, [mark, *stmt.decorator_list]
        )
        if hasattr(stmt, "type_params"):  # Python 3.12 and later
            made.type_params = stmt.type_params  # type: ignore[attr-defined]
        _marked[id(stmt)] = (stmt, ast.copy_location(made, stmt))
    return _marked[id(stmt)][1]


def classes_in(stmt: ast.stmt) -> list[ast.ClassDef]:
    """The classes that a statement defines, inner ones too."""
    if id(stmt) not in _classes:
        _classes[id(stmt)] = (stmt, [n for n in ast.walk(stmt) if isinstance(n, ast.ClassDef)])
    return _classes[id(stmt)][1]


def loaded_names(cls: ast.ClassDef) -> list[str]:
    """Names that a class body loads, its functions' bodies left out."""
    if id(cls) not in _names:
        _names[id(cls)] = (cls, list(dict.fromkeys(_loads(cls.body))))
    return _names[id(cls)][1]


def _loads(body: Sequence[ast.stmt]) -> Iterator[str]:
    stack: list[ast.AST] = list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            stack += [
                *node.decorator_list,
                *node.args.defaults,
                *filter(None, node.args.kw_defaults),
            ]
        elif isinstance(node, ast.Lambda):
            stack += node.args.defaults
        elif isinstance(node, ast.AnnAssign):
            kind = node.annotation  # dataclasses look for ClassVar in the module's names
            root = kind.value if isinstance(kind, ast.Subscript) else kind
            stack += [root, *([node.value] if node.value else [])]
        else:
            stack += list(ast.iter_child_nodes(node))
