"""The graph read of a release computes what its real code does, whatever switch is set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from benchmarks import fidelity
from benchmarks.switching import VALUES, Value
from checker.contract.loading import load_contract
from checker.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _pytest.mark import ParameterSet

EVERY_DAY = {
    ("speculators==0.9.0", "norm_output", "True"),
    ("sglang==0.5.23", "fc_norm", "with norm_output and two states"),
}
NO_NUMBERS = {
    ("num_hidden_layers", "2"): "never loaded",
    ("num_hidden_layers", "3"): "never loaded",
    ("rope_scaling", "yarn"): "",  # no reference, or a logger that was not met
    ("architectures", "no such class"): "was not met",
}
"""Values under which some release has no numbers, and words of the reason."""


KNOWN: dict[tuple[str, str, str], str] = {}


def combinations() -> list[ParameterSet]:
    found: list[ParameterSet] = []
    for release, value in fidelity.combinations():
        often = (release, value.switch, value.label) in EVERY_DAY
        marks: list[Any] = [] if often else [pytest.mark.long]
        known = KNOWN.get((release, value.switch, value.label))
        if known is not None:
            marks.append(pytest.mark.xfail(reason=known, strict=True))
        name = f"{release}-{value.switch}-{value.label}".replace(" ", "-")
        found.append(pytest.param(release, value, marks=marks, id=name))
    assert sum(not p.marks for p in found) == len(EVERY_DAY)
    return found


@pytest.fixture(scope="module")
def runner(torch_python: str) -> Iterator[fidelity.Runner]:
    with fidelity.Runner(torch_python) as made:
        yield made


def test_every_switch_of_the_contract_has_a_value() -> None:
    assert {v.switch for v in VALUES} == set(load_contract().switches)


@pytest.mark.network
@pytest.mark.parametrize(("release", "value"), combinations())
def test_graph_and_code_are_one(runner: fidelity.Runner, release: str, value: Value) -> None:
    try:
        runner.opened(release)
    except InputError as error:
        pytest.skip(f"{release} cannot be had: {error}")
    record = runner.record(release, value)
    if record["class"] == "none":
        words = NO_NUMBERS.get((value.switch, value.label))
        assert words is not None, record["note"]
        assert words in record["note"]
        return
    assert record["class"] in ("equal", "raises"), record
    if record["class"] == "equal":
        assert record["steps"] >= 2
        assert record["compared"] >= record["steps"]
        assert record["difference"] <= 1e-12
