"""Expressions of the contract: a small, closed part of Python's grammar, evaluated to values.

Nothing is looked up in Python: names mean what the scope says, and calls mean operators. What is
not in the grammar is an error that names the expression.
"""

from __future__ import annotations

import ast
import operator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, Union

from checker.errors import InputError
from checker.graph.dims import Poly

if TYPE_CHECKING:
    from collections.abc import Callable

    from checker.graph.labels import Wire
    from checker.graph.terms import Term

MAX_LENGTH: Final = 2000


@dataclass(frozen=True, slots=True)
class Named:
    """A term, and the wires by whose names it was reached, outermost first."""

    term: Term
    names: tuple[Wire, ...] = ()


Value: TypeAlias = Union["Named", int, float, str, bool, Poly, "tuple[Value, ...]", None]

_ARITHMETIC: Final[dict[type[ast.operator], Callable[[int, int], int]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}
_COMPARISONS: Final[dict[type[ast.cmpop], Callable[[object, object], bool]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
_TERM_OPERATORS: Final[dict[type[ast.operator], str]] = {ast.Add: "add", ast.Mult: "mul"}


class Scope(Protocol):
    """What names and calls mean where an expression stands."""

    def name(self, name: str) -> Value: ...

    def indexed(self, name: str, index: Value) -> Value: ...

    def each(self, variable: str, index: int) -> Scope: ...

    def call(
        self, function: str, parameter: str | None, args: list[Value], attrs: dict[str, Value]
    ) -> Value: ...

    def takes_parameter(self, function: str) -> bool: ...


class BadExpression(Exception):
    """An expression is not in the grammar, or its values do not fit; the caller says where."""


@lru_cache(maxsize=512)
def parse(text: str) -> ast.expr:
    """The expression as a syntax tree.

    Raises:
        BadExpression: it is no expression.
    """
    if len(text) > MAX_LENGTH:
        raise BadExpression(f"longer than {MAX_LENGTH} characters")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise BadExpression(f"cannot be read: {text[:60]!r}") from None


def evaluate(text: object, scope: Scope) -> Value:
    """The value of an expression, or of a plain YAML number or boolean.

    Raises:
        BadExpression: it is not in the grammar, or cannot be evaluated.
    """
    if isinstance(text, (bool, int, float)) or text is None:
        return text
    if not isinstance(text, str):
        raise BadExpression(f"{text!r} is no expression")
    return _value(parse(text), scope)


def _value(node: ast.expr, scope: Scope) -> Value:
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | None as value):
            return value
        case ast.Name(id=name):
            return scope.name(name)
        case ast.Tuple(elts=items):
            return tuple(_value(item, scope) for item in items)
        case ast.IfExp(test=test, body=body, orelse=other):
            return _value(body if truth(_value(test, scope)) else other, scope)
        case ast.BoolOp(op=op, values=values):
            wanted = isinstance(op, ast.Or)
            return any(truth(_value(v, scope)) == wanted for v in values) == wanted
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not truth(_value(operand, scope))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -integer(_value(operand, scope))
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _compare(op, _value(left, scope), _value(right, scope))
        case ast.BinOp(left=left, op=op, right=right):
            return _binary(op, _value(left, scope), _value(right, scope), scope)
        case ast.Subscript(value=ast.Name(id=name), slice=index):
            return scope.indexed(name, _value(index, scope))
        case ast.Call(func=ast.Name(id="each"), args=[ast.Name(id=variable), count, body]):
            repeats = range(integer(_value(count, scope)))
            return tuple(_value(body, scope.each(variable, i)) for i in repeats)
        case ast.Call(func=ast.Name(id=function)):
            return _call(function, node, scope)
    raise BadExpression(f"has no place for {ast.unparse(node)!r}")


def _call(function: str, node: ast.Call, scope: Scope) -> Value:
    parameter: str | None = None
    given = list(node.args)
    if scope.takes_parameter(function):
        first = given.pop(0) if given else None
        if not isinstance(first, ast.Name):
            raise BadExpression(f"{function} takes a parameter's name first")
        parameter = first.id
    args: list[Value] = []
    for argument in given:
        if isinstance(argument, ast.Starred):
            items = _value(argument.value, scope)
            if not isinstance(items, tuple):
                raise BadExpression(f"{ast.unparse(argument)} is not several values")
            args.extend(items)
        else:
            args.append(_value(argument, scope))
    attrs: dict[str, Value] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise BadExpression("has no place for **")
        attrs[keyword.arg] = _value(keyword.value, scope)
    return scope.call(function, parameter, args, attrs)


def _binary(op: ast.operator, left: Value, right: Value, scope: Scope) -> Value:
    if isinstance(left, Named) or isinstance(right, Named):
        name = _TERM_OPERATORS.get(type(op))
        if name is None:
            raise BadExpression(f"has no {type(op).__name__} of terms")
        return scope.call(name, None, [left, right], {})
    function = _ARITHMETIC.get(type(op))
    if function is None:
        raise BadExpression(f"has no {type(op).__name__}")
    try:
        return function(integer(left), integer(right))
    except ArithmeticError as error:
        raise BadExpression(str(error)) from None


def _compare(op: ast.cmpop, left: Value, right: Value) -> bool:
    function = _COMPARISONS.get(type(op))
    if function is not None:
        return function(left, right)
    a, b = integer(left), integer(right)
    match op:
        case ast.Lt():
            return a < b
        case ast.LtE():
            return a <= b
        case ast.Gt():
            return a > b
        case ast.GtE():
            return a >= b
    raise BadExpression(f"has no {type(op).__name__}")


def truth(value: Value) -> bool:
    """A condition's value."""
    if not isinstance(value, bool):
        raise BadExpression(f"{value!r} is no condition")
    return value


def integer(value: Value) -> int:
    """A count's value."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadExpression(f"{value!r} is no integer")
    return value


def place(error: BadExpression, where: str) -> InputError:
    """The error as one line for the user."""
    return InputError(f"the contract's expression {error}", "mend the contract", where)
