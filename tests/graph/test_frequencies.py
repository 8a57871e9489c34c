"""Inverse frequencies as numbers (recorded with transformers 5.19: base 5e5, size 64)."""

from __future__ import annotations

import pytest

from checker.graph.builder import Builder
from checker.graph.frequencies import canonical, close, multiplied, rates, turned, vector
from checker.graph.terms import Attr, Pool

YARN: dict[str, Attr] = {
    "rope_type": "yarn",
    "factor": 4.0,
    "original_max_position_embeddings": 512,
    "beta_fast": 32,
    "beta_slow": 1,
    "truncate": True,
}
RECORDED = {
    True: [1.0, 0.161602288485, 0.018803015351, 0.001823166269, 0.000353553361, 6.8562047e-05],
    False: [1.0, 0.164312437177, 0.018515020609, 0.001823166269, 0.000353553361, 6.8562047e-05],
}
"""Every fourth: transformers computes them in float32."""


def frozen(**scaling: Attr) -> Attr:
    return tuple(sorted(scaling.items()))


@pytest.mark.parametrize("truncate", [True, False])
def test_yarn_is_what_transformers_computes(truncate: bool) -> None:
    found = rates(5e5, 64, frozen(**{**YARN, "truncate": truncate}))
    assert found is not None
    assert found[::4][:6] == pytest.approx(RECORDED[truncate], rel=1e-5)
    assert found[::4][:6] != pytest.approx(RECORDED[not truncate], rel=1e-3)


def test_what_is_kept_by_half_is_stretched_by_the_rest() -> None:
    plain, half = rates(5e5, 64, None), rates(5e5, 64, frozen(**YARN, extrapolation_factor=0.5))
    assert plain is not None
    assert half is not None
    assert half[0] == pytest.approx(plain[0] * (0.5 / 4 + 0.5))
    assert half[-1] == pytest.approx(plain[-1] / 4)


def test_a_kind_that_is_not_known_has_no_numbers() -> None:
    assert rates(5e5, 64, frozen(rope_type="longrope", factor=2.0)) is None


@pytest.mark.parametrize("kind", ["linear", "llama3", "yarn"])
def test_a_factor_of_one_does_nothing(kind: str) -> None:
    b = Builder(Pool())
    plain = b.op("inv_freq", base=5e5, dim=64, scaling=None)
    assert b.op("inv_freq", base=5e5, dim=64, scaling=frozen(rope_type=kind, factor=1.0)) is plain
    stretched = frozen(rope_type=kind, factor=1.5)
    assert b.op("inv_freq", base=5e5, dim=64, scaling=stretched) is not plain


def test_what_multiplies_a_part_of_a_head_stays() -> None:
    scaling = multiplied(frozen(rope_type="yarn", factor=1.0), 1.5)
    assert canonical(scaling) == frozen(rope_type="default", attention_factor=1.5)
    assert canonical(multiplied(scaling, 1 / 1.5)) is None


def test_a_vector_of_numbers_is_computed() -> None:
    b = Builder(Pool())
    plain = b.op("inv_freq", base=5e5, dim=64, scaling=None)
    waves = b.op("div", b.const(6.0), plain)
    picked = b.op("where", b.op("gt", waves, b.const(100.0)), b.op("div", plain, b.const(8)), plain)
    expected = [x / 8 if 6.0 / x > 100.0 else x for x in rates(5e5, 64, None) or []]
    assert close(vector(picked) or [], expected)
    assert not close(vector(plain) or [], expected)


def test_a_vector_that_depends_on_a_tensor_is_not() -> None:
    b = Builder(Pool())
    plain = b.op("inv_freq", base=5e5, dim=64, scaling=None)
    assert vector(b.op("mul", plain, b.param("w", (32,)))) is None


def test_a_row_of_a_table() -> None:
    assert turned([0.0, 1.0], 0, 2.0) == [2.0, 2.0, 0.0, 0.0]
    assert turned([0.0, 1.0], 3, 1.0) == pytest.approx([1.0, -0.9899924966, 0.0, 0.14112000806])
