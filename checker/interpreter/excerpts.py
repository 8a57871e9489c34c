"""What stages ask of the checked program's own definitions: its classes, a part of a function.

A part of a function is for long ones (a constructor that resolves hundreds of settings in a row) of
which a question concerns a few statements.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from checker.interpreter import calls, imports, statements
from checker.interpreter import classes as classes_
from checker.interpreter.machine import Frame
from checker.interpreter.values import (
    BoundMethod,
    ClassMethod,
    ClassValue,
    Function,
    ModuleValue,
    Scope,
    StaticMethod,
    Value,
)
from checker.syntax.nodes import walk

if TYPE_CHECKING:
    from collections.abc import Callable

    from checker.interpreter.machine import Machine


def classes(m: Machine, name: Value) -> Value:
    """The classes that a module defines at its top level, in the order of the file."""
    module = m.module(str(name))
    if module is None or module.file is None:
        return []
    made = [
        imports.module_name(m, module, stmt.name)
        for stmt in module.file.body
        if isinstance(stmt, ast.ClassDef)
    ]
    return [cls for cls in made if isinstance(cls, ClassValue)]


def texts(m: Machine, name: Value, prefix: Value) -> Value:
    """The texts in a module that begin with a prefix, wherever they stand in it."""
    module = m.module(str(name))
    if module is None or module.file is None:
        return []
    found = {
        node.value
        for stmt in module.file.body
        for node in ast.walk(stmt)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    return sorted(text for text in found if text.startswith(str(prefix)))


def defined(m: Machine, module: Value, name: Value) -> Value:
    """What a module's name stands for; None where there is no such module or name."""
    home = m.module(str(module))
    if home is None:
        return None
    found = imports.module_name(m, home, str(name))
    return None if imports.is_missing(found) else found


def lines(m: Machine) -> Value:
    """The open lines of the engine's own files, innermost first.

    Each is (source, path, line, column).
    """
    found: list[Value] = []
    for frame in reversed(m.frames):
        file, node = frame.module.file, frame.node
        if file is None or node is None or file.tree.label != m.engine:
            continue
        line, column = getattr(node, "lineno", None), getattr(node, "col_offset", 0)
        if line is not None:
            found.append((file.tree.label, file.path, line, column + 1))
    return found


def run_part(m: Machine, function: Value, prefixes: Value, *args: Value, **known: Value) -> Value:
    """Calls a function of which only the statements run that set attributes of certain names.

    Those are its top-level statements in which an attribute whose name begins with one of the
    prefixes is assigned (or such a name is handed on as a keyword), and the ones that bind the
    local names they use. What the others do is not looked at. Arguments that are not given are
    unknown.
    """
    return _run(m, function, list(args), known, lambda body: part(body, tuple(prefixes)))


def run_about(m: Machine, function: Value, prefixes: Value, *args: Value, **known: Value) -> Value:
    """Calls a function of which only the statements run that read certain names.

    Those are its top-level statements in which a name or an attribute is read that begins with one
    of the prefixes, and the ones that bind the local names they use. `known` are local names that
    have their values already: nothing that binds them runs for their sake.
    """

    def about(body: list[ast.stmt]) -> list[ast.stmt]:
        chosen = {s for s in body if any(_reads(node, tuple(prefixes)) for node in ast.walk(s))}
        return _with_bindings(body, chosen, frozenset(known))

    return _run(m, function, list(args), known, about)


def _run(
    m: Machine,
    function: Value,
    given: list[Value],
    known: dict[str, Value],
    choose: Callable[[list[ast.stmt]], list[ast.stmt]],
) -> Value:
    """Calls a function of which some statements run; decorators are looked through."""
    while isinstance(function, (BoundMethod, StaticMethod, ClassMethod)):
        if isinstance(function, BoundMethod):
            given.insert(0, function.instance)
        function = function.function
    if not isinstance(function, Function) or isinstance(function.node, ast.Lambda):
        raise m.stuck("a part of something that is no function was to be run")
    node = function.node
    scope = calls.bind(m, function, given, _named(m, function, len(given), known))
    scope.names.update(known)
    frame = Frame(
        scope, function.module, function.name, node, function.owner, given[0] if given else None
    )
    body = choose(node.body)
    signal = m.run_in(frame, lambda: statements.run_block(m, frame, body))
    return signal.value if signal is not None else None


def _named(m: Machine, function: Function, count: int, known: dict[str, Value]) -> dict[str, Value]:
    """Keyword arguments for what is not given by position: unknown where nothing is known."""
    node = function.node
    places = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
    needed = places[count : len(places) - len(function.defaults)]
    needed += [a.arg for a in node.args.kwonlyargs if a.arg not in function.kw_defaults]
    open_ = {n: m.unknown(f"{n}, which {function.name} is given", harmless=True) for n in needed}
    names = {*places[count:], *(a.arg for a in node.args.kwonlyargs)}
    return {**open_, **{k: v for k, v in known.items() if k in names}}


def own(m: Machine, module: Value, path: Value) -> Value:
    """A function, `Class.method` or class as a module's file defines it, whatever stands in for it.

    Without its decorators, so that a function is called with all it takes; None where there is
    none. A class stands on those of its bases that the same file defines as they are there, too.
    """
    home = m.module(str(module))
    body = [] if home is None or home.file is None else home.file.body
    *outer, name = str(path).split(".")
    for part_of in outer:
        body = next((s.body for s in body if isinstance(s, ast.ClassDef) and s.name == part_of), [])
    for stmt in body:
        match stmt:
            case ast.FunctionDef() if stmt.name == name and home is not None:
                return Function(name, stmt, home, home.scope)
            case ast.ClassDef() if stmt.name == name and home is not None and not outer:
                return _own_class(m, home, stmt)
            case _:
                pass
    return None


def original(m: Machine, module: Value, name: Value) -> Value:
    """A function as a module's file defines it, with its defaults, where a summary stands for it.

    None where the file defines none.
    """
    home = m.module(str(module))
    for stmt in [] if home is None or home.file is None else home.file.body:
        if isinstance(stmt, ast.FunctionDef) and stmt.name == name and home is not None:
            return classes_.make_function(m, Frame(home.scope, home, name, stmt), stmt, name)
    return None


def _own_class(m: Machine, home: ModuleValue, stmt: ast.ClassDef) -> Value:
    key = ("own class", home.name, stmt.name)
    if key not in m.shared:
        bases = [base.id for base in stmt.bases if isinstance(base, ast.Name)]
        assert home.file is not None
        own_bases = [s for s in home.file.body if isinstance(s, ast.ClassDef) and s.name in bases]
        scope = Scope({base.name: _own_class(m, home, base) for base in own_bases})
        frame = Frame(scope, home, stmt.name, stmt)
        m.run_in(frame, lambda: classes_.define_class(m, frame, stmt))
        m.shared[key] = scope.names[stmt.name]
    return m.shared[key]


def part(body: list[ast.stmt], prefixes: tuple[str, ...]) -> list[ast.stmt]:
    """The statements that set attributes of these names, and those that bind what they use."""
    chosen = {stmt for stmt in body if any(_sets(node, prefixes) for node in walk(stmt))}
    return _with_bindings(body, chosen, frozenset())


def _with_bindings(
    body: list[ast.stmt], chosen: set[ast.stmt], known: frozenset[str]
) -> list[ast.stmt]:
    kept = set(chosen)
    used = {name for stmt in kept for name in _names(stmt, ast.Load)} - known
    grown = True
    while grown:
        more = {stmt for stmt in body if stmt not in kept and used & bound(stmt)}
        grown = bool(more)
        kept |= more
        used |= {name for stmt in more for name in _names(stmt, ast.Load)} - known
    return [stmt for stmt in body if stmt in kept]


def _reads(node: ast.AST, prefixes: tuple[str, ...]) -> bool:
    match node:
        case ast.Attribute(attr=name, ctx=ast.Load()) | ast.Name(id=name, ctx=ast.Load()):
            return name.startswith(prefixes)
        case _:
            return False


def _sets(node: ast.AST, prefixes: tuple[str, ...]) -> bool:
    match node:
        case ast.Attribute(attr=name, ctx=ast.Store()):
            return name.startswith(prefixes)
        case ast.keyword(arg=str(name)):
            return name.startswith(prefixes)
        case ast.Call(func=ast.Name(id="setattr"), args=[_, ast.Constant(value=str(name)), *_]):
            return name.startswith(prefixes)
        case _:
            return False


def _names(stmt: ast.stmt, context: type[ast.expr_context]) -> set[str]:
    return {n.id for n in walk(stmt) if isinstance(n, ast.Name) and isinstance(n.ctx, context)}


def bound(stmt: ast.stmt) -> set[str]:
    """The local names that a statement binds."""
    names = _names(stmt, ast.Store)
    for node in walk(stmt):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(a.asname or a.name).partition(".")[0] for a in node.names}
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
    return names
