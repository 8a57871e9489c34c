"""Targets of random helpers and conditions that nothing decides: merging changes no answer."""

from __future__ import annotations

import importlib
import random
from typing import TYPE_CHECKING, Any

import pytest

from checker.interpreter import merging
from tests.capture.test_small_targets import SUM, ask

if TYPE_CHECKING:
    from pathlib import Path

    from checker.engines import Captured

FORWARD = "    def forward(self, tokens):\n"
EMBED = f"{FORWARD}        hidden, residual = self.embed(tokens), None\n"
KEEP = f"            if i in self.wanted:\n                kept.append({SUM})\n"
CALL = "            hidden, residual = layer(hidden, residual)\n"
END = "        hidden, _ = self.norm(hidden, residual)\n        return hidden, kept"
CLASS = "class Stack(nn.Module):"
FACTS = ("a", "b", "c.d")
TOP = """
class Box:
    def __init__(self, config):
        self.config, self.held, self.n = config, None, 0
    @property
    def odd(self):
        if self.config.a:
            return 1
        ERROR
    def __iter__(self):
        return self
    def __next__(self):
        self.n += 1
        if self.n > 2 or self.config.b:
            raise StopIteration
        return self.n
    def __enter__(self):
        return self
    def __exit__(self, *error):
        return EXIT
STATE = []
COUNT = 0
def plain(x):
    return x
def noting(x):
    STATE.append(1)
    return x
def counting(x):
    global COUNT
    COUNT = COUNT + 1
    return x
def keeping(x):
    x.append(x[-1]) if x else None
    return x

"""
START = (
    *("self.count = 0", "self.box = box = Box(self.config)", "flag, n, value = False, 0, None"),
    *("table, notes, state, pair = {}, [], [0], ()", "old = last = other = hidden.clone()"),
    *("view = last[:]", "function = plain", "def more(x=0):", "    state[0] += 1", "    return x"),
    "numbers = iter([1, 2, 3, 4, 5, 6])",
)
NAMES = ["flag", "n", "value", "table", "notes", "state", "pair", "old"]
NAMES += ["last", "other", "function"]
EFFECTS = (
    *("notes.append(1)", "table['n'] = 1", "self.count += 1", "self.tag = n", "state[0] += 1"),
    *("last.add_(1)", "view.copy_(old)", "old.data = last + 1", "box.held = last", "notes += [n]"),
    *("old.tag = 1", "vars(self)['tag'] = 2", "setattr(box, 'tag', n)", "table.clear()", "more()"),
    *("STATE.append(n)", "next(numbers, 0)", "del notes[:]", "table.update(k=n)", "function(last)"),
    *("kept.append(last)", "kept[-1:] = [old]", "kept.reverse()", "other.mul_(2)", "counting(1)"),
    *("type(self).shared = n", "box.__dict__['n'] = 0", "notes.sort()", "noting(1)", "box.n = 1"),
)
BINDS = (
    *("flag = not flag", "n = n + 1", "value = None", "value = 1", "n += len(kept)", "n = 0"),
    *("old, last = last, old", "other = last", "other = last + 0", "other = last.contiguous()"),
    *("last = (hidden if residual is None else residual) + 0", "function = noting"),
    *(
        "pair = last, last",
        "pair = (last + 0, old + 1)",
        "pair = (*pair, last)",
        "function = plain",
    ),
    *("pair = tuple([last + 0, last])", "old = last[:]", "other = torch.cat([last, last], dim=0)"),
    *("value = [x for x in box]", "value = getattr(box, 'odd', 0)", "value = hasattr(box, 'odd')"),
    *(
        "value = next(box, 0)",
        "value = box.odd",
        "value = last",
        "value = self.norm",
        "other = view",
    ),
    *("value = torch.relu if n else torch.tanh", "value = more", "value = lambda: notes.append(1)"),
    *("n = next(numbers, 0)", "value = (n := n + 1)", "value = {'n': n}", "value = [last]"),
)
PURE = (
    *("flag = not flag", "n = n + 1", "value = None", "value = 1", "value = len(kept)", "n = 0"),
    *("other = last + 0", "last = old + 1", "old = last[:]", "other = last.contiguous()"),
    *(
        "pair = (last + 0, old + 1)",
        "pair = last, last",
        "last = other * 2",
        "old, last = last, old",
    ),
    *(
        "other = torch.cat([last, old], dim=0)",
        "other = hidden",
        "last = hidden + 0",
        "other = view",
    ),
)
TESTS = (
    *("flag", "n == 1", "value is None", "notes", "'n' in table", "hasattr(self, 'tag')", "STATE"),
    *("state[0] == 1", "last is other", "len(pair) == 2", "hasattr(old, 'tag')", "COUNT", "n > 1"),
    *("isinstance(value, int)", "value", "box.held is not None", "len(kept) > 1", "i == 3"),
    *("pair and pair[0] is pair[1]", "box.n == 1", "function is plain", "self.count", "not n"),
)
RAISES = tuple(
    f"raise {name}('no')" for name in ("ValueError", "AttributeError", "KeyError", "StopIteration")
)


class Program:
    """A random target: helpers that call those before them, and what the forward pass does."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.helpers: list[str] = []
        self.calm = chance.random() < 0.7
        """Most helpers only compute: what comes of them can be merged."""

    def test(self) -> str:
        """A condition that nothing decides, or one that what was done decides."""
        chance = self.chance
        fact = f"self.config.{chance.choice(FACTS)}"
        unknown = chance.choice((fact, fact, f"{fact} is None", f"not {fact}", f"{fact} == 'x'"))
        other = chance.choice(TESTS)
        if self.helpers and chance.random() < 0.15:
            other = f"self.h{chance.randrange(len(self.helpers))}({self.arguments()})[0]"
        return chance.choice(
            (unknown,) * (9 if self.calm else 3)
            + (other, f"{unknown} and {other}", f"{other} or {unknown}")
        )

    def arguments(self) -> str:
        """What helpers are given."""
        return f"hidden, residual, kept, i, box, more, numbers, view, {', '.join(NAMES)}"

    def simple(self) -> str:
        """One statement without others in it."""
        chance = self.chance
        kind = chance.random()
        if self.helpers and kind < 0.3:
            name = f"self.h{chance.randrange(len(self.helpers))}"
            to = chance.choice(("", "last, *value = ", "flag, *_, n, other = ", "value = "))
            return f"{to}{name}({self.arguments()})"
        if kind < 0.5:
            one, two = chance.sample(("last", "old", "other", "n", "None", "function"), 2)
            name = chance.choice(("value", "other", "n", "last", "function"))
            return f"{name} = {one} if {self.test()} else {two}"
        if self.calm and chance.random() < 0.9:
            return chance.choice(PURE)
        return chance.choice(BINDS if kind < 0.8 else EFFECTS)

    def block(self, depth: int, most: int, *, ends: tuple[str, ...] = ()) -> list[str]:
        """Some statements, indented from nothing."""
        lines: list[str] = []
        for _ in range(self.chance.randint(1, most)):
            kind = self.chance.random()
            if depth and kind < 0.55:
                lines += [f"if {self.test()}:", *self.inner(depth, ends)]
                if self.chance.random() < 0.6:
                    lines += ["else:", *self.inner(depth, ends)]
            elif depth and kind < (0.57 if self.calm else 0.62):
                lines += ["try:", *self.inner(depth, ends)]
                if self.chance.random() < 0.3:
                    lines += ["finally:", *self.inner(0, ends)]
                else:
                    error = self.chance.choice(("Exception", "ValueError", "AttributeError"))
                    lines += [f"except {error}:", *self.inner(0, ends)]
            elif depth and kind < (0.58 if self.calm else 0.66):
                lines += ["with box:", *self.inner(depth, ends)]
            elif depth and kind < (0.59 if self.calm else 0.7):
                lines += ["for k in (1, 2):", *self.inner(depth, (*ends, "continue", "break"))]
            else:
                lines.append(self.simple())
        if ends and self.chance.random() < (0.12 if self.calm else 0.25):
            lines.append(self.chance.choice(ends))
        return lines

    def inner(self, depth: int, ends: tuple[str, ...]) -> list[str]:
        """The statements of a compound one."""
        return [f"    {line}" for line in self.block(max(depth - 1, 0), 2, ends=ends)]

    def helper(self) -> None:
        """Another method."""
        returned = self.chance.choice(("last, n", "old + 0, last", "last + 0, n, other", "n, None"))
        ends = (f"return {returned}", "return last, last", "return None, n, old")
        ends += RAISES[:1] if self.calm else RAISES
        body = self.block(2, 3, ends=ends)
        head = f"def h{len(self.helpers)}(self, {self.arguments()}):"
        lines = [head, *(f"    {line}" for line in body), f"    return {returned}"]
        self.helpers.append("".join(f"    {line}\n" for line in lines))

    def edits(self) -> tuple[tuple[str, str], ...]:
        """The target's text."""
        chance = self.chance
        for _ in range(chance.choice((1, 2, 3))):
            self.helper()

        def part(where: int, chances: float) -> str:
            made = self.block(1, 2) if chance.random() < chances else []
            return "".join(f"{' ' * where}{line}\n" for line in made)

        fed = f"            hidden, residual = {SUM}, None\n" if chance.random() < 0.3 else ""
        if chance.random() < 0.3:
            fed += "            last = hidden\n"
        begin = f"{EMBED}        i = -1\n" + "".join(f"        {line}\n" for line in START)
        error = chance.choice(("return 2", *RAISES))
        top = TOP.replace("ERROR", error).replace("EXIT", chance.choice(("False", "True")))
        keep = KEEP if chance.random() < 0.8 else KEEP.replace("i in", f"{self.test()} and i in")
        return (
            ("self.wanted = []", "self.wanted, self.config = [], config"),
            (CLASS, f"{top}{CLASS}"),
            (EMBED, "".join(self.helpers) + begin),
            ("        kept = []\n", f"        kept = []\n{part(8, 0.5)}"),
            (KEEP, fed + part(12, 0.4) + keep),
            (CALL, part(12, 0.4) + CALL + part(12, 0.3)),
            (END, part(8, 0.3) + END),
        )


def both(seed: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Captured, Captured]:
    """What a random target hands over, with and without merging."""
    edits = Program(random.Random(seed)).edits()
    merged = ask(folder, (1, 3), *edits)
    with monkeypatch.context() as patched:
        patched.setattr(merging, "is_open", lambda *_: False)
        return merged, ask(folder, (1, 3), *edits)


SEEDS = range(30, 60)


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_changes(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is decided is the same; what is not decided without merging is not decided with it."""
    merged, followed = both(seed, tmp_path, monkeypatch)
    assert merged.is_decided == followed.is_decided, (merged.said, followed.said, merged.reason)
    if followed.is_decided:
        assert merged.answer == followed.answer


def test_much_is_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a good share of these targets something is: the test above can fail."""
    made: list[Any] = []
    merge = merging.Merging

    def making() -> Any:
        made.append(merge())
        return made[-1]

    monkeypatch.setattr(importlib.import_module("checker.engines.capture"), "Merging", making)
    merges = 0
    for seed in SEEDS:
        made.clear()
        ask(tmp_path, (1, 3), *Program(random.Random(seed)).edits())
        merges += any(m.merged for m in made)
    assert merges >= len(SEEDS) // 3, merges
