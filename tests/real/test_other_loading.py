"""What the server makes of a draft where it does not load it, or its target, as usual."""

from __future__ import annotations

import pytest

from checker.report.model import Status
from checker.request import Rename
from tests.real import configs
from tests.real.releases import TRAINER, check, said, server, unproven, violated
from tests.releases.settings import LAUNCH

pytestmark = pytest.mark.network

WHOLE = {"draft_vocab_size": configs.TARGET["vocab_size"]}
MIDLAYER = (Rename("layers.0", "midlayer"),)


@pytest.mark.parametrize("version", ["0.4.6", pytest.param("0.4.8", marks=pytest.mark.long)])
def test_a_worker_that_asks_for_a_map_needs_one(version: str) -> None:
    whole = check(
        TRAINER,
        server(version),
        configs.train(**WHOLE),
        configs.serve(**WHOLE),
        renames=MIDLAYER,
    )
    assert "vocabulary" in violated(whole), said(whole)
    vocabulary = next(c for c in whole.clauses if c.id == "vocabulary")
    assert "hot_token_id" in vocabulary.message
    part = check(TRAINER, server(version), renames=MIDLAYER)
    assert "vocabulary" not in violated(part), said(part)


def test_a_worker_that_looks_for_a_map_needs_none() -> None:
    whole = check(
        TRAINER,
        server("0.4.9"),
        configs.train(**WHOLE),
        configs.serve(**WHOLE),
        renames=MIDLAYER,
    )
    assert {c.id: c.status for c in whole.clauses}["vocabulary"] is Status.HOLDS


@pytest.mark.parametrize(
    ("flags", "clauses"),
    [
        ("--model-impl transformers", {"aux-boundaries", "weights-loaded"}),
        ("--load-format dummy", {"weights-loaded"}),
        ("--speculative-draft-load-format dummy", {"weights-loaded"}),
        ("--model-impl sglang --load-format safetensors", set()),
        ("--model-impl auto", set()),
    ],
)
def test_classes_and_values_of_another_kind_are_not_followed(flags: str, clauses: set[str]) -> None:
    found = check(TRAINER, server("0.5.23"), launch=f"{LAUNCH} {flags}")
    assert not violated(found), said(found)
    open_ = unproven(found)
    assert clauses <= set(open_)
    assert bool(open_) is bool(clauses), said(found)
    assert all(flags.split()[-2] in reason for reason in open_.values() if "depends" not in reason)


@pytest.mark.parametrize("version", ["0.4.6", pytest.param("0.4.8", marks=pytest.mark.long)])
def test_a_loader_that_raises_hides_nothing(version: str) -> None:
    faults = {"norm_before_residual": True}
    found = check(
        TRAINER,
        server(version),
        configs.train(**faults),
        configs.serve(rms_norm_eps=1e-6),
    )
    assert {"weights-loaded", "residual-source", "norm-kind", "positions"} <= violated(found)
    plain = check(TRAINER, server(version))
    named = check(TRAINER, server(version), renames=MIDLAYER)
    assert violated(plain) == violated(named), said(plain)
    loaded = next(c for c in plain.clauses if c.id == "weights-loaded")
    assert loaded.error is not None
    assert loaded.error.type == "KeyError"


def test_four_states_where_fc_is_built_for_three_hide_nothing() -> None:
    four = {"eagle_aux_hidden_state_layer_ids": [2, 8, 12, 21]}
    found = check(
        TRAINER,
        server("0.5.9"),
        configs.train(**four),
        configs.serve([1, 7, 11, 20]),
        renames=MIDLAYER,
    )
    assert violated(found) == {"aux-boundaries", "fc-shape", "positions"}, said(found)
    statuses = {c.id: c.status for c in found.clauses}
    held = ("aux-count", "residual-source", "attention-rope", "norm-kind")
    assert all(statuses[name] is Status.HOLDS for name in held)
    assert statuses["weights-loaded"] is Status.NOT_APPLICABLE


def test_nor_does_a_trainer_that_builds_fc_for_three() -> None:
    four = {"eagle_aux_hidden_state_layer_ids": [2, 8, 12, 21]}
    found = check(
        "speculators==0.6.0",
        server("0.5.23"),
        configs.train(**four),
        configs.serve([1, 7, 11, 20], rms_norm_eps=1e-6),
    )
    assert violated(found) == {"fc-shape", "norm-kind"}, said(found)
    assert {c.id: c.status for c in found.clauses}["aux-boundaries"] is Status.HOLDS
