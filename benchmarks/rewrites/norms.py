"""Norms and the residual adds beside them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from benchmarks.rewrites.places import after_attention, hidden_normed, joined
from benchmarks.rewrites.table import LAYER, MODEL, rewrite

if TYPE_CHECKING:
    from benchmarks.editing import Source


@rewrite()
def norm_by_hand(s: Source) -> None:
    hidden_normed(
        s,
        "({x} * torch.rsqrt({x}.pow(2).mean(-1, keepdim=True) + self.hidden_norm.variance_epsilon)"
        " * self.hidden_norm.weight)",
    )


@rewrite()
def norm_by_hand_with_casts(s: Source) -> None:
    s.before(
        s.at(LAYER),
        """
        def _normed(self, x, norm):
            dtype = x.dtype
            x = x.to(torch.float32)
            variance = x.square().mean(dim=-1, keepdim=True)
            x = x / torch.sqrt(variance + norm.variance_epsilon)
            return norm.weight * x.to(dtype)

        """,
    )
    hidden_normed(s, "self._normed({x}, self.hidden_norm)")


@rewrite()
def norm_by_hand_with_a_mean_of_products(s: Source) -> None:
    hidden_normed(
        s,
        "(self.hidden_norm.weight * ({x} * (({x} * {x}).sum(-1, keepdim=True) / {x}.shape[-1]"
        " + self.hidden_norm.variance_epsilon) ** -0.5))",
    )


@rewrite()
def norm_by_the_functional(s: Source) -> None:
    hidden_normed(
        s,
        "nn.functional.rms_norm({x}, ({x}.shape[-1],), self.hidden_norm.weight,"
        " self.hidden_norm.variance_epsilon)",
    )


@rewrite()
def norms_in_a_loop_over_one(s: Source) -> None:
    call = s.call(LAYER, "self.hidden_norm")
    statement = next(a for a in s.walk(LAYER, ast.Assign) if a.value is call)
    s.put(statement, "for norm in [self.hidden_norm]:\n    hidden_states = norm(hidden_states)")


@rewrite()
def norms_in_a_comprehension(s: Source) -> None:
    joined(s, "torch.cat([part for part in ({a}, {b})], dim=-1)")


@rewrite()
def add_and_norm_apart(s: Source) -> None:
    after_attention(
        s,
        """
        residual = hidden_states + residual
        hidden_states = self.post_attention_layernorm(residual)
        """,
    )


@rewrite()
def add_by_the_method_in_place(s: Source) -> None:
    after_attention(
        s,
        """
        residual = torch.add(residual.clone(), hidden_states, alpha=1)
        hidden_states = self.post_attention_layernorm(residual)
        """,
    )


@rewrite()
def final_add_and_norm_apart(s: Source) -> None:
    call = s.call(MODEL, "self.norm")
    s.put(call, "(lambda total: (self.norm(total), total))(residual.add(hidden_states))")


@rewrite()
def norm_by_hand_without_rsqrt(s: Source) -> None:
    hidden_normed(
        s,
        "torch.mul(torch.div({x}, (torch.mean(torch.pow({x}, 2), -1, True)"
        " + self.hidden_norm.variance_epsilon).sqrt()), self.hidden_norm.weight)",
    )


@rewrite()
def norm_by_einsum(s: Source) -> None:
    hidden_normed(
        s,
        "({x} * self.hidden_norm.weight * torch.rsqrt("
        'torch.einsum("ti,ti->t", {x}, {x})[:, None] / {x}.shape[1]'
        " + self.hidden_norm.variance_epsilon))",
    )


@rewrite()
def residual_added_in_place(s: Source) -> None:
    after_attention(
        s,
        """
        residual = residual.clone()
        residual += hidden_states
        hidden_states = self.post_attention_layernorm(residual)
        """,
    )


@rewrite()
def residual_added_by_sum_of_a_stack(s: Source) -> None:
    after_attention(
        s,
        """
        residual = torch.stack([hidden_states, residual]).sum(0)
        hidden_states = self.post_attention_layernorm(residual)
        """,
    )


@rewrite()
def residual_carried_as_a_difference(s: Source) -> None:
    """Adds twice and takes one away again."""
    after_attention(
        s,
        """
        residual = hidden_states + residual + hidden_states - hidden_states
        hidden_states = self.post_attention_layernorm(residual)
        """,
    )
