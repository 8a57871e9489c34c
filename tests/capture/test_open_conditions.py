"""Conditions that the target's configuration would decide, in small targets written here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.capture.test_small_targets import SUM, ask

if TYPE_CHECKING:
    from pathlib import Path

CHOSEN = """    def chosen(self, config):
        if config.narrow:
            return 1
        return 2
"""


def either(key: str, one: str, other: str) -> str:
    """Two statements of a constructor, of which a key decides."""
    return f"if config.{key}:\n            {one}\n        else:\n            {other}"


KEPT = """if i in self.wanted:
                kept.append(hidden if residual is None else hidden + residual)"""


@pytest.mark.parametrize(
    ("condition", "opposite"),
    [
        ("self.config.scale is None", "self.config.scale is not None"),
        ("self.config.scale == 'a'", "self.config.scale != 'a'"),
        ("self.config.scale", "not self.config.scale"),
        ("not (self.config.scale is None)", "self.config.scale is None"),
    ],
)
def test_a_condition_and_its_opposite_are_not_both_true(
    tmp_path: Path, condition: str, opposite: str
) -> None:
    """Of two ways one is taken, whichever it is: each state is kept once."""

    def twice(*conditions: str) -> str:
        keep = [
            f"if {c} and i in self.wanted:\n                kept.append({SUM})" for c in conditions
        ]
        return "\n            ".join(keep)

    config = ("self.wanted = []", "self.wanted, self.config = [], config")
    found = ask(tmp_path, (1, 3), config, (KEPT, twice(condition, opposite)))
    assert found.boundaries == (2, 4), found.reason
    same = ask(tmp_path, (1, 3), config, (KEPT, twice(condition, condition)))
    assert not same.is_decided
    assert "[2, 2, 4, 4]" in same.reason
    assert "raises ValueError" in same.reason


def test_what_stands_in_for_nothing_is_something(tmp_path: Path) -> None:
    """`a or 5` is never None, and may be 5 also where `a` is taken for None."""
    config = ("self.wanted = []", "self.wanted, self.config = [], config")
    given = "(self.config.scale or 5)"
    keep = f"if {given} is not None and i in self.wanted:\n                kept.append({SUM})"
    assert ask(tmp_path, (1, 3), config, (KEPT, keep)).boundaries == (2, 4)
    twice = f"""if i in self.wanted:
                kept.append({SUM})
                if self.config.scale is None:
                    if {given} == 5:
                        kept.append({SUM})"""
    found = ask(tmp_path, (1, 3), config, (KEPT, twice))
    assert not found.is_decided
    assert "[2, 2, 4, 4]" in found.reason or "raises ValueError" in found.reason


def test_each_of_several_texts_is_tried(tmp_path: Path) -> None:
    """What is one text is no other one: the second way is taken, too, where the first is not."""
    config = ("self.wanted = []", "self.wanted, self.config = [], config")
    chain = f"""if i in self.wanted:
                if self.config.kind == "whole":
                    kept.append({SUM})
                elif self.config.kind == "half":
                    kept.append(HALF)
                else:
                    raise ValueError("kind")"""
    other = ask(tmp_path, (1, 3), config, (KEPT, chain.replace("HALF", "hidden")))
    assert not other.is_decided
    same = ask(tmp_path, (1, 3), config, (KEPT, chain.replace("HALF", SUM)))
    assert same.boundaries == (2, 4), same.reason


def test_two_conditions_that_read_alike_are_two(tmp_path: Path) -> None:
    """Where only one of them is true something else is kept."""
    config = ("self.wanted = []", "self.wanted, self.config = [], config")
    flags = """one = 1 if self.config.first else 0
            two = 1 if self.config.second else 0
            seen = []
            if one:
                seen.append(1)
            if two:
                seen.append(1)
            if i in self.wanted:
                kept.append(hidden if len(seen) == 1 or residual is None else hidden + residual)"""
    found = ask(tmp_path, (1, 3), config, (KEPT, flags))
    assert not found.is_decided
    same = ask(tmp_path, (1, 3), config, (KEPT, flags.replace("len(seen) == 1", "len(seen) == 7")))
    assert same.boundaries == (2, 4), same.reason


def test_an_argument_that_is_not_followed_leaves_the_class_known(tmp_path: Path) -> None:
    """A part that is built with it is one of its class all the same."""
    edits = (
        (
            "Mixer(config.hidden_size)\n        self.experts",
            "Mixer(self.chosen(config))\n        self.experts",
        ),
        (
            "    def forward(self, hidden, residual):",
            CHOSEN + "    def forward(self, hidden, residual):",
        ),
        (
            "hidden = self.attention(hidden)",
            "hidden = self.attention(hidden)\n        assert hidden.shape",
        ),
    )
    found = ask(tmp_path, (1, 3), *edits)
    assert found.boundaries == (2, 4), found.reason


def test_one_of_two_norms_norms(tmp_path: Path) -> None:
    """They do the same with other values: neither is a part that may give anything."""
    edits = (
        ("import RMSNorm", "import GemmaRMSNorm, RMSNorm"),
        (
            "self.first_norm = RMSNorm(config.hidden_size)",
            either(
                "shifted",
                "self.first_norm = GemmaRMSNorm(config.hidden_size)",
                "self.first_norm = RMSNorm(config.hidden_size)",
            ),
        ),
    )
    found = ask(tmp_path, (1, 3), *edits)
    assert found.boundaries == (2, 4), found.reason


def test_what_one_of_two_final_norms_adds_is_not_known(tmp_path: Path) -> None:
    plain = ask(
        tmp_path,
        (1, 3),
        (
            "self.norm = RMSNorm(config.hidden_size)",
            "self.norm = RMSNorm(config.hidden_size, 1e-5)",
        ),
    )
    assert plain.norm == (1e-5, 0.0)
    found = ask(
        tmp_path,
        (1, 3),
        (
            "self.norm = RMSNorm(config.hidden_size)",
            either(
                "fine",
                "self.norm = RMSNorm(config.hidden_size, 1e-6)",
                "self.norm = RMSNorm(config.hidden_size, 1e-5)",
            ),
        ),
    )
    assert found.boundaries == (2, 4)
    assert found.norm is None or found.norm[0] is None


@pytest.mark.parametrize(
    "used", ["hidden = self.attention(hidden)", "hidden, _ = self.attention(hidden)"]
)
def test_what_a_part_gives_is_one_value_or_several_as_it_is_used(tmp_path: Path, used: str) -> None:
    edits = (
        (
            "        return self.inner(x)",
            "        if self.inner is None:\n            return x, x\n        return self.inner(x)",
        ),
        ("hidden = self.attention(hidden)", used),
    )
    found = ask(tmp_path, (1, 3), *edits)
    assert found.boundaries == (2, 4), found.reason
