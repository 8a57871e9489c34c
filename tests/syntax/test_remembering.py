"""Answers about syntax: worked out once, and gone with the syntax they are about."""

from __future__ import annotations

import ast
import gc
import weakref

import pytest

from checker.syntax import remembering

ASKED: list[str] = []


@remembering.remembered()
def named(node: ast.FunctionDef) -> list[ast.stmt]:
    """What holds on to nodes, as most answers do."""
    ASKED.append(node.name)
    return node.body


@remembering.remembered(1)
def one_at_once(node: ast.FunctionDef) -> str:
    ASKED.append(node.name)
    return node.name


@pytest.fixture(autouse=True)
def nothing_asked() -> None:
    ASKED.clear()
    remembering.forget()


def function(name: str) -> ast.FunctionDef:
    made = ast.parse(f"def {name}(): return 1").body[0]
    assert isinstance(made, ast.FunctionDef)
    return made


def test_an_answer_is_worked_out_once_until_it_is_forgotten() -> None:
    node = function("f")
    assert named(node) is named(node)
    assert ASKED == ["f"]
    remembering.forget()
    assert named(node) is node.body
    assert ASKED == ["f", "f"]


def test_what_was_forgotten_holds_no_syntax() -> None:
    node = function("f")
    named(node)
    seen = weakref.ref(node)
    del node
    gc.collect()
    assert seen() is not None, "or the test shows nothing"
    remembering.forget()
    gc.collect()
    assert seen() is None


def test_of_some_answers_only_the_last_are_kept() -> None:
    first, second = function("f"), function("g")
    for node in (first, second, second, first):
        one_at_once(node)
    assert ASKED == ["f", "g", "f"]
