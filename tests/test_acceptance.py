"""Expected acceptance lengths, and what a measured one looks like."""

from __future__ import annotations

import itertools
import json
import random

import pytest

from checker.acceptance import Reading, expectation
from checker.cli import main
from checker.errors import InputError


def test_a_chain_is_accepted_up_to_its_first_wrong_token() -> None:
    found = expectation("0.75,0.7,0.66")
    assert found.length == pytest.approx(1 + 0.75 + 0.75 * 0.7 + 0.75 * 0.7 * 0.66)
    assert found.gains == pytest.approx((0.75, 0.525, 0.3465))
    assert found.explained is None
    assert found.reading is None


@pytest.mark.parametrize("words", ["0.5", "0.9,0.1", "0.75,0.7,0.66", "1,0,1", "0.3,0.8,0.2,0.6"])
def test_it_is_the_mean_over_all_outcomes(words: str) -> None:
    chances = [float(word) for word in words.split(",")]
    mean = 0.0
    for outcome in itertools.product((True, False), repeat=len(chances)):
        chance = 1.0
        for right, accuracy in zip(outcome, chances, strict=True):
            chance *= accuracy if right else 1 - accuracy
        accepted = next((i for i, right in enumerate(outcome) if not right), len(outcome))
        mean += chance * (1 + accepted)
    assert expectation(words).length == pytest.approx(mean)


def test_rounding_covers_every_value_that_rounds_to_the_given_ones() -> None:
    given = expectation("0.75,0.7,0.66")
    draw = random.Random(1)
    for _ in range(200):
        exact = [draw.uniform(0.745, 0.755), draw.uniform(0.65, 0.75), draw.uniform(0.655, 0.665)]
        length = expectation(",".join(f"{value:.12f}" for value in exact)).length
        assert abs(length - given.length) <= given.rounding + 1e-9
    assert expectation("0.7500,0.7000,0.6600").rounding < given.rounding / 10


@pytest.mark.parametrize(
    ("measured", "reading"),
    [
        ("2.6", Reading.EXPECTED),
        ("2.4", Reading.EXPECTED),
        ("1.8", Reading.FIRST_STEP_ONLY),
        ("1.0", Reading.NOTHING_ACCEPTED),
        ("2.2", Reading.LESS),
        ("3.1", Reading.JOINT),
        ("3.9", Reading.MORE),
    ],
)
def test_a_measurement_is_read(measured: str, reading: Reading) -> None:
    found = expectation("0.75,0.70,0.66", measured)
    assert found.reading is reading
    assert found.explained is (reading is Reading.EXPECTED)


@pytest.mark.parametrize(
    "words", ["", "0.5,", "75", "75%", "-0.1", "nan", "inf", "1e400", "a", "1.01"]
)
def test_words_that_are_no_accuracies_are_unusable_input(words: str) -> None:
    with pytest.raises(InputError) as caught:
        expectation(words)
    assert caught.value.place == "--step-accuracy"


@pytest.mark.parametrize("measured", ["0.9", "4.01", "nan", "", "four", "-1"])
def test_a_length_that_so_many_steps_cannot_give_is_unusable_input(measured: str) -> None:
    with pytest.raises(InputError) as caught:
        expectation("0.75,0.7,0.66", measured)
    assert caught.value.place == "--measured"


def test_the_command_says_so_and_its_status_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["expect", "--step-accuracy", "0.75,0.70,0.66"]) == 0
    assert "expected acceptance length 2.62 tokens" in capsys.readouterr().out
    given = ["expect", "--step-accuracy", "0.75,0.70,0.66", "--measured"]
    assert main([*given, "2.7"]) == 0
    assert "explained" in capsys.readouterr().out
    assert main([*given, "1.8"]) == 1
    text = capsys.readouterr().out
    assert "only the first proposal" in text
    assert max(map(len, text.splitlines())) <= 100


def test_the_command_gives_json(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["expect", "--step-accuracy", "0.8,0.5", "--measured", "1.8", "--format", "json"]
    assert main(given) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["expected"] == 2.2
    assert document["gains"] == [0.8, 0.4]
    assert document["explained"] is False
    assert document["reading"] == "first-step-only"
