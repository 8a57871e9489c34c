"""Loops over layers in which something that other iterations changed is looked at in an odd way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.interpreter import looping
from tests.capture.test_loops import (
    BODY,
    CALL,
    CLASS,
    FIRST,
    INDENT,
    KEPT,
    LAYERS,
    MADE,
    NEXT,
    TEST,
    Edits,
)
from tests.capture.test_small_targets import SUM, ask

if TYPE_CHECKING:
    from pathlib import Path

INNER = BODY + "    "
EMPTY = "kept = []\n"


def _looking(look: str, start: str = "", kept: str = "", ahead: str = "") -> Edits:
    """A condition true in the iteration after the first that kept something.

    `start` is run before the loop, `kept` after something was kept, `ahead` first of all.
    """
    edits = [(TEST, f"if i in self.wanted or {look}:")]
    if start:
        edits.append((EMPTY, EMPTY + INDENT + start.replace("\n", f"\n{INDENT}") + "\n"))
    if kept:
        edits.append((KEPT, f"{KEPT}\n{INNER}" + kept.replace("\n", f"\n{INNER}")))
    if ahead:
        edits.append((CLASS, ahead + "\n" + CLASS))
    return tuple(edits)


def _after(text: str) -> tuple[str, str]:
    return CALL, CALL + BODY + text.replace("\n", f"\n{BODY}") + "\n"


BOX = """class Box:
    def __init__(self, items):
        self.items = items
    def __len__(self):
        return len(self.items)
    def __contains__(self, count):
        return len(self.items) == count
    def __getattr__(self, name):
        return len(self.items)
    def __call__(self):
        return len(self.items)
    @property
    def size(self):
        return len(self.items)
    def __iter__(self):
        return iter(self.items)
    def __getitem__(self, index):
        return self.items[index]
    def __eq__(self, other):
        return len(self.items) == other
    def __bool__(self):
        return len(self.items) != 1
"""
HOLDER = BOX + "class Holder:\n    pass\n"
COUNT = "self.count = 0"
MORE = "self.count += 1"

CASES: dict[str, Edits] = {
    "its length": _looking("len(kept) == 1"),
    "its truth": _looking("kept and not kept[1:]"),
    "whether it is empty": _looking("(not (not kept) and kept != [] and len(kept) < 2)"),
    "a closure": _looking("size() == 1", "size = lambda: len(kept)"),
    "a closure of a closure": _looking(
        "size()() == 1", "def size():\n    return lambda: len(kept)"
    ),
    "a closure made again": _looking("(lambda: len(kept))() == 1"),
    "a comprehension": _looking("sum([1 for _ in kept]) == 1"),
    "a generator": _looking(
        "next(sizes) == 1", "sizes = (len(kept) for _ in self.layers for _ in range(2))"
    ),
    "a generator function": _looking(
        "next(sizes) == 1",
        "def counting():\n    while True:\n        yield len(kept)\nsizes = counting()",
    ),
    "an iterator": _looking(
        "next(flags) == 1", "flags = iter([0, 1] * 20)", "flags = iter([1, 0] * 20)"
    ),
    "a method of an iterator": _looking("step() == 7", "step = iter(range(40)).__next__"),
    "all names": _looking("len(locals()['kept']) == 1"),
    "how many names": _looking(
        "len(kept) < 2 and len(locals()) > many",
        "many = 99",
        "new, many = 1, len(locals()) if len(kept) < 2 else 99",
    ),
    "whether a name is": _looking("'new' in locals() and len(kept) < 2", kept="new = 1"),
    "whether a name is bound": _looking(
        "bound()",
        "def bound():\n    try:\n        return new == 1\n    except NameError:\n"
        "        return False",
        "new = len(kept)",
    ),
    "a name set in a closure": _looking(
        "count == 1", "count = 0\ndef more():\n    nonlocal count\n    count += 1", "more()"
    ),
    "a name that is deleted": _looking(
        "'gone' not in locals() and len(kept) < 2", "gone = 1", "if len(kept) < 2:\n    del gone"
    ),
    "a method bound before": _looking("size() == 1", "size = kept.__len__"),
    "a partial": _looking("size() == 1", "import functools\nsize = functools.partial(len, kept)"),
    "a list of it": _looking("len(store[0]) == 1", "store = [kept]"),
    "a tuple of it": _looking("len(store[0][0]) == 1", "store = ((kept,),)"),
    "a table of it": _looking("len(store['a']) == 1", "store = {'a': kept}"),
    "a view of a table": _looking(
        "1 in keys and 2 not in keys", "table = {}\nkeys = table.keys()", "table[len(kept)] = 1"
    ),
    "values of a table": _looking(
        "sum(values) == 1", "table = {}\nvalues = table.values()", "table[len(kept)] = len(kept)"
    ),
    "a key of a table": _looking(
        "[len(k) for k in table] == [1]",
        "table = {Box(kept): 1}",
        ahead=BOX.replace(
            "    def __eq__(self, other):\n        return len(self.items) == other\n", ""
        ),
    ),
    "a set": _looking("1 in found and 2 not in found", "found = set()", "found.add(len(kept))"),
    "enumerated": _looking("[n for n, _ in enumerate(kept)] == [0]"),
    "zipped": _looking("len(list(zip(kept, range(9)))) == 1"),
    "mapped": _looking("list(map(len, [kept])) == [1]"),
    "in a text": _looking("f'{len(kept)}' == '1'"),
    "unpacked": _looking("len([*kept]) == 1"),
    "unpacked names": _looking(
        "dict(**table).get('a') == 1", "table = {}", "table['a'] = len(kept)"
    ),
    "an object's length": _looking("len(box) == 1", "box = Box(kept)", ahead=BOX),
    "an object's truth": _looking("not box", "box = Box(kept)", ahead=BOX),
    "contained": _looking("1 in box", "box = Box(kept)", ahead=BOX),
    "an attribute it computes": _looking("box.any == 1", "box = Box(kept)", ahead=BOX),
    "called": _looking("box() == 1", "box = Box(kept)", ahead=BOX),
    "a property": _looking("box.size == 1", "box = Box(kept)", ahead=BOX),
    "iterated over": _looking("len([*box]) == 1", "box = Box(kept)", ahead=BOX),
    "equal": _looking("box == 1", "box = Box(kept)", ahead=BOX),
    "a bound method": _looking("ask() == 1", "ask = Box(kept).__len__", ahead=BOX),
    "an attribute": _looking("self.count == 1", COUNT, MORE),
    "an attribute by name": _looking("getattr(self, 'co' + 'unt') == 1", COUNT, MORE),
    "an attribute that may be": _looking(
        "getattr(self, 'first', 0) == 1", kept="self.first = len(kept)"
    ),
    "whether there is one": _looking(
        "hasattr(self, 'first') and len(kept) < 2", kept="self.first = 1"
    ),
    "only whether there is one": _looking(
        "hasattr(self, 'first') and i % 3 == 0", kept="self.first = 1"
    ),
    "all attributes": _looking("vars(self)['count'] == 1", COUNT, MORE),
    "all attributes, kept": _looking(
        "names['count'] == 1", f"{COUNT}\nnames = self.__dict__", MORE
    ),
    "all attributes, kept when something is": _looking(
        "names.get('count') == 1", f"{COUNT}\nnames = {{}}", f"{MORE}\nnames = self.__dict__"
    ),
    "set by another way": _looking("self.count == 1", COUNT, "self.__dict__['count'] += 1"),
    "set by a dictionary kept": _looking(
        "self.count == 1", f"{COUNT}\nnames = vars(self)", "names['count'] += 1"
    ),
    "how many attributes": _looking(
        "len(vars(self)) - many == 1", "many = len(vars(self))", "setattr(self, f'a{len(kept)}', 1)"
    ),
    "names of attributes": _looking(
        "'a1' in [*vars(self)] and 'a2' not in vars(self)", kept="setattr(self, f'a{len(kept)}', 1)"
    ),
    "a copy": _looking("copy.copy(self).count == 1", f"import copy\n{COUNT}", MORE),
    "unpacked attributes": _looking("{**vars(self)}['count'] == 1", COUNT, MORE),
    "merged attributes": _looking("(vars(self) | {})['count'] == 1", COUNT, MORE),
    "an attribute of another": _looking(
        "other.box.items.count == 1",
        "other, inner = Holder(), Holder()\ninner.count = 0\nother.box = Box(inner)",
        "inner.count += 1",
        HOLDER,
    ),
    "another that is put there": _looking(
        "other.count == 1",
        "other = Holder()\nother.count = 0",
        "other = Holder()\nother.count = len(kept)",
        HOLDER,
    ),
    "a function's attribute": _looking(
        "size.count == 1", "size = lambda: 0\nsize.count = 0", "size.count += 1"
    ),
    "a default": _looking("size() == 1", "def size(found=kept):\n    return len(found)"),
    "a class": _looking("Holder.count == 1", "Holder.count = 0", "Holder.count += 1", HOLDER),
    "a global": _looking("COUNT[0] == 1", "COUNT[0] = 0", "COUNT[0] += 1", "COUNT = [0]"),
    "a method of a global": _looking(
        "SIZE() == 1", "FOUND.clear()", "FOUND.append(1)", "FOUND = []\nSIZE = FOUND.__len__"
    ),
    "a method of a class's": _looking(
        "Holder.size() == 1",
        "Holder.items.clear()",
        "Holder.items.append(1)",
        "class Holder:\n    items = []\n    size = staticmethod(items.__len__)",
    ),
    "a method of an object's": _looking(
        "Holder().size() == 1",
        "Holder.items.clear()",
        "Holder.items.append(1)",
        "class Holder:\n    items = []\n    size = staticmethod(items.__len__)",
    ),
    "a global of functions": _looking(
        "size() == 1",
        "more(-9)",
        "more(1)",
        "STATE = {'n': 0}\ndef more(n):\n    STATE['n'] = max(0, STATE['n'] + n)\n"
        "def size():\n    return STATE['n']\n",
    ),
    "the next one as well": (
        (TEST, "again, held = i in self.wanted, again\n" + BODY + "if again or held:"),
        (EMPTY, EMPTY + INDENT + "again = False\n"),
    ),
    "every third kept": _looking("len(kept) % 3 == 1"),
    "a flag that turns itself off": (*_looking("tapped", "tapped = False", "tapped = not tapped"),),
    "an exception": _looking(
        "fails()",
        "def fails():\n    try:\n        kept[0]\n        return len(kept) < 2\n"
        "    except IndexError:\n        return False",
    ),
    "a context": (
        *_looking("on", "on = False\nimport contextlib"),
        _after("with contextlib.nullcontext(kept) as held:\n    on = len(held) == 1"),
    ),
    "a match": (
        *_looking("on", "on = False"),
        _after("match kept:\n    case [_]:\n        on = True\n    case _:\n        on = False"),
    ),
}

STREAMS: dict[str, tuple[Edits, str]] = {
    "what a layer gives": (((TEST, "if False:"), _after(f"if i in self.wanted:\n    {KEPT}")), SUM),
    "what a layer gives alone": (
        ((TEST, "if False:"), _after("if i in self.wanted:\n    kept.append(hidden)")),
        SUM,
    ),
    "the same tensor": ((), "hidden"),
    "the residual itself": ((), "hidden if residual is None else residual"),
    "written over later": (
        (
            (EMPTY, f"{EMPTY}{INDENT}stream = hidden.clone()\n"),
            (KEPT, "kept.append(stream)"),
            _after("stream.copy_(hidden + residual)"),
        ),
        SUM,
    ),
    "written over by the next that is kept": (
        (
            (EMPTY, f"{EMPTY}{INDENT}stream = hidden.clone()\n"),
            (KEPT, f"stream.copy_({SUM})\n{INNER}kept.append(stream)"),
        ),
        SUM,
    ),
    "written over through a view": (
        (
            (EMPTY, f"{EMPTY}{INDENT}stream = hidden.clone()\n{INDENT}view = stream[:]\n"),
            (KEPT, "kept.append(stream)"),
            _after("view.copy_(hidden + residual)"),
        ),
        SUM,
    ),
    "the sum before": (
        (
            (EMPTY, f"{EMPTY}{INDENT}before = hidden\n"),
            (KEPT, "kept.append(before)"),
            _after("before = hidden + residual"),
        ),
        SUM,
    ),
    "the sum before the one before": (
        (
            (EMPTY, f"{EMPTY}{INDENT}old = before = hidden\n"),
            (KEPT, "kept.append(old)"),
            _after("old, before = before, hidden + residual"),
        ),
        SUM,
    ),
    "the one kept before": (
        (
            (EMPTY, f"{EMPTY}{INDENT}last = hidden\n"),
            (KEPT, f"kept.append(last)\n{INNER}last = {SUM}"),
        ),
        SUM,
    ),
    "the one kept before, computed anew": (
        (
            (EMPTY, f"{EMPTY}{INDENT}last = hidden\n"),
            (KEPT, f"kept.append(last + 0)\n{INNER}last = {SUM}"),
        ),
        SUM,
    ),
    "what is computed anew each time": (
        (
            (EMPTY, f"{EMPTY}{INDENT}held = hidden\n"),
            (TEST, f"stream = {SUM}\n{BODY}{TEST}"),
            (KEPT, "held = stream"),
            ("return hidden, kept", "return hidden, [held]"),
        ),
        SUM,
    ),
    "what is computed anew each time, in a list": (
        ((TEST, f"stream = {SUM}\n{BODY}{TEST}"), (KEPT, "kept.append(stream)")),
        SUM,
    ),
    "a part of what the one before computed": (
        (
            (EMPTY, f"{EMPTY}{INDENT}pair = None\n"),
            (TEST, "if i in self.wanted and pair is not None:"),
            (KEPT, "kept.append(pair.chunk(2, dim=-1)[0])"),
            (
                CALL,
                f"stream = {SUM}\n{BODY}pair = torch.cat([stream, stream], dim=-1)\n{BODY}{CALL}",
            ),
        ),
        SUM,
    ),
    "parts kept apart": (
        (
            (EMPTY, f"{EMPTY}{INDENT}parts = []\n"),
            (KEPT, "parts.append((hidden, residual))"),
            (
                "return hidden, kept",
                "return hidden, [h if r is None else h + r for h, r in parts]",
            ),
        ),
        SUM,
    ),
    "parts kept and joined with the next": (
        (
            (EMPTY, f"{EMPTY}{INDENT}held = None\n"),
            (KEPT, f"held = {SUM}"),
            _after("if held is not None:\n    kept.append(held)\n    held = None"),
        ),
        SUM,
    ),
    "a table by number": (
        (
            (EMPTY, "kept = {}\n"),
            (KEPT, f"kept[i] = {SUM}"),
            ("return hidden, kept", "return hidden, list(kept.values())"),
        ),
        SUM,
    ),
    "attributes by number": (
        (
            (KEPT, f"setattr(self, f'kept{{len(self.wanted)}}', {SUM})"),
            ("return hidden, kept", "return hidden, [getattr(self, f'kept{len(self.wanted)}')]"),
        ),
        SUM,
    ),
    "the layer that is kept": (
        (
            (EMPTY, f"{EMPTY}{INDENT}which = None\n"),
            (KEPT, f"{KEPT}\n{INNER}which = layer"),
            (FIRST, FIRST + f"{INDENT}self.index = index\n"),
            (
                "return hidden, kept",
                "return hidden, kept if which is not None and which.index > 9 else [hidden]",
            ),
        ),
        SUM,
    ),
    "the number that is kept": (
        (
            (EMPTY, f"{EMPTY}{INDENT}which = -1\n"),
            (KEPT, f"{KEPT}\n{INNER}which = i"),
            ("return hidden, kept", "return hidden, kept if which > 11 else kept[1:]"),
        ),
        SUM,
    ),
    "a rebound list": ((((KEPT, f"kept = [*kept, {SUM}]"),)), SUM),
    "a tuple": (
        (((EMPTY, "kept = ()\n"), (KEPT, f"kept += ({SUM},)"))),
        SUM,
    ),
    "shared by layers": (
        (
            (MADE, "notes = []\n" + INDENT + MADE.replace("config, i)", "config, i, notes)")),
            ("def __init__(self, config, index):", "def __init__(self, config, index, notes):"),
            (FIRST, FIRST + f"{INDENT}self.notes, self.index = notes, index\n"),
            (
                NEXT,
                f"if len(self.notes) == 1:\n{INDENT}    self.notes.append(residual + 0)\n{INDENT}"
                + NEXT,
            ),
            (KEPT, f"{KEPT}\n{INNER}layer.notes.append(None)"),
            (
                "return hidden, kept",
                "return hidden, [n for n in self.layers[23].notes if n is not None]",
            ),
        ),
        SUM,
    ),
}
ALL = {**{f"looked at: {name}": (edits, SUM) for name, edits in CASES.items()}, **STREAMS}


@pytest.mark.parametrize("ids", [(3, 11, 20), (-1, 0, 12)], ids=str)
@pytest.mark.parametrize("name", ALL)
def test_nothing_changes(
    name: str, ids: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when every iteration is run; what is not proven then is not proven either."""
    edits, captured = ALL[name]
    short = ask(tmp_path, ids, *edits, captured=captured, layers=LAYERS)
    with monkeypatch.context() as patched:
        patched.setattr(looping, "rows", lambda *_: None)
        long = ask(tmp_path, ids, *edits, captured=captured, layers=LAYERS)
    assert (short.answer, short.reason) == (long.answer, long.reason)


def test_the_iteration_after_one_that_keeps_something_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does not look at what is kept."""
    ran: list[int] = []
    begin = looping.Loop.begin

    def noted(self: looping.Loop, place: int) -> None:
        ran.append(place)
        begin(self, place)

    monkeypatch.setattr(looping.Loop, "begin", noted)
    found = ask(tmp_path, (19, 39), layers=80)
    assert found.boundaries == (20, 40)
    assert [place for place in ran if place > 9] == [20, 40, 79]
