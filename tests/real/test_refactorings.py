"""Each refactoring leaves what the server computes as it is; nothing may be said against it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from tests.real import configs
from tests.real.releases import TRAINER, check, renames, runs, said, server, unproven

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from checker.report.model import Report
    from tests.real.configs import Config
    from tests.real.editing import Edit, Source
    from tests.real.releases import Copies

pytestmark = pytest.mark.network

DRAFT = "sglang/srt/models/llama_eagle3.py"
LLAMA = "sglang/srt/models/llama.py"
OLD, NEW = "0.5.9", "0.5.23"
LAYER, LAYER_INIT = "LlamaDecoderLayer.forward", "LlamaDecoderLayer.__init__"
MODEL, MODEL_INIT = "LlamaModel.forward", "LlamaModel.__init__"
ATTENTION = "LlamaAttention.forward_prepare_native"
HEAD, LOAD = "LlamaForCausalLMEagle3", "LlamaForCausalLMEagle3.load_weights"


@dataclass(frozen=True)
class Case:
    edit: Edit
    file: str = DRAFT
    versions: tuple[str, ...] = (OLD, NEW)
    train: Config = field(default_factory=configs.train)
    serve: Config = field(default_factory=configs.serve)


CASES: dict[str, Case] = {}


def case(**options: object) -> Callable[[Edit], Edit]:
    def register(edit: Edit) -> Edit:
        CASES[edit.__name__] = Case(edit, **options)  # type: ignore[arg-type]
        return edit

    return register


def joined(s: Source, text: str) -> None:
    """Another spelling of the join of the two halves; `{a}` and `{b}` stand for them."""
    call = s.call(LAYER, "torch.cat")
    first, second = call.args[0].elts  # type: ignore[attr-defined]
    s.put(call, text.format(a=s.of(first), b=s.of(second)))


def fused(s: Source, text: str) -> None:
    """Another spelling of the call of fc; `{x}` stands for its argument."""
    call = s.call(MODEL, "self.fc")
    s.put(call, text.format(x=s.of(call.args[0])))


def hidden_normed(s: Source, text: str) -> None:
    """Another spelling of the norm of the hidden half; `{x}` stands for its argument."""
    call = s.call(LAYER, "self.hidden_norm")
    s.put(call, text.format(x=s.of(call.args[0])))


def after_attention(s: Source, text: str) -> None:
    """Another spelling of the add and norm after attention."""
    s.put(s.assign(LAYER, "hidden_states, residual", -1), text)


def renamed(s: Source, place: str, old: str, new: str) -> None:
    """Another name for a local variable or an argument that callers give by position."""
    for name in s.walk(place, ast.Name):
        if name.id == old:
            s.put(name, new)
    for arg in s.walk(place, ast.arg):
        if arg.arg == old:
            s.put(arg, f"{new}: {s.of(arg.annotation)}" if arg.annotation else new)


# -- names, arguments and helpers -----


@case()
def locals_renamed(s: Source) -> None:
    renamed(s, LAYER, "hidden_states", "stream")
    renamed(s, LAYER, "residual", "carried")
    renamed(s, MODEL, "embeds", "token_vectors")


@case()
def attribute_renamed(s: Source) -> None:
    for node in s.walk("LlamaModel", ast.Attribute):
        if node.attr == "hidden_size_in":
            s.put(node, "self.width_of_a_state")


@case()
def norm_under_another_attribute(s: Source) -> None:
    """The parameter keeps its name: the module is only reached by a second name."""
    s.after(s.assign(LAYER_INIT, "self.hidden_norm"), "self._second = [self.hidden_norm]")
    hidden_normed(s, "self._second[0]({x})")


@case()
def join_in_a_method(s: Source) -> None:
    s.before(
        s.at(LAYER), "def _join(self, left, right):\n    return torch.cat((left, right), -1)\n\n"
    )
    joined(s, "self._join({a}, {b})")


@case()
def join_in_a_function(s: Source) -> None:
    s.prepend("def join(*parts, axis=-1):\n    return torch.cat(list(parts), dim=axis)")
    joined(s, "join({a}, {b})")


@case()
def join_in_a_static_method(s: Source) -> None:
    text = "@staticmethod\ndef _join(parts):\n    return torch.cat(tensors=parts, dim=-1)\n\n"
    s.before(s.at(LAYER), text)
    joined(s, "type(self)._join([{a}, {b}])")


@case()
def join_in_a_lambda(s: Source) -> None:
    joined(s, "(lambda *parts: torch.cat(parts, dim=-1))({a}, {b})")


@case()
def join_by_a_partial(s: Source) -> None:
    s.prepend("from functools import partial")
    joined(s, "partial(torch.cat, dim=-1)([{a}, {b}])")


@case()
def join_in_a_submodule(s: Source) -> None:
    s.prepend(
        """
        class Join(nn.Module):
            def __init__(self, axis):
                super().__init__()
                self.axis = axis

            def forward(self, *parts):
                return torch.cat(parts, dim=self.axis)
        """
    )
    s.after(s.assign(LAYER_INIT, "self.hidden_norm"), "self.join = Join(-1)")
    joined(s, "self.join({a}, {b})")


@case()
def join_in_a_closure(s: Source) -> None:
    s.before(
        s.assign(LAYER, "residual"),
        "def join(left):\n    return torch.cat([left, hidden_states], dim=-1)\n",
    )
    joined(s, "join({a})")


@case()
def arguments_by_keyword(s: Source) -> None:
    after_attention(
        s,
        "hidden_states, residual = self.post_attention_layernorm(\n"
        "    x=hidden_states, residual=residual\n)",
    )
    call = s.call(LAYER, "self.mlp")
    s.put(call, f"self.mlp(x={s.of(call.args[0])})")


@case()
def arguments_unpacked(s: Source) -> None:
    after_attention(
        s,
        """
        both = (hidden_states, residual)
        hidden_states, residual = self.post_attention_layernorm(*both)
        """,
    )
    call = s.call(LAYER, "self.self_attn")
    s.put(
        call,
        "self.self_attn(**dict(positions=positions, hidden_states=hidden_states, "
        "forward_batch=forward_batch))",
    )


@case()
def arguments_of_the_norm_exchanged(s: Source) -> None:
    """A sum does not mind."""
    after_attention(
        s, "hidden_states, residual = self.post_attention_layernorm(residual, hidden_states)"
    )


@case()
def module_reached_by_a_computed_name(s: Source) -> None:
    hidden_normed(s, "getattr(self, f\"{{'hidden'}}_norm\")({x})")


@case()
def module_set_by_a_computed_name(s: Source) -> None:
    assign = s.assign(LAYER_INIT, "self.hidden_norm")
    s.put(assign, f'setattr(self, "_".join(["hidden", "norm"]), {s.of(assign.value)})')


@case()
def module_registered_by_add_module(s: Source) -> None:
    assign = s.assign(LAYER_INIT, "self.hidden_norm")
    s.put(assign, f'self.add_module("hidden_norm", {s.of(assign.value)})')


@case()
def norm_behind_a_property(s: Source) -> None:
    s.before(s.at(LAYER), "@property\ndef _norm_of_hidden(self):\n    return self.hidden_norm\n\n")
    hidden_normed(s, "self._norm_of_hidden({x})")


@case()
def norm_by_dispatch(s: Source) -> None:
    hidden_normed(
        s, '{{"embeds": self.input_layernorm, "hidden": self.hidden_norm}}["hidden"]({x})'
    )


@case()
def norm_in_a_sequential(s: Source) -> None:
    hidden_normed(s, "nn.Sequential(self.hidden_norm, nn.Identity())({x})")


@case()
def norm_by_its_forward(s: Source) -> None:
    hidden_normed(s, "self.hidden_norm.forward({x})")


@case()
def constants_at_the_top(s: Source) -> None:
    s.prepend("WIDTH_FACTOR = 2\nAXIS = -1")
    product = s.call(LAYER_INIT, "QKVParallelLinear").args[0]
    for two in s.walk(LAYER_INIT, ast.Constant):
        if two.value == 2:
            s.put(two, "WIDTH_FACTOR")
    assert product
    joined(s, "torch.cat([{a}, {b}], dim=AXIS)")


# -- the join -----


@case()
def join_by_hstack(s: Source) -> None:
    joined(s, "torch.hstack(({a}, {b}))")


@case()
def join_by_concatenate(s: Source) -> None:
    joined(s, "torch.concatenate([{a}, {b}], dim=1)")


@case()
def join_by_concat_along_axis_one(s: Source) -> None:
    joined(s, "torch.concat([{a}, {b}], dim=1)")


@case()
def join_by_column_stack(s: Source) -> None:
    joined(s, "torch.column_stack([{a}, {b}])")


@case()
def join_by_stack_and_flatten(s: Source) -> None:
    joined(s, "torch.stack([{a}, {b}], dim=1).flatten(1)")


@case()
def join_with_a_batch_dimension(s: Source) -> None:
    joined(s, "torch.cat([{a}.unsqueeze(0), {b}.unsqueeze(0)], dim=-1).squeeze(0)")


@case()
def join_with_none_indexing(s: Source) -> None:
    joined(s, "torch.cat([{a}[None], {b}[None]], dim=2)[0]")


@case()
def join_taken_apart_and_put_together(s: Source) -> None:
    joined(s, "torch.cat(torch.cat([{a}, {b}], dim=-1).chunk(2, dim=-1), dim=-1)")


@case()
def join_transposed(s: Source) -> None:
    joined(s, "torch.cat([{a}.t(), {b}.T], dim=0).transpose(0, 1).contiguous()")


@case()
def join_by_vstack_of_transposed(s: Source) -> None:
    joined(s, "torch.vstack([{a}.t(), {b}.t()]).t()")


BUFFERS = {
    "empty": """
        width = embeds.shape[-1]
        buffer = torch.empty(
            (embeds.shape[0], 2 * width), dtype=embeds.dtype, device=embeds.device
        )
        buffer[:, :width] = {a}
        buffer[:, width:] = {b}
        """,
    "new_empty": """
        tokens, width = embeds.shape
        buffer = embeds.new_empty(tokens, width + {b}.shape[1])
        buffer[..., width:] = {b}
        buffer[..., :width] = {a}
        """,
    "zeros_and_copy": """
        width = embeds.size(-1)
        buffer = torch.zeros(embeds.size(0), 2 * width, dtype=embeds.dtype, device=embeds.device)
        buffer.narrow(-1, 0, width).copy_({a})
        buffer.narrow(1, width, width).copy_({b})
        """,
    "halves": """
        buffer = torch.empty_like({a}.repeat(1, 2))
        for half, value in zip(buffer.chunk(2, dim=-1), ({a}, {b})):
            half.copy_(value)
        """,
}


def _buffer(name: str, text: str) -> None:
    def edit(s: Source) -> None:
        call = s.call(LAYER, "torch.cat")
        first, second = (s.of(e) for e in call.args[0].elts)  # type: ignore[attr-defined]
        statement = next(a for a in s.walk(LAYER, ast.Assign) if a.value is call)
        s.before(statement, text.format(a=first, b=second))
        s.put(call, "buffer")

    edit.__name__ = f"join_in_a_buffer_{name}"
    case()(edit)


for _name, _text in BUFFERS.items():
    _buffer(_name, _text)


@case()
def join_into_out(s: Source) -> None:
    call = s.call(LAYER, "torch.cat")
    statement = next(a for a in s.walk(LAYER, ast.Assign) if a.value is call)
    s.before(statement, "buffer = embeds.new_empty(embeds.shape[0], 2 * embeds.shape[1])")
    s.put(call.args[-1] if len(call.args) > 1 else call.keywords[-1], "dim=-1, out=buffer")


# -- fc -----


@case()
def fc_by_the_functional(s: Source) -> None:
    fused(s, "nn.functional.linear({x}, self.fc.weight, self.fc.bias)")


@case()
def fc_by_at(s: Source) -> None:
    fused(s, "{x} @ self.fc.weight.t()")


@case()
def fc_by_matmul(s: Source) -> None:
    fused(s, "torch.matmul({x}, self.fc.weight.transpose(0, 1))")


@case()
def fc_by_mm_of_the_other_side(s: Source) -> None:
    fused(s, "torch.mm(self.fc.weight, {x}.T).T")


@case()
def fc_by_einsum(s: Source) -> None:
    fused(s, 'torch.einsum("ti,oi->to", {x}, self.fc.weight)')


@case()
def fc_as_a_sum_over_states(s: Source) -> None:
    fused(
        s,
        "sum(nn.functional.linear(part, weight) for part, weight in "
        "zip({x}.chunk(3, dim=-1), self.fc.weight.chunk(3, dim=1)))",
    )


@case()
def fc_with_a_batch_dimension(s: Source) -> None:
    fused(s, "self.fc({x}[None])[0]")


@case()
def fc_guard_the_other_way_round(s: Source) -> None:
    guard = next(i for i in s.walk(MODEL, ast.If) if "shape[-1]" in ast.unparse(i.test))
    s.before(guard, "already = hidden_states.size(-1) == embeds.size(-1)")
    s.put(guard.test, "not already")


@case()
def fc_guard_with_a_walrus(s: Source) -> None:
    guard = next(i for i in s.walk(MODEL, ast.If) if "shape[-1]" in ast.unparse(i.test))
    s.put(guard.test, "(width := hidden_states.shape[-1]) > 0 and width != embeds.shape[1]")


@case(versions=(OLD,))
def fc_by_a_conditional_expression(s: Source) -> None:
    guard = next(i for i in s.walk(MODEL, ast.If) if "shape[-1]" in ast.unparse(i.test))
    s.put(
        guard,
        "hidden_states = (\n    hidden_states\n    if hidden_states.shape[-1] == embeds.shape[-1]\n"
        "    else self.fc(hidden_states)\n)",
    )


@case(versions=(OLD,))
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


# -- norms -----


@case()
def norm_by_hand(s: Source) -> None:
    hidden_normed(
        s,
        "({x} * torch.rsqrt({x}.pow(2).mean(-1, keepdim=True) + self.hidden_norm.variance_epsilon)"
        " * self.hidden_norm.weight)",
    )


@case()
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


@case()
def norm_by_hand_with_a_mean_of_products(s: Source) -> None:
    hidden_normed(
        s,
        "(self.hidden_norm.weight * ({x} * (({x} * {x}).sum(-1, keepdim=True) / {x}.shape[-1]"
        " + self.hidden_norm.variance_epsilon) ** -0.5))",
    )


@case()
def norm_by_the_functional(s: Source) -> None:
    hidden_normed(
        s,
        "nn.functional.rms_norm({x}, ({x}.shape[-1],), self.hidden_norm.weight,"
        " self.hidden_norm.variance_epsilon)",
    )


@case()
def norms_in_a_loop_over_one(s: Source) -> None:
    call = s.call(LAYER, "self.hidden_norm")
    statement = next(a for a in s.walk(LAYER, ast.Assign) if a.value is call)
    s.put(statement, "for norm in [self.hidden_norm]:\n    hidden_states = norm(hidden_states)")


@case()
def norms_in_a_comprehension(s: Source) -> None:
    joined(s, "torch.cat([part for part in ({a}, {b})], dim=-1)")


@case()
def add_and_norm_apart(s: Source) -> None:
    after_attention(
        s,
        """
        residual = hidden_states + residual
        hidden_states = self.post_attention_layernorm(residual)
        """,
    )


@case()
def add_by_the_method_in_place(s: Source) -> None:
    after_attention(
        s,
        """
        residual = torch.add(residual.clone(), hidden_states, alpha=1)
        hidden_states = self.post_attention_layernorm(residual)
        """,
    )


@case()
def final_add_and_norm_apart(s: Source) -> None:
    call = s.call(MODEL, "self.norm")
    s.put(call, "(lambda total: (self.norm(total), total))(residual.add(hidden_states))")


# -- attention and MLP -----


@case(file=LLAMA)
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


@case(file=LLAMA)
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


@case(file=LLAMA)
def projections_split_in_two_goes(s: Source) -> None:
    assign = s.assign(ATTENTION, "q, k, v")
    s.put(
        assign,
        """
        q, kv = torch.split(qkv, [self.q_size, 2 * self.kv_size], dim=1)
        k, v = kv.chunk(2, -1)
        """,
    )


@case(file=LLAMA)
def projections_apart(s: Source) -> None:
    assign = s.assign(ATTENTION, "q, k, v")
    s.put(
        assign,
        """
        rows = self.qkv_proj.weight.split([self.q_size, self.kv_size, self.kv_size], dim=0)
        q, k, v = [torch.nn.functional.linear(hidden_states, part) for part in rows]
        """,
    )


@case(file=LLAMA)
def positions_counted_from_seven(s: Source) -> None:
    call = s.call(ATTENTION, "self.rotary_emb")
    s.put(call.args[0], "positions + 7")


@case(file=LLAMA)
def scale_by_a_root(s: Source) -> None:
    s.put(s.assign("LlamaAttention.__init__", "self.scaling").value, "1.0 / (self.head_dim ** 0.5)")


@case(file=LLAMA)
def scale_by_math(s: Source) -> None:
    scaling = s.assign("LlamaAttention.__init__", "self.scaling")
    s.before(scaling, "import math")
    s.put(scaling.value, "1 / math.sqrt(self.head_dim)")


@case(file=LLAMA)
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


@case(file=LLAMA)
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


# -- statements and classes -----


@case()
def branches_exchanged(s: Source) -> None:
    guard = next(i for i in s.walk(MODEL, ast.If) if "input_embeds" in ast.unparse(i.test))
    body = "\n".join(s.of(b) for b in guard.orelse)
    assert len(guard.orelse) == 1
    s.put(guard.test, "not (input_embeds is not None)")
    assert body


@case()
def statements_in_a_try(s: Source) -> None:
    call = s.call(LAYER, "self.mlp")
    statement = next(a for a in s.walk(LAYER, ast.Assign) if a.value is call)
    s.put(
        statement,
        f"try:\n    {s.of(statement)}\nexcept ImportError:\n    raise\nfinally:\n    done = True",
    )


@case()
def statements_in_a_context(s: Source) -> None:
    s.prepend(
        """
        from contextlib import contextmanager


        @contextmanager
        def scope(name):
            yield name
        """
    )
    call = s.call(LAYER, "self.mlp")
    statement = next(a for a in s.walk(LAYER, ast.Assign) if a.value is call)
    s.put(statement, f'with scope("mlp") as _, torch.no_grad():\n    {s.of(statement)}')


@case()
def forward_decorated(s: Source) -> None:
    s.prepend(
        """
        import functools


        def traced(function):
            @functools.wraps(function)
            def wrapper(self, *args, **kwargs):
                return function(self, *args, **kwargs)

            return wrapper
        """
    )
    s.before(s.at(LAYER), "@traced\n@torch.no_grad()")


@case()
def forward_compiled(s: Source) -> None:
    s.before(s.at(LAYER), "@torch.compile")


@case()
def result_in_a_dataclass(s: Source) -> None:
    s.prepend(
        """
        from dataclasses import dataclass


        @dataclass
        class Streams:
            hidden: torch.Tensor
            residual: torch.Tensor

            def __iter__(self):
                yield self.hidden
                yield self.residual
        """
    )
    returned = s.walk(LAYER, ast.Return)[-1]
    first, second = returned.value.elts  # type: ignore[union-attr]
    s.put(returned.value, f"Streams(hidden={s.of(first)}, residual={s.of(second)})")  # type: ignore[arg-type]


@case()
def result_in_a_named_tuple(s: Source) -> None:
    s.prepend(
        """
        from typing import NamedTuple


        class Streams(NamedTuple):
            hidden: torch.Tensor
            residual: torch.Tensor
        """
    )
    returned = s.walk(LAYER, ast.Return)[-1]
    first, second = returned.value.elts  # type: ignore[union-attr]
    s.put(returned.value, f"Streams({s.of(first)}, residual={s.of(second)})")  # type: ignore[arg-type]


@case()
def forward_from_a_mixin(s: Source) -> None:
    cls = s.at("LlamaDecoderLayer")
    assert isinstance(cls, ast.ClassDef)
    s.prepend(
        """
        class Normed:
            def normed(self, halves):
                norms = (self.input_layernorm, self.hidden_norm)
                return tuple(map(lambda pair: pair[0](pair[1]), zip(norms, halves)))
        """
    )
    s.put(cls.bases[0], f"Normed, {s.of(cls.bases[0])}")
    call = s.call(LAYER, "torch.cat")
    embeds = s.call(LAYER, "self.input_layernorm")
    hidden = s.call(LAYER, "self.hidden_norm")
    s.put(embeds, s.of(embeds.args[0]))
    s.put(hidden, s.of(hidden.args[0]))
    s.put(call.args[0], "self.normed((embeds, hidden_states))")


@case()
def layer_called_by_its_class(s: Source) -> None:
    name = "self.midlayer" if s.calls(MODEL, "self.midlayer") else "layer"
    call = s.call(MODEL, name)
    s.put(call.func, f"{name}.forward")


@case(versions=(NEW,))
def layers_by_a_while_loop(s: Source) -> None:
    loop = s.walk(MODEL, ast.For)[-1]
    s.before(loop, "index = -1")
    s.put(loop.iter, "[self.layers[i] for i in range(len(self.layers))]")


@case(versions=(NEW,))
def layers_enumerated(s: Source) -> None:
    loop = s.walk(MODEL, ast.For)[-1]
    s.put(loop.target, "index, layer")
    s.put(loop.iter, "enumerate(self.layers)")


@case(versions=(NEW,))
def layers_by_iterator(s: Source) -> None:
    loop = s.walk(MODEL, ast.For)[-1]
    s.put(loop.iter, "iter(self.layers.children())")


@case(versions=(NEW,))
def layers_in_another_container(s: Source) -> None:
    call = s.call(MODEL_INIT, "nn.ModuleList", -1)
    s.put(call, "self._made(config, quant_config, prefix)")
    s.before(
        s.at(MODEL),
        """
        @classmethod
        def _made(cls, config, quant_config, prefix):
            made = nn.ModuleList()
            for index in range(config.num_hidden_layers):
                made.append(LlamaDecoderLayer(config, index, quant_config, prefix))
            return made

        """,
    )


FC_NORM = {"train": configs.train(fc_norm=True), "serve": configs.serve(fc_norm=True)}
BEFORE_FC = {
    "train": configs.train(norm_before_fc=True),
    "serve": configs.serve(norm_before_fc=True),
}


@case(versions=(NEW,), **FC_NORM)
def states_normed_in_a_loop(s: Source) -> None:
    comprehension = s.walk(MODEL, ast.ListComp)[0]
    statement = next(a for a in s.walk(MODEL, ast.Assign) if comprehension in ast.walk(a.value))
    s.before(
        statement,
        """
        normed = []
        for index, chunk in enumerate(chunks):
            normed += [self.fc_norm[index](chunk)]
        """,
    )
    s.put(comprehension, "normed")


@case(versions=(NEW,), **FC_NORM)
def states_by_unflatten(s: Source) -> None:
    call = s.call(MODEL, "hidden_states.chunk")
    s.put(call, "hidden_states.unflatten(-1, (self.num_aux_hidden_states, -1)).unbind(-2)")


@case(versions=(NEW,), **FC_NORM)
def states_by_view(s: Source) -> None:
    call = s.call(MODEL, "hidden_states.chunk")
    s.put(
        call,
        "hidden_states.view(hidden_states.shape[0], self.num_aux_hidden_states, -1).unbind(dim=1)",
    )


@case(versions=(NEW,), **FC_NORM)
def states_normed_one_behind_another(s: Source) -> None:
    comprehension = s.walk(MODEL, ast.ListComp)[0]
    s.put(comprehension, "list(map(lambda norm, chunk: norm(chunk), self.fc_norm, chunks))")


@case(versions=(NEW,), **BEFORE_FC)
def norm_over_all_states_by_hand(s: Source) -> None:
    call = s.call(MODEL, "self.input_norm")
    s.put(
        call,
        "hidden_states * torch.rsqrt(torch.mean(hidden_states ** 2, dim=-1, keepdim=True)"
        " + self.input_norm.variance_epsilon) * self.input_norm.weight",
    )


# -- loading -----


@case()
def mapping_by_comprehension(s: Source) -> None:
    assign = s.assign(LOAD, "stacked_params_mapping")
    s.put(
        assign.value,
        '[(".qkv_proj", f".{part}_proj", part) for part in "qkv"]'
        ' + [(".gate_up_proj", f".{part}_proj", at) for at, part in enumerate(("gate", "up"))]',
    )


@case()
def weights_sorted_first(s: Source) -> None:
    loop = s.walk(LOAD, ast.For)[0]
    s.put(loop.iter, "sorted(weights, key=lambda pair: pair[0])")


@case()
def weights_in_a_dict_first(s: Source) -> None:
    loop = s.walk(LOAD, ast.For)[0]
    s.put(loop.iter, "dict(weights).items()")


@case()
def weights_copied_by_hand(s: Source) -> None:
    loop = s.walk(LOAD, ast.For)[0]
    s.before(
        loop.body[0],
        """
        if name.endswith("fc.weight"):
            self.model.fc.weight.data.copy_(loaded_weight)
            continue
        """,
    )


EVERY_DAY = frozenset(
    [
        "locals_renamed",
        "join_in_a_submodule",
        "arguments_by_keyword",
        "module_reached_by_a_computed_name",
        "join_by_stack_and_flatten",
        "join_taken_apart_and_put_together",
        "join_in_a_buffer_empty",
        "fc_by_at",
        "norm_by_hand",
        "norms_in_a_loop_over_one",
        "add_and_norm_apart",
        "projections_split_by_narrow",
        "result_in_a_dataclass",
    ]
)
KNOWN: dict[str, str] = {
    "join_by_column_stack": "torch.column_stack is not described",
    "fc_by_einsum": "torch.einsum is not described",
    "join_in_a_buffer_halves": "Tensor.repeat is not known",
}


def run(copies: Copies, place: Path, name: str, version: str) -> Report:
    """The report on a release with one of the refactorings."""
    case = CASES[name]
    edited = copies.edited(server(version), place, {case.file: case.edit})
    return check(copies.plain(TRAINER), edited, case.train, case.serve, renames=renames(version))


@pytest.mark.parametrize(("name", "version"), runs(CASES, EVERY_DAY, KNOWN))
def test_a_rewritten_server_is_left_in_peace(
    copies: Copies, tmp_path: Path, name: str, version: str
) -> None:
    report = run(copies, tmp_path, name, version)
    assert (report.exit_status, unproven(report)) == (0, {}), said(report)
