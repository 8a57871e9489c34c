"""How modules are reached, named and called."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from benchmarks.rewrites.places import after_attention, hidden_normed, joined, renamed
from benchmarks.rewrites.table import LAYER, LAYER_INIT, MODEL, MODEL_INIT, rewrite

if TYPE_CHECKING:
    from benchmarks.editing import Source


@rewrite()
def locals_renamed(s: Source) -> None:
    renamed(s, LAYER, "hidden_states", "stream")
    renamed(s, LAYER, "residual", "carried")
    renamed(s, MODEL, "embeds", "token_vectors")


@rewrite()
def attribute_renamed(s: Source) -> None:
    for node in s.walk("LlamaModel", ast.Attribute):
        if node.attr == "hidden_size_in":
            s.put(node, "self.width_of_a_state")


@rewrite()
def norm_under_another_attribute(s: Source) -> None:
    """The parameter keeps its name: the module is only reached by a second name."""
    s.after(s.assign(LAYER_INIT, "self.hidden_norm"), "self._second = [self.hidden_norm]")
    hidden_normed(s, "self._second[0]({x})")


@rewrite()
def join_in_a_method(s: Source) -> None:
    s.before(
        s.at(LAYER), "def _join(self, left, right):\n    return torch.cat((left, right), -1)\n\n"
    )
    joined(s, "self._join({a}, {b})")


@rewrite()
def join_in_a_function(s: Source) -> None:
    s.prepend("def join(*parts, axis=-1):\n    return torch.cat(list(parts), dim=axis)")
    joined(s, "join({a}, {b})")


@rewrite()
def join_in_a_static_method(s: Source) -> None:
    text = "@staticmethod\ndef _join(parts):\n    return torch.cat(tensors=parts, dim=-1)\n\n"
    s.before(s.at(LAYER), text)
    joined(s, "type(self)._join([{a}, {b}])")


@rewrite()
def join_in_a_lambda(s: Source) -> None:
    joined(s, "(lambda *parts: torch.cat(parts, dim=-1))({a}, {b})")


@rewrite()
def join_by_a_partial(s: Source) -> None:
    s.prepend("from functools import partial")
    joined(s, "partial(torch.cat, dim=-1)([{a}, {b}])")


@rewrite()
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


@rewrite()
def join_in_a_closure(s: Source) -> None:
    s.before(
        s.assign(LAYER, "residual"),
        "def join(left):\n    return torch.cat([left, hidden_states], dim=-1)\n",
    )
    joined(s, "join({a})")


@rewrite()
def arguments_by_keyword(s: Source) -> None:
    after_attention(
        s,
        "hidden_states, residual = self.post_attention_layernorm(\n"
        "    x=hidden_states, residual=residual\n)",
    )
    call = s.call(LAYER, "self.mlp")
    s.put(call, f"self.mlp(x={s.of(call.args[0])})")


@rewrite()
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


@rewrite()
def arguments_of_the_norm_exchanged(s: Source) -> None:
    """A sum does not mind."""
    after_attention(
        s, "hidden_states, residual = self.post_attention_layernorm(residual, hidden_states)"
    )


@rewrite()
def module_reached_by_a_computed_name(s: Source) -> None:
    hidden_normed(s, "getattr(self, f\"{{'hidden'}}_norm\")({x})")


@rewrite()
def module_set_by_a_computed_name(s: Source) -> None:
    assign = s.assign(LAYER_INIT, "self.hidden_norm")
    s.put(assign, f'setattr(self, "_".join(["hidden", "norm"]), {s.of(assign.value)})')


@rewrite()
def module_registered_by_add_module(s: Source) -> None:
    assign = s.assign(LAYER_INIT, "self.hidden_norm")
    s.put(assign, f'self.add_module("hidden_norm", {s.of(assign.value)})')


@rewrite()
def norm_behind_a_property(s: Source) -> None:
    s.before(s.at(LAYER), "@property\ndef _norm_of_hidden(self):\n    return self.hidden_norm\n\n")
    hidden_normed(s, "self._norm_of_hidden({x})")


@rewrite()
def norm_by_dispatch(s: Source) -> None:
    hidden_normed(
        s, '{{"embeds": self.input_layernorm, "hidden": self.hidden_norm}}["hidden"]({x})'
    )


@rewrite()
def norm_in_a_sequential(s: Source) -> None:
    hidden_normed(s, "nn.Sequential(self.hidden_norm, nn.Identity())({x})")


@rewrite()
def norm_by_its_forward(s: Source) -> None:
    hidden_normed(s, "self.hidden_norm.forward({x})")


@rewrite()
def constants_at_the_top(s: Source) -> None:
    s.prepend("WIDTH_FACTOR = 2\nAXIS = -1")
    for two in s.walk(LAYER_INIT, ast.Constant):
        if two.value == 2:
            s.put(two, "WIDTH_FACTOR")
    joined(s, "torch.cat([{a}, {b}], dim=AXIS)")


@rewrite()
def norm_in_a_list_of_modules(s: Source) -> None:
    """A second way to the same module; the parameter keeps its first name."""
    s.after(
        s.assign(LAYER_INIT, "self.hidden_norm"),
        "object.__setattr__(self, '_norms', (self.input_layernorm, self.hidden_norm))",
    )
    hidden_normed(s, "self._norms[-1]({x})")


@rewrite()
def fc_in_a_subclass_of_linear(s: Source) -> None:
    s.prepend(
        """
        class Fusion(torch.nn.Linear):
            def forward(self, states):
                return super().forward(states)
        """
    )
    for call in s.walk(MODEL_INIT, ast.Call):
        if ast.unparse(call.func) in ("torch.nn.Linear", "nn.Linear"):
            s.put(call.func, "Fusion")


@rewrite()
def fc_in_a_module_of_its_own(s: Source) -> None:
    s.prepend(
        """
        class Fusion(nn.Module):
            def __init__(self, width, out, bias=False):
                super().__init__()
                self.weight = nn.Parameter(torch.empty(out, width))
                self.register_parameter("bias", nn.Parameter(torch.empty(out)) if bias else None)

            def forward(self, states):
                return nn.functional.linear(states, self.weight, self.bias)
        """
    )
    for call in s.walk(MODEL_INIT, ast.Call):
        if ast.unparse(call.func) in ("torch.nn.Linear", "nn.Linear"):
            s.put(call.func, "Fusion")


@rewrite()
def layer_in_a_subclass(s: Source) -> None:
    name = "LlamaDecoderLayer"
    s.prepend("_given = {}")
    s.before(
        s.at("LlamaModel"),
        f"""
        class Layer({name}):
            def __init__(self, *args, **kwargs):
                super().__init__(*args, **kwargs)

            def forward(self, *args, **kwargs):
                return super().forward(*args, **kwargs)


        """,
    )
    for call in s.calls(MODEL_INIT, name):
        s.put(call.func, "Layer")


@rewrite()
def join_chosen_by_a_match(s: Source) -> None:
    call = s.call(LAYER, "torch.cat")
    statement = next(a for a in s.walk(LAYER, ast.Assign) if a.value is call)
    s.put(
        statement,
        f"""
        match embeds.ndim:
            case 1 | 3:
                raise ValueError("rows are expected")
            case _:
                {s.of(statement)}
        """,
    )


@rewrite()
def join_by_reduce(s: Source) -> None:
    s.prepend("import functools")
    joined(s, "functools.reduce(lambda a, b: torch.cat([a, b], dim=-1), ({a}, {b}))")


@rewrite()
def join_of_a_generator(s: Source) -> None:
    joined(
        s, "torch.cat(list(norm(x) for norm, x in [(lambda t: t, {a}), (lambda t: t, {b})]), -1)"
    )
