"""The `op` namespace of summaries: the graph's operators, and what Python syntax cannot say."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from checker.interpreter import excerpts, joining, products, regexes, shaping
from checker.interpreter.broadcasting import as_tensor, elementwise
from checker.interpreter.storages import Root
from checker.interpreter.tensors import Tensor, arranged, from_term, op, regroup, unknown_tensor
from checker.interpreter.values import (
    ClassValue,
    Function,
    Instance,
    Raised,
    Stuck,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from checker.interpreter.machine import Machine

Call = Callable[..., Value]


def _guard(function: Call) -> Call:
    """An operator of tensors: an unknown argument makes the result unknown."""

    def run(m: Machine, *args: Value, **kwargs: Value) -> Value:
        for value in (*args, *kwargs.values()):
            if isinstance(value, Unknown):
                return value
        return function(m, *args, **kwargs)

    return run


def _elementwise(name: str) -> Call:
    return lambda m, x: elementwise(m, name, [x])


def _gelu(m: Machine, x: Value, approximate: Value = "none") -> Value:
    return elementwise(m, "gelu", [x], approximate=approximate)


def _stack_op(name: str) -> Call:
    """`op.name(tensor, …, attr=…)`.

    A graph operator over whole tensors, layout of the first kept.
    """

    def run(m: Machine, *values: Value, **attrs: Value) -> Value:
        for value in (*values, *attrs.values()):
            if isinstance(value, Unknown):
                return value
        tensors = [as_tensor(m, v) for v in values if v is not None]
        terms = [arranged(m, t).term(m) for t in tensors if t is not None]
        return from_term(op(m, name, *terms, **attrs))

    return run


def _head_layout(m: Machine, t: Tensor) -> Tensor:
    """(…tokens…, heads, head_dim) with the logical order tokens, heads, head_dim."""
    return arranged(m, shaping.squeeze(m, t))


def _rope(m: Machine, x: Tensor, positions: Tensor, **attrs: Value) -> Value:
    """Rotary embedding of `x` (tokens, heads, head_dim)."""
    scaling = attrs.get("scaling")
    frozen = (
        tuple(sorted((k, _frozen(v)) for k, v in scaling.items()))
        if isinstance(scaling, dict)
        else None
    )
    attrs["scaling"] = frozen
    x = _one_axis_each(m, x)
    return x.alike(Root(op(m, "rope", x.term(m), arranged(m, positions).term(m), **attrs)))


def _one_axis_each(m: Machine, t: Tensor) -> Tensor:
    """The same tensor with every axis held by one logical axis or none, in order."""
    for axis in range(len(t.axes)):
        t = regroup(m, t, axis)
    return arranged(m, t)


def _frozen(value: Value) -> Value:
    return tuple(_frozen(v) for v in value) if isinstance(value, list) else value


def _inv_freq(m: Machine, base: Value, dim: Value, scaling: Value) -> Value:
    frozen = (
        tuple(sorted((k, _frozen(v)) for k, v in scaling.items()))
        if isinstance(scaling, dict)
        else None
    )
    return from_term(op(m, "inv_freq", base=base, dim=dim, scaling=frozen))


def _attention(
    m: Machine, q: Tensor, keys: Value, values: Value, visible: Value, scale: Value
) -> Value:
    """Attention of q (tokens, heads, head_dim) over one (key, value, band) per step."""
    q = _one_axis_each(m, q)
    terms = [q.term(m)]
    for k, v in zip(keys, values, strict=True):
        terms += [_one_axis_each(m, k).term(m), _one_axis_each(m, v).term(m)]
    bands = tuple(tuple(b) for b in visible)
    return q.alike(Root(op(m, "attention", *terms, visible=bands, scale=scale)))


def _parts(m: Machine, t: Tensor, axis: Value) -> Value:
    """The pieces a tensor was concatenated from along a tensor axis (one piece if it was not)."""
    t = regroup(m, t, joining.axis_index(m, t, axis))
    group = t.axes[joining.axis_index(m, t, axis)]
    term = t.term(m)
    if group and term.op == "concat" and term.attr("axis") == group[0] - len(term.shape):
        return [t.alike(Root(part)) for part in term.args]
    return [t]


def _band(m: Machine, t: Value, size: Value = None) -> Value:
    """The band (lo, hi) of distances for which a mask predicate holds, or unknown."""
    if isinstance(t, Unknown):
        return t
    found = m.builder.band(as_tensor(m, t).term(m))  # type: ignore[union-attr]
    return m.unknown("a mask that is not a band of distances") if found is None else tuple(found)


def _input(m: Machine, name: Value, shape: Value, kind: Value = "float") -> Value:
    from checker.interpreter.tensors import fresh_input

    integers = kind.startswith("int")
    m.builder.here = None  # what is handed in comes from no line
    made = fresh_input(m, name, tuple(shape), "int" if integers else kind)
    if integers:
        made.integer = "int64" if kind == "int" else kind
    return made


def _below(m: Machine, t: Tensor, size: Value) -> Value:
    """A tensor of indices that are at least 0 and less than a size."""
    m.ranges[t.term(m)] = size
    return t


def _counted(m: Machine, t: Tensor, count: Value) -> Value:
    """A mask over one axis of which so many elements are true."""
    m.counts[t.term(m)] = count
    return t


def _parameters_of(m: Machine, function: Value) -> Value:
    """The names of a function's parameters; of a class, those of its `__init__`."""
    if isinstance(function, ClassValue):
        found = function.lookup("__init__")
        function = found[0] if found is not None else function
    if not isinstance(function, Function):
        return []
    spec = function.node.args
    return [a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]


def _attempt(m: Machine, function: Value) -> Value:
    """Runs a function for what it does on the way; how it ends does not matter.

    Whatever it would make doubtful is no doubt about the program: nothing follows from it.
    """
    from checker.interpreter import calls

    doubts, reads, frames = dict(m.doubts), len(m.reads), len(m.frames)
    m.attempting += 1
    try:
        calls.call(m, function, [], {})
    except (Raised, Stuck):
        pass
    finally:
        m.attempting -= 1
        del m.frames[frames:]
        del m.reads[reads:]
        m.doubts.clear()
        m.doubts.update(doubts)
    return None


def _number(m: Machine, t: Value) -> Value:
    """The one number that a tensor is filled with, as an integer; None if that is not known."""
    if isinstance(t, Tensor):
        value = t.term(m).attr("value") if t.term(m).op in ("const", "full") else None
        return int(value) if isinstance(value, (int, float)) and value == int(value) else None
    return t if isinstance(t, int) else None


def _same(m: Machine, a: Value, b: Value) -> Value:
    """Whether two tensors are the same term."""
    return isinstance(a, Tensor) and isinstance(b, Tensor) and a.term(m) is b.term(m)


def _parameter(m: Machine, t: Tensor, requires_grad: Value = True) -> Value:
    made = t.alike(t.storage)
    made.parameter = True
    made.requires_grad = requires_grad is True
    return made


def _buffer(m: Machine, t: Tensor, persistent: Value = True) -> Value:
    made = t.alike(t.storage)
    made.buffer = persistent is True
    return made


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


def _setting(m: Machine, name: Value, default: Value = None) -> Value:
    return m.settings.get(name, default)


def _assume(m: Machine, text: Value) -> Value:
    m.assumptions[text] = None
    return None


def _unknown_tensor(m: Machine, reason: Value, shape: Value) -> Value:
    """A tensor of which only the shape is known: what does not need its values goes on."""
    return unknown_tensor(m, reason, tuple(shape))


def _unknown(m: Machine, reason: Value) -> Value:
    return m.unknown(reason, harmless=True)


def _store(m: Machine, name: Value) -> Value:
    """A dict that lives as long as the machine, by name (key-value caches of a server)."""
    return m.shared.setdefault(("store", name), {})


def _no_grad_push(m: Machine, delta: Value) -> Value:
    m.grad_disabled += delta
    return None


def _quiet(m: Machine, delta: Value) -> Value:
    m.config_quiet += delta
    return None


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
        inner.attrs[name] = value
    return function


def _partial(m: Machine, function: Value, *args: Value, **kwargs: Value) -> Value:
    from checker.interpreter.values import Partial

    return Partial(function, args, kwargs)


def _cached_property(m: Machine, function: Value) -> Value:
    from checker.interpreter.values import Property

    return Property(function, cached=True)


def _new(m: Machine, cls: Value) -> Value:
    """An instance without `__init__`: what is not set on it is unknown."""
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


def _size(m: Machine, name: Value) -> Value:
    from checker.graph.dims import symbol

    return symbol(name)


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
    from checker.interpreter import calls
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


def _annotation_text(m: Machine, cls: Value, name: Value) -> Value:
    """The annotation of a class's own field, as it is written."""
    import ast

    node = cls.annotations[name]
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return ast.unparse(node)


def _is_async(m: Machine, function: Value) -> Value:
    from checker.interpreter import scopes

    return isinstance(function, Function) and scopes.code_of(m, function.node).is_async


def _fail(m: Machine, reason: Value) -> Value:
    raise m.stuck(reason)


def _repr(m: Machine, value: Value) -> Value:
    from checker.interpreter import texts

    return texts.repr_of(m, value)


OPERATORS: dict[str, Call] = {
    "annotation_text": _annotation_text,
    "fail": _fail,
    "is_async": _is_async,
    "repr": _repr,
    "regex": regexes.find,
    "regex_expand": regexes.expand,
    "regex_escape": regexes.escape,
    "size": _size,
    "annotation": _annotation,
    "call_validator": _call_validator,
    "class_default": _class_default,
    "rms_norm": products.rms_norm,
    "linear": products.linear,
    "embedding": products.embedding,
    "cat": joining.cat,
    "silu": _elementwise("silu"),
    "gelu": _gelu,
    "relu": _elementwise("relu"),
    "rope": _guard(_rope),
    "inv_freq": _inv_freq,
    "heads": _guard(_head_layout),
    "attention": _guard(_attention),
    "parts": _guard(_parts),
    "band": _band,
    "input": _input,
    "number": _number,
    "same": _same,
    "parameter": _guard(_parameter),
    "buffer": _guard(_buffer),
    "children": _children,
    "walk": _walk,
    "below": _below,
    "counted": _counted,
    "attempt": _attempt,
    "parameters_of": _parameters_of,
    "setting": _setting,
    "assume": _assume,
    "unknown": _unknown,
    "unknown_tensor": _unknown_tensor,
    "store": _store,
    "grad": _no_grad_push,
    "quiet": _quiet,
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
    "run_part": excerpts.run_part,
    "is_tensor": lambda m, x: isinstance(x, Tensor),
    "is_parameter": lambda m, x: isinstance(x, Tensor) and x.parameter,
    "is_buffer": lambda m, x: isinstance(x, Tensor) and x.buffer,
    "is_function": lambda m, x: isinstance(x, Function),
    "is_class": lambda m, x: isinstance(x, ClassValue),
    "is_unknown": lambda m, x: isinstance(x, Unknown),
    "term": lambda m, name, *values, **attrs: _stack_op(name)(m, *values, **attrs),
}
