"""Functions that keep their results: what they gave is the same object the next time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.capture.test_small_targets import ask

if TYPE_CHECKING:
    from pathlib import Path

IMPORT = "import torch\n"
MIXER = "class Mixer(nn.Module):"
SET = "self.model.wanted = [2, 4, 5] if layer_ids is None else [i + 1 for i in layer_ids]"
TEST = "if i in self.wanted:"
MORE = "def more():\n    return []\n"
FUNCTION = "def ids(key=0):\n    return []\n"


@pytest.mark.parametrize(
    "decorator",
    [
        "functools.lru_cache(maxsize=1)",
        "functools.lru_cache",
        "functools.cache",
        "functools.lru_cache()",
    ],
)
def test_what_is_put_into_a_result_is_there(decorator: str, tmp_path: Path) -> None:
    edits = (
        (IMPORT, "import functools\n" + IMPORT),
        (MIXER, f"@{decorator}\n{FUNCTION}{MIXER}"),
        (SET, "ids().extend(i + 1 for i in layer_ids)"),
        (TEST, "if i in ids():"),
    )
    assert ask(tmp_path, (3, 5), *edits).boundaries == (4, 6)


@pytest.mark.parametrize(
    ("test", "boundaries"),
    [("if i in ids(1):", (4, 6)), ("if i in ids(key=1):", None), ("if i in ids(2):", None)],
)
def test_results_are_kept_by_what_was_given(
    test: str, boundaries: tuple[int, ...] | None, tmp_path: Path
) -> None:
    edits = (
        (IMPORT, "import functools\n" + IMPORT),
        (MIXER, f"@functools.cache\n{FUNCTION}{MIXER}"),
        (SET, "ids(1).extend(i + 1 for i in layer_ids)"),
        (TEST, test),
    )
    found = ask(tmp_path, (3, 5), *edits)
    assert found.boundaries == boundaries
    assert (found.error is None) == (boundaries is not None)


@pytest.mark.parametrize(
    ("test", "kept"),
    [
        ("if i in ids(a=1, b=2):", True),
        ("if i in ids(a=2, b=1):", False),
        ("if i in ids(b=1, a=2):", False),
        ("if i in ids(1, b=2):", False),
    ],
)
def test_which_name_a_value_was_given_by_counts(test: str, kept: bool, tmp_path: Path) -> None:
    edits = (
        (IMPORT, "import functools\n" + IMPORT),
        (MIXER, f"@functools.cache\ndef ids(a, b):\n    return []\n{MIXER}"),
        (SET, "ids(a=1, b=2).extend(i + 1 for i in layer_ids)"),
        (TEST, test),
    )
    assert (ask(tmp_path, (3, 5), *edits).boundaries == (4, 6)) is kept


def test_each_other_function_gives_a_new_one(tmp_path: Path) -> None:
    edits = (
        (MIXER, FUNCTION + MIXER),
        (SET, "ids().extend(i + 1 for i in layer_ids)"),
        (TEST, "if i in ids():"),
    )
    found = ask(tmp_path, (3, 5), *edits)
    assert found.error is not None
    assert found.error.type == "ValueError"


def test_a_cache_that_is_emptied(tmp_path: Path) -> None:
    edits = (
        (IMPORT, "import functools\n" + IMPORT),
        (
            MIXER,
            f"@functools.cache\n{FUNCTION}@functools.cache\ndef more():\n    return []\n{MIXER}",
        ),
        (SET, "ids().append(1); more().extend(i + 1 for i in layer_ids); ids.cache_clear()"),
        (TEST, "if i in ids() or i in more():"),
    )
    assert ask(tmp_path, (3, 5), *edits).boundaries == (4, 6)
