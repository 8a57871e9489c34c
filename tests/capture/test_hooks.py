"""States that hooks keep: before a layer runs, or after it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.capture.test_small_targets import ask

if TYPE_CHECKING:
    from pathlib import Path

SET = "self.model.wanted = [2, 4, 5] if layer_ids is None else [i + 1 for i in layer_ids]"
TEST = "if i in self.wanted:"
STATE = "self.wanted = []"
KEPT = "kept = []"
AFTER = "lambda layer, args, result: self.model.states.append(result[0] + result[1])"
BEFORE = "lambda layer, args: self.model.states.append(args[0] + args[1])"
NAMED = "lambda layer, args, named, result: self.model.states.append(sum(result[:2]))"


def _asked(folder: Path, register: str, ids: tuple[int, ...], more: str = "pass") -> object:
    body = f"for i in layer_ids: self.handle = self.model.layers[i].{register}\n        {more}"
    edits = (
        (STATE, f"{STATE}\n        self.states = []"),
        (KEPT, "kept = self.states"),
        (TEST, "if False:"),
        (SET, body),
    )
    return ask(folder, ids, *edits).boundaries


@pytest.mark.parametrize(
    ("register", "boundaries"),
    [
        (f"register_forward_hook({AFTER})", (2, 5)),
        (f"register_forward_hook({NAMED}, with_kwargs=True)", (2, 5)),
        (f"register_forward_pre_hook({BEFORE})", (1, 4)),
    ],
)
def test_what_hooks_keep(register: str, boundaries: tuple[int, ...], tmp_path: Path) -> None:
    assert _asked(tmp_path, register, (1, 4)) == boundaries


def test_a_hook_that_is_taken_off(tmp_path: Path) -> None:
    register = f"register_forward_hook({AFTER})"
    assert _asked(tmp_path, register, (1, 4), "self.handle.remove()") == (2,)


def test_what_a_hook_returns_is_the_result(tmp_path: Path) -> None:
    """A boundary is what the next layer is given."""
    doubled = "register_forward_hook(lambda layer, args, result: (result[0] * 2, result[1]))"
    edit = (SET, f"{SET}\n        self.model.layers[2].{doubled}")
    assert ask(tmp_path, (1, 4), edit).boundaries == (2, 5)
