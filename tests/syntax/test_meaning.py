"""Digests of meaning: the same for what only looks different, others for what does otherwise."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from checker.syntax import meaning

PLAIN = """
    def keep(self, hidden, *, owned=False):
        copy = hidden if owned else hidden.clone()
        for index in range(2):
            self.append(copy[index])
        return copy
    """


def digest(text: str) -> str:
    return meaning.digests(ast.parse(dedent(text)).body)["keep"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "def keep(self, hidden, *, owned=False):",
            "def keep(self, hidden: T, *, owned: bool = False) -> T:",
        ),
        ("return copy", "# what was kept\n        return copy"),
        ("return copy", "return (copy)"),
        ("copy = hidden", "copy: T = hidden"),
        ("copy = hidden", "copy: T\n        copy = hidden"),
        ("for index in range(2):", '"""Twice."""\n        for index in range(2):'),
        ("index", "i"),
        ("copy", "kept"),
    ],
)
def test_what_only_looks_different_has_the_same_digest(old: str, new: str) -> None:
    assert digest(PLAIN.replace(old, new)) == digest(PLAIN)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("hidden.clone()", "hidden"),
        ("if owned", "if not owned"),
        ("range(2)", "range(3)"),
        ("range(2)", "range(2.0)"),
        ("owned=False", "owned=True"),
        ("self, hidden,", "self, given,"),
        ("self.append", "self.extend"),
        ("return copy", "return hidden"),
    ],
)
def test_what_does_something_else_has_another_digest(old: str, new: str) -> None:
    assert digest(PLAIN.replace(old, new)) != digest(PLAIN)


def test_names_of_the_module_are_not_taken_for_local_ones() -> None:
    """Two functions that read different globals do different things."""
    one = (
        "def keep(x):\n    def inner():\n        a = 1\n        return a\n    return a + inner()\n"
    )
    assert digest(one) != digest(one.replace("return a + inner", "return b + inner"))


def test_the_rest_of_a_module_is_what_it_does_besides() -> None:
    """Which of two definitions of a name is there belongs to it."""
    rest = lambda text: meaning.digests(ast.parse(text).body)[meaning.REST]  # noqa: E731
    assert rest("import a\ndef f(): pass\n") == rest('"""Text."""\nimport a\n')
    assert rest("import a\n") != rest("import b\n")
    assert rest("def f(): pass\ndef f(): return 1\n") != rest("def f(): return 1\ndef f(): pass\n")


def test_an_annotation_makes_a_field_of_a_class() -> None:
    one = "class keep:\n    a: int = 1\n"
    assert digest(one) == digest(one.replace("int", "str"))
    assert digest(one) != digest(one.replace(": int", ""))
    assert digest(one) != digest(one.replace("int", "ClassVar[int]"))
