"""What tensors come out of which expression of the checked trees."""

from __future__ import annotations

import math
import sys
from itertools import islice
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

_MOST = 512
"""Different results that are kept of one line."""

_DEEP = 12
"""Checked frames that are looked at for one result."""

_WIDE = 1024
"""Columns up to which a tensor is told by its columns."""


class Recorder(TorchFunctionMode):  # type: ignore[misc]
    """Notes what torch gives: where, its shape, and numbers that another tensor hardly shares.

    By every line of a checked file that was on the way: where something happens, and where it was
    asked for.

    Args:
        paths: the checked files by the names that their code objects bear, as the trees call them.
        wanted: lines of checked files that somebody asks about; None: all.
        tokens: positions that are run.
    """

    def __init__(
        self,
        paths: dict[str, str],
        wanted: dict[str, list[int]] | None = None,
        tokens: int = 0,
    ) -> None:
        super().__init__()
        self.paths, self.tokens = paths, tokens
        self.wanted = None if wanted is None else {p: set(lines) for p, lines in wanted.items()}
        self.lines: dict[str, dict[int, list[dict[str, Any]]]] = {}
        self._spans: dict[Any, list[Any]] = {}

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
        frames: list[tuple[str, Any]] = []
        while frame is not None and len(frames) < _DEEP:
            path = self.paths.get(frame.f_code.co_filename)
            if path is not None:
                frames.append((path, frame))
            frame = frame.f_back
        if not frames:
            return
        asked = [i for i, (path, f) in enumerate(frames) if self._asked(path, f.f_lineno)]
        if not asked:
            return
        entry = {**summary(tensor, self.tokens), "chain": [self._spot(p, f) for p, f in frames]}
        for path, line in dict.fromkeys((frames[i][0], frames[i][1].f_lineno) for i in asked):
            noted = self.lines.setdefault(path, {}).setdefault(line, [])
            if len(noted) < _MOST and entry not in noted:
                noted.append(entry)

    def _asked(self, path: str, line: int) -> bool:
        return self.wanted is None or line in self.wanted.get(path, ())

    def _spot(self, path: str, frame: Any) -> list[Any]:
        """The extent of what a frame is at; before Python 3.11 only its line is known."""
        code = frame.f_code
        if not hasattr(code, "co_positions"):
            return [path, frame.f_lineno]
        if code not in self._spans:
            self._spans[code] = list(islice(code.co_positions(), 1 << 16))
        index = frame.f_lasti // 2
        spans = self._spans[code]
        line, end_line, column, end_column = spans[index] if index < len(spans) else (None,) * 4
        if line is None or column is None:
            return [path, frame.f_lineno]
        return [path, line, column, end_line, end_column]


def summary(tensor: Any, tokens: int) -> dict[str, Any]:
    """A tensor's shape and, where it has values, its root mean square and a number a column."""
    told: dict[str, Any] = {"shape": [int(n) for n in tensor.shape], "rms": None, "columns": None}
    if not tensor.is_floating_point() or tensor.device.type == "meta" or _batched(tensor):
        return told
    values = tensor.detach().double()
    rms = float(values.pow(2).mean().sqrt())
    if math.isfinite(rms):
        told["rms"] = rms
        told["columns"] = _columns(values, tokens)
    return told


def _columns(values: Any, tokens: int) -> list[float] | None:
    """The columns of a tensor, each weighted over the tokens: heads side by side or apart alike.

    The weights are all different, so that a row in another's place is seen.
    """
    sizes = [n for n in values.shape if n != 1]
    flat = values.reshape(sizes)
    if len(sizes) == 3 and sizes[0] != tokens and sizes[1] == tokens:
        flat = flat.transpose(0, 1)
    elif not sizes or sizes[0] != tokens:
        return None
    flat = flat.reshape(tokens, -1)
    if flat.shape[1] > _WIDE:
        return None
    weights = torch.cos(torch.arange(tokens, dtype=torch.float64, device=flat.device) + 1.0)
    return [float(n) for n in (weights @ flat).tolist()]  # one transfer from a device


def _batched(tensor: Any) -> bool:
    """Whether a tensor stands for many, inside a vectorised mask: it has no numbers of its own."""
    return bool(torch._C._functorch.is_batchedtensor(tensor))  # noqa: SLF001 - no public name
