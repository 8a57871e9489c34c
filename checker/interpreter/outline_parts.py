"""What the parts of a layer give when they are not entered."""

from __future__ import annotations

import ast
import functools
import sys
from typing import TYPE_CHECKING

from checker.interpreter.tensors import Tensor, fresh_input
from checker.interpreter.values import ClassValue, Function, Instance, Value

if TYPE_CHECKING:
    from checker.interpreter.machine import Machine

_PLAIN = (bool, int, float, str, type(None))


def is_plain(value: Value) -> bool:
    """Whether a value can be compared by what it is."""
    return isinstance(value, _PLAIN)


def tensors_of(values: list[Value]) -> list[Tensor]:
    """The floating-point tensors among arguments, those in tuples and lists included."""
    found: list[Tensor] = []
    for value in values:
        if isinstance(value, Tensor) and value.kind == "float":
            found.append(value)
        elif isinstance(value, (tuple, list)):
            found += tensors_of(list(value))
    return found


def like(m: Machine, tensor: Tensor, name: str) -> Tensor:
    """A tensor of which nothing is known but its shape, the same as no other one."""
    m.mark()
    return fresh_input(m, name, tensor.shape(m))


def common(one: ClassValue, two: ClassValue) -> ClassValue | None:
    """The class that says what objects of two classes do, which only make them with other values.

    None where either is not said to do the same whatever it is made with.
    """
    if one.lookup("alike") is None or two.lookup("alike") is None:
        return None
    ways = [found[1] for cls in (one, two) if (found := cls.lookup("forward")) is not None]
    if one is two:
        return one
    if len(ways) < 2 or ways[0] is not ways[1]:
        return None
    above = [c for cls in (one, two) for c in cls.mro[: cls.mro.index(ways[0])]]
    own = [name for c in above for name, v in c.namespace.items() if isinstance(v, Function)]
    return ways[0] if set(own) <= {"__init__"} else None


def merged(m: Machine, one: Instance, two: Instance, cls: ClassValue) -> Instance:
    """One of two objects that do the same: of what differs between them nothing is known."""
    differ = [
        name
        for name in dict.fromkeys((*one.attrs, *two.attrs))
        if name not in one.attrs
        or name not in two.attrs
        or _is_other(one.attrs[name], two.attrs[name])
    ]
    if cls is one.cls and not differ:
        return one
    unknown = {name: m.unknown(f"{name} of one of two modules", harmless=True) for name in differ}
    return Instance(cls, {**one.attrs, **unknown})


def _is_other(one: Value, two: Value) -> bool:
    """Whether two values differ; of objects it is not asked."""
    if is_plain(one) or is_plain(two):
        return type(one) is not type(two) or one != two
    return False


def arity(cls: ClassValue, method: str) -> tuple[int | None, bool]:
    """How many values a method returns as a tuple (None: it returns one), and whether always."""
    seen: set[str] = set()
    pending = [method]
    count: int | None = None
    single = False
    while pending:
        name = pending.pop()
        found = cls.lookup(name)
        if name in seen:
            continue
        seen.add(name)
        if found is None or not isinstance(found[0], Function):
            single = True
            continue
        for value in _returned(found[0].node):
            match value:
                case ast.Tuple(elts=elts):
                    count = count or len(elts)
                case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=attr)):
                    pending.append(attr)
                case _:
                    single = True
    return count, not single


@functools.cache
def _returned(node: ast.AST) -> list[ast.expr]:
    """The values of a function's own return statements."""
    found: list[ast.expr] = []
    stack = list(ast.iter_child_nodes(node))
    while stack:
        child = stack.pop()
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            continue
        if isinstance(child, ast.Return) and child.value is not None:
            found.append(child.value)
        stack += ast.iter_child_nodes(child)
    return found


def note(m: Machine, text: str, error: object) -> None:
    """What could not be followed, for debugging."""
    sys.stderr.write(f"outline: {text} {getattr(error, 'location', None)}\n")


def fitting(
    m: Machine, init: Value, args: list[Value], kwargs: dict[str, Value]
) -> dict[str, Value]:
    """Keywords for a constructor: those it does not take are left out, missing ones are unknown.

    An object that cannot be built at all hands nothing over; what it would is asked nevertheless.
    """
    if not isinstance(init, Function):
        return kwargs
    spec = init.node.args
    names = [a.arg for a in (*spec.posonlyargs, *spec.args)][1:]
    taken = {*names, *(a.arg for a in spec.kwonlyargs)}
    made = {k: v for k, v in kwargs.items() if spec.kwarg is not None or k in taken}
    required = names[len(args) : len(names) - len(init.defaults)]
    for name in required:
        made.setdefault(name, m.unknown(f"the argument {name}", harmless=True))
    return made
