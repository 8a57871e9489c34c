"""Binary, unary and in-place operators."""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Any

from checker.graph.dims import Poly
from checker.interpreter import (
    attributes,
    calls,
    conditions,
    enums,
    equality,
    havoc,
    sizes,
    texts,
)
from checker.interpreter.broadcasting import elementwise
from checker.interpreter.hosting import PLAIN, check_growth, host, is_plain, unwrapped
from checker.interpreter.iteration import VIEWS, iterate
from checker.interpreter.numbered import side_by_side
from checker.interpreter.tensors import Tensor
from checker.interpreter.values import (
    ClassValue,
    External,
    Instance,
    Unknown,
    Value,
    type_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from checker.interpreter.machine import Machine

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
_TENSOR = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "truediv": "div",
    "pow": "pow",
    "mod": "mod",
    "floordiv": "floordiv",
}
_LOGICAL = {"and": "and_", "or": "or_"}
_UNARY: dict[type[ast.unaryop], tuple[str, Callable[[Any], Any]]] = {
    ast.USub: ("__neg__", operator.neg),
    ast.UAdd: ("__pos__", operator.pos),
    ast.Invert: ("__invert__", operator.invert),
}


def unary(m: Machine, op: ast.unaryop, value: Value) -> Value:
    """`op value`."""
    if isinstance(value, Unknown):
        outlined = m.outline is not None and isinstance(op, ast.Not)
        return conditions.opposite(value) if outlined else value
    if isinstance(op, ast.Not):
        return not m.truth(value, "not")
    name, function = _UNARY[type(op)]
    if isinstance(value, Tensor):
        return _tensor_unary(m, name, value)
    if isinstance(value, Instance) and value.cls.defines(name):
        return calls.call(m, attributes.get(m, value, name, special=True), [], {})
    value = unwrapped(value)
    if isinstance(value, Poly):
        return {"__neg__": -value, "__pos__": value}.get(name, m.unknown("~ of a symbolic size"))
    if is_plain(value):
        return host(m, function, value)
    if isinstance(value, External) or _is_undescribed(value):
        return m.unknown(f"a unary operator on {type_name(value)}")
    raise m.exception("TypeError", f"bad operand type for unary operator: '{type_name(value)}'")


def _tensor_unary(m: Machine, name: str, value: Tensor) -> Value:
    if name == "__neg__":
        return elementwise(m, "neg", [value])
    if name == "__pos__":
        return value
    if value.kind == "bool":
        return elementwise(m, "not_", [value])
    return m.unknown("~ of a tensor that is no mask")


_NUMBERS = frozenset((int, float))


def _is_undescribed(value: Value) -> bool:
    """Whether a value's class may define operators that are not seen."""
    return isinstance(value, Instance) and bool(value.cls.unknown_base or value.tainted)


def binary(m: Machine, op: type[ast.operator], left: Value, right: Value) -> Value:
    """`left op right` for any values."""
    name, function = _BINARY[op]
    left, right = side_by_side(left, right)
    if type(left) in _NUMBERS and type(right) in _NUMBERS:
        check_growth(m, name, left, right)
        return host(m, function, left, right)
    for side in (left, right):
        if isinstance(side, Unknown):
            conditions.check(m, side, "an operator", apart=False)
            if m.outline is not None:
                return m.outline.with_unknown(m, left, right)
            return side
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        return _tensor_binary(m, name, left, right)
    for side, other, method in ((left, right, f"__{name}__"), (right, left, f"__r{name}__")):
        if isinstance(side, Instance) and side.cls.defines(method):
            method_ = attributes.get(m, side, method, special=True)
            made = calls.call(m, method_, [other], {})
            if made != equality.NOT_IMPLEMENTED:
                return made
    flags = _flags(m, name, left, right)
    if flags is not None:
        return flags
    undescribed = _is_undescribed(left) or _is_undescribed(right)
    left, right = unwrapped(left), unwrapped(right)
    m.look(left)
    m.look(right)
    if isinstance(left, str) and name == "mod":
        return texts.percent(m, left, right)
    if isinstance(left, Poly) or isinstance(right, Poly):
        return _poly_binary(m, name, left, right)
    if isinstance(left, (*PLAIN, *VIEWS)) and isinstance(right, (*PLAIN, *VIEWS)):
        check_growth(m, name, left, right)
        return host(m, function, left, right)
    if name == "or" and isinstance(left, (ClassValue, External, type(None))):
        return m.unknown("a union of types", harmless=True)  # an annotation that is evaluated
    if undescribed or isinstance(left, External) or isinstance(right, External):
        return m.unknown(f"{name} with something that is not described")
    kinds = f"'{type_name(left)}' and '{type_name(right)}'"
    raise m.exception("TypeError", f"unsupported operand type(s) for {name}: {kinds}")


def _flags(m: Machine, name: str, left: Value, right: Value) -> Value | None:
    """`|`, `&` and `^` of members of a flag enum make a member, which may be a combination."""
    if name not in ("or", "and", "xor") or not isinstance(left, Instance):
        return None
    if not (left.cls.is_enum and isinstance(right, Instance) and right.cls is left.cls):
        return None
    values = (left.attrs.get("_value_"), right.attrs.get("_value_"))
    if not all(isinstance(value, int) for value in values):
        return None
    function = {"or": operator.or_, "and": operator.and_, "xor": operator.xor}[name]
    return enums.combination(m, left.cls, function(*values))


def _poly_binary(m: Machine, name: str, left: Value, right: Value) -> Value:
    if not all(isinstance(side, (int, Poly)) for side in (left, right)):
        return m.unknown("arithmetic on a symbolic size")
    if name in ("floordiv", "mod") and right == 0:
        raise m.exception("ZeroDivisionError", "integer division or modulo by zero")
    result = sizes.arithmetic(name, left, right)
    return result if result is not None else m.unknown(f"{name} of a symbolic size is not exact")


def _tensor_binary(m: Machine, name: str, left: Value, right: Value) -> Value:
    from checker.interpreter import products

    if left is None or right is None:
        sides = f"'{_kind(left)}' and '{_kind(right)}'"
        raise m.exception("TypeError", f"unsupported operand type(s) for {name}: {sides}")
    if name == "matmul":
        return products.matmul(m, left, right)
    if name in _LOGICAL:
        kinds = {s.kind if isinstance(s, Tensor) else type(s).__name__ for s in (left, right)}
        if kinds == {"bool"}:
            return elementwise(m, _LOGICAL[name], [left, right])
    if name in _TENSOR:
        return elementwise(m, _TENSOR[name], [left, right])
    return m.unknown(f"{name} of tensors is not interpreted")


def _kind(value: Value) -> str:
    return "NoneType" if value is None else "Tensor"


def in_place(m: Machine, op: type[ast.operator], current: Value, value: Value) -> Value:
    """`current op= value`: writes into tensors and containers, else computes a new value."""
    name = _BINARY[op][0]
    havoc.changed(m, current)
    if isinstance(current, Tensor):
        m.asked += 1
        if current.overlaps(value):
            value = m.unknown("an in-place operator over overlapping parts of a tensor")
        current.update(m, binary(m, op, current, value))
        return current
    if isinstance(current, Instance) and current.cls.defines(f"__i{name}__"):
        method = attributes.get(m, current, f"__i{name}__", special=True)
        made = calls.call(m, method, [value], {})
        if made != equality.NOT_IMPLEMENTED:
            return made
    data = unwrapped(current)
    m.changes(data)
    if isinstance(value, Unknown) and isinstance(data, (list, dict, set)):
        raise m.stuck(f"a container is changed by an unknown value ({value.reason})")
    if isinstance(data, list) and name in ("add", "mul"):
        _extend(m, name, data, value)
        return current
    other = unwrapped(value)
    if isinstance(data, dict) and name == "or" and isinstance(other, dict):
        data.update(other)
        return current
    if isinstance(data, set) and isinstance(other, (set, frozenset, *VIEWS)):
        names = {"or": "update", "and": "intersection_update", "sub": "difference_update"}
        if name in names:
            getattr(data, names[name])(other)
            return current
    return binary(m, op, current, value)


def _extend(m: Machine, name: str, data: list[Value], value: Value) -> None:
    if name == "add":
        data.extend(iterate(m, value))
        m.check_size(len(data))
    elif isinstance(value, int):
        m.check_size(len(data) * value)
        data *= value
    else:
        raise m.exception("TypeError", "can't multiply sequence by non-int")


__all__ = ["binary", "in_place", "unary"]
