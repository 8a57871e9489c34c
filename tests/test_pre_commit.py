"""The hooks, run by the real pre-commit on a repository of somebody who edits a fork."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from checker.data import FIXTURES

ROOT = Path(__file__).parents[1]
SHIPPED = ("checker", "contracts", "fixtures", "pyproject.toml", "README.md", "LICENSE",
           ".pre-commit-hooks.yaml")  # fmt: skip
CONFIG = """\
repos:
  - repo: {tool}
    rev: v1
    hooks:
      - id: eagle3-check
      - id: eagle3-check-contracts
"""
SERVED = "toy_server/eagle3.py"


def run(*words: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    who = {"GIT_AUTHOR_NAME": "x", "GIT_AUTHOR_EMAIL": "x@example.org",
           "GIT_COMMITTER_NAME": "x", "GIT_COMMITTER_EMAIL": "x@example.org"}  # fmt: skip
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "PYTHON"))}
    return subprocess.run(
        words, cwd=cwd, capture_output=True, text=True, env={**clean, **who, **variables},
        timeout=300, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def tool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This project as a repository that pre-commit installs from."""
    folder = tmp_path_factory.mktemp("tool")
    for name in SHIPPED:
        source = ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
            shutil.copytree(source, folder / name, ignore=ignored)
        else:
            shutil.copy(source, folder / name)
    run("git", "init", "-q", ".", cwd=folder)
    run("git", "add", "-A", cwd=folder)
    assert run("git", "commit", "-qm", "x", cwd=folder).returncode == 0
    run("git", "tag", "v1", cwd=folder)
    return folder


@pytest.fixture
def fork(tmp_path: Path, tool: Path) -> Path:
    """A fork of the toy server, with the hooks installed and everything committed."""
    root = tmp_path / "fork"
    shutil.copytree(FIXTURES / "engines" / "toy_server", root)
    shutil.copytree(FIXTURES / "engines" / "toy_trainer", tmp_path / "trainer")
    for name in ("train", "serve", "target"):
        config = json.loads((FIXTURES / "example" / f"{name}.json").read_text("utf-8"))
        config |= {"norm_before_residual": False} if name == "train" else {}
        (root / f"{name}.json").write_text(json.dumps(config), "utf-8")
    (root / "eagle3-check.toml").write_text(
        'train = "../trainer"\nserve = "."\ntrain-config = "train.json"\n'
        'serve-config = "serve.json"\ntarget = "target.json"\n'
    )
    (root / "contracts").mkdir()
    (root / "contracts" / "mine.yaml").write_text("version: 1\nclauses: 3\n")
    (root / ".pre-commit-config.yaml").write_text(CONFIG.format(tool=tool))
    run("git", "init", "-q", ".", cwd=root)
    run("git", "add", "-A", cwd=root)
    return root


@pytest.mark.network
def test_the_hooks_stop_a_commit_that_breaks_the_draft(fork: Path, tmp_path: Path) -> None:
    places = {"PRE_COMMIT_HOME": str(tmp_path / "home"),
              "EAGLE3_CHECK_CACHE": str(tmp_path / "cache")}  # fmt: skip
    command = [sys.executable, "-m", "pre_commit", "run", "--all-files", "--color=never"]
    done = run(*command, cwd=fork, **places)
    assert "eagle3-check.............................................................Passed" in (
        done.stdout
    ), done.stdout + done.stderr
    assert "contracts/mine.yaml:2:1: clauses: 3 is not of type 'array'" in done.stdout
    (fork / "contracts" / "mine.yaml").unlink()
    served = (fork / SERVED).read_text("utf-8")
    (fork / SERVED).write_text(
        served.replace("self.lm_head(normed), kept", "self.lm_head(normed), normed")
    )
    run("git", "add", "-A", cwd=fork)
    done = run(*command, cwd=fork, **places)
    assert done.returncode == 1
    assert "DIFFER: 1 violated: feedback" in done.stdout
    (fork / SERVED).write_text(served + "\n# no change of meaning\n")
    run("git", "add", "-A", cwd=fork)
    done = run(*command, cwd=fork, **places)
    assert done.returncode == 0, done.stdout
    (fork / "notes.md").write_text("x")
    run("git", "add", "-A", cwd=fork)
    done = run(*command[:4], "--files", "notes.md", "--color=never", cwd=fork, **places)
    assert "(no files to check)Skipped" in done.stdout
