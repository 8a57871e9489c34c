"""What is done to one of several things, nothing tells which, is done to one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.capture.test_small_targets import SUM, ask

if TYPE_CHECKING:
    from pathlib import Path

    from checker.engines import Captured

KEPT = "        kept = []\n"
KEEP = f"kept.append({SUM})"
END = "return hidden, kept"
FLAG = "self.config.flag"
SETUP = (
    "kept, other = [], []",
    "table = {'a': kept, 'b': other}",
    "pair = (kept, other)",
)


def _asked(
    folder: Path, *, first: str = "pass", keep: str = KEEP, end: str = "kept + other"
) -> Captured:
    """A target with a statement before its loop, one that keeps a state, and a result."""
    setup = "".join(f"        {line}\n" for line in (*SETUP, first))
    return ask(
        folder,
        (3, 9),
        ("self.wanted = []", "self.wanted, self.config = [], config"),
        (KEPT, setup),
        (KEEP, keep),
        (END, f"{end.rpartition(';')[0]}; return hidden, {end.rpartition(';')[2]}".lstrip("; ")),
        layers=16,
    )


KEPT_IN_EITHER = {
    "a conditional expression": (f"w = kept if {FLAG} else other", f"w.append({SUM})"),
    "a statement": (
        f"if {FLAG}:\n            w = kept\n        else:\n            w = other",
        f"w.append({SUM})",
    ),
    "a method": (f"add = kept.append if {FLAG} else other.append", f"add({SUM})"),
    "an operator": (f"w = kept if {FLAG} else other", f"w += [{SUM}]"),
    "a slice": (f"w = kept if {FLAG} else other", f"w[len(w):] = [{SUM}]"),
    "a function": (
        f"def keep(w, x):\n            w.append(x)\n        w = kept if {FLAG} else other",
        f"keep(w, {SUM})",
    ),
    "a function of the class": (f"w = kept if {FLAG} else other", f"list.append(w, {SUM})"),
    "a closure": (
        f"def which():\n            return kept if {FLAG} else other",
        f"which().append({SUM})",
    ),
}


@pytest.mark.parametrize("name", KEPT_IN_EITHER)
def test_a_list_that_is_one_of_two(name: str, tmp_path: Path) -> None:
    """It is followed both ways, which come to the same here."""
    first, keep = KEPT_IN_EITHER[name]
    assert _asked(tmp_path, first=first, keep=keep).boundaries == (4, 10)
    only = _asked(tmp_path, first=first, keep=keep, end="kept")
    assert not only.is_decided


OPEN = {
    "an unknown key": {"keep": f"table[{FLAG}].append({SUM})"},
    "an unknown key with another": {"keep": f"table.get({FLAG}, kept).append({SUM})"},
    "an unknown place": {"keep": f"pair[self.config.n].append({SUM})"},
    "an unknown place of a list": {"keep": f"[kept, other][i % self.config.n].append({SUM})"},
    "what may be there": {"first": "w = self.config.aux or kept", "keep": f"w.append({SUM})"},
    "emptied at the end": {"end": f"(kept if {FLAG} else []).clear(); kept"},
    "ids": {"first": f"(self.wanted if {FLAG} else [1]).append(11)"},
    "ids of an object": {"first": f"(self if {FLAG} else self.norm).wanted = [7]"},
    "a layer": {
        "first": "self.layers[self.config.n].mark = True",
        "keep": f"if not hasattr(layer, 'mark'): kept.append({SUM})",
    },
}


@pytest.mark.parametrize("name", OPEN)
def test_what_hangs_on_which_it_is(name: str, tmp_path: Path) -> None:
    """Nothing is said of it that holds for one of them only."""
    found = _asked(tmp_path, **OPEN[name])
    assert not found.is_decided, found.answer


READ = {
    "its length": f"n = len(kept if {FLAG} else other)",
    "an item": "x = pair[self.config.n]",
    "a method that reads": f"n = table.get({FLAG}).count(1)",
    "put into a list": f"several = []\n        several.append(table[{FLAG}])",
    "a new one": f"w = [1] if {FLAG} else [2]\n        w.append(3)",
}


@pytest.mark.parametrize("name", READ)
def test_what_is_only_read_stays_known(name: str, tmp_path: Path) -> None:
    assert _asked(tmp_path, first=READ[name]).boundaries == (4, 10)


@pytest.mark.parametrize(
    "end",
    [
        "kept[self.config.n].mul_(2); kept",
        "self.norm(kept[self.config.n], kept[self.config.n]); kept",
        f"(kept[0] if {FLAG} else kept[1]).copy_(hidden); kept",
    ],
)
def test_a_tensor_that_is_one_of_several(end: str, tmp_path: Path) -> None:
    """It is not what it was any more, or may not be."""
    found = _asked(tmp_path, end=end)
    assert not found.is_decided or found.aliased
