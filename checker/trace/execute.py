"""Extracted graphs on torch: any device, any dtype, every term kept."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

from checker.trace.scaling import scaled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Tensor = Any
Node = tuple[str, list[int], dict[str, Any], list[int]]
"""Operator, arguments as indices of earlier nodes, attributes, shape."""


def run(
    nodes: Sequence[Node], env: Mapping[str, Tensor], device: str, dtype: torch.dtype
) -> list[Tensor]:
    """The values of all nodes, in order.

    Args:
        nodes: a graph in the order in which it can be computed.
        env: inputs and parameters by name.
        device: where constants are made.
        dtype: of everything that is made here and is no index.

    Raises:
        LookupError: an operator that has no numbers (an unknown value), or a name that env lacks.
    """
    values: list[Tensor] = []
    for op, args, attrs, shape in nodes:
        made = Context(attrs, shape, device, dtype)
        if op in ("input", "param"):
            values.append(env[str(attrs["name"])])
            continue
        function = OPERATORS.get(op)
        if function is None:
            what = attrs.get("reason") or attrs.get("name") or op
            raise LookupError(f"{op} has no numbers: {what}")
        values.append(function(made, *(values[i] for i in args)))
    return values


class Context:
    """What an operator needs besides its operands."""

    def __init__(
        self, attrs: Mapping[str, Any], shape: list[int], device: str, dtype: torch.dtype
    ) -> None:
        self.attrs, self.shape, self.device, self.dtype = attrs, shape, device, dtype

    def __getitem__(self, name: str) -> Any:
        return self.attrs[name]

    def get(self, name: str, default: Any = None) -> Any:
        return self.attrs.get(name, default)


def _range(c: Context, x: Tensor) -> Tensor:
    return x.narrow(c["axis"], int(c["start"]), int(c["stop"]) - int(c["start"]))


def _expand(c: Context, x: Tensor) -> Tensor:
    axes = c["axes"]
    kept = [a % x.ndim for a in axes if a is not None]
    x = x.permute(kept) if kept else x
    shape = [1 if a is None else n for a, n in zip(axes, c.shape, strict=True)]
    return x.reshape(shape).expand(c.shape)


def _update(c: Context, base: Tensor, value: Tensor) -> Tensor:
    result = base.clone()
    _range(c, result).copy_(value)
    return result


def _rms_norm(c: Context, x: Tensor, w: Tensor | None = None) -> Tensor:
    normed = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + c["eps"])
    return normed if w is None else normed * (w + c.get("offset", 0))


def frequencies(base: float, dim: int, device: str, dtype: torch.dtype) -> Tensor:
    """Inverse frequencies of an unscaled rotary embedding."""
    return 1.0 / (base ** (torch.arange(0, dim, 2, device=device, dtype=dtype) / dim))


def rotate(
    x: Tensor, positions: Tensor, *, base: float, dim: int, style: str, scaling: Any
) -> Tensor:
    """Rotary embedding of x (tokens, heads, head size).

    Raises:
        LookupError: a kind of scaling that has no reference here.
    """
    inverse = scaled(frequencies(base, dim, x.device, x.dtype), scaling)
    angles = positions.to(x.dtype)[:, None] * inverse[None]
    cos, sin = angles.cos(), angles.sin()
    if x.ndim == 3:
        cos, sin = cos[:, None], sin[:, None]
    turned, rest = x[..., :dim], x[..., dim:]
    if style == "half":
        first, second = turned.chunk(2, dim=-1)
        turned = torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)
    else:
        first, second = turned[..., ::2], turned[..., 1::2]
        pairs = [first * cos - second * sin, second * cos + first * sin]
        turned = torch.stack(pairs, dim=-1).flatten(-2)
    return torch.cat([turned, rest], dim=-1)


def attend(q: Tensor, steps: Sequence[tuple[Tensor, Tensor, Any]], scale: float | None) -> Tensor:
    """Attention of q (tokens, heads, size) over (key, value, band of distances) per step."""
    flat = q.ndim == 2
    q = q[:, None] if flat else q
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    scores, values = [], []
    for key, value, band in steps:
        k, v = (t[:, None] if t.ndim == 2 else t for t in (key, value))
        groups = q.shape[1] // k.shape[1]
        k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
        rows = torch.arange(q.shape[0], device=q.device)[:, None]
        distance = rows - torch.arange(k.shape[0], device=q.device)[None]
        low, high = band
        seen = torch.ones_like(distance, dtype=torch.bool)
        if low is not None:
            seen = seen & (distance >= low)
        if high is not None:
            seen = seen & (distance <= high)
        score = torch.einsum("qhd,khd->hqk", q, k) * scale
        scores.append(score.masked_fill(~seen, -math.inf))
        values.append(v)
    weights = torch.cat(scores, -1).softmax(-1)
    out = torch.einsum("hqk,khd->qhd", weights, torch.cat(values, 0))
    return out[:, 0] if flat else out


def _attention(c: Context, q: Tensor, *rest: Tensor) -> Tensor:
    count = len(rest) // 2
    bands = c.get("visible") or ((None, None),) * count
    steps = [(rest[2 * i], rest[2 * i + 1], bands[i]) for i in range(count)]
    return attend(q, steps, c.get("scale"))


def _number(c: Context, *_: Tensor) -> Tensor:
    value = c["value"]
    kind = torch.bool if isinstance(value, bool) else c.dtype
    return torch.full(c.shape, value, device=c.device, dtype=kind)


def _sum(c: Context, *xs: Tensor) -> Tensor:
    del c
    total = xs[0]
    for x in xs[1:]:
        total = total + x
    return total


def _product(c: Context, *xs: Tensor) -> Tensor:
    del c
    total = xs[0]
    for x in xs[1:]:
        total = total * x
    return total


def _plain(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda c, *xs: function(*xs)


def _inv_freq(c: Context) -> Tensor:
    return scaled(frequencies(c["base"], c["dim"], c.device, c.dtype), c.get("scaling"))


def _unflatten(c: Context, x: Tensor) -> Tensor:
    return x.reshape(c.shape)


OPERATORS: dict[str, Callable[..., Tensor]] = {
    "const": _number,
    "full": _number,
    "empty": lambda c: torch.full(c.shape, math.nan, device=c.device, dtype=c.dtype),
    "iota": lambda c: torch.arange(c.shape[0], device=c.device),
    "add": _sum,
    "mul": _product,
    "pow": lambda c, x: x ** c["exponent"],
    "power": _plain(torch.pow),
    "linear": _plain(torch.nn.functional.linear),
    "matmul": _plain(torch.matmul),
    "transpose": lambda c, x: x.t(),
    "embedding": lambda c, ids, w: torch.nn.functional.embedding(ids.long(), w),
    "rms_norm": _rms_norm,
    "concat": lambda c, *xs: torch.cat(xs, dim=c["axis"]),
    "stack": lambda c, *xs: torch.stack(xs, dim=c["axis"]),
    "slice": _range,
    "select": lambda c, x: x.select(c["axis"], int(c["index"])),
    "slice_update": _update,
    "expand": _expand,
    "permute": lambda c, x: x.permute(*c["axes"]),
    "repeat": lambda c, x: x.repeat_interleave(c["times"], dim=c["axis"]),
    "unflatten": _unflatten,
    "flatten": _unflatten,
    "mean": lambda c, x: x.mean(c["axis"]),
    "sum": lambda c, x: x.sum(c["axis"]),
    "softmax": lambda c, x: x.softmax(c["axis"]),
    "argmax": lambda c, x: x.argmax(c["axis"]),
    "rope": lambda c, x, p: rotate(
        x,
        p,
        base=c["base"],
        dim=c["dim"],
        style=c.get("style", "half"),
        scaling=c.get("scaling"),
    ),
    "inv_freq": _inv_freq,
    "attention": _attention,
    "silu": _plain(torch.nn.functional.silu),
    "relu": _plain(torch.relu),
    "gelu": lambda c, x: torch.nn.functional.gelu(x, approximate=c.get("approximate", "none")),
    "where": _plain(torch.where),
    **{
        name: _plain(getattr(torch, name))
        for name in ("exp", "cos", "sin", "tanh", "sigmoid", "abs", "log", "erf", "floor")
    },
    **{name: _plain(getattr(torch, name)) for name in ("maximum", "minimum")},
}
