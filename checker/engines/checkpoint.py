"""The checkpoint between trainer and server: names, shapes, and where each tensor went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from checker.graph.terms import postorder
from checker.interpreter import attributes, calls, containers, imports
from checker.interpreter.tensors import Root, Tensor, from_term, layout_of, op
from checker.interpreter.values import ClassValue, Instance, Native, Raised, Unknown, Value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from checker.engines.extraction import Extraction
    from checker.interpreter.machine import Machine


def renamed(name: str, renames: tuple[tuple[str, str], ...]) -> str:
    """A tensor's name after the conversions given with ``--rename``: prefixes, in order."""
    for old, new in renames:
        if name == old or name.startswith(old + "."):
            name = new + name[len(old) :]
    return name


def tensors(
    m: Machine, checkpoint: Mapping[str, Any], renames: tuple[tuple[str, str], ...]
) -> dict[str, Tensor]:
    """The saved tensors as the server's loader sees them: renamed, their terms as trained."""
    made: dict[str, Tensor] = {}
    m.builder.here = None
    for name, (shape, kind) in checkpoint.items():
        term = m.builder.param(name, shape)
        made[renamed(name, renames)] = from_term(term, None, kind)
    return made


def natives(more: Mapping[str, Any]) -> dict[str, Value]:
    """What stages can call beside the operators of summaries, and `more`."""
    functions = {
        "name_parameters": _name_parameters,
        "parameter_like": _parameter_like,
        "as_config": _as_config,
        "find_class": _find_class,
        "argument_of": _argument_of,
        "set": _set,
        "alias": _alias,
        **more,
    }
    return {name: _native(name, function) for name, function in functions.items()}


def _native(name: str, function: Any) -> Native:
    return Native(name, lambda m, args, kwargs: function(m, *args, **kwargs))


def named(m: Machine, model: Value, kind: str) -> list[tuple[str, Tensor]]:
    """(path, tensor) of a module's parameters or buffers."""
    method = attributes.get(m, model, f"named_{kind}")
    return [tuple(pair) for pair in containers.iterate(m, calls.call(m, method, [], {}))]


def _name_parameters(m: Machine, model: Value, loaded: Value = True) -> Value:
    """Gives parameters and buffers their paths as names; stacked ones one name per part."""
    if isinstance(model, Unknown):
        raise m.stuck(f"the model could not be built: {model.reason}")
    m.builder.here = None  # a parameter's line says nothing: the line that uses it does
    for path, tensor in named(m, model, "parameters") + named(m, model, "buffers"):
        shape = tensor.term(m).shape
        parts = tensor.extra.get("parts")
        if loaded or not parts or len(parts) == 1:
            term = m.builder.param(
                path if loaded else f"unloaded:{path}", shape, loaded=bool(loaded)
            )
        else:
            pieces = [
                m.builder.param(f"unloaded:{path}#{key}", (size, *shape[1:]), loaded=False)
                for key, size in parts
            ]
            term = op(m, "concat", *pieces, axis=-len(shape))
        tensor.storage.set(m, term)
        tensor.extra["path"] = path
    return None


def _parameter_like(m: Machine, name: Value, model: Value, suffix: Value) -> Value:
    """A tensor called `name`, shaped like the model's parameter with that suffix (or None)."""
    for path, tensor in named(m, model, "parameters"):
        if path == suffix or path.endswith("." + suffix):
            made = from_term(m.builder.param(name, tensor.term(m).shape))
            made.parameter = True
            made.extra["path"] = path
            return made
    return None


def _as_config(_: Machine, config: Value, place: Value) -> Value:
    """Reads of this object are reads of the configuration, at `place`."""
    if isinstance(config, Instance):
        config.config = place
    return config


def _find_class(m: Machine, package: Value, attribute: Value, name: Value) -> Value:
    """The class called `name` among those that modules of a package list under `attribute`.

    A file whose bytes do not hold the name cannot define or list the class and is skipped unread;
    any other is evaluated.
    """
    for found in m.workspace.naming(package, str(name)):
        module = m.module(f"{package}.{found}")
        if module is None:
            continue
        try:
            listed = imports.module_name(m, module, attribute)
        except Raised:
            continue  # a module that fails to import is left out of the registry
        for cls in listed if isinstance(listed, (list, tuple)) else [listed]:
            if isinstance(cls, ClassValue) and cls.name == name:
                return cls
    return None


def _argument_of(m: Machine, value: Value, operator: Value) -> Value:
    """The first argument of an operator term (the logits an argmax was taken of)."""
    if not isinstance(value, Tensor):
        return value if isinstance(value, Unknown) else m.unknown(f"no {operator} came out")
    term = value.term(m)
    if term.op == operator:
        return from_term(term.args[0])
    if term.op == "unknown":
        return m.unknown(str(term.attr("reason")))
    return m.unknown(f"what came out is no {operator}")


def _set(m: Machine, name: Value, value: Value) -> Value:
    m.settings[name] = value
    return None


def _alias(m: Machine, a: Value, b: Value) -> Value:
    """From now on, what would be the term of `a` is the term of `b`: two names of one thing."""
    m.aliases[a.term(m)] = b.term(m)
    return None


def collect(m: Machine, model: Value, names: dict[str, Any], result: Extraction) -> None:
    """Records what the trainer saves, and where the server's loader put it."""
    try:
        parameters = named(m, model, "parameters")
    except Exception:  # noqa: BLE001 - the model may be half built; the failure itself is recorded elsewhere
        return
    saved = names.get("checkpoint")
    if isinstance(saved, dict) and not result.checkpoint:
        result.checkpoint = {
            name: (value.term(m).shape, value.kind)
            for name, value in saved.items()
            if isinstance(value, Tensor)
        }
    reached: dict[str, str] = {}
    for path, tensor in parameters + _held(m, model):
        for term in postorder(tensor.term(m)):
            if term.op != "param":
                continue
            name = str(term.attr("name"))
            if term.attr("loaded", True) is not False:
                reached.setdefault(name, path)
    result.weights = {name: reached.get(name) for name in sorted(result.checkpoint)}


def _held(m: Machine, model: Value) -> list[tuple[str, Tensor]]:
    """Tensors that modules hold as plain attributes (vocabulary maps)."""
    found: list[tuple[str, Tensor]] = []
    method = attributes.get(m, model, "named_modules")
    for pair in containers.iterate(m, calls.call(m, method, [], {})):
        match pair:
            case (str(prefix), Instance() as module):
                pass
            case _:
                raise m.stuck("the model's named_modules does not give names and modules")
        for name, value in module.attrs.items():
            if isinstance(value, Tensor) and not value.parameter:
                found.append((f"{prefix}.{name}" if prefix else name, value))
    return found


__all__ = ["Root", "collect", "layout_of", "natives", "renamed", "tensors"]
