"""The words of ``solve``, ``diff`` and ``matrix`` as the typed values of `checker.request`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from checker.configs import read_config
from checker.errors import InputError
from checker.outputs import refuse_saving
from checker.request import DiffRequest, MatrixRequest, VerifyRequest
from checker.words import (
    SPEC,
    add_access,
    add_colour,
    add_configs,
    add_format,
    add_ranks,
    add_served,
    add_target,
    add_with,
    checked,
    command,
    config_at,
    configs_of,
    examples,
    target,
)

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from checker.words import Commands


def add_gate(commands: Commands) -> None:
    """The grammar of the commands that look at more than one configuration or release."""
    _add_solve(commands)
    _add_diff(commands)
    _add_matrix(commands)


def _add_solve(commands: Commands) -> None:
    solve = command(
        commands, "solve", "find the served config, flags and renames under which all clauses hold"
    )
    solve.epilog = "Exit status: 0 found, 1 none, 3 not proven, 2 unusable input."
    examples(
        solve,
        "solve --train NAME==VERSION --train-config config.json --serve NAME==VERSION "
        "--target target/config.json --write served.json",
    )
    solve.add_argument("--train", metavar="SPEC", required=True, help=f"the trainer: {SPEC}")
    solve.add_argument("--serve", metavar="SPEC", required=True, help="the server, likewise")
    add_with(solve)
    solve.add_argument(
        "--train-config", metavar="PATH", required=True, help="the config.json the trainer wrote"
    )
    solve.add_argument(
        "--serve-config",
        metavar="PATH",
        help="what is served so far: as much of it is kept as can be",
    )
    add_target(solve)
    add_served(solve)
    solve.add_argument("--write", metavar="PATH", help="save the configuration that was found")
    solve.add_argument("--force", action="store_true", help="write over a file that is there")
    add_ranks(solve)
    add_format(solve)
    add_access(solve)


def _add_diff(commands: Commands) -> None:
    compared = command(
        commands, "diff", "what changed in meaning between two releases of a trainer or a server"
    )
    compared.epilog = "Exit status: 0 nothing breaks, 1 something does, 3 not known, 2 bad input."
    examples(
        compared,
        "diff NAME==OLD NAME==NEW",
        "diff NAME==OLD NAME==NEW --draft config.json --target CLASS:32",
        "diff git:.@origin/main . --train NAME==VERSION",
    )
    compared.add_argument("old", metavar="OLD", help=SPEC)
    compared.add_argument("new", metavar="NEW", help="the same engine, likewise")
    compared.add_argument("--train", metavar="SPEC", help="who trains (default: the example's)")
    compared.add_argument("--serve", metavar="SPEC", help="who serves (default: the example's)")
    add_with(compared)
    add_configs(compared)
    add_target(compared)
    add_served(compared)
    add_ranks(compared)
    add_format(compared)
    add_access(compared)


def _add_matrix(commands: Commands) -> None:
    table = command(
        commands, "matrix", "every trainer with every server, under several configurations"
    )
    table.epilog = "Exit status: that of the worst cell."
    examples(
        table,
        "matrix --train NAME==1 NAME==2 --serve NAME==3 NAME==4",
        "matrix --train NAME==1 --serve NAME==3 --shard 1/4 --format json > 1.json",
    )
    for side, who in (("train", "trainers"), ("serve", "servers")):
        table.add_argument(
            f"--{side}", metavar="SPEC", nargs="+", required=True, help=f"{who}, as for verify"
        )
    add_with(table)
    add_configs(table)
    table.add_argument(
        "--target", metavar="TARGET", action="append", default=[], dest="targets",
        help="a target's config.json, or CLASS[:LAYERS] (repeatable)",
    )  # fmt: skip
    add_served(table, "what each server needs")
    add_ranks(table)
    table.add_argument("--shard", metavar="I/N", default="1/1", help="the I-th of N parts")
    _add_table_format(table)
    add_access(table)
    merge = command(commands, "merge", "several shards of a matrix as one")
    merge.add_argument("files", metavar="FILE", nargs="+", help="what matrix printed as JSON")
    _add_table_format(merge)
    share = command(commands, "coverage", "how much of a matrix is decided, and what is not, why")
    share.add_argument("files", metavar="FILE", nargs="+", help="what matrix printed as JSON")
    add_format(share)


def _add_table_format(command: argparse.ArgumentParser) -> None:
    command.add_argument("--format", choices=("text", "json", "markdown", "html"), default="text")
    add_colour(command)


def solve_request(given: argparse.Namespace, progress: Callable[[str], None]) -> VerifyRequest:
    """What ``solve`` was asked: a check whose served side is what the user has so far.

    Raises:
        InputError: a file or a word cannot be used, or `--write` names what is not to be written.
    """
    if given.write is not None:
        refuse_saving(given, keeps="serve_config")
    return checked(
        given,
        progress,
        train=given.train,
        serve=given.serve,
        train_config=read_config(given.train_config),
        serve_config=config_at(given.serve_config),
    )


def diff_request(given: argparse.Namespace, progress: Callable[[str], None]) -> DiffRequest:
    """What ``diff`` was asked, with its files read."""
    train_config, serve_config = configs_of(given)
    check = checked(
        given,
        progress,
        train=given.train or "",
        serve=given.serve or "",
        train_config=train_config,
        serve_config=serve_config,
    )
    return DiffRequest(given.old, given.new, check)


def matrix_request(given: argparse.Namespace, progress: Callable[[str], None]) -> MatrixRequest:
    """What ``matrix`` was asked, with its files read.

    Raises:
        InputError: a file or a word cannot be used.
    """
    part = re.fullmatch(r"([1-9][0-9]{0,3})/([1-9][0-9]{0,3})", given.shard)
    if part is None or int(part[1]) > int(part[2]):
        raise InputError(f"{given.shard[:40]!r} is no part", "say 1/4 to 4/4", "--shard")
    train_config, serve_config = configs_of(given)
    check = checked(
        given, progress, train="", serve="", train_config=train_config, serve_config=serve_config
    )
    trainers, servers = (tuple(dict.fromkeys(specs)) for specs in (given.train, given.serve))
    targets = tuple(target(text) for text in dict.fromkeys(given.targets)) or (None,)
    return MatrixRequest(trainers, servers, check, (int(part[1]), int(part[2])), targets)
