"""Targets whose text model is a part of theirs, and what is said where one is not followed."""

from __future__ import annotations

import pytest

from checker.report.model import Status, Verdict
from tests.real import configs
from tests.real.releases import TRAINER, check, said, server, unproven, violated

pytestmark = pytest.mark.network


@pytest.mark.parametrize(("epsilon", "wrong"), [(1e-5, set()), (1e-6, {"training-target"})])
def test_the_norm_of_a_nested_text_model_is_its_own(epsilon: float, wrong: set[str]) -> None:
    nested = {
        "architectures": ["Llama4ForConditionalGeneration"],
        "model_type": "llama4",
        "text_config": {**configs.TARGET, "model_type": "llama4_text", "rms_norm_eps": epsilon},
    }
    found = check(TRAINER, server("0.5.23"), target=nested)
    assert violated(found) == wrong, said(found)
    assert not unproven(found)


def test_a_target_that_is_given_is_not_asked_for() -> None:
    served = configs.serve()
    served["eagle_config"]["use_aux_hidden_state"] = False
    reason = unproven(check(TRAINER, server("0.5.23"), serve=served))["training-target"]
    assert "--target" not in reason
    assert "not handed over" in reason


def test_a_trainer_that_keeps_its_draft_elsewhere_is_not_followed() -> None:
    found = check("speculators==0.2.0", server("0.5.23"))
    assert found.verdict is Verdict.UNPROVEN, said(found)
    assert {c.status for c in found.clauses} == {Status.UNPROVEN} | (
        {c.status for c in found.clauses} & {Status.NOT_APPLICABLE}
    )
    assert "looks for what is not there" in unproven(found)["layers"]
