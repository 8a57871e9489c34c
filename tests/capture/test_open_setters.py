"""Setters with conditions that nothing decides, which reach what is built only when asked for."""

from __future__ import annotations

from textwrap import dedent, indent
from typing import TYPE_CHECKING

import pytest

from checker.interpreter import merging
from tests.capture.test_small_targets import ask

if TYPE_CHECKING:
    from pathlib import Path

    from checker.engines import Captured

SET = "self.model.wanted = [2, 4, 5] if layer_ids is None else [i + 1 for i in layer_ids]"
TEST = "if i in self.wanted:"
MARKED = "if getattr(layer, 'mark', False):"
OTHER = """
class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.wanted = []
class State:
    own = None
STATE = State()
def current():
    return STATE
class Target(nn.Module):"""


def _asked(folder: Path, body: str, *edits: tuple[str, str], method: str = "") -> Captured:
    """What a target hands over whose setter has this body."""
    setter = "    def set_eagle3_layers_to_capture(self, layer_ids=None):\n        " + SET
    own = indent(dedent(body), " " * 8).strip()
    given = [
        ("class Target(nn.Module):", OTHER.strip()),
        ("self.head = None", "self.head, self.config, self.other = None, config, Other()"),
        (setter, indent(dedent(method), "    ") + setter.replace(SET, own)),
        *edits,
    ]
    return ask(folder, (3, 9), *given, layers=16)


UNDECIDED: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "set again": (
        """
        self.model.wanted = [i + 1 for i in layer_ids]
        if self.config.flag:
            self.model.wanted = list(layer_ids)
        """,
        (),
    ),
    "either": (
        """
        if self.config.flag:
            self.model.wanted = [i + 1 for i in layer_ids]
        else:
            self.model.wanted = list(layer_ids)
        """,
        (),
    ),
    "an early end": (
        """
        self.model.wanted = [i + 1 for i in layer_ids]
        if not self.config.flag:
            self.model.wanted = list(layer_ids)
            return
        """,
        (),
    ),
    "or not": ("if self.config.flag:\n    self.model.wanted = [i + 1 for i in layer_ids]", ()),
    "marks": (
        """
        for i in layer_ids:
            if self.config.flag:
                self.model.layers[i].mark = True
            else:
                self.model.layers[i + 1].mark = True
        """,
        ((TEST, MARKED),),
    ),
    "what a function gives": (
        """
        if self.config.flag:
            current().own = list(layer_ids)
        else:
            current().own = [7]
        """,
        ((TEST, "if i in current().own:"),),
    ),
    "put into a list": (
        """
        for i in layer_ids:
            self.model.wanted.append(i + 1 if self.config.flag else i)
        """,
        (),
    ),
    "one of two objects": (
        "m = self.model if self.config.flag else self.other\nm.wanted = [i + 1 for i in layer_ids]",
        (),
    ),
    "one of two objects, chosen by a statement": (
        """
        if self.config.flag:
            m = self.model
        else:
            m = self.other
        m.wanted = [i + 1 for i in layer_ids]
        """,
        (),
    ),
    "an object of some name": (
        "m = getattr(self, self.config.name)\nm.wanted = [i + 1 for i in layer_ids]",
        (),
    ),
    "layers at some distance": (
        "for i in layer_ids:\n    self.model.layers[i + self.config.off].mark = True",
        ((TEST, MARKED),),
    ),
    "some layers and others at some distance": (
        """
        self.model.layers[2].mark = True
        for i in layer_ids:
            self.model.layers[i + self.config.off].mark = True
        """,
        ((TEST, MARKED),),
    ),
}


@pytest.mark.parametrize("name", UNDECIDED)
def test_what_is_set_hangs_on_a_condition(name: str, tmp_path: Path) -> None:
    """It is not known which, and said so; never one of both."""
    body, edits = UNDECIDED[name]
    found = _asked(tmp_path, body, *edits)
    assert not found.is_decided, found.answer


METHODS = {
    "self.model.wanted = self.helper(layer_ids)": """
        def helper(self, ids):
            if self.config.flag:
                return [i + 1 for i in ids]
            return list(ids)
        """,
    "self.fill(self.model.wanted, layer_ids)": """
        def fill(self, wanted, ids):
            if self.config.flag:
                wanted.extend(i + 1 for i in ids)
            else:
                wanted.extend(ids)
        """,
}


@pytest.mark.parametrize("body", METHODS)
def test_a_method_that_sets_it(body: str, tmp_path: Path) -> None:
    assert not _asked(tmp_path, body, method=METHODS[body]).is_decided


SAME = {
    "a name": """
        if self.config.flag:
            ids = [i + 1 for i in layer_ids]
        else:
            ids = [1 + i for i in layer_ids]
        self.model.wanted = ids
        """,
    "something else": """
        self.model.wanted = [i + 1 for i in layer_ids]
        if self.config.flag:
            self.head = None
        """,
    "another object": """
        self.model.wanted = [i + 1 for i in layer_ids]
        self.other.wanted = list(layer_ids) if self.config.flag else [7]
        """,
    "either": """
        if self.config.flag:
            self.model.wanted = [i + 1 for i in layer_ids]
        else:
            self.model.wanted = [i + 1 for i in list(layer_ids)]
        """,
}


@pytest.mark.parametrize("name", SAME)
def test_what_comes_to_the_same_is_decided(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _asked(tmp_path, SAME[name]).boundaries == (4, 10)
    monkeypatch.setattr(merging, "is_open", lambda *_: False)
    assert _asked(tmp_path, SAME[name]).boundaries == (4, 10)
