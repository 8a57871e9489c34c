"""What a served configuration states, leaves out or states as null, as real servers take it.

Every expectation was held against the library itself: a configuration that transformers refuses is
one that the server does not start with.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from checker.report.model import Status
from tests.real import configs
from tests.real.releases import TRAINER, check, said, server, unproven, violated

if TYPE_CHECKING:
    from tests.real.configs import Config

pytestmark = pytest.mark.network

OLD, NEW = "0.5.10", "0.5.23"
LINE = (
    "python -m sglang.launch_server --model-path m --speculative-draft-model-path d"
    " --speculative-algorithm EAGLE3 --speculative-num-steps 3 --speculative-eagle-topk 1"
    " --speculative-num-draft-tokens 4 --json-model-override-args "
)
OLD_NAMES = {"positions", "weights-loaded"}
"""What the old release does otherwise than any trainer, and the names that it does not know."""


@dataclass(frozen=True)
class Case:
    """Keys that are served otherwise than they were trained, and everything that they break."""

    served: Config = field(default_factory=dict)
    violated: set[str] = field(default_factory=set)
    error: str = ""
    unproven: set[str] = field(default_factory=set)
    version: str = NEW
    launch: str | None = None


REFUSED = "StrictDataclassFieldValidationError"
LIST = ["AnotherModel", "LlamaForCausalLMEagle3"]
CASES = {
    "null where a truth value is asked for": Case(
        {"tie_word_embeddings": None}, {"lm-head-source"}, REFUSED
    ),
    "null where a name is asked for": Case({"hidden_act": None}, {"mlp"}, REFUSED),
    "a whole number where another is asked for": Case({"rms_norm_eps": 1}, {"norm-kind"}, REFUSED),
    "null that is allowed": Case({"rope_scaling": None, "head_dim": 20, "pad_token_id": None}),
    "null in a library that takes anything": Case(
        {"tie_word_embeddings": None}, OLD_NAMES, version=OLD
    ),
    "heads that do not divide the width": Case(
        {"num_attention_heads": 5}, {"layers"}, "ValueError"
    ),
    "kinds of more layers than there are": Case(
        {"layer_types": ["full_attention"] * 3}, {"layers"}, "ValueError"
    ),
    "an architecture that is known second": Case({"architectures": LIST}),
    "no width of the embeddings": Case(
        {"hidden_size": ..., "vocab_size": ...}, {"layers"}, "ValueError"
    ),
    "quantised weights": Case(
        {"quantization_config": {"quant_method": "fp8"}}, unproven={"weights-loaded"}
    ),
    "one layer more": Case({"num_hidden_layers": 2}, {"layers", "weights-loaded"}),
    "overridden by the launch line": Case(
        # the target's norm has it, too
        violated={"norm-kind", "training-target"},
        launch=LINE + """'{"rms_norm_eps": 1e-6}'""",
    ),
}
EVERYDAY = {
    "null where a truth value is asked for",
    "one layer more",
    "overridden by the launch line",
}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in EVERYDAY else pytest.mark.long) for n in CASES]
)
def test_a_server_takes_its_configuration_as_the_library_does(name: str) -> None:
    case = CASES[name]
    served = configs.serve(**case.served)
    report = check(TRAINER, server(case.version), serve=served, launch=case.launch)
    assert violated(report) == case.violated, said(report)
    assert set(unproven(report)) == case.unproven, said(report)
    errors = {c.error.type for c in report.clauses if c.error is not None}
    assert errors == ({case.error} if case.error else set()), said(report)


@pytest.mark.long
def test_many_layers_more_are_told_without_comparing_them() -> None:
    report = check(TRAINER, server(NEW), serve=configs.serve(num_hidden_layers=9))
    (layers,) = (c for c in report.clauses if c.id == "layers")
    assert violated(report) == {"layers", "weights-loaded"}, said(report)
    assert layers.message == "training ran 1 decoder layers, the server runs 9"


@pytest.mark.parametrize("flag", ["--tp 2", pytest.param("--tp-size=2", marks=pytest.mark.long)])
def test_ranks_of_the_launch_line_are_those_of_the_deployment(flag: str) -> None:
    asked = check(TRAINER, server("0.5.14"), tensor_parallel=2)
    report = check(TRAINER, server("0.5.14"), launch=LINE + "'{}' " + flag)
    status = {c.id: c.status for c in asked.clauses}
    assert status["aux-reduced"] is not Status.NOT_APPLICABLE
    assert {c.id: c.status for c in report.clauses if c.id != "launch"} == {
        name: found for name, found in status.items() if name != "launch"
    }
