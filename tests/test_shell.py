"""Scripts are split into commands as a shell splits them."""

import pytest

from checker.errors import InputError
from checker.launch import files_of, line_of, parse_launch
from checker.shell import commands, is_unknown

SCRIPTS: dict[str, tuple[str, list[tuple[str, ...]]]] = {
    "lines": ("one a\ntwo b", [("one", "a"), ("two", "b")]),
    "a line that goes on": ("one \\\n  a", [("one", "a")]),
    "a comment": ("one a # b\n# c\ntwo", [("one", "a"), ("two",)]),
    "a mark inside of a word": ("one a#b", [("one", "a#b")]),
    "quotes": ("""one 'a | b' "c; d" e\\ f""", [("one", "a | b", "c; d", "e f")]),
    "quotes inside of quotes": (
        """one '{"a": "b"}' "it's" "\\"" """,
        [("one", '{"a": "b"}', "it's", '"')],
    ),
    "operators": ("one a && two|three&", [("one", "a"), ("two",), ("three",)]),
    "what goes to files": ("one > log a 2>&1 b &> more c", [("one", "a", "b", "c")]),
    "a variable": ("A=1\none $A ${A}b '$A' \"$A\"", [("one", "1", "1b", "$A", "1")]),
    "a variable of several words": (
        'A="1 2"\none $A "$A" x$A',
        [("one", "1", "2", "1 2", "x1", "2")],
    ),
    "an empty variable": ("A=\none $A b", [("one", "b")]),
    "a default": ("one ${A:-1} ${B-2}", [("one", "1", "2")]),
    "what only the shell knows": ("one $A $(nproc) `b c`", [("one", "$A", "$(nproc)", "`b c`")]),
    "a command in a word": ("one -x y sh -c 'two a && three'", [("two", "a"), ("three",)]),
}  # fmt: skip


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_split_into_commands(name: str) -> None:
    text, wanted = SCRIPTS[name]
    assert [command.words for command in commands(text) if command.words[0] != "export"] == wanted


def test_an_open_quotation_is_an_error() -> None:
    for text in ("one 'a", 'one "a'):
        with pytest.raises(ValueError, match="quotation"):
            commands(text)


VARIABLES: dict[str, tuple[str, dict[str, str]]] = {
    "before the command": ("A=1 B=2 python -m server", {"A": "1", "B": "2"}),
    "exported": ("export A=1\npython -m server", {"A": "1"}),
    "exported later": ("A=1; export A; python -m server", {"A": "1"}),
    "set and not exported": ("A=1\npython -m server", {}),
    "for another command": ("A=1 one\npython -m server", {}),
    "taken back": ("export A=1; unset A; python -m server", {}),
    "by a program": ("env A=1 python -m server", {"A": "1"}),
    "of a container": (
        "box run -e A=1 --env B=2 --env=C=3 -v /x=y:/z image python3 -m server",
        {"A": "1", "B": "2", "C": "3"},
    ),
    "through a shell": (
        "export A=1\nbox run -e B=2 i bash -lc 'C=3 python -m server --x 1'",
        {"A": "1", "B": "2", "C": "3"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", VARIABLES)
def test_variables_that_reach_the_server_are_kept(name: str) -> None:
    text, wanted = VARIABLES[name]
    line = line_of(text)
    assert (line.starts, dict(line.environment)) == ("server", wanted)
    assert parse_launch(text).get("environment", {}) == wanted


COMMANDS = """#!/bin/bash
set -euo pipefail
python -m pip install -U things --no-cache-dir
MODEL=org/model
other serve now --not 1
server serve $MODEL \\
  --draft-steps ${STEPS:-2} \\
  --quiet  # --draft-steps 9
echo done --never
"""


def test_the_command_that_starts_the_server_is_found_among_others() -> None:
    line = line_of(COMMANDS, ("server.main", "server serve"))
    given = ("org/model", "--draft-steps", "2", "--quiet")
    assert (line.starts, line.arguments) == ("server serve", given)
    assert line_of("box run -m 32g image python3 -m server.main --a 1").starts == "server.main"
    assert line_of("box run -m 32g image python3 -m server.main --a 1").arguments == ("--a", "1")


def test_flags_behind_a_comment_or_a_line_that_ends_are_no_part_of_the_command() -> None:
    for text in ("server --a 1 \\\n# a note\n--b 2", "server --a 1\n  --b 2"):
        with pytest.raises(InputError, match="--b begins a command of its own"):
            line_of(text)
    assert line_of("server --a 1 \\\n --b 2").arguments == ("--a", "1", "--b", "2")


def test_words_that_only_a_shell_knows_are_told() -> None:
    assert all(is_unknown(word) for word in ("$A", "x${A}", "$(nproc)", "`b`", "$1", "$@"))
    assert not any(is_unknown(word) for word in ("A", "5$", "$.a", "a$ b"))


def test_files_that_a_line_names_are_read_from_here_or_from_beside_it(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "a.yaml").write_text("x: 1\n")
    (tmp_path / "b.bin").write_bytes(b"\xff\xfe\x00")
    line = "python -m server --flags a.yaml --more=a.yaml --weights b.bin --none c.yaml"
    assert files_of(line, str(tmp_path)) == {"a.yaml": "x: 1\n"}
    assert files_of(line) == {}
