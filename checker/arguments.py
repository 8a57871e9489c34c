"""The command line's grammar, and its words as the typed values of `checker.request`."""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from checker.configs import read_config
from checker.errors import InputError
from checker.request import (
    Access,
    CaptureRequest,
    DiffRequest,
    ExtractRequest,
    MatrixRequest,
    Pin,
    Rename,
    Target,
    TraceRequest,
    VerifyRequest,
)
from checker.settings import contract_files
from checker.stored.folder import folder_config, read_checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable

    from checker.configs import ConfigFile
    from checker.contract.added import Added

    _Commands: TypeAlias = argparse._SubParsersAction[Any]  # noqa: SLF001 - it has no public name

_CLASS = re.compile(r"([A-Za-z_]\w*)(?::(\d{1,6}))?")
_PIN = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==(\S+)")
_MAX_LAUNCH = 64 * 1024
_TRACE_EXAMPLES = """examples:
  eagle3-check trace NAME==VERSION --values --prepare
  eagle3-check trace NAME==VERSION --real --python ~/train/bin/python
  eagle3-check trace ./fork --config served/config.json --device meta

Exit status: 0 as read, 1 not as read, 3 no verdict, 2 unusable input."""


class _Parser(argparse.ArgumentParser):
    """Complains in one line, like everything else here."""

    def error(self, message: str) -> NoReturn:
        raise InputError(message, f"see {self.prog} --help", "command line")


def parser(version: str) -> argparse.ArgumentParser:
    """The grammar of every command."""
    top = _Parser(
        prog="eagle3-check",
        description="Will the server compute the function that the EAGLE-3 trainer optimised? "
        "Answered from source code alone. Only `trace` and `verify --witness` run checked code.",
        epilog="Exit status: 0 agree, 1 differ, 3 unproven, 2 unusable input.",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"eagle3-check {version}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_verify(commands)
    _add_solve(commands)
    _add_diff(commands)
    _add_matrix(commands)
    _add_capture(commands)
    _add_extract(commands)
    _add_trace(commands)
    _add_contracts(commands)
    _add_expect(commands)
    explain = _command(commands, "explain", "everything the contract says about one clause")
    explain.add_argument("clause", metavar="CLAUSE", help="a clause id, as in residual-source")
    _add_contract(explain)
    _add_colour(explain)
    return top


def _command(commands: _Commands, name: str, summary: str) -> argparse.ArgumentParser:
    added: argparse.ArgumentParser = commands.add_parser(
        name, help=summary, description=summary, allow_abbrev=False
    )
    return added


def _add_verify(commands: _Commands) -> None:
    verify = _command(
        commands, "verify", "compare what a trainer trained with what a server computes"
    )
    sides = verify.add_argument_group(
        "sides", "without any, an example pair of releases is checked"
    )
    spec = "NAME==VERSION, NAME (newest), a folder, wheel or sdist, git:FOLDER@REVISION"
    sides.add_argument("--train", metavar="SPEC", help=f"the trainer: {spec}")
    sides.add_argument("--serve", metavar="SPEC", help=f"the server: {spec}")
    for side in ("train", "serve"):
        sides.add_argument(
            f"--{side}-with", metavar="NAME==VERSION", action="append", default=[],
            help=f"read this dependency of the {side} side from this release (repeatable)",
        )  # fmt: skip
    given = verify.add_argument_group("configuration")
    given.add_argument(
        "--draft",
        metavar="PATH",
        help="the draft's config.json, used by both sides, or its folder as training saved it: "
        "then its tensors are accounted for, too",
    )
    given.add_argument(
        "--serve-draft", metavar="DIR",
        help="the folder that is served, where a conversion has made another one",
    )  # fmt: skip
    given.add_argument("--train-config", metavar="PATH", help="the config.json the trainer wrote")
    given.add_argument("--serve-config", metavar="PATH", help="the config.json the server reads")
    _add_target(given)
    given.add_argument(
        "--rename", metavar="OLD=NEW", action="append", default=[],
        help="what a conversion did to tensor names: layers.0=first (repeatable)",
    )  # fmt: skip
    given.add_argument(
        "--launch", metavar="LINE", help="the server's command line, or a file with it"
    )
    given.add_argument(
        "--witness", action="store_true",
        help="run both sides' real code on small numbers as well (needs torch)",
    )  # fmt: skip
    _add_interpreter(given)
    given.add_argument(
        "--strict", action="store_true",
        help="where no configuration is given: the exit status is the worst of all that were tried",
    )  # fmt: skip
    given.add_argument(
        "--max-unproven", metavar="N", type=_number, default=0,
        help="exit with 0 if nothing is violated and at most N clauses are unproven",
    )  # fmt: skip
    given.add_argument("--tp", metavar="N", type=_count, default=1, help="tensor parallel size")
    given.add_argument("--pp", metavar="N", type=_count, default=1, help="pipeline parallel size")
    _add_format(verify)
    _add_access(verify)


def _add_solve(commands: _Commands) -> None:
    solve = _command(
        commands, "solve", "find the served config, flags and renames under which all clauses hold"
    )
    solve.epilog = "Exit status: 0 found, 1 none, 3 not proven, 2 unusable input."
    spec = "NAME==VERSION, NAME, a folder, wheel or sdist, git:FOLDER@REVISION"
    solve.add_argument("--train", metavar="SPEC", required=True, help=f"the trainer: {spec}")
    solve.add_argument("--serve", metavar="SPEC", required=True, help="the server, likewise")
    for side in ("train", "serve"):
        solve.add_argument(
            f"--{side}-with", metavar="NAME==VERSION", action="append", default=[],
            help=f"read this dependency of the {side} side from this release (repeatable)",
        )  # fmt: skip
    solve.add_argument(
        "--train-config", metavar="PATH", required=True, help="the config.json the trainer wrote"
    )
    solve.add_argument(
        "--serve-config",
        metavar="PATH",
        help="what is served so far: as much of it is kept as can be",
    )
    _add_target(solve)
    solve.add_argument(
        "--rename", metavar="OLD=NEW", action="append", default=[],
        help="what a conversion does to tensor names so far: layers.0=first (repeatable)",
    )  # fmt: skip
    solve.add_argument(
        "--launch", metavar="LINE", help="the server's command line so far, or a file with it"
    )
    solve.add_argument("--write", metavar="PATH", help="save the configuration that was found")
    solve.add_argument("--force", action="store_true", help="write over a file that is there")
    solve.add_argument("--tp", metavar="N", type=_count, default=1, help="tensor parallel size")
    solve.add_argument("--pp", metavar="N", type=_count, default=1, help="pipeline parallel size")
    _add_format(solve)
    _add_access(solve)


def _add_diff(commands: _Commands) -> None:
    compared = _command(
        commands, "diff", "what changed in meaning between two releases of a trainer or a server"
    )
    compared.epilog = "Exit status: 0 nothing breaks, 1 something does, 3 not known, 2 bad input."
    spec = "NAME==VERSION, NAME, a folder, wheel or sdist, git:FOLDER@REVISION"
    compared.add_argument("old", metavar="OLD", help=spec)
    compared.add_argument("new", metavar="NEW", help="the same engine, likewise")
    compared.add_argument("--train", metavar="SPEC", help="who trains (default: the example's)")
    compared.add_argument("--serve", metavar="SPEC", help="who serves (default: the example's)")
    compared.add_argument(
        "--draft", metavar="PATH",
        help="the config.json that both sides read: is this draft still served right?",
    )  # fmt: skip
    compared.add_argument("--train-config", metavar="PATH", help="the config.json of the trainer")
    compared.add_argument("--serve-config", metavar="PATH", help="the config.json of the server")
    _add_target(compared)
    compared.add_argument(
        "--rename", metavar="OLD=NEW", action="append", default=[],
        help="what a conversion did to tensor names: layers.0=first (repeatable)",
    )  # fmt: skip
    compared.add_argument(
        "--launch", metavar="LINE", help="the server's command line, or a file with it"
    )
    _add_format(compared)
    _add_access(compared)


def _add_matrix(commands: _Commands) -> None:
    table = _command(
        commands, "matrix", "every trainer with every server, under several configurations"
    )
    table.epilog = "Exit status: that of the worst cell."
    for side, who in (("train", "trainers"), ("serve", "servers")):
        table.add_argument(
            f"--{side}", metavar="SPEC", nargs="+", required=True, help=f"{who}, as for verify"
        )
    table.add_argument("--draft", metavar="PATH", help="the config.json that both sides read")
    table.add_argument("--train-config", metavar="PATH", help="the config.json of the trainer")
    table.add_argument("--serve-config", metavar="PATH", help="the config.json of the server")
    _add_target(table)
    table.add_argument(
        "--rename", metavar="OLD=NEW", action="append", default=[],
        help="what a conversion did to tensor names (default: what each server needs)",
    )  # fmt: skip
    table.add_argument(
        "--launch", metavar="LINE", help="the server's command line, or a file with it"
    )
    table.add_argument("--shard", metavar="I/N", default="1/1", help="the I-th of N parts")
    _add_table_format(table)
    _add_access(table)
    merge = _command(commands, "merge", "several shards of a matrix as one")
    merge.add_argument("files", metavar="FILE", nargs="+", help="what matrix printed as JSON")
    _add_table_format(merge)
    share = _command(commands, "coverage", "how much of a matrix is decided, and what is not, why")
    share.add_argument("files", metavar="FILE", nargs="+", help="what matrix printed as JSON")
    _add_format(share)


def _add_table_format(command: argparse.ArgumentParser) -> None:
    command.add_argument("--format", choices=("text", "json", "markdown", "html"), default="text")
    _add_colour(command)


def _add_one_engine(command: argparse.ArgumentParser) -> None:
    command.add_argument("source", metavar="SPEC", help="NAME==VERSION, NAME or a folder")
    command.add_argument("--config", metavar="PATH", help="the draft's config.json")
    _add_target(command)
    command.add_argument(
        "--with", dest="with_", metavar="NAME==VERSION", action="append", default=[],
        help="read this dependency from this release (repeatable)",
    )  # fmt: skip


def _add_capture(commands: _Commands) -> None:
    capture = _command(
        commands, "capture", "show which states of the target a server hands to the draft"
    )
    capture.add_argument("source", metavar="SPEC", help="NAME==VERSION, NAME or a folder")
    capture.add_argument(
        "--target", metavar="CLASS", default="all", help="a registered class, or all (the default)"
    )
    capture.add_argument(
        "--layers", metavar="N", type=_count, default=61, help="decoder layers (default 61)"
    )
    capture.add_argument(
        "--ids", metavar="I,J,K", help="layer ids in the draft's config (default: none stated)"
    )
    capture.add_argument(
        "--why", metavar="CLASS", help="the path of one class: setter, loop, lists, with lines"
    )
    capture.add_argument("--config", metavar="PATH", help="the target's config.json")
    capture.add_argument(
        "--with", dest="with_", metavar="NAME==VERSION", action="append", default=[],
        help="read this dependency from this release (repeatable)",
    )  # fmt: skip
    _add_format(capture)
    _add_access(capture)


def _add_extract(commands: _Commands) -> None:
    extract = _command(
        commands, "extract", "show the draft architecture of one engine, line by line"
    )
    _add_one_engine(extract)
    _add_format(extract)
    _add_access(extract)


def _add_trace(commands: _Commands) -> None:
    trace = _command(
        commands, "trace", "run one engine's real draft and compare it with what is read (torch)"
    )
    trace.epilog = _TRACE_EXAMPLES
    trace.formatter_class = argparse.RawDescriptionHelpFormatter
    _add_one_engine(trace)
    trace.add_argument(
        "--rename", metavar="OLD=NEW", action="append", default=[],
        help="what a conversion did to tensor names: layers.0=first (repeatable)",
    )  # fmt: skip
    trace.add_argument("--values", action="store_true", help="compare numbers too (cpu)")
    trace.add_argument(
        "--real", action="store_true",
        help="run the installed package itself, not its model files over reference layers",
    )  # fmt: skip
    _add_interpreter(trace)
    trace.add_argument(
        "--device", choices=("auto", "cpu", "cuda", "meta"), default="auto",
        help="cpu: small sizes; cuda, meta: the configuration's",
    )  # fmt: skip
    _add_format(trace)
    _add_access(trace)


def _add_interpreter(command: argparse._ActionsContainer) -> None:
    choice = command.add_mutually_exclusive_group()
    choice.add_argument(
        "--python", metavar="PATH", help="the interpreter that runs it (one that has torch)"
    )
    choice.add_argument(
        "--prepare", action="store_true",
        help="run it in an environment with torch, made on first use and kept in the cache",
    )  # fmt: skip


def _add_contracts(commands: _Commands) -> None:
    contracts = _command(commands, "contracts", "list, show, validate or describe the contract")
    actions = contracts.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = _command(actions, "list", "the clauses, one a line")
    _add_contract(listing)
    _add_colour(listing)
    show = _command(actions, "show", "a clause, a switch or an engine as data")
    show.add_argument("name", metavar="NAME")
    _add_contract(show)
    schema = _command(actions, "schema", "the JSON Schema of a kind of contract file")
    schema.add_argument("name", metavar="NAME", nargs="?", help="default: the names there are")
    pages = _command(actions, "pages", "write a page for each clause")
    pages.add_argument("folder", metavar="FOLDER")
    _add_contract(pages)
    validate = _command(actions, "validate", "check contract files against their schemas")
    validate.add_argument("files", metavar="FILE", nargs="*", help="default: the program's own")


def _add_expect(commands: _Commands) -> None:
    expect = _command(
        commands, "expect", "the acceptance length that per-step accuracies predict for a chain"
    )
    expect.epilog = "Exit status: 0, or 1 when the measured length is not the expected one."
    expect.add_argument(
        "--step-accuracy", metavar="A1,A2,…", required=True,
        help="the accuracy of each draft step where all earlier steps are right: 0.75,0.7,0.66",
    )  # fmt: skip
    expect.add_argument(
        "--measured", metavar="N",
        help="what the server shows: mean tokens per verification, the target's own included",
    )  # fmt: skip
    expect.add_argument("--format", choices=("text", "json"), default="text")


def _add_target(group: argparse._ActionsContainer) -> None:
    group.add_argument(
        "--target", metavar="TARGET", help="the target's config.json, or CLASS[:LAYERS]"
    )


def _add_format(command: argparse.ArgumentParser) -> None:
    command.add_argument("--format", choices=("text", "json"), default="text")
    _add_colour(command)


def _add_colour(command: argparse.ArgumentParser) -> None:
    command.add_argument("--color", choices=("auto", "always", "never"), default="auto")


def _add_contract(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--contract", metavar="FILE", action="append", default=[],
        help="contract files to add: clauses, switches, wires, engines, operators (repeatable)",
    )  # fmt: skip


def _add_access(command: argparse.ArgumentParser) -> None:
    _add_contract(command)
    access = command.add_argument_group("access to sources")
    access.add_argument("--offline", action="store_true", help="fetch nothing, use what is cached")
    access.add_argument(
        "-v", "--verbose", action="store_true", help="say on standard error what was fetched"
    )
    access.add_argument(
        "--no-cache", action="store_true", help="extract again; what was fetched is kept"
    )


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 6:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 on")
    return int(text)


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:7]) <= 65536:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 to 65536")
    return int(text)


# --- from words to values --------------------------------------------------------------------


def verify_request(given: argparse.Namespace, progress: Callable[[str], None]) -> VerifyRequest:
    """What ``verify`` was asked, with its files read.

    Raises:
        InputError: only one side is named, or a file or a word cannot be used.
    """
    if not given.train or not given.serve:
        missing = "serve" if given.train else "train"
        raise InputError(f"--{missing} is missing", "name both sides, or none", "command line")
    draft, serve_draft = given.draft, given.serve_draft
    tensors = None if draft is None else read_checkpoint(draft)
    copied = None if serve_draft is None else read_checkpoint(serve_draft, needed=True)
    own = None if draft is None else folder_config(draft)
    other = own if serve_draft is None else folder_config(serve_draft)
    return VerifyRequest(
        train=given.train,
        serve=given.serve,
        train_config=own if given.train_config is None else read_config(given.train_config),
        serve_config=other if given.serve_config is None else read_config(given.serve_config),
        target=None if given.target is None else target(given.target),
        launch=_launch(given.launch),
        renames=tuple(_rename(text) for text in given.rename),
        train_with=tuple(_pin(text, "--train-with") for text in given.train_with),
        serve_with=tuple(_pin(text, "--serve-with") for text in given.serve_with),
        tensor_parallel=given.tp,
        pipeline_parallel=given.pp,
        access=access(given, progress),
        contracts=contracts(given),
        witness=given.witness,
        python=given.python,
        prepare=given.prepare,
        strict=given.strict,
        draft=tensors,
        serve_draft=copied,
        max_unproven=given.max_unproven,
    )


def solve_request(given: argparse.Namespace, progress: Callable[[str], None]) -> VerifyRequest:
    """What ``solve`` was asked: a check whose served side is what the user has so far.

    Raises:
        InputError: a file or a word cannot be used, or `--write` names a file that is there.
    """
    if given.write is not None and not given.force and os.path.lexists(given.write):
        raise InputError("is there already", "give --force to write over it", given.write)
    return VerifyRequest(
        train=given.train,
        serve=given.serve,
        train_config=read_config(given.train_config),
        serve_config=_config(given.serve_config),
        target=None if given.target is None else target(given.target),
        launch=_launch(given.launch),
        renames=tuple(_rename(text) for text in given.rename),
        train_with=tuple(_pin(text, "--train-with") for text in given.train_with),
        serve_with=tuple(_pin(text, "--serve-with") for text in given.serve_with),
        tensor_parallel=given.tp,
        pipeline_parallel=given.pp,
        access=access(given, progress),
        contracts=contracts(given),
    )


def diff_request(given: argparse.Namespace, progress: Callable[[str], None]) -> DiffRequest:
    """What ``diff`` was asked, with its files read."""
    own = _config(given.draft)
    train_config = own if given.train_config is None else read_config(given.train_config)
    serve_config = own if given.serve_config is None else read_config(given.serve_config)
    check = VerifyRequest(
        train=given.train or "",
        serve=given.serve or "",
        train_config=train_config,
        serve_config=serve_config,
        target=None if given.target is None else target(given.target),
        launch=_launch(given.launch),
        renames=tuple(_rename(text) for text in given.rename),
        access=access(given, progress),
        contracts=contracts(given),
    )
    return DiffRequest(given.old, given.new, check)


def matrix_request(given: argparse.Namespace, progress: Callable[[str], None]) -> MatrixRequest:
    """What ``matrix`` was asked, with its files read."""
    part = re.fullmatch(r"([1-9][0-9]{0,3})/([1-9][0-9]{0,3})", given.shard)
    if part is None or int(part[1]) > int(part[2]):
        raise InputError(f"{given.shard[:40]!r} is no part", "say 1/4 to 4/4", "--shard")
    given.train, given.serve, names = None, None, (given.train, given.serve)
    check = diff_request(argparse.Namespace(**vars(given), old="", new=""), progress).check
    trainers, servers = (tuple(dict.fromkeys(specs)) for specs in names)
    return MatrixRequest(trainers, servers, check, (int(part[1]), int(part[2])))


def capture_request(given: argparse.Namespace, progress: Callable[[str], None]) -> CaptureRequest:
    """What ``capture`` was asked."""
    name = given.why or given.target
    if name != "all" and not _CLASS.fullmatch(name):
        raise InputError(f"{name!r} is no class name", "name the class of the target", "--target")
    return CaptureRequest(
        source=given.source,
        layers=given.layers,
        target=None if name == "all" else name,
        ids=None if given.ids is None else _ids(given.ids),
        config=_config(given.config),
        with_=tuple(_pin(text, "--with") for text in given.with_),
        access=access(given, progress),
        contracts=contracts(given),
    )


_MOST_IDS = 64


def _ids(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > _MOST_IDS or not all(re.fullmatch(r"-?[0-9]{1,6}", part) for part in parts):
        raise InputError(f"{text[:80]!r} is no list of layer ids", "say --ids=2,30,58", "--ids")
    return tuple(int(part) for part in parts)


def extract_request(given: argparse.Namespace, progress: Callable[[str], None]) -> ExtractRequest:
    """What ``extract`` was asked, with its files read."""
    return ExtractRequest(
        source=given.source,
        config=_config(given.config),
        target=None if given.target is None else target(given.target),
        with_=tuple(_pin(text, "--with") for text in given.with_),
        access=access(given, progress),
        contracts=contracts(given),
    )


def trace_request(given: argparse.Namespace, progress: Callable[[str], None]) -> TraceRequest:
    """What ``trace`` was asked, with its files read."""
    return TraceRequest(
        source=given.source,
        config=_config(given.config),
        target=None if given.target is None else target(given.target),
        with_=tuple(_pin(text, "--with") for text in given.with_),
        renames=tuple(_rename(text) for text in given.rename),
        access=access(given, progress),
        contracts=contracts(given),
        python=given.python,
        prepare=given.prepare,
        real=given.real,
        device=given.device,
        values=given.values,
    )


def contracts(given: argparse.Namespace) -> tuple[Added, ...]:
    """The contract files of the folder's settings, and those that are named.

    Raises:
        InputError: one of them cannot be used.
    """
    paths = [*contract_files(), *map(Path, given.contract)]
    if not paths:
        return ()
    from checker.contract.added import added

    return added(paths)


def access(given: argparse.Namespace, progress: Callable[[str], None]) -> Access:
    """How sources may be come by."""
    return Access(offline=given.offline, use_cache=not given.no_cache, progress=progress)


def target(text: str) -> Target:
    """A configuration file, its folder, or a class name with or without a number of layers."""
    named = _CLASS.fullmatch(text)
    if named and not os.path.exists(text):  # noqa: PTH110 - it may be too long for a file
        layers = int(named[2]) if named[2] else None
        if layers == 0:
            raise InputError("a target has at least one layer", "say CLASS:32", "--target")
        return Target(architecture=named[1], layers=layers)
    return Target(config=read_config(text))


def _config(given: str | None) -> ConfigFile | None:
    return None if given is None else read_config(given)


def _rename(text: str) -> Rename:
    old, equals, new = text.partition("=")
    if not equals or not old or not new or "=" in new:
        raise InputError(f"{text!r} is no OLD=NEW", "say layers.0=first", "--rename")
    return Rename(old, new)


def _pin(text: str, option: str) -> Pin:
    match = _PIN.fullmatch(text)
    if match is None:
        raise InputError(f"{text!r} is no NAME==VERSION", "say LIBRARY==1.2.3", option)
    return Pin(match[1], match[2])


def _launch(text: str | None) -> str | None:
    if text is None or any(c.isspace() for c in text.strip()):
        return text
    path = Path(text)
    try:
        if not path.is_file():
            return text
        with path.open(encoding="utf-8") as stream:
            content = stream.read(_MAX_LAUNCH + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not text"
        raise InputError(f"cannot be read: {reason}", "give the command line", text) from None
    if len(content) > _MAX_LAUNCH:
        raise InputError("is too long for a command line", "give the command line", text)
    return content
