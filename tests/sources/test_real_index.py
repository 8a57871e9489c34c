"""The real index and real releases, where there is a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.errors import InputError
from checker.sources import open_source, resolve_requirement

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.network


@pytest.fixture(autouse=True)
def users_settings(own_environment: None, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's own settings, which the other tests are kept from; skip without a network."""
    monkeypatch.undo()
    monkeypatch.setenv("EAGLE3_CHECK_CACHE", str(cache))
    try:
        open_source("packaging")
    except InputError as error:
        pytest.skip(f"no package index: {error}")


def test_a_large_wheel_costs_a_small_part_of_it(cache: Path) -> None:
    tree = open_source("sglang==0.5.23", package="sglang")
    assert tree.released is not None
    text = tree.read("sglang/srt/models/llama_eagle3.py")
    assert b"class LlamaForCausalLMEagle3" in text
    assert tree.roots == ("",)
    kept = sum(path.stat().st_size for path in cache.rglob("sources/*/artifacts/*/*"))
    assert kept < 3_000_000  # of 39 MB


def test_each_side_gets_its_own_dependency() -> None:
    server = resolve_requirement(open_source("sglang==0.5.23"), "transformers")
    trainer = resolve_requirement(open_source("speculators==0.9.0"), "transformers")
    assert server is not None
    assert trainer is not None
    assert (server.version, trainer.version) == ("5.19.0", "5.19.0")


def test_an_unknown_release_names_near_ones() -> None:
    with pytest.raises(InputError, match=r"no release 0\.5\.999 of sglang \(there are "):
        open_source("sglang==0.5.999")
