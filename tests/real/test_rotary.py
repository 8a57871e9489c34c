"""Rotary embeddings, each release by its own source.

What is expected of each was held against the library that is run, or the lines of the release.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from checker.request import Pin
from tests.real import configs
from tests.real.releases import TRAINER, check, flaws, renames, said, server, unproven, violated

if TYPE_CHECKING:
    from tests.real.configs import Config

pytestmark = pytest.mark.network

NEW, OLD = "0.5.23", "0.5.9"
OLD_TRAINER = "speculators==0.6.0"
YARN: Config = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 512}
BARE: Config = {"rope_type": "yarn", "factor": 4.0}
LLAMA3: Config = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 512,
}
PARAMETERS: Config = {"rope_type": "default", "rope_theta": 300000.0}


@dataclass(frozen=True)
class Case:
    """Keys that are trained and served, and whether the rotary embeddings are the same."""

    same: bool
    both: Config = field(default_factory=dict)
    trained: Config = field(default_factory=dict)
    served: Config = field(default_factory=dict)
    version: str = NEW
    error: str = ""
    trained_with: str | None = None


def scaled(scaling: Config, **changes: object) -> Config:
    return {"rope_scaling": {**scaling, **changes}}


CASES = {
    "yarn": Case(True, scaled(YARN)),
    "yarn, old": Case(True, scaled(YARN), version=OLD),
    "llama3, old": Case(True, scaled(LLAMA3), version=OLD),
    "linear, old": Case(True, scaled({"rope_type": "linear", "factor": 4.0}), version=OLD),
    "yarn of another length": Case(
        False, trained=scaled(YARN), served=scaled(YARN, original_max_position_embeddings=1024)
    ),
    "a key that a release needs": Case(False, scaled(BARE), version=OLD, error="KeyError"),
    "a key that a release fills in": Case(True, scaled(BARE)),
    "a key that a configuration class needs": Case(
        False, served=scaled({"rope_type": "linear"}), error="KeyError"
    ),
    "a whole number where a class asks for another": Case(
        False, scaled({"rope_type": "linear", "factor": 4}), error="TypeError"
    ),
    "ends that are not rounded": Case(True, scaled(YARN, truncate=False)),
    "ends that are not rounded, in a release that rounds": Case(
        False, scaled(YARN, truncate=False), version="0.5.6"
    ),
    "frequencies that only the server lowers": Case(False, scaled(YARN, extrapolation_factor=0.5)),
    "factors that divide each other": Case(True, scaled(YARN, mscale=1.0, mscale_all_dim=1.0)),
    "factors that a release does not know": Case(
        False, scaled(YARN, mscale=1.0, mscale_all_dim=1.0), version=OLD
    ),
    "a factor that only the trainer knows": Case(False, scaled(YARN, attention_factor=1.0)),
    "a factor that only the server knows": Case(False, scaled(YARN, attn_factor=1.5)),
    "a part of each head": Case(True, {**scaled(YARN), "partial_rotary_factor": 0.5}),
    "linear by one": Case(True, served=scaled({"rope_type": "linear", "factor": 1.0})),
    "yarn by one": Case(True, served=scaled(YARN, factor=1.0)),
    "llama3 by one": Case(True, served=scaled(LLAMA3, factor=1.0)),
    "llama3 by a little": Case(False, served=scaled(LLAMA3, factor=1.5)),
    "a length beside scaling": Case(
        False,
        trained={**scaled(BARE), "original_max_position_embeddings": 512},
        served=scaled(YARN, original_max_position_embeddings=1024),
    ),
    "the same length beside scaling": Case(
        True, trained={**scaled(BARE), "original_max_position_embeddings": 512}, served=scaled(YARN)
    ),
    "a kind that is none": Case(False, trained=scaled({"type": "mrope"}), error="KeyError"),
    "parameters": Case(True, trained={"rope_theta": None, "rope_parameters": PARAMETERS}),
    "parameters that a library does not know": Case(
        False,
        trained={"rope_theta": 10000.0, "rope_parameters": PARAMETERS},
        trained_with="4.57.1",
    ),
    "what a library takes instead of parameters": Case(
        True,
        trained={"rope_theta": 10000.0, "rope_parameters": PARAMETERS},
        served={"rope_theta": 10000.0},
        trained_with="4.57.1",
    ),
}
EVERYDAY = {
    "yarn, old",
    "a key that a release needs",
    "frequencies that only the server lowers",
    "factors that divide each other",
    "llama3 by one",
    "a length beside scaling",
    "parameters that a library does not know",
}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in EVERYDAY else pytest.mark.long) for n in CASES]
)
def test_a_release_turns_heads_as_its_source_says(name: str) -> None:
    case = CASES[name]
    old = case.version != NEW
    report = check(
        TRAINER if case.trained_with is None else OLD_TRAINER,
        server(case.version),
        configs.train({**case.both, **case.trained}),
        configs.serve(**{**case.both, **case.served}),
        renames=renames(OLD) if old else (),
        train_with=() if case.trained_with is None else (Pin("transformers", case.trained_with),),
    )
    found = violated(report) - {"config-read"} - (flaws(OLD) if old else set())
    assert found == (set() if case.same else {"attention-rope"}), said(report)
    assert unproven(report) == {}, said(report)
    errors = {c.error.type for c in report.clauses if c.error is not None}
    assert errors == ({case.error} if case.error else set()), said(report)
