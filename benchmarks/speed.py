"""What `verify` costs, as ratios within one run: these machines are noisy, seconds mean little.

    python benchmarks/speed.py [--runs N] [--json] [--fetch NAME==VERSION] [--tools FOLDER]

Cold means `--no-cache` with the sources at hand; warm is the second of two equal questions. Both
are put beside starting Python and importing libcst and yaml, and what a server release that was
never seen costs in bytes, with an empty cache. Other tools that read Python do a job of theirs on
the same files: those that are found beside this interpreter, or in the `bin` of another environment
(`--tools`); none is needed for anything else. A line says what is missing, and how it is installed.
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
import time
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
EXAMPLE = ("speculators==0.9.0", "sglang==0.5.23")
DRAFT = "sglang/srt/models/llama_eagle3.py"
_PROGRAMS = {
    "ast-grep": ("ast-grep-cli", ["run", "--lang", "python", "--pattern", "self.fc($X)"]),
    "semgrep": (
        "semgrep",
        [
            *("scan", "--metrics=off", "--disable-version-check", "--quiet"),
            *("--lang", "python", "--pattern", "self.fc(...)"),
        ],
    ),
    "pyright": ("'pyright[nodejs]'", []),
}
"""Programs that search or check files: what installs each, and the words of the job."""
_LIBRARIES = {
    "griffe": "import griffe; griffe.load('sglang', search_paths=[{folder!r}])",
    "grimp": "import sys; sys.path.insert(0, {folder!r}); import grimp;"
    " grimp.build_graph('sglang', cache_dir=None)",
}
"""Libraries that load a package from its source, and the code of the job."""


def main() -> int:
    """Measures, and prints one line a figure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=5, help="the median of so many rounds counts")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--fetch", default=EXAMPLE[1], help="the release that is fetched anew")
    parser.add_argument("--tools", type=Path, help="an environment that holds the other tools")
    given = parser.parse_args()
    figures = measured(given.runs, given.fetch, given.tools)
    if given.json:
        print(json.dumps(figures, indent=2))
    else:
        for name, value in figures.items():
            print(f"{name:<52} {value}")
    return 0


def measured(runs: int, fetch: str, tools: Path | None) -> dict[str, Any]:
    """All figures, by what they are."""
    verify = [sys.executable, "-m", "checker", "verify"]
    cost(verify)  # fetches what is not there yet, and answers the question a first time
    peak = peak_megabytes([*verify, "--no-cache"])
    # By turns, so that what disturbs one disturbs all; a question that is new each time is answered
    # from kept graphs.
    rounds = [
        (
            cost([sys.executable, "-c", "pass"]),
            cost([sys.executable, "-c", "import libcst, yaml"]),
            cost([*verify, "--no-cache"]),
            cost(verify),
            cost([*verify, "--max-unproven", str(1000 + time.time_ns() % 10**6)]),
        )
        for _ in range(runs)
    ]
    python, libraries, cold, warm, graphs = (median(values) for values in zip(*rounds, strict=True))
    figures: dict[str, Any] = {
        "start Python, CPU s": round(python, 4),
        "import libcst and yaml, CPU s": round(libraries, 4),
        "cold verify, CPU s": round(cold, 3),
        "cold verify / importing libcst and yaml (at most 8)": round(
            median(r[2] / r[1] for r in rounds), 1
        ),
        "verify of kept graphs, CPU s": round(graphs, 3),
        "warm verify, CPU s": round(warm, 4),
        "warm verify / starting Python (at most 20)": round(median(r[3] / r[0] for r in rounds), 1),
        "cold verify, peak MB (at most 300)": peak,
        f"fetched for {fetch} (at most 5 MB)": fetched(fetch),
    }
    with tempfile.TemporaryDirectory() as folder:
        package = unpacked(Path(folder))
        for job, command in others(package, tools).items():
            label = f"{job} / cold verify"
            if isinstance(command, str):
                figures[label] = command
            else:
                figures[label] = round(least(command, min(runs, 2), check=False) / cold, 2)
    return figures


def cost(command: list[str], *, check: bool = True) -> float:
    """User and system seconds of one run and everything it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # programs are installed compiled
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
    """The server's package, written out for tools that read folders only.

    Folders without an `__init__.py` get one: two of the tools would pass them over.
    """
    from checker.sources import open_source

    tree = open_source(EXAMPLE[1], package="sglang")
    for path in tree.files("sglang/srt/models/", ".py"):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(tree.read(path))
    for place in (folder / "sglang").rglob("*"):
        if place.is_dir():
            (place / "__init__.py").touch()
    (folder / "sglang" / "__init__.py").touch()
    return folder


def others(folder: Path, tools: Path | None) -> dict[str, list[str] | str]:
    """Commands of other tools, by what they do; how to install those that are missing."""
    found: dict[str, list[str] | str] = {}
    python = str(tools / "bin" / "python") if tools else sys.executable
    for name, code in _LIBRARIES.items():
        there = status_of([python, "-c", f"import {name}"]) == 0
        job = [python, "-c", code.format(folder=str(folder))]
        found[f"{name}, loading the models"] = job if there else missing(name)
    path = None if tools is None else str(tools / "bin")
    for name, (package, words) in _PROGRAMS.items():
        program = shutil.which(name, path=path)
        target = folder / DRAFT if name == "pyright" else folder
        what = "the draft file" if name == "pyright" else "one pattern in the models"
        found[f"{name}, {what}"] = [program, *words, str(target)] if program else missing(package)
    return found


def missing(package: str) -> str:
    """What is said of a tool that is not there."""
    return f"not installed: pip install {package}"


def status_of(command: list[str]) -> int:
    """The exit status of a command that is run for nothing else."""
    return subprocess.run(command, capture_output=True, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
