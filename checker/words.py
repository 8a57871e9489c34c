"""Words of the command line that several commands share, and what they stand for."""

from __future__ import annotations

import argparse
import os
import re
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from checker.configs import read_config
from checker.errors import InputError
from checker.request import FORMATS, Access, Pin, Rename, Target, VerifyRequest
from checker.settings import Settings, find_settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from checker.configs import ConfigFile
    from checker.contract.added import Added

    Commands: TypeAlias = argparse._SubParsersAction[Any]  # noqa: SLF001 - it has no public name

CLASS = re.compile(r"([A-Za-z_]\w*)(?::(\d{1,6}))?")
_PIN = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==(\S+)")
_MAX_LAUNCH = 64 * 1024


class Parser(argparse.ArgumentParser):
    """Complains in one line, like everything else here."""

    def error(self, message: str) -> NoReturn:
        raise InputError(message, f"see {self.prog} --help", "command line")


def command(commands: Commands, name: str, summary: str) -> argparse.ArgumentParser:
    """A command, with its one line of help."""
    added: argparse.ArgumentParser = commands.add_parser(
        name, help=summary, description=summary, allow_abbrev=False
    )
    return added


def examples(command: argparse.ArgumentParser, *lines: str) -> None:
    """Command lines at the end of a command's help, before what else stands there."""
    shown = "".join(f"\n  eagle3-check {line}" for line in lines)
    more = f"\n\n{textwrap.fill(command.epilog)}" if command.epilog else ""
    command.epilog = f"examples:{shown}{more}"
    command.formatter_class = argparse.RawDescriptionHelpFormatter


def add_target(group: argparse._ActionsContainer) -> None:
    """`--target`."""
    group.add_argument(
        "--target", metavar="TARGET", help="the target's config.json, or CLASS[:LAYERS]"
    )


SPEC = "NAME==VERSION, NAME (newest), a folder, wheel or sdist, git:FOLDER@REVISION"


def add_with(group: argparse._ActionsContainer) -> None:
    """`--train-with` and `--serve-with`."""
    for side in ("train", "serve"):
        group.add_argument(
            f"--{side}-with", metavar="NAME==VERSION", action="append", default=[],
            help=f"read this dependency of the {side} side from this release (repeatable)",
        )  # fmt: skip


def add_configs(group: argparse._ActionsContainer) -> None:
    """`--draft`, and a configuration for each side."""
    group.add_argument("--draft", metavar="PATH", help="the config.json that both sides read")
    group.add_argument("--train-config", metavar="PATH", help="the config.json of the trainer")
    group.add_argument("--serve-config", metavar="PATH", help="the config.json of the server")


def add_served(group: argparse._ActionsContainer, renames: str = "none") -> None:
    """`--rename` and `--launch`: what is done to a draft on its way to the server."""
    group.add_argument(
        "--rename", metavar="OLD=NEW", action="append", default=[],
        help="what a conversion does to tensor names: layers.0=first (repeatable;"
        f" default: {renames})",
    )  # fmt: skip
    group.add_argument(
        "--launch", metavar="LINE", help="the server's command line, or a file with it"
    )


def add_tensor_ranks(group: argparse._ActionsContainer) -> None:
    """`--tp`."""
    group.add_argument("--tp", metavar="N", type=count, default=1, help="tensor parallel size")


def add_ranks(group: argparse._ActionsContainer) -> None:
    """`--tp` and `--pp`."""
    add_tensor_ranks(group)
    group.add_argument("--pp", metavar="N", type=count, default=1, help="pipeline parallel size")


def add_format(command: argparse.ArgumentParser) -> None:
    """How the answer is written."""
    command.add_argument("--format", choices=("text", "json"), default="text")
    add_colour(command)


def add_outputs(command: argparse.ArgumentParser, *, printed: bool = True) -> None:
    """How a report is written (with `printed`), and into which files besides."""
    if printed:
        command.add_argument(
            "--format", choices=FORMATS, default="text", help="how the answer is printed"
        )
    command.add_argument(
        "--output", metavar="FORMAT=PATH", action="append", default=[], type=output,
        help="also write the answer to a file in this format (repeatable)",
    )  # fmt: skip
    add_colour(command)


def add_colour(command: argparse.ArgumentParser) -> None:
    """Whether it is coloured."""
    command.add_argument("--color", choices=("auto", "always", "never"), default="auto")


def add_contract(command: argparse.ArgumentParser) -> None:
    """Contract files of the user's."""
    command.add_argument(
        "--contract", metavar="FILE", action="append", default=[],
        help="contract files to add: clauses, switches, wires, engines, operators (repeatable)",
    )  # fmt: skip
    settings = command.add_mutually_exclusive_group()
    settings.add_argument(
        "--settings", metavar="FILE",
        help="read settings from this file (default: eagle3-check.toml, or pyproject.toml)",
    )  # fmt: skip
    settings.add_argument("--isolated", action="store_true", help="read no settings")


def add_access(command: argparse.ArgumentParser) -> None:
    """How sources may be come by."""
    add_contract(command)
    access = command.add_argument_group("access to sources")
    access.add_argument("--offline", action="store_true", help="fetch nothing, use what is cached")
    command.add_argument(
        "-q", "--quiet", action="store_true", help="print the last line of a text only"
    )
    access.add_argument(
        "-v", "--verbose", action="store_true", help="say on standard error what was fetched"
    )
    access.add_argument(
        "--timings", action="store_true", help="say on standard error how long stages took"
    )
    access.add_argument(
        "--no-cache", action="store_true", help="extract again; what was fetched is kept"
    )


def output(text: str) -> tuple[str, str]:
    """FORMAT=PATH."""
    form, equals, path = text.partition("=")
    if not equals or form not in FORMATS or not path:
        known = ", ".join(FORMATS)
        raise argparse.ArgumentTypeError(f"{text!r} is no FORMAT=PATH (formats: {known})")
    return form, path


def number(text: str) -> int:
    """A number from 0 on."""
    if not text.isascii() or not text.isdigit() or len(text) > 6:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 to 999999")
    return int(text)


def count(text: str) -> int:
    """A number from 1 on."""
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:7]) <= 65536:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 to 65536")
    return int(text)


def contracts(given: argparse.Namespace) -> tuple[Added, ...]:
    """The contract files of the folder's settings, and those that are named.

    Raises:
        InputError: one of them cannot be used.
    """
    paths = [*settings_of(given).contracts, *map(Path, given.contract)]
    if not paths:
        return ()
    from checker.contract.added import added

    return added(paths)


def settings_of(given: argparse.Namespace) -> Settings:
    """The settings that are in force for a command; none for one that has no use for them.

    Raises:
        InputError: they cannot be used.
    """
    known = getattr(given, "found", None)
    if isinstance(known, Settings):
        return known
    isolated = getattr(given, "isolated", True)
    given.found = found = Settings() if isolated else find_settings(named=given.settings)
    return found


def access(given: argparse.Namespace, progress: Callable[[str], None]) -> Access:
    """How sources may be come by."""
    return Access(offline=given.offline, use_cache=not given.no_cache, progress=progress)


def checked(
    given: argparse.Namespace,
    progress: Callable[[str], None],
    *,
    train: str,
    serve: str,
    train_config: ConfigFile | None,
    serve_config: ConfigFile | None,
) -> VerifyRequest:
    """A check of two sides, with what the words that commands share say of it.

    Raises:
        InputError: a file or a word cannot be used.
    """
    named = getattr(given, "target", None)
    return VerifyRequest(
        train=train,
        serve=serve,
        train_config=train_config,
        serve_config=serve_config,
        target=target(named) if isinstance(named, str) else None,
        launch=launch_of(given.launch),
        launch_folder="" if given.launch is None else folder_of(given.launch),
        renames=tuple(rename_of(text) for text in given.rename),
        train_with=tuple(pin_of(text, "--train-with") for text in given.train_with),
        serve_with=tuple(pin_of(text, "--serve-with") for text in given.serve_with),
        tensor_parallel=given.tp,
        pipeline_parallel=given.pp,
        access=access(given, progress),
        contracts=contracts(given),
    )


def configs_of(given: argparse.Namespace) -> tuple[ConfigFile | None, ConfigFile | None]:
    """The configurations of both sides: their own, else the one that both read."""
    own = config_at(given.draft)
    train, serve = (own if path is None else read_config(path)
                    for path in (given.train_config, given.serve_config))  # fmt: skip
    return train, serve


def target(text: str) -> Target:
    """A configuration file, its folder, or a class name with or without a number of layers."""
    named = CLASS.fullmatch(text)
    if named and not os.path.exists(text):  # noqa: PTH110 - it may be too long for a file
        layers = int(named[2]) if named[2] else None
        if layers == 0:
            raise InputError("a target has at least one layer", "say CLASS:32", "--target")
        return Target(architecture=named[1], layers=layers)
    return Target(config=read_config(text))


def config_at(given: str | None) -> ConfigFile | None:
    """The configuration at a path, where one is given."""
    return None if given is None else read_config(given)


def rename_of(text: str) -> Rename:
    """OLD=NEW."""
    old, equals, new = text.partition("=")
    if not equals or not old or not new or "=" in new:
        raise InputError(f"{text!r} is no OLD=NEW", "say layers.0=first", "--rename")
    return Rename(old, new)


def pin_of(text: str, option: str) -> Pin:
    """NAME==VERSION."""
    match = _PIN.fullmatch(text)
    if match is None:
        raise InputError(f"{text!r} is no NAME==VERSION", "say LIBRARY==1.2.3", option)
    return Pin(match[1], match[2])


def launch_of(text: str | None) -> str | None:
    """A launch line, or what is in the file that is named."""
    if text is None or any(c.isspace() for c in text.strip()):
        return text
    path = Path(text)
    try:
        if not path.is_file():
            if text.startswith("-") or not text:
                return text
            remedy = "give the command line in one word (in quotes), or the file with it"
            raise InputError("no such file, and no command line", remedy, text)
        with path.open(encoding="utf-8") as stream:
            content = stream.read(_MAX_LAUNCH + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not text"
        raise InputError(f"cannot be read: {reason}", "give the command line", text) from None
    if len(content) > _MAX_LAUNCH:
        raise InputError("is too long for a command line", "give the command line", text)
    return content


def folder_of(text: str) -> str:
    """Where the file lies that a launch line is read from; "" where it is given itself."""
    return "" if launch_of(text) == text else str(Path(text).parent)
