"""What a definition means, as a digest: the same for any formatting, comments and local names.

Two texts with one digest do the same. Two with different digests may do the same or not, so a
digest can say that something is as it was when it was read, and nothing else.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache

from checker.syntax.nodes import children

REST = "<module>"
"""What a module does besides defining functions and classes."""

_LEFT_OUT = frozenset(("ctx", "annotation", "returns", "type_comment", "type_params", "kind"))
_DIGITS = 12
_INSIDE = ""
"""Among the names of what is inside of a function, where an annotation says nothing."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_CLOSED = (*_FUNCTIONS, ast.ClassDef, ast.Lambda)
_SPECIAL = frozenset((ast.AnnAssign, ast.ClassDef, ast.ExceptHandler, *_FUNCTIONS))
_PLAIN = frozenset((str, int, float, complex, bytes, bool, type(None), type(...)))
_MARKS = frozenset(("ClassVar", "InitVar"))


def definitions(body: list[ast.stmt]) -> dict[str, ast.stmt]:
    """The functions and classes that a module defines at its top level; the last of a name."""
    return {node.name: node for node in body if isinstance(node, (*_FUNCTIONS, ast.ClassDef))}


def digests(body: list[ast.stmt]) -> dict[str, str]:
    """The digest of each top-level definition, and of the rest of the module.

    A name that is defined twice counts as part of the rest, which says which one is there.
    """
    found: dict[str, list[ast.stmt]] = {}
    rest: list[ast.stmt] = []
    for node in body:
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            found.setdefault(node.name, []).append(node)
        elif not _says_nothing(node):
            rest.append(node)
    rest += [node for nodes in found.values() if len(nodes) > 1 for node in nodes]
    result = {name: digest(nodes[0]) for name, nodes in found.items() if len(nodes) == 1}
    return {**result, REST: _hashed("\n".join(_text(node, {}) for node in rest))}


def digest(node: ast.AST) -> str:
    """The digest of one definition."""
    return _hashed(_text(node, {}))


def member(node: ast.stmt, name: str) -> ast.stmt | None:
    """The function called `name` in a class; the last of several."""
    return definitions(node.body).get(name) if isinstance(node, ast.ClassDef) else None


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def _says_nothing(node: ast.stmt) -> bool:
    """Whether a statement is a docstring or a bare constant, or an import for type checkers."""
    if isinstance(node, ast.If) and not node.orelse:
        test = node.test
        name = test.id if isinstance(test, ast.Name) else getattr(test, "attr", None)
        return name == "TYPE_CHECKING"
    return isinstance(node, ast.Pass) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )


def _text(value: object, names: dict[str, str]) -> str:
    """A spelling that says what a node does.

    Args:
        value: a node, a list of nodes, or what a node holds.
        names: what local names are called instead.
    """
    kind = type(value)
    if kind is ast.Name:
        return f"Name({names.get(value.id, value.id)})"  # type: ignore[attr-defined]
    if kind in _PLAIN:  # most of a program: there is nothing more to ask
        return f"{kind.__name__}:{value!r}"
    if isinstance(value, ast.AST) and kind not in _SPECIAL:
        return _node(value, names)
    match value:
        case ast.AnnAssign(target=target, value=None) if _INSIDE in names:
            return "" if isinstance(target, ast.Name) else _annotated(value, names)
        case ast.AnnAssign(target=target, value=ast.expr() as given) if _INSIDE in names:
            return _text(ast.Assign([target], given), names)
        case ast.AnnAssign():
            return _annotated(value, names)
        case ast.ClassDef():
            return _node(value, {n: t for n, t in names.items() if n != _INSIDE})
        case ast.ExceptHandler(name=str(name)) if name in names:
            return _node(value, names, name=names[name])
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            inner = {**{n: t for n, t in names.items() if n not in _bound(value)}, **_locals(value)}
            inner[_INSIDE] = ""
            return _node(value, inner, decorators=[_text(d, names) for d in value.decorator_list])
        case ast.ExceptHandler():
            return _node(value, names)
        case list():
            kept = [v for v in value if not (isinstance(v, ast.stmt) and _says_nothing(v))]
            return "[" + ",".join(filter(None, (_text(v, names) for v in kept))) + "]"
        case _:
            return f"{type(value).__name__}:{value!r}"


def _node(node: ast.AST, names: dict[str, str], **instead: object) -> str:
    kind = type(node)
    parts = [kind.__name__]
    for field in _fields(kind.__name__, kind._fields):
        value = instead.get(field) or getattr(node, field, None)
        if value is None or value == []:
            continue
        if field == "decorator_list" and "decorators" in instead:
            value = instead["decorators"]
        parts.append(f"{field}={_text(value, names)}")
    return "(" + " ".join(parts) + ")"


@cache
def _fields(kind: str, fields: tuple[str, ...]) -> tuple[str, ...]:  # noqa: ARG001 - the key
    """The fields of a kind of node that say what it does."""
    return tuple(field for field in fields if field not in _LEFT_OUT)


def _annotated(node: ast.AnnAssign, names: dict[str, str]) -> str:
    """An annotated name: only that it is one, with its value, and what makes it no field."""
    marks = sorted(
        name
        for part in ast.walk(node.annotation)
        if (name := getattr(part, "id", None) or getattr(part, "attr", None)) in _MARKS
    )
    value = "" if node.value is None else _text(node.value, names)
    return f"(Annotated {_text(node.target, names)} {value} {marks})"


def _bound(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The names of a function's parameters, which are part of what it is called with."""
    spec = function.args
    some = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]
    return {a.arg for a in (*some, spec.vararg, spec.kwarg) if a is not None}


def _locals(function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, str]:
    """New names for a function's own local names, in the order in which they are bound."""
    own = _own(function)
    declared = {
        name for node in own if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names
    }
    found: dict[str, str] = {}
    taken = _bound(function) | declared
    for node in own:
        name = None
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        elif isinstance(node, ast.ExceptHandler):
            name = node.name
        if name is not None and name not in taken and name not in found:
            found[name] = f"local {len(found)}"
    return found


def _own(function: ast.AST) -> list[ast.AST]:
    """The nodes of a function's body in order, without those of inner functions and classes."""
    found: list[ast.AST] = []
    stack = children(function)[::-1]
    while stack:
        child = stack.pop()
        found.append(child)
        if not isinstance(child, _CLOSED):
            stack += children(child)[::-1]
    return found


__all__ = ["REST", "definitions", "digest", "digests", "member"]
