"""YAML files with the places of their keys; everything wrong with their syntax is said at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import yaml

from checker.errors import InputError, InputErrors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_OLD_TRUTH = ("yes", "no", "on", "off", "y", "n")
_QUOTED = ("'", '"', "|", ">")

MAX_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 100
MAX_NODES = 200_000
"""Aliases let a small file stand for a huge tree; this many nodes are more than a contract has."""

_CONVERSION = (ValueError, LookupError, TypeError, AttributeError, OverflowError)
"""What converting an odd scalar raises: a date without such a month, a `!!bool` of another word."""

Keys: TypeAlias = "tuple[str | int, ...]"
Place: TypeAlias = "tuple[int, int]"
"""Line and column, both from 1."""


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML file: what it says, and where each of its keys and items stands.

    `texts` are the lines on which the texts of block scalars begin.
    """

    path: Path
    data: Any
    places: Mapping[Keys, Place]
    texts: Mapping[Keys, int]

    def place(self, keys: Keys) -> Place:
        """Where the value under these keys stands, or the nearest one above it."""
        prefixes = (keys[:length] for length in range(len(keys), -1, -1))
        return next(self.places[prefix] for prefix in prefixes if prefix in self.places)

    def error(self, keys: Keys, message: str, remedy: str) -> InputError:
        """An error about the value under these keys, with its place."""
        line, column = self.place(keys)
        dotted = ".".join(map(str, keys))
        place = f"{self.path}:{line}:{column}" + (f": {dotted}" if dotted else "")
        return InputError(message, remedy, place)


def read_document(path: Path) -> Document:
    """A YAML file with the places of its keys.

    Raises:
        InputError: the file cannot be read, is no YAML, says a key twice, or has words that are
            truth values or numbers in old YAML only.
    """
    try:
        loader = Loader(read_text(path))
        try:
            node = loader.get_single_node()
            if node is None:
                return Document(path, None, {(): (1, 1)}, {})
            places, texts = _walked(path, node)
            data = _construct(path, loader, node)
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise syntax_error(path, error) from None
    except RecursionError:
        raise InputError("is nested too deeply", "flatten it", str(path)) from None
    return Document(path, data, places, texts)


def read_text(path: Path) -> str:
    """The text of a file of a reasonable size."""
    remedy = "give a readable YAML file"
    try:
        raw = path.read_bytes()
    except (OSError, ValueError) as error:  # a NUL in the name is a ValueError
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be read: {reason}", remedy, str(path)) from None
    if len(raw) > MAX_BYTES:
        raise InputError(f"is larger than {MAX_BYTES >> 20} MiB", remedy, str(path))
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8 text (byte {error.start})", remedy, str(path)) from None


def syntax_error(path: Path, error: yaml.YAMLError) -> InputError:
    """What is no YAML, in one line."""
    mark = getattr(error, "problem_mark", None)
    place = str(path) if mark is None else f"{path}:{mark.line + 1}:{mark.column + 1}"
    problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
    return InputError(f"is not valid YAML: {problem}", "mend the file at this place", place)


def _walked(path: Path, root: yaml.Node) -> tuple[dict[Keys, Place], dict[Keys, int]]:
    """The place of every key and item, and the first lines of block scalars; without recursion.

    Raises:
        InputError: keys are said twice, or plain words mean what they do not say.
    """
    places: dict[Keys, Place] = {(): _place(root)}
    texts: dict[Keys, int] = {}
    problems: list[tuple[Place, InputError]] = []
    todo: list[tuple[Keys, yaml.Node]] = [((), root)]
    seen = 0
    while todo:
        keys, node = todo.pop()
        seen += 1
        if seen > MAX_NODES or len(keys) > MAX_DEPTH:
            message = "stands for too many values or nests too deeply"
            place = f"{path}:{node.start_mark.line + 1}"
            raise InputError(message, "use fewer aliases and levels", place)
        if isinstance(node, yaml.MappingNode):
            said: set[str] = set()
            for key, value in node.value:
                name = str(key.value)
                if name in said:
                    twice = _at(path, key, f"key {name!r} is given twice", "keep one")
                    problems.append((_place(key), twice))
                said.add(name)
                problems += [(_place(key), found) for found in _misread(path, key)]
                here: Keys = (*keys, name)
                places[here] = _place(key)
                todo.append((here, value))
        elif isinstance(node, yaml.SequenceNode):
            for index, item in enumerate(node.value):
                here = (*keys, index)
                places[here] = _place(item)
                todo.append((here, item))
        elif isinstance(node, yaml.ScalarNode):
            problems += [(_place(node), found) for found in _misread(path, node)]
            if node.style in ("|", ">"):
                texts[keys] = node.start_mark.line + 2
    if problems:
        raise InputErrors.of([found for _, found in sorted(problems, key=lambda item: item[0])])
    return places, texts


def _place(node: yaml.Node) -> Place:
    return node.start_mark.line + 1, node.start_mark.column + 1


def _at(path: Path, node: yaml.Node, message: str, remedy: str) -> InputError:
    line, column = _place(node)
    return InputError(message, remedy, f"{path}:{line}:{column}")


def _misread(path: Path, node: yaml.Node) -> Iterator[InputError]:
    """Words and numbers that YAML 1.1 takes for something else than they look like."""
    if not isinstance(node, yaml.ScalarNode) or node.style in _QUOTED:
        return
    text, kind = str(node.value), str(node.tag).rpartition(":")[2]
    if kind == "bool" and text.lower() in _OLD_TRUTH:
        yield _at(path, node, f"{text} is a truth value in YAML 1.1 and a text in YAML 1.2",
                  "write true or false, or put it in quotes")  # fmt: skip
    elif kind in ("int", "float") and (":" in text or "_" in text or _is_octal(text)):
        yield _at(path, node, f"{text} is another number in YAML 1.1 than it looks like",
                  "write a plain number, or put it in quotes")  # fmt: skip


def _is_octal(text: str) -> bool:
    digits = text.lstrip("+-")
    return len(digits) > 1 and digits[0] == "0" and digits.isdigit()


def _construct(path: Path, loader: Any, root: yaml.Node) -> Any:
    """The values of a document. The library lets through what its conversions raise."""
    try:
        return loader.construct_document(root)
    except _CONVERSION:
        pass
    todo, seen = [root], {id(root)}
    while todo:
        node = todo.pop()
        if isinstance(node, yaml.ScalarNode):
            try:
                Loader("").construct_document(node)  # one that no failure has left in between
            except _CONVERSION as error:
                kind = str(node.tag).rpartition(":")[2]
                message = f"is not valid YAML: {node.value[:40]!r} is no {kind}: {error}"
                raise _at(path, node, message, "mend it, or put it in quotes") from None
        elif isinstance(node, (yaml.MappingNode, yaml.SequenceNode)):
            below = [part for item in node.value for part in _parts(item)]
            todo += [part for part in below if id(part) not in seen]
            seen.update(map(id, below))
    raise InputError("is not valid YAML: a tag does not fit", "leave tags out", str(path))


def _parts(item: Any) -> tuple[yaml.Node, ...]:
    return item if isinstance(item, tuple) else (item,)
