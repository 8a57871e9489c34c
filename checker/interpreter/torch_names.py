"""The tensor language by name: `torch.cat`, `torch.nn.functional.silu`, … and the `op` namespace of summaries."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from checker.interpreter import regexes, torch_ops
from checker.interpreter.tensors import Root, Tensor, as_tensor, elementwise, filled, from_term, op, unknown_tensor
from checker.interpreter.values import ClassValue, External, Function, Instance, Native, Unknown, Value

if TYPE_CHECKING:
    from checker.interpreter.machine import Machine

Call = Callable[..., Value]


def _elementwise(name: str) -> Call:
    def run(m: Machine, *values: Value, **kwargs: Value) -> Value:
        kwargs.pop("inplace", None)
        kwargs.pop("out", None)
        named = [kwargs.pop(k) for k in ("input", "other") if k in kwargs]
        if name == "gelu":
            return elementwise(m, name, [*values, *named], approximate=kwargs.get("approximate", "none"))
        return elementwise(m, name, [*values, *named])

    return run


def _method(name: str) -> Call:
    """`torch.name(t, …)` as `t.name(…)`."""

    def run(m: Machine, t: Value = None, *args: Value, **kwargs: Value) -> Value:
        from checker.interpreter import attributes, calls

        t = kwargs.pop("input", t)
        return t if isinstance(t, Unknown) else calls.call(m, attributes.get(m, t, name), list(args), kwargs)

    return run


def _filled(value: float | None) -> Call:
    def run(m: Machine, *sizes: Value, **kwargs: Value) -> Value:
        shape = torch_ops.flat_sizes(m, sizes or (kwargs.get("size", ()),))
        for size in shape:
            if isinstance(size, Unknown):
                return size
        return filled(m, value, tuple(shape), _kind(kwargs.get("dtype")))

    return run


def _kind(dtype: Value) -> str:
    path = dtype.path if isinstance(dtype, External) else ""
    if "bool" in path:
        return "bool"
    return "int" if "int" in path or "long" in path else "float"


def _full(m: Machine, size: Value, fill_value: Value, **kwargs: Value) -> Value:
    return filled(m, fill_value, tuple(size), _kind(kwargs.get("dtype")))


def _like(value: float | None) -> Call:
    return lambda m, t, **kwargs: t if isinstance(t, Unknown) else torch_ops.full_like(m, t, value)


def _tensor(m: Machine, data: Value, **kwargs: Value) -> Value:
    if isinstance(data, (int, float, bool)):
        return as_tensor(m, data)
    if isinstance(data, Tensor):
        return data
    if isinstance(data, (list, tuple)):
        return unknown_tensor(m, "a tensor made from a list", (len(data),))
    return m.unknown("torch.tensor of something that is no number")


def _split(m: Machine, t: Value, sizes: Value = None, dim: Value = 0, **kwargs: Value) -> Value:
    wanted = kwargs.get("split_size_or_sections", sizes)
    return t if isinstance(t, Unknown) else torch_ops.split_sizes(m, t, wanted, dim)


def _guard(function: Call) -> Call:
    def run(m: Machine, *args: Value, **kwargs: Value) -> Value:
        for value in (*args, *kwargs.values()):
            if isinstance(value, Unknown):
                return value
        return function(m, *args, **kwargs)

    return run


def _dropout(m: Machine, x: Value, *args: Value, **kwargs: Value) -> Value:
    return x  # evaluation: the trained function in expectation


def _softmax(m: Machine, x: Value, dim: Value = -1, **kwargs: Value) -> Value:
    return torch_ops.softmax(m, x, dim)


def _f_rms_norm(m: Machine, x: Value, shape: Value, weight: Value = None, eps: Value = None) -> Value:
    return torch_ops.rms_norm(m, x, weight, 1.1920928955078125e-07 if eps is None else eps)


def _outer(m: Machine, a: Tensor, b: Tensor) -> Value:
    return elementwise(m, "mul", [torch_ops.unsqueeze(m, a, 1), torch_ops.unsqueeze(m, b, 0)])


def _hstack(m: Machine, tensors: Value) -> Value:
    from checker.interpreter import containers

    items = containers.iterate(m, tensors)
    return torch_ops.cat(m, items, 0 if len(items[0].axes) == 1 else 1)


def _vstack(m: Machine, tensors: Value) -> Value:
    return torch_ops.cat(m, tensors, 0)


def _nullary(value: Any) -> Call:
    return lambda m, *args, **kwargs: value


_UNARY = "neg rsqrt sqrt exp cos sin tanh sigmoid square abs log relu reciprocal floor erf".split()
_BINARY = "add sub mul div eq ne ge gt le lt maximum minimum where pow".split()
_AS_FUNCTIONS = "mean sum argmax transpose permute reshape flatten squeeze unsqueeze clamp numel".split()

FUNCTIONS: dict[str, Call] = {
    **{f"torch.{name}": _elementwise(name) for name in (*_UNARY, *_BINARY)},
    "torch.logical_and": _elementwise("and_"),
    "torch.logical_or": _elementwise("or_"),
    "torch.logical_not": _elementwise("not_"),
    "torch.multiply": _elementwise("mul"),
    "torch.remainder": _elementwise("mod"),
    "torch.cat": torch_ops.cat,
    "torch.concat": torch_ops.cat,
    "torch.concatenate": torch_ops.cat,
    "torch.hstack": _hstack,
    "torch.vstack": _vstack,
    "torch.stack": torch_ops.stack,
    "torch.split": _split,
    "torch.chunk": _guard(torch_ops.chunk),
    "torch.narrow": _guard(torch_ops.narrow),
    "torch.unbind": _guard(torch_ops.unbind),
    "torch.tensor_split": _guard(torch_ops.chunk),
    "torch.zeros": _filled(0),
    "torch.ones": _filled(1),
    "torch.empty": _filled(None),
    "torch.randn": _filled(None),
    "torch.rand": _filled(None),
    "torch.full": _full,
    "torch.zeros_like": _like(0),
    "torch.ones_like": _like(1),
    "torch.empty_like": _like(None),
    "torch.arange": torch_ops.arange,
    "torch.tensor": _tensor,
    "torch.as_tensor": _tensor,
    "torch.matmul": torch_ops.matmul,
    "torch.mm": torch_ops.matmul,
    "torch.outer": _guard(_outer),
    "torch.softmax": _guard(_softmax),
    **{f"torch.{name}": _method(name) for name in _AS_FUNCTIONS},
    "torch.nn.functional.linear": torch_ops.linear,
    "torch.nn.functional.embedding": lambda m, ids, weight, *args, **kwargs: torch_ops.embedding(m, ids, weight),
    "torch.nn.functional.rms_norm": _guard(_f_rms_norm),
    "torch.rms_norm": _guard(_f_rms_norm),
    "torch.nn.functional.dropout": _dropout,
    "torch.nn.functional.softmax": _guard(_softmax),
    **{
        f"torch.nn.functional.{name}": _elementwise(name)
        for name in ("silu", "relu", "gelu", "tanh", "sigmoid", "softplus")
    },
    "torch.is_tensor": lambda m, x: isinstance(x, Tensor),
}


def _stack_op(name: str) -> Call:
    """`op.name(tensor, …, attr=…)`: a graph operator over whole tensors, layout of the first kept."""

    def run(m: Machine, *values: Value, **attrs: Value) -> Value:
        for value in (*values, *attrs.values()):
            if isinstance(value, Unknown):
                return value
        tensors = [as_tensor(m, v) for v in values if v is not None]
        terms = [torch_ops.arranged(m, t).term(m) for t in tensors if t is not None]
        return from_term(op(m, name, *terms, **attrs))

    return run


def _head_layout(m: Machine, t: Tensor) -> Tensor:
    """(…tokens…, heads, head_dim) with the logical order tokens, heads, head_dim."""
    return torch_ops.arranged(m, torch_ops.squeeze(m, t))


def _rope(m: Machine, x: Tensor, positions: Tensor, **attrs: Value) -> Value:
    """Rotary embedding of `x` (tokens, heads, head_dim)."""
    scaling = attrs.get("scaling")
    frozen = tuple(sorted((k, _frozen(v)) for k, v in scaling.items())) if isinstance(scaling, dict) else None
    attrs["scaling"] = frozen
    x = _one_axis_each(m, x)
    return x.alike(Root(op(m, "rope", x.term(m), torch_ops.arranged(m, positions).term(m), **attrs)))


def _one_axis_each(m: Machine, t: Tensor) -> Tensor:
    """The same tensor with every axis held by one logical axis (none where it is of size one), in order."""
    for axis in range(len(t.axes)):
        t = torch_ops.regroup(m, t, axis)
    return torch_ops.arranged(m, t)


def _frozen(value: Value) -> Value:
    return tuple(_frozen(v) for v in value) if isinstance(value, list) else value


def _inv_freq(m: Machine, base: Value, dim: Value, scaling: Value) -> Value:
    frozen = tuple(sorted((k, _frozen(v)) for k, v in scaling.items())) if isinstance(scaling, dict) else None
    return from_term(op(m, "inv_freq", base=base, dim=dim, scaling=frozen))


def _attention(m: Machine, q: Tensor, keys: Value, values: Value, visible: Value, scale: Value) -> Value:
    """Attention of q (tokens, heads, head_dim) over one (key, value, band) per step."""
    q = _one_axis_each(m, q)
    terms = [q.term(m)]
    for k, v in zip(keys, values, strict=True):
        terms += [_one_axis_each(m, k).term(m), _one_axis_each(m, v).term(m)]
    bands = tuple(tuple(b) for b in visible)
    return q.alike(Root(op(m, "attention", *terms, visible=bands, scale=scale)))


def _parts(m: Machine, t: Tensor, axis: Value) -> Value:
    """The pieces a tensor was concatenated from along a tensor axis (one piece if it was not)."""
    t = torch_ops.regroup(m, t, torch_ops.axis_index(m, t, axis))
    group = t.axes[torch_ops.axis_index(m, t, axis)]
    term = t.term(m)
    if group and term.op == "concat" and term.attr("axis") == group[0] - len(term.shape):
        return [t.alike(Root(part)) for part in term.args]
    return [t]


def _band(m: Machine, t: Value, size: Value = None) -> Value:
    """The band (lo, hi) of query minus key distances for which a mask predicate holds, or unknown."""
    if isinstance(t, Unknown):
        return t
    found = m.builder.band(as_tensor(m, t).term(m))  # type: ignore[union-attr]
    return m.unknown("a mask that is not a band of distances") if found is None else tuple(found)


def _input(m: Machine, name: Value, shape: Value, kind: Value = "float") -> Value:
    from checker.interpreter.tensors import fresh_input

    return fresh_input(m, name, tuple(shape), kind)


def _same(m: Machine, a: Value, b: Value) -> Value:
    """Whether two tensors are the same term."""
    return isinstance(a, Tensor) and isinstance(b, Tensor) and a.term(m) is b.term(m)


def _parameter(m: Machine, t: Tensor, requires_grad: Value = True) -> Value:
    made = Tensor(Root(t.term(m)), t.axes, t.kind)
    made.parameter = True
    made.requires_grad = requires_grad is True
    return made


def _buffer(m: Machine, t: Tensor, persistent: Value = True) -> Value:
    made = Tensor(t.storage, t.axes, t.kind)
    made.buffer = persistent is True
    return made


def _children(m: Machine, module: Instance) -> Value:
    """(name, submodule or tensor) pairs of a module, in the order they were set; containers' items included."""
    pairs: list[Value] = []
    for name, value in module.attrs.items():
        if name == "_items" and isinstance(value, (list, dict)):
            items = value.items() if isinstance(value, dict) else enumerate(value)
            pairs += [(str(k), v) for k, v in items]
        elif isinstance(value, (Tensor, Instance)):
            pairs.append((name, value))
    return pairs


def _setting(m: Machine, name: Value, default: Value = None) -> Value:
    return m.settings.get(name, default)


def _assume(m: Machine, text: Value) -> Value:
    m.assumptions[text] = None
    return None


def _unknown(m: Machine, reason: Value) -> Value:
    return m.unknown(reason)


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
        for name, value in base.namespace.items():
            found[name] = value
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
    is_list = isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "list"
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


def _class_default(m: Machine, module: Value, cls_name: Value, field: Value) -> Value:
    """The default of a field as the class in the tree declares it."""
    from checker.interpreter import imports

    home = m.module(module)
    found = imports.module_name(m, home, cls_name) if home is not None else None
    if not isinstance(found, ClassValue):
        return m.unknown(f"the default of {field}: {module}.{cls_name} is not found")
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


def _fail(m: Machine, reason: Value) -> Value:
    raise m.stuck(reason)


def _repr(m: Machine, value: Value) -> Value:
    from checker.interpreter import texts

    return texts.repr_of(m, value)


_OPERATORS: dict[str, Call] = {
    "annotation_text": _annotation_text,
    "fail": _fail,
    "repr": _repr,
    "regex": regexes.find,
    "regex_expand": regexes.expand,
    "regex_escape": regexes.escape,
    "size": _size,
    "annotation": _annotation,
    "call_validator": _call_validator,
    "class_default": _class_default,
    "rms_norm": torch_ops.rms_norm,
    "linear": torch_ops.linear,
    "embedding": torch_ops.embedding,
    "cat": torch_ops.cat,
    "silu": _elementwise("silu"),
    "gelu": _elementwise("gelu"),
    "relu": _elementwise("relu"),
    "rope": _guard(_rope),
    "inv_freq": _inv_freq,
    "heads": _guard(_head_layout),
    "attention": _guard(_attention),
    "parts": _guard(_parts),
    "band": _band,
    "input": _input,
    "same": _same,
    "parameter": _parameter,
    "buffer": _buffer,
    "children": _children,
    "setting": _setting,
    "assume": _assume,
    "unknown": _unknown,
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
    "is_tensor": lambda m, x: isinstance(x, Tensor),
    "is_parameter": lambda m, x: isinstance(x, Tensor) and x.parameter,
    "is_buffer": lambda m, x: isinstance(x, Tensor) and x.buffer,
    "is_function": lambda m, x: isinstance(x, Function),
    "is_class": lambda m, x: isinstance(x, ClassValue),
    "is_unknown": lambda m, x: isinstance(x, Unknown),
    "term": lambda m, name, *values, **attrs: _stack_op(name)(m, *values, **attrs),
}


def _native(name: str, function: Call) -> Native:
    def run(m: Machine, args: list[Value], kwargs: dict[str, Value]) -> Value:
        try:
            return function(m, *args, **kwargs)
        except (TypeError, AttributeError) as error:
            if m.debug:
                raise
            return m.unknown(f"{name} was given arguments it does not take ({error})")

    return Native(name, run)


def find(m: Machine, path: str) -> Value:
    """A function of the tensor language, or None."""
    function = FUNCTIONS.get(path)
    if function is None and path.startswith("torch.nn.F"):
        function = FUNCTIONS.get(path.replace("torch.nn.F", "torch.nn.functional", 1))
    return _native(path, function) if function is not None else None


def operators(m: Machine) -> Value:
    """The `op` namespace of summaries."""
    cls = ClassValue("op", None, ())
    cls.mro = (cls,)
    return Instance(cls, {name: _native(f"op.{name}", function) for name, function in _OPERATORS.items()})
