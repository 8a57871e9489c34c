"""The words of the commands for daily use: hook, gate, baseline, settings and housekeeping."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.baseline import DEFAULT
from checker.words import (
    add_access,
    add_contract,
    add_format,
    add_outputs,
    command,
    examples,
)

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from checker.words import Commands

SHELLS = ("bash", "zsh", "tcsh")
CONFIGURED = "without any, what the settings of the folder name"


def add_daily(
    commands: Commands, add_check: Callable[[argparse.ArgumentParser, str], None]
) -> None:
    """The grammar of these commands; `add_check` adds what says which pair is checked."""
    _add_gate(commands, add_check)
    _add_baseline(commands, add_check)
    hook = command(commands, "hook", "verify for pre-commit: silent where there is nothing to say")
    add_check(hook, CONFIGURED)
    add_outputs(hook)
    add_access(hook)
    _add_init(commands)
    doctor = command(commands, "doctor", "versions, cache, settings, and what would be fetched")
    add_contract(doctor)
    _add_cache(commands)
    completion = command(commands, "completion", "a script that completes commands in a shell")
    completion.add_argument("shell", choices=SHELLS)
    completion.epilog = 'For bash: eval "$(eagle3-check completion bash)" in ~/.bashrc.'


def _add_gate(
    commands: Commands, add_check: Callable[[argparse.ArgumentParser, str], None]
) -> None:
    gate = command(
        commands, "gate", "where a pinned trainer or server moved: what that does to the draft"
    )
    gate.epilog = (
        "Pins are read from requirements*.txt, constraints*.txt, uv.lock, poetry.lock, pdm.lock,"
        " pylock.toml and pyproject.toml. Exit status: that of verify; 0 where no pin moved."
    )
    examples(gate, "gate", "gate --base origin/main --format markdown --output sarif=out.sarif")
    gate.add_argument(
        "--base", metavar="REVISION", default="origin/main",
        help="what the work is compared with (default: origin/main)",
    )  # fmt: skip
    add_check(gate, "without any, the releases that are pinned")
    gate.add_argument("--format", choices=("text", "json", "markdown"), default="text")
    add_outputs(gate, printed=False)
    add_access(gate)


def _add_baseline(
    commands: Commands, add_check: Callable[[argparse.ArgumentParser, str], None]
) -> None:
    baseline = command(
        commands, "baseline", "record today's findings, so that only new ones count from now on"
    )
    baseline.epilog = (
        f"Written to --baseline, {DEFAULT} by default. One that is there shrinks by what is mended,"
        " and grows by --accept alone. Exit status: 0, or 1 where findings are not in it."
    )
    examples(
        baseline, "baseline", 'baseline --accept CLAUSE --reason "until the next draft is trained"'
    )
    baseline.add_argument(
        "--accept", metavar="ID",
        help="take in one finding more: the id of its clause, or its fingerprint",
    )  # fmt: skip
    baseline.add_argument("--reason", metavar="TEXT", help="why it is accepted")
    add_check(baseline, CONFIGURED)
    add_access(baseline)


def _add_init(commands: Commands) -> None:
    init = command(commands, "init", "look at a folder and write commented settings for it")
    init.add_argument("folder", metavar="FOLDER", nargs="?", default=".")
    init.add_argument(
        "--write", metavar="PATH", help="write them here (default: FOLDER/eagle3-check.toml)"
    )
    init.add_argument("--force", action="store_true", help="write over a file that is there")
    init.add_argument("--dry-run", action="store_true", help="print them, and write nothing")
    add_contract(init)


def _add_cache(commands: Commands) -> None:
    cache = command(commands, "cache", "what is kept between runs")
    actions = cache.add_subparsers(dest="action", metavar="ACTION", required=True)
    info = command(actions, "info", "where it is, and how much of what")
    add_format(info)
    command(actions, "clear", "remove all of it; fetched sources are fetched again")
