"""What tensors come out of each line of the checked trees."""

from __future__ import annotations

import math
import sys
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

_MOST = 512
"""Different results that are kept of one line."""


class Recorder(TorchFunctionMode):  # type: ignore[misc]
    """Notes shape and root mean square of what torch gives.

    By the innermost line of any checked file, and by that of the engine's own files: where
    something happens, and where the engine asked for it.
    """

    def __init__(self, paths: set[str], own: set[str]) -> None:
        super().__init__()
        self.paths, self.own = paths, own
        self.lines: dict[str, dict[int, list[list[Any]]]] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Runs a function of torch and notes what comes out."""
        result = func(*args, **(kwargs or {}))
        with torch._C.DisableTorchFunction():  # noqa: SLF001 - no public name
            for tensor in result if isinstance(result, (tuple, list)) else (result,):
                if isinstance(tensor, torch.Tensor):
                    self._note(tensor)
        return result

    def _note(self, tensor: Any) -> None:
        frame: Any = sys._getframe(2)  # noqa: SLF001 - who called torch
        entry: list[Any] | None = None
        wanted = self.paths
        while frame is not None:
            path = frame.f_code.co_filename
            if path in wanted:
                entry = entry or summary(tensor)
                noted = self.lines.setdefault(path, {}).setdefault(frame.f_lineno, [])
                if entry not in noted and len(noted) < _MOST:
                    noted.append(entry)
                if path in self.own:
                    return
                wanted = self.own
            frame = frame.f_back


def summary(tensor: Any) -> list[Any]:
    """A tensor's shape, and one number that another tensor hardly shares (None without values)."""
    shape = [int(n) for n in tensor.shape]
    if not tensor.is_floating_point() or tensor.device.type == "meta" or _batched(tensor):
        return [shape, None]
    value = float(tensor.detach().double().pow(2).mean().sqrt())
    return [shape, value if math.isfinite(value) else None]


def _batched(tensor: Any) -> bool:
    """Whether a tensor stands for many, inside a vectorised mask: it has no numbers of its own."""
    return bool(torch._C._functorch.is_batchedtensor(tensor))  # noqa: SLF001 - no public name
