"""The trainer's model, its first layer and its mask."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from benchmarks.rewrites.table import NEW, rewrite

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.editing import Edit, Source

CORE = "speculators/models/eagle3/core.py"
LAYER = "speculators/models/eagle3/model_definitions.py"
MASK = "speculators/models/eagle3/attention.py"
INIT, FORWARD = "Eagle3DraftModel.__init__", "Eagle3DraftModel.forward"
FIRST = "Eagle3FirstLayerMixin.forward"


def trained(file: str = CORE, **switches: Any) -> Callable[[Edit], Edit]:
    """Enters an edit of the trainer; `switches` are on, on both sides."""
    return rewrite(file=file, side="train", versions=(NEW,), switches=switches)


def additions(s: Source) -> list[ast.BinOp]:
    return [n for n in s.walk(FIRST, ast.BinOp) if isinstance(n.op, ast.Add)]


@trained(file=LAYER)
def halves_by_chunk(s: Source) -> None:
    call = s.call(FIRST, "hidden_states.split")
    s.put(call, "hidden_states.chunk(2, dim=2)")


@trained(file=LAYER)
def halves_by_slices(s: Source) -> None:
    call = s.call(FIRST, "hidden_states.split")
    s.put(call, "(hidden_states[:, :, :mid], hidden_states[..., mid:])")


@trained(file=LAYER)
def residual_added_the_other_way_round(s: Source) -> None:
    for total in additions(s):
        s.swap(total.left, total.right)


@trained()
def fc_by_the_functional_in_training(s: Source) -> None:
    call = s.call(FORWARD, "self.fc")
    s.put(call, f"torch.nn.functional.linear({s.of(call.args[0])}, self.fc.weight)")


@trained()
def positions_from_zero(s: Source) -> None:
    start = s.assign(FORWARD, "position_ids").value
    s.put(start.left, "0")  # type: ignore[attr-defined]


@trained(file=MASK)
def own_position_left_to_the_diagonal(s: Source) -> None:
    """The other half of the mask shows a query its own position anyway."""
    comparison = s.walk("create_combined_mask_mod.causal_mask_mod", ast.Compare)[0]
    s.put(comparison, "q_idx > kv_idx")


@trained(file=MASK)
def mask_by_a_difference(s: Source) -> None:
    comparison = s.walk("create_combined_mask_mod.causal_mask_mod", ast.Compare)[0]
    s.put(comparison, "q_idx - kv_idx >= 0")


@trained(file=MASK)
def mask_the_other_way_round(s: Source) -> None:
    comparison = s.walk("create_combined_mask_mod.causal_mask_mod", ast.Compare)[0]
    s.put(comparison, "~(kv_idx > q_idx)")


@trained(file=LAYER)
def halves_in_a_method(s: Source) -> None:
    call = s.call(FIRST, "hidden_states.split")
    s.before(s.at(FIRST), "def _halves(self, both):\n    return torch.chunk(both, 2, -1)\n\n")
    s.put(call, "self._halves(hidden_states)")


@trained(file=LAYER)
def halves_joined_by_stack(s: Source) -> None:
    call = s.call(FIRST, "torch.cat")
    s.put(call, f"torch.stack({s.of(call.args[0])}, dim=-2).flatten(-2)")


@trained(file=LAYER)
def residual_added_by_the_function(s: Source) -> None:
    for total in additions(s):
        s.put(total, f"torch.add({s.of(total.left)}, {s.of(total.right)})")


@trained(file=LAYER)
def norm_by_hand_in_training(s: Source) -> None:
    call = s.call(FIRST, "self.hidden_norm")
    x = s.of(call.args[0])
    s.put(
        call,
        f"self.hidden_norm.weight * ({x} * torch.rsqrt({x}.square().mean(-1, keepdim=True)"
        " + self.hidden_norm.variance_epsilon))",
    )


@trained(file=LAYER, norm_output=True)
def layer_decorated_in_training(s: Source) -> None:
    s.before(s.at(FIRST), "@torch.no_grad()")


@trained()
def fc_by_einsum_in_training(s: Source) -> None:
    call = s.call(FORWARD, "self.fc")
    s.put(call, f'torch.einsum("bti,oi->bto", {s.of(call.args[0])}, self.fc.weight)')


@trained(fc_norm=True)
def states_normed_in_a_loop_in_training(s: Source) -> None:
    comprehension = s.walk(FORWARD, ast.ListComp)[0]
    generator = comprehension.generators[0]
    s.put(
        comprehension,
        f"list(map(lambda pair: (lambda {', '.join(_names(generator.target))}: "
        f"{s.of(comprehension.elt)})(*pair), {s.of(generator.iter)}))",
    )


def _names(target: ast.expr) -> list[str]:
    return [n.id for n in ast.walk(target) if isinstance(n, ast.Name)]
