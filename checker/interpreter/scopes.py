"""Names: which scope each belongs to, looking them up, binding and deleting them."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from checker.interpreter.machine import Frame, Machine
from checker.interpreter.values import Code, Scope, Value

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def code_of(m: Machine, node: ast.AST) -> Code:
    """The names that the body of a function or class binds itself, and whether it is a generator."""
    code = m.codes.get(node)
    if code is None:
        code = m.codes[node] = _analyse(node)
    return code


class _Names:
    """Collects the bindings of one body, not those of functions and classes in it."""

    def __init__(self) -> None:
        self.bound: set[str] = set()
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.yields = False

    def walk(self, roots: Iterable[ast.AST]) -> None:
        stack: list[tuple[ast.AST, bool]] = [(root, False) for root in roots]
        while stack:
            node, inside = stack.pop()
            self._note(node, inside)
            stack.extend((child, within) for child, within in _children(node, inside))

    def _note(self, node: ast.AST, inside: bool) -> None:
        """Notes what one node binds; `inside` a comprehension only a walrus binds outside."""
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) if not inside:
                self.bound.add(name)
            case ast.NamedExpr(target=ast.Name(id=name)):
                self.bound.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                self.bound.add(name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                self.bound.update(a.asname or a.name.partition(".")[0] for a in names)
            case ast.ExceptHandler(name=str(name)):
                self.bound.add(name)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                self.bound.add(name)
            case ast.MatchMapping(rest=str(name)):
                self.bound.add(name)
            case ast.Global(names=names):
                self.globals.update(names)
            case ast.Nonlocal(names=names):
                self.nonlocals.update(names)
            case ast.Yield() | ast.YieldFrom():
                self.yields = True


def _children(node: ast.AST, inside: bool) -> list[tuple[ast.AST, bool]]:
    """The nodes below `node` that run in the same scope."""
    if isinstance(node, _FUNCTIONS):
        outside = [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
        if not isinstance(node, ast.Lambda):
            outside += node.decorator_list
        return [(child, inside) for child in outside]
    if isinstance(node, ast.ClassDef):
        keywords = [keyword.value for keyword in node.keywords]
        return [(child, inside) for child in (*node.bases, *keywords, *node.decorator_list)]
    if isinstance(node, _COMPREHENSIONS):
        return [(child, True) for child in ast.iter_child_nodes(node)]
    return [(child, inside) for child in ast.iter_child_nodes(node)]


def _analyse(node: ast.AST) -> Code:
    names = _Names()
    if isinstance(node, ast.Lambda):
        names.walk([node.body])
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        names.walk(node.body)
    local = names.bound - names.globals - names.nonlocals
    if isinstance(node, ast.ClassDef):
        local = set()  # a class body sees the outer name until it binds its own
    return Code(
        frozenset(local),
        frozenset(names.globals),
        frozenset(names.nonlocals),
        names.yields,
        isinstance(node, ast.AsyncFunctionDef),
    )


def lookup(m: Machine, frame: Frame, name: str) -> Value:
    """A name as seen from `frame`: local, enclosing, global, builtin.

    Raises:
        Raised: NameError of the checked program.
    """
    scope: Scope | None = frame.scope
    if name in frame.scope.names:
        return frame.scope.names[name]
    while scope is not None:
        if name in scope.names and (scope is frame.scope or not scope.is_class):
            return scope.names[name]
        if name in scope.code.global_names:
            break
        if name in scope.code.local_names:
            kind = "UnboundLocalError" if scope is frame.scope else "NameError"
            raise m.exception(kind, f"cannot access variable '{name}' where it is not associated with a value")
        scope = scope.parent
    return _outer(m, frame, name)


def _outer(m: Machine, frame: Frame, name: str) -> Value:
    from checker.interpreter import imports, stubs

    if frame.module.is_stub and name not in frame.module.scope.names:
        summary = stubs.sibling(m, frame.module, name)
        if summary is not None:
            return summary
    value = imports.module_name(m, frame.module, name, _statement(frame))
    if not imports.is_missing(value):
        return value
    if name in m.builtins:
        return m.builtins[name]
    raise m.exception("NameError", f"name '{name}' is not defined")


def _statement(frame: Frame) -> ast.stmt | None:
    """The top-level statement that is being run, when the name is used by the module's own level."""
    scope = frame.scope
    while scope.is_comprehension or scope.is_class:
        if scope.parent is None:
            break
        scope = scope.parent
    return frame.top_level


def bind(m: Machine, frame: Frame, name: str, value: Value) -> None:
    """`name = value` in the scope that `name` belongs to."""
    scope = frame.scope
    if name in scope.code.global_names:
        frame.module.scope.names[name] = value
        frame.module.done_names.add(name)
        return
    if name in scope.code.nonlocal_names:
        outer = _holder(scope.parent, name)
        if outer is not None:
            outer.names[name] = value
            return
    scope.names[name] = value


def bind_walrus(m: Machine, frame: Frame, name: str, value: Value) -> None:
    """`(name := value)`: binds outside comprehensions."""
    scope = frame.scope
    while scope.is_comprehension and scope.parent is not None:
        scope = scope.parent
    if scope.is_comprehension:
        scope = frame.module.scope
    if scope is frame.scope:
        bind(m, frame, name, value)
    else:
        bind(m, Frame(scope, frame.module, frame.name), name, value)


def _holder(scope: Scope | None, name: str) -> Scope | None:
    """The enclosing function scope that owns `name`."""
    while scope is not None:
        if not scope.is_class and (name in scope.names or name in scope.code.local_names):
            return scope
        scope = scope.parent
    return None


def delete(m: Machine, frame: Frame, name: str) -> None:
    """`del name`."""
    scope: Scope | None = frame.scope
    if name in frame.scope.code.global_names:
        lookup(m, frame, name)
        scope = frame.module.scope
        frame.module.done_names.add(name)
    elif name in frame.scope.code.nonlocal_names:
        scope = _holder(frame.scope.parent, name)
    if scope is None or name not in scope.names:
        raise m.exception("NameError", f"name '{name}' is not defined")
    del scope.names[name]


def mangled(frame: Frame, name: str) -> str:
    """A private name (`__x`) as the class whose body it stands in spells it."""
    if frame.owner is None or not name.startswith("__") or name.endswith("__"):
        return name
    owner = frame.owner.name.lstrip("_")
    return f"_{owner}{name}" if owner else name
