"""Parts of functions, and what else stages ask of the checked program's own definitions."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from support import machine

from checker.interpreter import calls, excerpts, imports
from checker.interpreter.machine import Machine
from checker.interpreter.values import Raised

LONG = """
def long(box, limit):
    factor = 2
    box.size = nothing_known()
    name = "other"
    if limit > 3:
        box.draft_size = limit * factor
    assert name.undefined
    share(box, draft_rate=factor)
    setattr(box, "draft_kind", "tree")
    raise ValueError(name)
"""


def kept(prefix: str) -> list[str]:
    (function,) = ast.parse(LONG).body
    assert isinstance(function, ast.FunctionDef)
    return [ast.unparse(stmt).splitlines()[0] for stmt in excerpts.part(function.body, (prefix,))]


@pytest.mark.parametrize(
    ("prefix", "statements"),
    [
        (
            "draft_",
            [
                "factor = 2",
                "if limit > 3:",
                "share(box, draft_rate=factor)",
                "setattr(box, 'draft_kind', 'tree')",
            ],
        ),
        ("draft_k", ["setattr(box, 'draft_kind', 'tree')"]),
        ("size", ["box.size = nothing_known()"]),
        ("other", []),
    ],
)
def test_a_part_is_what_sets_such_names_and_what_that_uses(
    prefix: str, statements: list[str]
) -> None:
    assert kept(prefix) == statements


PROGRAM = """
class Box:
    width: int = 3
    def settle(self, more):
        step = more + 1
        unknown_to_everyone(step)
        self.width = self.width + step
    def refuse(self):
        raise ValueError("no")

class Lid(Box):
    pass

number = 7
"""


def _program() -> tuple[Machine, Any]:
    m = machine({"main.py": PROGRAM})
    (box, lid) = excerpts.classes(m, "main")
    assert [cls.name for cls in (box, lid)] == ["Box", "Lid"]
    return m, calls.call(m, box, [], {})


def test_a_method_is_run_in_part_on_its_object() -> None:
    m, box = _program()
    function = box.cls.lookup("settle")[0]
    excerpts.run_part(m, function, ["width"], box, 4)
    assert box.attrs["width"] == 8
    with pytest.raises(Raised):
        calls.call(m, function, [box, 4], {})


def test_names_of_modules_that_are_not_there_are_none() -> None:
    m, _ = _program()
    assert excerpts.defined(m, "main", "number") == 7
    assert excerpts.defined(m, "main", "nothing") is None
    assert excerpts.defined(m, "nowhere", "number") is None
    assert excerpts.classes(m, "nowhere") == []
    assert not imports.is_missing(excerpts.defined(m, "main", "Box"))
