"""Which releases a project's files pin, and where."""

from __future__ import annotations

import pytest

from checker.errors import InputError
from checker.locks import Pinned, is_lock, pins_in

NAMES = ("sglang", "my_trainer")

REQUIREMENTS = """\
# sglang==0.1
--index-url https://example.org/simple
requests>=2
sglang[all]==0.5.16 ; python_version >= "3.10"  # pinned
My.Trainer == 1.0 \\
    --hash=sha256:00
sglang-router==9.9
-e ./here
git+https://example.org/x.git
"""

UV = """\
version = 1

[[package]]
name = "my-trainer"
version = "1.0"

[[package]]
name = "sglang"
version = "0.5.16"
dependencies = [{ name = "sglang", version = "9" }]
"""

PYPROJECT = """\
[project]
name = "x"
dependencies = [
  "requests",
  "sglang==0.5.16",
]

[project.optional-dependencies]
train = ["my-trainer>=1"]

[dependency-groups]
dev = ["my-trainer==1.1", { include-group = "x" }]
"""

POETRY = """\
[tool.poetry.dependencies]
python = "^3.10"
sglang = "0.5.16"
[tool.poetry.group.dev.dependencies]
my-trainer = { version = "==1.1", extras = ["x"] }
"""


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("a/requirements-x.txt", REQUIREMENTS, [("sglang", "0.5.16", 4), ("my_trainer", "1.0", 5)]),
        ("uv.lock", UV, [("my_trainer", "1.0", 5), ("sglang", "0.5.16", 9)]),
        ("poetry.lock", UV, [("my_trainer", "1.0", 5), ("sglang", "0.5.16", 9)]),
        ("pylock.toml", UV.replace("package", "packages"),
         [("my_trainer", "1.0", 5), ("sglang", "0.5.16", 9)]),
        ("pyproject.toml", PYPROJECT, [("sglang", "0.5.16", 5), ("my_trainer", "1.1", 12)]),
        ("pyproject.toml", POETRY, [("sglang", "0.5.16", 3), ("my_trainer", "1.1", 5)]),
        ("requirements.txt", "sglang==0.5.*\nsglang===0.5.16", [("sglang", "0.5.16", 2)]),
        ("requirements.txt", "", []),
        ("uv.lock", "package = 3", []),
        ("uv.lock", "package = [1, {name = 3}]", []),
    ],
)  # fmt: skip
def test_pins_are_found_with_their_lines(
    path: str, text: str, found: list[tuple[str, str, int]]
) -> None:
    assert list(pins_in(path, text, NAMES)) == [Pinned(n, v, path, line) for n, v, line in found]


@pytest.mark.parametrize("path", ["uv.lock", "a/b/requirements_gpu.txt", "pyproject.toml"])
def test_files_with_pins_are_known_by_their_names(path: str) -> None:
    assert is_lock(path)


@pytest.mark.parametrize("path", ["package-lock.json", "uv.lock/x", "requirements.py", "a.toml"])
def test_other_files_are_not(path: str) -> None:
    assert not is_lock(path)


def test_a_broken_lock_file_is_one_line() -> None:
    with pytest.raises(InputError, match=r"uv\.lock: is no TOML"):
        pins_in("uv.lock", "[[package]", NAMES)
