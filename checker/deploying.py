"""How a pair is deployed: what the launch line, and ranks that are asked for, make of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from checker.engines import Captured, Launched, launched
from checker.launch import ENVIRONMENT, files_of, line_of

if TYPE_CHECKING:
    from checker.engines import Inputs, Subject
    from checker.pairing import Pairing
    from checker.request import VerifyRequest


def handled(request: VerifyRequest, deployed: Subject, inputs: Inputs) -> Launched | None:
    """What the server makes of its launch line, and of ranks that are asked for beside it."""
    asked = {"tp_size": request.tensor_parallel, "pp_size": request.pipeline_parallel}
    ranks = {name: count for name, count in asked.items() if count > 1}
    if not request.launch and not ranks:
        return None
    line = line_of(request.launch or "", deployed.engine.started_by)
    words = line.arguments
    words += tuple(f"--{name.replace('_', '-')}={count}" for name, count in ranks.items())
    settings = {
        **inputs.settings,
        "arguments": words,
        "starts": line.starts,
        "files": files_of(request.launch or "", request.launch_folder),
    }
    return launched(deployed, replace(inputs, launch={**inputs.launch, **ranks}, settings=settings))


def in_force(pair: Pairing, inputs: Inputs, flags: Launched) -> tuple[Pairing, Inputs]:
    """What is checked once the launch line has its say in both models' configurations."""
    if flags.is_refused:
        # it does not start: the rest is judged without its flags
        return pair, replace(inputs, launch=_variables(inputs))
    settings = {**inputs.settings, "overrides": {"draft": dict(flags.overrides)}}
    given = inputs.launch if flags.parsed is None else {**flags.parsed, **_variables(inputs)}
    inputs = replace(inputs, launch={**given, **flags.effective()})
    if flags.overrides:
        inputs = replace(inputs, settings=settings)
        pair = replace(pair, serve_config={**pair.serve_config, **flags.overrides})
    if flags.target is not None:
        inputs = replace(inputs, target_config=flags.target)
        pair = replace(pair, target=flags.target)
    return pair, inputs


def _variables(inputs: Inputs) -> dict[str, Any]:
    """The launch line's environment alone."""
    return {k: v for k, v in inputs.launch.items() if k == ENVIRONMENT}


def doubted(captured: Captured, doubt: str) -> Captured:
    """What a target hands over where it is not known which configuration it has."""
    return Captured(captured.target, captured.ids, reason=doubt)


def ranks_of(request: VerifyRequest, flags: Launched | None) -> tuple[int, int]:
    """Tensor and pipeline parallelism: what is asked for counts before the launch line."""
    tensor, pipeline = (1, 1) if flags is None else flags.ranks
    asked = request.tensor_parallel, request.pipeline_parallel
    return (asked[0] if asked[0] > 1 else tensor, asked[1] if asked[1] > 1 else pipeline)
