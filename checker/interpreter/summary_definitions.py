"""What summaries and stages ask of definitions and objects: what Python syntax alone cannot say."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from checker.interpreter import calls, excerpts, slicing
from checker.interpreter.tensors import Tensor
from checker.interpreter.values import (
    ClassValue,
    Function,
    Instance,
    Raised,
    Stuck,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from checker.interpreter.machine import Machine


def _parameters_of(m: Machine, function: Value) -> Value:
    """The names of a function's parameters; of a class, those of its `__init__`."""
    if isinstance(function, ClassValue):
        found = function.lookup("__init__")
        function = found[0] if found is not None else function
    if not isinstance(function, Function):
        return []
    spec = function.node.args
    return [a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]


def _attempt(m: Machine, function: Value, *passed: Value) -> Value:
    """Runs a function for what it does on the way; how it ends does not matter.

    Whatever it would make doubtful is no doubt about the program: nothing follows from it. Only
    exceptions of the types that are passed go on, where the engine's own files raise them. True
    where the function came to its end.
    """
    with apart(m):
        try:
            calls.call(m, function, [], {})
            return True
        except Raised as raised:
            place = raised.location
            if raised.type_name in passed and place is not None and place.source == m.engine:
                raise
            return False
        except Stuck:
            return False


def _ending(m: Machine, function: Value) -> Value:
    """How a function ends that is run for that alone: (kind, words).

    `done`; `raised`, by a statement of the engine's own files that is there to raise; or `open`
    where that is not known: an exception may be one of what is only modelled.
    """
    with apart(m):
        try:
            calls.call(m, function, [], {})
        except Raised as raised:
            place, words = raised.location, f"{raised.type_name}: {raised.message}"
            if m.debug:
                sys.stderr.write("\n".join(raised.trail) + "\n")
            meant = raised.explicit or raised.type_name == "AssertionError"
            meant = meant and place is not None and place.source == m.engine
            return ("raised" if meant else "open", f"{words} ({place})")
        except Stuck as stuck:
            return (
                "open",
                f"{stuck.reason} ({stuck.location})" if stuck.location else stuck.reason,
            )
        doubt = next(iter(m.doubts.items()), None)
        return ("done", "") if doubt is None else ("open", f"{doubt[0]} ({doubt[1]})")


def _about(m: Machine, keys: Value, function: Value, *args: Value, **kwargs: Value) -> Value:
    """Calls a function whose exceptions are about certain configuration keys."""
    try:
        return calls.call(m, function, list(args), kwargs)
    except Raised as raised:
        raised.keys = (*raised.keys, *keys)  # the last one counts
        raise


@contextmanager
def apart(m: Machine) -> Iterator[None]:
    """What is run now leaves no doubts, no reads and no frames behind."""
    doubts, reads, frames = dict(m.doubts), len(m.reads), len(m.frames)
    m.doubts.clear()
    m.attempting += 1
    try:
        yield
    finally:
        m.attempting -= 1
        del m.frames[frames:]
        del m.reads[reads:]
        m.doubts.clear()
        m.doubts.update(doubts)


def _children(m: Machine, module: Instance) -> Value:
    """(name, submodule or tensor) pairs of a module, in the order they were set.

    Containers' items included.
    """
    pairs: list[Value] = []
    for name, value in module.attrs.items():
        if name == "_items" and isinstance(value, (list, dict)):
            items = value.items() if isinstance(value, dict) else enumerate(value)
            pairs += [(str(k), v) for k, v in items]
        elif isinstance(value, (Tensor, Instance)):
            pairs.append((name, value))
    return pairs


def _walk(m: Machine, module: Value, base: Value, prefix: Value, wanted: Value) -> Value:
    """(path, tensor) of a module's parameters or buffers and of all below it, each object once.

    A module's own come before those of its submodules, as torch gives them.
    """
    found: list[Value] = []
    seen: set[int] = set()
    ready = "_forward_pre_hooks"

    if m.watch is not None and isinstance(base, ClassValue):
        m.watch.asked(base)

    def visit(owner: Instance, path: str) -> None:
        m.tick()
        if ready not in owner.attrs:
            text = "cannot assign module or parameter before Module.__init__() call"
            raise m.exception("AttributeError", text)
        children = _children(m, owner)
        for name, child in children:
            chosen = isinstance(child, Tensor) and (
                child.parameter if wanted == "parameters" else child.buffer
            )
            if chosen and id(child) not in seen:
                seen.add(id(child))
                found.append((path + name, child))
        for name, child in children:
            below = isinstance(child, Instance) and child.cls.is_subclass(base)
            if below and id(child) not in seen:
                seen.add(id(child))
                visit(child, f"{path}{name}.")

    visit(module, prefix)
    return found


def _fields(m: Machine, cls: Value) -> Value:
    """{field name: (has default, default)} of a class with annotated fields, bases first."""
    from checker.interpreter import classes

    result: dict[str, Value] = {}
    for name in classes.fields(cls):
        found = cls.lookup(name)
        result[name] = (found is not None, found[0] if found is not None else None)
    return result


def _functions_of(m: Machine, cls: ClassValue) -> Value:
    """(name, function) of every function in a class and its bases, bases first."""
    found: dict[str, Value] = {}
    for base in reversed(cls.mro):
        found.update(base.namespace)
    return list(found.items())


def _function_attribute(m: Machine, function: Value, name: Value) -> Value:
    from checker.interpreter.values import ClassMethod, StaticMethod

    while isinstance(function, (ClassMethod, StaticMethod)):
        function = function.function
    return function.attrs.get(name) if isinstance(function, Function) else None


def _set_function_attribute(m: Machine, function: Value, name: Value, value: Value) -> Value:
    from checker.interpreter.values import ClassMethod, StaticMethod

    inner = function
    while isinstance(inner, (ClassMethod, StaticMethod)):
        inner = inner.function
    if isinstance(inner, Function):
        m.changes(inner)
        inner.attrs[name] = value
    return function


def _partial(m: Machine, function: Value, *args: Value, **kwargs: Value) -> Value:
    from checker.interpreter.values import Partial

    return Partial(function, args, kwargs)


def _cached_property(m: Machine, function: Value) -> Value:
    from checker.interpreter.values import Property

    return Property(function, cached=True)


def _new(m: Machine, cls: Value) -> Value:
    """An instance without `__init__`: what is not set on it is unknown.

    In an outline, None that its class has for it is no value either: something sets it.
    """
    return Instance(cls, partial=True)


def _copy(m: Machine, value: Value, deep: Value = False) -> Value:
    from checker.interpreter import copying

    return copying.deepcopy(m, value) if deep is True else copying.copy(m, value)


def _load(m: Machine, name: Value) -> Value:
    from checker.interpreter import imports

    return imports.import_module(m, name)


def _modules(m: Machine, package: Value) -> Value:
    """(name, whether it is a package) of what lies directly in a package, sorted by name."""
    folder = str(package).replace(".", "/") + "/"
    found: dict[str, bool] = {}
    for tree in m.workspace.trees:
        for root in tree.roots:
            for entry in tree.listdir(root + folder):
                if entry.endswith("/") and tree.exists(f"{root}{folder}{entry}__init__.py"):
                    found[entry[:-1]] = True
                elif entry.endswith(".py") and entry != "__init__.py":
                    found.setdefault(entry[:-3], False)
    return [(name, found[name]) for name in sorted(found)]


def _loaded(m: Machine, name: Value) -> Value:
    """Whether a module's own statements have been run, or are about to be."""
    module = m.modules.get(str(name))
    return module is not None and module.touched


def _annotation(m: Machine, cls: Value, name: Value) -> Value:
    """The value of a field's annotation when it is a class; None otherwise."""
    import ast

    from checker.interpreter import classes, scopes
    from checker.interpreter.machine import Frame

    owner, node = classes.fields(cls).get(name, (None, None))
    if owner is None or owner.module is None:
        return None
    is_list = (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id == "list"
    )
    inner = node.slice if is_list and isinstance(node, ast.Subscript) else node
    if not isinstance(inner, ast.Name):
        return None
    frame = Frame(owner.module.scope, owner.module, cls.name)
    found = m.run_in(frame, lambda: scopes.lookup(m, frame, inner.id))
    if not isinstance(found, ClassValue):
        return None
    return (found,) if is_list else found


def _call_validator(m: Machine, function: Value, cls: Value, value: Value) -> Value:
    from checker.interpreter.values import ClassMethod

    if isinstance(function, ClassMethod):
        return calls.call(m, function.function, [cls, value], {})
    return calls.call(m, function, [value], {})


def _class_default(m: Machine, places: Value, field: Value) -> Value:
    """The default of a field as the class in the trees declares it.

    `places` are (module, class) pairs, the newest first: the first that there is counts.
    """
    from checker.interpreter import imports

    for module, cls_name in places:
        home = m.module(module)
        found = imports.module_name(m, home, cls_name) if home is not None else None
        if isinstance(found, ClassValue):
            break
    else:
        return m.unknown(f"the default of {field}: its class is not found")
    default = found.lookup(field)
    if default is None:
        raise m.exception("AttributeError", f"'{cls_name}' object has no attribute '{field}'")
    return default[0]


def _is_async(m: Machine, function: Value) -> Value:
    from checker.interpreter import scopes

    return isinstance(function, Function) and scopes.code_of(m, function.node).is_async


def _fail(m: Machine, reason: Value) -> Value:
    raise m.stuck(reason)


def _repr(m: Machine, value: Value) -> Value:
    from checker.interpreter import texts

    return texts.repr_of(m, value)


DEFINITIONS: dict[str, Callable[..., Value]] = {
    "fail": _fail,
    "is_async": _is_async,
    "repr": _repr,
    "annotation": _annotation,
    "call_validator": _call_validator,
    "class_default": _class_default,
    "children": _children,
    "walk": _walk,
    "attempt": _attempt,
    "ending": _ending,
    "parameters_of": _parameters_of,
    "fields": _fields,
    "functions_of": _functions_of,
    "function_attribute": _function_attribute,
    "set_function_attribute": _set_function_attribute,
    "partial": _partial,
    "cached_property": _cached_property,
    "new": _new,
    "copy": _copy,
    "load": _load,
    "modules": _modules,
    "loaded": _loaded,
    "classes": excerpts.classes,
    "defined": excerpts.defined,
    "lines": excerpts.lines,
    "own": excerpts.own,
    "original": excerpts.original,
    "about": _about,
    "run_about": excerpts.run_about,
    "texts": excerpts.texts,
    "run_part": excerpts.run_part,
    "follow": slicing.follow,
    "is_function": lambda m, x: isinstance(x, Function),
    "is_class": lambda m, x: isinstance(x, ClassValue),
}
