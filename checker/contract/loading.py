"""From YAML to values. Every complaint names the file, the line, the key and what was expected.

Files that come with the program are checked against their schemas by its tests, so loading them
does not pay for it; files that a user supplies are checked each time.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import yaml

from checker.contract.model import (
    Clause,
    Contract,
    Exploration,
    Format,
    Probe,
    Selector,
    Severity,
    Size,
    Switch,
)
from checker.data import CONTRACTS, SCHEMAS
from checker.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from jsonschema.exceptions import ValidationError

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

MAX_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 100
MAX_NODES = 200_000
"""Aliases let a small file stand for a huge tree; this many nodes are more than a contract has."""

_CLOSED = "additionalProperties"

_CONVERSION = (ValueError, LookupError, TypeError, AttributeError, OverflowError)
"""What converting an odd scalar raises: a date without such a month, a `!!bool` of another word."""

Keys: TypeAlias = "tuple[str | int, ...]"


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML file: what it says, and on which line each of its keys stands."""

    path: Path
    data: Any
    lines: Mapping[Keys, int]

    def line(self, keys: Keys) -> int:
        """The line of the value under these keys, or of the nearest one above it."""
        prefixes = (keys[:length] for length in range(len(keys), -1, -1))
        return next(self.lines[prefix] for prefix in prefixes if prefix in self.lines)

    def error(self, keys: Keys, message: str, remedy: str) -> InputError:
        """An error about the value under these keys, with its line."""
        dotted = ".".join(map(str, keys))
        place = f"{self.path}:{self.line(keys)}" + (f": {dotted}" if dotted else "")
        return InputError(message, remedy, place)


def load_yaml(path: Path, schema: str | None = None) -> Document:
    """Reads a YAML file with the lines of its keys, and checks it if a schema is named.

    Args:
        path: the file.
        schema: the name of a schema under ``contracts/schema``, without its ending.

    Raises:
        InputError: the file cannot be read, is not YAML, or is not what its schema expects.
    """
    document = _parse(path, _text(path))
    if schema is not None:
        validate(document, schema)
    return document


def load_plain(path: Path) -> Any:
    """What a YAML file of our own says, without lines and without checks: the quick way."""
    try:
        return yaml.load(_text(path), Loader=_Loader)  # noqa: S506 - the loader is a safe one
    except yaml.YAMLError as error:
        raise _syntax_error(path, error) from None


def validate(document: Document, schema: str) -> None:
    """Checks a document against a schema; the complaint that stands first in the file is raised."""
    from jsonschema import Draft202012Validator  # takes long to import

    rules = json.loads((SCHEMAS / f"{schema}.schema.json").read_text("utf-8"))
    errors = [_deepest(error) for error in Draft202012Validator(rules).iter_errors(document.data)]
    if errors:
        first = min(errors, key=lambda error: (document.line(_keys(error)), error.message))
        raise document.error(_keys(first), _plain(first.message), f"see {schema}.schema.json")


def load_contract(algorithm: str = "eagle3", root: Path = CONTRACTS) -> Contract:
    """The contract of one algorithm, as it comes with the program."""
    folder = root / algorithm
    clauses = _at(folder / "clauses.yaml", "clauses", clauses_of)
    switches = _at(folder / "switches.yaml", "switches", switches_of)
    wires = load_plain(folder / "wires.yaml") if (folder / "wires.yaml").exists() else {}
    return Contract(
        algorithm=algorithm,
        clauses={clause.id: clause for clause in sorted(clauses, key=lambda item: item.id)},
        switches={switch.name: switch for switch in switches},
        wires=wires,
        formats=tuple(_at(folder / "formats.yaml", "formats", formats_of)),
    )


def load_exploration(algorithm: str = "eagle3", root: Path = CONTRACTS) -> Exploration:
    """What is tried of an algorithm's drafts where no configuration is given."""
    found: list[Exploration] = _at(
        root / algorithm / "exploration.yaml", "exploration", _exploration
    )
    return found[0]


def formats_of(data: Any) -> Iterator[Format]:
    """The formats in what ``formats.yaml`` says, in its order."""
    for name, item in data["formats"].items():
        yield Format(
            name,
            item["title"],
            item["about"].strip(),
            tuple(item.get("has", ())),
            tuple(item.get("any", ())),
            tuple(item.get("lacks", ())),
            item.get("architecture"),
            item.get("other-architecture"),
        )


def _exploration(data: Any) -> Iterator[Exploration]:
    said = data["exploration"]
    yield Exploration(said["layer-ids"], said["target"], said["draft"], tuple(said["settings"]))


def clauses_of(data: Any) -> Iterator[Clause]:
    """The clauses in what ``clauses.yaml`` says."""
    for item in data["clauses"]:
        yield Clause(
            id=item["id"],
            title=item["title"],
            statement=item["statement"].strip(),
            why=item["why"].strip(),
            effect=item["effect"].strip(),
            remedy=item["remedy"].strip(),
            severity=Severity(item["severity"]),
            implemented=item["implemented"],
            witness=item.get("witness", True),
            owns=tuple(_selector(entry) for entry in item.get("owns", ())),
            facts=tuple(item.get("facts", ())),
            references=tuple(item.get("references", ())),
            probes=tuple(Probe(**entry) for entry in item.get("probes", ())),
        )


def switches_of(data: Any) -> Iterator[Switch]:
    """The switches in what ``switches.yaml`` says."""
    for name, item in data["switches"].items():
        yield Switch(
            name=name,
            type=item["type"],
            default=item["default"],
            summary=item["summary"].strip(),
            clauses=_several(item["clause"]),
            spellings={engine: _several(keys) for engine, keys in item["spellings"].items()},
            references=tuple(item.get("references", ())),
            size=_size(item.get("size")),
        )


def _size(entry: Mapping[str, Any] | None) -> Size | None:
    if entry is None:
        return None
    return Size(
        entry.get("symbol"), entry.get("times"), tuple(entry.get("small", ())), entry.get("like")
    )


def _at(path: Path, schema: str, build: Any) -> list[Any]:
    """Builds values from one of our files; one that was edited badly is explained by its schema."""
    data = load_plain(path)
    try:
        return list(build(data))
    except (KeyError, TypeError, ValueError, AttributeError):
        validate(load_yaml(path), schema)
        raise


def _selector(entry: Mapping[str, Any]) -> Selector:
    return Selector(
        wires=_several(entry.get("wire", ())),
        aspects=_several(entry.get("aspect", ())),
        operators=_several(entry.get("operator", ())),
    )


def _several(value: str | Iterable[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _text(path: Path) -> str:
    remedy = "give a readable YAML file"
    try:
        raw = path.read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot be read: {reason}", remedy, str(path)) from None
    if len(raw) > MAX_BYTES:
        raise InputError(f"is larger than {MAX_BYTES >> 20} MiB", remedy, str(path))
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8 text (byte {error.start})", remedy, str(path)) from None


def _parse(path: Path, text: str) -> Document:
    try:
        lines: dict[Keys, int]
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            lines = {(): 1} if node is None else dict(_lines(path, node))
            data = _construct(path, loader, node) if node is not None else None
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise _syntax_error(path, error) from None
    except RecursionError:
        raise InputError("is nested too deeply", "flatten it", str(path)) from None
    return Document(path, data, lines)


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
                _Loader("").construct_document(node)  # one that no failure has left in between
            except _CONVERSION as error:
                message = f"is not valid YAML: {node.value[:40]!r} is no {_type_of(node)}: {error}"
                mark = node.start_mark
                place = f"{path}:{mark.line + 1}:{mark.column + 1}"
                raise InputError(message, "mend it, or put it in quotes", place) from None
        elif isinstance(node, (yaml.MappingNode, yaml.SequenceNode)):
            below = [part for item in node.value for part in _parts(item)]
            todo += [part for part in below if id(part) not in seen]
            seen.update(map(id, below))
    raise InputError("is not valid YAML: a tag does not fit", "leave tags out", str(path))


def _parts(item: Any) -> tuple[yaml.Node, ...]:
    return item if isinstance(item, tuple) else (item,)


def _type_of(node: yaml.Node) -> str:
    return str(node.tag).rpartition(":")[2]


def _lines(path: Path, root: yaml.Node) -> Iterator[tuple[Keys, int]]:
    """The line of every key and item, without recursion; keys said twice are an error."""
    todo: list[tuple[Keys, yaml.Node]] = [((), root)]
    for seen, (keys, node) in enumerate(_drained(todo)):
        line = node.start_mark.line + 1
        if seen > MAX_NODES or len(keys) > MAX_DEPTH:
            message = "stands for too many values or nests too deeply"
            raise InputError(message, "use fewer aliases and levels", f"{path}:{line}")
        if not keys:
            yield keys, line
        if isinstance(node, yaml.MappingNode):
            said: set[str] = set()
            for key, value in node.value:
                name, at = str(key.value), key.start_mark.line + 1
                if name in said:
                    raise InputError(f"key {name!r} is given twice", "keep one", f"{path}:{at}")
                said.add(name)
                yield (*keys, name), at
                todo.append(((*keys, name), value))
        elif isinstance(node, yaml.SequenceNode):
            for index, item in enumerate(node.value):
                yield (*keys, index), item.start_mark.line + 1
                todo.append(((*keys, index), item))


def _drained(todo: list[tuple[Keys, yaml.Node]]) -> Iterator[tuple[Keys, yaml.Node]]:
    while todo:
        yield todo.pop()


def _syntax_error(path: Path, error: yaml.YAMLError) -> InputError:
    mark = getattr(error, "problem_mark", None)
    place = str(path) if mark is None else f"{path}:{mark.line + 1}:{mark.column + 1}"
    problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
    return InputError(f"is not valid YAML: {problem}", "mend the file at this place", place)


def _deepest(error: ValidationError) -> ValidationError:
    """Of a choice that fails everywhere, the branch that came closest says the most."""
    from jsonschema.exceptions import best_match  # takes long to import

    best = best_match([error])
    return error if best is None else best


def _keys(error: ValidationError) -> Keys:
    keys: Keys = tuple(error.absolute_path)
    rules, value = error.schema, error.instance
    if isinstance(rules, dict) and isinstance(value, dict) and error.validator == _CLOSED:
        unknown = sorted(set(map(str, value)) - set(rules.get("properties", ())))
        return (*keys, unknown[0]) if unknown else keys
    return keys


def _plain(message: str) -> str:
    """A message in one line; of one that quotes a whole tree, the end says what was expected."""
    text = " ".join(message.split())
    return text if len(text) <= 200 else f"{text[:60]} ... {text[-120:]}"
