"""Small configurations: the same architecture with numbers that run in milliseconds.

Every size that a switch of the contract states becomes a small one, alike on both sides: what was
equal stays equal, what differed still differs, and no two kinds of width are the same.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from checker.contract.model import Contract


class Shrinker:
    """Maps the sizes of several configurations to small ones, consistently."""

    def __init__(self, contract: Contract) -> None:
        self._contract = contract
        self._known: dict[str, dict[int, int]] = {}

    def shrink(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """A configuration with small sizes; everything else stays."""
        made = copy.deepcopy(dict(config))
        for switch in self._contract.switches.values():
            if switch.size is None:
                continue
            spellings = {
                key.rpartition(".")[2] for keys in switch.spellings.values() for key in keys
            }
            self._replace(made, spellings | {switch.name}, switch.size.like or switch.name)
        return made

    def _replace(self, node: Any, keys: set[str], kind: str) -> None:
        if isinstance(node, dict):
            for key, value in node.items():
                if key in keys and isinstance(value, int) and not isinstance(value, bool):
                    node[key] = self._small(kind, value)
                else:
                    self._replace(value, keys, kind)
        elif isinstance(node, list):
            for value in node:
                self._replace(value, keys, kind)

    def _small(self, kind: str, value: int) -> int:
        known = self._known.setdefault(kind, {})
        if value not in known:
            size = self._contract.switches[kind].size
            choices = size.small if size is not None else ()
            known[value] = choices[min(len(known), len(choices) - 1)]
        return known[value]
