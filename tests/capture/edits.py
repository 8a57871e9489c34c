"""Edits of real releases by hand, said in terms of syntax, and what the target then hands over."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

import pytest

from benchmarks.editing import Source
from checker.engines import Subject, load_engines
from checker.errors import InputError
from checker.pairing import allow_deep_recursion, open_side
from checker.request import Access
from checker.syntax import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.editing import Edit
    from checker.syntax.modules import TreeLike

MODELS, LAYERS = "sglang/srt/models/", "sglang/srt/layers/"
OLD, NEW = "0.5.9", "0.5.23"
UNPROVEN = "unproven"
IDS = (2, 30, 58)


@dataclass(frozen=True)
class Case:
    """An edit of one file of a release, and what a target hands over then.

    `gives`: boundaries, the exception that is raised, or `UNPROVEN`.
    """

    edit: Edit
    file: str
    release: str
    target: str
    gives: tuple[int | str, ...] | str
    ids: tuple[int, ...] | None = IDS
    aliased: tuple[int, ...] = ()
    every_day: bool = False


CASES: dict[str, Case] = {}


def case(*args: object, **options: object) -> Callable[[Edit], Edit]:
    def register(edit: Edit) -> Edit:
        made = Case(edit, *args, **options)  # type: ignore[arg-type]
        CASES[f"{edit.__name__}-{made.release}-{made.target}"] = made
        return edit

    return register


@dataclass(frozen=True)
class Edited:
    """A tree one file of which reads otherwise."""

    tree: TreeLike
    path: str
    text: bytes
    roots: tuple[str, ...] = field(init=False)
    label: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "roots", self.tree.roots)
        object.__setattr__(self, "label", self.tree.label)

    def read(self, path: str) -> bytes:
        return self.text if path == self.path else self.tree.read(path)

    def exists(self, path: str) -> bool:
        return self.tree.exists(path)

    def listdir(self, folder: str) -> list[str]:
        return self.tree.listdir(folder)


@cache
def subject(release: str) -> Subject:
    """A release, opened once; the test is skipped where the index cannot be reached."""
    allow_deep_recursion()
    try:
        return open_side(load_engines(), "server", f"sglang=={release}", [], Access()).outline()
    except InputError as error:
        pytest.skip(f"sglang {release} is not at hand: {error}")


def edited(case: Case) -> Subject:
    """The release with the edit."""
    plain = subject(case.release)
    own, *others = plain.workspace.trees
    path = own.roots[0] + case.file
    source = Source(own.read(path).decode())
    case.edit(source)
    trees: list[TreeLike] = [Edited(own, path, source.result().encode()), *others]
    return replace(plain, workspace=Workspace(trees))


# -- the setter -----

LLAMA, LLAMA_SET = MODELS + "llama.py", "LlamaForCausalLM.set_eagle3_layers_to_capture"


@case(LLAMA, OLD, "LlamaForCausalLM", (4, 32, 60), every_day=True)
@case(LLAMA, NEW, "LlamaForCausalLM", (4, 32, 60))
@case(LLAMA, NEW, "MistralForCausalLM", (4, 32, 60))
def off_by_one_in_the_setter(s: Source) -> None:
    """Classes that inherit the setter change with it."""
    total = s.spelled(LLAMA_SET, "val + 1")[0]
    s.put(total, "val + 2")


@case(LLAMA, OLD, "LlamaForCausalLM", (2, 30, 59), ids=None)
@case(LLAMA, NEW, "LlamaForCausalLM", (2, 30, 59), ids=None)
def another_default(s: Source) -> None:
    s.put(s.spelled(LLAMA_SET, "num_layers - 3")[0], "num_layers - 2")


@case(LLAMA, OLD, "LlamaForCausalLM", "ValueError")
@case(LLAMA, NEW, "LlamaForCausalLM", "ValueError", every_day=True)
def a_list_that_the_loop_never_reads(s: Source) -> None:
    s.put(s.assign(LLAMA_SET, "self.model.layers_to_capture", -1).targets[0], "self.model.to_tap")


@case(LLAMA, OLD, "LlamaForCausalLM", (3, 31, 59))
@case(LLAMA, NEW, "LlamaForCausalLM", (3, 31, 59))
def an_id_listed_twice(s: Source) -> None:
    """Nothing changes: the loop asks whether an index is in the list."""
    value = s.assign(LLAMA_SET, "self.model.layers_to_capture", -1).value
    s.put(value, f"({s.of(value)}) * 2")


# -- the loop -----

FORWARD = "LlamaModel.forward"


def _loop(s: Source, place: str = FORWARD) -> ast.For:
    return s.walk(place, ast.For)[0]


@case(LLAMA, OLD, "LlamaForCausalLM", (0, 3, 31), ids=(-1, 2, 30), aliased=(-1,))
@case(LLAMA, NEW, "LlamaForCausalLM", (0, 3, 31), ids=(-1, 2, 30), aliased=(-1,), every_day=True)
def the_embedding_by_a_new_branch(s: Source) -> None:
    """Kept as it is, the first layer's residual is written over it."""
    s.put(s.spelled(LLAMA_SET, "val + 1")[0], "val + 1 if val >= 0 else -1")
    s.before(
        _loop(s),
        "if -1 in self.layers_to_capture:\n    aux_hidden_states.append(hidden_states)",
    )


@case(LLAMA, OLD, "LlamaForCausalLM", (0, 3, 31), ids=(-1, 2, 30))
@case(LLAMA, NEW, "LlamaForCausalLM", (0, 3, 31), ids=(-1, 2, 30))
def a_copy_of_the_embedding_by_a_new_branch(s: Source) -> None:
    s.put(s.spelled(LLAMA_SET, "val + 1")[0], "val + 1 if val >= 0 else -1")
    s.before(
        _loop(s),
        "if -1 in self.layers_to_capture:\n    aux_hidden_states.append(hidden_states.clone())",
    )


@case(LLAMA, OLD, "LlamaForCausalLM", ("not-a-boundary",) * 3, every_day=True)
def the_residual_forgotten(s: Source) -> None:
    s.put(s.spelled(FORWARD, "hidden_states + residual")[0], "hidden_states")


@case(LLAMA, NEW, "LlamaForCausalLM", ("not-a-boundary",) * 3)
def what_a_layer_hands_on_without_the_residual(s: Source) -> None:
    call = s.call(FORWARD, "self.layers[i]")
    s.put(s.keyword(call, "capture_output").value, "None")
    s.before(
        _loop(s).body[0],
        "if i in self.layers_to_capture:\n    aux_hidden_states.append(hidden_states.clone())",
    )


@case(LLAMA, OLD, "LlamaForCausalLM", (59, 31, 3))
@case(LLAMA, NEW, "LlamaForCausalLM", (59, 31, 3), every_day=True)
def the_order_reversed(s: Source) -> None:
    last = s.walk(FORWARD, ast.Return)[-1]
    s.put(last, "return hidden_states, aux_hidden_states[::-1]")


@case(LLAMA, OLD, "LlamaForCausalLM", (3, 31))
@case(LLAMA, NEW, "LlamaForCausalLM", (3, 31))
def the_loop_ends_early(s: Source) -> None:
    s.before(_loop(s).body[0], "if i == 40:\n    break")


# -- per-layer flags, wrappers -----

MOE, MOE_SET = MODELS + "qwen2_moe.py", "Qwen2MoeModel.set_eagle3_layers_to_capture"


@case(MOE, OLD, "Qwen3MoeForCausalLM", (2, 30, 58))
@case(MOE, NEW, "Qwen3MoeForCausalLM", (2, 30, 58))
def the_flag_on_the_layer_before(s: Source) -> None:
    s.put(s.spelled(MOE_SET, "self.layers[layer_id]")[0], "self.layers[layer_id - 1]")


@case(MOE, OLD, "Qwen2MoeForCausalLM", "ValueError")
@case(MOE, NEW, "Qwen2MoeForCausalLM", "ValueError")
def another_flag_than_the_loop_reads(s: Source) -> None:
    s.put(s.call(MOE_SET, "setattr").args[1], "'_is_tapped'")


WRAPPER = "Llama4ForConditionalGeneration.set_eagle3_layers_to_capture"


@case(MODELS + "mllama4.py", OLD, "Llama4ForConditionalGeneration", (2, 30, 58), ids=(5, 20, 40))
@case(MODELS + "mllama4.py", NEW, "Llama4ForConditionalGeneration", (2, 30, 58), ids=(5, 20, 40))
def a_wrapper_that_drops_the_ids(s: Source) -> None:
    call = s.call(WRAPPER, "self.language_model.set_eagle3_layers_to_capture")
    s.put(call, s.of(call.func) + "()")


COMMUNICATOR = "LayerCommunicator.prepare_attn_and_capture_last_layer_outputs"


@case(LAYERS + "communicator.py", OLD, "Qwen3MoeForCausalLM", ("not-a-boundary",) * 3)
def the_normed_state_kept(s: Source) -> None:
    """By the communicator, in the way that is interpreted."""
    append = s.calls(COMMUNICATOR, "captured_last_layer_outputs.append")[-1]
    s.put(append.args[0], "hidden_states")


# -- what keeps the states, and what concatenates them -----

KEEPERS = LAYERS + "aux_hidden_states.py"
PROCESSOR = LAYERS + "logits_processor.py"
STORE = "LogitsProcessor._get_hidden_states_to_store"


@case(KEEPERS, NEW, "LlamaForCausalLM", (3, 31, 59), aliased=IDS)
def a_list_that_keeps_no_copies(s: Source) -> None:
    s.put(s.call("AuxHiddenStateList.capture", "self.append").args[0], "hidden")


@case(KEEPERS, NEW, "DeepseekV3ForCausalLM", (58, 30, 2))
def a_packer_that_fills_from_behind(s: Source) -> None:
    place = s.assign("AuxHiddenStatePacker.slot", "start").value
    s.put(place, "(self._num_captures - 1 - self._idx) * self._feature_size")


@case(KEEPERS, NEW, "LlamaForCausalLM", (59, 31, 3))
def states_packed_from_behind(s: Source) -> None:
    s.put(s.call("pack_aux_hidden_states", "torch.cat").args[0], "aux_hidden_states[::-1]")


@case(PROCESSOR, OLD, "LlamaForCausalLM", (59, 31, 3), every_day=True)
def states_concatenated_from_behind(s: Source) -> None:
    s.put(s.call(STORE, "torch.cat").args[0], "aux_hidden_states[::-1]")


@case(PROCESSOR, OLD, "LlamaForCausalLM", (3, 31))
def states_concatenated_in_part(s: Source) -> None:
    s.put(s.call(STORE, "torch.cat").args[0], "aux_hidden_states[:2]")


@case(PROCESSOR, OLD, "LlamaForCausalLM", ())
@case(PROCESSOR, NEW, "LlamaForCausalLM", ())
def the_last_state_instead(s: Source) -> None:
    """The draft would get what is before the head."""
    function = s.at(STORE)
    assert isinstance(function, ast.FunctionDef)
    s.before(function.body[0], "aux_hidden_states = None")


# -- inside what is summarised -----

BOUNDARY = LAYERS + "layer_boundary/"


@case(BOUNDARY + "residual/stream.py", NEW, "LlamaForCausalLM", UNPROVEN, every_day=True)
@case(BOUNDARY + "residual/stream.py", NEW, "DeepseekV3ForCausalLM", UNPROVEN)
def a_copy_dropped_in_the_stream(s: Source) -> None:
    call = next(
        c
        for c in s.walk("ResidualStream.snapshot", ast.Call)
        if isinstance(c.func, ast.Attribute) and c.func.attr == "clone"
    )
    assert isinstance(call.func, ast.Attribute)
    s.put(call, s.of(call.func.value))


@case(LAYERS + "layernorm.py", OLD, "LlamaForCausalLM", UNPROVEN)
@case(LAYERS + "layernorm.py", NEW, "LlamaForCausalLM", UNPROVEN)
def a_norm_that_keeps_no_residual(s: Source) -> None:
    function = s.at("RMSNorm.forward_cuda")
    assert isinstance(function, ast.FunctionDef)
    s.after(function.body[-1], "return x")
    s.before(function.body[0], "residual = None")


@case(LAYERS + "communicator.py", OLD, "Qwen3MoeForCausalLM", UNPROVEN)
def a_communicator_made_otherwise(s: Source) -> None:
    function = s.at("LayerCommunicator.__init__")
    assert isinstance(function, ast.FunctionDef)
    s.after(function.body[-1], "self.input_layernorm = post_attention_layernorm")


@case(BOUNDARY + "residual/stream.py", NEW, "LlamaForCausalLM", (3, 31, 59))
def only_names_and_comments_of_the_stream(s: Source) -> None:
    """Nothing changes in meaning, so nothing becomes unproven."""
    for name in s.walk("ResidualStream.snapshot", ast.Name):
        if name.id == "value":
            s.put(name, "amount")
    s.append("# nothing\n")


# -- more ways to say the same, and not quite the same -----


@case(LLAMA, OLD, "LlamaForCausalLM", (3, 31, 59))
@case(LLAMA, NEW, "LlamaForCausalLM", (3, 31, 59))
def ids_as_a_set(s: Source) -> None:
    value = s.assign(LLAMA_SET, "self.model.layers_to_capture", -1).value
    s.put(value, f"set({s.of(value)})")


@case(LLAMA, OLD, "LlamaForCausalLM", (4, 32, 60), ids=(59, 3, 31))
@case(LLAMA, NEW, "LlamaForCausalLM", (4, 32, 60), ids=(59, 3, 31))
def ids_sorted_in_a_tuple(s: Source) -> None:
    value = s.assign(LLAMA_SET, "self.model.layers_to_capture", -1).value
    s.put(value, f"tuple(sorted({s.of(value)}))")


@case(LLAMA, OLD, "LlamaForCausalLM", (2, 30, 58))
@case(LLAMA, NEW, "LlamaForCausalLM", (2, 30, 58))
def ids_counted_down_from_the_end(s: Source) -> None:
    """61 layers: 58 is the third last."""
    s.put(s.spelled(LLAMA_SET, "val + 1")[0], "self.config.num_hidden_layers - (61 - val)")


@case(LLAMA, OLD, "LlamaForCausalLM", (3, 31))
@case(LLAMA, NEW, "LlamaForCausalLM", (3, 31))
def only_so_many_ids(s: Source) -> None:
    value = s.assign(LLAMA_SET, "self.model.layers_to_capture", -1).value
    s.put(value, f"({s.of(value)})[:2]")


@case(LLAMA, OLD, "LlamaForCausalLM", (3, 31, 59), aliased=IDS, every_day=True)
def written_to_once_kept(s: Source) -> None:
    """Each kept state is added to in place by the layer that follows."""
    s.before(
        _loop(s).body[-1],
        "if aux_hidden_states and i in self.layers_to_capture:\n"
        "    aux_hidden_states[-1].add_(hidden_states)",
    )


@case(LLAMA, OLD, "LlamaForCausalLM", (4, 32, 60))
def kept_after_the_layer(s: Source) -> None:
    loop = _loop(s)
    s.put(s.spelled(FORWARD, "i in self.layers_to_capture")[0], "False")
    s.after(
        loop.body[-1],
        "if i in self.layers_to_capture:\n    aux_hidden_states.append(hidden_states + residual)",
    )


@case(LLAMA, OLD, "LlamaForCausalLM", ("not-a-boundary",) * 3)
def only_the_residual_kept(s: Source) -> None:
    s.put(s.spelled(FORWARD, "hidden_states + residual")[0], "residual.clone()")


@case(LLAMA, OLD, "LlamaForCausalLM", (3, 3, 31, 31, 59, 59))
def each_kept_twice(s: Source) -> None:
    s.put(s.spelled(FORWARD, "hidden_states + residual")[0], "hidden_states + residual")
    s.before(
        _loop(s).body[0],
        "if i in self.layers_to_capture:\n    aux_hidden_states.append(residual + hidden_states)",
    )


@case(LLAMA, OLD, "LlamaForCausalLM", (3, 31, 59))
def a_counter_beside_the_loop(s: Source) -> None:
    """What counts for itself is the loop's number."""
    loop = _loop(s)
    s.before(loop, "count = self.start_layer - 1")
    s.before(loop.body[0], "count += 1")
    s.put(s.spelled(FORWARD, "i in self.layers_to_capture")[0], "count in self.layers_to_capture")


@case(LLAMA, OLD, "LlamaForCausalLM", (4, 32, 60))
def a_state_of_the_layer_before(s: Source) -> None:
    """Asked for by the number that the last round had."""
    loop = _loop(s)
    s.before(loop, "last = -1")
    s.put(s.spelled(FORWARD, "i in self.layers_to_capture")[0], "last in self.layers_to_capture")
    s.after(loop.body[-1], "last = i")
