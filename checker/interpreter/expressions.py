"""Expressions: one function per kind."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from checker.interpreter import (
    attributes,
    calls,
    classes,
    containers,
    equality,
    instance_attributes,
    operators,
    outline_building,
    outline_choices,
    outline_kinds,
    scopes,
    texts,
)
from checker.interpreter.iteration import iterate, lazily
from checker.interpreter.machine import Frame, Machine
from checker.interpreter.values import External, Instance, Raised, Scope, Unknown, Value

if TYPE_CHECKING:
    from collections.abc import Callable


def evaluate(m: Machine, frame: Frame, node: ast.expr) -> Value:
    """The value of an expression."""
    m.steps += 1  # as `m.tick()`, without a call: this is where the time goes
    if not m.steps & 1023:
        m.check_budget()
    kind = type(node)
    if kind is ast.Name:
        name, names = node.id, frame.scope.names  # type: ignore[attr-defined]
        if name in names and m.account is None:
            value = names[name]
        else:
            value = scopes.lookup(m, frame, name)
    elif kind is ast.Constant:
        value = node.value  # type: ignore[attr-defined]
    else:
        handler = _EXPRESSIONS.get(kind)
        if handler is None:
            raise m.stuck(f"the expression {kind.__name__} is not interpreted")
        value = handler(m, frame, node)
    if m.results is not None:
        m.results.note(m, node, value)
    return value


def _attribute(m: Machine, frame: Frame, node: ast.Attribute) -> Value:
    base = evaluate(m, frame, node.value)
    frame.node = node
    name = node.attr
    if name[:2] == "__":
        name = scopes.mangled(frame, name)
    elif type(base) is Instance:
        found = instance_attributes.of_instance(m, base, name, special=False)
        if found is not attributes.MISSING:
            return found
        return attributes.absent(m, base, name)
    try:
        return attributes.get(m, base, name)
    except Raised as raised:
        raised.certain = raised.certain or (base is None and _is_stated(frame, node.value))
        raise


def _is_stated(frame: Frame, node: ast.expr) -> bool:
    """Whether what stands there was set on an object that is described in part.

    All else that such an object has may be something else in the server.
    """
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return False
    holder = frame.scope.names.get(node.value.id)
    return isinstance(holder, Instance) and holder.partial and node.attr in holder.attrs


def _subscript(m: Machine, frame: Frame, node: ast.Subscript) -> Value:
    base = evaluate(m, frame, node.value)
    key = evaluate(m, frame, node.slice)
    frame.node = node
    if m.outline is not None and isinstance(key, int):
        base = m.outline.several(base) or base
    return containers.get_item(m, base, key)


def _slice(m: Machine, frame: Frame, node: ast.Slice) -> Value:
    parts = (node.lower, node.upper, node.step)
    return slice(*(evaluate(m, frame, p) if p is not None else None for p in parts))


_MANY = 8


def _constants(nodes: list[ast.expr]) -> list[Value] | None:
    """The values of many constants at once; None where there are few, or other expressions.

    Tables of programs have thousands, often in pairs.
    """
    if len(nodes) < _MANY:
        return None
    values: list[Value] = []
    for node in nodes:
        if type(node) is ast.Constant:
            values.append(node.value)
        elif type(node) is ast.Tuple and all(type(part) is ast.Constant for part in node.elts):
            values.append(tuple(part.value for part in node.elts))  # type: ignore[attr-defined]
        else:
            return None
    return values


def _sequence(m: Machine, frame: Frame, elts: list[ast.expr]) -> list[Value]:
    items = _constants(elts)
    if items is not None:
        return items
    items = []
    for elt in elts:
        if isinstance(elt, ast.Starred):
            items.extend(iterate(m, evaluate(m, frame, elt.value)))
            m.check_size(len(items))
        else:
            items.append(evaluate(m, frame, elt))
    return items


def _tuple(m: Machine, frame: Frame, node: ast.Tuple) -> Value:
    return tuple(_sequence(m, frame, node.elts))


def _list(m: Machine, frame: Frame, node: ast.List) -> Value:
    return _made(m, _sequence(m, frame, node.elts))


def _made(m: Machine, container: Value) -> Value:
    """A container that was made just now."""
    if m.journal is not None:
        m.journal.makes(container)
    return container


def _dict(m: Machine, frame: Frame, node: ast.Dict) -> Value:
    if None not in node.keys:
        keys, values = _constants(node.keys), _constants(node.values)  # type: ignore[arg-type]
        if keys is not None and values is not None:
            return _made(m, dict(zip(keys, values, strict=True)))
    result: dict[Value, Value] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            result.update(containers.mapping_items(m, evaluate(m, frame, value)))
        else:
            name = equality.as_key(m, evaluate(m, frame, key))
            result[name] = evaluate(m, frame, value)
    return _made(m, result)


def _set(m: Machine, frame: Frame, node: ast.Set) -> Value:
    return _made(m, {equality.as_key(m, item) for item in _sequence(m, frame, node.elts)})


def _call(m: Machine, frame: Frame, node: ast.Call) -> Value:
    function = evaluate(m, frame, node.func)
    args: list[Value] = []
    kwargs: dict[str, Value] = {}
    hidden: list[Unknown] = []
    given = outline_building.argument if frame.lenient else evaluate
    for arg in node.args:
        if type(arg) is not ast.Starred:
            args.append(given(m, frame, arg))
            continue
        value = given(m, frame, arg.value)
        if isinstance(value, (Unknown, External)):
            hidden.append(_as_unknown(m, value))
        else:
            args.extend(iterate(m, value))
            m.check_size(len(args))
    for keyword in node.keywords:
        value = given(m, frame, keyword.value)
        if keyword.arg is not None:
            _keyword(m, kwargs, keyword.arg, value)
        elif isinstance(value, (Unknown, External)):
            hidden.append(_as_unknown(m, value))
        else:
            for name, item in containers.mapping_items(m, value).items():
                _keyword(m, kwargs, name, item)
    frame.node = node
    if hidden:
        return calls.call_with_unknown_arguments(m, function, hidden[0], args, kwargs)
    if function is m.builtins["super"] and not args:
        return calls.zero_argument_super(m, frame)
    return calls.call(m, function, args, kwargs)


def _as_unknown(m: Machine, value: Unknown | External) -> Unknown:
    return m.unknown(f"{value.path} is not described") if isinstance(value, External) else value


def _keyword(m: Machine, kwargs: dict[str, Value], name: Value, value: Value) -> None:
    if not isinstance(name, str):
        raise m.exception("TypeError", "keywords must be strings")
    if name in kwargs:
        raise m.exception("TypeError", f"got multiple values for keyword argument '{name}'")
    kwargs[name] = value


def _bool_op(m: Machine, frame: Frame, node: ast.BoolOp) -> Value:
    if m.outline is not None:
        return outline_choices.bool_op(m, frame, node)
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
    return operators.unary(m, node.op, value)


def _bin_op(m: Machine, frame: Frame, node: ast.BinOp) -> Value:
    left = evaluate(m, frame, node.left)
    right = evaluate(m, frame, node.right)
    frame.node = node
    return operators.binary(m, type(node.op), left, right)


def _compare(m: Machine, frame: Frame, node: ast.Compare) -> Value:
    left = evaluate(m, frame, node.left)
    result: Value = True
    for op, right_node in zip(node.ops, node.comparators, strict=True):
        right = evaluate(m, frame, right_node)
        frame.node = node
        result = equality.compare(m, op, left, right)
        if right_node is node.comparators[-1]:
            return result
        if not m.truth(result, "comparison"):
            return result
        left = right
    return result


def _if_exp(m: Machine, frame: Frame, node: ast.IfExp) -> Value:
    test = evaluate(m, frame, node.test)
    if m.outline is not None and isinstance(test, Unknown):
        return outline_choices.if_exp(m, frame, node, test)
    taken = m.truth(test, "conditional expression")
    return evaluate(m, frame, node.body if taken else node.orelse)


def _lambda(m: Machine, frame: Frame, node: ast.Lambda) -> Value:
    return classes.make_function(m, frame, node, "<lambda>")


def _named(m: Machine, frame: Frame, node: ast.NamedExpr) -> Value:
    value = evaluate(m, frame, node.value)
    scopes.bind_walrus(m, frame, node.target.id, value)
    return value


def _joined(m: Machine, frame: Frame, node: ast.JoinedStr) -> Value:
    return texts.joined(m, [evaluate(m, frame, part) for part in node.values])


def _formatted(m: Machine, frame: Frame, node: ast.FormattedValue) -> Value:
    value = evaluate(m, frame, node.value)
    spec = evaluate(m, frame, node.format_spec) if node.format_spec is not None else ""
    if not isinstance(spec, str):
        return spec
    return texts.converted(m, value, texts.conversion_of(node), spec)


# -- comprehensions --------------------------------------------------------------------------------


def _inner_frame(frame: Frame) -> Frame:
    """The frame of a comprehension: a scope of its own inside the function's."""
    scope = Scope(parent=frame.scope, is_comprehension=True)
    inner = Frame(scope, frame.module, frame.name, frame.node, frame.owner, frame.first_argument)
    inner.guard_keys, inner.top_level = frame.guard_keys, frame.top_level
    return inner


def _comprehension(
    m: Machine,
    frame: Frame,
    generators: list[ast.comprehension],
    emit: Callable[[Frame], None],
    first: Value = None,
) -> None:
    """Runs the loops of a comprehension in a scope of their own.

    `first`: what the first of them is over, if it is evaluated already.
    """
    from checker.interpreter import statements

    inner = _inner_frame(frame)
    outermost = evaluate(m, frame, generators[0].iter) if first is None else first

    def loop(index: int) -> None:
        if index == len(generators):
            emit(inner)
            return
        generator = generators[index]
        for item in lazily(m, evaluate(m, inner, generator.iter) if index else outermost):
            m.tick()
            statements.assign(m, inner, generator.target, item)
            if all(m.truth(evaluate(m, inner, test), "comprehension") for test in generator.ifs):
                loop(index + 1)

    m.run_in(inner, lambda: loop(0))


def _list_comp(m: Machine, frame: Frame, node: ast.ListComp) -> Value:
    items: list[Value] = []

    def emit(inner: Frame) -> None:
        items.append(evaluate(m, inner, node.elt))
        m.check_size(len(items))

    first = evaluate(m, frame, node.generators[0].iter)
    if isinstance(first, Unknown) and m.outline is not None and m.outline.building:
        m.asked += 1
        with m.outline.in_doubt():
            _comprehension(m, frame, node.generators, emit, [first])
        return outline_kinds.repeated(m, first, items)
    _comprehension(m, frame, node.generators, emit, first)
    return items


def _set_comp(m: Machine, frame: Frame, node: ast.SetComp) -> Value:
    items: set[Value] = set()
    _comprehension(
        m,
        frame,
        node.generators,
        lambda inner: items.add(equality.as_key(m, evaluate(m, inner, node.elt))),
    )
    return items


def _dict_comp(m: Machine, frame: Frame, node: ast.DictComp) -> Value:
    result: dict[Value, Value] = {}

    def emit(inner: Frame) -> None:
        key = equality.as_key(m, evaluate(m, inner, node.key))
        result[key] = evaluate(m, inner, node.value)

    _comprehension(m, frame, node.generators, emit)
    return result


def _generator(m: Machine, frame: Frame, node: ast.GeneratorExp) -> Value:
    from checker.interpreter import generators

    outermost = evaluate(m, frame, node.generators[0].iter)
    return generators.of_expression(m, _inner_frame(frame), node, outermost)


def _await(m: Machine, frame: Frame, node: ast.Await) -> Value:
    evaluate(m, frame, node.value)
    return m.unknown("await is not interpreted")


_EXPRESSIONS: dict[type[ast.expr], Callable[[Machine, Frame, Any], Value]] = {
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Tuple: _tuple,
    ast.List: _list,
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
    ast.GeneratorExp: _generator,
    ast.SetComp: _set_comp,
    ast.DictComp: _dict_comp,
    ast.Await: _await,
}
