"""What a matrix costs: from empty caches, from the cache of graphs, and for parts of it.

    python benchmarks/matrix.py [--every N] [--offline]

Every trainer with every server of `tests/releases/releases.yaml` from `--first` on, under the
contract's configurations, in a cache of its own that shares the sources of the user's. Each line is
a run of the command: wall time, CPU seconds of all processes, and the most memory they held
together (shared pages counted once; Linux only).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from checker.sources.store import CACHE_VARIABLE, cache_folder  # noqa: E402


def releases(kind: str) -> list[str]:
    """The releases of `trainers` or `servers`, in the order in which they appeared."""
    import yaml

    text = (ROOT / "tests/releases/releases.yaml").read_text("utf-8")
    groups = yaml.safe_load(text)[kind]["groups"]
    return [spec for group in groups for spec in group["releases"]]


def held(process: int) -> int:
    """Kilobytes that a process and its children hold."""
    total = 0
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text("utf-8").split()
        for number in (str(process), *children):
            for line in Path(f"/proc/{number}/smaps_rollup").read_text("utf-8").splitlines():
                total += int(line.split()[1]) if line.startswith("Pss:") else 0
    except OSError:  # it has ended
        return 0
    return total


def run(title: str, words: list[str], cache: str) -> None:
    """One matrix, and a line about it."""
    environment = {**os.environ, CACHE_VARIABLE: cache}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with tempfile.TemporaryFile() as out:
        command = [sys.executable, "-m", "checker", *words]
        process = subprocess.Popen(command, stdout=out, cwd=ROOT, env=environment)
        most = 0
        while process.poll() is None:
            most = max(most, held(process.pid))
            time.sleep(0.2)
        out.seek(0)
        cells = len(json.load(out)["cells"])
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(
        f"{title:<24} {cells:>6} {wall:>8.1f} {seconds:>8.1f} {1000 * seconds / cells:>8.1f}"
        f" {most / 1024:>6.0f}",
        flush=True,
    )


def main() -> int:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--every", type=int, default=1, help="only every N-th server")
    parser.add_argument("--first", default="sglang==0.4.9", help="the server to begin with")
    parser.add_argument("--offline", action="store_true", help="fetch nothing")
    given: Any = parser.parse_args()
    servers = releases("servers")
    servers = servers[servers.index(given.first) :: given.every]
    trainers = [spec for spec in releases("trainers") if "a" not in spec.partition("==")[2]]
    print(f"{'':<24} {'cells':>6} {'wall s':>8} {'CPU s':>8} {'ms each':>8} {'MB':>6}")
    with tempfile.TemporaryDirectory() as cache:
        (Path(cache) / "sources").symlink_to(cache_folder() / "sources")
        for title, part in (("a quarter, from nothing", 4), ("the rest", 1), ("again", 1)):
            words = ["matrix", "--train", *trainers, "--serve", *servers[::part]]
            words += ["--offline"] if given.offline else []
            run(title, [*words, "--format", "json"], cache)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
