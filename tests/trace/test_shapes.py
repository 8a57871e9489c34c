"""Shapes as read and as run."""

from __future__ import annotations

import pytest

from checker.contract.loading import load_contract
from checker.graph.dims import symbol
from checker.trace.shapes import Names, part_of, same_shape, shown

S = symbol("S")


@pytest.mark.parametrize(
    ("read", "run", "same"),
    [
        ((S, 24), [128, 24], True),
        ((S, 24), [1, 128, 24], True),
        ((S, 4, 8), [128, 32], True),
        ((S, 32), [1, 128, 4, 8], True),
        ((S, 4, 8), [1, 4, 128, 8], True),
        ((S, 24), [128, 25], False),
        ((S, 24), [24, 128], False),
        ((S, 4, 8), [128, 8, 4], False),
        ((S, 48), [128, 24], False),
    ],
)
def test_batches_of_one_and_heads_laid_out_differently_are_the_same_shape(
    read: tuple[object, ...], run: list[int], same: bool
) -> None:
    assert same_shape(read, run, 128) is same


def test_a_stacked_projection_holds_its_parts_and_is_none_of_them() -> None:
    assert part_of((S, 32), [128, 64], 128)
    assert not part_of((S, 32), [128, 32], 128)
    assert not same_shape((S, 32), [128, 64], 128)


def test_sizes_are_named_after_the_switches_that_state_them() -> None:
    names = Names(load_contract(), {"hidden_size": 24, "head_dim": 8, "num_attention_heads": 4})
    assert shown((S, 48), names) == "[S, 2H = 48]"
    assert shown((S, 32), names) == "[S, heads*D = 32]"
    assert shown((S, 7), names) == "[S, 7]"
