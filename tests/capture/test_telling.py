"""Who tells the target of a real release its ids, and what graphs captured before that replay."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from checker.engines import Inputs, Question, capture
from checker.engines.telling import Told, telling
from tests.capture.edits import NEW, OLD, Case, edited, subject

if TYPE_CHECKING:
    from typing import Any

    from benchmarks.editing import Source
    from checker.engines import Subject

pytestmark = pytest.mark.network
IDS = {"eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 5, 9]}}
RUNNER = "sglang/srt/model_executor/model_runner.py"


def ask(found: Subject, config: dict[str, Any], **launch: Any) -> Told:
    told = telling(found, Inputs(config, launch=launch))
    assert told is not None
    assert not told.reason, told.reason
    return told


@pytest.mark.parametrize(
    ("release", "ids", "graphs"),
    [
        pytest.param("0.4.6", None, "same", marks=pytest.mark.long),
        pytest.param("0.4.9", (1, 5, 9), None, marks=pytest.mark.long),
        pytest.param("0.5.4", (1, 5, 9), None, marks=pytest.mark.long),
        (OLD, (1, 5, 9), None),
        pytest.param("0.5.10", (1, 5, 9), None, marks=pytest.mark.long),
        pytest.param("0.5.11", (1, 5, 9), "same", marks=pytest.mark.long),
        pytest.param("0.5.14", (1, 5, 9), "same", marks=pytest.mark.long),
        pytest.param("0.5.18", (1, 5, 9), "same", marks=pytest.mark.long),
        (NEW, (1, 5, 9), "same"),
    ],
)
def test_ids_and_what_graphs_were_captured_with(
    release: str, ids: tuple[int, ...] | None, graphs: str | None
) -> None:
    """Up to 0.5.10 graphs are captured with the default ids, before the configuration's are set."""
    told = ask(subject(release), IDS)
    assert (told.is_told, told.ids) == (True, ids)
    assert told.differs == (graphs is None)
    assert told.graphs is None
    assert (told.read is not None) == (ids is not None)


def test_without_graphs_or_ids_nothing_differs() -> None:
    assert not ask(subject(OLD), IDS, disable_cuda_graph=True).differs
    assert ask(subject(OLD), {}).ids is None
    assert not ask(subject(OLD), {}).differs


@pytest.mark.parametrize(
    "config",
    [
        {"eagle_aux_hidden_state_layer_ids": [1, 5, 9]},
        {"eagle_config": {"use_aux_hidden_state": True}},
        {"eagle_config": None},
    ],
)
def test_ids_that_stand_elsewhere_are_swallowed(config: dict[str, Any]) -> None:
    """An exception on the way to them ends in the default, without a word."""
    told = ask(subject(NEW), config)
    assert told.is_told
    assert told.ids is None


def test_aux_states_that_are_switched_off_are_not_asked_for() -> None:
    config = {"eagle_config": {**IDS["eagle_config"], "use_aux_hidden_state": False}}
    assert not ask(subject(NEW), config).is_told


def _told_after_graphs(s: Source) -> None:
    """The target is told when backends are made no longer, but after graphs are captured."""
    name = "configure_aux_hidden_state_capture"
    call = s.call("ModelRunner.init_attention_backends", name)
    function = s.at("ModelRunner.init_cuda_graphs")
    assert isinstance(function, ast.FunctionDef)
    s.after(function.body[-1], s.of(call))
    s.put(call, "None")


def _other_ids_told(s: Source) -> None:
    place = "ModelRunner.init_attention_backends"
    call = s.call(place, "configure_aux_hidden_state_capture")
    ids = s.keyword(call, "eagle_aux_hidden_state_layer_ids").value
    s.put(ids, "[2, 4]")


def _never_told_on_cuda(s: Source) -> None:
    """A way out before the target is told."""
    function = s.at("ModelRunner.init_attention_backends")
    assert isinstance(function, ast.FunctionDef)
    s.before(function.body[0], "if self.device == 'cuda':\n    return")


@pytest.mark.long
def test_an_edited_order_is_not_taken_for_the_old_one() -> None:
    """Told too late, the target is not told when graphs are captured."""
    found = edited(Case(_told_after_graphs, RUNNER, NEW, "", ()))
    told = telling(found, Inputs(IDS))
    assert told is not None
    assert told.reason or told.differs or not told.is_told
    assert not ask(edited(Case(_never_told_on_cuda, RUNNER, NEW, "", ())), IDS).is_told
    assert ask(edited(Case(_other_ids_told, RUNNER, NEW, "", ())), IDS).ids == (2, 4)


@pytest.mark.long
@pytest.mark.parametrize(
    ("target", "boundaries"),
    [
        ("GptOssForCausalLM", ("not-a-boundary",) * 3),
        ("Qwen3MoeForCausalLM", (3, 31, 59)),
        ("LlamaForCausalLM", (3, 31, 59)),
    ],
)
def test_states_of_several_ranks(target: str, boundaries: tuple[int | str, ...]) -> None:
    """A loop that keeps what a layer left to be summed by the next one keeps a part of the sum."""
    launch = {"enable_flashinfer_allreduce_fusion": True}
    found = capture(subject(OLD), Question(target, 61, (2, 30, 58), None, 2, launch))
    assert found.boundaries == boundaries
    open_ = capture(subject(OLD), Question("GptOssForCausalLM", 61, (2, 30, 58), None, 2, {}))
    assert not open_.is_decided
    assert "all-reduce" in open_.reason


OVERLAP = {"enable_two_batch_overlap": True}
DENSE = {"num_hidden_layers": 61, "first_k_dense_replace": 3, "n_routed_experts": 8}


@pytest.mark.parametrize(
    ("release", "target", "config", "gives"),
    [
        pytest.param(OLD, "LlamaForCausalLM", None, (3, 31, 59), id="no split"),
        pytest.param(OLD, "Qwen3MoeForCausalLM", None, "ValueError", id="all layers"),
        pytest.param(OLD, "DeepseekV3ForCausalLM", DENSE, "ValueError", id="sparse layers"),
        pytest.param(NEW, "LlamaForCausalLM", None, (3, 31, 59), id="stages, no split"),
        pytest.param(NEW, "Qwen3MoeForCausalLM", None, "ValueError", id="stages, all layers"),
    ],
)
def test_batches_that_are_computed_in_parts(
    release: str,
    target: str,
    config: dict[str, Any] | None,
    gives: tuple[int, ...] | str,
) -> None:
    """Layers that run in two halves at once hand nothing over; without any the target raises."""
    found = capture(subject(release), Question(target, 61, (2, 30, 58), config, 1, OVERLAP))
    assert found.is_decided, found.reason
    if isinstance(gives, str):
        assert found.error is not None, found.boundaries
        assert found.error.type == gives
    else:
        assert found.boundaries == gives
    plain = capture(subject(release), Question(target, 61, (2, 30, 58), config))
    assert plain.boundaries is not None
    assert None not in plain.boundaries


def test_some_layers_in_parts_drop_their_states() -> None:
    """Dense layers run one after the other, what is asked of later ones is dropped."""
    question = Question("DeepseekV3ForCausalLM", 61, (0, 30, 58), DENSE, 1, OVERLAP)
    found = capture(subject(OLD), question)
    assert (found.boundaries, found.error) == ((1,), None), found.reason
