"""Calls: binding arguments, running bodies, instantiating classes."""

from __future__ import annotations

import ast

from checker.interpreter import (
    attributes,
    caching,
    conditions,
    containers,
    enums,
    exceptions,
    expressions,
    havoc,
    merging,
    numbered,
    outline,
    outline_building,
    scopes,
    statements,
)
from checker.interpreter.machine import Frame, Machine
from checker.interpreter.open_values import Maybe, Several
from checker.interpreter.values import (
    BoundMethod,
    ClassMethod,
    ClassValue,
    Code,
    External,
    Function,
    Instance,
    Native,
    Partial,
    Raised,
    Scope,
    StaticMethod,
    Stuck,
    SuperValue,
    Unknown,
    Value,
    type_name,
)


def call(m: Machine, function: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """Calls any value."""
    kind = type(function)
    if kind is Function:
        return call_function(m, function, args, kwargs)
    if kind is BoundMethod:
        return _bound(m, function, args, kwargs)
    match function:
        case Native():
            if not function.pure:
                m.asked += 1
            numbered.given_away(m, function, args, kwargs)
            _given(m, function, args, kwargs)
            return function.call(m, args, kwargs)
        case ClassValue():
            if function.module is None:
                numbered.given_away(m, function, args, kwargs)
            return _class(m, function, args, kwargs)
        case Partial():
            merged = {**function.kwargs, **kwargs}
            return call(m, function.function, [*function.args, *args], merged)
        case StaticMethod(function=inner) | ClassMethod(function=inner):
            return call(m, inner, args, kwargs)
        case Instance():
            return _instance(m, function, args, kwargs)
        case Maybe(item=item):
            return call(m, item, args, kwargs)
        case Unknown():
            return _unknown(m, function, args, kwargs)
        case External(path=path):
            return call_undescribed(m, path, args, kwargs)
        case _:
            raise m.exception("TypeError", f"'{type_name(function)}' object is not callable")


def _bound(m: Machine, method: BoundMethod, args: list[Value], kwargs: dict[str, Value]) -> Value:
    instance, inner, run = method.instance, method.function, m.outline
    if run is not None and run.depth and run.is_part(instance):
        return run.method(m, instance, inner, args, kwargs)
    given = [instance, *args]
    if type(inner) is not Function:
        return call(m, inner, given, kwargs)
    if run is not None and inner.name == "forward" and id(instance) in run.indices:
        return run.run(m, instance, lambda: call_function(m, inner, given, kwargs))
    return call_function(m, inner, given, kwargs)


_LOOKING = frozenset(
    (
        *(
            "isinstance",
            "issubclass",
            "len",
            "getattr",
            "hasattr",
            "type",
            "id",
            "callable",
            "bool",
        ),
        *("int", "float", "str", "repr", "format", "print", "min", "max", "any", "all", "sum"),
        *(
            "sorted",
            "list",
            "tuple",
            "set",
            "dict",
            "zip",
            "enumerate",
            "range",
            "hash",
            "reversed",
        ),
    )
)
_STORING = frozenset(("append", "add", "insert", "setdefault", "put"))


def _given(m: Machine, function: Native, args: list[Value], kwargs: dict[str, Value]) -> None:
    """A function of ours gets these: what is one of several things may be changed by it."""
    for value in (*args, *kwargs.values()) if kwargs else args:
        if isinstance(value, Unknown) and havoc.things_of(value):
            looks = function.name in _LOOKING or function.name.startswith("op.")
            if not looks and not (function.name in _STORING and len(args) == 1):
                havoc.used(m, value)


def _unknown(m: Machine, function: Unknown, args: list[Value], kwargs: dict[str, Value]) -> Unknown:
    """What is given to something unknown is not known any more."""
    conditions.check(m, function, "a call")
    if isinstance(function, Several) and function.function:
        raise m.stuck(f"a call of {function.reason}")
    havoc.used(m, function)
    havoc.forget(m, function, [*args, *kwargs.values()])
    return function


def _instance(m: Machine, function: Instance, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if m.outline is not None:
        return m.outline.called(m, function, args, kwargs)
    return call_instance(m, function, args, kwargs)


def call_instance(
    m: Machine, function: Instance, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    """`type(x).__call__(x, ...)`."""
    if function.cls.lookup("__call__"):
        return call(m, attributes.get(m, function, "__call__", special=True), args, kwargs)
    if function.tainted is not None or function.cls.unknown_base:
        reason = function.cls.unknown_base or f"an object of {function.cls.name}"
        return call_undescribed(m, reason, [function, *args], kwargs)
    raise m.exception("TypeError", f"'{function.cls.name}' object is not callable")


def call_undescribed(m: Machine, path: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A call of something outside every tree that no operator file describes.

    Under a `try` with handlers it may raise: that is decided both ways.
    """
    unknown = m.unknown(f"{path} is not described in contracts/operators")
    havoc.forget(m, unknown, [*args, *kwargs.values()])
    if m.trying and not m.decide(f"fact: whether {path} returns"):
        raise exceptions.unknown_exception(m, unknown)
    return unknown


def call_with_unknown_arguments(
    m: Machine, function: Value, unknown: Unknown, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    """A call whose `*args` or `**kwargs` are not known: what it does cannot be followed."""
    if m.outline is not None and isinstance(function, ClassValue) and outline.is_module(function):
        return instantiate(m, function, args, kwargs)
    result = m.unknown(f"a call with arguments that are not known: {unknown.reason}")
    havoc.forget(m, result, [function, *args, *kwargs.values()])
    return result


def call_function(
    m: Machine, function: Function, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    """Calls a function of the checked program (or of a summary)."""
    if function.attrs and caching.CACHED in function.attrs:
        return caching.call(m, function, args, kwargs, lambda: _called(m, function, args, kwargs))
    return _called(m, function, args, kwargs)


def _called(m: Machine, function: Function, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if m.journal is not None and not function.module.is_stub:
        node = function.node
        if type(node) is ast.FunctionDef and merging.is_open(m, node):
            return merging.call(m, node, lambda: _call_function(m, function, args, kwargs))
    return _call_function(m, function, args, kwargs)


def _call_function(
    m: Machine, function: Function, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    scope = bind(m, function, args, kwargs)
    node, code = function.node, scope.code
    first = next(iter(scope.names.values()), None)
    frame = Frame(scope, function.module, function.name, node, function.owner, first)
    if m.outline is not None and m.outline.building:
        frame.lenient = outline_building.is_constructor(m, function.name, first)
    if isinstance(node, ast.Lambda):
        body = node.body
        return m.run_in(frame, lambda: expressions.evaluate(m, frame, body))
    if code.is_async:
        unknown = m.unknown(f"the coroutine {function.name} is not interpreted")
        havoc.forget(m, unknown, [*args, *kwargs.values()])
        return unknown
    if code.is_generator:
        from checker.interpreter import generators

        return generators.of_function(m, frame, node.body)
    statements_run = m.slice.run(m, function) if m.slice is not None else None
    body_run = node.body
    if m.slice is not None and statements_run is not None:
        m.slice.prepare(m, function, scope, statements_run)
        body_run = statements_run
    signal = m.run_in(frame, lambda: statements.run_block(m, frame, body_run))
    return signal.value if signal is not None else None


def _misfit(m: Machine, function: Function, text: str) -> Raised | Stuck:
    """Arguments that do not fit.

    The checked program's error, unless a summary is what they miss.
    """
    if function.module.is_stub:
        return m.stuck(f"the summary of {function.name} does not describe these arguments: {text}")
    return m.exception("TypeError", text)


def bind(m: Machine, function: Function, args: list[Value], kwargs: dict[str, Value]) -> Scope:
    """Binds arguments to parameters as Python does.

    Raises:
        Raised: TypeError of the checked program when they do not fit.
    """
    code = scopes.code_of(m, function.node)
    names = code.parameters
    scope = Scope(dict(zip(names, args)), function.closure, code)  # noqa: B905 - as many as fit
    if len(args) == len(names) and not kwargs and not code.named and code.rest is None:
        if code.rest_named is not None:
            _bind_rest(m, scope.names, code.rest_named, {})
        return scope
    bound = scope.names
    rest = dict(kwargs)
    if len(args) > len(names) and code.rest is None:
        text = f"takes {len(names)} positional arguments but {len(args)} were given"
        raise _misfit(m, function, f"{function.name}() {text}")
    if len(args) < len(names) or rest:
        _bind_positional(m, function, code, bound, rest)
    if code.rest is not None:
        bound[code.rest] = tuple(args[len(names) :])
    for name in code.named:
        if name in rest:
            bound[name] = rest.pop(name)
        elif name in function.kw_defaults:
            bound[name] = _default(m, function.kw_defaults[name])
        else:
            _missing(m, function, name)
    if code.rest_named is not None:
        _bind_rest(m, bound, code.rest_named, rest)
    elif rest:
        text = f"got an unexpected keyword argument '{next(iter(rest))}'"
        raise _misfit(m, function, f"{function.name}() {text}")
    return scope


def _bind_rest(m: Machine, bound: dict[str, Value], name: str, rest: dict[str, Value]) -> None:
    """`**name`: a dictionary that is made for this call."""
    bound[name] = rest
    if m.journal is not None:
        m.journal.makes(rest)


def _bind_positional(
    m: Machine, function: Function, code: Code, bound: dict[str, Value], rest: dict[str, Value]
) -> None:
    """Binds the parameters that may be given by position.

    From keywords and defaults what is left.
    """
    first_default = len(code.parameters) - len(function.defaults)
    for index, name in enumerate(code.parameters):
        if name in rest and index >= code.only_positional:
            if name in bound:
                text = f"got multiple values for argument '{name}'"
                raise _misfit(m, function, f"{function.name}() {text}")
            bound[name] = rest.pop(name)
        elif name not in bound:
            if index < first_default:
                _missing(m, function, name)
            bound[name] = _default(m, function.defaults[index - first_default])


def _default(m: Machine, value: Value) -> Value:
    """A default, which is one object for all calls."""
    if m.loop is not None:
        m.loop.saw(value)
    return value


def _missing(m: Machine, function: Function, name: str) -> None:
    raise _misfit(m, function, f"{function.name}() missing a required argument: '{name}'")


def _class(m: Machine, cls: ClassValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """`cls(...)`: by its metaclass, if that says how."""
    if cls.meta is not None:
        found = cls.meta.lookup("__call__")
        if found is not None:
            return call(m, found[0], [cls, *args], kwargs)
    return instantiate(m, cls, args, kwargs)


def instantiate(m: Machine, cls: ClassValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """What `type.__call__` does: `__new__`, then `__init__`."""
    if cls.is_enum:
        return enums.by_value(m, cls, args, kwargs)
    if m.watch is not None:
        m.watch.makes(cls)
    if m.outline is not None:
        postponed = m.outline.postpone(m, cls, args, kwargs)
        if postponed is not None:
            m.asked += 1
            return postponed
    new = cls.lookup("__new__")
    if new is not None:
        made = call(m, new[0], [cls, *args], kwargs)
        if not (isinstance(made, Instance) and made.cls.is_subclass(cls)):
            return made
        instance = made
    else:
        instance = Instance(cls)
    init = cls.lookup("__init__")
    if cls.unknown_base and init is None:
        unknown = m.unknown(f"{cls.unknown_base}, a base of {cls.name}, is not described")
        havoc.forget(m, unknown, [*args, *kwargs.values()])
        instance.tainted = unknown
        return instance
    if init is not None:
        if call(m, init[0], [instance, *args], kwargs) is not None and cls.defines("__init__"):
            return m.unknown(f"what {cls.name}.__init__ does is not known")
    elif isinstance(instance.data, (list, dict, set)):
        instance.data = containers.new_host(m, cls.host or "", args, kwargs)
    elif (args or kwargs) and new is None:
        raise m.exception("TypeError", f"{cls.name}() takes no arguments")
    return instance


def zero_argument_super(m: Machine, frame: Frame) -> Value:
    """`super()` inside a method: also from within its comprehensions and inner functions."""
    if frame.owner is None:
        raise m.exception("RuntimeError", "super(): no arguments")
    return SuperValue(frame.owner, frame.first_argument)
