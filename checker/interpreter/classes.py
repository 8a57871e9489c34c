"""Functions and classes: definitions, decorators, linearisation, enums and dataclass-like field lists."""

from __future__ import annotations

import ast

from checker.interpreter.machine import Frame, Machine
from checker.interpreter.values import (
    ClassMethod,
    ClassValue,
    External,
    Function,
    Instance,
    ModuleValue,
    Native,
    Property,
    Scope,
    StaticMethod,
    Unknown,
    Value,
)

HOST_BASES = ("list", "dict", "str", "int", "float", "tuple", "set", "frozenset")


def make_function(
    m: Machine, frame: Frame, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, name: str
) -> Function:
    """The function value of a definition evaluated in `frame`: defaults are evaluated now."""
    from checker.interpreter import expressions

    spec = node.args
    closure = None if frame.scope is frame.module.scope else frame.scope
    while closure is not None and closure.is_class:
        closure = closure.parent
    return Function(
        name,
        node,
        frame.module,
        closure,
        [expressions.evaluate(m, frame, default) for default in spec.defaults],
        {
            arg.arg: expressions.evaluate(m, frame, default)
            for arg, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
            if default is not None
        },
        frame.owner if not frame.scope.is_class else None,
        not isinstance(node, ast.Lambda) and _is_generator(node),
    )


def _is_generator(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    stack: list[ast.AST] = list(node.body)
    while stack:
        item = stack.pop()
        if isinstance(item, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            stack.extend(ast.iter_child_nodes(item))
    return False


def define_function(m: Machine, frame: Frame, stmt: ast.FunctionDef) -> None:
    from checker.interpreter import calls, expressions, stubs

    if frame.scope is frame.module.scope:
        summary = stubs.find(m, f"{frame.module.name}.{stmt.name}")
        if summary is not None and not frame.module.is_stub:
            frame.scope.names[stmt.name] = summary
            return
    value: Value = make_function(m, frame, stmt, stmt.name)
    for decorator in reversed(stmt.decorator_list):
        match decorator:
            case ast.Attribute(value=ast.Name(id=owner), attr="setter") if owner == stmt.name:
                current = frame.scope.names.get(owner)
                if isinstance(current, Property):
                    value = Property(current.getter, value)
                    continue
        function = expressions.evaluate(m, frame, decorator)
        frame.node = stmt
        if isinstance(function, (Unknown, External)):
            path = function.path if isinstance(function, External) else function.reason
            value = m.unknown(f"the decorator of {stmt.name} is not described ({path})")
            continue
        value = calls.call(m, function, [value], {})
    frame.scope.names[stmt.name] = value


def define_class(m: Machine, frame: Frame, stmt: ast.ClassDef) -> None:
    from checker.interpreter import calls, expressions, stubs

    if frame.scope is frame.module.scope and not frame.module.is_stub:
        summary = stubs.find(m, f"{frame.module.name}.{stmt.name}")
        if summary is not None:
            frame.scope.names[stmt.name] = summary
            return
    bases = [expressions.evaluate(m, frame, base) for base in stmt.bases]
    keywords = {k.arg: expressions.evaluate(m, frame, k.value) for k in stmt.keywords if k.arg}
    cls = build_class(m, frame, stmt, bases)
    overlay = None if frame.module.is_stub else stubs.overlay(m, cls)
    if overlay is not None:
        cls.namespace.update(
            {k: v for k, v in overlay.namespace.items() if k not in ("__module__", "__qualname__", "__doc__")}
        )
        for value in overlay.namespace.values():
            _own(value, cls)
    _notify_bases(m, cls, keywords)
    value: Value = cls
    for decorator in reversed(stmt.decorator_list):
        function = expressions.evaluate(m, frame, decorator)
        frame.node = stmt
        if isinstance(function, (Unknown, External)):
            path = function.path if isinstance(function, External) else function.reason
            value = m.unknown(f"the decorator of class {stmt.name} is not described ({path})")
            continue
        value = calls.call(m, function, [value], {})
    frame.scope.names[stmt.name] = value


def _notify_bases(m: Machine, cls: ClassValue, keywords: dict[str, Value]) -> None:
    """Calls the nearest base's `__init_subclass__`."""
    from checker.interpreter import calls

    for base in cls.mro[1:]:
        hook = base.namespace.get("__init_subclass__")
        if hook is not None:
            function = hook.function if isinstance(hook, ClassMethod) else hook
            if isinstance(function, (Function, Native)):
                keywords.pop("metaclass", None)
                calls.call(m, function, [cls], keywords)
            return


def _own(value: Value, cls: ClassValue) -> None:
    """Makes `cls` the class whose MRO `super()` inside `value` continues from."""
    match value:
        case Function():
            value.owner = cls
        case StaticMethod(function=inner) | ClassMethod(function=inner):
            _own(inner, cls)
        case Property(getter=getter, setter=setter):
            _own(getter, cls)
            _own(setter, cls)


def build_class(m: Machine, frame: Frame, stmt: ast.ClassDef, bases: list[Value]) -> ClassValue:
    """Evaluates a class body and linearises its bases."""
    from checker.interpreter import statements

    cls = ClassValue(stmt.name, frame.module, tuple(bases), node=stmt)
    parents = _parents(m, cls, bases)
    cls.mro = (cls, *_c3(m, parents))
    scope = Scope(parent=None if frame.scope is frame.module.scope else frame.scope, is_class=True)
    inner = Frame(scope, frame.module, stmt.name, stmt, cls)
    m.run_in(inner, lambda: statements.run_block(m, inner, stmt.body))
    cls.annotations = scope.names.pop("__annotations__", {})
    cls.namespace = scope.names
    for name, wrap in (("__init_subclass__", ClassMethod), ("__class_getitem__", ClassMethod), ("__new__", StaticMethod)):
        if isinstance(cls.namespace.get(name), Function):
            cls.namespace[name] = wrap(cls.namespace[name])
    for value in cls.namespace.values():
        _own(value, cls)
    for parent in cls.mro[1:]:
        cls.host = cls.host or parent.host
        cls.is_enum = cls.is_enum or parent.is_enum or "__enum__" in parent.namespace
        cls.unknown_base = cls.unknown_base or parent.unknown_base
    if cls.is_enum and cls.module is not None:
        _make_members(m, cls)
    _tell_names(m, cls)
    return cls


def _tell_names(m: Machine, cls: ClassValue) -> None:
    """Descriptors learn the names they are bound to."""
    from checker.interpreter import attributes, calls

    for name, value in list(cls.namespace.items()):
        if isinstance(value, Instance) and value.cls.lookup("__set_name__"):
            calls.call(m, attributes.get(m, value, "__set_name__"), [cls, name], {})


def _parents(m: Machine, cls: ClassValue, bases: list[Value]) -> list[ClassValue]:
    parents: list[ClassValue] = []
    for base in bases:
        match base:
            case ClassValue():
                parents.append(base)
            case External(path=path):
                cls.unknown_base = path
            case Unknown(reason=reason):
                cls.unknown_base = reason
            case Native(name=name) if name in m.builtins:
                cls.unknown_base = name
            case _:
                cls.unknown_base = "a computed base"
    return parents


def _c3(m: Machine, parents: list[ClassValue]) -> list[ClassValue]:
    """C3 linearisation."""
    sequences = [list(parent.mro) for parent in parents] + [list(parents)]
    result: list[ClassValue] = []
    while any(sequences):
        sequences = [s for s in sequences if s]
        for sequence in sequences:
            head = sequence[0]
            if not any(head in other[1:] for other in sequences):
                break
        else:
            raise m.exception("TypeError", "Cannot create a consistent method resolution order (MRO)")
        result.append(head)
        for sequence in sequences:
            if sequence[0] is head:
                del sequence[0]
    return result


# -- enums ------------------------------------------------------------------------------------------


def _make_members(m: Machine, cls: ClassValue) -> None:
    members: dict[str, Instance] = {}
    last: Value = 0
    for name, value in list(cls.namespace.items()):
        if name.startswith("_") or isinstance(value, (Function, Property, ClassMethod, StaticMethod, Native)):
            continue
        if isinstance(value, Instance) and value.cls.name == "auto":
            is_text = cls.host == "str"
            value = name.lower() if is_text else (last + 1 if isinstance(last, int) else len(members) + 1)
        last = value
        member = Instance(cls, {"name": name, "value": value, "_name_": name, "_value_": value})
        if cls.host is not None and isinstance(value, (str, int)):
            member.data = value
        members[name] = member
        cls.namespace[name] = member
    cls.namespace["__members__"] = members


def enum_member(m: Machine, cls: ClassValue, args: list[Value]) -> Value:
    """`Cls(value)`."""
    from checker.interpreter import calls, containers

    members = cls.namespace.get("__members__", {})
    for member in members.values():
        if args and (args[0] is member or containers.equal(m, member.attrs["value"], args[0]) is True):
            return member
    missing = cls.lookup("_missing_")
    if missing is not None:
        made = calls.call(m, missing[0], [cls, *args], {})
        if made is not None:
            return made
    raise m.exception("ValueError", f"{args[0] if args else ''!r} is not a valid {cls.name}")


# -- fields (dataclasses, pydantic models, NamedTuple, configuration classes) -------------------------


def fields(cls: ClassValue, stop: str | None = None) -> dict[str, tuple[ClassValue, ast.expr]]:
    """Annotated fields of a class in definition order, bases first; ClassVars left out."""
    found: dict[str, tuple[ClassValue, ast.expr]] = {}
    for base in reversed(cls.mro):
        for name, annotation in base.annotations.items():
            if "ClassVar" in ast.unparse(annotation):
                found.pop(name, None)
                continue
            found[name] = (base, annotation)
    return found


def module_of(value: Value) -> ModuleValue | None:
    return value.module if isinstance(value, (Function, ClassValue)) else None
