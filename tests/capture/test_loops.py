"""Loops over layers: leaving out iterations that do what others did changes no answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.interpreter import looping
from tests.capture.test_small_targets import SUM, ask

if TYPE_CHECKING:
    from pathlib import Path

LAYERS = 24
LOOP = "for i, layer in enumerate(self.layers):\n"
TEST = "if i in self.wanted:"
KEPT = f"kept.append({SUM})"
CALL = "hidden, residual = layer(hidden, residual)\n"
START = "hidden, residual = self.embed(tokens), None\n"
CLASS = "class Stack(nn.Module):\n"
MADE = "self.layers = nn.ModuleList([Layer(config, i) for i in range(config.num_hidden_layers)])\n"
FIRST = "self.second_norm = RMSNorm(config.hidden_size)\n"
NEXT = "hidden = self.attention(hidden)\n"

Edits = tuple[tuple[str, str], ...]
INDENT, BODY = " " * 8, " " * 12


def _test(condition: str) -> Edits:
    return ((TEST, f"if {condition}:"),)


def _after(line: str, *more: str, at: str = CALL, indent: str = BODY) -> str:
    return at + "".join(f"{indent}{text}\n" for text in (line, *more))


CASES: dict[str, tuple[Edits, str]] = {
    "as it is": ((), SUM),
    "numbers": (
        ((LOOP, "for i in range(len(self.layers)):\n            layer = self.layers[i]\n"),),
        SUM,
    ),
    "from the middle": (_test("i in self.wanted and i > 9"), SUM),
    "every seventh": (_test("i % 7 == 3"), SUM),
    "counted from one": (_test("i + 1 in self.wanted"), SUM),
    "from the end": (_test("len(self.layers) - i in self.wanted"), SUM),
    "bits": (_test("1 << i & 0b1000000010010"), SUM),
    "a table": (_test("{4: True, 17: True}.get(i)"), SUM),
    "a table of another": (_test("{4: 4, 17: 3}.get(i) == i"), SUM),
    "flags": (_test("[j in (4, 17) for j in range(24)][i]"), SUM),
    "as text": (_test("str(i) in ('4', '17')"), SUM),
    "formatted": (_test("f'layer {i}'.endswith('7')"), SUM),
    "percent": (_test("'%d' % i in ('4', '17')"), SUM),
    "in a range": (_test("i in range(4, 20, 13)"), SUM),
    "a key of two": (_test("(i, 0) in {(4, 0), (17, 0)}"), SUM),
    "in a list of a list": (_test("[i] in [[4], [17]]"), SUM),
    "the least": (_test("min(i, 9) == 9 and max(i, 11) == 11"), SUM),
    "sorted": (_test("sorted([17, i])[0] == 17 and i < 20"), SUM),
    "a slice": (_test("len(self.layers[i:]) in (4, 17)"), SUM),
    "how far": (_test("len(range(i)) in (4, 17)"), SUM),
    "repeated": (_test("len('x' * i) in (4, 17)"), SUM),
    "divided": (_test("i / 2 in (2.0, 8.5)"), SUM),
    "a power": (_test("i ** 2 in (16, 289)"), SUM),
    "negative": (_test("-i in (-4, -17)"), SUM),
    "a hash": (_test("hash(i) == 17 or i == 4"), SUM),
    "identity": (_test("i is 4 or i is not True and i == 17"), SUM),
    "a match": (
        (
            (
                TEST,
                (
                    f"match i:\n{BODY}    case 4 | 17:\n{BODY}        pass\n{BODY}    case _:\n"
                    f"{BODY}        {CALL}{BODY}        continue\n{BODY}if True:"
                ),
            ),
        ),
        SUM,
    ),
    "a table with a default": (_test("{4: -1, 17: -1}.get(i, i) == -1"), SUM),
    "a list of lists": (_test("[[j] for j in range(24)][i] in ([4], [17])"), SUM),
    "a number kept in a list": (
        (
            (START, START + f"{INDENT}last = [0]\n"),
            (TEST, "if last[0] in self.wanted:"),
            (CALL, _after("last[0] = i")),
        ),
        SUM,
    ),
    "numbers kept": (
        (
            (START, START + f"{INDENT}lasts = []\n"),
            (TEST, "if sum(lasts) in (36, 153):"),
            (CALL, _after("lasts.append(i)")),
        ),
        SUM,
    ),
    "three at once": (_test("4 <= i < 6 or i == 17"), SUM),
    "an attribute of the layer": (
        (
            (FIRST, FIRST + f"{INDENT}self.is_tapped = index in (4, 17)\n"),
            (TEST, "if layer.is_tapped:"),
        ),
        SUM,
    ),
    "the number of the layer": (
        (
            (FIRST, FIRST + f"{INDENT}self.index = index * 2\n"),
            (TEST, "if layer.index in (8, 34):"),
        ),
        SUM,
    ),
    "a text of the layer": (
        (
            (FIRST, FIRST + f"{INDENT}self.place = f'layers.{{index}}'\n"),
            (TEST, "if layer.place.endswith('.7'):"),
        ),
        SUM,
    ),
    "the layer before": (
        (
            (FIRST, FIRST + f"{INDENT}self.is_tapped = index % 7 == 0\n"),
            (START, START + f"{INDENT}last = None\n"),
            (TEST, "if last is not None and last.is_tapped:"),
            (CALL, _after("last = layer")),
        ),
        SUM,
    ),
    "the layer after": (
        (
            (FIRST, FIRST + f"{INDENT}self.is_tapped = index % 7 == 0\n"),
            (TEST, "if i + 1 < len(self.layers) and self.layers[i + 1].is_tapped:"),
        ),
        SUM,
    ),
    "the number before": (
        (
            (START, START + f"{INDENT}last = -1\n"),
            (TEST, "if last in self.wanted:"),
            (CALL, _after("last = i")),
        ),
        SUM,
    ),
    "a counter": (
        (
            (START, START + f"{INDENT}count = 0\n"),
            (TEST, "if count == 9:"),
            (CALL, _after("count += 1")),
        ),
        SUM,
    ),
    "a counter of the model": (
        (
            (START, START + f"{INDENT}self.count = 0\n"),
            (TEST, "if self.count == 9:"),
            (CALL, _after("self.count += 1")),
        ),
        SUM,
    ),
    "a counter of the class": (
        (
            (CLASS, CLASS + "    count = 0\n"),
            (TEST, "if Stack.count == 9:"),
            (CALL, _after("Stack.count = Stack.count + 1")),
        ),
        SUM,
    ),
    "a list of the class": (
        (
            (CLASS, CLASS + "    seen = []\n"),
            (TEST, "if len(Stack.seen) == 9:"),
            (CALL, _after("self.seen.append(i)")),
        ),
        SUM,
    ),
    "a global list": (
        (
            (CLASS, "SEEN = []\n" + CLASS),
            (TEST, "if len(SEEN) == 9:"),
            (CALL, _after("SEEN.append(None)")),
        ),
        SUM,
    ),
    "a global number": (
        (
            (
                CLASS,
                "COUNT = 0\ndef counted():\n    global COUNT\n    COUNT += 1\n    return COUNT\n"
                + CLASS,
            ),
            (TEST, "if counted() == 9:"),
        ),
        SUM,
    ),
    "a default": (
        (
            (CLASS, "def counted(seen=[]):\n    seen.append(None)\n    return len(seen)\n" + CLASS),
            (TEST, "if counted() == 9:"),
        ),
        SUM,
    ),
    "a closure": (
        (
            (
                CLASS,
                "def counter():\n    count = 0\n    def counted():\n        nonlocal count\n"
                "        count += 1\n        return count\n    return counted\n" + CLASS,
            ),
            (START, START + f"{INDENT}counted = counter()\n"),
            (TEST, "if counted() == 9:"),
        ),
        SUM,
    ),
    "a generator": (
        (
            (
                CLASS,
                "def numbers():\n    n = 0\n    while True:\n        yield n\n        n += 1\n"
                + CLASS,
            ),
            (START, START + f"{INDENT}counted = numbers()\n"),
            (TEST, "if next(counted) == 9:"),
        ),
        SUM,
    ),
    "an iterator": (
        (
            (START, START + f"{INDENT}counted = iter(range(100))\n"),
            (TEST, "if next(counted) == 9:"),
        ),
        SUM,
    ),
    "a method kept": (
        (
            (
                START,
                START
                + f"{INDENT}seen = []\n{INDENT}add, size = seen.append, seen.__len__\n"
                + f"{INDENT}del seen\n",
            ),
            (TEST, "if size() == 9:"),
            (CALL, _after("add(None)")),
        ),
        SUM,
    ),
    "a state one layer late": (
        (
            (START, START + f"{INDENT}late = None\n"),
            (KEPT, "kept.append(late)"),
            (CALL, f"late = {SUM}\n{BODY}" + CALL),
        ),
        SUM,
    ),
    "a state two layers late": (
        (
            (START, START + f"{INDENT}later = late = None\n"),
            (KEPT, "kept.append(later)"),
            (CALL, f"later, late = late, {SUM}\n{BODY}" + CALL),
        ),
        SUM,
    ),
    "all states kept": (
        (
            (START, START + f"{INDENT}every = []\n"),
            (TEST, "if False:"),
            (CALL, f"every.append({SUM})\n{BODY}" + CALL),
            ("return hidden, kept", "return hidden, [every[j] for j in self.wanted]"),
        ),
        SUM,
    ),
    "the last two kept": (
        (
            (START, START + f"{INDENT}every = []\n"),
            (KEPT, "kept.append(every[0])"),
            (CALL, f"every = [*every, {SUM}][-2:]\n{BODY}" + CALL),
        ),
        SUM,
    ),
    "after the layer": (
        ((TEST, "if False:"), (CALL, _after("if i in self.wanted:", f"    {KEPT}"))),
        SUM,
    ),
    "the residual as it is": ((), "residual if residual is not None else hidden"),
    "a copy of the residual": ((), "residual.clone() if residual is not None else hidden.clone()"),
    "without the residual": ((), "hidden"),
    "added in place": (
        ((KEPT, f"kept.append({SUM})\n{BODY}if kept:\n{BODY}    kept[-1].add_(hidden)"),),
        SUM,
    ),
    "the first one written to by all": (
        ((CALL, _after("if kept:", "    kept[0].add_(hidden)")),),
        SUM,
    ),
    "one kept anew by all": (
        (
            (START, START + f"{INDENT}one = [None]\n"),
            (CALL, f"one[0] = {SUM}\n{BODY}" + CALL),
            (KEPT, "kept.append(one[0])"),
        ),
        SUM,
    ),
    "a layer left out": (((CALL, f"if i == 11:\n{BODY}    continue\n{BODY}" + CALL),), SUM),
    "an early end": (((CALL, f"if i == 20:\n{BODY}    break\n{BODY}" + CALL),), SUM),
    "a layer run twice": (((CALL, CALL + f"{BODY}if i == 11:\n{BODY}    " + CALL),), SUM),
    "layers from behind": (((LOOP, "for i, layer in enumerate(self.layers[::-1]):\n"),), SUM),
    "counted from five": (((LOOP, "for i, layer in enumerate(self.layers, 5):\n"),), SUM),
    "part of the layers": (((LOOP, "for i, layer in enumerate(self.layers[8:]):\n"),), SUM),
    "layers alone": (
        (
            (START, START + f"{INDENT}i = -1\n"),
            (LOOP, f"for layer in self.layers:\n{BODY}i += 1\n"),
        ),
        SUM,
    ),
    "another layer at the end": (
        (
            (MADE, MADE + f"{INDENT}self.layers[20] = Mixer(config.hidden_size)\n"),
            (
                CALL,
                f"if i == 20:\n{BODY}    hidden = layer(hidden)\n{BODY}    continue\n{BODY}" + CALL,
            ),
        ),
        SUM,
    ),
    "layers of two kinds": (
        (
            (
                CLASS,
                "class Other(Layer):\n    def forward(self, hidden, residual):\n"
                "        hidden, residual = super().forward(hidden, residual)\n"
                "        return hidden + residual, None\n" + CLASS,
            ),
            (MADE, MADE.replace("Layer(config, i)", "(Other if i % 5 == 4 else Layer)(config, i)")),
        ),
        SUM,
    ),
    "layers that differ by their number": (
        (
            (
                NEXT,
                NEXT
                + f"{INDENT}if self.index % 5 == 4:\n{INDENT}    hidden = hidden + residual\n"
                + f"{INDENT}    residual = hidden * 0\n",
            ),
            (FIRST, FIRST + f"{INDENT}self.index = index\n"),
        ),
        SUM,
    ),
    "layers scaled by their number": (
        (
            (NEXT, NEXT + f"{INDENT}hidden = hidden * self.index\n"),
            (FIRST, FIRST + f"{INDENT}self.index = index\n"),
        ),
        SUM,
    ),
    "layers that keep a state themselves": (
        (
            (TEST, "if False:"),
            (
                NEXT,
                f"if self.index in (4, 17):\n{INDENT}    self.state = residual.clone()\n{INDENT}"
                + NEXT,
            ),
            (FIRST, FIRST + f"{INDENT}self.index, self.state = index, None\n"),
            (
                "return hidden, kept",
                "return hidden, [layer.state for layer in self.layers if layer.index in (4, 17)]",
            ),
        ),
        SUM,
    ),
    "two layers that keep a state": (
        (
            (TEST, "if False:"),
            (
                NEXT,
                f"if self.index in (4, 17):\n{INDENT}    self.state = residual.clone()\n{INDENT}"
                + NEXT,
            ),
            (FIRST, FIRST + f"{INDENT}self.index, self.state = index, None\n"),
            ("return hidden, kept", "return hidden, [self.layers[i].state for i in (4, 17)]"),
        ),
        SUM,
    ),
    "what the last layer shares": (
        (
            (MADE, "shared = []\n" + INDENT + MADE.replace("config, i)", "config, i, shared)")),
            ("def __init__(self, config, index):", "def __init__(self, config, index, shared):"),
            (FIRST, FIRST + f"{INDENT}self.shared = shared\n"),
            (NEXT, f"self.shared.append(residual.clone())\n{INDENT}" + NEXT),
            ("return hidden, kept", "return hidden, self.layers[23].shared[4:6]"),
        ),
        SUM,
    ),
    "layers that all keep a state": (
        (
            (TEST, "if False:"),
            (NEXT, f"self.state = residual.clone()\n{INDENT}" + NEXT),
            ("return hidden, kept", "return hidden, [self.layers[i].state for i in self.wanted]"),
        ),
        SUM,
    ),
    "layers that all keep it in a list": (
        (
            (TEST, "if False:"),
            (FIRST, FIRST + f"{INDENT}self.states = []\n"),
            (NEXT, f"self.states.append(residual.clone())\n{INDENT}" + NEXT),
            (
                "return hidden, kept",
                "return hidden, [self.layers[i].states[0] for i in self.wanted]",
            ),
        ),
        SUM,
    ),
    "layers that say that they ran": (
        (
            (FIRST, FIRST + f"{INDENT}self.has_run = False\n"),
            (NEXT, f"self.has_run = True\n{INDENT}" + NEXT),
            (
                "return hidden, kept",
                "return hidden, kept if all([la.has_run for la in self.layers]) else [hidden]",
            ),
        ),
        SUM,
    ),
    "layers that know how many ran": (
        (
            (CLASS, "RAN = {}\n" + CLASS),
            (NEXT, f"RAN[self] = True\n{INDENT}" + NEXT),
            (TEST, "if len(RAN) == 9:"),
        ),
        SUM,
    ),
    "a shared list handed to layers": (
        (
            (
                MADE,
                f"shared = []\n{INDENT}"
                + MADE.replace("Layer(config, i)", "Layer(config, i, shared)"),
            ),
            ("def __init__(self, config, index):", "def __init__(self, config, index, shared):"),
            (FIRST, FIRST + f"{INDENT}self.shared = shared\n"),
            (NEXT, f"self.shared.append(None)\n{INDENT}" + NEXT),
            (TEST, "if layer.shared and len(layer.shared) == 9:"),
        ),
        SUM,
    ),
    "a layer looked at before": (
        (
            (FIRST, FIRST + f"{INDENT}self.index = index\n"),
            (START, START + f"{INDENT}self.layers[3].index = 17\n"),
            (TEST, "if layer.index == 17:"),
        ),
        SUM,
    ),
    "every second one copied": (((KEPT, f"kept.append(({SUM}) if i % 2 else residual)"),), SUM),
}


@pytest.mark.parametrize("ids", [(3, 11, 20), (0, 1, 2), (-1, 10, 22), (20, 3), None], ids=str)
@pytest.mark.parametrize("name", CASES)
def test_nothing_changes(
    name: str, ids: tuple[int, ...] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when every iteration is run; what is not proven then is not proven either."""
    edits, captured = CASES[name]
    short = ask(tmp_path, ids, *edits, captured=captured, layers=LAYERS)
    with monkeypatch.context() as patched:
        patched.setattr(looping, "rows", lambda *_: None)
        long = ask(tmp_path, ids, *edits, captured=captured, layers=LAYERS)
    assert (short.answer, short.reason) == (long.answer, long.reason)


OVER = "for i, layer in enumerate(self.layers):"
WAYS = {
    "over the layers": (),
    "over their numbers": (
        (OVER, "for i in range(len(self.layers)):\n            layer = self.layers[i]"),
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_iterations_are_left_out(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cost hangs on how many layers are told apart, not on how many there are."""
    ran: list[int] = []
    begin = looping.Loop.begin

    def noted(self: looping.Loop, place: int) -> None:
        ran.append(place)
        begin(self, place)

    monkeypatch.setattr(looping.Loop, "begin", noted)
    found = ask(tmp_path, (39,), *WAYS[way], layers=80)
    assert found.boundaries == (40,)
    assert len(ran) < 12
    assert ran[0] == 0
    assert 40 in ran
    assert ran[-1] == 79
