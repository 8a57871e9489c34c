"""Launch commands become flags."""

from pathlib import Path

import pytest

from checker.errors import InputError
from checker.launch import line_of, parse_launch


def test_flags_become_names_and_numbers_become_numbers() -> None:
    line = "python -m server --steps 3 --window=2048 --rate 0.5 --algorithm EAGLE3 --flag --last x"
    assert parse_launch(line) == {
        "steps": 3,
        "window": 2048,
        "rate": 0.5,
        "algorithm": "EAGLE3",
        "flag": True,
        "last": "x",
    }


def test_a_file_may_hold_the_command_over_several_lines(tmp_path: Path) -> None:
    path = tmp_path / "launch.sh"
    path.write_text("#!/bin/sh\npython -m server \\\n  --draft-steps 2 \\\n  --quiet\n")
    assert parse_launch(str(path)) == {"draft_steps": 2, "quiet": True}


def test_variables_set_before_the_command_are_kept_together() -> None:
    line = "PLAN=0 NAMES=a,b python -m server --draft-steps 2 --map key=value"
    assert parse_launch(line) == {
        "draft_steps": 2,
        "map": "key=value",
        "environment": {"PLAN": "0", "NAMES": "a,b"},
    }


def test_an_open_quote_is_unusable_input() -> None:
    with pytest.raises(InputError, match="close its quotes"):
        parse_launch("server --name 'open")


def test_a_line_longer_than_a_file_name_is_no_file() -> None:
    line = "python -m server " + " ".join(f"--flag-{number} {number}" for number in range(40))
    assert 255 < len(line) < 4096
    assert len(parse_launch(line)) == 40


def test_the_program_is_given_what_follows_its_module() -> None:
    line = "PLAN=0 python -X dev -m server.main name --draft-steps 2 --sizes 1 2 -v > log 2>&1 &"
    given = ("name", "--draft-steps", "2", "--sizes", "1", "2", "-v")
    assert line_of(line).arguments == given
    assert line_of("cd there && " + line + " tail -f log").arguments == given


def test_without_a_module_the_flags_begin_what_is_given() -> None:
    line = "serve now --map 'a | b' --quiet | tee log"
    assert line_of(line).arguments == ("--map", "a | b", "--quiet")
    assert line_of("serve now").arguments == ()
