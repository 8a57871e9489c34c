"""Numbers that differ from layer to layer, where Python does not ask them what they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.interpreter import looping
from tests.capture.test_loops import CLASS, FIRST, INDENT, LAYERS, LOOP, MADE, TEST, Edits
from tests.capture.test_small_targets import ask

if TYPE_CHECKING:
    from pathlib import Path

IMPORT = "import torch\n"
CONDITIONS = (
    *("0.5 * i == 2", "10.0 - i == 1", "16.0 / (i + 1) == 2", "2.0 ** i == 512", "1.0 + i == 10"),
    *("4.0 == i", "4.0 != i", "9.5 < i", "9.5 >= i", "20.0 // (i + 1) == 2", "25.0 % (i + 1) == 1"),
    *("True + i == 5", "(i in self.wanted) + i == 5", "True - i == -3", "True * i == 9"),
    *("True << i == 512", "False | i == 9", "True & i", "True ^ i == 9", "True == i", "True < i"),
    *(
        "divmod(20.0, i + 1)[0] == 2",
        "sum([0.5, i]) == 9.5",
        "max(9.5, i) == 9.5",
        "pow(2.0, i) == 8",
    ),
    *("i in [9.0, 3]", "i in (9.0, 3)", "[4.0] == [i]", "(4.0, 1) == (i, 1)", "[4.5] < [i]"),
    *("i in map(float, self.wanted)", "i in [float(j) for j in self.wanted]", "i in {9.0}"),
    *("i.bit_length() == 3", "i.real == 9", "i.numerator == 9", "i.conjugate() == 9"),
    *("pow(2.0, i) == 8", "i.__add__(1) == 10", "sorted([17.5, i])[0] == 17.5"),
    *("min([9.5, i]) == 9.5", "complex(1, 0) + i == 10", "round(0.4 * i) == 3", "abs(9.0 - i) < 1"),
    *("1 - 0.1 * i < 0.2", "layer.weight > 0.5", "layer.weight * 10 in self.wanted"),
    *(
        "[0.5 * j for j in range(24)][i] == 3",
        "FLAGS[Place(i)]",
        "float(i) == 9",
        "i * 1.5 == 13.5",
    ),
)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_nothing_changes(condition: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when every iteration is run."""
    weight = f"{INDENT}self.weight = 0.8 - 0.6 * math.exp(-0.3 * index)\n"
    place = "class Place:\n    def __init__(self, i):\n        self.i = i\n"
    flags = (
        "    def __index__(self):\n        return self.i\nFLAGS = [j % 5 == 4 for j in range(24)]\n"
    )
    edits: Edits = (
        (IMPORT, "import math\n" + IMPORT),
        (CLASS, place + flags + CLASS),
        (FIRST, FIRST + weight),
        (TEST, f"if {condition}:"),
    )
    short = ask(tmp_path, (3, 11), *edits, layers=LAYERS)
    monkeypatch.setattr(looping, "rows", lambda *_: None)
    long = ask(tmp_path, (3, 11), *edits, layers=LAYERS)
    assert long.is_decided
    assert (short.answer, short.reason) == (long.answer, long.reason)


COUNTERS: dict[str, Edits] = {
    "a global by its name": (
        (CLASS, "N = 0\n" + CLASS),
        (LOOP, f"{LOOP}            globals()['N'] += 1\n"),
        (TEST, "if N in (4, 10):"),
    ),
    "a global by its name, read so": (
        (CLASS, "N = 0\n" + CLASS),
        (LOOP, f"{LOOP}            globals()['N'] = globals()['N'] + 1\n"),
        (TEST, "if globals()['N'] in (4, 10):"),
    ),
    "the environment": (
        (IMPORT, "import os\n" + IMPORT),
        (MADE, MADE + f"{INDENT}os.environ['N'] = '0'\n"),
        (LOOP, f"{LOOP}            os.environ['N'] = str(int(os.environ['N']) + 1)\n"),
        (TEST, "if os.environ['N'] in ('4', '10'):"),
    ),
    "a name of the object by its name": (
        (MADE, MADE + f"{INDENT}self.n = 0\n"),
        (LOOP, f"{LOOP}            self.__dict__['n'] += 1\n"),
        (TEST, "if self.n in (4, 10):"),
    ),
    "a class": (
        (CLASS, "class Count:\n    n = 0\n" + CLASS),
        (LOOP, f"{LOOP}            setattr(Count, 'n', Count.n + 1)\n"),
        (TEST, "if Count.n in (4, 10):"),
    ),
}


@pytest.mark.parametrize("name", COUNTERS)
def test_what_iterations_count(name: str, tmp_path: Path) -> None:
    """Wherever it is kept."""
    assert ask(tmp_path, (3, 9), *COUNTERS[name], layers=16).boundaries == (3, 9)
