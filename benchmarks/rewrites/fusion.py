"""The projection of the aux states."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from benchmarks.rewrites.places import fused
from benchmarks.rewrites.table import MODEL, OLD, rewrite

if TYPE_CHECKING:
    from benchmarks.editing import Source


@rewrite()
def fc_by_the_functional(s: Source) -> None:
    fused(s, "nn.functional.linear({x}, self.fc.weight, self.fc.bias)")


@rewrite()
def fc_by_at(s: Source) -> None:
    fused(s, "{x} @ self.fc.weight.t()")


@rewrite()
def fc_by_matmul(s: Source) -> None:
    fused(s, "torch.matmul({x}, self.fc.weight.transpose(0, 1))")


@rewrite()
def fc_by_mm_of_the_other_side(s: Source) -> None:
    fused(s, "torch.mm(self.fc.weight, {x}.T).T")


@rewrite()
def fc_by_einsum(s: Source) -> None:
    fused(s, 'torch.einsum("ti,oi->to", {x}, self.fc.weight)')


@rewrite()
def fc_as_a_sum_over_states(s: Source) -> None:
    fused(
        s,
        "sum(nn.functional.linear(part, weight) for part, weight in "
        "zip({x}.chunk(3, dim=-1), self.fc.weight.chunk(3, dim=1)))",
    )


@rewrite()
def fc_with_a_batch_dimension(s: Source) -> None:
    fused(s, "self.fc({x}[None])[0]")


@rewrite()
def fc_guard_the_other_way_round(s: Source) -> None:
    guard = next(i for i in s.walk(MODEL, ast.If) if "shape[-1]" in ast.unparse(i.test))
    s.before(guard, "already = hidden_states.size(-1) == embeds.size(-1)")
    s.put(guard.test, "not already")


@rewrite()
def fc_guard_with_a_walrus(s: Source) -> None:
    guard = next(i for i in s.walk(MODEL, ast.If) if "shape[-1]" in ast.unparse(i.test))
    s.put(guard.test, "(width := hidden_states.shape[-1]) > 0 and width != embeds.shape[1]")


@rewrite(versions=(OLD,))
def fc_by_a_conditional_expression(s: Source) -> None:
    guard = next(i for i in s.walk(MODEL, ast.If) if "shape[-1]" in ast.unparse(i.test))
    s.put(
        guard,
        "hidden_states = (\n    hidden_states\n    if hidden_states.shape[-1] == embeds.shape[-1]\n"
        "    else self.fc(hidden_states)\n)",
    )


@rewrite(versions=(OLD,))
def fc_in_a_method_that_returns_early(s: Source) -> None:
    s.before(
        s.at(MODEL),
        """
        def _fuse(self, states, width):
            if states.shape[-1] == width:
                return states
            return self.fc(states)

        """,
    )
    guard = next(i for i in s.walk(MODEL, ast.If) if "shape[-1]" in ast.unparse(i.test))
    s.put(guard, "hidden_states = self._fuse(hidden_states, embeds.shape[-1])")


@rewrite()
def fc_by_einsum_over_states(s: Source) -> None:
    fused(
        s,
        'torch.einsum("tsi,osi->to", {x}.unflatten(-1, (3, -1)), '
        "self.fc.weight.unflatten(-1, (3, -1)))",
    )


@rewrite()
def fc_over_repeated_states(s: Source) -> None:
    """The first copy of what was repeated is what was given."""
    fused(s, "self.fc({x}.repeat(1, 2)[:, : {x}.shape[-1]])")


@rewrite()
def fc_by_an_operator_function(s: Source) -> None:
    s.prepend("import operator")
    fused(s, "operator.matmul({x}, self.fc.weight.T)")


@rewrite()
def fc_by_a_batch_of_one_product(s: Source) -> None:
    fused(s, "torch.bmm({x}.unsqueeze(0), self.fc.weight.t().unsqueeze(0)).squeeze(0)")
