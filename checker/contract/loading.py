"""From YAML to values. Every complaint names the file, the place, the key and what was expected.

Files that come with the program are checked against their schemas by its tests, so loading them
does not pay for it; files that a user supplies are checked each time (`checker.contract.added`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import yaml

from checker.contract.documents import Loader, read_document, read_text, syntax_error
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
from checker.data import CONTRACTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from checker.contract.added import Added
    from checker.contract.documents import Document


def load_yaml(path: Path, schema: str | None = None) -> Document:
    """Reads a YAML file with the places of its keys, and checks it if a schema is named.

    Args:
        path: the file.
        schema: the name of a schema under ``contracts/schema``, without its ending.

    Raises:
        InputError: the file cannot be read, is not YAML, or is not what its schema expects.
    """
    document = read_document(path)
    if schema is not None:
        from checker.contract.validation import validate

        validate(document, schema)
    return document


def load_plain(path: Path) -> Any:
    """What a YAML file of our own says, without places and without checks: the quick way."""
    try:
        return yaml.load(read_text(path), Loader=Loader)  # noqa: S506 - the loader is a safe one
    except yaml.YAMLError as error:
        raise syntax_error(path, error) from None


def load_contract(
    added: Iterable[Added] = (), algorithm: str = "eagle3", root: Path = CONTRACTS
) -> Contract:
    """The contract of one algorithm: what comes with the program, and what a user adds to it.

    Clauses and switches that are added take the place of those that have their names, and so do
    the wires of an added file. An engine that is added brings its own spellings of switches.

    Raises:
        InputError: what is added names clauses, switches or wires that there are none of.
    """
    folder = root / algorithm
    clauses = {c.id: c for c in _at(folder / "clauses.yaml", "clauses", clauses_of)}
    switches = {s.name: s for s in _at(folder / "switches.yaml", "switches", switches_of)}
    wires = load_plain(folder / "wires.yaml") if (folder / "wires.yaml").exists() else {}
    files = tuple(added)
    for file in files:
        match file.kind:
            case "clauses":
                clauses |= {clause.id: clause for clause in clauses_of(file.data)}
            case "switches":
                switches |= {switch.name: switch for switch in switches_of(file.data)}
            case "wires":
                wires = _with_wires(wires, file.data)
            case "engine":
                switches = _with_spellings(switches, file.data)
    contract = Contract(
        algorithm=algorithm,
        clauses=dict(sorted(clauses.items())),
        switches=switches,
        wires=wires,
        formats=tuple(_at(folder / "formats.yaml", "formats", formats_of)),
    )
    if files:
        from checker.contract.added import check_references

        check_references(contract, files)
    return contract


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
    boundaries = said["boundaries"]
    yield Exploration(
        said["layer-ids"],
        said["target"],
        said["draft"],
        tuple(said["settings"]),
        boundaries["default"],
        tuple(boundaries["settings"]),
        said.get("matrix", {"plain": {}}),
    )


def _with_wires(wires: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Wires, parameters and the like by name; what is no mapping is taken as a whole."""
    found = dict(wires)
    for section, value in more.items():
        own = found.get(section)
        merged = isinstance(own, dict) and isinstance(value, dict)
        found[section] = {**own, **value} if merged else value  # type: ignore[dict-item]
    return found


def _with_spellings(switches: Mapping[str, Switch], engine: Mapping[str, Any]) -> dict[str, Switch]:
    found = dict(switches)
    for name, keys in engine.get("spellings", {}).items():
        if name in found:
            spellings = {**found[name].spellings, engine["engine"]: _several(keys)}
            found[name] = replace(found[name], spellings=spellings)
    return found


def clauses_of(data: Any) -> Iterator[Clause]:
    """The clauses in what ``clauses.yaml`` says."""
    for item in data.get("clauses", ()):
        shown = item["fixtures"] if item["implemented"] else None
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
            fixtures=None if shown is None else (shown["holds"], shown["violated"]),
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
        load_yaml(path, schema)
        raise


def _selector(entry: Mapping[str, Any]) -> Selector:
    return Selector(
        wires=_several(entry.get("wire", ())),
        aspects=_several(entry.get("aspect", ())),
        operators=_several(entry.get("operator", ())),
    )


def _several(value: str | Iterable[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
