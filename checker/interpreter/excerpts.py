"""What stages ask of the checked program's own definitions: its classes, a part of a function.

A part of a function is for long ones (a constructor that resolves hundreds of settings in a row) of
which a question concerns a few statements.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from checker.interpreter import calls, imports, statements
from checker.interpreter.machine import Frame
from checker.interpreter.values import (
    BoundMethod,
    ClassMethod,
    ClassValue,
    Function,
    StaticMethod,
    Value,
)
from checker.syntax.nodes import walk

if TYPE_CHECKING:
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


def run_part(m: Machine, function: Value, prefixes: Value, *args: Value) -> Value:
    """Calls a function of which only the statements run that set attributes of certain names.

    Those are its top-level statements in which an attribute whose name begins with one of the
    prefixes is assigned (or such a name is handed on as a keyword), and the ones that bind the
    local names they use. What the others do is not looked at.
    """
    given = list(args)
    while isinstance(function, (BoundMethod, StaticMethod, ClassMethod)):
        if isinstance(function, BoundMethod):
            given.insert(0, function.instance)
        function = function.function
    if not isinstance(function, Function) or isinstance(function.node, ast.Lambda):
        raise m.stuck("a part of something that is no function was to be run")
    scope = calls.bind(m, function, given, {})
    node = function.node
    body = part(node.body, tuple(prefixes))
    frame = Frame(
        scope, function.module, function.name, node, function.owner, given[0] if given else None
    )
    signal = m.run_in(frame, lambda: statements.run_block(m, frame, body))
    return signal.value if signal is not None else None


def part(body: list[ast.stmt], prefixes: tuple[str, ...]) -> list[ast.stmt]:
    """The statements that set attributes of these names, and those that bind what they use."""
    kept = {stmt for stmt in body if any(_sets(node, prefixes) for node in walk(stmt))}
    used = {name for stmt in kept for name in _names(stmt, ast.Load)}
    grown = True
    while grown:
        more = {stmt for stmt in body if stmt not in kept and used & bound(stmt)}
        grown = bool(more)
        kept |= more
        used |= {name for stmt in more for name in _names(stmt, ast.Load)}
    return [stmt for stmt in body if stmt in kept]


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
