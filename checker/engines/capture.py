"""Running a server's target, for the number of states that it really hands over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from checker.engines.stages import machine_for, run_stage, stage_module
from checker.graph.terms import Pool
from checker.interpreter.values import Raised, Stuck, Unknown
from checker.syntax import UnparsableModule

if TYPE_CHECKING:
    from checker.engines.stages import Inputs, Subject

_NEEDED = ("architectures", "model_type", "hidden_size", "num_hidden_layers")


@dataclass(frozen=True, slots=True)
class Captured:
    """How many states the target hands over; None where that could not be followed, with why.

    `norm`: epsilon and offset of the RMSNorm before the target's head, where it is one.
    """

    count: int | None
    reason: str = ""
    norm: tuple[float, float] | None = None


def capture(subject: Subject, inputs: Inputs) -> Captured | None:
    """Runs the target of a server; None when nothing says how, or the target is not described.

    An exception does not count as the server's: the classes of targets are not followed far enough
    yet to tell a real one from one of our own making.
    """
    stage = subject.engine.capture
    target = inputs.target_config
    if stage is None or target is None or any(target.get(key) is None for key in _NEEDED):
        return None
    m = machine_for(subject, Pool(), inputs)
    module = stage_module(m, subject.engine, inputs)
    try:
        run_stage(m, module, stage)
    except Raised as raised:
        return Captured(None, f"it raises {raised.type_name}: {raised.message}")
    except Stuck as stuck:
        return Captured(None, stuck.reason)
    except UnparsableModule as error:
        return Captured(None, str(error))
    except RecursionError:
        return Captured(None, "it nests too deeply")
    count = module.scope.names.get("captured")
    if m.decisions:
        return Captured(None, f"it depends on {m.decisions[0].text}")
    if not isinstance(count, int):
        return Captured(None, count.reason if isinstance(count, Unknown) else "no count came out")
    return Captured(count)
