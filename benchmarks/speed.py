"""What `verify` costs, as ratios within one run: these machines are noisy, seconds mean little.

    python benchmarks/speed.py [--runs N] [--json] [--fetch NAME==VERSION]

Cold means `--no-cache` with the sources at hand; warm is the second of two equal questions. Both
are put beside starting Python and importing libcst and yaml. Where they are installed, other tools
that read Python do a job of theirs on the same files. The last figure is what a server release that
was never seen costs in bytes, with an empty cache.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
EXAMPLE = ("speculators==0.9.0", "sglang==0.5.23")
DRAFT = "sglang/srt/models/llama_eagle3.py"
_RULES = {
    "ast-grep": ["run", "--lang", "python", "--pattern", "self.fc($X)"],
    "semgrep": ["--metrics=off", "--quiet", "--lang", "python", "--pattern", "self.fc(...)"],
    "pyright": [],
}


def main() -> int:
    """Measures, and prints one line a figure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=5, help="the least of so many runs counts")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--fetch", default=EXAMPLE[1], help="the release that is fetched anew")
    given = parser.parse_args()
    figures = measured(given.runs, given.fetch)
    if given.json:
        print(json.dumps(figures, indent=2))
    else:
        for name, value in figures.items():
            print(f"{name:<52} {value}")
    return 0


def measured(runs: int, fetch: str) -> dict[str, Any]:
    """All figures, by what they are."""
    verify = [sys.executable, "-m", "checker", "verify"]
    cost(verify)  # fetches what is not there yet, and answers the question a first time
    python = least([sys.executable, "-c", "pass"], runs)
    libraries = least([sys.executable, "-c", "import libcst, yaml"], runs)
    cold, peak = least([*verify, "--no-cache"], runs), peak_megabytes([*verify, "--no-cache"])
    warm = least(verify, runs)
    figures: dict[str, Any] = {
        "start Python, CPU s": round(python, 4),
        "import libcst and yaml, CPU s": round(libraries, 4),
        "cold verify, CPU s": round(cold, 3),
        "cold verify / importing libcst and yaml (at most 8)": round(cold / libraries, 1),
        "warm verify, CPU s": round(warm, 4),
        "warm verify / starting Python (at most 20)": round(warm / python, 1),
        "cold verify, peak MB (at most 300)": peak,
        f"fetched for {fetch} (at most 5 MB)": fetched(fetch),
    }
    with tempfile.TemporaryDirectory() as folder:
        package = unpacked(Path(folder))
        for name, command in others(package).items():
            found = command and least(command, 1, check=False)
            label = f"{name} / cold verify"
            figures[label] = round(found / cold, 2) if found else "not installed"
    return figures


def cost(command: list[str], *, check: bool = True) -> float:
    """User and system seconds of one run and everything it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if check and done.returncode not in {0, 1, 3}:
        sys.exit(f"{' '.join(command)} exits {done.returncode}: {done.stderr.strip()}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def least(command: list[str], runs: int, *, check: bool = True) -> float:
    """The least of several runs: what the work costs when nothing disturbs it."""
    return min(cost(command, check=check) for _ in range(runs))


def peak_megabytes(command: list[str]) -> int:
    """The resident memory of one run at its largest."""
    code = (
        "import resource, subprocess, sys;"
        "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=False);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code, *command],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    return int(done.stdout.split()[-1]) // 1024


def fetched(spec: str) -> str:
    """What `extract` of a release says it fetched, with an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "EAGLE3_CHECK_CACHE": folder, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-m", "checker", "extract", spec, "-v"],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )
    said = re.findall(r"eagle3-check: (.*fetched.*)", done.stderr)
    return said[-1] if said else done.stderr.strip()


def unpacked(folder: Path) -> Path:
    """The server's models, written out for tools that read folders only."""
    from checker.sources import open_source

    tree = open_source(EXAMPLE[1], package="sglang")
    for path in tree.files("sglang/srt/models/", ".py"):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(tree.read(path))
    return folder


def others(folder: Path) -> dict[str, list[str] | None]:
    """Commands of other tools; None where one is not installed."""
    found: dict[str, list[str] | None] = {}
    load = f"import griffe; griffe.load('sglang', search_paths=[{str(folder)!r}])"
    path = f"import sys; sys.path.insert(0, {str(folder)!r})"
    graph = f"{path}; import grimp; grimp.build_graph('sglang', cache_dir=None)"
    for name, code in (("griffe, the models", load), ("grimp, the models", graph)):
        there = subprocess.run(
            [sys.executable, "-c", f"import {name.partition(',')[0]}"],
            capture_output=True,
            check=False,
        )
        found[name] = [sys.executable, "-c", code] if there.returncode == 0 else None
    for name, words in _RULES.items():
        program = shutil.which(name)
        target = folder / DRAFT if name == "pyright" else folder
        found[f"{name}, {target.name}"] = [program, *words, str(target)] if program else None
    return found


if __name__ == "__main__":
    raise SystemExit(main())
