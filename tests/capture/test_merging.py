"""What conditions within a call do to anything else is followed; what they do not is merged."""

from __future__ import annotations

import importlib
from textwrap import dedent, indent
from typing import TYPE_CHECKING, Any

import pytest

from checker.interpreter import merging
from tests.capture.test_small_targets import SUM, ask

if TYPE_CHECKING:
    from pathlib import Path

    from checker.engines import Captured

CLASS = "class Stack(nn.Module):"
FORWARD = "    def forward(self, tokens):\n        hidden, residual = self.embed(tokens), None"
EMPTY = "        kept = []\n"
KEEP = f"            if i in self.wanted:\n                kept.append({SUM})\n"
CALL = "            hidden, residual = layer(hidden, residual)\n"
WHOLE = f"if i in self.wanted:\n    kept.append({SUM})"
FED = "if residual is not None:\n    hidden, residual = hidden + residual, None\n"
HELD = "if i in self.wanted:\n    kept.append(hidden)\nhidden = hidden + 0"


def edits(
    *, top: str = "", method: str = "", first: str = "", keep: str = WHOLE, after: str = ""
) -> tuple[tuple[str, str], ...]:
    """A target with a function or class, a method, and statements before and in its loop."""
    return (
        ("self.wanted = []", "self.wanted, self.config = [], config"),
        (CLASS, f"{dedent(top)}\n{CLASS}"),
        (FORWARD, f"{indent(dedent(method), '    ')}\n{FORWARD}"),
        (EMPTY, EMPTY + indent(f"{dedent(first)}\n", " " * 8)),
        (KEEP, indent(f"{dedent(keep)}\n", " " * 12)),
        (CALL, CALL + indent(f"{dedent(after)}\n", " " * 12)),
    )


class Runs:
    """Runs of targets, counted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        capture = importlib.import_module("checker.engines.capture")
        run = capture._one_path

        def counted(*args: Any) -> Any:
            self.count += 1
            return run(*args)

        monkeypatch.setattr(capture, "_one_path", counted)


def both(
    folder: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, str]
) -> tuple[Captured, Captured]:
    """What a target hands over, with and without merging."""
    merged = ask(folder, (1, 3), *edits(**given))
    with monkeypatch.context() as patched:
        patched.setattr(merging, "is_open", lambda *_: False)
        return merged, ask(folder, (1, 3), *edits(**given))


SPLIT = """
def split(self, x):
    y = x + 0
    if self.config.a:
        return FIRST
    return y, x + 0
"""
BOX = """
class Box:
    def __init__(self, config):
        self.config = config
    @property
    def extra(self):
        if self.config.a:
            return 1
        raise AttributeError("none")
    def __next__(self):
        if self.config.a:
            return 1
        raise StopIteration
    def __getitem__(self, place):
        if place == 0 and self.config.a:
            return 1
        raise IndexError("none")
class Falling(Box):
    def __getattr__(self, name):
        return 0
"""
TWO_PARTS = """
class One(nn.Module):
    def forward(self, hidden, kept):
        kept.append(hidden)
class Other(nn.Module):
    def forward(self, hidden, kept):
        kept.append(hidden)
"""
CHECK = """
def check(self):
    if self.config.a:
        return 1
    raise ValueError("none")
def safe(self):
    n = 0
    try:
        n = self.check()
    finally:
        END
    return n
"""
LATER = "f = self.pick(kept)\nf()"
TWO_FUNCTIONS = """
def pick(self, kept):
    if self.config.a:
        def f():
            kept.append(hidden)
    else:
        def f():
            kept.append(hidden)
    return f
"""
FOLLOWED = {
    "a closure that changes what it holds": {
        "method": TWO_FUNCTIONS.replace("hidden", "kept[0]"),
        "keep": f"{WHOLE}\n    if i == 4:\n        self.pick(kept)()",
    },
    "a function that changes what its module holds": {
        "top": "STATE = []\ndef one():\n    STATE.append(1)\ndef two():\n    STATE.append(2)",
        "method": "def pick(self):\n    if self.config.a:\n        return one\n    return two",
        "first": "f = self.pick()\nf()",
        "keep": WHOLE.replace("wanted", "wanted and not STATE"),
    },
    "two results that are one tensor in one way": {
        "method": SPLIT.replace("FIRST", "y, y"),
        "keep": f"{FED}hidden, other = self.split(hidden)\n{HELD}",
        "after": "other.zero_()",
    },
    "two results that share a tensor in one way": {
        "method": SPLIT.replace("FIRST", "y, y[:]"),
        "keep": f"{FED}hidden, other = self.split(hidden)\n{HELD}",
        "after": "other.zero_()",
    },
    "a tensor that carries a tag": {
        "method": """
            def tagged(self, x):
                y, z = x + 0, x + 1
                if self.config.a:
                    y.tag = 1
                    return y
                z.tag = 1
                return z
            """,
        "keep": WHOLE.replace("wanted", "wanted and not hasattr(self.tagged(hidden), 'tag')"),
    },
    "parts that do something else than compute": {
        "top": TWO_PARTS,
        "method": "def pick(self):\n    one, two = One(), Other()\n    if self.config.a:\n"
        "        return one\n    return two",
        "keep": f"{WHOLE}\n    self.pick()(kept[-1], kept)",
    },
    "a tensor that gets another's data": {
        "method": "def put(self, t):\n    if self.config.a:\n        t.data = t + 1",
        "keep": f"{WHOLE}\n    self.put(kept[-1])",
    },
    "what hasattr is told": {
        "top": BOX,
        "first": "box = Box(self.config)",
        "keep": WHOLE.replace("wanted", "wanted and hasattr(box, 'extra')"),
    },
    "what getattr is told": {
        "top": BOX,
        "first": "box = Box(self.config)",
        "keep": WHOLE.replace("wanted", "wanted and getattr(box, 'extra', 0)"),
    },
    "what another attribute stands for": {
        "top": BOX,
        "first": "box = Falling(self.config)",
        "keep": WHOLE.replace("wanted", "wanted and box.extra"),
    },
    "the end of an iterator": {
        "top": BOX,
        "first": "box = Box(self.config)",
        "keep": WHOLE.replace("wanted", "wanted and next(box, 0)"),
    },
    "the end of a sequence": {
        "top": BOX,
        "first": "box = Box(self.config)",
        "keep": WHOLE.replace("wanted", "wanted and list(box)"),
    },
    "an exception that a finally block ends": {
        "method": CHECK.replace("END", "return n"),
        "keep": WHOLE.replace("wanted", "wanted and self.safe()"),
    },
    "a condition asked first where both branches are looked at": {
        "top": BOX.replace("AttributeError", "KeyError"),
        "first": "box = Box(self.config)\nother = None",
        "after": """
            if self.config.a is None:
                other = hidden
                flag = hasattr(box, "extra")
            else:
                other = residual
                flag = hidden if not self.config.a else None
            """,
    },
    "what an attribute of the model counts": {
        "method": "def note(self):\n    if self.config.a:\n        self.tag = 1",
        "keep": "self.note()\n" + WHOLE.replace("wanted", "wanted and 'tag' not in vars(self)"),
    },
    "a default that is a list": {
        "method": "def note(self, seen=[]):\n    if self.config.a:\n        seen.append(1)\n"
        "    return seen",
        "keep": WHOLE.replace("wanted", "wanted and not self.note()"),
    },
    "an iterator that goes on": {
        "method": "def take(self, items):\n    if self.config.a:\n        next(items)",
        "first": "items = iter(range(20))",
        "keep": f"self.take(items)\n{WHOLE.replace('wanted', 'wanted and next(items) < 2')}",
    },
    "a name of the function around": {
        "first": """
            count = 0
            def more():
                nonlocal count
                if self.config.a:
                    count += 1
            """,
        "keep": f"more()\n{WHOLE.replace('wanted', 'wanted and not count')}",
    },
    "a module's constant": {
        "top": "import os\ndef wide(config):\n    return 1 if len(config.name) > 3 else 0",
        "first": "width = wide(self.config)\nif self.config.a:\n    width = str(width)",
        "keep": WHOLE.replace("wanted", "wanted and width == '1'"),
    },
    "two values that are never both true": {
        "method": "def f(self):\n    if self.config.a:\n        return 1, 0\n    return 0, 1",
        "keep": f"one, two = self.f()\n{WHOLE}\n    if one:\n        if not two:\n"
        "            kept.append(hidden)",
    },
    "a number in one way, None in the other": {
        "method": "def f(self):\n    if self.config.a:\n        return None\n    return 0.5",
        "keep": f"scale = self.f() * 2\n{WHOLE}",
    },
    "a number that is taken for a list": {
        "method": "def f(self):\n    if self.config.a:\n        return 1\n    return 2",
        "keep": f"first = self.f()[0]\n{WHOLE}",
    },
    "a property that is kept": {
        "top": "from functools import cached_property",
        "method": "@cached_property\ndef wide(self):\n    if self.config.a:\n        return 1\n"
        "    return 0",
        "keep": WHOLE.replace("wanted", "wanted and self.wide"),
    },
}


@pytest.mark.parametrize("kind", FOLLOWED)
def test_what_matters_elsewhere_is_followed(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer is the one that is given when nothing is merged; it is not the plain one."""
    merged, followed = both(tmp_path, monkeypatch, FOLLOWED[kind])
    assert merged.is_decided == followed.is_decided, (merged.said, followed.said)
    if followed.is_decided:
        assert merged.answer == followed.answer
    assert kind.startswith("a condition asked first") or merged.boundaries != (2, 4)


MERGED = {
    "a tensor of its own": {
        "method": SPLIT.replace("FIRST", "y + 1, y"),
        "keep": f"{WHOLE}\nother = self.split(hidden)[1] + 1",
        "after": "other.zero_()",
    },
    "values of no matter": {
        "method": "def size(self):\n    if self.config.a:\n        n = str(1)\n    else:\n"
        "        n = str(2)\n    return n",
        "keep": f"name = self.size()\n{WHOLE}",
    },
    "a configuration that is refused": {
        "method": "def check(self):\n    if self.config.a:\n        return 1\n"
        "    raise ValueError('none')",
        "keep": f"name = self.check()\n{WHOLE}",
    },
    "a finally block that leads nowhere else": {
        "method": CHECK.replace("END", "n += 1"),
        "keep": f"name = self.safe()\n{WHOLE}",
    },
    "a list made within": {
        "method": "def noted(self):\n    seen = []\n    if self.config.a:\n        seen.append(1)\n"
        "    return len(str(seen))",
        "keep": f"name = self.noted()\n{WHOLE}",
    },
    "what is written to a tensor": {
        "method": "def scale(self, x):\n    if self.config.a:\n        x.mul_(2)\n    return None",
        "first": "scratch = hidden.clone()",
        "keep": f"self.scale(scratch)\n{WHOLE}",
    },
    "what is nothing in one way, and taken apart only where it is something": {
        "method": "def found(self, x):\n    if self.config.a:\n        return None\n"
        "    return x + 0",
        "keep": "more = self.found(hidden)\npart = more[0] if more is not None else None\n"
        "if more is not None:\n    part = more[1]\nelse:\n    part = None\n" + WHOLE,
    },
    "a branch of the loop itself": {
        "keep": f"if self.config.a:\n    name = str(1)\nelse:\n    name = str(2)\n{WHOLE}",
    },
}


@pytest.mark.parametrize("kind", MERGED)
def test_what_matters_nowhere_is_merged(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One run tells what is handed over, where it takes several without merging."""
    runs = Runs(monkeypatch)
    found = ask(tmp_path, (1, 3), *edits(**MERGED[kind]))
    assert (found.boundaries, runs.count) == ((2, 4), 1), found.reason
    assert found.decisions == ("fact: the target's configuration.a",)
    with monkeypatch.context() as patched:
        patched.setattr(merging, "is_open", lambda *_: False)
        followed = ask(tmp_path, (1, 3), *edits(**MERGED[kind]))
    assert followed.answer == found.answer
    assert runs.count > 2


def test_a_refusal_that_something_catches_is_no_refusal(tmp_path: Path) -> None:
    """What a `try` around the call does about it is followed; so is what a context manager does."""
    check = {
        "method": "def check(self):\n    if self.config.a:\n        return 1\n"
        "    raise ValueError('none')",
        "top": "from contextlib import suppress",
    }
    tried = "n = 0\ntry:\n    n = self.check()\nexcept ValueError:\n    pass\n"
    managed = "n = 0\nwith suppress(ValueError):\n    n = self.check()\n"
    for text in (tried, managed):
        keep = text + WHOLE.replace("wanted", "wanted and n")
        assert not ask(tmp_path, (1, 3), *edits(**check, keep=keep)).is_decided
        assert ask(tmp_path, (1, 3), *edits(**check, keep=text + WHOLE)).boundaries == (2, 4)


def test_a_condition_is_looked_at_once(tmp_path: Path) -> None:
    """Names that it binds are bound once."""
    test = "n = 0\nif (n := n + 1) and self.config.a:\n    x = str(1)\nelse:\n    x = str(2)"
    once = f"{test}\n{WHOLE.replace('wanted', 'wanted and n == 1')}"
    assert ask(tmp_path, (1, 3), *edits(keep=once)).boundaries == (2, 4)
    twice = f"{test}\n{WHOLE.replace('wanted', 'wanted and n == 2')}"
    assert ask(tmp_path, (1, 3), *edits(keep=twice)).boundaries is None


def test_what_a_condition_writes_is_written_once(tmp_path: Path) -> None:
    """It moves values on from tensor to tensor; what is kept has got the state."""
    move = "def move(self, x, y, z):\n    x.copy_(y)\n    y.copy_(z)\n    return True"
    keep = f"""
        one, two, three = hidden + 1, ({SUM}) + 0, hidden + 2
        if self.move(one, two, three) and self.config.a:
            x = str(1)
        else:
            x = str(2)
        if i in self.wanted:
            kept.append(one)
        """
    assert ask(tmp_path, (1, 3), *edits(method=move, keep=keep)).boundaries == (2, 4)
    twice = keep.replace("if self", "self.move(one, two, three)\n        if self", 1)
    found = ask(tmp_path, (1, 3), *edits(method=move, keep=twice))
    assert found.boundaries == ("not-a-boundary", "not-a-boundary")
