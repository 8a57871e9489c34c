"""A program's command line: options that it declares are read by the standard library's own parser.

What a checked program says of its options (names, types, choices, counts) is interpreted; what the
standard library makes of a line with them is not modelled but asked.
"""

from __future__ import annotations

import argparse
import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NoReturn

from checker.errors import InputError
from checker.interpreter import classes, expressions
from checker.interpreter.machine import Frame
from checker.interpreter.values import ClassValue, External, Instance, Unknown, Value
from checker.shell import is_unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from checker.interpreter.machine import Machine

_TYPES: Final[dict[str, type]] = {"int": int, "float": float, "str": str}
_PLAIN: Final = (str, int, float, bool, type(None))
_PUT_THERE: Final = "put it there, or write its flags into the line"


class _Refused(Exception):
    """The parser does not take the line."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _Refused(message)


class _Seen(argparse.Action):
    """Notes what an option was given; nothing is stored anywhere else."""

    def __init__(self, *args: Any, index: int, seen: list[Value], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.index, self.seen = index, seen

    def __call__(
        self, parser: Any, namespace: Any, values: Any, option_string: str | None = None
    ) -> None:
        self.seen.append((self.index, values, option_string))


class _Choices(list[Any]):
    """Values of which one that is not known may be one."""

    def __contains__(self, value: object) -> bool:
        return isinstance(value, Unknown) or super().__contains__(value)


def read(m: Machine, options: Value, words: Value, whole: Value = False) -> Value:
    """(what was given in the order of the line, why the line is refused or None).

    `options` are (names, nargs, const, type, choices, required) as `add_argument` takes them; what
    was given are (index of the option, value or values, name as it was written). A type that is
    none of the plain ones leaves the text as it is; choices that are not known are not looked at.
    What is required is missed in a `whole` line only: it may be told in part. A word of which only
    a shell knows a part has a value that is not known.
    """
    parser = _Parser(add_help=False, allow_abbrev=True)
    seen: list[Value] = []
    for index, (names, nargs, const, kind, choices, required) in enumerate(options):
        plain = _type(kind)
        made: dict[str, Any] = {"nargs": nargs, "const": const, "type": _reader(m, plain or str)}
        if whole is True and required is True and names[0].startswith("-"):
            made["required"] = True
        if _are_plain(choices) and plain is not None:
            made["choices"] = _Choices(choices)
        kept = {k: v for k, v in made.items() if v is not None}
        try:
            parser.add_argument(
                *names, action=_Seen, index=index, seen=seen, default=argparse.SUPPRESS, **kept
            )
        except (argparse.ArgumentError, ValueError, TypeError) as error:
            raise m.stuck(f"its option {names[0]} is no option: {error}") from None
    try:
        _, left = parser.parse_known_args(list(words))
    except _Refused as refused:
        left, reason = [str(refused)], str(refused)
    else:
        reason = f"no such flag: {' '.join(left)}"
    open_ = [word for word in words if is_unknown(word)]
    if left and any(word in text for word in open_ for text in left):
        raise m.stuck(f"what {open_[0]} stands for is not known: write it out")
    return seen, reason if left else None


def _reader(m: Machine, kind: type) -> Callable[[str], Value]:
    """What makes a value of a word."""

    def value(word: str) -> Value:
        if is_unknown(word):
            return m.unknown(f"what {word} stands for", harmless=True)
        return kind(word)

    value.__name__ = kind.__name__  # the parser names it when it refuses
    return value


def _type(kind: Value) -> type | None:
    if kind is None:
        return str
    return _TYPES.get(str(kind.host)) if isinstance(kind, ClassValue) else None


def _are_plain(choices: Value) -> bool:
    return isinstance(choices, (list, tuple, set, dict, frozenset, range)) and all(
        isinstance(choice, _PLAIN) for choice in choices
    )


def hint(m: Machine, cls: Value, name: Value, bracketed: ClassValue) -> Value:
    """The value of a field's annotation; None where the class does not declare the field.

    One with brackets is an object of the class that is given, with `origin` and `args`. `a | b` and
    `Optional[a]` are unions.
    """
    owner, node = classes.fields(cls).get(str(name), (None, None))
    if owner is None or node is None or owner.module is None:
        return None
    reading = _Hints(m, Frame(owner.module.scope, owner.module, cls.name), bracketed)
    return m.run_in(reading.frame, lambda: reading.of(node))


def hint_texts(m: Machine, cls: Value, prefix: Value) -> Value:
    """{field: texts in its annotation that begin with a prefix}, of all fields of a class."""
    return {
        name: sorted(
            n.value
            for n in ast.walk(node)
            if isinstance(n, ast.Constant)
            and isinstance(n.value, str)
            and n.value.startswith(str(prefix))
        )
        for name, (_, node) in classes.fields(cls).items()
    }


_UNION: Final = External("typing.Union")


@dataclass(frozen=True, slots=True)
class _Hints:
    """Annotations that are evaluated where they stand."""

    m: Machine
    frame: Frame
    bracketed: ClassValue

    def of(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=None):
                return self._text("type(None)")
            case ast.Constant(value=str(text)):
                return self.of(ast.parse(text, mode="eval").body)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self._made(_UNION, self.of(left), self.of(right))
            case ast.Subscript(value=value, slice=inner):
                parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                return self._of_brackets(self._value(value), parts)
            case _:
                return self._value(node)

    def _of_brackets(self, head: Value, parts: Sequence[ast.expr]) -> Value:
        match head.path.rpartition(".")[2] if isinstance(head, External) else "":
            case "Optional":
                return self._made(_UNION, self.of(parts[0]), self._text("type(None)"))
            case "Literal":
                return self._made(head, *(self._value(part) for part in parts))
            case "Annotated":
                said = [self._value(part) for part in parts[1:]]
                return self._made(head, self.of(parts[0]), *said)
            case "List" | "Dict" | "Tuple" | "Set" as name:
                head = self._text(name.lower())
        return self._made(head, *(self.of(part) for part in parts))

    def _made(self, origin: Value, *args: Value) -> Value:
        return Instance(self.bracketed, {"origin": origin, "args": args})

    def _value(self, node: ast.expr) -> Value:
        return expressions.evaluate(self.m, self.frame, node)

    def _text(self, text: str) -> Value:
        return self._value(ast.parse(text, mode="eval").body)


def are_known(m: Machine, choices: Value) -> Value:
    """Whether choices are all plain values."""
    return not isinstance(choices, Unknown) and _are_plain(choices)


def file_text(m: Machine, path: Value) -> Value:
    """The text of a file that the launch line names.

    Raises:
        InputError: there is none.
    """
    given = m.settings.get("files", {})
    if path not in given:
        raise InputError("the launch line names it, and it cannot be read", _PUT_THERE, str(path))
    return given[path]


def yaml_value(m: Machine, path: Value) -> Value:
    """What the YAML file says that the launch line names.

    Raises:
        InputError: there is none, or it is no YAML.
    """
    import yaml

    try:
        return _plainly(m, yaml.safe_load(file_text(m, path)))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = "" if mark is None else f":{mark.line + 1}:{mark.column + 1}"
        problem = getattr(error, "problem", None) or "it cannot be read"
        raise InputError(f"this is no YAML: {problem}", "mend it", f"{path}{place}") from None


def _plainly(m: Machine, value: Any) -> Value:
    if isinstance(value, dict):
        return {key: _plainly(m, item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plainly(m, item) for item in value]
    if isinstance(value, _PLAIN):
        return value
    return m.unknown(f"what the server makes of {value}", harmless=True)
