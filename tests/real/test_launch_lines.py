"""Launch lines of real releases: what becomes of the flags, worked out by reading each release."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from checker.contract.loading import load_contract
from checker.engines import Inputs, launched, load_engines, load_operators
from checker.errors import InputError
from checker.judging import flags
from checker.launch import files_of, line_of, parse_launch
from checker.pairing import allow_deep_recursion, open_side
from checker.report.model import ClauseResult, Status
from checker.request import Access
from tests.real import configs
from tests.real.releases import (
    TRAINER,
    check,
    flaws,
    renames,
    said,
    server,
    unproven,
    violated,
)

if TYPE_CHECKING:
    from pathlib import Path

    from _pytest.mark import ParameterSet

    from checker.engines import Subject
    from checker.judging.judge import Case

pytestmark = pytest.mark.network

CONTRACT = load_contract()
MODELS = "--model-path target --speculative-draft-model-path draft"
NEWEST = "0.5.23"
RELEASES = (
    "0.4.6.post5", "0.4.7", "0.4.8", "0.4.9", "0.4.10", "0.5.1", "0.5.2", "0.5.3", "0.5.5", "0.5.6",
    "0.5.7", "0.5.8", "0.5.9", "0.5.10", "0.5.11", "0.5.12", "0.5.13", "0.5.14", "0.5.15", "0.5.16",
    "0.5.18", "0.5.20", "0.5.22",
)  # fmt: skip
EVERYDAY = {("0.4.6.post5", "pages"), ("0.5.9", "reset"), ("0.5.9", "tree"), ("0.5.14", "reset")}


def line(algorithm: str = "EAGLE3", numbers: str = "3 1 4", more: str = "") -> str:
    """A launch line; the numbers are steps, top-k and draft tokens, `-` where one is left out."""
    names = ("num-steps", "eagle-topk", "num-draft-tokens")
    given = zip(names, numbers.split(), strict=True)
    words = " ".join(f"--speculative-{name} {value}" for name, value in given if value != "-")
    flags_given = f"--speculative-algorithm {algorithm} {words} {more}"
    return f"python -m sglang.launch_server {MODELS} {flags_given}"


HOLDS = ""


@dataclass(frozen=True)
class Line:
    """A launch line and what is said of it; `HOLDS` where nothing is wrong.

    `before` is said of releases earlier than the version that it is given with.
    """

    text: str
    said: str
    before: tuple[str, str] | None = None

    def expected(self, version: str) -> str:
        if self.before is not None and _number(version) < _number(self.before[0]):
            return self.before[1]
        return self.said


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:3])


NO_STATES = "does not hand the draft the target's aux states"
LINES = {
    "fits": Line(line(), HOLDS),
    "reset": Line(line(numbers="1 1 16"), "--speculative-num-draft-tokens 16 is changed to 2"),
    "tree": Line(line(numbers="5 4 8"), HOLDS),
    "tree too small": Line(line(numbers="2 2 64"), "a tree of 2 steps with top-k 2 has 6 tokens"),
    "tree just large enough": Line(line(numbers="2 2 7"), HOLDS),
    "tokens by default": Line(line(numbers="3 1 -"), HOLDS),
    "numbers by default": Line(line(numbers="- - -"), HOLDS),
    "steps left out": Line(line(numbers="- 1 4"), "raises AssertionError"),
    "other algorithm": Line(line("EAGLE"), NO_STATES),
    "alias": Line(line("NEXTN"), NO_STATES),
    "unknown algorithm": Line(line("EAGLE4"), "EAGLE4"),
    "small letters": Line(line("eagle3"), HOLDS, ("0.5.12", "'eagle3'")),
    "quantised target": Line(line(more="--quantization fp8"), "the draft inherits fp8"),
    "quantised target only": Line(
        line(more="--quantization fp8 --speculative-draft-model-quantization unquant"),
        HOLDS,
        ("0.5.7", "no such flag"),
    ),
    "pages": Line(
        line(numbers="3 4 8", more="--page-size 16"),
        HOLDS,
        ("0.4.9", "--speculative-eagle-topk 4 is changed to 1"),
    ),
    "cut short": Line(line().replace("-algorithm", "-algo"), HOLDS),
    "several stages": Line(line(more="--pp-size 2"), "raises AssertionError: Pipeline parallelism"),
    "one stage": Line(line(more="--pp-size 1"), HOLDS),
    "ranks that share the heads": Line(line(more="--tp 2"), HOLDS),
    "ranks that do not": Line(line(more="--tp 3"), "raises AssertionError: tp_size % "),
    "ranks beside each other": Line(line(more="--tp 2 --dp 2 --enable-dp-attention"), HOLDS),
    "ranks beside each other that share too few heads": Line(
        line(more="--tp 4 --dp 2 --enable-dp-attention"),
        "raises AssertionError: self.total_num_heads % ",
    ),
    "no branch": Line(line(numbers="3 0 4"), "a tree of 3 steps with top-k 0 has 0 tokens"),
    "no step": Line(line(numbers="0 4 8"), "a tree of 0 steps with top-k 4 has 0 tokens"),
    "no draft": Line(line().replace("--speculative-draft-model-path draft", ""), "loads target as"),
    "map of tokens": Line(line(more="--speculative-token-map hot.pt"), "not in force"),
    "no JSON": Line(line(more="--json-model-override-args '{oh'"), "raises JSONDecodeError"),
    "another port": Line(line(more="--port 30000"), HOLDS),
    "another port, reset": Line(
        line(numbers="5 1 8", more="--port 30000"),
        "--speculative-num-draft-tokens 8 is changed to 6",
    ),
    "mixed chunks": Line(line(more="--enable-mixed-chunk"), HOLDS),
    "no such flag": Line(
        line(more="--speculative-dreams 3"), "no such flag: --speculative-dreams 3"
    ),
    "underscores": Line(line(more="--speculative_num_steps 3"), "no such flag"),
    "a word too many": Line(line(more="--tp 1 2"), "no such flag: 2"),
    "no whole number": Line(line(numbers="3.5 1 4"), "invalid int value: '3.5'"),
    "none of the choices": Line(line(more="--quantization fp9"), "invalid choice: 'fp9'"),
    "an attention mode": Line(
        line(more="--speculative-attention-mode decode"), HOLDS, ("0.5.2", "no such flag")
    ),
    "no attention mode": Line(
        line(more="--speculative-attention-mode foo"),
        "invalid choice: 'foo'",
        ("0.5.2", "no such flag"),
    ),
    "several values": Line(line(more="--bucket-time-to-first-token 1 2.5 --tp 1"), HOLDS),
    "any beginning of several": Line(line(more="--speculative-num 3"), "ambiguous option"),
    "adapters": Line(line(more="--lora-paths one=a two"), HOLDS),
    "no target": Line(
        line().replace("--model-path target", ""), "the following arguments are required: --model-p"
    ),
    "flags alone": Line(line().partition("target")[2], HOLDS),
    "another command": Line(
        line().replace("python -m sglang.launch_server", "sglang serve"),
        HOLDS,
        ("0.5.7", "this release has no command sglang serve"),
    ),
    "what the shell takes": Line(line(more="> log 2>&1 &"), HOLDS),
}


@functools.cache
def _subject(version: str) -> Subject:
    opened = open_side(load_engines(), "server", server(version), (), Access())
    return opened.subject(load_operators())


def release(version: str) -> Subject:
    """A release of the server; skips where it cannot be had."""
    try:
        return _subject(version)
    except InputError as error:
        pytest.skip(f"the release cannot be had: {error}")


def handled(version: str, text: str, folder: str = "") -> ClauseResult:
    """The launch clause alone, for one release."""
    subject = release(version)
    allow_deep_recursion()
    target = {**configs.TARGET, "architectures": ["LlamaForCausalLM"]}
    starts = subject.engine.started_by
    told = line_of(text, starts)
    settings = {
        "arguments": told.arguments,
        "starts": told.starts,
        "files": files_of(text, folder),
    }
    inputs = Inputs(configs.serve(), target, parse_launch(text, starts), settings)
    found = launched(subject, inputs)
    case: Any = SimpleNamespace(contract=CONTRACT, launched=found)
    result = flags.launch(cast("Case", case), {})
    assert result is not None
    return result


def pairs() -> list[ParameterSet]:
    """Every line on every release; for every day all on the newest, and a few on older kinds."""
    return [
        pytest.param(
            name,
            version,
            id=f"{name}-{version}",
            marks=[] if version == NEWEST or (version, name) in EVERYDAY else [pytest.mark.long],
        )
        for version in (*RELEASES, NEWEST)
        for name in LINES
    ]


@pytest.mark.parametrize(("name", "version"), pairs())
def test_a_line_means_what_its_release_makes_of_it(name: str, version: str) -> None:
    result = handled(version, LINES[name].text)
    expected = LINES[name].expected(version)
    assert result.status is (Status.VIOLATED if expected else Status.HOLDS), result
    assert expected in (result.message or "")


DRAFTING = line().partition(" --model-path target ")[2]
SHARED = "--tp 2 --dp 2 --enable-dp-attention"  # the target has six heads, and two for keys
TRIALS: tuple[tuple[str, str, str], ...] = (
    ("0.4.9 0.5.4 0.5.9 0.5.14 0.5.18 0.5.23", line(more=SHARED), HOLDS),
    (
        "0.4.9 0.5.4 0.5.9 0.5.14 0.5.18 0.5.23",
        line(more=SHARED.replace("dp 2", "dp 3")),
        "dp_size == 0",
    ),
    ("0.5.4", line(more="--enable-two-batch-overlap"), HOLDS),
    ("0.5.9 0.5.14 0.5.18 0.5.23", line(more="--enable-two-batch-overlap"), "two batch overlap"),
    ("0.5.9 0.5.14 0.5.18 0.5.23", line(more="--served-model-name a:b"), "cannot contain a colon"),
    ("0.5.9 0.5.23", line(more="--chunked-prefill-size 1024 --page-size 16"), HOLDS),
    ("0.5.9 0.5.23", line(more="--chunked-prefill-size 1000 --page-size 16"), "divisible by page"),
    ("0.5.9", "SGLANG_ENABLE_SPEC_V2=1 " + line(numbers="3 4 8"), "only supports topk = 1"),
    ("0.5.9", "SGLANG_ENABLE_SPEC_V2=0 " + line(numbers="3 4 8"), HOLDS),
    ("0.5.23", "SGLANG_ENABLE_SPEC_V2=1 " + line(numbers="3 4 8"), HOLDS),
    ("0.5.9", "sglang serve target " + DRAFTING, "--model-path is required"),
    ("0.5.18 0.5.23", "sglang serve target " + DRAFTING, HOLDS),
    ("0.5.9 0.5.23", line("NGRAM", "- - 16"), NO_STATES),
    ("0.5.9 0.5.23", line("STANDALONE"), NO_STATES),
    (
        "0.5.9",
        line(numbers="3 4 8", more="--page-size 64 --attention-backend triton"),
        "page_size > 1",
    ),
    ("0.5.23", line(numbers="3 4 8", more="--page-size 64 --attention-backend triton"), HOLDS),
    (
        "0.5.9 0.5.23",
        line(numbers="3 4 8", more="--attention-backend trtllm_mha"),
        "only supports topk",
    ),
    ("0.5.9 0.5.23", line(more="--attention-backend trtllm_mha"), HOLDS),
    (
        "0.5.9 0.5.23",
        f"docker run --gpus all -m 32g image bash -lc '{line(numbers='3 1 8')} --port $PORT'",
        "--speculative-num-draft-tokens 8 is changed to 4",
    ),
    (
        "0.5.9 0.5.23",
        f"# serves\nM=a/b\n{line()} \\\n --served-model-name $M > log 2>&1 &\nwait",
        HOLDS,
    ),
)


@pytest.mark.parametrize(
    ("version", "text", "said_of"),
    [
        pytest.param(
            version,
            text,
            said_of,
            id=f"{number}-{version}",
            marks=[] if version in (NEWEST, "0.5.9") else [pytest.mark.long],
        )
        for number, (versions, text, said_of) in enumerate(TRIALS)
        for version in versions.split()
    ],
)
def test_what_the_server_itself_refuses_is_said(version: str, text: str, said_of: str) -> None:
    result = handled(version, text)
    assert result.status is (Status.VIOLATED if said_of else Status.HOLDS), result
    assert said_of in (result.message or "")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (line(more="--tp $RANKS"), "what --tp-size is given is not known"),
        (line(more="$MORE"), "what $MORE stands for is not known"),
        (line(numbers="3 1 4").replace(" 4", " ${N}"), "what ${N} stands for"),
        (line(numbers="2 4 -"), "nothing gives it a value"),
        (line().replace("launch_server", "bench_serving"), "starts sglang.bench_serving"),
    ],
)
def test_what_only_a_shell_knows_is_unproven(text: str, reason: str) -> None:
    result = handled(NEWEST, text)
    assert result.status is Status.UNPROVEN, result
    assert reason in (result.reason or "")


FLAGS = """
model-path: target
speculative-algorithm: EAGLE3
speculative-draft-model-path: draft
speculative-num-steps: 3
speculative-eagle-topk: 1
speculative-num-draft-tokens: 16
"""
STARTED = "python -m sglang.launch_server"
FILES: dict[str, tuple[str, str, str]] = {
    "as they stand": (FLAGS, "--config flags.yaml", "--speculative-num-draft-tokens 16 is changed"),
    "the line counts first": (
        FLAGS, "--speculative-num-draft-tokens 4 --config flags.yaml", HOLDS
    ),
    "no such flag": (FLAGS + "dreams: 3", "--config flags.yaml", "no such flag: --dreams 3"),
    "no mapping": ("[1, 2]", "--config flags.yaml", "must contain a dictionary"),
    "in one word": (FLAGS, "--config=flags.yaml --model-path target", "are not in force"),
    "cut short": (FLAGS, "--conf flags.yaml --model-path target", "are not in force"),
    "a list": (FLAGS + "lora-paths: [a, b]", "--config flags.yaml", "'lora_paths'"),
}  # fmt: skip
FROM_FILES = ("0.5.4", "0.5.9", "0.5.14", "0.5.18")


@pytest.mark.parametrize(
    "version", [NEWEST, *(pytest.param(v, marks=pytest.mark.long) for v in FROM_FILES)]
)
@pytest.mark.parametrize("name", FILES)
def test_flags_of_a_file_are_read_as_the_server_reads_them(
    name: str, version: str, tmp_path: Path
) -> None:
    text, words, said_of = FILES[name]
    (tmp_path / "flags.yaml").write_text(text)
    if (name, version) == ("a list", "0.5.4"):
        said_of = "--speculative-num-draft-tokens 16 is changed"  # it takes lists of any kind
    result = handled(version, f"{STARTED} {words}", str(tmp_path))
    assert result.status is (Status.VIOLATED if said_of else Status.HOLDS), result
    assert said_of in (result.message or "")


def test_a_file_of_flags_that_cannot_be_read_is_unusable_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^flags\.yaml: the launch line names it") as missing:
        handled(NEWEST, f"{STARTED} --config flags.yaml", str(tmp_path))
    assert missing.value.exit_status == 2
    (tmp_path / "flags.yaml").write_text("a: 1\nb: [1\n")
    with pytest.raises(InputError, match=r"^flags\.yaml:3:1: this is no YAML"):
        handled(NEWEST, f"{STARTED} --config flags.yaml", str(tmp_path))


def test_a_release_without_files_of_flags_has_no_such_flag(tmp_path: Path) -> None:
    (tmp_path / "flags.yaml").write_text(FLAGS)
    result = handled("0.4.9", line(more="--config flags.yaml"), str(tmp_path))
    assert "no such flag: --config flags.yaml" in (result.message or "")


def test_the_line_that_changes_a_flag_is_named() -> None:
    (place,) = handled("0.5.23", LINES["reset"].text).serve.locations
    assert place.path == "sglang/srt/arg_groups/speculative_hook.py"


@pytest.mark.parametrize("version", ["0.5.23", pytest.param("0.5.9", marks=pytest.mark.long)])
def test_with_the_other_algorithm_fc_is_skipped(version: str) -> None:
    report = check(TRAINER, server(version), renames=renames(version), launch=line("EAGLE"))
    assert {"fc-condition", "launch"} <= violated(report), said(report)
    fits = check(TRAINER, server(version), renames=renames(version), launch=line())
    assert violated(fits) == flaws(version), said(fits)


def overriding(values: str) -> str:
    return line(more=f"--json-model-override-args '{values}'")


OVERRIDES: dict[str, tuple[str, set[str]]] = {
    "nothing": ("{}", set()),
    "what both have": ('{"rms_norm_eps": 1e-05, "vocab_size": 1009}', set()),
    "the number of layers": ('{"num_hidden_layers": 12}', {"layers", "aux-boundaries"}),
    "the target's tokens": ('{"vocab_size": 1010}', {"embedding-source"}),
    "the epsilon": ('{"rms_norm_eps": 1e-06}', {"norm-kind", "training-target"}),
    "the ids": (
        '{"eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 11, 19]}}',
        {"aux-boundaries"},
    ),
    "the ids as they were": (
        '{"eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 11, 20]}}',
        set(),
    ),
    "no states": ('{"eagle_config": {"use_aux_hidden_state": false}}', {"fc-condition"}),
    "the class": ('{"architectures": ["LlamaForCausalLM"]}', {"vocabulary"}),
}


@pytest.mark.parametrize("version", ["0.5.23", pytest.param("0.5.9", marks=pytest.mark.long)])
@pytest.mark.parametrize("name", OVERRIDES)
def test_overridden_values_hold_for_both_models(name: str, version: str) -> None:
    values, wanted = OVERRIDES[name]
    report = check(TRAINER, server(version), renames=renames(version), launch=overriding(values))
    found = violated(report) - flaws(version)
    assert wanted <= found, said(report)
    assert wanted or (found, unproven(report)) == (set(), {}), said(report)


@pytest.mark.parametrize("version", ["0.5.23", pytest.param("0.5.9", marks=pytest.mark.long)])
def test_ranks_that_are_asked_for_beside_a_line_are_those_of_the_deployment(version: str) -> None:
    layer = {"num_attention_heads": 8, "num_key_value_heads": 4}
    given = {"train": configs.train(layer), "serve": configs.serve(**layer)}
    for tensor, status in ((2, Status.NOT_APPLICABLE), (4, Status.VIOLATED)):
        report = check(
            TRAINER, server(version), renames=renames(version), tensor_parallel=tensor, **given
        )
        (result,) = (c for c in report.clauses if c.id == "launch")
        assert result.status is status, said(report)
    assert result.error is not None
    assert "models/llama.py" in str(result.error.location)


@pytest.mark.long
@pytest.mark.parametrize("version", ["0.5.14", "0.5.23"])
def test_a_window_counts_the_token_itself_besides(version: str) -> None:
    """The server's number is one less than the trainer's."""
    layer = {"sliding_window": 512, "layer_types": ["sliding_attention"]}
    trained = configs.train({**layer, "use_sliding_window": True}, sliding_window_indices=[0])
    for window, status in ((511, Status.HOLDS), (512, Status.VIOLATED)):
        launch = line(more=f"--speculative-draft-window-size {window}")
        report = check(TRAINER, server(version), trained, launch=launch)
        (result,) = (c for c in report.clauses if c.id == "launch")
        assert result.status is status, said(report)
