"""Under which other configurations a server would leave out what it computes under this one."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from checker.graph.terms import postorder
from checker.judging import wording
from checker.report.model import ClauseResult, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from checker.contract.model import Probe
    from checker.engines import Extraction
    from checker.judging.judge import Case


@dataclass(frozen=True, slots=True)
class Prober:
    """Extracts the server's draft for another configuration, without a checkpoint."""

    extract: Callable[[dict[str, Any]], Extraction]

    def notes(self, case: Case, results: list[ClauseResult]) -> list[ClauseResult]:
        """The results, with what probes found as the messages of those that hold."""
        return [self._probed(case, r) if r.status is Status.HOLDS else r for r in results]

    def _probed(self, case: Case, result: ClauseResult) -> ClauseResult:
        found = [self._try(case, probe) for probe in case.contract.clauses[result.id].probes]
        text = "; ".join(note for note in found if note)
        return replace(result, message=text) if text else result

    def _try(self, case: Case, probe: Probe) -> str | None:
        switch = case.contract.switches[probe.switch]
        place, value = wording.stated(case.serve_config, wording.spelled(switch, case.serve.engine))
        tensor = _tensor(case, probe.wire)
        path = case.serve.weights.get(tensor) if tensor else None
        if place is None or path is None or not isinstance(value, list) or len(value) <= probe.keep:
            return None
        probed = self.extract(_cut(case.serve_config, place, probe.keep))
        if probed.failure is not None or not probed.logits:
            return None
        used = {
            str(t.attr("name")).removeprefix("unloaded:")
            for t in postorder(probed.logits[0])
            if t.op == "param"
        }
        if path in used:
            return None
        states = "one item" if probe.keep == 1 else f"{probe.keep} items"
        return f"with {states} in {place} the server would leave out {tensor} without a word"


def _tensor(case: Case, wire: str) -> str | None:
    """The checkpoint name of the tensor in a wire's definition."""
    if case.comparison is None:
        return None
    for at, term in case.comparison.contract.wires.items():
        if at.name == wire and at.step == 0:
            return next((str(a.attr("name")) for a in term.args if a.op == "param"), None)
    return None


def _cut(config: Mapping[str, Any], place: str, keep: int) -> dict[str, Any]:
    """A configuration with one list shortened."""
    changed = copy.deepcopy(dict(config))
    *parents, last = place.split(".")
    node: Any = changed
    for part in parents:
        node = node[part]
    node[last] = node[last][:keep]
    return changed
