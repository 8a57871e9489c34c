"""Names: which scope each belongs to, looking them up, binding and deleting them."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from checker.interpreter import imports, stubs
from checker.interpreter.machine import Frame, Machine
from checker.interpreter.values import Code, Scope, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from checker.syntax.modules import ModuleFile


def code_of(m: Machine, node: ast.AST) -> Code:
    """The names that a function or class body binds itself, and whether it is a generator."""
    code: Code | None = getattr(node, _KEPT, None)
    if code is None:
        code = _analyse(node)
        setattr(node, _KEPT, code)
    return code


_KEPT = "_code"
"""Where syntax, which never changes, has what was found out of it: all runs ask for the same."""


class _Names:
    """Collects the bindings of one body, not those of functions and classes in it."""

    def __init__(self) -> None:
        self.bound: set[str] = set()
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.yields = False

    def walk(self, roots: Iterable[ast.AST], inside: bool = False) -> None:
        """Notes what nodes bind; `inside` a comprehension only a walrus binds outside."""
        stack: list[ast.AST] = list(roots)
        while stack:
            node = stack.pop()
            handler = _NOTES.get(type(node))
            if handler is None:
                for field in node._fields:
                    value = getattr(node, field, None)
                    if isinstance(value, list):
                        stack += [item for item in value if isinstance(item, ast.AST)]
                    elif isinstance(value, ast.AST) and not isinstance(value, _LEAVES):
                        stack.append(value)
            else:
                stack += handler(self, node, inside)

    def name(self, node: ast.Name, inside: bool) -> list[ast.AST]:
        if not inside and not isinstance(node.ctx, ast.Load):
            self.bound.add(node.id)
        return []

    def walrus(self, node: ast.NamedExpr, inside: bool) -> list[ast.AST]:
        self.bound.add(node.target.id)
        return [node.value]

    def function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, inside: bool
    ) -> list[ast.AST]:
        outside = [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
        if isinstance(node, ast.Lambda):
            return list(outside)
        self.bound.add(node.name)
        return [*outside, *node.decorator_list]

    def class_(self, node: ast.ClassDef, inside: bool) -> list[ast.AST]:
        self.bound.add(node.name)
        keywords = [keyword.value for keyword in node.keywords]
        return [*node.bases, *keywords, *node.decorator_list]

    def imports(self, node: ast.Import | ast.ImportFrom, inside: bool) -> list[ast.AST]:
        self.bound.update(a.asname or a.name.partition(".")[0] for a in node.names)
        return []

    def handler(self, node: ast.ExceptHandler, inside: bool) -> list[ast.AST]:
        if node.name is not None:
            self.bound.add(node.name)
        return [*([node.type] if node.type is not None else []), *node.body]

    def capture(self, node: ast.MatchAs | ast.MatchStar, inside: bool) -> list[ast.AST]:
        if node.name is not None:
            self.bound.add(node.name)
        pattern = getattr(node, "pattern", None)
        return [pattern] if pattern is not None else []

    def mapping(self, node: ast.MatchMapping, inside: bool) -> list[ast.AST]:
        if node.rest is not None:
            self.bound.add(node.rest)
        return [*node.keys, *node.patterns]

    def global_(self, node: ast.Global, inside: bool) -> list[ast.AST]:
        self.globals.update(node.names)
        return []

    def nonlocal_(self, node: ast.Nonlocal, inside: bool) -> list[ast.AST]:
        self.nonlocals.update(node.names)
        return []

    def yielding(self, node: ast.Yield | ast.YieldFrom, inside: bool) -> list[ast.AST]:
        self.yields = True
        return [node.value] if node.value is not None else []

    def comprehension(self, node: ast.expr, inside: bool) -> list[ast.AST]:
        self.walk(ast.iter_child_nodes(node), inside=True)
        return []

    def attribute(self, node: ast.Attribute, inside: bool) -> list[ast.AST]:
        return [node.value]

    def nothing(self, node: ast.AST, inside: bool) -> list[ast.AST]:
        return []


_LEAVES = (ast.expr_context, ast.operator, ast.cmpop, ast.unaryop, ast.boolop)
_NOTES: dict[type[ast.AST], Callable[[_Names, Any, bool], list[ast.AST]]] = {
    ast.Name: _Names.name,
    ast.Attribute: _Names.attribute,
    ast.Constant: _Names.nothing,
    ast.Pass: _Names.nothing,
    ast.NamedExpr: _Names.walrus,
    ast.FunctionDef: _Names.function,
    ast.AsyncFunctionDef: _Names.function,
    ast.Lambda: _Names.function,
    ast.ClassDef: _Names.class_,
    ast.Import: _Names.imports,
    ast.ImportFrom: _Names.imports,
    ast.ExceptHandler: _Names.handler,
    ast.MatchAs: _Names.capture,
    ast.MatchStar: _Names.capture,
    ast.MatchMapping: _Names.mapping,
    ast.Global: _Names.global_,
    ast.Nonlocal: _Names.nonlocal_,
    ast.Yield: _Names.yielding,
    ast.YieldFrom: _Names.yielding,
    ast.ListComp: _Names.comprehension,
    ast.SetComp: _Names.comprehension,
    ast.DictComp: _Names.comprehension,
    ast.GeneratorExp: _Names.comprehension,
}


def _analyse(node: ast.AST) -> Code:
    names = _Names()
    if isinstance(node, ast.Lambda):
        names.walk([node.body])
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        names.walk(node.body)
    elif isinstance(node, ast.ClassDef):  # its body sees the outer name until it binds its own
        names.walk(s for s in node.body if isinstance(s, (ast.Global, ast.Nonlocal)))
    local = names.bound - names.globals - names.nonlocals
    code = Code(
        frozenset(local),
        frozenset(names.globals),
        frozenset(names.nonlocals),
        names.yields,
        isinstance(node, ast.AsyncFunctionDef),
        is_plain=not names.globals and not names.nonlocals,
    )
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        return code
    spec = node.args
    return replace(
        code,
        parameters=tuple(arg.arg for arg in (*spec.posonlyargs, *spec.args)),
        only_positional=len(spec.posonlyargs),
        named=tuple(arg.arg for arg in spec.kwonlyargs),
        rest=spec.vararg.arg if spec.vararg is not None else None,
        rest_named=spec.kwarg.arg if spec.kwarg is not None else None,
    )


def bound_by(body: list[ast.stmt]) -> frozenset[str]:
    """The names that statements bind."""
    names = _Names()
    names.walk(body)
    return frozenset(names.bound)


def lookup(m: Machine, frame: Frame, name: str) -> Value:
    """A name as seen from `frame`: local, enclosing, global, builtin.

    Raises:
        Raised: NameError of the checked program.
    """
    scope: Scope | None = frame.scope
    if name in frame.scope.names:
        value = frame.scope.names[name]
        if m.account is not None and m.settled is not None and scope is frame.module.scope:
            m.settled.looked_up(m, frame.module, name, value)
        return value
    while scope is not None:
        if name in scope.names and (scope is frame.scope or not scope.is_class):
            if m.loop is not None:
                m.loop.saw(scope.names[name])
            return scope.names[name]
        if name in scope.code.global_names:
            break
        if name in scope.code.local_names:
            kind = "UnboundLocalError" if scope is frame.scope else "NameError"
            raise m.exception(
                kind, f"cannot access variable '{name}' where it is not associated with a value"
            )
        scope = scope.parent
    return _outer(m, frame, name)


def _outer(m: Machine, frame: Frame, name: str) -> Value:
    module = frame.module
    if module.touched and name in module.done_names and name in module.scope.names:
        value = module.scope.names[name]
        if m.account is not None and m.settled is not None:
            m.settled.looked_up(m, module, name, value)
    else:
        value = _global(m, frame, name)
    if m.loop is not None:
        m.loop.saw(value)
    return value


def _global(m: Machine, frame: Frame, name: str) -> Value:
    """A name of a module that may have to be evaluated, or of Python itself."""
    module = frame.module
    if name in module.outside and name not in module.scope.names:
        return m.builtins[name]
    if module.is_stub and name not in module.scope.names:
        summary = stubs.sibling(m, module, name)
        if summary is not None:
            return summary
    value = imports.module_name(m, module, name, frame.top_level)
    if not imports.is_missing(value):
        return value
    if name in m.builtins:
        file = module.file
        if file is None or not (name in file.touching or file.star_imports):
            module.outside.add(name)
        return m.builtins[name]
    raised = m.exception("NameError", f"name '{name}' is not defined")
    raised.unbound = module.file is not None and _is_unbound(module.file, name)
    raise raised


_DYNAMIC = frozenset(("globals", "vars", "exec", "eval", "setattr", "__dict__", "modules"))


def _is_unbound(file: ModuleFile, name: str) -> bool:
    """Whether nothing binds a name of a module but statements of its own that were not run."""
    if name not in file.touching or file.star_imports:
        return False
    for stmt in file.body:
        for node in ast.walk(stmt):
            match node:
                case ast.Global(names=names) if name in names:
                    return False
                case ast.Name(id=used) | ast.Attribute(attr=used) if used in _DYNAMIC:
                    return False
    return True


def bind(m: Machine, frame: Frame, name: str, value: Value) -> None:
    """`name = value` in the scope that `name` belongs to."""
    scope = frame.scope
    code = scope.code
    if code.is_plain:
        scope.names[name] = value
        return
    if m.loop is not None and (name in code.global_names or name in code.nonlocal_names):
        m.loop.spoiled = True
    if name in code.global_names:
        m.asked += 1
        m.touches(frame.module)
        frame.module.scope.names[name] = value
        frame.module.done_names.add(name)
        return
    if name in code.nonlocal_names:
        outer = _holder(scope.parent, name)
        if outer is not None:
            m.changes(outer.names)
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
        m.asked += 1
        lookup(m, frame, name)
        scope = frame.module.scope
        frame.module.done_names.add(name)
    elif name in frame.scope.code.nonlocal_names:
        scope = _holder(frame.scope.parent, name)
    if scope is None or name not in scope.names:
        raise m.exception("NameError", f"name '{name}' is not defined")
    m.changes(scope.names)
    del scope.names[name]


def mangled(frame: Frame, name: str) -> str:
    """A private name (`__x`) as the class whose body it stands in spells it."""
    if frame.owner is None or not name.startswith("__") or name.endswith("__"):
        return name
    owner = frame.owner.name.lstrip("_")
    return f"_{owner}{name}" if owner else name
