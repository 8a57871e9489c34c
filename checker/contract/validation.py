"""What is wrong with a contract file: all of it, each with its place and what was expected."""

from __future__ import annotations

import ast
import difflib
import json
import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from checker.contract.expressions import BadExpression, parse
from checker.data import SCHEMAS
from checker.errors import InputError, InputErrors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jsonschema.exceptions import ValidationError

    from checker.contract.documents import Document, Keys

VERSION = 1
"""The version of the contracts' grammar that this program reads."""

_MISSING = re.compile("'(.+)' is a required property")
_CLOSED = "additionalProperties"
_PYTHON = "python"


@cache
def schema(name: str) -> Any:
    """A schema that comes with the program."""
    return json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))


def validate(document: Document, name: str) -> None:
    """Checks a document against a schema, and its texts for being what they are for.

    Raises:
        InputErrors: everything that is wrong, in the order of the file.
    """
    problems = [*_schema_problems(document, name), *_text_problems(document, name)]
    if problems:
        problems.sort(key=lambda found: (document.place(found[0]), found[1].message))
        raise InputErrors.of([error for _, error in problems])


def _schema_problems(document: Document, name: str) -> Iterator[tuple[Keys, InputError]]:
    from jsonschema import Draft202012Validator  # takes long to import

    rules = schema(name)
    data = document.data
    version = data.get("version", VERSION) if isinstance(data, dict) else VERSION
    if isinstance(version, int) and version > VERSION:
        message = f"is written in version {version} of the contracts' grammar"
        keys: Keys = ("version",)
        yield keys, document.error(keys, message, f"this program reads version {VERSION}: renew it")
        return
    for error in Draft202012Validator(rules).iter_errors(data):
        yield from _told(document, _deepest(error), rules)


def _told(
    document: Document, error: ValidationError, rules: Any
) -> Iterator[tuple[Keys, InputError]]:
    keys: Keys = tuple(error.absolute_path)
    own, value = error.schema, error.instance
    if isinstance(own, dict) and isinstance(value, dict) and error.validator == _CLOSED:
        known = sorted(own.get("properties", ()))
        for unknown in sorted(set(map(str, value)) - set(known)):
            near = difflib.get_close_matches(unknown, known, n=1)
            remedy = f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(known)}"
            here = (*keys, unknown)
            yield here, document.error(here, f"unknown key {unknown!r}", remedy)
        return
    yield keys, document.error(keys, _plain(error.message), _expectation(error, rules))


def _expectation(error: ValidationError, rules: Any) -> str:
    """What stands in the schema for the value that does not fit."""
    own: Any = error.schema
    missing = _MISSING.match(error.message) if error.validator == "required" else None
    if missing is not None and isinstance(own, dict):
        own = own.get("properties", {}).get(missing[1], {})
    if isinstance(own, dict) and "$ref" in own and "description" not in own:
        own = rules.get("$defs", {}).get(own["$ref"].rpartition("/")[2], own)
    told = own.get("description") if isinstance(own, dict) else None
    if told is None:
        above = _described(rules, tuple(error.absolute_schema_path))
        told = above or "see eagle3-check contracts schema"
    return f"expected: {told[0].lower()}{told[1:]}".rstrip(".")


def _described(rules: Any, path: tuple[Any, ...]) -> str | None:
    """The nearest description on the way to a rule."""
    found = None
    node = rules
    for step in path:
        if isinstance(node, dict) and "$ref" in node:
            node = rules.get("$defs", {}).get(str(node["$ref"]).rpartition("/")[2], node)
        if (
            isinstance(node, dict)
            and isinstance(node.get("description"), str)
            and node is not rules
        ):
            found = node["description"]
        try:
            node = node[step]
        except (KeyError, IndexError, TypeError):
            return found
    return found


def _deepest(error: ValidationError) -> ValidationError:
    """Of a choice that fails everywhere, the branch that came closest says the most."""
    from jsonschema.exceptions import best_match  # takes long to import

    best = best_match([error])
    return error if best is None else best


def _plain(message: str) -> str:
    """A message in one line; of one that quotes a whole tree, the end says what was expected."""
    text = " ".join(message.split())
    return text if len(text) <= 200 else f"{text[:60]} ... {text[-120:]}"


# -- texts that are read later ---------------------------------------------------------------------


def _text_problems(document: Document, name: str) -> Iterator[tuple[Keys, InputError]]:
    """Texts in Python syntax, and expressions, that cannot be read."""
    if name in ("engine", "operators"):
        for keys, text in _leaves(document.data, ()):
            if keys and keys[-1] == _PYTHON:
                yield from _python_problem(document, keys, text)
    elif name == "wires" and isinstance(document.data, Mapping):
        for section in ("values", "wires", "derived", "parameters"):
            for keys, text in _leaves(document.data.get(section), (section,)):
                if "tensor" not in keys[2:]:
                    yield from _expression_problem(document, keys, text)


def _leaves(node: Any, keys: Keys) -> Iterator[tuple[Keys, str]]:
    todo = [(keys, node)]
    while todo:
        at, value = todo.pop()
        if isinstance(value, str):
            yield at, value
        elif isinstance(value, Mapping):
            todo += [((*at, str(key)), item) for key, item in value.items()]
        elif isinstance(value, list):
            todo += [((*at, index), item) for index, item in enumerate(value)]


def _python_problem(document: Document, keys: Keys, text: str) -> Iterator[tuple[Keys, InputError]]:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        told = getattr(error, "msg", None) or str(error) or "it nests too deeply"
        line = getattr(error, "lineno", None) or 1
        begins = document.texts.get(keys)
        where = f" in line {begins + line - 1}" if begins is not None else ""
        message = f"is no Python{where}: {told}"
        yield keys, document.error(keys, message, "expected: statements in Python syntax")


def _expression_problem(
    document: Document, keys: Keys, text: str
) -> Iterator[tuple[Keys, InputError]]:
    try:
        parse(text)
    except BadExpression as error:
        yield keys, document.error(keys, f"the expression {error}", "expected: an expression")
