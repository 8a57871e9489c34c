"""How costs grow: with the length of a file, the layers of a draft, target classes and cells.

    python benchmarks/scale.py [--lines 1000,10000,100000] [--layers 1,2,10,50,200]
                               [--targets 1,4,16,64] [--cells 8,16,32,64]

The packaged engines are checked, made larger: other classes, functions and tables in the file of
the server's draft or in files beside it; drafts of many layers. `capture` is asked for a server of
many target classes, `matrix` for many servers (of eight cells each), which say the same in other
lines or of which each says something else. Each size runs in a process of its
own, without a cache. Beside CPU seconds and peak memory stands what a unit more costs, against the
size before: a figure that keeps growing is not linear.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from checker.data import FIXTURES  # noqa: E402
from checker.sources.store import CACHE_VARIABLE  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

_DRAFT = "toy_server/toy_server/eagle3.py"
_EACH = 8
"""Configurations, and so cells, of a pair."""


@dataclass(frozen=True)
class Cost:
    """What one check took."""

    seconds: float
    megabytes: float
    status: int


def engines(folder: Path) -> None:
    """Copies of the packaged engines, and their configurations."""
    for name in ("toy_trainer", "toy_server"):
        shutil.copytree(FIXTURES / "engines" / name, folder / name)
    with_layers(folder, 1)


def with_layers(folder: Path, count: int) -> None:
    """Configurations of a draft with so many layers."""
    for name in ("train", "serve", "target"):
        config = json.loads((FIXTURES / "example" / f"{name}.json").read_text("utf-8"))
        config.pop("norm_before_residual", None)
        if name != "target":
            config.get("transformer_layer_config", config)["num_hidden_layers"] = count
        (folder / f"{name}.json").write_text(json.dumps(config), "utf-8")


def padding(lines: int) -> str:
    """Python that has nothing to do with a draft: a third each of classes, functions and tables."""
    parts: list[str] = []
    written = 0
    while written < lines:
        n = len(parts)
        parts.append(
            f"class Other{n}(nn.Module):\n"
            "    def __init__(self, config):\n"
            "        super().__init__()\n"
            "        self.inner = nn.Linear(config['a'], config['b'])\n"
            "    def forward(self, x):\n"
            "        return self.inner(x)\n\n"
            f"def other_{n}(x, y=({n}, 'text')):\n"
            "    for i in range(9):\n"
            "        if x[i] > y:\n"
            "            x = [z + i for z in x]\n"
            "    return {'x': x, 'y': y}\n\n"
            f"TABLE_{n} = {{\n"
            + "".join(f"    'k{i}': ({i}, 'v', [{n}]),\n" for i in range(6))
            + "}\n"
        )
        written += parts[-1].count("\n")
    return "".join(parts)


def longer_draft(folder: Path, lines: int) -> None:
    """A file of the draft that holds so many lines more."""
    file = folder / _DRAFT
    file.write_text(file.read_text("utf-8") + "\n\n" + padding(lines), "utf-8")


def longer_neighbour(folder: Path, lines: int) -> None:
    """A file of so many lines beside the draft's, from which the draft takes one name."""
    (folder / _DRAFT).with_name("beside.py").write_text(
        "from torch import nn\n\n" + padding(lines), "utf-8"
    )
    file = folder / _DRAFT
    file.write_text("from toy_server.beside import Other0\n" + file.read_text("utf-8"), "utf-8")


def words(folder: Path) -> list[str]:
    """A check of these engines."""
    return [
        "verify", "--no-cache", "--train", str(folder / "toy_trainer"),
        "--serve", str(folder / "toy_server"),
        "--train-config", str(folder / "train.json"),
        "--serve-config", str(folder / "serve.json"),
        "--target", str(folder / "target.json"),
    ]  # fmt: skip


def many_targets(folder: Path, count: int) -> None:
    """A server of so many target classes, each with a setter and a loop of its own."""
    package = (folder / _DRAFT).parent
    text = (package / "target.py").read_text("utf-8")
    for number in range(1, count):
        other = text.replace("LlamaForCausalLM", f"Other{number}ForCausalLM")
        changed = other.replace("states = []", f"states = []\n        seen = {number}")
        (package / f"target_{number}.py").write_text(changed, "utf-8")


def servers_alike(folder: Path, cells: int) -> None:
    """Copies of a server with a comment more in each."""
    _servers(folder, cells, lambda text, number: f"{'# one' * number}\n\n{text}")


def servers_apart(folder: Path, cells: int) -> None:
    """Servers that compute something of their own each."""
    _servers(
        folder,
        cells,
        lambda text, number: text.replace("lm_head(normed)", f"lm_head(normed * {number + 2})"),
    )


def _servers(folder: Path, cells: int, change: Callable[[str, int], str]) -> None:
    for number in range(cells // _EACH):
        shutil.copytree(folder / "toy_server", folder / f"server_{number}")
        file = folder / f"server_{number}" / _DRAFT.partition("/")[2]
        file.write_text(change(file.read_text("utf-8"), number), "utf-8")


def of_targets(folder: Path) -> list[str]:
    """What all target classes hand over."""
    server = str(folder / "toy_server")
    return ["capture", server, "--no-cache", "--layers", "61", "--ids=2,30,58"]


def of_cells(folder: Path) -> list[str]:
    """A trainer by all servers that there are, from an empty cache."""
    servers = sorted(map(str, folder.glob("server_*")))
    return ["matrix", "--train", str(folder / "toy_trainer"), "--serve", *servers]


def cost(
    make: Callable[[Path, int], None], size: int, asked: Callable[[Path], list[str]] = words
) -> Cost:
    """One command in a process of its own, with a cache of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        engines(folder)
        make(folder, size)
        code = (
            "import resource, subprocess, sys\n"
            "done = subprocess.run([sys.executable, '-m', 'checker', *sys.argv[1:]],"
            " stdout=subprocess.DEVNULL)\n"
            "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
            "print(used.ru_utime + used.ru_stime, used.ru_maxrss, done.returncode)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, *asked(folder)],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
            env={**os.environ, CACHE_VARIABLE: str(folder / "cache")},
        )
    seconds, kilobytes, status = done.stdout.split()
    return Cost(float(seconds), int(kilobytes) / 1024, int(status))


def table(
    title: str,
    unit: int,
    make: Callable[[Path, int], None],
    sizes: list[int],
    asked: Callable[[Path], list[str]] = words,
) -> None:
    """Prints a line a size."""
    per = f"{unit:,} more" if unit > 1 else "one more"
    print(f"{title:<34} {'CPU s':>8} {'MB':>6} {'s for ' + per:>18} {'MB for ' + per:>18}  status")
    before: tuple[int, Cost] | None = None
    for size in sizes:
        found = cost(make, size, asked)
        more = ["", ""]
        if before is not None:
            units = (size - before[0]) / unit
            seconds = (found.seconds - before[1].seconds) / units
            megabytes = (found.megabytes - before[1].megabytes) / units
            more = [f"{seconds:.3f}", f"{megabytes:.2f}"]
        print(
            f"{size:>34,} {found.seconds:>8.2f} {found.megabytes:>6.0f}"
            f" {more[0]:>18} {more[1]:>18}  {found.status}",
            flush=True,
        )
        before = size, found


def main() -> int:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--lines", default="1000,10000,100000", type=_numbers)
    parser.add_argument("--layers", default="1,2,10,50,200", type=_numbers)
    parser.add_argument("--targets", default="1,4,16,64", type=_numbers)
    parser.add_argument("--cells", default="8,16,32,64", type=_numbers)
    given: Any = parser.parse_args()
    table("lines more in the draft's file", 1000, longer_draft, given.lines)
    table("lines in a file beside it", 1000, longer_neighbour, given.lines)
    table("layers", 1, with_layers, given.layers)
    table("target classes", 1, many_targets, given.targets, of_targets)
    table("cells, servers that say the same", _EACH, servers_alike, given.cells, of_cells)
    table("cells, servers of their own", _EACH, servers_apart, given.cells, of_cells)
    return 0


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",") if part]


if __name__ == "__main__":
    raise SystemExit(main())
