"""Drafts' configurations: a draft's switches written down as an engine's configuration has them."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from checker.judging.wording import spelled, stated

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from checker.contract.model import Contract, Switch
    from checker.engines import Engine


def written(
    contract: Contract, layer_ids: str, switches: Mapping[str, Any], engine: Engine
) -> dict[str, Any]:
    """A configuration in an engine's format that states these switches.

    Args:
        contract: knows the spellings.
        layer_ids: the switch whose value is given in boundaries.
        switches: their values; None for one that is not stated.
        engine: whose format it is.
    """
    config = copy.deepcopy(dict(engine.draft_config.keys))
    for name, value in switches.items():
        place = place_of(contract.switches[name], engine)
        if place is None or value is None:
            continue
        if name == layer_ids:
            value = [boundary + engine.draft_config.layer_ids for boundary in value]  # noqa: PLW2901
        state(config, place, value)
    return config


def place_of(switch: Switch, engine: Engine) -> str | None:
    """The dotted key under which an engine's configurations state a switch, if they can."""
    known = switch.spellings.get(engine.name, ())
    return engine.draft_config.spellings.get(switch.name) or (known[0] if known else None)


def trained_switches(
    contract: Contract, engine: Engine, config: Mapping[str, Any], in_effect: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """What a trainer's configuration says of each switch, else what was in effect in training.

    None where neither says anything.
    """
    for name, switch in contract.switches.items():
        if place_of(switch, engine) is None:
            continue
        place, value = stated(config, spelled(switch, engine))
        if place is None:
            value = in_effect.get(name)
            if not _is(switch.type, value):
                value = None  # what the trainer calls by this name is something else
        yield name, value


def state(config: dict[str, Any], place: str, value: Any) -> None:
    """Sets a dotted key."""
    *parents, last = place.split(".")
    node = config
    for part in parents:
        inner = node.get(part)
        if not isinstance(inner, dict):
            inner = node[part] = {}
        node = inner
    node[last] = copy.deepcopy(value)


def remove(config: dict[str, Any], place: str) -> None:
    """Takes a dotted key out, where it is there."""
    *parents, last = place.split(".")
    node: Any = config
    for part in parents:
        node = node.get(part)
        if not isinstance(node, dict):
            return
    node.pop(last, None)


def flattened(config: Mapping[str, Any], under: str = "") -> Iterator[tuple[str, Any]]:
    """Every dotted key of a configuration with its value; an empty object is a value."""
    for key, value in config.items():
        place = f"{under}{key}"
        if isinstance(value, dict) and value:
            yield from flattened(value, f"{place}.")
        else:
            yield place, value


_KINDS: dict[str, tuple[type, ...]] = {
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "string": (str,),
    "list": (list,),
    "mapping": (dict,),
}


def _is(kind: str, value: Any) -> bool:
    """Whether a value is of a switch's type; what a trainer calls by its name may be another."""
    right = isinstance(value, _KINDS.get(kind, (object,)))
    return right and (kind == "boolean" or not isinstance(value, bool))
