"""The checkpoint between trainer and server: names, shapes, and where each tensor went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from checker.graph.terms import postorder
from checker.interpreter import attributes, calls, containers, imports
from checker.interpreter.summary_definitions import apart
from checker.interpreter.tensors import Root, Tensor, from_term, layout_of, op
from checker.interpreter.values import ClassValue, Instance, Native, Raised, Stuck, Unknown, Value
from checker.location import Location
from checker.stored.matching import Given

if TYPE_CHECKING:
    from collections.abc import Mapping

    from checker.engines.extraction import Extraction
    from checker.engines.stages import Inputs
    from checker.interpreter.machine import Frame, Machine


def renamed(name: str, renames: tuple[tuple[str, str], ...]) -> str:
    """A tensor's name after the conversions given with ``--rename``: prefixes, in order."""
    for old, new in renames:
        if name == old or name.startswith(old + "."):
            name = new + name[len(old) :]
    return name


def given_of(inputs: Inputs) -> tuple[Given, ...]:
    """The tensors that a loader is given: those of a folder, or all that training saves.

    They come by name, as files of tensors are read: a loader that ends its loop early has had those
    that come first.
    """
    if inputs.given is not None:
        return tuple(sorted(inputs.given, key=lambda item: item.name))
    saved = inputs.checkpoint.items()
    made = [Given(renamed(n, inputs.renames), n, shape, kind) for n, (shape, kind) in saved]
    return tuple(sorted(made, key=lambda item: item.name))


def tensors(m: Machine, inputs: Inputs) -> dict[str, Tensor]:
    """The tensors as the server's loader sees them: under their names there, terms as trained."""
    made: dict[str, Tensor] = {}
    m.builder.here = None
    for item in given_of(inputs):
        if item.doubt is not None:
            term = m.builder.unknown(item.doubt, item.shape)
        else:
            term = m.builder.param(identity(item, inputs.checkpoint), item.shape)
        made[item.name] = from_term(term, None, item.kind)
    return made


def identity(item: Given, checkpoint: Mapping[str, Any]) -> str:
    """The name of a tensor's term: its trained one, and no trained one where training has none."""
    if item.trained is not None:
        return item.trained
    return f"stored:{item.name}" if item.name in checkpoint else item.name


def place_in_loop(m: Machine, frame: Frame, item: Value) -> None:
    """Notes how far a loop over (name, tensor) came with an item: there a dropped one was left."""
    match item:
        case (str(name), Tensor()):
            file, node = frame.module.file, frame.node
            line, column = (getattr(node, n, None) for n in ("lineno", "col_offset"))
            if file is not None and not frame.module.is_stub and line and column is not None:
                held = m.shared.setdefault("places in loops", {})
                held[name] = Location(file.tree.label, file.path, line, max(column, 0) + 1)
        case _:
            pass


def refused(m: Machine, names: dict[str, Value], loader: str | None) -> tuple[str, ...] | None:
    """The tensors that a loader raises for when it is given each alone, by its names for them.

    None where that is not known: a loader that raises when it is given nothing, or what a single
    tensor does could not be followed.
    """
    model, given = names.get("model"), names.get("checkpoint")
    if loader is None or not isinstance(model, Instance) or not isinstance(given, dict):
        return None
    m.item_done = None
    method = attributes.get(m, model, loader)

    def ends(items: list[Value]) -> str:
        with apart(m):
            try:
                calls.call(m, method, [items], {})
            except Raised:
                return "raised"
            except Stuck:
                return "open"
            return "open" if m.doubts else "done"

    if ends([]) != "done":
        return None
    found = {str(name): ends([(name, tensor)]) for name, tensor in given.items()}
    if "open" in found.values():
        return None
    return tuple(name for name, end in found.items() if end == "raised")


def natives(more: Mapping[str, Any]) -> dict[str, Value]:
    """What stages can call beside the operators of summaries, and `more`."""
    functions = {
        "name_parameters": _name_parameters,
        "parameter_like": _parameter_like,
        "as_config": _as_config,
        "config_of": _config_of,
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


def _config_of(_: Machine, values: Value) -> Value:
    """A configuration that states these values, whose reads are noted."""
    from checker.engines.stages import as_config_value

    return as_config_value(values, "")


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
    """Records what the trainer saves, and where the server's loader put it.

    A tensor that a loop of the loader came past and that no parameter holds was dropped there.
    """
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
    frozen = {t.attr("name") for t in (p.term(m) for _, p in parameters if not p.requires_grad)}
    result.trained = {name for name in m.grad_used if name not in frozen}
    reached: dict[str, str] = {}
    result.parameters = {path: [] for path, _ in parameters}
    for path, tensor in parameters + _held(m, model):
        for term in postorder(tensor.term(m)):
            if term.op == "unknown":
                result.parameters.setdefault(path, []).append(None)
            if term.op != "param":
                continue
            name = str(term.attr("name"))
            if term.attr("loaded", True) is not False:
                reached.setdefault(name, path)
                result.parameters.setdefault(path, []).append(name)
    result.weights = {name: reached.get(name) for name in sorted(result.checkpoint)}
    result.left_at = dict(m.shared.get("places in loops", {}))


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
