"""What is called a rewrite is one: run for real, the edited file gives what the original gave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks import refactorings
from benchmarks.pairs import Bench
from benchmarks.records import Records
from checker.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from _pytest.mark import ParameterSet

pytestmark = pytest.mark.network

EVERY_DAY = {("fc_by_einsum_over_states", "0.5.23")}
KNOWN = {
    # rotary kernels write in place, and this gives them what may be a copy or may be none
    "heads_taken_apart_and_put_together": "unproven",
}


def combinations() -> list[ParameterSet]:
    return [
        pytest.param(
            *pair, marks=[] if pair in EVERY_DAY else [pytest.mark.long], id="-".join(pair)
        )
        for pair in refactorings.combinations()
    ]


@pytest.fixture(scope="module")
def bench(torch_python: str) -> Iterator[Callable[[str], Bench]]:
    opened: dict[str, Bench] = {}

    def of(version: str) -> Bench:
        if version not in opened:
            try:
                opened[version] = refactorings.bench_of(version, torch_python).__enter__()
            except InputError as error:
                pytest.skip(f"the releases cannot be had: {error}")
        return opened[version]

    yield of
    for made in opened.values():
        made.__exit__(None, None, None)


@pytest.mark.parametrize(("name", "version"), combinations())
def test_a_rewrite_changes_no_number(
    bench: Callable[[str], Bench], name: str, version: str
) -> None:
    record = refactorings.record(bench(version), name, version)
    assert record["class"] == KNOWN.get(name, "holds"), record
    assert record["faithful"] is not False, record


def test_what_is_known_is_not_done_again() -> None:
    records = Records()
    for name, version in refactorings.combinations():
        records.known[f"refactorings {version} {name}"] = {}
    assert list(refactorings.prove(refactorings.combinations(), None, records)) == []
