"""Loops over layers that look at other layers than their own, or at which object a layer is."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from checker.interpreter import looping
from tests.capture.test_loops import (
    BODY,
    CALL,
    FIRST,
    INDENT,
    KEPT,
    LAYERS,
    MADE,
    NEXT,
    START,
    SUM,
    TEST,
    Edits,
)
from tests.capture.test_random_loops import EMPTY, block
from tests.capture.test_small_targets import ask

if TYPE_CHECKING:
    from pathlib import Path

LOOP = "for i, layer in enumerate(self.layers):\n"
AHEAD = (
    f"for i in range(len(self.layers)):\n{BODY}layer = self.layers[i]\n"
    f"{BODY}later = self.layers[i + 1] if i + 1 < len(self.layers) else None\n"
)
NUMBERED = (FIRST, FIRST + f"{INDENT}self.index, self.wide, self.gate = index, True, None\n")
COPY = ("import torch\n", "import copy\nimport torch\n")


def _test(condition: str) -> tuple[str, str]:
    return (TEST, f"if {condition}:")


def _model(line: str) -> tuple[str, str]:
    return (MADE, MADE + INDENT + line + "\n")


def _ahead(*edits: tuple[str, str], line: str = "") -> Edits:
    """A loop that takes the next layer as well."""
    return ((LOOP, AHEAD + (f"{BODY}{line}\n" if line else "")), NUMBERED, *edits)


WHICH: dict[str, Edits] = {
    "is": (_test("layer is self.special"), _model("self.special = self.layers[9]")),
    "is not": (_test("not layer is not self.special"), _model("self.special = self.layers[9]")),
    "equal": (_test("layer == self.special"), _model("self.special = self.layers[9]")),
    "among some": (
        _test("layer in self.special"),
        _model("self.special = [self.layers[9], self.layers[12]]"),
    ),
    "among some, written there": (_test("layer in (self.layers[9], self.layers[12])"),),
    "in a set": (
        _test("layer in self.special"),
        _model("self.special = {self.layers[9], self.layers[12]}"),
    ),
    "a key": (_test("self.special.get(layer)"), _model("self.special = {self.layers[9]: 1}")),
    "by its address": (
        _test("id(layer) in self.special"),
        _model("self.special = {id(self.layers[9]), id(self.layers[12])}"),
    ),
    "its place": (_test("self.special.index(layer) == 9"), _model("self.special = [*self.layers]")),
    "counted": (_test("self.special.count(layer)"), _model("self.special = [self.layers[9]]")),
    "in a pair": (
        _test("(layer, 1) in self.special"),
        _model("self.special = [(self.layers[9], 1)]"),
    ),
    "its method": (
        _test("layer.forward == self.special"),
        _model("self.special = self.layers[9].forward"),
    ),
    "its method as a key": (
        _test("layer.forward in self.special"),
        _model("self.special = {self.layers[9].forward: 1}"),
    ),
    "in a list that is compared": (
        _test("[layer] == self.special"),
        _model("self.special = [self.layers[9]]"),
    ),
    "in a list that comes before": (
        _test("not [layer, 1] < self.special"),
        _model("self.special = [self.layers[9], 1]"),
    ),
    "a copy": (
        COPY,
        NUMBERED,
        _test("copy.copy(layer).index in self.wanted"),
    ),
    "a copy of another": (
        COPY,
        NUMBERED,
        _test("copy.copy(self.layers[9]).index == i"),
    ),
    "a pattern": (
        (
            TEST,
            (
                f"match layer:\n{BODY}    case self.special:\n{BODY}        found = True\n"
                f"{BODY}    case _:\n{BODY}        found = False\n{BODY}if found:"
            ),
        ),
        _model("self.special = self.layers[9]"),
    ),
}
NEXT_ONE: dict[str, Edits] = {
    "there is one": _ahead(_test("later is not None and i in self.wanted")),
    "what it has": _ahead(_test("later is not None and later.gate is None and i in self.wanted")),
    "what it has not": _ahead(_test("later is None or later.gate is not None")),
    "its number": _ahead(_test("later is not None and later.index in self.wanted")),
    "what it has was set": _ahead(
        _test("later is not None and later.gate"), _model("self.layers[9].gate = True")
    ),
    "what it has hangs on its number": _ahead(
        (NUMBERED[1], NUMBERED[1] + f"{INDENT}self.odd = index % 5 == 3\n"),
        _test("later is not None and later.odd"),
    ),
    "it is told something": _ahead(
        _test("layer.gate"), line="if later is not None: later.gate = i == 9"
    ),
    "it is told what the loop has": _ahead(
        _test("layer.gate is not None and i in self.wanted"),
        line="if later is not None: later.gate = hidden",
    ),
    "it is told so by its names": _ahead(
        _test("layer.gate"), line="if later is not None: vars(later)['gate'] = i == 9"
    ),
    "it counts": _ahead(
        (NUMBERED[1], NUMBERED[1] + f"{INDENT}self.seen = []\n"),
        _test("len(layer.seen) == 1 and i in self.wanted"),
        line="if later is not None: later.seen.append(i)",
    ),
    "which it is": _ahead(_test("later is self.special"), _model("self.special = self.layers[9]")),
    "whether it is among some": _ahead(
        _test("later in self.special"), _model("self.special = [self.layers[9]]")
    ),
    "the one before": _ahead(
        _test("last is layer and i in self.wanted"),
        (START, START + f"{INDENT}last = None\n"),
        (CALL, CALL + f"{BODY}last = later\n"),
    ),
    "what the one before was": _ahead(
        _test("last is not None and last.index == 9"),
        (START, START + f"{INDENT}last = None\n"),
        (CALL, CALL + f"{BODY}last = later\n"),
    ),
    "it is run first": _ahead(
        (
            CALL,
            f"if later is not None and i % 2 == 0:\n{BODY}    "
            + CALL.replace("layer", "later")
            + BODY
            + CALL,
        ),
    ),
    "its part is run": _ahead(
        line="if later is not None and i == 9: hidden = later.attention(hidden)"
    ),
    "kept in a list": _ahead(
        (START, START + f"{INDENT}seen = []\n"),
        _test("len(seen) == 9"),
        line="seen.append(later)",
    ),
    "a copy of it": _ahead(
        _test("later is not None and copy.copy(later).index in self.wanted"), COPY
    ),
    "a deep copy of it": _ahead(
        _test("later is not None and copy.deepcopy(later).index in self.wanted"), COPY
    ),
    "after the loop": _ahead(
        (
            "return hidden, kept",
            "return hidden, kept if later is None else [hidden]",
        ),
    ),
    "what it was after the loop": _ahead(
        (CALL, CALL + f"{BODY}if later is not None: last = later\n"),
        (
            "return hidden, kept",
            "return hidden, kept if last.index == 23 else [hidden]",
        ),
    ),
    "the one after the next": _ahead(
        _test("after is not None and after.gate is None and i in self.wanted"),
        line="after = self.layers[i + 2] if i + 2 < len(self.layers) else None",
    ),
    "the last one": _ahead(_test("self.layers[i - 1].gate is None and i in self.wanted")),
    "it runs after it was looked at": _ahead(
        (NEXT, f"if self.gate: hidden = hidden + residual\n{INDENT}" + NEXT),
        line="if later is not None and later.index == 9: later.gate = True",
    ),
}
CASES = {
    **{f"which: {k}": v for k, v in WHICH.items()},
    **{f"next: {k}": v for k, v in NEXT_ONE.items()},
}


@pytest.mark.parametrize("ids", [(3, 11, 20), (-1, 10, 22), None], ids=str)
@pytest.mark.parametrize("name", CASES)
def test_nothing_changes(
    name: str, ids: tuple[int, ...] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when every iteration is run."""
    short = ask(tmp_path, ids, *CASES[name], layers=LAYERS)
    with monkeypatch.context() as patched:
        patched.setattr(looping, "rows", lambda *_: None)
        long = ask(tmp_path, ids, *CASES[name], layers=LAYERS)
    assert (short.answer, short.reason) == (long.answer, long.reason)


SETUP = (
    *("count = 0", "held = last = prior = None", "seen = []", "table = {}", "addresses = {0}"),
    *("some = [self.layers[9], self.layers[12]]", "special = self.layers[15]", "pair = None"),
)
STATEMENTS = (
    *("prior = later", "last = layer", "layer.tag = i", "layer.gate = hidden", "count += 1"),
    *("table[layer] = i", "table[i] = layer", "seen.append(layer)", "layer.seen.append(1)"),
    *("addresses.add(id(layer))", "pair = layer, later", "if later: later.gate = i % 3 == 0"),
    *("if later: later.seen.append(i)", "held = layer.forward", f"kept.append({SUM})"),
    *(f"kept.append({SUM})", "hidden = hidden + 0", "if later: held = later.second_norm"),
    *("self.layers[i].wide = False", "self.layers[20].gate = 1", "special = self.layers[i]"),
    *("if later: setattr(later, 'wide', None)", "seen = [later]", "layer.near = later"),
)
CONDITIONS = (
    *("i in self.wanted", "i in self.wanted", "later and later.index in self.wanted", "count == 1"),
    *("later and later.gate is None", "layer is special", "layer in some", "later in some"),
    *("last is layer", "prior is layer", "layer in table", "layer.gate is not None"),
    *("len(layer.seen) == 1", "prior and prior.index == 9", "id(layer) in addresses"),
    *("isinstance(later, Layer)", "later and later.wide", "hasattr(layer, 'tag')", "held is None"),
    *("held == layer.forward", "prior and prior.gate", "pair == (layer, later)", "layer.wide"),
    *("self.layers[i - 1].gate is None", "self.layers[12].index == i", "later is special"),
    *("layer in seen", "later and len(later.seen) == 0", "later and later.odd", "True"),
)


@pytest.mark.parametrize("seed", range(24))
def test_nothing_changes_with_random_statements(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when every iteration is run, whatever is asked of a layer and of the next one."""
    chance = random.Random(seed)
    before = block(chance, chance.choice((1, 2)), STATEMENTS, CONDITIONS)
    keeping = f"{BODY}if i in self.wanted:\n{BODY}    {KEPT}\n"
    after = block(chance, chance.choice((0, 1)), STATEMENTS, CONDITIONS)
    own = (NUMBERED[1], NUMBERED[1] + f"{INDENT}self.seen, self.odd = [], index % 5 == 3\n")
    edits = _ahead(
        own,
        (EMPTY, EMPTY + "".join(f"{INDENT}{statement}\n" for statement in SETUP)),
        (f"{BODY}{TEST}\n{BODY}    {KEPT}\n", (keeping if chance.random() < 0.6 else "") + before),
        (f"{BODY}{CALL}", f"{BODY}{CALL}{after}"),
    )
    ids = chance.choice(((3, 11, 20), (-1, 0, 12), (5, 6, 7), (2, 14)))
    short = ask(tmp_path, ids, *edits, layers=LAYERS)
    monkeypatch.setattr(looping, "rows", lambda *_: None)
    long = ask(tmp_path, ids, *edits, layers=LAYERS)
    assert (short.answer, short.reason) == (long.answer, long.reason)
