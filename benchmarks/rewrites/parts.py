"""Attention and MLP of the layers that the draft borrows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.rewrites.table import ATTENTION, LLAMA, rewrite

if TYPE_CHECKING:
    from benchmarks.editing import Source


@rewrite(file=LLAMA)
def projections_split_by_slices(s: Source) -> None:
    assign = s.assign(ATTENTION, "q, k, v")
    s.put(
        assign,
        """
        q = qkv[..., : self.q_size]
        k = qkv[:, self.q_size : self.q_size + self.kv_size]
        v = qkv[..., -self.kv_size :]
        """,
    )


@rewrite(file=LLAMA)
def projections_split_by_narrow(s: Source) -> None:
    assign = s.assign(ATTENTION, "q, k, v")
    s.put(
        assign,
        """
        q = qkv.narrow(-1, 0, self.q_size)
        k = torch.narrow(qkv, 1, self.q_size, self.kv_size)
        v = qkv.narrow(dim=-1, start=self.q_size + self.kv_size, length=self.kv_size)
        """,
    )


@rewrite(file=LLAMA)
def projections_split_in_two_goes(s: Source) -> None:
    assign = s.assign(ATTENTION, "q, k, v")
    s.put(
        assign,
        """
        q, kv = torch.split(qkv, [self.q_size, 2 * self.kv_size], dim=1)
        k, v = kv.chunk(2, -1)
        """,
    )


@rewrite(file=LLAMA)
def projections_apart(s: Source) -> None:
    assign = s.assign(ATTENTION, "q, k, v")
    s.put(
        assign,
        """
        rows = self.qkv_proj.weight.split([self.q_size, self.kv_size, self.kv_size], dim=0)
        q, k, v = [torch.nn.functional.linear(hidden_states, part) for part in rows]
        """,
    )


@rewrite(file=LLAMA)
def positions_counted_from_seven(s: Source) -> None:
    call = s.call(ATTENTION, "self.rotary_emb")
    s.put(call.args[0], "positions + 7")


@rewrite(file=LLAMA)
def scale_by_a_root(s: Source) -> None:
    s.put(s.assign("LlamaAttention.__init__", "self.scaling").value, "1.0 / (self.head_dim ** 0.5)")


@rewrite(file=LLAMA)
def scale_by_math(s: Source) -> None:
    scaling = s.assign("LlamaAttention.__init__", "self.scaling")
    s.before(scaling, "import math")
    s.put(scaling.value, "1 / math.sqrt(self.head_dim)")


@rewrite(file=LLAMA)
def activation_by_hand(s: Source) -> None:
    s.prepend(
        """
        class Gated(nn.Module):
            def forward(self, both):
                gate, up = both.chunk(2, dim=-1)
                return torch.nn.functional.silu(gate) * up
        """
    )
    s.put(s.assign("LlamaMLP.__init__", "self.act_fn").value, "Gated()")


@rewrite(file=LLAMA)
def activation_by_the_sigmoid(s: Source) -> None:
    s.prepend(
        """
        def gated(both):
            half = both.shape[-1] // 2
            gate, up = both[..., :half], both[..., half:]
            return up * (gate * torch.sigmoid(gate))
        """
    )
    s.put(s.assign("LlamaMLP.__init__", "self.act_fn").value, "gated")


@rewrite(file=LLAMA)
def heads_taken_apart_and_put_together(s: Source) -> None:
    assign = s.assign(ATTENTION, "q, k, v")
    s.after(
        assign,
        """
        q = q.view(-1, self.num_heads, self.head_dim).reshape(-1, self.q_size)
        v = torch.cat(v.unflatten(-1, (self.num_kv_heads, -1)).unbind(1), dim=-1)
        """,
    )


@rewrite(file=LLAMA)
def projections_by_einsum(s: Source) -> None:
    call = s.call(ATTENTION, "self.qkv_proj")
    s.put(call, f'(torch.einsum("ti,oi->to", {s.of(call.args[0])}, self.qkv_proj.weight), None)')


@rewrite(file=LLAMA)
def activation_with_halves_swapped_twice(s: Source) -> None:
    s.prepend(
        """
        def gated(both):
            up, gate = torch.cat(both.chunk(2, dim=-1)[::-1], dim=-1).chunk(2, dim=-1)
            return nn.functional.silu(gate).mul(up)
        """
    )
    s.put(s.assign("LlamaMLP.__init__", "self.act_fn").value, "gated")


@rewrite(file=LLAMA)
def scale_moved_into_a_method(s: Source) -> None:
    scaling = s.assign("LlamaAttention.__init__", "self.scaling")
    s.before(s.at(ATTENTION), "def _scale(self, size):\n    return pow(size, -1 / 2)\n\n")
    s.put(scaling.value, "self._scale(self.head_dim)")
