"""The index of a module's top level: which statements bind a name or change what it refers to.

Modules are evaluated by need, name by name. A name's value is right only if every statement that
has a part in it runs: those that bind it, those that act on it (`REGISTRY["a"] = A`,
`REGISTRY.update(…)`, `fill(REGISTRY)`), and those that call or are decorated with a function of the
module which acts on it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from checker.syntax.nodes import children, walk

if TYPE_CHECKING:
    from collections.abc import Iterable

_CONTAINERS = frozenset(
    [
        "dict",
        "list",
        "set",
        "defaultdict",
        "OrderedDict",
        "Counter",
        "deque",
        "WeakValueDictionary",
        "WeakKeyDictionary",
    ]
)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_CHANGING = frozenset(
    [
        "add",
        "append",
        "appendleft",
        "clear",
        "discard",
        "extend",
        "insert",
        "pop",
        "popitem",
        "register",
        "remove",
        "reverse",
        "setdefault",
        "sort",
        "update",
    ]
)


@dataclass(slots=True)
class Index:
    """`touching[name]`: the statements, in order, that a name's value depends on.

    `effects`: the statements that may act on something outside the module; `imports`: those at the
    top that import names of other modules, `star_imports` all of them.
    """

    touching: dict[str, list[ast.stmt]] = field(default_factory=dict)
    effects: list[ast.stmt] = field(default_factory=list)
    imports: list[ast.ImportFrom] = field(default_factory=list)
    star_imports: list[ast.ImportFrom] = field(default_factory=list)


def index(body: list[ast.stmt]) -> Index:
    """Indexes the top level of a module."""
    found = Index()
    reach = _Reach(body)
    for stmt in body:
        if isinstance(stmt, ast.ImportFrom):
            found.imports.append(stmt)
            if any(alias.name == "*" for alias in stmt.names):
                found.star_imports.append(stmt)
        acted = [name for name in _acted(stmt) if name not in reach.imported]
        for name in dict.fromkeys([*touched(stmt), *acted, *reach.changed_by(stmt)]):
            found.touching.setdefault(name, []).append(stmt)
        if _is_effect(stmt):
            found.effects.append(stmt)
    return found


# -- what a statement touches by itself ------------------------------------------------------------


def touched(stmt: ast.stmt) -> list[str]:
    """Names which a statement binds or whose referents it changes in plain sight."""
    names = _walruses(stmt)
    match stmt:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            names.append(name)
        case ast.Import(names=aliases):
            names += [alias.asname or alias.name.split(".")[0] for alias in aliases]
        case ast.ImportFrom(names=aliases):
            names += [alias.asname or alias.name for alias in aliases if alias.name != "*"]
        case ast.Assign(targets=targets):
            names += [name for target in targets for name in _targets(target)]
        case ast.AnnAssign(target=target, value=value) if value is not None:
            names += _targets(target)
        case ast.AugAssign(target=target):
            names += _targets(target)
        case ast.Delete(targets=targets):
            names += [name for target in targets for name in _targets(target)]
        case ast.For(target=target):
            names += _targets(target)
        case ast.With(items=items):
            names += [n for i in items if i.optional_vars for n in _targets(i.optional_vars)]
        case _ if hasattr(ast, "TypeAlias") and isinstance(stmt, ast.TypeAlias):
            names += _targets(stmt.name)
    return names + [name for inner in _inner(stmt) for name in touched(inner)]


def _inner(stmt: ast.stmt) -> Iterable[ast.stmt]:
    """The statements that a compound statement runs at the same level."""
    match stmt:
        case ast.If() | ast.For() | ast.While():
            return [*stmt.body, *stmt.orelse]
        case ast.With():
            return stmt.body
        case ast.Try():
            handled = [inner for handler in stmt.handlers for inner in handler.body]
            return [*stmt.body, *handled, *stmt.orelse, *stmt.finalbody]
        case ast.Match():
            return [inner for case in stmt.cases for inner in case.body]
        case _:
            return []


def _walruses(stmt: ast.stmt) -> list[str]:
    """Names bound by `:=` in the statement's own expressions, and by the patterns of `match`."""
    if isinstance(stmt, (*_DEFINITIONS, ast.Import, ast.ImportFrom)):
        return []
    names: list[str] = []
    stack: list[ast.AST] = [n for n in children(stmt) if not isinstance(n, ast.stmt)]
    while stack:
        node = stack.pop()
        match node:
            case ast.NamedExpr(target=ast.Name(id=name)):
                names.append(name)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                names.append(name)
            case ast.MatchMapping(rest=str(name)):
                names.append(name)
            case ast.ExceptHandler() | ast.Lambda() | ast.Name() | ast.Constant():
                continue
        stack.extend(n for n in children(node) if not isinstance(n, ast.stmt))
    return names


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


def _root(node: ast.expr) -> str | None:
    """The name at the root of `a.b(...).c[d]`."""
    while True:
        match node:
            case ast.Call(func=inner) | ast.Attribute(value=inner) | ast.Subscript(value=inner):
                node = inner
            case ast.Name(id=name):
                return name
            case _:
                return None


def _acted(stmt: ast.stmt) -> list[str]:
    """Names whose referents bare calls and decorators in a statement may change."""
    names: list[str] = []
    for inner in _flat([stmt]):
        match inner:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names += [name for d in inner.decorator_list for name in _acted_on(d)]
            case ast.Expr(value=ast.Call() as call):
                names += _acted_on(call)
    return names


def _acted_on(node: ast.expr) -> list[str]:
    """The object whose method is called, and the arguments."""
    found: list[str] = []
    while isinstance(node, (ast.Call, ast.Attribute)):
        if isinstance(node, ast.Attribute):
            node = node.value
            if isinstance(node, ast.Name):
                found.append(node.id)
        else:
            values = [*node.args, *(keyword.value for keyword in node.keywords)]
            found += [name for value in values if (name := _root(value)) is not None]
            node = node.func
    return found


# -- what a statement reaches through functions of the module --------------------------------------


class _Reach:
    """What calling and subclassing what the module defines changes at its top level."""

    def __init__(self, body: list[ast.stmt]) -> None:
        self.definitions: dict[str, list[ast.AST]] = {}
        self.holders: set[str] = set()
        self.classes: set[str] = set()
        self.imported: set[str] = set()
        self._changes: dict[str, frozenset[str]] = {}
        for stmt in _flat(body):
            if isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.definitions.setdefault(stmt.name, []).append(stmt)
            elif isinstance(stmt, ast.ClassDef):
                self.definitions.setdefault(stmt.name, []).extend(_class_code(stmt))
                self.classes.add(stmt.name)
            elif isinstance(stmt, (ast.Import, ast.ImportFrom)):
                self.imported.update(touched(stmt))
            elif isinstance(stmt, (ast.Assign, ast.AnnAssign)) and _is_holder(stmt.value):
                targets = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target]
                self.holders.update(name for target in targets for name in _targets(target))

    def changed_by(self, stmt: ast.stmt) -> list[str]:
        """Top-level names that a statement changes through functions which it calls."""
        called: list[str] = []
        for inner in _flat([stmt]):
            called += _called_by(inner)
        found: set[str] = set()
        for name in called:
            found |= self._of(name)
        return sorted(found)

    def _of(self, name: str) -> frozenset[str]:
        """What a function of the module, and what it calls in turn, changes."""
        if name not in self.definitions:
            return frozenset()
        if name not in self._changes:
            self._changes[name] = frozenset()  # while it is worked out: recursion adds nothing
            own: set[str] = set()
            for node in self.definitions[name]:
                for inner in walk(node):
                    own |= self._changed_in(inner)
            self._changes[name] = frozenset(own)
        return self._changes[name]

    def _changed_in(self, node: ast.AST) -> set[str]:
        match node:
            case ast.Global(names=names):
                return set(names)
            case (
                ast.Subscript(ctx=ast.Store() | ast.Del(), value=value)
                | ast.Attribute(ctx=ast.Store() | ast.Del(), value=value)
            ):
                root = _root(value)
                return {root} & (self.holders | self.classes) if root is not None else set()
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name))) if name in self.classes:
                return {name}  # a class method may register what it is given
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in _CHANGING:
                root = _root(value)
                return {root} & self.holders if root is not None else set()
            case ast.Call(func=ast.Name(id=name)):
                return set(self._of(name))
            case _:
                return set()


def _flat(body: Iterable[ast.stmt]) -> list[ast.stmt]:
    """Statements with those inside conditions, loops and the like."""
    found: list[ast.stmt] = []
    stack = list(body)[::-1]
    while stack:
        stmt = stack.pop()
        found.append(stmt)
        stack.extend(list(_inner(stmt))[::-1])
    return found


def _class_code(stmt: ast.ClassDef) -> list[ast.AST]:
    """What runs when a class is called or inherited from."""
    wanted = ("__init__", "__new__", "__init_subclass__", "__call__")
    return [s for s in stmt.body if isinstance(s, ast.FunctionDef) and s.name in wanted]


def _is_holder(value: ast.expr | None) -> bool:
    """Whether a value is a container or an object that functions may fill."""
    match value:
        case ast.Dict() | ast.List() | ast.Set() | ast.DictComp() | ast.ListComp() | ast.SetComp():
            return True
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name in _CONTAINERS or name[:1].isupper()
        case _:
            return False


def _called_by(stmt: ast.stmt) -> list[str]:
    """Functions and classes that a statement calls when it runs."""
    match stmt:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            roots = [_root(d) for d in stmt.decorator_list]
        case ast.ClassDef():
            roots = [_root(d) for d in (*stmt.decorator_list, *stmt.bases)]
        case ast.Expr(value=ast.Call() as call):
            roots = [_root(call)]
        case ast.Assign(value=ast.Call() as call):
            roots = [_root(call)]
        case _:
            roots = []
    return [root for root in roots if root is not None]


def _is_effect(stmt: ast.stmt) -> bool:
    """Whether a top-level statement may do something beyond binding names of its own module."""
    match stmt:
        case ast.Expr(value=ast.Call()):
            return True
        case ast.Assign(targets=targets):
            return any(isinstance(t, (ast.Attribute, ast.Subscript)) for t in targets)
        case ast.AugAssign(target=target):
            return isinstance(target, (ast.Attribute, ast.Subscript))
        case ast.Delete(targets=targets):
            return any(isinstance(t, (ast.Attribute, ast.Subscript)) for t in targets)
        case ast.For() | ast.While() | ast.With():
            return True
        case ast.FunctionDef(decorator_list=decorators):
            return bool(decorators)
        case ast.ClassDef(decorator_list=decorators, keywords=keywords):
            return bool(decorators or any(k.arg != "metaclass" for k in keywords))
        case _:
            return any(_is_effect(inner) for inner in _inner(stmt))
