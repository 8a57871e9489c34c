"""A target that is another one under a second name is run once; whatever else it is, it is run."""

from __future__ import annotations

import sys
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from checker.engines import Captured, Question, Subject, capture
from checker.interpreter.values import ClassValue
from checker.interpreter.watching import Watch
from checker.syntax import Ledger
from tests.capture.test_small_targets import LAYERS, MODEL, SUM, laid_out

if TYPE_CHECKING:
    from pathlib import Path

RUNS = sys.modules["checker.engines.capture"]
SHIFT = "[i + 1 for i in layer_ids]"
LISTED = "EntryClass = [Target, Wrapper, Deaf]\n"
BARE = "class Renamed(Target):\n    pass\n"
ADDED = (3, 6)
PLAIN = (2, 5)
"""What targets hand over for the ids 1 and 4, as they are and where something tells them apart."""

SHARED = {
    "an empty body": BARE,
    "a text about it": 'class Renamed(Target):\n    """The same."""\n',
    "a second name of a second name": "class Middle(Target):\n    ...\n"
    "class Renamed(Middle):\n    pass\n",
}
ASKED = "[i + 1 + (CONDITION) for i in layer_ids]"
TOLD_APART = {
    "its type": "type(self).__name__ == 'Renamed'",
    "its class": "self.__class__ is not Target",
    "an object of it": "isinstance(self, Renamed)",
    "one of several": "isinstance(self, (Deaf, Renamed))",
    "a class that inherits": "issubclass(type(self), Renamed)",
    "a table of classes": "{Target: 0, Renamed: 1}[type(self)]",
    "a method of the class": "self.moved()",
    "a text with the name": "'Renamed' in str(type(self))",
    "what its class says": "type(self).__qualname__.startswith('R')",
    "a message": "self.said()",
    "what follows it": "self.below()",
    "a class among others": "self.__class__ in (Deaf, Renamed)",
    "an attribute by a computed name": "getattr(self, '__cla' + 'ss__') is Renamed",
    "its line of descent": "type(self).__mro__[0] is not Target",
    "a class pattern": "self.matched()",
    "a pattern of several": "self.one_of_two()",
    "a formatted text": "f'{type(self)}'.endswith(\"Renamed'>\")",
    "a copy of it": "self.copied()",
    "a value that a method puts there": "self.patched()",
    "a value that a method sets there": "self.patched_by_name()",
    "a value that a method deletes there": "self.unpatched()",
    "a descriptor": "self.owner",
    "a descriptor of the class": "type(self).owner",
    "its class in a closure": "(lambda: self.__class__)() is Renamed",
    "its class in a comprehension": "sum(kind is Renamed for kind in [type(self)])",
    "an exception's class in a table": "self.tabled()",
    "what is annotated": "self.annotated()",
    "what a decorator looks at": "self.decorated()",
    "another object of it": "self.another()",
}
OWN = {
    "a setter": (
        (
            "class Renamed(Target):\n    def set_eagle3_layers_to_capture(self, layer_ids=None):\n"
            "        self.model.wanted = [i + 2 for i in layer_ids]\n"
        ),
        SHIFT,
    ),
    "a value": ("class Renamed(Target):\n    shift = 2\n", "[i + self.shift for i in layer_ids]"),
    "a value that is put there": (
        BARE + "Renamed.shift = 2\n",
        "[i + self.shift for i in layer_ids]",
    ),
    "a value of another base": (
        "class Other:\n    shift = 2\nclass Renamed(Other, Target):\n    pass\n",
        "[i + self.shift for i in layer_ids]",
    ),
    "a decorator": (
        "def moved(cls):\n    cls.shift = 2\n    return cls\n@moved\n" + BARE,
        "[i + self.shift for i in layer_ids]",
    ),
}
METHODS = """
        @classmethod
        def moved(cls):
            return cls.__name__ == "Renamed"
        def said(self):
            try:
                self[0]
            except TypeError as error:
                return "Renamed" in str(error)
        def below(self):
            try:
                super(Renamed, self).forward
            except TypeError:
                return False
            return True
        def matched(self):
            match self:
                case Renamed():
                    return True
                case Target():
                    return False
        def one_of_two(self):
            match self:
                case Deaf() | Renamed():
                    return True
            return False
        def patched(self):
            Renamed.shift = 2
            return self.shift == 2
        def patched_by_name(self):
            setattr(Renamed, "shift", 2)
            return self.shift == 2
        def unpatched(self):
            Renamed.shift = 2
            found = self.shift == 2
            del Renamed.shift
            return found
        def tabled(self):
            return {"Target": 0}.get(type(self).__name__, 1)
        def annotated(self):
            Renamed.__annotations__ = {"a": int}
            return "a" in getattr(self, "__annotations__", {})
        @by_class
        def decorated(self):
            return False
        def copied(self):
            import copy
            return isinstance(copy.copy(self), Renamed)
        def deciding(self):
            if self.unset:
                return 0
            return False
        def another(self):
            return isinstance(object.__new__(type(self)), Renamed)
        class Owner:
            def __get__(self, held, kind):
                return kind.__name__ == "Renamed"
        owner = Owner()
    """
BY_CLASS = """
def by_class(function):
    def run(self):
        return type(self) is Renamed
    return run

"""


def _subject(folder: Path, classes: str, setter: str = SHIFT) -> Subject:
    """A small server with more classes, whose target is told its ids in a certain way."""
    text = dedent(MODEL).replace("CAPTURED", SUM)
    text = text.replace(SHIFT, setter)
    methods = "    shift = 1\n" + "".join(
        f"    {line}\n" for line in dedent(METHODS).strip().splitlines()
    )
    text = text.replace(
        "class Target(nn.Module):\n", BY_CLASS + "class Target(nn.Module):\n" + methods
    )
    text = text.replace(LISTED, classes + LISTED.replace("Deaf]", "Deaf, Renamed]"))
    return laid_out(folder, text)


def _asked(
    subject: Subject, monkeypatch: pytest.MonkeyPatch, *names: str
) -> tuple[list[Captured], int]:
    """What targets hand over, asked for one after the other, and how many were run."""
    run, count = RUNS._run, []

    def counted(*args: object) -> Captured:
        count.append(1)
        return run(*args)

    with monkeypatch.context() as patch:
        patch.setattr(RUNS, "_run", counted)
        found = [capture(subject, Question(name, LAYERS, (1, 4))) for name in names]
    return found, len(count)


ORDERS = [("Target", "Renamed"), ("Renamed", "Target")]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("case", SHARED)
def test_a_second_name_is_run_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str, order: tuple[str, str]
) -> None:
    """Whichever is asked for first; the answer says what was asked for."""
    subject = _subject(tmp_path, SHARED[case])
    found, runs = _asked(subject, monkeypatch, *order)
    assert [(one.target, one.boundaries) for one in found] == [(name, PLAIN) for name in order]
    assert found[0].setter == found[1].setter
    assert runs == 1


@pytest.mark.parametrize(
    ("case", "order"), [(case, ORDERS[n % 2]) for n, case in enumerate(TOLD_APART)]
)
def test_nothing_is_shared_where_the_class_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str, order: tuple[str, str]
) -> None:
    """Its body is empty; what tells the two apart stands in the class that it inherits from."""
    subject = _subject(tmp_path, BARE, ASKED.replace("CONDITION", TOLD_APART[case]))
    found, runs = _asked(subject, monkeypatch, *order)
    assert {one.target: one.boundaries for one in found} == {"Target": PLAIN, "Renamed": ADDED}
    assert runs > 1


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("case", OWN)
def test_a_class_that_adds_something_is_run_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str, order: tuple[str, str]
) -> None:
    """Its parent's answer is not given to it, nor its own to the parent."""
    classes, setter = OWN[case]
    found, _ = _asked(_subject(tmp_path, classes, setter), monkeypatch, *order)
    assert {one.target: one.boundaries for one in found} == {"Target": PLAIN, "Renamed": ADDED}


def test_a_base_that_does_something_with_its_subclasses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a base may give each of them something."""
    hook = (
        "class Hooked(Target):\n    def __init_subclass__(cls):\n        cls.shift = 2\n"
        "class Renamed(Hooked):\n    pass\n"
    )
    subject = _subject(tmp_path, hook, "[i + self.shift for i in layer_ids]")
    found, runs = _asked(subject, monkeypatch, "Target", "Renamed")
    assert [one.boundaries for one in found] == [PLAIN, ADDED]
    assert runs == 2


def test_of_two_objects_one_may_be_of_another_class() -> None:
    """A class that makes a second object of itself by name would make one of another class then."""
    cls, other = ClassValue("Target", None, ()), ClassValue("Other", None, ())
    cls.mro, other.mro = (cls,), (other,)
    watch = Watch(cls)
    watch.makes(cls)
    watch.makes(other)
    assert not watch.told
    watch.makes(cls)
    assert watch.told


NAMED = "[i + 1 + (self.named == 'Renamed') for i in layer_ids]"


@pytest.mark.parametrize("order", ORDERS)
def test_a_configuration_that_names_the_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: tuple[str, str]
) -> None:
    """What the target's configuration says of its class is part of the question."""
    subject = _subject(tmp_path, BARE, NAMED)
    file = tmp_path / "sglang" / "srt" / "models" / "small.py"
    named = "        self.model = Stack(config)\n"
    text = file.read_text()
    assert text.count(named) == 1
    file.write_text(text.replace(named, named + "        self.named = config.architectures[0]\n"))
    found = []
    for name in order:
        config = {"architectures": [name], "num_hidden_layers": LAYERS}
        found.append(capture(subject, Question(name, LAYERS, (1, 4), config)))
    assert {one.target: one.boundaries for one in found} == {"Target": PLAIN, "Renamed": ADDED}


@pytest.mark.parametrize("order", ORDERS)
def test_a_second_name_in_another_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: tuple[str, str]
) -> None:
    """It may put something into the class that it inherits from when it is imported."""
    subject = _subject(tmp_path, BARE)
    other = tmp_path / "sglang" / "srt" / "models" / "other.py"
    other.write_text(
        "from sglang.srt.models.small import Target\n"
        "class Other(Target):\n    pass\nEntryClass = Other\n"
    )
    names = tuple("Other" if name == "Renamed" else name for name in order)
    found, runs = _asked(subject, monkeypatch, *names)
    assert [(one.target, one.boundaries) for one in found] == [(name, PLAIN) for name in names]
    assert runs == 1


MUTABLE = {
    "a list": ("[1]", "Target.shifts.append(1)", "sum(self.shifts)"),
    "a table": ("{'a': 1}", "Target.shifts['a'] = 2", "self.shifts['a']"),
    "an object": ("Box()", "Target.shifts.held = 2", "self.shifts.held"),
}


@pytest.mark.parametrize("case", MUTABLE)
def test_a_class_whose_values_are_changed_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    """What the module of the second name changes is seen by its run alone: they are told apart."""
    value, change, shown = MUTABLE[case]
    subject = _subject(tmp_path, BARE, f"[i + {shown} for i in layer_ids]")
    models = tmp_path / "sglang" / "srt" / "models"
    small = models / "small.py"
    text = small.read_text().replace("    shift = 1\n", f"    shift = 1\n    shifts = {value}\n")
    small.write_text(text.replace("class Mixer", "class Box:\n    held = 1\n\nclass Mixer", 1))
    (models / "other.py").write_text(
        "from sglang.srt.models.small import Target\n"
        f"def listed():\n    {change}\n    return [Other]\n"
        "class Other(Target):\n    pass\nEntryClass = listed()\n"
    )
    found, runs = _asked(subject, monkeypatch, "Target", "Other")
    assert {one.target: one.boundaries for one in found} == {"Target": PLAIN, "Other": ADDED}
    assert runs == 2


def test_a_decision_about_the_class_is_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What nothing decides of an object may go by its class's name."""
    subject = _subject(tmp_path, BARE, "[i + 1 + self.deciding() for i in layer_ids]")
    found, runs = _asked(subject, monkeypatch, "Target", "Renamed")
    assert {one.target: one.boundaries for one in found} == {"Target": PLAIN, "Renamed": PLAIN}
    assert runs > 1


def test_another_question_is_another_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was found out for some ids says nothing of others."""
    subject = _subject(tmp_path, BARE)
    _asked(subject, monkeypatch, "Target")
    assert capture(subject, Question("Renamed", LAYERS, (2, 3))).boundaries == (3, 4)
    assert capture(subject, Question("Renamed", LAYERS + 1, (1, 4))).boundaries == PLAIN


def test_a_shared_answer_depends_on_what_it_came_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is kept under the second name is looked at again when a file of the first changes."""
    subject = _subject(tmp_path, BARE)
    ledgers: list[Ledger] = []
    for name in ("Target", "Renamed"):
        with subject.workspace.noting() as ledger:
            _asked(subject, monkeypatch, name)
        ledgers.append(ledger)
    first, second = ledgers
    assert first.modules.keys() <= second.modules.keys()
    for module, names in first.names.items():
        assert names <= second.names[module]
    assert first.files <= second.files
