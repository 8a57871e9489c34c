"""The index of a module's top level: which statements a name's value depends on."""

from __future__ import annotations

import ast

import pytest

from checker.syntax.index import index


def touching(source: str, name: str) -> list[int]:
    """The lines of the statements that `name` depends on."""
    return [stmt.lineno for stmt in index(ast.parse(source).body).touching.get(name, [])]


def effects(source: str) -> list[int]:
    return [stmt.lineno for stmt in index(ast.parse(source).body).effects]


NESTED = """R = {}
def reg(n):
    def deco(c):
        R[n] = c
    return deco
@reg('a')
class A: pass
"""
INHERITED = """R = []
class B:
    def __init_subclass__(cls): R.append(cls)
class A(B): pass
"""


@pytest.mark.parametrize(
    ("source", "name", "lines"),
    [
        ("x = 1\ny = 2\nx = 3", "x", [1, 3]),
        ("x, (y, *z) = f()", "z", [1]),
        ("x: int\nx: int = 1", "x", [2]),
        ("x += 1", "x", [1]),
        ("def f(): x = 1", "x", []),
        ("import a.b\nimport a.c as d", "a", [1]),
        ("from a import b as c", "c", [1]),
        ("from a import *", "a", []),
        ("R = {}\nR['a'] = 1\nR.b.c = 2\ndel R['a']", "R", [1, 2, 3, 4]),
        ("R = []\nR.append(1)\nf(R)\ng(a=R)\nh(1)", "R", [1, 2, 3, 4]),
        ("R = []\n@R.append\ndef f(): pass\n@reg(R)\nclass A: pass", "R", [1, 3, 5]),
        ("if a:\n    x = 1\nelse:\n    y = 2", "y", [1]),
        ("try:\n    x = 1\nexcept E:\n    x = 2\nfinally:\n    y = 3", "y", [1]),
        ("for i in a:\n    R[i] = 1", "R", [1]),
        ("with a as b, c as (d, e): pass", "e", [1]),
        ("while a:\n    x = 1", "x", [1]),
        ("match a:\n    case [x, *y]: z = 1", "y", [1]),
        ("match a:\n    case [x, *y]: z = 1", "z", [1]),
        ("if (n := f()): pass", "n", [1]),
        ("y = [m := 1]", "m", [1]),
        ("R = {}\ndef reg(c):\n    R[c] = 1\n    return c\n@reg\nclass A: pass", "R", [1, 6]),
        (NESTED, "R", [1, 7]),
        ("X = 1\ndef f():\n    global X\n    X = 2\nf()", "X", [1, 5]),
        ("R = []\ndef g(): R.append(1)\ndef f(): g()\nf()", "R", [1, 4]),
        (INHERITED, "R", [1, 4]),
        ("R = Registry()\ndef reg(c): R.register(c)\nx = reg(1)", "R", [1, 3]),
        ("class R:\n def add(c): pass\ndef reg(c): R.add(c)\nreg(1)", "R", [1, 4]),
        ("class R: pass\ndef f(): R.known = 1\nf()", "R", [1, 3]),
        ("class R: pass\ndef f(): return R.known\nf()", "R", [1]),
        ("import torch\n@torch.compile\ndef f(): pass", "torch", [1]),
        ("from a import deco\n@deco('x')\ndef f(): pass", "deco", [1]),
        ("x = 1\ndef f(): return x\nf()", "x", [1]),
    ],
)  # fmt: skip
def test_what_a_name_depends_on(source: str, name: str, lines: list[int]) -> None:
    assert touching(source, name) == lines


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("x = 1\nf()\n'text'\na.b = 1\na['c'] = 2", [2, 4, 5]),
        ("@d\ndef f(): pass\ndef g(): pass", [2]),
        ("@d.x('a')\nclass A: pass\nclass B(A): pass\nclass C(A, key=1): pass", [2, 4]),
        ("if a:\n    f()\nif b:\n    x = 1", [1]),
        ("try:\n    f()\nexcept E: pass", [1]),
        ("for i in a: pass\nwhile a: pass", [1, 2]),
        ("import a\nfrom b import c", []),
    ],
)
def test_what_acts_on_other_modules(source: str, lines: list[int]) -> None:
    assert effects(source) == lines


def test_star_imports_are_kept() -> None:
    found = index(ast.parse("from a import *\nfrom b import c").body)
    assert [stmt.module for stmt in found.star_imports] == ["a"]
