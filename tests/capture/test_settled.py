"""Runs share definitions, and no run sees what another one did to them."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from textwrap import dedent, indent

import pytest
import yaml

from checker.engines import Captured, Question, Subject, capture, known_targets
from checker.interpreter.settled import Definitions
from tests.capture.test_real_targets import opened
from tests.capture.test_small_targets import LAYERS, MODEL, SUM, laid_out

RUNS = sys.modules["checker.engines.capture"]
RELEASES = ("0.4.9", "0.5.9", "0.5.14", "0.5.18", "0.5.23")

CHANGES = {
    entry.pop("case"): entry
    for entry in yaml.safe_load((Path(__file__).parent / "changes.yaml").read_text())
}
MOVED = """
        self.change()
        self.model.wanted = [i + 1 + (SHIFT) for i in layer_ids]
"""
TARGETS = """
class Changing(Target):
    def change(self):
CHANGE
class Quiet(Target):
    def change(self):
        pass
EntryClass = [Changing, Quiet]
"""


def model(module: str, change: str, shift: str) -> str:
    """A module with a target that changes things, and one that does not."""
    text = dedent(MODEL).replace("CAPTURED", SUM)
    for old, new in (
        (
            "        self.model.wanted = [2, 4, 5] if",
            MOVED.replace("SHIFT", shift) + "        _ = 0 if",
        ),
        (
            "EntryClass = [Target, Wrapper, Deaf]\n",
            TARGETS.replace("CHANGE", indent(change, " " * 8)),
        ),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    return module + text


def ask(subject: Subject, target: str, layers: int = LAYERS) -> Captured:
    return capture(subject, Question(target, layers, (1,)))


@pytest.mark.parametrize("case", CHANGES)
def test_no_run_sees_what_another_one_changed(tmp_path: Path, case: str) -> None:
    """Whatever ran before, a target hands over what it does on its own."""
    given = CHANGES[case]
    text = model(given["module"], given["change"], given["shift"])
    moved = {"Changing": given["changing"], "Quiet": given["quiet"]}
    alone = {}
    for number, target in enumerate(moved):
        alone[target] = ask(laid_out(tmp_path / str(number), text), target)
        assert alone[target].boundaries == (2 + moved[target],), alone[target]
    for number, order in enumerate(("QCCQ", "CQQC")):
        subject = laid_out(tmp_path / f"all {number}", text)
        for first in order:
            target = "Changing" if first == "C" else "Quiet"
            assert ask(subject, target).boundaries == alone[target].boundaries
        assert not RUNS._definitions(subject).unnoticed()


def test_definitions_are_evaluated_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A class that stands on nothing else is the same object for each run."""
    text = model("class Kept:\n    shift = 1\n", "pass", "Kept.shift")
    subject = laid_out(tmp_path, text)
    seen = []
    watched = RUNS.alike.Run.watched

    def noted(run: object, m: object, cls: object) -> object:
        seen.append(cls)
        return watched(run, m, cls)

    monkeypatch.setattr(RUNS.alike.Run, "watched", noted)
    for layers, target in enumerate(("Changing", "Quiet", "Changing"), LAYERS):
        assert ask(subject, target, layers).boundaries == (3,)
    assert len(seen) == 3
    assert seen[0] is seen[2]
    assert seen[0].mro[1] is seen[1].mro[1]


def test_nothing_is_shared_where_imports_change_each_other(tmp_path: Path) -> None:
    """Of an engine whose modules do that each run evaluates its own."""
    subject = laid_out(tmp_path, model("", "pass", "0"))
    assert isinstance(RUNS._definitions(subject), Definitions)
    assert RUNS._definitions(subject) is RUNS._definitions(subject)
    eager = replace(subject, engine=replace(subject.engine, eager=True))
    assert RUNS._definitions(eager) is None


SOME = ("DeepseekV3ForCausalLM", "GptOssForCausalLM", "LlamaForCausalLM", "Qwen3NextForCausalLM")


@pytest.mark.network
@pytest.mark.parametrize(
    ("release", "targets"),
    [
        ("0.5.23", SOME),
        *(pytest.param(release, None, marks=pytest.mark.long) for release in RELEASES),
    ],
)
def test_a_release_says_the_same_without_sharing(
    release: str, targets: tuple[str, ...] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each target hands over what it does where every run evaluates everything, in any order."""
    shared, alone, backwards = opened(release), opened(release), opened(release)
    answers = {
        target: capture(shared, Question(target, 61, (2, 30, 58)))
        for target in targets or known_targets(shared)
    }
    assert not RUNS._definitions(shared).unnoticed()
    for target in reversed(answers):
        assert capture(backwards, Question(target, 61, (2, 30, 58))) == answers[target]
    monkeypatch.setattr(RUNS, "_definitions", lambda _: None)
    for target, answer in answers.items():
        assert capture(alone, Question(target, 61, (2, 30, 58))) == answer
