"""What changed between releases of which it is known: all of that, and nothing else.

Rewritten files, moved helpers and new layers' code lie between all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from checker.differences import diff
from checker.errors import InputError
from checker.report.changes import Change, Changes
from checker.request import DiffRequest, VerifyRequest
from tests.releases.settings import request

pytestmark = [pytest.mark.network, pytest.mark.long]
Row = tuple[str, str, str]
"""Kind, clauses, and how the sentence begins."""


def found(old: str, new: str, check: VerifyRequest) -> Changes:
    try:
        return diff(DiffRequest(old, new, check))
    except InputError as error:
        pytest.skip(f"{old} and {new} cannot be had: {error}")


def assert_same(changes: Iterable[Change], rows: Iterable[Row]) -> None:
    """Every change is one of the rows, and every row is one of the changes."""
    left = [(change.kind.value, ", ".join(change.clauses), change.message) for change in changes]
    missing = []
    for kind, clauses, start in rows:
        like = [r for r in left if r[:2] == (kind, clauses) and r[2].startswith(start)]
        missing += [] if like else [(kind, clauses, start)]
        left = [r for r in left if r not in like]
    assert (left, missing) == ([], [])


def known(changes: Changes) -> list[Change]:
    """The changes without the targets that are proven with neither release."""
    return [c for c in changes.changes if not c.message.endswith("is proven with neither")]


def under(changes: Changes, kind: str) -> set[str]:
    """The targets of which a kind of change is said."""
    said = [c for c in changes.changes if c.kind == kind and c.clauses == ("aux-boundaries",)]
    return {place for change in said for place in change.under}


def test_a_server_that_learned_layers_norms_and_positions() -> None:
    """0.5.10 to 0.5.12: nothing breaks, and the mistakes of the old release are named."""
    changes = found("sglang==0.5.10", "sglang==0.5.12", VerifyRequest("", ""))
    rows = [
        ("behaviour", "aux-boundaries", "a new target"),
        ("behaviour", "fc-condition", "the server"),
        ("new switch", "fc-input-norm", "fc_norm takes effect"),
        ("new switch", "feedback, final-norm", "norm_output takes effect"),
        ("fixed", "aux-boundaries", "holds; with sglang==0.5.10 prefill hands over [16], but"),
        ("fixed", "aux-boundaries", "ids [2, 16, 29]: [3, 17, 30] (it was: [3, 17, 30], captured"),
        ("fixed", "fc-shape", "holds; with sglang==0.5.10 the server raises AssertionError"),
        ("fixed", "feedback", "holds; with sglang==0.5.10 the server leaves out rms_norm(norm"),
        ("fixed", "layers", "holds; with sglang==0.5.10 the server raises ValueError"),
        ("fixed", "positions", "holds; with sglang==0.5.10 the server: const has value 2 where"),
        ("fixed", "weights-loaded", "sglang==0.5.10 loads tensors by other names (layers.0 as mid"),
    ]
    assert_same(known(changes), rows)
    assert changes.exit_status == 3, "a few targets are proven with neither"


def test_a_server_that_forgot_the_residual_of_one_target() -> None:
    """0.5.16 to 0.5.18: one family of targets breaks, one is mended, one switch is obeyed now."""
    changes = found("sglang==0.5.16", "sglang==0.5.18", VerifyRequest("", ""))
    rows = [
        ("breaking", "aux-boundaries", "without ids: ['not-a-boundary', 'not-a-boundary'"),
        ("fixed", "aux-boundaries", "without ids: [2, 16, 29] (it was: raises ValueError)"),
        ("behaviour", "aux-boundaries", "a new target"),
        ("new switch", "fc-input-norm", "norm_before_fc takes effect"),
        ("fixed", "fc-input-norm", "holds; with sglang==0.5.16 the server leaves out rms_norm(inp"),
        ("fixed", "weights-loaded", "holds; with sglang==0.5.16 input_norm.weight reaches no"),
    ]
    assert_same([c for c in changes.changes if c.kind != "unknown"], rows)
    assert under(changes, "breaking") == {
        "Gemma3ForCausalLM",
        "Gemma3ForConditionalGeneration",
    }
    assert under(replace(changes, changes=tuple(known(changes))), "unknown") <= {
        "InternS2PreviewForConditionalGeneration",
        "Qwen3_5ForConditionalGeneration",
        "Qwen3_5MoeForConditionalGeneration",
    }
    assert changes.exit_status == 1


def test_a_trainer_that_learned_windows_and_norms() -> None:
    """0.6.0 to 0.7.0: three switches, another layer by default, one aux state."""
    changes = found("speculators==0.6.0", "speculators==0.7.0", VerifyRequest("", ""))
    rows = [
        ("breaking", "attention-mask", "the server: attention has visible every position up to"),
        ("breaking", "attention-qk-norm, weights-loaded", "the draft that is made by default: lay"),
        ("breaking", "config-read", "transformer_layer_config.sliding_window is 2048 in training"),
        ("behaviour", "fc-condition", "the server"),
        ("new switch", "attention-mask", "sliding_window, use_sliding_window, layer_types take"),
        ("new switch", "fc-input-norm", "fc_norm takes effect"),
        ("new switch", "feedback, final-norm", "norm_output takes effect"),
        ("fixed", "fc-shape", "holds; with speculators==0.6.0 the trainer raises RuntimeError"),
    ]
    assert_same(changes.changes, rows)
    assert changes.exit_status == 1


@pytest.mark.parametrize("setting", ["plain", "fc-normed", "normed-output", "two-layers"])
def test_a_draft_file_that_was_only_rewritten(setting: str) -> None:
    """0.5.18 to 0.5.20: no change of meaning for any draft."""
    check = request("speculators==0.9.0", "", setting, offset=0, renamed=False)
    changes = found("sglang==0.5.18", "sglang==0.5.20", check)
    assert_same(changes.changes, [])
    assert changes.draft is not None
    assert changes.draft[0] == changes.draft[1]


def test_releases_that_differ_in_new_targets_alone() -> None:
    changes = found("sglang==0.5.18", "sglang==0.5.20", VerifyRequest("", ""))
    assert_same(known(changes), [("behaviour", "aux-boundaries", "a new target")])
    assert changes.compared == {"settings of a draft": 45, "targets": 70, "launch lines": 10}
