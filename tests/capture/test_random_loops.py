"""Loops over layers of random statements: leaving out iterations changes no answer."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from checker.interpreter import looping
from tests.capture.test_loops import BODY, CALL, CLASS, INDENT, KEPT, LAYERS, TEST
from tests.capture.test_small_targets import SUM, ask

if TYPE_CHECKING:
    from pathlib import Path

EMPTY = "kept = []\n"
BOX = "class Box:\n    def __init__(self, items):\n        self.items = items\n"
START = (
    *("count = 0", "self.count = 0", "flag = False", "table = {}", "held = old = hidden"),
    *("last = -1", "which = None", "stream = hidden.clone()", "view = stream[:]", "notes = []"),
    *("pair = []", "box = Box([])", "box.held = self.last = hidden", "ring = None", "state = [0]"),
    "def more():\n            state[0] += 1",
    "def size():\n            return state[0]",
)
STATEMENTS = (
    *("count += 1", "self.count += 1", "flag = not flag", "last = i", "which = layer", "more()"),
    *("table['n'] = table.get('n', 0) + 1", "table[len(kept)] = 1", "self.tag = 1"),
    *("notes = [*notes, 1]", "box.items.append(1)", "box = Box(kept)", "box.n = len(kept)"),
    *("ring = [ring, 1]", f"box.held = {SUM}", f"held = {SUM}", "held = stream"),
    *("held = (hidden if residual is None else residual) + 0", f"old, held = held, {SUM}"),
    *("self.last = held", f"stream.copy_({SUM})", "view.copy_(hidden)", f"pair.append({SUM})"),
    *("pair = [*pair[-1:], held]", "pair.clear()", "hidden = hidden + 0"),
    "residual = residual if residual is None else residual + 0",
    *(f"kept.append({value})" for value in (SUM, SUM, "held", "hidden", "stream", "self.last")),
    "kept.append(residual if residual is not None else hidden)",
    *("kept.extend(pair[:1])", "kept.append(getattr(box, 'held', hidden))", "kept.append(old)"),
)
CONDITIONS = (
    *("i in self.wanted", "i in self.wanted", "i % 5 == 2", "i > 12", "count == 1", "flag"),
    *("len(kept) == 1", "self.count > 1", "hasattr(self, 'tag')", "table.get('n') == 2"),
    *("last == 4", "len(notes) == 2", "size() == 2", "held is None", "1 in table", "not notes"),
    *("len(box.items) == 1", "getattr(box, 'n', 0) == 1", "len(pair) == 2", "which is not None"),
    *("self.count == len(kept)", "kept and kept[-1] is held", "vars(self)['count'] == 2", "True"),
)


def block(
    chance: random.Random,
    count: int,
    statements: tuple[str, ...] = STATEMENTS,
    conditions: tuple[str, ...] = CONDITIONS,
) -> str:
    """Some conditions, each with statements."""
    made = ""
    for _ in range(count):
        word = chance.choice((" and ", " or "))
        made += f"{BODY}if {word.join(chance.sample(conditions, chance.choice((1, 1, 2))))}:\n"
        made += "".join(
            f"{BODY}    {s}\n" for s in chance.sample(statements, chance.choice((1, 2, 3)))
        )
    return made


@pytest.mark.parametrize("seed", range(24))
def test_nothing_changes(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when every iteration is run, whatever is looked at, set or kept on the way."""
    chance = random.Random(seed)
    keeping = f"{BODY}if i in self.wanted:\n{BODY}    kept.append({SUM})\n"
    before = (keeping if chance.random() < 0.6 else "") + block(chance, chance.choice((1, 1, 2)))
    after = block(chance, chance.choice((0, 0, 1)))
    edits = (
        (EMPTY, EMPTY + "".join(f"{INDENT}{statement}\n" for statement in START)),
        (f"{BODY}{TEST}\n{BODY}    {KEPT}\n", before),
        (f"{BODY}{CALL}", f"{BODY}{CALL}{after}"),
        (CLASS, BOX + CLASS),
    )
    ids = chance.choice(((3, 11, 20), (-1, 0, 12), (5, 6, 7), (2, 14)))
    short = ask(tmp_path, ids, *edits, layers=LAYERS)
    monkeypatch.setattr(looping, "rows", lambda *_: None)
    long = ask(tmp_path, ids, *edits, layers=LAYERS)
    assert (short.answer, short.reason) == (long.answer, long.reason)
