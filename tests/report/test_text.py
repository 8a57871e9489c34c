from __future__ import annotations

import io
from dataclasses import replace

import pytest

from checker.report.explain import render_clause, render_list
from checker.report.terminal import Paint, Progress, printable, wants_colour
from checker.report.text import WIDTH, render
from checker.report.tree import Node
from checker.report.tree import render as render_tree
from tests.report import samples

WHOLE = """\
DIFFER: server==2.0 does not compute what trainer==1.0 trained

1. first: title of first
   one is normed, the other is not
   trainer   rms_norm(w, x)
             trainer/core.py:12
                 residual = self.norm(hidden)
             base==5.0: base/llama.py:3
   server    x
             server/draft.py:40
                 residual = hidden  # \\x1b[31m
   when      flag == true and layers == 1
   effect    first shows in serving
   to mend   mend first
   known as  %s

2. fourth: title of fourth
   the server raises
   raises    KeyError: 'x'
             server/draft.py:40
                 residual = hidden  # \\x1b[31m
   when      always
   effect    fourth shows in serving
   to mend   mend fourth
   known as  %s

Not proven
   second
   because   a call could not be followed
             server/draft.py:40
                 residual = hidden  # \\x1b[31m

Assumed
 - tensor parallelism is 1

Not checked yet by this version
 - later

5 clauses: 2 violated, 1 unproven, 1 hold, 0 not applicable, 1 not checked yet
DIFFER: 2 violated: first, fourth
""" % (samples.VIOLATED.fingerprint, samples.RAISING.fingerprint)  # noqa: UP031


def whole() -> str:
    clauses = (samples.HOLDS, samples.LATER, samples.RAISING, samples.UNPROVEN, samples.VIOLATED)
    return render(samples.report(*clauses), samples.CONTRACT)


def test_a_finding_says_what_both_sides_do_where_when_to_what_effect_and_what_to_do() -> None:
    assert whole() == WHOLE


@pytest.mark.parametrize(
    ("clause", "word"),
    [(samples.HOLDS, "AGREE"), (samples.VIOLATED, "DIFFER"), (samples.UNPROVEN, "UNPROVEN")],
)
def test_the_verdict_stands_in_the_first_and_the_last_line(clause: object, word: str) -> None:
    report = replace(samples.report(), clauses=(clause,))  # type: ignore[arg-type]
    lines = render(report, samples.CONTRACT).splitlines()
    assert lines[0].startswith(f"{word}:")
    assert lines[-1].startswith(f"{word}:")


def test_colour_adds_nothing_but_colour() -> None:
    clauses = (samples.HOLDS, samples.LATER, samples.RAISING, samples.UNPROVEN, samples.VIOLATED)
    painted = render(samples.report(*clauses), samples.CONTRACT, paint=Paint(True))
    plain = painted
    for code in ("0", "1", "2", "33", "34", "1;31", "1;32", "1;33"):
        plain = plain.replace(f"\x1b[{code}m", "")
    assert painted != plain == WHOLE


def test_prose_is_wrapped_and_source_is_not() -> None:
    long = replace(samples.VIOLATED, message="word " * 60)
    report = replace(
        samples.report(long), excerpts={samples.TRAIN_LINE: "x = " + "1 + " * 60 + "1"}
    )
    lines = render(report, samples.CONTRACT).splitlines()
    assert [len(line) > WIDTH for line in lines].count(True) == 1


def test_a_place_without_its_source_is_still_named() -> None:
    text = render(samples.report(samples.VIOLATED), samples.CONTRACT, lambda _: None)
    assert "trainer/core.py:12\n             base==5.0: base/llama.py:3\n" in text


@pytest.mark.parametrize(
    ("choice", "tty", "environment", "expected"),
    [
        ("auto", True, {}, True),
        ("auto", False, {}, False),
        ("auto", True, {"TERM": "dumb"}, False),
        ("auto", True, {"NO_COLOR": "1"}, False),
        ("auto", True, {"NO_COLOR": ""}, True),
        ("auto", False, {"FORCE_COLOR": "1"}, True),
        ("auto", True, {"FORCE_COLOR": "0"}, False),
        ("auto", False, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ("always", False, {"NO_COLOR": "1"}, True),
        ("never", True, {"FORCE_COLOR": "1"}, False),
    ],
)
def test_colour_is_decided(
    choice: str, tty: bool, environment: dict[str, str], expected: bool
) -> None:
    assert wants_colour(choice, Terminal(tty), environment) is expected


def test_nothing_in_checked_text_reaches_the_terminal_as_a_command() -> None:
    assert printable("a\tb\x1b]0;x\x07\u202e") == "a   b\\x1b]0;x\\x07\\u202e"
    assert printable("naïve 注意") == "naïve 注意"


def test_progress_is_one_line_and_only_on_terminals() -> None:
    silent, live = Terminal(False), Terminal(True)
    for stream in (silent, live):
        progress = Progress(stream)
        progress("fetching\n" + "x" * 500)
        progress.clear()
        progress.clear()
    assert silent.getvalue() == ""
    assert live.getvalue().startswith("\r\x1b[Kfetching\\nxxx")
    assert live.getvalue().endswith("\r\x1b[K")
    assert "\n" not in live.getvalue()


def test_a_clause_is_explained_whole() -> None:
    text = render_clause(samples.CONTRACT.clauses["first"], samples.CONTRACT)
    for part in (
        "first: title of first (error, checked)", "first is the same", "because",
        "first shows in serving", "mend first", "flag: turns it", "https://example.org/1",
    ):  # fmt: skip
        assert part in text


def test_the_list_says_what_is_not_checked_yet() -> None:
    lines = render_list(samples.CONTRACT).splitlines()
    assert len(lines) == 5
    assert [line for line in lines if "not checked yet" in line] == [
        "later   title of later  (not checked yet)"
    ]


def test_a_tree_shows_every_node_with_its_line() -> None:
    leaf = Node("w", "(4, 4)", samples.SERVE_LINE)
    root = Node("draft", children=(Node("fc", "linear", samples.TRAIN_LINE, (leaf,)), leaf))
    assert render_tree(root) == (
        "draft\n"
        "├─ fc  linear    trainer/core.py:12\n"
        "│  └─ w  (4, 4)  server/draft.py:40\n"
        "└─ w  (4, 4)     server/draft.py:40\n"
    )
    assert root.to_json()["children"][1]["location"]["line"] == 40  # type: ignore[index,call-overload]


class Terminal(io.StringIO):
    def __init__(self, tty: bool) -> None:
        super().__init__()
        self._tty = tty

    def isatty(self) -> bool:
        return self._tty
