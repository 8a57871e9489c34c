"""What the hook and the gate cost in daily use, as multiples of starting Python.

    python benchmarks/daily.py [--runs N] [--offline]

A scratch repository holds a copy of a server's release as a fork, with the example's draft. The
hook is run where nothing changed; where something was edited that the draft does not depend on, in
another model, beside and above the draft's own; and where a definition was that it does depend on;
the gate where no pin moved, and where the server's did. Each figure is
the median CPU time of so many runs over that of starting Python, measured in turns.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.speed import EXAMPLE, cost  # noqa: E402
from checker.example import example  # noqa: E402
from checker.request import Access  # noqa: E402
from checker.verification import verify  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    from checker.pairing import Opened

TRAINER, SERVER = EXAMPLE
OLD = "sglang==0.5.18"
USED = "sglang/srt/models/llama_eagle3.py"
BESIDE = "sglang/srt/models/opt.py"
"""A model of the same package that no draft is made of."""
FILES = {"train": "train.json", "serve": "serve.json", "target": "target.json"}


def main() -> int:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--offline", action="store_true", help="fetch nothing")
    given: Any = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        fork, project = Path(folder, "fork"), Path(folder, "project")
        _fork(fork, offline=given.offline)
        _project(project)
        os.environ["PYTHONPATH"] = str(ROOT)
        for name, prepare, words, where in (
            ("hook, nothing changed", lambda _: None, ["hook"], fork),
            ("hook, another model edited", lambda n: _edit(fork / BESIDE, n), ["hook"], fork),
            ("hook, edit below the draft's model", lambda n: _edit(fork / USED, n), ["hook"], fork),
            ("hook, edit above the draft's model", lambda n: _above(fork / USED, n), ["hook"],
             fork),
            ("hook, the draft's model edited", lambda n: _inside(fork / USED, n), ["hook"], fork),
            ("gate, no pin moved", lambda _: _pin(project, OLD), ["gate", "--base=main"], project),
            ("gate, the server moved", lambda _: _pin(project, SERVER), ["gate", "--base=main"],
             project),
        ):  # fmt: skip
            print(f"{name:<36} {_ratio(prepare, words, where, given.runs):>7.1f}", flush=True)
    return 0


def _ratio(prepare: Callable[[int], None], words: list[str], where: Path, runs: int) -> float:
    os.chdir(where)
    command = [sys.executable, "-m", "checker", *words, "--offline"]
    found = []
    for number in range(runs + 1):
        prepare(number)
        start, run = cost([sys.executable, "-c", "pass"]), cost(command)
        if number:  # the first one fills the cache
            found.append(run / start)
    return median(found)


def _fork(folder: Path, *, offline: bool) -> None:
    """A server's release as somebody's checkout: the files that checking it reads, and one more."""
    opened: list[Opened] = []
    access = Access(offline=offline, use_cache=False)
    verify(replace(example(access).request, access=access), opened)
    tree = opened[1].tree
    for path in {*tree.read_digests, BESIDE}:
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(tree.read(path))
    asked = [str(requirement) for requirement in tree.metadata.requires if not requirement.extras]
    (folder / "pyproject.toml").write_text(
        f'[project]\nname = "{tree.name}"\nversion = "{tree.version}"\n'
        f"dependencies = {json.dumps(asked)}\n",
        "utf-8",
    )
    _settings(folder, ".")


def _project(folder: Path) -> None:
    """A project that pins the server in a lock file, on a branch of its own."""
    folder.mkdir()
    _pin(folder, OLD)
    _settings(folder, "sglang")
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], [*who, "commit", "-qm", "x"]):
        subprocess.run(["git", *words], cwd=folder, check=True)  # noqa: S607


def _settings(folder: Path, serve: str) -> None:
    lines = [f'train = "{TRAINER}"', f'serve = "{serve}"', 'target = "target.json"']
    lines += [f'{side}-config = "{side}.json"' for side in ("train", "serve")]
    (folder / "eagle3-check.toml").write_text("\n".join(lines) + "\n", "utf-8")
    for name in FILES.values():
        shutil.copy(ROOT / "fixtures" / "example" / name, folder / name)
    plain = json.loads((folder / "train.json").read_text("utf-8"))
    plain["norm_before_residual"] = False
    (folder / "train.json").write_text(json.dumps(plain), "utf-8")


def _pin(folder: Path, release: str) -> None:
    name, _, version = release.partition("==")
    text = f'[[package]]\nname = "{name}"\nversion = "{version}"\n'
    (folder / "uv.lock").write_text(text, "utf-8")


def _edit(path: Path, number: int) -> None:
    """Adds a statement that changes no meaning: the file is another one, and is read again."""
    text = path.read_text("utf-8").partition("\n# edited")[0]
    path.write_text(f"{text}\n# edited {number}\n_EDITED = {number}\n", "utf-8")


def _above(path: Path, number: int) -> None:
    """Adds lines to the head of a file: whatever stands there stands elsewhere."""
    text = path.read_text("utf-8").rpartition("# added\n")[2]
    path.write_text("# one more\n" * (number + 1) + "# added\n" + text, "utf-8")


def _inside(path: Path, number: int) -> None:
    """Gives every class of a file another statement that does nothing."""
    text = re.sub(r"(?m)^    edited_\d+ = 0\n", "", path.read_text("utf-8"))
    text = re.sub(r"(?m)^(class .*:\n)", rf"\1    edited_{number} = 0\n", text)
    path.write_text(text, "utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
