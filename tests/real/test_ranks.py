"""Which sizes tensor-parallel ranks can share, as the layers' own constructors say it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from checker.contract.loading import load_contract
from checker.engines import Inputs, Launched, launched
from checker.judging import flags
from checker.launch import line_of, parse_launch
from checker.pairing import allow_deep_recursion
from checker.report.model import ClauseResult, Status
from tests.real import configs
from tests.real.test_launch_lines import release

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

    from checker.judging.judge import Case
    from tests.real.configs import Config

pytestmark = pytest.mark.network

CONTRACT = load_contract()
SIZES: Config = {
    "hidden_size": 384,
    "intermediate_size": 960,
    "num_attention_heads": 48,
    "num_key_value_heads": 12,
    "head_dim": 8,
    "vocab_size": 4032,
}
EXPERTS: Config = {
    "num_experts": 12,
    "num_experts_per_tok": 4,
    "moe_intermediate_size": 96,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
}
LATENT: Config = {
    "n_routed_experts": 12,
    "num_experts_per_tok": 4,
    "moe_intermediate_size": 96,
    "n_group": 4,
    "topk_group": 2,
    "first_k_dense_replace": 3,
    "moe_layer_freq": 1,
    "q_lora_rank": 64,
    "kv_lora_rank": 32,
    "qk_rope_head_dim": 8,
    "qk_nope_head_dim": 16,
    "v_head_dim": 16,
    "n_shared_experts": 1,
    "routed_scaling_factor": 2.5,
    "scoring_func": "sigmoid",
    "topk_method": "noaux_tc",
}
OSS: Config = {
    "num_local_experts": 12,
    "num_experts_per_tok": 4,
    "swiglu_limit": 7.0,
    "vocab_size": 4096,
}
FOUR: Config = {"num_local_experts": 12, "num_experts_per_tok": 1, "intermediate_size_mlp": 960}
TARGETS: dict[str, tuple[str, str, Config]] = {
    "llama": ("LlamaForCausalLM", "llama", {}),
    "qwen3": ("Qwen3ForCausalLM", "qwen3", {}),
    "qwen3-moe": ("Qwen3MoeForCausalLM", "qwen3_moe", EXPERTS),
    "deepseek": ("DeepseekV3ForCausalLM", "deepseek_v3", LATENT),
    "gpt-oss": ("GptOssForCausalLM", "gpt_oss", OSS),
    "llama4": ("Llama4ForCausalLM", "llama4_text", FOUR),
    "gemma3": ("Gemma3ForCausalLM", "gemma3_text", {}),
}
TWO = "--tp 2"
FITS = ""
APART = "--dp 2 --enable-dp-attention"


def target(name: str, **changes: Any) -> Config:
    architecture, kind, more = TARGETS[name]
    named = {"architectures": [architecture], "model_type": kind}
    return {**configs.TARGET, **SIZES, **more, **named, **changes}


def found(version: str, line: str, goal: Config, **draft: Any) -> Launched:
    subject = release(version)
    allow_deep_recursion()
    given = configs.serve(**{**SIZES, **draft})
    starts = subject.engine.started_by
    told = line_of(line, starts)
    settings = {"arguments": told.arguments, "starts": told.starts}
    return launched(subject, Inputs(given, goal, parse_launch(line, starts), settings))


def handled(version: str, line: str, goal: Config, **draft: Any) -> ClauseResult:
    made = found(version, line, goal, **draft)
    case: Any = SimpleNamespace(contract=CONTRACT, launched=made)
    result = flags.launch(cast("Case", case), {})
    assert result is not None
    return result


def pairs(everyday: tuple[str, ...], long: tuple[str, ...]) -> list[ParameterSet]:
    return [
        *(pytest.param(version) for version in everyday),
        *(pytest.param(version, marks=pytest.mark.long) for version in long),
    ]


VERSIONS = pairs(("0.5.9", "0.5.23"), ("0.4.9", "0.5.14", "0.5.18"))


@pytest.mark.parametrize("version", pairs(("0.5.23",), ("0.5.9", "0.5.18")))
@pytest.mark.parametrize("name", TARGETS)
def test_ranks_that_share_everything_are_no_finding(name: str, version: str) -> None:
    result = handled(version, TWO, target(name))
    assert result.status is Status.NOT_APPLICABLE, result


UNSHARED: dict[str, tuple[Config, str]] = {
    "heads": ({"num_attention_heads": 6, "num_key_value_heads": 2}, "total_num_heads %"),
    "heads of keys": ({"num_key_value_heads": 6}, "total_num_kv_heads %"),
    "heads of keys that too many share": ({"num_key_value_heads": 3}, "% self.total_num_kv_heads"),
    "the feed-forward layer": ({"intermediate_size": 962}, "output_size % tp_size"),
}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("size", UNSHARED)
@pytest.mark.parametrize("side", ["draft", "target"])
def test_what_ranks_cannot_share_keeps_the_server_from_starting(
    side: str, size: str, version: str
) -> None:
    changes, said = UNSHARED[size]
    of_draft, of_target = (changes, {}) if side == "draft" else ({}, changes)
    result = handled(version, "--tp 4", target("llama", **of_target), **of_draft)
    assert result.status is Status.VIOLATED, result
    assert result.error is not None
    assert result.error.type == "AssertionError"
    assert said in result.message
    assert result.error.location is not None
    assert result.error.location.source == f"sglang=={version}"


@pytest.mark.parametrize("version", VERSIONS)
def test_heads_of_keys_are_held_by_several_ranks_where_there_are_fewer(version: str) -> None:
    fewer = {"num_key_value_heads": 8}
    result = handled(version, "--tp 16", target("llama", **fewer), **fewer)
    assert result.status is Status.NOT_APPLICABLE, result


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("0.5.9", "is not divisible by 3"),  # to a multiple of 64
        pytest.param("0.4.9", "is not divisible by 3", marks=pytest.mark.long),
        pytest.param("0.5.18", "is not divisible by 3", marks=pytest.mark.long),
        ("0.5.23", FITS),  # to one that the ranks share
    ],
)
def test_a_vocabulary_is_padded_as_the_release_does(version: str, said: str) -> None:
    """4033 tokens are 4096 in whole groups of 64; the draft's 307 are 320."""
    result = handled(version, "--tp 3", target("llama", vocab_size=4033), vocab_size=4033)
    assert result.status is (Status.VIOLATED if said else Status.NOT_APPLICABLE), result
    assert said in result.message


@pytest.mark.parametrize("version", pairs(("0.5.23",), ("0.5.9",)))
@pytest.mark.parametrize("name", ["qwen3-moe", "deepseek"])
def test_experts_of_later_layers_are_shared_as_well(name: str, version: str) -> None:
    result = handled(version, "--tp 4", target(name, moe_intermediate_size=98))
    assert result.status is Status.VIOLATED, result
    assert "intermediate_size % self.moe_tp_size" in result.message


@pytest.mark.parametrize("version", pairs(("0.5.23",), ("0.5.9",)))
def test_of_ranks_that_share_attention_in_groups_it_is_said_what_is_not_known(version: str) -> None:
    goal = target("deepseek")
    fits = handled(version, f"--tp 4 {APART}", goal)
    assert fits.status is Status.NOT_APPLICABLE, fits
    between = {"num_attention_heads": 6, "num_key_value_heads": 2}
    open_ = handled(version, f"--tp 4 {APART}", goal, **between)
    assert open_.status is Status.UNPROVEN, open_
    assert "part of the draft" in (open_.reason or "")
    none = {"num_attention_heads": 3, "num_key_value_heads": 1}
    assert handled(version, f"--tp 4 {APART}", goal, **none).status is Status.VIOLATED


@pytest.mark.parametrize(
    ("line", "goal", "said"),
    [
        ("--tp 4 --attn-cp-size 2", target("llama"), "attn_cp_size"),
        (TWO, target("llama", architectures=["NoSuchModel"]), "registers no NoSuchModel"),
        (TWO, target("llama", model_type="nosuch"), "part of the target"),
    ],
)
def test_what_cannot_be_built_here_is_unproven(line: str, goal: Config, said: str) -> None:
    result = handled("0.5.23", line, goal)
    assert result.status is Status.UNPROVEN, result
    assert said in (result.reason or "")


def test_what_is_taken_for_granted_of_the_devices_is_said() -> None:
    said = found("0.5.23", TWO, target("llama")).assumptions
    assert any("compute capability 9.0" in text for text in said)
    paged = found("0.5.23", "--page-size 16", target("llama")).assumptions
    assert any("80 GB" in text for text in paged)
    assert not any("80 GB" in text or "capability" in text
                   for text in found("0.5.23", "--tp 1", target("llama")).assumptions)  # fmt: skip
