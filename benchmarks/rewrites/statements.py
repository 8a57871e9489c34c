"""Statements, classes and layer loops."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from benchmarks.rewrites.table import LAYER, MODEL, MODEL_INIT, NEW, rewrite

if TYPE_CHECKING:
    from benchmarks.editing import Source


@rewrite()
def branches_exchanged(s: Source) -> None:
    guard = next(i for i in s.walk(MODEL, ast.If) if "input_embeds" in ast.unparse(i.test))
    body = "\n".join(s.of(b) for b in guard.orelse)
    assert len(guard.orelse) == 1
    s.put(guard.test, "not (input_embeds is not None)")
    assert body


@rewrite()
def statements_in_a_try(s: Source) -> None:
    call = s.call(LAYER, "self.mlp")
    statement = next(a for a in s.walk(LAYER, ast.Assign) if a.value is call)
    s.put(
        statement,
        f"try:\n    {s.of(statement)}\nexcept ImportError:\n    raise\nfinally:\n    done = True",
    )


@rewrite()
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


@rewrite()
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


@rewrite()
def forward_compiled(s: Source) -> None:
    s.before(s.at(LAYER), "@torch.compile")


@rewrite()
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


@rewrite()
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


@rewrite()
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


@rewrite()
def layer_called_by_its_class(s: Source) -> None:
    name = "self.midlayer" if s.calls(MODEL, "self.midlayer") else "layer"
    call = s.call(MODEL, name)
    s.put(call.func, f"{name}.forward")


@rewrite(versions=(NEW,))
def layers_by_a_while_loop(s: Source) -> None:
    loop = s.walk(MODEL, ast.For)[-1]
    s.before(loop, "index = -1")
    s.put(loop.iter, "[self.layers[i] for i in range(len(self.layers))]")


@rewrite(versions=(NEW,))
def layers_enumerated(s: Source) -> None:
    loop = s.walk(MODEL, ast.For)[-1]
    s.put(loop.target, "index, layer")
    s.put(loop.iter, "enumerate(self.layers)")


@rewrite(versions=(NEW,))
def layers_by_iterator(s: Source) -> None:
    loop = s.walk(MODEL, ast.For)[-1]
    s.put(loop.iter, "iter(self.layers.children())")


@rewrite(versions=(NEW,))
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


@rewrite(versions=(NEW,), switches={"fc_norm": True})
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


@rewrite(versions=(NEW,), switches={"fc_norm": True})
def states_by_unflatten(s: Source) -> None:
    call = s.call(MODEL, "hidden_states.chunk")
    s.put(call, "hidden_states.unflatten(-1, (self.num_aux_hidden_states, -1)).unbind(-2)")


@rewrite(versions=(NEW,), switches={"fc_norm": True})
def states_by_view(s: Source) -> None:
    call = s.call(MODEL, "hidden_states.chunk")
    s.put(
        call,
        "hidden_states.view(hidden_states.shape[0], self.num_aux_hidden_states, -1).unbind(dim=1)",
    )


@rewrite(versions=(NEW,), switches={"fc_norm": True})
def states_normed_one_behind_another(s: Source) -> None:
    comprehension = s.walk(MODEL, ast.ListComp)[0]
    s.put(comprehension, "list(map(lambda norm, chunk: norm(chunk), self.fc_norm, chunks))")


@rewrite(versions=(NEW,), switches={"norm_before_fc": True})
def norm_over_all_states_by_hand(s: Source) -> None:
    call = s.call(MODEL, "self.input_norm")
    s.put(
        call,
        "hidden_states * torch.rsqrt(torch.mean(hidden_states ** 2, dim=-1, keepdim=True)"
        " + self.input_norm.variance_epsilon) * self.input_norm.weight",
    )


@rewrite()
def values_kept_in_a_dict(s: Source) -> None:
    call = s.call(LAYER, "self.mlp")
    statement = next(a for a in s.walk(LAYER, ast.Assign) if a.value is call)
    s.put(
        statement,
        f"""
        kept = dict(stream=residual)
        {s.of(statement)}
        kept |= {{"hidden": hidden_states}}
        hidden_states, residual = kept["hidden"], kept.pop("stream")
        """,
    )


@rewrite()
def statements_asserted_and_deleted(s: Source) -> None:
    call = s.call(LAYER, "self.mlp")
    statement = next(a for a in s.walk(LAYER, ast.Assign) if a.value is call)
    s.put(
        statement,
        f"""
        assert residual.shape == hidden_states.shape, "streams of one shape"
        before = hidden_states
        {s.of(statement)}
        del before
        """,
    )


@rewrite()
def layer_run_in_a_loop_that_breaks(s: Source) -> None:
    call = s.call(LAYER, "self.mlp")
    statement = next(a for a in s.walk(LAYER, ast.Assign) if a.value is call)
    s.put(statement, f"while True:\n    {s.of(statement)}\n    break")


@rewrite()
def scaled_there_and_back(s: Source) -> None:
    call = s.call(LAYER, "self.mlp")
    s.put(call.args[0], f"-(-({s.of(call.args[0])} * 4.0) / 4.0)")


@rewrite()
def result_swapped_and_swapped_back(s: Source) -> None:
    returned = s.walk(LAYER, ast.Return)[-1]
    first, second = returned.value.elts  # type: ignore[union-attr]
    s.put(returned.value, f"tuple(reversed(({s.of(second)}, {s.of(first)})))")  # type: ignore[arg-type]
