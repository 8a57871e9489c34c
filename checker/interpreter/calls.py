"""Calls: binding arguments, running bodies, instantiating classes, generators and context managers."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from checker.interpreter import attributes, classes, containers, statements
from checker.interpreter.machine import Frame, Machine
from checker.interpreter.tensors import Tensor
from checker.interpreter.values import (
    BoundMethod,
    ClassMethod,
    ClassValue,
    External,
    Function,
    Instance,
    Native,
    Partial,
    Scope,
    StaticMethod,
    SuperValue,
    Unknown,
    Value,
    type_name,
)


@dataclass(slots=True, eq=False)
class GeneratorCall:
    """A generator function that was called but not run. `manager` says it is used as a context manager."""

    function: Function
    scope: Scope


def call(m: Machine, function: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """Calls any value."""
    match function:
        case Function():
            return call_function(m, function, args, kwargs)
        case BoundMethod(instance=instance, function=inner):
            return call(m, inner, [instance, *args], kwargs)
        case Native():
            return function.call(m, args, kwargs)
        case ClassValue():
            return instantiate(m, function, args, kwargs)
        case Partial():
            return call(m, function.function, [*function.args, *args], {**function.kwargs, **kwargs})
        case StaticMethod(function=inner) | ClassMethod(function=inner):
            return call(m, inner, args, kwargs)
        case Instance():
            if function.cls.lookup("__call__"):
                return call(m, attributes.get(m, function, "__call__", special=True), args, kwargs)
            if function.cls.unknown_base:
                return call_undescribed(m, function.cls.unknown_base, args, kwargs)
            raise m.exception("TypeError", f"'{function.cls.name}' object is not callable")
        case Unknown():
            forget_arguments(m, function, args, kwargs)
            return function
        case External(path=path):
            return call_undescribed(m, path, args, kwargs)
        case _:
            raise m.exception("TypeError", f"'{type_name(function)}' object is not callable")


def call_undescribed(m: Machine, path: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A call of something outside every tree that no operator file describes."""
    unknown = m.unknown(f"{path} is not described in contracts/operators")
    forget_arguments(m, unknown, args, kwargs)
    return unknown


def forget_arguments(m: Machine, unknown: Unknown, args: list[Value], kwargs: dict[str, Value]) -> None:
    """An undescribed function may have changed whatever it was given."""
    for value in [*args, *kwargs.values()]:
        if isinstance(value, Tensor):
            value.forget(m, unknown)
        elif isinstance(value, Instance) and value.tainted is None:
            value.tainted = unknown
        elif isinstance(value, (list, tuple)):
            forget_arguments(m, unknown, [v for v in value if not isinstance(v, (list, tuple))], {})


def call_function(m: Machine, function: Function, args: list[Value], kwargs: dict[str, Value]) -> Value:
    scope = bind(m, function, args, kwargs)
    if function.is_generator:
        generator = GeneratorCall(function, scope)
        if function.attrs.get("contextmanager"):
            return generator
        items: list[Value] = []
        run_generator(m, generator, items.append)
        return containers.Iterator(items)
    return _run(m, function, scope, None)


def run_generator(m: Machine, generator: GeneratorCall, on_yield: Callable[[Value], Value]) -> None:
    _run(m, generator.function, generator.scope, on_yield)


def _run(m: Machine, function: Function, scope: Scope, on_yield: Callable[[Value], Value] | None) -> Value:
    node = function.node
    first = next(iter(scope.names.values()), None)
    frame = Frame(scope, function.module, function.name, node, function.owner, first)
    frame.on_yield = on_yield

    def work() -> Value:
        from checker.interpreter import expressions

        if isinstance(node, ast.Lambda):
            return expressions.evaluate(m, frame, node.body)
        signal = statements.run_block(m, frame, node.body)
        return signal.value if signal is not None else None

    return m.run_in(frame, work)


def bind(m: Machine, function: Function, args: list[Value], kwargs: dict[str, Value]) -> Scope:
    """Binds arguments to parameters as Python does.

    Raises:
        Raised: TypeError of the checked program when they do not fit.
    """
    spec = function.node.args
    names = [a.arg for a in (*spec.posonlyargs, *spec.args)]
    scope = Scope(parent=function.closure)
    bound = scope.names
    rest = dict(kwargs)
    for name, value in zip(names, args, strict=False):
        bound[name] = value
    if len(args) > len(names):
        if spec.vararg is None:
            raise m.exception(
                "TypeError",
                f"{function.name}() takes {len(names)} positional arguments but {len(args)} were given",
            )
        bound[spec.vararg.arg] = tuple(args[len(names) :])
    positional_only = {a.arg for a in spec.posonlyargs}
    defaults = dict(zip(names[len(names) - len(function.defaults) :], function.defaults, strict=True))
    for name in names:
        if name in rest and name not in positional_only:
            if name in bound:
                raise m.exception("TypeError", f"{function.name}() got multiple values for argument '{name}'")
            bound[name] = rest.pop(name)
        elif name not in bound:
            if name not in defaults:
                raise m.exception("TypeError", f"{function.name}() missing a required argument: '{name}'")
            bound[name] = defaults[name]
    if spec.vararg is not None:
        bound.setdefault(spec.vararg.arg, ())
    for arg in spec.kwonlyargs:
        if arg.arg in rest:
            bound[arg.arg] = rest.pop(arg.arg)
        elif arg.arg in function.kw_defaults:
            bound[arg.arg] = function.kw_defaults[arg.arg]
        else:
            raise m.exception("TypeError", f"{function.name}() missing a required argument: '{arg.arg}'")
    if spec.kwarg is not None:
        bound[spec.kwarg.arg] = rest
    elif rest:
        raise m.exception(
            "TypeError", f"{function.name}() got an unexpected keyword argument '{next(iter(rest))}'"
        )
    return scope


def instantiate(m: Machine, cls: ClassValue, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """`cls(...)`."""
    new = cls.lookup("__new__")
    if new is not None:
        made = call(m, new[0], [cls, *args], kwargs)
        if not (isinstance(made, Instance) and made.cls.is_subclass(cls)):
            return made
        instance = made
    elif cls.is_enum:
        return classes.enum_member(m, cls, args)
    else:
        instance = Instance(cls)
        if cls.host is not None:
            instance.data = containers.new_host(m, cls.host, args if not cls.lookup("__init__") else [])
    if cls.unknown_base and not cls.lookup("__init__"):
        instance.tainted = m.unknown(f"{cls.unknown_base}, a base of {cls.name}, is not described")
        return instance
    init = cls.lookup("__init__")
    if init is not None:
        call(m, init[0], [instance, *args], kwargs)
    elif (args or kwargs) and cls.host is None:
        raise m.exception("TypeError", f"{cls.name}() takes no arguments")
    return instance


def zero_argument_super(m: Machine, frame: Frame) -> Value:
    """`super()` inside a method: also from within its comprehensions and inner functions."""
    if frame.owner is None:
        raise m.exception("RuntimeError", "super(): no arguments")
    return SuperValue(frame.owner, frame.first_argument)


def native(name: str) -> Callable[[Callable[..., Value]], Native]:
    """Wraps a function `(machine, *args, **kwargs)` as a value of the checked program."""

    def wrap(function: Callable[..., Value]) -> Native:
        def run(m: Machine, args: list[Value], kwargs: dict[str, Value]) -> Value:
            try:
                return function(m, *args, **kwargs)
            except TypeError as error:
                if "argument" in str(error) and function.__name__ in str(error):
                    raise m.exception("TypeError", str(error).replace(function.__name__, name)) from None
                raise

        return Native(name, run)

    return wrap
