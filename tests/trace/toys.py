"""The packaged engines under small configurations, and a bench for them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from benchmarks.pairs import Bench, Given
from checker.data import FIXTURES
from checker.example import FOLDER
from checker.request import Access

TRAINER, SERVER = FIXTURES / "engines/toy_trainer", FIXTURES / "engines/toy_server"


def read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / name).read_text("utf-8"))
    return found


def given(name: str, **switches: Any) -> Given:
    """The example's draft with its residual flag off, and switches on both sides."""
    plain = {"norm_before_residual": False, **switches}
    return Given(
        name, {**read("train.json"), **plain}, {**read("serve.json"), **plain}, read("target.json")
    )


PLAIN = given("plain")
RESIDUAL = replace(given("norm_before_residual", norm_before_residual=True), fair=False)


def bench(python: str | None) -> Bench:
    return Bench(str(TRAINER), str(SERVER), python, access=Access(offline=True))
