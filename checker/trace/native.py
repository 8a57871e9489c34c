"""The operators that summaries and stages are written with, on real tensors."""

from __future__ import annotations

import ast
import copy
import dataclasses
import functools
import hashlib
import importlib
import inspect
import json
import math
import sys
import types
from typing import TYPE_CHECKING, Any

import torch

from checker.trace import originals
from checker.trace.execute import attend, frequencies, rotate
from checker.trace.lazy import NoVerdict, missing
from checker.trace.scaling import scaled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from checker.trace.lazy import Library
    from checker.trace.real import Installed

Tensor = Any
_PLAIN = {"bool": torch.bool, "int": torch.int64}


class Operators:
    """`op` of summaries and stages. `env` holds inputs by name, `settings` deployment facts."""

    def __init__(self, env: Mapping[str, Tensor], settings: dict[str, Any], dtype: Any) -> None:
        self.env, self.settings, self.dtype = env, settings, dtype
        self.library: Library | Installed | None = None
        self.stores: dict[str, dict[Any, Any]] = {}
        self.arguments: list[tuple[Tensor, Tensor]] = []
        self.paths: dict[int, str] = {}
        self.schedule: list[list[Any]] = []

    # graph operators

    def rms_norm(
        self, x: Tensor, weight: Tensor = None, eps: float = 1e-6, offset: int = 0
    ) -> Tensor:
        normed = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
        return normed if weight is None else normed * (weight + offset)

    def linear(self, x: Tensor, weight: Tensor, bias: Tensor = None) -> Tensor:
        return torch.nn.functional.linear(x, weight, bias)

    def embedding(self, ids: Tensor, weight: Tensor) -> Tensor:
        return torch.nn.functional.embedding(ids.long(), weight)

    cat = staticmethod(torch.cat)
    silu = staticmethod(torch.nn.functional.silu)
    gelu = staticmethod(torch.nn.functional.gelu)
    relu = staticmethod(torch.relu)

    def rope(
        self,
        x: Tensor,
        positions: Tensor,
        *,
        base: float,
        dim: int,
        style: str,
        scaling: Any = None,
    ) -> Tensor:
        return _referenced(rotate, x, positions, base=base, dim=dim, style=style, scaling=scaling)

    def inv_freq(self, base: float, dim: int, scaling: Any) -> Tensor:
        plain = frequencies(base, dim, self.settings.get("device", "cpu"), self.dtype)
        return _referenced(scaled, plain, scaling)

    frequencies = staticmethod(originals.agreeing)
    angles = staticmethod(originals.angles)
    defined = staticmethod(originals.defined)
    original = staticmethod(originals.original)

    def about(self, keys: list[str], function: Any, *args: Any, **kwargs: Any) -> Any:
        del keys
        return function(*args, **kwargs)

    def heads(self, t: Tensor) -> Tensor:
        return t.reshape([n for n in t.shape if n != 1] if t.ndim > 3 else list(t.shape))

    def attention(self, q: Tensor, keys: Any, values: Any, visible: Any, scale: Any) -> Tensor:
        return attend(q, list(zip(keys, values, visible, strict=True)), scale)

    # inputs and facts

    def input(self, name: str, shape: Any, kind: str = "float") -> Tensor:
        if name not in self.env and kind in _PLAIN:
            return torch.zeros(tuple(shape), dtype=_PLAIN[kind])  # filled by what describes it
        return self.env[name].reshape(tuple(shape)).clone()

    def placed(self, positions: Tensor, step: int) -> Tensor:
        """The positions of a draft pass, out of those of the first one."""
        return positions + self.schedule[step][0]

    def paired(self, step: int, shape: Any) -> Tensor:
        """The tokens of a draft pass."""
        return self.input(f"tokens.{self.schedule[step][1]}", shape, "int")

    def setting(self, name: str, default: Any = None) -> Any:
        return self.settings.get(name, default)

    def below(self, t: Tensor, size: Any) -> Tensor:
        del size
        return t

    def set(self, name: str, value: Any) -> None:
        self.settings[name] = value

    def assume(self, text: str) -> None:
        del text

    def fail(self, reason: str) -> None:
        raise NoVerdict(reason)

    def run_about(self, *given: Any, **named: Any) -> None:
        """Statements of the source that numbers do not hang on: a worker is not set up here."""
        del given, named

    def unknown(self, reason: str) -> Any:
        if reason == "fact: the version of torch":
            return torch.__version__
        if reason.startswith("fact: "):
            return "0"
        raise NoVerdict(reason)

    def unknown_tensor(self, reason: str, shape: Any) -> Any:
        del shape
        raise NoVerdict(reason)

    def store(self, name: str) -> dict[Any, Any]:
        return self.stores.setdefault(name, {})

    def size(self, name: str) -> int:
        return int(self.settings["sizes"][name])

    # modules and parameters

    def parameter(self, t: Tensor, requires_grad: bool = True) -> Tensor:
        return torch.nn.Parameter(t, requires_grad=requires_grad)

    def buffer(self, t: Tensor, persistent: bool = True) -> Tensor:
        del persistent
        return t

    def name_parameters(self, model: Any, loaded: bool = True) -> None:
        """Gives parameters their trained values, or NaN where a loader has yet to bring them."""
        seen: set[int] = set()
        saved = set(model.state_dict())
        with torch.no_grad():
            for path, tensor in (*model.named_parameters(), *model.named_buffers()):
                if id(tensor) in seen or path not in saved:
                    continue
                seen.add(id(tensor))
                self.paths[id(tensor)] = path
                if not tensor.is_floating_point():
                    continue
                if loaded:
                    tensor.copy_(self.made(path, tuple(tensor.shape)))
                else:
                    tensor.fill_(math.nan)

    def made(self, name: str, shape: tuple[int, ...]) -> Tensor:
        """The value of a trained tensor: the same wherever name and shape are the same.

        And another for every other name, wherever in it the two differ: equal weights would hide
        that one was taken for the other.
        """
        digest = hashlib.sha256(name.encode()).digest()
        seed = int.from_bytes(digest[:7], "little") + self.settings.get("seed", 0)
        device = self.settings.get("device", "cpu")
        if device == "meta":
            return torch.empty(shape, dtype=self.dtype, device=device)
        generator = torch.Generator(device).manual_seed(seed % (2**63))
        drawn = {"generator": generator, "device": device}
        kind = torch.float64 if device == "cpu" else torch.float32
        if len(shape) == 1:
            return torch.rand(shape, dtype=kind, **drawn).to(self.dtype) + 0.5
        width = shape[-1] if shape else 1
        return (torch.randn(shape, dtype=kind, **drawn) / math.sqrt(width)).to(self.dtype)

    def parameter_like(self, name: str, model: Any, suffix: str) -> Tensor | None:
        for path, tensor in model.named_parameters():
            if path == suffix or path.endswith("." + suffix):
                value = self.made(name.removeprefix("target."), tuple(tensor.shape))
                return torch.nn.Parameter(value, requires_grad=False)
        return None

    def counted(self, t: Tensor, count: int) -> Tensor:
        """A mask of which so many elements are true: the first ones."""
        t.copy_(torch.arange(t.shape[0], device=t.device) < count)
        return t

    def attempt(self, function: Any) -> None:
        """What is only looked at on the way is read from the sources, not run."""

    def parameters_of(self, function: Any) -> list[str]:
        return list(inspect.signature(function).parameters)

    def argument_of(self, value: Tensor, operator: str) -> Tensor:
        """What an argmax was taken of, by its result."""
        del operator
        for index, (taken, result) in enumerate(self.arguments):
            if result.shape == value.shape and _alike(result, value):
                del self.arguments[: index + 1]
                return taken
        raise NoVerdict("no argmax gave this value")

    def alias(self, a: Tensor, b: Tensor) -> None:
        """Two names of one value: checked, since the numbers must not depend on it."""
        if a.numel() != b.numel() or not _alike(a.flatten().double(), b.flatten().double()):
            raise NoVerdict("an alias of the engine's description does not hold")

    # classes and functions

    def as_config(self, config: Any, place: str) -> Any:
        del place
        return config

    def find_class(self, package: str, attribute: str, name: str) -> Any:
        assert self.library is not None
        unknown: NoVerdict | None = None  # of a module that names the class and cannot be had
        for module in self.library.naming(package, name):
            try:
                listed = self.library.resolve(module, attribute)
            except NoVerdict as reason:
                unknown = reason
                continue
            except Exception as error:  # noqa: BLE001 - a registry leaves out what fails to import
                what = f"{type(error).__name__}: {error}"
                unknown = NoVerdict(f"{module} could not be run: {what}")
                continue
            if missing(listed):
                continue
            for cls in listed if isinstance(listed, (list, tuple)) else [listed]:
                if inspect.isclass(cls) and cls.__name__ == name:
                    return cls
        if unknown is not None:
            raise unknown
        return None

    def load(self, name: str) -> Any:
        return importlib.import_module(name)

    def new(self, cls: Any) -> Any:
        return object.__new__(cls)

    def copy(self, value: Any, deep: bool = False) -> Any:
        return copy.deepcopy(value) if deep else copy.copy(value)

    def fields(self, cls: type) -> dict[str, tuple[bool, Any]]:
        found: dict[str, tuple[bool, Any]] = {}
        for base in reversed(cls.__mro__):
            for name, kind in inspect.get_annotations(base).items():
                if "ClassVar" in str(kind):
                    found.pop(name, None)
                else:
                    found[name] = _default(cls, name)
        return found

    def annotation(self, cls: type, name: str) -> Any:
        for base in cls.__mro__:
            kind = inspect.get_annotations(base).get(name)
            if kind is not None:
                if isinstance(kind, str):
                    space = sys.modules[base.__module__].__dict__.get("__lazy__", {})
                    try:
                        kind = eval(kind, space)  # noqa: S307 - the witness runs checked code
                    except Exception:  # noqa: BLE001 - an annotation that means nothing here
                        return None
                if isinstance(kind, types.GenericAlias) and kind.__origin__ is list:
                    inner = kind.__args__[0]
                    return (inner,) if inspect.isclass(inner) else None
                return kind if inspect.isclass(kind) else None
        return None

    def functions_of(self, cls: type) -> list[tuple[str, Any]]:
        found: dict[str, Any] = {}
        for base in reversed(cls.__mro__):
            found.update(vars(base))
        return list(found.items())

    def function_attribute(self, function: Any, name: str) -> Any:
        function = getattr(function, "__func__", function)
        return getattr(function, "__dict__", {}).get(name)

    def set_function_attribute(self, function: Any, name: str, value: Any) -> Any:
        setattr(getattr(function, "__func__", function), name, value)
        return function

    def functions_with(self, cls: type, name: str) -> list[tuple[Any, Any]]:
        members: dict[str, Any] = {}
        for base in reversed(cls.__mro__):
            members.update(vars(base))
        inner = ((member, getattr(member, "__func__", member)) for member in members.values())
        return [
            (member, getattr(function, name))
            for member, function in inner
            if inspect.isfunction(function) and getattr(function, name, None) is not None
        ]

    def call_validator(self, function: Any, cls: type, value: Any) -> Any:
        inner = getattr(function, "__func__", None)
        return inner(cls, value) if inner is not None else function(value)

    def class_default(self, places: list[tuple[str, str]], field: str) -> Any:
        """The default a class of the trees declares; nothing else of it is looked at."""
        assert self.library is not None
        for module, cls in places:
            try:
                found = self.library.resolve(module, cls)
            except ModuleNotFoundError:
                continue
            if not missing(found):
                return getattr(found, field)
        raise NoVerdict(f"no class declares {field}")

    partial = staticmethod(functools.partial)
    cached_property = staticmethod(functools.cached_property)

    def grad(self, delta: int) -> None:
        del delta

    def quiet(self, delta: int) -> None:
        del delta

    def blame(self, *keys: str) -> None:
        del keys

    def doubt(self, reason: str) -> None:
        del reason

    def parsed(self, text: Any) -> Any:
        """What a text in JSON says, None where it is none."""
        try:
            return json.loads(text) if isinstance(text, str) else None
        except ValueError:
            return None

    def mistyped(self, cls: type, name: str, value: Any) -> str | None:
        """What a field's annotation asks for, where the value is of none of its plain types."""
        given = next((vars(c)["__annotations__"][name] for c in cls.__mro__
                      if name in vars(c).get("__annotations__", {})), None)  # fmt: skip
        if given is None:
            return None
        text = given if isinstance(given, str) else _spelled(given)
        try:
            annotation = ast.parse(text, mode="eval").body
        except SyntaxError:
            return None
        from checker.interpreter.summary_fields import asked_for  # only a few configurations ask

        return asked_for(annotation, value)

    def is_tensor(self, x: Any) -> bool:
        return isinstance(x, torch.Tensor)

    def is_class(self, x: Any) -> bool:
        return inspect.isclass(x)

    def is_unknown(self, x: Any) -> bool:
        del x
        return False

    def same(self, a: Tensor, b: Tensor) -> bool:
        return bool(torch.equal(a, b))


def _referenced(function: Callable[..., Tensor], *args: Any, **options: Any) -> Tensor:
    """What a reference gives; where there is none there is no verdict."""
    try:
        return function(*args, **options)
    except LookupError as error:
        if type(error) is not LookupError:  # an index or a key of the checked code
            raise
        raise NoVerdict(str(error)) from None


def _spelled(annotation: Any) -> str:
    """An annotation that was evaluated, as it is written."""
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def _alike(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors are equal; on meta, where nothing has a value, whether they may be."""
    return a.device.type == "meta" or bool(torch.equal(a, b))


def _default(cls: type, name: str) -> tuple[bool, Any]:
    """Whether a field has a default, and which."""
    if not hasattr(cls, name):
        return False, None
    value = getattr(cls, name)
    if isinstance(value, dataclasses.Field):
        if value.default is not dataclasses.MISSING:
            return True, value.default
        if value.default_factory is not dataclasses.MISSING:
            return True, value.default_factory()
        return False, None
    return True, value


def record_argmax(operators: Operators) -> None:
    """Keeps what argmax is taken of: draft tokens lead back to logits."""
    original: Callable[..., Tensor] = torch.argmax

    def argmax(x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        result = original(x, *args, **kwargs)
        operators.arguments.append((x, result.detach().clone()))
        return result

    torch.argmax = argmax
