"""Every hostile input gets an answer; and what judges that can tell."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from benchmarks.fuzz.cases import Case, Ran
from benchmarks.fuzz.inputs import KINDS
from benchmarks.fuzz.oracle import LONGEST, faults
from benchmarks.fuzzing import SHARES, FuzzResult, fuzz, summary

if TYPE_CHECKING:
    from pathlib import Path


def listed(result: FuzzResult) -> str:
    return "\n".join(summary(result))


def test_a_sample_of_hostile_inputs_is_answered() -> None:
    result = fuzz(20, seed=1, kinds=sorted(KINDS))
    assert not result.offenders, listed(result)
    assert result.inputs == 20
    assert set(result.counts) == set(KINDS)


@pytest.mark.long
def test_many_hostile_inputs_are_answered() -> None:
    result = fuzz(2100, seed=20)
    assert not result.offenders, listed(result)
    assert result.inputs == 2100
    assert result.notes or set(result.counts) == set(SHARES)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_same_number_makes_the_same_input(kind: str, tmp_path: Path) -> None:
    made = []
    for place in ("first", "second"):
        folder = tmp_path / place
        folder.mkdir()
        case = KINDS[kind](random.Random(f"1/{kind}/5"), folder, 5)
        files = {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
        argv = [word.replace(str(folder), "") for word in case.argv]
        made.append((case.how.replace(str(folder), ""), argv, files))
    assert made[0] == made[1]


VERIFY = Case("", ("verify", "--format", "json"), ("/there/x.json",))
LINE = "eagle3-check: /there/x.json: is no JSON (mend it)\n"


@pytest.mark.parametrize(
    ("ran", "fault"),
    [
        (Ran(-9, 20.0, "", ""), "hangs"),
        (Ran(-24, 20.0, "", ""), "hangs"),
        (Ran(-11, 0.1, "", ""), "exit status -11"),
        (Ran(70, 0.1, "", "Traceback (most recent call last):\n"), "exit status 70"),
        (Ran(2, 0.1, "", "eagle3-check: bug: KeyError: 'x' (please report it)\n"), "bug"),
        (Ran(2, 0.1, "", LINE + LINE), "several lines"),
        (Ran(2, 0.1, "", "no\n"), "form"),
        (Ran(2, 0.1, "", LINE.replace("x.json", "y.json")), "names none of"),
        (Ran(2, 0.1, "", LINE.replace("mend", "x" * 3 * LONGEST)), "characters"),
        (Ran(2, 0.1, "", LINE.replace("mend", "\u202e")), "unprintable"),
        (Ran(2, 0.1, "{}", LINE), "after a report"),
        (Ran(0, 0.1, "", ""), "says nothing"),
        (Ran(1, 0.1, "{}", "warning\n"), "writes to standard error"),
        (Ran(1, 0.1, "{", ""), "no JSON"),
        (Ran(1, 0.1, '{"a": NaN}', ""), "NaN is no JSON"),
        (Ran(1, 0.1, "{}", ""), "against its schema"),
    ],
)
def test_what_is_wrong_with_a_run_is_told(ran: Ran, fault: str) -> None:
    assert any(fault in found for found in faults(VERIFY, ran))


def test_an_error_in_one_line_is_right() -> None:
    assert faults(VERIFY, Ran(2, 0.1, "", LINE)) == []
