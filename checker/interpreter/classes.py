"""Functions and classes: definitions, decorators, linearisation, dataclass-like field lists."""

from __future__ import annotations

import ast
from dataclasses import replace

from checker.interpreter import attributes, calls, enums, expressions, scopes, statements, stubs
from checker.interpreter.machine import Frame, Machine
from checker.interpreter.values import (
    ClassMethod,
    ClassValue,
    External,
    Function,
    Instance,
    Property,
    Scope,
    StaticMethod,
    Unknown,
    Value,
)
from checker.syntax.remembering import remembered


def make_function(
    m: Machine,
    frame: Frame,
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
    name: str,
) -> Function:
    """The function value of a definition evaluated in `frame`: defaults are evaluated now."""
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
        frame.owner,
    )


def define_function(m: Machine, frame: Frame, stmt: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """`def`."""
    if frame.scope is frame.module.scope and not frame.module.is_stub:
        summary = stubs.find(m, f"{frame.module.name}.{stmt.name}")
        if summary is not None:
            frame.scope.names[stmt.name] = summary
            return
    decorators = _decorators(m, frame, stmt)
    value: Value = make_function(m, frame, stmt, stmt.name)
    scopes.bind(m, frame, stmt.name, _decorated(m, frame, stmt, decorators, value))


def _decorators(
    m: Machine, frame: Frame, stmt: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
) -> list[Value]:
    if not stmt.decorator_list:
        return []
    return [expressions.evaluate(m, frame, decorator) for decorator in stmt.decorator_list]


def _decorated(
    m: Machine,
    frame: Frame,
    stmt: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef,
    decorators: list[Value],
    value: Value,
) -> Value:
    """The definition after its decorators; one that is not described makes it unknown."""
    if not decorators:
        return value
    for decorator in reversed(decorators):
        frame.node = stmt
        if isinstance(decorator, (Unknown, External)):
            path = decorator.path if isinstance(decorator, External) else decorator.reason
            value = m.unknown(
                f"the decorator of {stmt.name} is not described ({path})", harmless=True
            )
        else:
            value = calls.call(m, decorator, [value], {})
    return value


def define_class(m: Machine, frame: Frame, stmt: ast.ClassDef) -> None:
    """`class`."""
    if frame.scope is frame.module.scope and not frame.module.is_stub:
        summary = stubs.find(m, f"{frame.module.name}.{stmt.name}")
        if summary is not None:
            frame.scope.names[stmt.name] = summary
            return
    decorators = _decorators(m, frame, stmt)
    frame = _with_type_parameters(m, frame, stmt)
    bases: list[Value] = []
    for base in stmt.bases:
        if isinstance(base, ast.Starred):
            raise m.stuck(f"the bases of {stmt.name} are computed")
        bases.append(expressions.evaluate(m, frame, base))
    keywords = {k.arg: expressions.evaluate(m, frame, k.value) for k in stmt.keywords if k.arg}
    meta = keywords.pop("metaclass", None)
    cls = build_class(m, frame, stmt, bases, meta)
    overlay = None if frame.module.is_stub else stubs.overlay(m, cls)
    if overlay is not None:
        own = ("__module__", "__qualname__", "__doc__")
        added = {k: _owned(v, cls) for k, v in overlay.namespace.items() if k not in own}
        cls.namespace.update(added)
    made: Value = cls
    if cls.meta is not None and any(cls.meta.defines(name) for name in _META_HOOKS):
        made = m.unknown(f"the class {stmt.name}, which the metaclass {cls.meta.name} makes")
    else:
        _notify_bases(m, cls, keywords)
    scopes.bind(m, frame, stmt.name, _decorated(m, frame, stmt, decorators, made))


def _with_type_parameters(m: Machine, frame: Frame, stmt: ast.ClassDef) -> Frame:
    """`class A[T]`: the parameters are names of no consequence."""
    for parameter in getattr(stmt, "type_params", ()):
        if parameter.name not in frame.scope.names:
            frame.scope.names[parameter.name] = m.unknown("a type parameter", harmless=True)
    return frame


def _notify_bases(m: Machine, cls: ClassValue, keywords: dict[str, Value]) -> None:
    """Calls the nearest base's `__init_subclass__`."""
    for base in cls.mro[1:]:
        hook = base.namespace.get("__init_subclass__")
        if hook is not None:
            function = hook.function if isinstance(hook, ClassMethod) else hook
            calls.call(m, function, [cls], keywords)
            return


def _owned(value: Value, cls: ClassValue) -> Value:
    """A summary's member as one of `cls`: that is whose MRO `super()` in it continues from."""
    match value:
        case Function():
            return replace(value, owner=cls)
        case StaticMethod(function=inner):
            return StaticMethod(_owned(inner, cls))
        case ClassMethod(function=inner):
            return ClassMethod(_owned(inner, cls))
        case Property(getter=getter, setter=setter):
            return replace(value, getter=_owned(getter, cls), setter=_owned(setter, cls))
        case _:
            return value


def build_class(
    m: Machine, frame: Frame, stmt: ast.ClassDef, bases: list[Value], meta: Value = None
) -> ClassValue:
    """Evaluates a class body and linearises its bases."""
    cls = ClassValue(stmt.name, frame.module, tuple(bases), node=stmt)
    cls.mro = (cls, *_c3(m, _parents(m, cls, bases)))
    code = scopes.code_of(m, stmt)
    parent = None if frame.scope is frame.module.scope else frame.scope
    scope = Scope(parent=parent, code=code, is_class=True)
    inner = Frame(scope, frame.module, stmt.name, stmt, cls, top_level=frame.top_level)
    m.run_in(inner, lambda: statements.run_block(m, inner, stmt.body))
    cls.annotations = scope.names.pop("__annotations__", {})
    cls.namespace = {scopes.mangled(inner, name): value for name, value in scope.names.items()}
    _finish(m, cls, meta)
    return cls


def dynamic_class(
    m: Machine, name: str, bases: list[Value], namespace: dict[str, Value]
) -> ClassValue:
    """`type(name, bases, namespace)`."""
    cls = ClassValue(name, m.frames[-1].module, tuple(bases))
    cls.mro = (cls, *_c3(m, _parents(m, cls, bases)))
    cls.namespace = namespace
    _finish(m, cls, None)
    _notify_bases(m, cls, {})
    return cls


_IMPLICIT = {
    "__init_subclass__": ClassMethod,
    "__class_getitem__": ClassMethod,
    "__new__": StaticMethod,
}
_META_HOOKS = ("__new__", "__init__", "__prepare__")


def _finish(m: Machine, cls: ClassValue, meta: Value) -> None:
    """What follows from the bases and the metaclass once the body has run."""
    for name, wrap in _IMPLICIT.items():
        if isinstance(cls.namespace.get(name), Function):
            cls.namespace[name] = wrap(cls.namespace[name])
    if "__eq__" in cls.namespace:
        cls.namespace.setdefault("__hash__", None)
    for parent in cls.mro[1:]:
        cls.host = cls.host or parent.host
        cls.is_enum = cls.is_enum or parent.is_enum or "__enum__" in parent.namespace
        cls.unknown_base = cls.unknown_base or parent.unknown_base
        cls.meta = cls.meta or parent.meta
    if isinstance(meta, ClassValue) and meta.module is not None and not meta.module.is_stub:
        cls.meta = meta
    elif isinstance(meta, (Unknown, External)):
        cls.unknown_base = cls.unknown_base or "a metaclass"
    cls.is_enum = cls.is_enum or "__enum__" in cls.namespace
    if cls.is_enum and "__enum__" not in cls.namespace:
        enums.make_members(m, cls)
    _tell_names(m, cls)


def _tell_names(m: Machine, cls: ClassValue) -> None:
    """Descriptors learn the names they are bound to."""
    for name, value in list(cls.namespace.items()):
        if isinstance(value, Instance) and value.cls.lookup("__set_name__"):
            method = attributes.get(m, value, "__set_name__", special=True)
            calls.call(m, method, [cls, name], {})


def _parents(m: Machine, cls: ClassValue, bases: list[Value]) -> list[ClassValue]:
    """The bases that are classes of the trees; others make the class's own attributes uncertain."""
    parents: list[ClassValue] = []
    for base in bases:
        match base:
            case ClassValue():
                if base.module is not None or base.name != "object":
                    parents.append(base)
            case External(path=path):
                cls.unknown_base = path
            case Unknown(reason=reason):
                cls.unknown_base = reason
            case _:
                raise m.exception("TypeError", f"a base of {cls.name} is no class")
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
            raise m.exception(
                "TypeError", "Cannot create a consistent method resolution order (MRO)"
            )
        result.append(head)
        for sequence in sequences:
            if sequence[0] is head:
                del sequence[0]
    return result


# -- fields (dataclasses, pydantic models, NamedTuple, configuration classes)
# -------------------------


def fields(cls: ClassValue) -> dict[str, tuple[ClassValue, ast.expr]]:
    """Annotated fields of a class in definition order, bases first; ClassVars left out."""
    found: dict[str, tuple[ClassValue, ast.expr]] = {}
    for base in reversed(cls.mro):
        for name, annotation in base.annotations.items():
            if "ClassVar" in annotation_head(annotation):
                found.pop(name, None)
                continue
            found[name] = (base, annotation)
    return found


@remembered()
def annotation_head(annotation: ast.expr) -> str:
    """An annotation as it is written, up to its brackets."""
    match annotation:
        case ast.Name(id=name):
            return name
        case ast.Constant(value=str(text)):
            return text.partition("[")[0]
        case ast.Subscript(value=value):
            return annotation_head(value)
        case _:
            return ast.unparse(annotation)
