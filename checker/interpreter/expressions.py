"""Expressions: one function per kind."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from checker.graph.dims import Poly
from checker.interpreter import sizes as dim_ops
from checker.interpreter import attributes, calls, classes, containers, imports
from checker.interpreter.machine import Frame, Machine
from checker.interpreter.tensors import Tensor, elementwise
from checker.interpreter.values import (
    ClassValue,
    ConfigDict,
    External,
    Instance,
    Raised,
    Scope,
    Unknown,
    Value,
    type_name,
)

_HOST = (bool, int, float, str, bytes, type(None), tuple, list, dict, set, frozenset, range, slice, complex)

_BINARY: dict[type[ast.operator], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("add", operator.add),
    ast.Sub: ("sub", operator.sub),
    ast.Mult: ("mul", operator.mul),
    ast.Div: ("truediv", operator.truediv),
    ast.FloorDiv: ("floordiv", operator.floordiv),
    ast.Mod: ("mod", operator.mod),
    ast.Pow: ("pow", operator.pow),
    ast.MatMult: ("matmul", operator.matmul),
    ast.BitAnd: ("and", operator.and_),
    ast.BitOr: ("or", operator.or_),
    ast.BitXor: ("xor", operator.xor),
    ast.LShift: ("lshift", operator.lshift),
    ast.RShift: ("rshift", operator.rshift),
}

_COMPARE: dict[type[ast.cmpop], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Eq: ("eq", operator.eq),
    ast.NotEq: ("ne", operator.ne),
    ast.Lt: ("lt", operator.lt),
    ast.LtE: ("le", operator.le),
    ast.Gt: ("gt", operator.gt),
    ast.GtE: ("ge", operator.ge),
}
_REFLECTED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}


def evaluate(m: Machine, frame: Frame, node: ast.expr) -> Value:
    m.tick()
    handler = _EXPRESSIONS.get(type(node))
    if handler is None:
        raise m.stuck(f"the expression {type(node).__name__} is not interpreted")
    return handler(m, frame, node)


def _constant(m: Machine, frame: Frame, node: ast.Constant) -> Value:
    return node.value


def _name(m: Machine, frame: Frame, node: ast.Name) -> Value:
    return imports.lookup(m, frame, node.id)


def _attribute(m: Machine, frame: Frame, node: ast.Attribute) -> Value:
    base = evaluate(m, frame, node.value)
    frame.node = node
    return attributes.get(m, base, node.attr)


def _subscript(m: Machine, frame: Frame, node: ast.Subscript) -> Value:
    base = evaluate(m, frame, node.value)
    key = evaluate(m, frame, node.slice)
    frame.node = node
    return containers.get_item(m, base, key)


def _slice(m: Machine, frame: Frame, node: ast.Slice) -> Value:
    parts = [evaluate(m, frame, p) if p is not None else None for p in (node.lower, node.upper, node.step)]
    return slice(*parts)


def _sequence(m: Machine, frame: Frame, elts: list[ast.expr]) -> list[Value]:
    items: list[Value] = []
    for elt in elts:
        if isinstance(elt, ast.Starred):
            items.extend(containers.iterate(m, evaluate(m, frame, elt.value)))
        else:
            items.append(evaluate(m, frame, elt))
    return items


def _dict(m: Machine, frame: Frame, node: ast.Dict) -> Value:
    result: dict[Value, Value] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            other = evaluate(m, frame, value)
            for name in containers.iterate(m, other):
                result[name] = containers.get_item(m, other, name)
        else:
            name = evaluate(m, frame, key)
            containers.check_key(m, name)
            result[name] = evaluate(m, frame, value)
    return result


def _set(m: Machine, frame: Frame, node: ast.Set) -> Value:
    items = _sequence(m, frame, node.elts)
    for item in items:
        containers.check_key(m, item)
    return set(items)


def _call(m: Machine, frame: Frame, node: ast.Call) -> Value:
    function = evaluate(m, frame, node.func)
    args = _sequence(m, frame, node.args)
    kwargs: dict[str, Value] = {}
    for keyword in node.keywords:
        value = evaluate(m, frame, keyword.value)
        if keyword.arg is not None:
            kwargs[keyword.arg] = value
        elif isinstance(value, Unknown):
            return m.unknown(f"keyword arguments are unknown: {value.reason}")
        else:
            for name in containers.iterate(m, value):
                kwargs[name] = containers.get_item(m, value, name)
    frame.node = node
    if isinstance(function, ClassValue) and function.name == "super" and not args:
        return calls.zero_argument_super(m, frame)
    return calls.call(m, function, args, kwargs)


def _bool_op(m: Machine, frame: Frame, node: ast.BoolOp) -> Value:
    value: Value = None
    for operand in node.values:
        value = evaluate(m, frame, operand)
        frame.node = node
        if operand is node.values[-1]:
            break
        if m.truth(value, "and/or") != isinstance(node.op, ast.And):
            return value
    return value


def _unary(m: Machine, frame: Frame, node: ast.UnaryOp) -> Value:
    value = evaluate(m, frame, node.operand)
    frame.node = node
    if isinstance(node.op, ast.Not):
        if isinstance(value, Unknown):
            return value
        return not m.truth(value, "not")
    if isinstance(value, Unknown):
        return value
    if isinstance(value, Tensor):
        if isinstance(node.op, ast.USub):
            return elementwise(m, "neg", [value])
        if isinstance(node.op, ast.Invert):
            return elementwise(m, "not_", [value])
        return value
    if isinstance(value, (Poly, *_HOST)):
        if isinstance(node.op, ast.USub):
            return host(m, operator.neg, value)
        if isinstance(node.op, ast.Invert):
            return host(m, operator.invert, value)
        return value
    return m.unknown(f"a unary operator on {type_name(value)}")


def host(m: Machine, function: Callable[..., Any], *args: Any) -> Value:
    """Runs a host operation on plain values; what it raises is raised in the checked program."""
    try:
        return function(*args)
    except Exception as error:
        raise m.exception(type(error).__name__, str(error)) from None


def binary(m: Machine, op: type[ast.operator], left: Value, right: Value) -> Value:
    """`left op right` for any values."""
    name, function = _BINARY[op]
    for side in (left, right):
        if isinstance(side, Unknown):
            return side
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        return _tensor_binary(m, name, left, right)
    if isinstance(left, Poly) or isinstance(right, Poly):
        return _poly_binary(m, name, left, right)
    for side, other, method in ((left, right, f"__{name}__"), (right, left, f"__r{name}__")):
        if isinstance(side, Instance) and side.cls.lookup(method):
            return calls.call(m, attributes.get(m, side, method), [other], {})
    left, right = _plain(left), _plain(right)
    if isinstance(left, _HOST) and isinstance(right, _HOST):
        _check_growth(m, name, left, right)
        return host(m, function, left, right)
    if name == "or" and (isinstance(left, (ClassValue, External)) or left is None):
        return m.unknown("a union of types")  # an annotation that is evaluated
    if isinstance(left, External) or isinstance(right, External):
        return m.unknown(f"{left if isinstance(left, External) else right} is not described")
    raise m.exception(
        "TypeError", f"unsupported operand type(s) for {name}: '{type_name(left)}' and '{type_name(right)}'"
    )


def _plain(value: Value) -> Value:
    return value.data if isinstance(value, Instance) and value.data is not None else value


def _check_growth(m: Machine, name: str, left: Any, right: Any) -> None:
    """Refuses host operations whose result would be enormous."""
    if name == "mul":
        for sequence, count in ((left, right), (right, left)):
            if isinstance(sequence, (str, bytes, list, tuple)) and isinstance(count, int):
                m.check_size(len(sequence) * count)
    big = isinstance(left, int) and isinstance(right, int) and right > 0
    if name == "pow" and big and left.bit_length() * right > 10_000:
        raise m.stuck("a power too large to be computed")
    if name == "lshift" and big and right > 10_000:
        raise m.stuck("a shift too large to be computed")


def _poly_binary(m: Machine, name: str, left: Value, right: Value) -> Value:
    if not all(isinstance(side, (int, Poly)) for side in (left, right)):
        return m.unknown("arithmetic on a symbolic size")
    result = dim_ops.arithmetic(name, left, right)
    return result if result is not None else m.unknown(f"{name} of a symbolic size is not exact")


def _tensor_binary(m: Machine, name: str, left: Value, right: Value) -> Value:
    from checker.interpreter import torch_ops

    if name == "matmul":
        return torch_ops.matmul(m, left, right)
    ops = {
        "add": "add",
        "sub": "sub",
        "mul": "mul",
        "truediv": "div",
        "pow": "pow",
        "mod": "mod",
        "and": "and_",
        "or": "or_",
        "floordiv": "floordiv",
        "xor": "xor",
    }
    if name not in ops:
        return m.unknown(f"{name} of tensors is not interpreted")
    return elementwise(m, ops[name], [left, right])


def _bin_op(m: Machine, frame: Frame, node: ast.BinOp) -> Value:
    left = evaluate(m, frame, node.left)
    right = evaluate(m, frame, node.right)
    frame.node = node
    return binary(m, type(node.op), left, right)


def in_place(m: Machine, op: type[ast.operator], current: Value, value: Value) -> Value:
    """`current op= value`: writes into tensors and lists, else computes a new value."""
    if isinstance(current, Tensor):
        result = binary(m, op, current, value)
        if isinstance(result, Tensor):
            current.write(m, result)
        else:
            current.forget(m, result)
        return current
    if isinstance(current, list) and op is ast.Add:
        current.extend(containers.iterate(m, value))
        return current
    if isinstance(current, (dict, set)) and op is ast.BitOr and isinstance(value, (dict, set)):
        current.update(value)
        return current
    return binary(m, op, current, value)


def compare(m: Machine, op: ast.cmpop, left: Value, right: Value) -> Value:
    """One comparison."""
    if isinstance(op, (ast.Is, ast.IsNot)):
        return _identity(m, left, right, negate=isinstance(op, ast.IsNot))
    if isinstance(op, (ast.In, ast.NotIn)):
        found = containers.contains(m, right, left)
        return (not found if isinstance(found, bool) else found) if isinstance(op, ast.NotIn) else found
    name, function = _COMPARE[type(op)]
    for side in (left, right):
        if isinstance(side, Unknown):
            return side
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        if left is None or right is None or isinstance(left, str) or isinstance(right, str):
            return name == "ne"
        return elementwise(m, name, [left, right])
    if isinstance(left, (int, Poly)) and isinstance(right, (int, Poly)) and not (
        isinstance(left, int) and isinstance(right, int)
    ):
        decided = dim_ops.decide(name, left, right)
        if decided is None:
            return m.unknown(f"whether {left} {name} {right}")
        return decided
    for side, other, method in ((left, right, f"__{name}__"), (right, left, f"__{_REFLECTED[name]}__")):
        if isinstance(side, Instance) and side.cls.lookup(method):
            return calls.call(m, attributes.get(m, side, method), [other], {})
    left, right = _plain(left), _plain(right)
    if name in ("eq", "ne"):
        equal = containers.equal(m, left, right)
        return equal if not isinstance(equal, bool) or name == "eq" else not equal
    if isinstance(left, _HOST) and isinstance(right, _HOST):
        return host(m, function, left, right)
    if isinstance(left, External) or isinstance(right, External):
        return m.unknown("a comparison with something that is not described")
    raise m.exception("TypeError", f"'{name}' not supported between '{type_name(left)}' and '{type_name(right)}'")


def _identity(m: Machine, left: Value, right: Value, negate: bool) -> Value:
    for side, other in ((left, right), (right, left)):
        if isinstance(side, Unknown):
            plain = side.reason.startswith("fact: ") and (other is None or other is ... or isinstance(other, Instance))
            return negate if plain else side
    if isinstance(left, External) and isinstance(right, External):
        same = left.path == right.path
    elif isinstance(left, (External, ConfigDict)) and right is None:
        same = False
    else:
        same = left is right or (
            isinstance(left, (int, str, bool, float)) and type(left) is type(right) and left == right
        )
    return same != negate


def _compare(m: Machine, frame: Frame, node: ast.Compare) -> Value:
    left = evaluate(m, frame, node.left)
    result: Value = True
    for op, right_node in zip(node.ops, node.comparators, strict=True):
        right = evaluate(m, frame, right_node)
        frame.node = node
        result = compare(m, op, left, right)
        if right_node is node.comparators[-1]:
            return result
        if not m.truth(result, "comparison"):
            return result
        left = right
    return result


def _if_exp(m: Machine, frame: Frame, node: ast.IfExp) -> Value:
    taken = m.truth(evaluate(m, frame, node.test), "conditional expression")
    return evaluate(m, frame, node.body if taken else node.orelse)


def _lambda(m: Machine, frame: Frame, node: ast.Lambda) -> Value:
    return classes.make_function(m, frame, node, "<lambda>")


def _named(m: Machine, frame: Frame, node: ast.NamedExpr) -> Value:
    value = evaluate(m, frame, node.value)
    frame.scope.names[node.target.id] = value
    return value


def _joined(m: Machine, frame: Frame, node: ast.JoinedStr) -> Value:
    parts: list[str] = []
    for part in node.values:
        value = evaluate(m, frame, part)
        if not isinstance(value, str):
            return value if isinstance(value, Unknown) else m.unknown("a formatted value")
        parts.append(value)
    text = "".join(parts)
    m.check_size(len(text))
    return text


def _formatted(m: Machine, frame: Frame, node: ast.FormattedValue) -> Value:
    value = evaluate(m, frame, node.value)
    if isinstance(value, Unknown):
        return value
    if node.format_spec is not None:
        spec = evaluate(m, frame, node.format_spec)
        if isinstance(value, (int, float, str)) and isinstance(spec, str) and len(spec) < 8:
            return host(m, format, value, spec)
        return m.unknown("a formatted value")
    if node.conversion == ord("r"):
        return containers.text_of(m, value, repr)
    return containers.text_of(m, value, str)


def _comprehension(
    m: Machine, frame: Frame, generators: list[ast.comprehension], emit: Callable[[Frame], None]
) -> None:
    """Runs the loops of a comprehension in a scope of their own."""
    from checker.interpreter import statements

    scope = Scope(parent=frame.scope)
    inner = Frame(scope, frame.module, frame.name, frame.node, frame.owner, frame.first_argument)
    inner.guard_keys = frame.guard_keys

    def loop(index: int) -> None:
        if index == len(generators):
            emit(inner)
            return
        generator = generators[index]
        source = frame if index == 0 else inner
        for item in containers.iterate(m, evaluate(m, source, generator.iter)):
            m.tick()
            statements.assign(m, inner, generator.target, item)
            if all(m.truth(evaluate(m, inner, test), "comprehension") for test in generator.ifs):
                loop(index + 1)

    m.run_in(inner, lambda: loop(0))


def _list_comp(m: Machine, frame: Frame, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Value:
    items: list[Value] = []
    _comprehension(m, frame, node.generators, lambda inner: items.append(evaluate(m, inner, node.elt)))
    if isinstance(node, ast.SetComp):
        for item in items:
            containers.check_key(m, item)
        return set(items)
    return items if isinstance(node, ast.ListComp) else containers.Iterator(items)


def _dict_comp(m: Machine, frame: Frame, node: ast.DictComp) -> Value:
    result: dict[Value, Value] = {}

    def emit(inner: Frame) -> None:
        key = evaluate(m, inner, node.key)
        containers.check_key(m, key)
        result[key] = evaluate(m, inner, node.value)

    _comprehension(m, frame, node.generators, emit)
    return result


def _yield(m: Machine, frame: Frame, node: ast.Yield) -> Value:
    value = evaluate(m, frame, node.value) if node.value else None
    if frame.on_yield is None:
        raise m.stuck("yield outside a generator")
    return frame.on_yield(value)


def _yield_from(m: Machine, frame: Frame, node: ast.YieldFrom) -> Value:
    for value in containers.iterate(m, evaluate(m, frame, node.value)):
        if frame.on_yield is None:
            raise m.stuck("yield outside a generator")
        frame.on_yield(value)
    return None


_EXPRESSIONS: dict[type[ast.expr], Callable[[Machine, Frame, Any], Value]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Tuple: lambda m, frame, node: tuple(_sequence(m, frame, node.elts)),
    ast.List: lambda m, frame, node: _sequence(m, frame, node.elts),
    ast.Dict: _dict,
    ast.Set: _set,
    ast.Call: _call,
    ast.BoolOp: _bool_op,
    ast.UnaryOp: _unary,
    ast.BinOp: _bin_op,
    ast.Compare: _compare,
    ast.IfExp: _if_exp,
    ast.Lambda: _lambda,
    ast.NamedExpr: _named,
    ast.JoinedStr: _joined,
    ast.FormattedValue: _formatted,
    ast.ListComp: _list_comp,
    ast.GeneratorExp: _list_comp,
    ast.SetComp: _list_comp,
    ast.DictComp: _dict_comp,
    ast.Yield: _yield,
    ast.YieldFrom: _yield_from,
    ast.Await: lambda m, frame, node: m.unknown("await"),
}

__all__ = ["Raised", "binary", "compare", "evaluate", "host", "in_place"]
