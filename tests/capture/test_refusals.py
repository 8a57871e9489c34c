"""Targets that are not built, or not run: what the server certainly raises, and what only we do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.capture.test_small_targets import FILES, SUM, ask

if TYPE_CHECKING:
    from pathlib import Path

    from checker.engines import Captured

WANTED = "self.wanted = []"
HEAD = "self.head = None"
ENTRY = "hidden, residual = self.embed(tokens), None"
GIVEN = "hidden, kept = self.model(tokens)"
KEPT = f"kept.append({SUM})"
ONE_LAYER = """if config.num_hidden_layers != 1:
            raise ValueError("one layer only")"""


def raised(found: Captured) -> str:
    """The error, in one text with its file."""
    assert found.error is not None, found.reason or found.boundaries
    assert found.error.location is not None
    assert found.error.location.path.endswith("small.py")
    return f"{found.error.type}: {found.error.message}"


def test_a_number_of_layers_that_is_refused(tmp_path: Path) -> None:
    """The constructor raises for what the command was told, and not for what it takes."""
    found = ask(tmp_path, (1, 3), (HEAD, f"{ONE_LAYER}\n        self.head = None"))
    assert raised(found) == "ValueError: one layer only"
    edit = (HEAD, f"{ONE_LAYER}\n        self.head = None")
    assert ask(tmp_path, (-1,), edit, layers=1, captured=f"({SUM}).clone()").boundaries == (0,)


def test_a_helper_that_refuses_is_one_of_the_constructor(tmp_path: Path) -> None:
    """Also in a part that the target holds, which is built when something of it is asked for."""
    helper = "self.wanted = checked(config.num_hidden_layers)"
    function = """class Stack(nn.Module):
"""
    made = """def checked(count):
    if count > 4:
        raise RuntimeError("too many layers")
    return []
"""
    edits = (WANTED, helper), (function, f"{made}\n{function}")
    assert raised(ask(tmp_path, (1, 3), *edits)) == "RuntimeError: too many layers"
    assert ask(tmp_path, (0, 1), *edits, layers=4).boundaries == (1, 2)


@pytest.mark.parametrize(
    "statement",
    [
        'if config.odd:\n            raise ValueError("odd")',
        "if config.odd:\n            if config.num_hidden_layers: raise ValueError",
        'try:\n            raise ValueError("no")\n        except ValueError:\n            pass',
    ],
)
def test_what_may_not_be_refused_is_not(tmp_path: Path, statement: str) -> None:
    """Where the configuration decides, or it is caught."""
    found = ask(tmp_path, (1, 3), (HEAD, f"{statement}\n        self.head = None"))
    assert found.boundaries == (2, 4), found.reason or found.error


def test_a_refusal_behind_what_was_not_followed_is_not_believed(tmp_path: Path) -> None:
    """Who knows what the loop did to the configuration."""
    loop = "for key in config.keys_to_set:\n            setattr(config, key, 1)\n        "
    found = ask(tmp_path, (1, 3), (HEAD, f"{loop}{ONE_LAYER}\n        self.head = None"))
    assert (found.boundaries, found.error) == (None, None)


def test_a_part_that_an_open_branch_makes_may_not_be_made(tmp_path: Path) -> None:
    """What it would refuse is refused in one of two configurations only."""
    part = """class Part(nn.Module):
    def __init__(self, config):
        super().__init__()
        if config.num_hidden_layers != 1:
            raise ValueError("one layer only")
        self.size = 3

"""
    sure = "self.part = Part(config)\n        self.size = self.part.size\n        self.head = None"
    branch = "if config.odd:\n            " + sure.replace("\n        self.size", "; self.size")
    edits = ("class Target(", f"{part}class Target("), (HEAD, branch)
    assert ask(tmp_path, (1, 3), *edits).boundaries == (2, 4)
    found = ask(tmp_path, (1, 3), edits[0], (HEAD, sure))
    assert raised(found) == "ValueError: one layer only"


def test_a_name_that_nothing_defines(tmp_path: Path) -> None:
    """The module binds it where another device is looked for."""
    absent = "if torch.version.hip is not None and False:\n    import kernels\n"
    edits = ("class Target(", f"{absent}class Target("), (HEAD, "self.head = kernels.head(config)")
    assert raised(ask(tmp_path, (1, 3), *edits)) == "NameError: name 'kernels' is not defined"


@pytest.mark.parametrize(
    "binding",
    [
        "import kernels",
        "try:\n    import kernels\nexcept ImportError:\n    pass",
        "globals()['kernels'] = 1",
        "if False:\n    kernels = 1\nexec('kernels = 1')",
        "if False:\n    kernels = 1\ndef fill():\n    global kernels\n    kernels = 1",
        "import sys\nsetattr(sys.modules[__name__], 'kernels', 1)",
        "pass",
    ],
)
def test_a_name_that_something_may_define(tmp_path: Path, binding: str) -> None:
    """The module in a way of its own, or another one: it is not said that it raises."""
    edits = ("class Target(", f"{binding}\nclass Target("), (HEAD, "self.head = kernels")
    assert ask(tmp_path, (1, 3), *edits).boundaries == (2, 4)


def test_a_draft_as_a_target_is_given_nothing_to_draft_from(tmp_path: Path) -> None:
    """A prompt that the target sees for the first time brings no states of it."""
    edit = (GIVEN, f"given = batch.spec_info.hidden_states\n        {GIVEN}")
    found = ask(tmp_path, (1, 3), edit)
    assert raised(found) == "AttributeError: 'NoneType' object has no attribute 'hidden_states'"
    asked = (GIVEN, f"given = getattr(batch.spec_info, 'hidden_states', None)\n        {GIVEN}")
    assert ask(tmp_path, (1, 3), asked).boundaries == (2, 4)


def test_what_the_server_sets_is_not_taken_for_none(tmp_path: Path) -> None:
    """A field of the batch that is None where it is declared holds something when it is run."""
    batch = FILES["model_executor/forward_batch_info.py"]
    FILES["model_executor/forward_batch_info.py"] = batch.replace(
        "class ForwardBatch:\n            pass", "class ForwardBatch:\n            backend = None"
    )
    try:
        used = ask(tmp_path, (1, 3), (GIVEN, f"self.size = batch.backend.size\n        {GIVEN}"))
        refused = (
            GIVEN,
            f"if batch.backend is None:\n            raise ValueError('no')\n        {GIVEN}",
        )
        asked = ask(tmp_path, (1, 3), refused)
    finally:
        FILES["model_executor/forward_batch_info.py"] = batch
    assert used.boundaries == (2, 4), used.error
    assert asked.boundaries == (2, 4), asked.error


NO = 'raise ValueError("no")'
TWICE = """for key in (self.config.one, self.config.other):
            if key:
                raise ValueError("not both")
        """
HELD = ("self.wanted = []", "self.wanted, self.config = [], config")


def test_a_way_past_several_refusals_is_found(tmp_path: Path) -> None:
    """Each of two conditions is answered so that the server takes it."""
    found = ask(tmp_path, (1, 3), HELD, (ENTRY, f"{TWICE}{ENTRY}"))
    assert found.boundaries == (2, 4), found.error
    never = f"if self.config.one:\n            {NO}\n        {NO}\n        "
    assert raised(ask(tmp_path, (1, 3), HELD, (ENTRY, f"{never}{ENTRY}"))) == "ValueError: no"


def test_a_way_that_ends_for_a_reason_of_ours_may_lead_on(tmp_path: Path) -> None:
    """Of two ways one is refused, and the other could not be followed: nothing is said."""
    ours = f"if self.config.one:\n            {NO}\n        [1].what_lists_may_have()\n        "
    found = ask(tmp_path, (1, 3), HELD, (ENTRY, f"{ours}{ENTRY}"))
    assert (found.boundaries, found.error) == (None, None)
    assert "what_lists_may_have" in found.reason


def test_what_is_open_behind_a_refusal_is_tried_both_ways(tmp_path: Path) -> None:
    """The first way ends at once; the one that goes on meets a condition of its own."""
    first = f"if self.config.one:\n            {NO}\n        "
    either = f"if self.config.other:\n                    {KEPT}"
    found = ask(tmp_path, (1, 3), HELD, (ENTRY, first + ENTRY), (KEPT, either))
    assert not found.is_decided
    assert "[2, 4]" in found.reason
    same = f"{either}\n                else:\n                    {KEPT}"
    assert ask(tmp_path, (1, 3), HELD, (ENTRY, first + ENTRY), (KEPT, same)).boundaries == (2, 4)


def test_turning_all_answers_goes_on_past_a_refusal(tmp_path: Path) -> None:
    """One of two kinds is needed: with neither it is refused, with the second one it is not."""
    kinds = """if self.config.kind != "a" and self.config.kind != "b":
            raise ValueError("no such kind")
        """
    both = f"if self.config.kind != 'b' or not self.config.other:\n                    {KEPT}"
    found = ask(tmp_path, (1, 3), HELD, (ENTRY, kinds + ENTRY), (KEPT, both))
    assert not found.is_decided
    assert "[2, 4]" in found.reason


def test_states_are_not_pooled(tmp_path: Path) -> None:
    """A model for embeddings pools one tensor, and is handed the states beside it."""
    FILES["layers/pooler.py"] = "class Pooler:\n    pass\n"
    imported = (
        "import torch\n",
        "import torch\nfrom sglang.srt.layers.pooler import Pooler\n",
    )
    try:
        found = ask(
            tmp_path,
            (1, 3),
            imported,
            (HEAD, "self.head = Pooler()"),
            (GIVEN, f"self.head(self.model(tokens), batch)\n        {GIVEN}"),
        )
        one = ask(
            tmp_path,
            (1, 3),
            imported,
            (HEAD, "self.head = Pooler()"),
            (GIVEN, f"{GIVEN}\n        self.head(hidden, batch)"),
        )
    finally:
        del FILES["layers/pooler.py"]
    assert raised(found) == "TypeError: only a tensor can be pooled, not a tuple"
    assert one.boundaries == (2, 4), one.reason


def test_an_assertion_outside_of_the_models_is_the_servers(tmp_path: Path) -> None:
    """What collects the states counts them: one that the loop does not reach is missed."""
    FILES["layers/packing.py"] = (
        "def packed(kept, count):\n"
        "    assert len(kept) == count, f'{len(kept)} of {count}'\n"
        "    return kept\n"
    )
    edits = (
        ("import torch\n", "import torch\nfrom sglang.srt.layers.packing import packed\n"),
        ("return hidden, kept", "return hidden, packed(kept, 2)"),
    )
    try:
        missed = ask(tmp_path, (1, 7), *edits)
        whole = ask(tmp_path, (1, 6), *edits)
    finally:
        del FILES["layers/packing.py"]
    assert missed.error is not None, missed.reason
    assert (missed.error.type, missed.error.message) == ("AssertionError", "1 of 2")
    assert whole.boundaries == (2, 7)
