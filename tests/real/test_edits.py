"""Each edit changes what the server computes; the clause that owns the change has to say so."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from tests.real import configs
from tests.real.releases import TRAINER, check, flaws, renames, runs, said, server, violated

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmarks.editing import Edit, Source
    from checker.report.model import Report
    from tests.real.configs import Config
    from tests.real.releases import Copies

pytestmark = pytest.mark.network

DRAFT = "sglang/srt/models/llama_eagle3.py"
LLAMA = "sglang/srt/models/llama.py"
OLD, NEW = "0.5.9", "0.5.23"
LAYER, LAYER_INIT = "LlamaDecoderLayer.forward", "LlamaDecoderLayer.__init__"
MODEL, MODEL_INIT = "LlamaModel.forward", "LlamaModel.__init__"
HEAD_INIT, LOAD = "LlamaForCausalLMEagle3.__init__", "LlamaForCausalLMEagle3.load_weights"


@dataclass(frozen=True)
class Case:
    """An edit, the clauses of which one at least has to be violated, and where it applies."""

    edit: Edit
    clauses: tuple[str, ...]
    file: str = DRAFT
    versions: tuple[str, ...] = (OLD, NEW)
    train: Config = field(default_factory=configs.train)
    serve: Config = field(default_factory=configs.serve)


CASES: dict[str, Case] = {}


def case(*clauses: str, **options: object) -> Callable[[Edit], Edit]:
    def register(edit: Edit) -> Edit:
        CASES[edit.__name__] = Case(edit, clauses, **options)  # type: ignore[arg-type]
        return edit

    return register


# -- the first layer's input -----


@case("concat-order")
def concat_swapped(s: Source) -> None:
    first, second = s.call(LAYER, "torch.cat").args[0].elts  # type: ignore[attr-defined]
    s.swap(first, second)


@case("embeds-norm", "concat-order", "embedding-source")
def concat_of_hidden_with_itself(s: Source) -> None:
    first, second = s.call(LAYER, "torch.cat").args[0].elts  # type: ignore[attr-defined]
    s.put(first, s.of(second))


@case("concat-order", "attention-projections")
def concat_along_tokens(s: Source) -> None:
    s.put(s.keyword(s.call(LAYER, "torch.cat"), "dim").value, "0")


@case("hidden-norm")
def hidden_norm_dropped(s: Source) -> None:
    call = s.call(LAYER, "self.hidden_norm")
    s.put(call, s.of(call.args[0]))


@case("embeds-norm")
def embeds_norm_dropped(s: Source) -> None:
    call = s.call(LAYER, "self.input_layernorm")
    s.put(call, s.of(call.args[0]))


@case("hidden-norm")
def hidden_norm_twice(s: Source) -> None:
    call = s.call(LAYER, "self.hidden_norm")
    s.put(call.args[0], s.of(call))


@case("embeds-norm")
def embeds_normed_with_the_hidden_norm(s: Source) -> None:
    s.put(s.call(LAYER, "self.input_layernorm").func, "self.hidden_norm")


@case("hidden-norm")
def norms_exchanged(s: Source) -> None:
    s.swap(s.call(LAYER, "self.input_layernorm").func, s.call(LAYER, "self.hidden_norm").func)


@case("hidden-norm", "weights-loaded")
def one_norm_for_both_halves(s: Source) -> None:
    s.put(s.assign(LAYER_INIT, "self.hidden_norm").value, "self.input_layernorm")


@case("embedding-source")
def embeddings_scaled(s: Source) -> None:
    call = s.calls(MODEL, "self.embed_tokens")[-1]
    s.put(call, s.of(call) + " * 3.0")


# -- the residual -----


@case("residual-source")
def residual_after_the_norm(s: Source) -> None:
    s.put(s.assign(LAYER, "residual").value, s.of(s.call(LAYER, "self.hidden_norm")))


@case("residual-source")
def residual_is_the_embedding(s: Source) -> None:
    s.put(s.assign(LAYER, "residual").value, "embeds")


@case("residual-source")
def residual_doubled(s: Source) -> None:
    s.put(s.assign(LAYER, "residual").value, "hidden_states + hidden_states")


@case("mlp", "residual-source")
def attention_left_out_of_the_stream(s: Source) -> None:
    s.put(
        s.assign(LAYER, "hidden_states, residual", -1),
        "hidden_states = self.post_attention_layernorm(hidden_states)",
    )


@case("mlp", "layers")
def residual_left_out_after_the_layer(s: Source) -> None:
    returned = s.walk(LAYER, ast.Return)[-1]
    s.put(returned.value.elts[1], "torch.zeros_like(residual)")  # type: ignore[union-attr]


@case("mlp")
def stream_not_normed_before_the_mlp(s: Source) -> None:
    s.put(s.call(LAYER, "self.mlp").args[0], "residual")


# -- attention -----


@case("attention-projections")
def projections_of_one_width(s: Source) -> None:
    s.put(s.call(LAYER_INIT, "QKVParallelLinear").args[0], "self.hidden_size")


@case("attention-projections")
def projections_with_bias(s: Source) -> None:
    s.put(s.keyword(s.call(LAYER_INIT, "QKVParallelLinear"), "bias").value, "True")


@case("attention-projections")
def query_heads_halved(s: Source) -> None:
    total = s.call(LAYER_INIT, "QKVParallelLinear").args[2]
    s.put(total, s.of(total) + " // 2")


@case("attention-projections", file=LLAMA)
def keys_taken_for_values(s: Source) -> None:
    target = s.assign("LlamaAttention.forward_prepare_native", "q, k, v").targets[0]
    s.put(target, "q, v, k")


@case("attention-projections", file=LLAMA)
def output_projection_with_bias(s: Source) -> None:
    s.put(s.keyword(s.call("LlamaAttention.__init__", "RowParallelLinear"), "bias").value, "True")


@case("attention-rope", file=LLAMA)
def softmax_scale_left_out(s: Source) -> None:
    s.put(s.assign("LlamaAttention.__init__", "self.scaling").value, "1.0")


@case("attention-rope", file=LLAMA)
def rotary_base_constant(s: Source) -> None:
    call = s.call("LlamaAttention.__init__", "get_rope")
    s.put(s.keyword(call, "base").value, "10000")


@case("attention-rope", file=LLAMA)
def rotary_style_interleaved(s: Source) -> None:
    call = s.call("LlamaAttention.__init__", "get_rope")
    s.put(s.keyword(call, "is_neox_style").value, "False")


@case("attention-rope", file=LLAMA)
def half_of_the_head_rotated(s: Source) -> None:
    call = s.call("LlamaAttention.__init__", "get_rope")
    s.put(s.keyword(call, "rotary_dim").value, "self.rotary_dim // 2")


@case("attention-rope", file=LLAMA)
def keys_not_rotated(s: Source) -> None:
    """The kernel rotates in place, so a copy has to be rotated for the key to stay."""
    assign = s.assign("LlamaAttention.forward_prepare_native", "q, k")
    s.put(assign.targets[0], "q, _")
    s.put(assign.value.args[2], "k.clone()")  # type: ignore[attr-defined]


@case("attention-rope", "positions", file=LLAMA)
def positions_doubled(s: Source) -> None:
    call = s.call("LlamaAttention.forward_prepare_native", "self.rotary_emb")
    s.put(call.args[0], "positions * 2")


@case("attention-qk-norm", file=LLAMA)
def queries_normed(s: Source) -> None:
    assign = s.assign("LlamaAttention.forward_prepare_native", "q, k")
    s.before(
        assign,
        """
        q = q.view(-1, self.num_heads, self.head_dim)
        q = q * torch.rsqrt(q.pow(2).mean(-1, keepdim=True) + 1e-5)
        q = q.view(-1, self.q_size)
        """,
    )


@case("attention-mask", file=LLAMA)
def window_set(s: Source) -> None:
    call = s.call("LlamaAttention.__init__", "RadixAttention")
    s.put(call.args[-1], s.of(call.args[-1]) + ", sliding_window_size=512")


@case("attention-projections", "attention-mask", file=LLAMA)
def one_key_head_for_all(s: Source) -> None:
    call = s.call("LlamaAttention.__init__", "RadixAttention")
    s.put(s.keyword(call, "num_kv_heads").value, "1")


# -- MLP -----


@case("mlp")
def mlp_left_out(s: Source) -> None:
    call = s.call(LAYER, "self.mlp")
    s.put(call, s.of(call.args[0]))


@case("mlp")
def mlp_added_twice(s: Source) -> None:
    call = s.call(LAYER, "self.mlp")
    s.put(call, f"2 * {s.of(call)}")


@case("mlp", file=LLAMA)
def gelu_for_silu(s: Source) -> None:
    assign = s.assign("LlamaMLP.__init__", "self.act_fn")
    s.before(assign, "from sglang.srt.layers.activation import GeluAndMul")
    s.put(assign.value, "GeluAndMul()")


@case("mlp", "weights-loaded")
def gate_and_up_exchanged_at_load(s: Source) -> None:
    ids = [e.elts for e in s.walk(LOAD, ast.Tuple) if len(e.elts) == 3]
    gate, up = (i for i in ids if "gate_up" in ast.unparse(i[0]) and isinstance(i[2], ast.Constant))
    s.swap(gate[2], up[2])


# -- norms -----


@case("norm-kind")
def hidden_norm_with_a_constant_epsilon(s: Source) -> None:
    call = s.assign(LAYER_INIT, "self.hidden_norm").value
    s.put(s.keyword(call, "eps").value, "1e-3")  # type: ignore[arg-type]


@case("norm-kind")
def final_norm_with_a_constant_epsilon(s: Source) -> None:
    call = s.assign(MODEL_INIT, "self.norm").value
    s.put(s.keyword(call, "eps").value, "1e-3")  # type: ignore[arg-type]


@case("norm-kind")
def norm_multiplies_by_one_plus_weight(s: Source) -> None:
    assign = s.assign(LAYER_INIT, "self.hidden_norm")
    s.before(assign, "from sglang.srt.layers.layernorm import GemmaRMSNorm")
    s.put(assign.value.func, "GemmaRMSNorm")  # type: ignore[attr-defined]


# -- fc -----


@case("fc-shape", "aux-count", versions=(OLD,))
def fc_for_four_states(s: Source) -> None:
    product = s.call(MODEL_INIT, "torch.nn.Linear").args[0]
    s.put(product.right, "4")  # type: ignore[attr-defined]


@case("fc-shape", "aux-count", versions=(NEW,))
def fc_for_one_state_more(s: Source) -> None:
    for call in s.calls(MODEL_INIT, "len"):
        s.put(call, s.of(call) + " + 1")


@case("fc-shape")
def fc_with_bias(s: Source) -> None:
    s.put(s.keyword(s.call(MODEL_INIT, "torch.nn.Linear"), "bias").value, "True")


@case("fc-condition", "hidden-norm")
def fc_guard_inverted(s: Source) -> None:
    test = next(c for c in s.walk(MODEL, ast.Compare) if "shape[-1]" in ast.unparse(c))
    s.put(test, f"not ({s.of(test)})")


@case("fc-condition")
def fc_always(s: Source) -> None:
    test = next(c for c in s.walk(MODEL, ast.Compare) if "shape[-1]" in ast.unparse(c))
    s.put(test, "True")


@case("fc-condition")
def fc_never_and_the_first_state_instead(s: Source) -> None:
    call = s.call(MODEL, "self.fc")
    s.put(call, "hidden_states[..., : embeds.shape[-1]]")


@case("fc-condition")
def fc_twice(s: Source) -> None:
    call = s.call(MODEL, "self.fc")
    s.put(call, f"{s.of(call)} + {s.of(call)}")


@case("fc-input-norm", "aux-boundaries")
def states_reversed_before_fc(s: Source) -> None:
    call = s.call(MODEL, "self.fc")
    s.put(call.args[0], "torch.cat(hidden_states.split(embeds.shape[-1], -1)[::-1], -1)")


FC_NORM = {"train": configs.train(fc_norm=True), "serve": configs.serve(fc_norm=True)}
BEFORE_FC = {
    "train": configs.train(norm_before_fc=True),
    "serve": configs.serve(norm_before_fc=True),
}


@case("fc-input-norm", versions=(NEW,), **FC_NORM)
def one_norm_for_all_states(s: Source) -> None:
    element = s.walk(MODEL, ast.ListComp)[0].elt
    s.put(element.func, "self.fc_norm[0]")  # type: ignore[attr-defined]


@case("fc-input-norm", versions=(NEW,), **FC_NORM)
def norms_of_states_reversed(s: Source) -> None:
    call = s.call(MODEL, "zip")
    s.put(call.args[0], "reversed(self.fc_norm)")


@case("fc-input-norm", versions=(NEW,), **FC_NORM)
def normed_states_reversed(s: Source) -> None:
    comprehension = s.walk(MODEL, ast.ListComp)[0]
    s.put(comprehension, s.of(comprehension) + "[::-1]")


@case("fc-input-norm", versions=(NEW,), **FC_NORM)
def last_state_not_normed(s: Source) -> None:
    comprehension = s.walk(MODEL, ast.ListComp)[0]
    s.put(comprehension, s.of(comprehension) + "[:-1] + [chunks[-1]]")


@case("fc-input-norm", versions=(NEW,), **BEFORE_FC)
def norm_over_all_states_left_out(s: Source) -> None:
    call = s.call(MODEL, "self.input_norm")
    s.put(call, s.of(call.args[0]))


# -- outputs -----


@case("feedback")
def normed_state_fed_back(s: Source) -> None:
    returned = s.walk(MODEL, ast.Return)[-1].value
    s.put(returned.elts[1], f"[{s.of(returned.elts[0])}]")  # type: ignore[union-attr]


@case("feedback")
def state_before_the_layer_fed_back(s: Source) -> None:
    s.before(s.assign(MODEL, "residual"), "before = hidden_states.clone()")
    returned = s.walk(MODEL, ast.Return)[-1].value
    s.put(returned.elts[1], "[before]")  # type: ignore[union-attr]


@case("final-norm")
def head_on_the_state_before_the_norm(s: Source) -> None:
    returned = s.walk(MODEL, ast.Return)[-1].value
    s.put(returned.elts[0], "hidden_states_to_aux")  # type: ignore[union-attr]


@case("final-norm")
def final_norm_left_out(s: Source) -> None:
    call = s.call(MODEL, "self.norm")
    s.put(call, "(hidden_states + residual, hidden_states + residual)")


@case("feedback", versions=(NEW,))
def switch_of_the_fed_back_state_inverted(s: Source) -> None:
    choice = s.walk(MODEL, ast.IfExp)[-1]
    s.put(choice.test, f"not {s.of(choice.test)}")


@case("layers", "mlp", versions=(NEW,))
def layers_run_twice(s: Source) -> None:
    loop = s.walk(MODEL, ast.For)[-1]
    s.put(loop.iter, "[*self.layers, *self.layers]")


# -- loading and the head -----


@case("weights-loaded")
def queries_under_another_name(s: Source) -> None:
    name = next(c for c in s.walk(LOAD, ast.Constant) if c.value == ".q_proj")
    s.put(name, '".query_proj"')


@case("weights-loaded", "attention-projections")
def keys_loaded_as_values(s: Source) -> None:
    shards = [e for e in s.walk(LOAD, ast.Tuple) if len(e.elts) == 3]
    key, value = shards[1].elts[2], shards[2].elts[2]
    s.swap(key, value)


@case("weights-loaded")
def norms_skipped_at_load(s: Source) -> None:
    test = next(c for c in s.walk(LOAD, ast.Compare) if ast.unparse(c.left) == "'t2d'")
    s.put(test, f"{s.of(test)} or 'norm' in name")


@case("weights-loaded", "fc-condition")
def fc_scaled_at_load(s: Source) -> None:
    loop = s.walk(LOAD, ast.For)[0]
    s.before(loop.body[0], "loaded_weight = loaded_weight * 0.5 if 'fc' in name else loaded_weight")


@case("lm-head-source")
def head_tied(s: Source) -> None:
    test = next(i for i in s.walk(HEAD_INIT, ast.If) if "tie_word" in ast.unparse(i.test))
    s.put(test.test, "True")


@case("lm-head-source")
def head_taken_from_the_target(s: Source) -> None:
    flag = s.assign(HEAD_INIT, "self.load_lm_head_from_target", 0)
    s.put(flag.value, "True")


@case("vocabulary")
def map_taken_for_target_ids(s: Source) -> None:
    total = next(n for n in s.walk(LOAD, ast.BinOp) if "arange" in ast.unparse(n.right))
    s.put(total, s.of(total.left))


@case("vocabulary")
def map_from_one(s: Source) -> None:
    total = next(n for n in s.walk(LOAD, ast.BinOp) if "arange" in ast.unparse(n.right))
    s.put(total, f"{s.of(total)} + 1")


EVERY_DAY = frozenset(
    [
        "map_taken_for_target_ids",
        "concat_swapped",
        "hidden_norm_dropped",
        "embeds_norm_dropped",
        "residual_is_the_embedding",
        "attention_left_out_of_the_stream",
        "projections_with_bias",
        "rotary_base_constant",
        "window_set",
        "gelu_for_silu",
        "fc_always",
        "normed_state_fed_back",
        "head_on_the_state_before_the_norm",
        "queries_under_another_name",
        "one_key_head_for_all",
    ]
)
KNOWN: dict[str, str] = {}


def run(copies: Copies, place: Path, name: str, version: str) -> Report:
    """The report on a release with one of the edits."""
    case = CASES[name]
    edited = copies.edited(server(version), place, {case.file: case.edit})
    return check(copies.plain(TRAINER), edited, case.train, case.serve, renames=renames(version))


@pytest.mark.parametrize(("name", "version"), runs(CASES, EVERY_DAY, KNOWN))
def test_a_changed_server_is_found_out(
    copies: Copies, tmp_path: Path, name: str, version: str
) -> None:
    report = run(copies, tmp_path, name, version)
    assert report.exit_status == 1, said(report)
    assert (violated(report) - flaws(version)) & set(CASES[name].clauses), said(report)
