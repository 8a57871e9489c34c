"""What `verify` costs in CPU seconds, cold and warm, as multiples of two yardsticks.

    python benchmarks/verify_cost.py [ARGUMENTS OF VERIFY]

Without arguments the example pair is checked. Sources have to be fetched once before anything is
measured; cold means that nothing but fetched sources is cached. Children's user and system time is
counted, the least of several runs, so waiting for a disk or a network is not.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys

RUNS = 5


def cpu_seconds(command: list[str]) -> float:
    """User and system seconds of one run and everything it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in {0, 1, 3}:
        sys.exit(f"{' '.join(command)} exits {done.returncode}: {done.stderr.strip()}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def least(command: list[str]) -> float:
    """The least of several runs: what the work costs when nothing disturbs it."""
    return min(cpu_seconds(command) for _ in range(RUNS))


def main() -> None:
    """Measures and prints one line a figure."""
    os.environ["EAGLE3_CHECK_DEBUG"] = "1"
    verify = [sys.executable, "-m", "checker", "verify", *sys.argv[1:]]
    cpu_seconds(verify)
    python = least([sys.executable, "-c", "pass"])
    libraries = least([sys.executable, "-c", "import libcst, yaml"])
    print(f"start Python              {python:7.3f} s")
    print(f"import libcst and yaml    {libraries:7.3f} s")
    for name, command in (("cold", [*verify, "--no-cache"]), ("warm", verify)):
        seconds = least(command)
        ratios = f"{seconds / python:6.1f} x Python {seconds / libraries:6.1f} x libcst and yaml"
        print(f"verify, {name:<5}             {seconds:7.3f} s {ratios}")


if __name__ == "__main__":
    main()
