"""What a served configuration states, leaves out or states as null, as real servers take it.

Every expectation was held against the library itself: a configuration that transformers refuses is
one that the server does not start with.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from checker.report.model import Status
from checker.request import Target, VerifyRequest
from checker.verification import verify
from tests.real import configs
from tests.real.releases import TRAINER, check, said, server, unproven, violated

if TYPE_CHECKING:
    from tests.real.configs import Config

pytestmark = pytest.mark.network

OLD, NEW = "0.5.10", "0.5.23"
OLD_LIBRARY = "0.5.9"
FLAGS = (
    "python -m sglang.launch_server --model-path m --speculative-draft-model-path d"
    " --speculative-algorithm EAGLE3 --speculative-num-steps 3 --speculative-eagle-topk 1"
    " --speculative-num-draft-tokens 4 "
)
LINE = FLAGS + "--json-model-override-args "
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
    "no kind of model": Case({"model_type": ...}, {"architecture-registered"}, "ValueError"),
    "no kind of model, in a folder that is named for one": Case(
        {"model_type": ...},
        OLD_NAMES,
        version=OLD_LIBRARY,
        launch=FLAGS.replace("path d ", "path me/llama-draft "),
    ),
    "no kind of model, in a folder that is not": Case(
        {"model_type": ...},
        {"architecture-registered"},
        "ValueError",
        version=OLD_LIBRARY,
        launch=FLAGS,
    ),
    "dynamic rotary scaling": Case(
        {"rope_scaling": {"rope_type": "dynamic", "factor": 2.0}}, {"attention-rope"}
    ),
    "dynamic rotary scaling by one": Case(
        {"rope_scaling": {"rope_type": "dynamic", "factor": 1.0}}
    ),
    "wider heads under names that are not known": Case(
        {"head_dim": 40},
        {"attention-projections", "attention-rope", *OLD_NAMES},
        version=OLD_LIBRARY,
    ),
    "a part overridden that there is not": Case(
        violated={"launch"},
        error="AssertionError",
        launch=LINE + """'{"text_config": {"num_hidden_layers": 4}}'""",
    ),
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
    "no kind of model",
    "dynamic rotary scaling",
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


@pytest.mark.parametrize(
    ("left_out", "broken", "open_"),
    [
        # the class of its kind says how many layers, and which epsilon, where the file does not
        (["num_hidden_layers"], set(), {}),
        (["rms_norm_eps"], {"training-target"}, {}),
        (
            ["model_type", "rms_norm_eps"],
            set(),
            {"training-target": "give the target's config.json"},
        ),
        (
            ["model_type", "num_hidden_layers"],
            set(),
            {"aux-boundaries": "how many layers", "training-target": "give the target's"},
        ),
    ],
    ids=lambda value: "-".join(value) or "none",
)
def test_what_a_target_leaves_out_is_its_classs_or_is_asked_for(
    left_out: list[str], broken: set[str], open_: dict[str, str]
) -> None:
    known = {key: value for key, value in configs.TARGET.items() if key not in left_out}
    report = verify(
        VerifyRequest(
            TRAINER,
            server(NEW),
            configs.file("train.json", configs.train()),
            configs.file("serve.json", configs.serve()),
            Target(configs.file("target.json", known)),
        )
    )
    assert violated(report) == broken, said(report)
    found = unproven(report)
    assert all(text in found[name] for name, text in open_.items()), said(report)
    assert bool(found) is bool(open_), said(report)
