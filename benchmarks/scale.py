"""How what `verify` costs grows: with the length of a file, and with the layers of a draft.

    python benchmarks/scale.py [--lines 1000,10000,100000] [--layers 1,2,10,50,200]

The packaged engines are checked, made larger: other classes, functions and tables in the file of
the server's draft or in files beside it; drafts of many layers. Each size runs in a process of its
own, without a cache. Beside CPU seconds and peak memory stands what a unit more costs, against the
size before: a figure that keeps growing is not linear.
"""

from __future__ import annotations

import argparse
import json
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

if TYPE_CHECKING:
    from collections.abc import Callable

_DRAFT = "toy_server/toy_server/eagle3.py"
_TRAINED = "toy_trainer/toy_trainer/draft.py"
_LOOPS = {
    _TRAINED: (
        ("def __init__(self, config, normed_residual):", "def __init__(self, config, index):"),
        (
            "        self.hidden_norm = Norm(size, eps)\n",
            """\
        if index == 0:
            self.hidden_norm = Norm(size, eps)
        self.first = index == 0
""",
        ),
        ("Attention(config, 2 * size)", "Attention(config, 2 * size if index == 0 else size)"),
        ("        self.normed_residual = normed_residual\n", ""),
        (
            """\
        normed = self.hidden_norm(hidden)
        kept = normed if self.normed_residual else hidden
        both = torch.cat([self.input_layernorm(embeds), normed], dim=-1)
""",
            """\
        kept = hidden
        if self.first:
            both = torch.cat([self.input_layernorm(embeds), self.hidden_norm(hidden)], dim=-1)
        else:
            both = self.input_layernorm(hidden)
""",
        ),
        (
            '[FirstLayer(layer, config.get("norm_before_residual", False))]',
            '[FirstLayer(layer, i) for i in range(layer["num_hidden_layers"])]',
        ),
        ("memory = []", "memory = [[] for _ in self.layers]"),
        (
            "            hidden = self.layers[0](embeds, hidden, rotary, memory)\n",
            """\
            for layer, kept in zip(self.layers, memory):
                hidden = layer(embeds, hidden, rotary, kept)
""",
        ),
    ),
    _DRAFT: (
        (
            '        self.hidden_norm = FusedNorm(size, config["rms_norm_eps"])\n',
            """\
        self.hidden_norm = FusedNorm(size, config["rms_norm_eps"]) if index == 0 else None
""",
        ),
        (
            """\
        joined = torch.hstack([self.input_layernorm(embeds), self.hidden_norm(hidden)])
""",
            """\
        if self.hidden_norm is None:
            joined = self.input_layernorm(hidden)
        else:
            joined = torch.hstack([self.input_layernorm(embeds), self.hidden_norm(hidden)])
""",
        ),
        (
            "        hidden, residual = self.layers[0](positions, embeds, hidden, batch)\n",
            """\
        for layer in self.layers[:-1]:
            hidden, residual = layer(positions, embeds, hidden, batch)
            hidden = hidden + residual
        hidden, residual = self.layers[-1](positions, embeds, hidden, batch)
""",
        ),
    ),
}
"""How the packaged engines, which run one layer, are made to run many: later ones are plain."""


@dataclass(frozen=True)
class Cost:
    """What one check took."""

    seconds: float
    megabytes: float
    status: int


def engines(folder: Path) -> None:
    """Copies of the packaged engines, with a loop over layers, and their configurations."""
    for name in ("toy_trainer", "toy_server"):
        shutil.copytree(FIXTURES / "engines" / name, folder / name)
    for path, edits in _LOOPS.items():
        text = (folder / path).read_text("utf-8")
        for old, new in edits:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        (folder / path).write_text(text, "utf-8")
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


def cost(make: Callable[[Path, int], None], size: int) -> Cost:
    """One check in a process of its own."""
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
            [sys.executable, "-c", code, *words(folder)],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
        )
    seconds, kilobytes, status = done.stdout.split()
    return Cost(float(seconds), int(kilobytes) / 1024, int(status))


def table(title: str, unit: int, make: Callable[[Path, int], None], sizes: list[int]) -> None:
    """Prints a line a size."""
    per = f"{unit:,} more" if unit > 1 else "one more"
    print(f"{title:<34} {'CPU s':>8} {'MB':>6} {'s for ' + per:>18} {'MB for ' + per:>18}  status")
    before: tuple[int, Cost] | None = None
    for size in sizes:
        found = cost(make, size)
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
    given: Any = parser.parse_args()
    table("lines more in the draft's file", 1000, longer_draft, given.lines)
    table("lines in a file beside it", 1000, longer_neighbour, given.lines)
    table("layers", 1, with_layers, given.layers)
    return 0


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",") if part]


if __name__ == "__main__":
    raise SystemExit(main())
