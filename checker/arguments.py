"""The command line's grammar, and its words as the typed values of `checker.request`."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from checker.baseline import read_baseline
from checker.configs import read_config
from checker.daily import add_daily
from checker.errors import InputError
from checker.gate import add_gate
from checker.outputs import refuse_overwriting
from checker.request import (
    DRAWN,
    CaptureRequest,
    ExtractRequest,
    TraceRequest,
)
from checker.stored.folder import CONFIG, folder_config, read_checkpoint, untensored
from checker.words import (
    CLASS,
    SPEC,
    Parser,
    access,
    add_access,
    add_colour,
    add_contract,
    add_format,
    add_outputs,
    add_ranks,
    add_served,
    add_target,
    add_tensor_ranks,
    add_with,
    checked,
    command,
    config_at,
    contracts,
    count,
    examples,
    number,
    pin_of,
    rename_of,
    settings_of,
    target,
)

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from checker.request import VerifyRequest
    from checker.words import Commands


_ANY = 1_000_000
"""More clauses than any contract has."""


def parser(version: str) -> argparse.ArgumentParser:
    """The grammar of every command."""
    top = Parser(
        prog="eagle3-check",
        description="Will the server compute the function that the EAGLE-3 trainer optimised? "
        "Answered from source code alone. Only `trace` and `verify --witness` run checked code.",
        epilog="Exit status: 0 agree, 1 differ, 3 unproven, 2 unusable input.",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"eagle3-check {version}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_verify(commands)
    add_gate(commands)
    add_daily(commands, add_check)
    _add_capture(commands)
    _add_extract(commands)
    _add_trace(commands)
    _add_contracts(commands)
    _add_expect(commands)
    explain = command(commands, "explain", "everything the contract says about one clause")
    examples(explain, "explain residual-source")
    explain.add_argument("clause", metavar="CLAUSE", help="a clause id, as in residual-source")
    add_contract(explain)
    add_colour(explain)
    return top


def _add_verify(commands: Commands) -> None:
    verify = command(
        commands, "verify", "compare what a trainer trained with what a server computes"
    )
    verify.epilog = "Exit status: 0 agree, 1 differ, 3 unproven, 2 unusable input."
    examples(
        verify,
        "verify",
        "verify --train NAME==VERSION --serve NAME==VERSION --draft config.json --target CLASS:32",
        "verify --train NAME --serve ./fork --draft FOLDER --target config.json --launch serve.sh",
        "verify --output html=report.html --output sarif=out.sarif",
    )
    add_check(verify, "without any, an example pair of releases is checked")
    add_outputs(verify)
    verify.add_argument(
        "--watch", action="store_true",
        help="check again whenever a file of a checkout changes (needs watchfiles)",
    )  # fmt: skip
    add_access(verify)


def add_check(verify: argparse.ArgumentParser, unnamed: str) -> None:
    """What says which pair is checked, under what, and what counts.

    Args:
        verify: the command.
        unnamed: what is checked where no side is named.
    """
    sides = verify.add_argument_group("sides", unnamed)
    sides.add_argument("--train", metavar="SPEC", help=f"the trainer: {SPEC}")
    sides.add_argument("--serve", metavar="SPEC", help=f"the server: {SPEC}")
    add_with(sides)
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
    add_target(given)
    add_served(given)
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
        "--max-unproven", metavar="N", type=number, default=0,
        help="exit with 0 if nothing is violated and at most N clauses are unproven",
    )  # fmt: skip
    given.add_argument(
        "--fail-on", choices=("unproven", "violated", "never"), default="unproven",
        help="the least finding that gives an exit status other than 0 (default: unproven)",
    )  # fmt: skip
    given.add_argument(
        "--baseline", metavar="FILE", help="findings that were there already do not count"
    )
    add_ranks(given)


def _add_one_engine(command: argparse.ArgumentParser) -> None:
    command.add_argument("source", metavar="SPEC", help="NAME==VERSION, NAME or a folder")
    command.add_argument("--config", metavar="PATH", help="the draft's config.json")
    add_target(command)
    command.add_argument(
        "--with", dest="with_", metavar="NAME==VERSION", action="append", default=[],
        help="read this dependency from this release (repeatable)",
    )  # fmt: skip


def _add_capture(commands: Commands) -> None:
    capture = command(
        commands, "capture", "show which states of the target a server hands to the draft"
    )
    examples(
        capture,
        "capture NAME==VERSION --layers 61 --ids=2,30,58",
        "capture NAME==VERSION --why CLASS --layers 61 --ids=-1,2,30",
        "capture NAME==VERSION --target CLASS --tp 2",
    )
    capture.add_argument("source", metavar="SPEC", help="NAME==VERSION, NAME or a folder")
    capture.add_argument(
        "--target", metavar="CLASS", default="all", help="a registered class, or all (the default)"
    )
    capture.add_argument(
        "--layers", metavar="N", type=count, default=61, help="decoder layers (default 61)"
    )
    capture.add_argument(
        "--ids", metavar="I,J,K", help="layer ids in the draft's config (default: none stated)"
    )
    capture.add_argument(
        "--why", metavar="CLASS", help="the path of one class: setter, loop, lists, with lines"
    )
    capture.add_argument("--config", metavar="PATH", help="the target's config.json")
    add_tensor_ranks(capture)
    capture.add_argument(
        "--with", dest="with_", metavar="NAME==VERSION", action="append", default=[],
        help="read this dependency from this release (repeatable)",
    )  # fmt: skip
    add_format(capture)
    add_access(capture)


def _add_extract(commands: Commands) -> None:
    extract = command(
        commands, "extract", "show the draft architecture of one engine, line by line"
    )
    examples(
        extract, "extract NAME==VERSION", "extract ./fork --config config.json --format svg > a.svg"
    )
    _add_one_engine(extract)
    extract.add_argument(
        "--format", choices=("text", "json", "mermaid", "dot", "svg"), default="text",
        help="a tree (text, json), or the graphs for a document",
    )  # fmt: skip
    add_colour(extract)
    add_access(extract)


def _add_trace(commands: Commands) -> None:
    trace = command(
        commands, "trace", "run one engine's real draft and compare it with what is read (torch)"
    )
    trace.epilog = "Exit status: 0 as read, 1 not as read, 3 no verdict, 2 unusable input."
    examples(
        trace,
        "trace NAME==VERSION --values --prepare",
        "trace NAME==VERSION --real --python ~/train/bin/python",
        "trace ./fork --config served/config.json --device meta",
    )
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
    add_format(trace)
    add_access(trace)


def _add_interpreter(command: argparse._ActionsContainer) -> None:
    choice = command.add_mutually_exclusive_group()
    choice.add_argument(
        "--python", metavar="PATH", help="the interpreter that runs it (one that has torch)"
    )
    choice.add_argument(
        "--prepare", action="store_true",
        help="run it in an environment with torch, made on first use and kept in the cache",
    )  # fmt: skip


def _add_contracts(commands: Commands) -> None:
    contracts = command(commands, "contracts", "list, show, validate or describe the contract")
    actions = contracts.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = command(actions, "list", "the clauses, one a line")
    add_contract(listing)
    add_colour(listing)
    show = command(actions, "show", "a clause, a switch or an engine as data")
    show.add_argument("name", metavar="NAME")
    add_contract(show)
    schema = command(actions, "schema", "the JSON Schema of a kind of contract file")
    schema.add_argument("name", metavar="NAME", nargs="?", help="default: the names there are")
    pages = command(actions, "pages", "write a page for each clause")
    pages.add_argument("folder", metavar="FOLDER")
    add_contract(pages)
    validate = command(actions, "validate", "check contract files against their schemas")
    validate.add_argument("files", metavar="FILE", nargs="*", help="default: the program's own")
    validate.add_argument(
        "--fixtures",
        action="store_true",
        help="also run the fixtures that clauses name: each has to hold or be violated as it says",
    )


def _add_expect(commands: Commands) -> None:
    expect = command(
        commands, "expect", "the acceptance length that per-step accuracies predict for a chain"
    )
    expect.epilog = "Exit status: 0, or 1 when the measured length is not the expected one."
    examples(expect, "expect --step-accuracy 0.75,0.70,0.66 --measured 1.8")
    expect.add_argument(
        "--step-accuracy", metavar="A1,A2,…", required=True,
        help="the accuracy of each draft step where all earlier steps are right: 0.75,0.7,0.66",
    )  # fmt: skip
    expect.add_argument(
        "--measured", metavar="N",
        help="what the server shows: mean tokens per verification, the target's own included",
    )  # fmt: skip
    expect.add_argument("--format", choices=("text", "json"), default="text")


# --- from words to values --------------------------------------------------------------------


def verify_request(
    given: argparse.Namespace, progress: Callable[[str], None], *, whole: bool = True
) -> VerifyRequest:
    """What ``verify`` was asked, with its files read.

    Args:
        given: the words.
        progress: told what is being waited for.
        whole: both sides have to be named.

    Raises:
        InputError: only one side is named, or a file or a word cannot be used.
    """
    if whole and (not given.train or not given.serve):
        missing = "serve" if given.train else "train"
        path = settings_of(given).path
        if path is not None:
            said = f'name {missing} there, as in {missing} = "NAME==VERSION", or give --{missing}'
            raise InputError(f"{missing} is missing", said, path)
        raise InputError(f"--{missing} is missing", "name both sides, or none", "command line")
    draft, serve_draft = given.draft, given.serve_draft
    tensors = None if draft is None else read_checkpoint(draft)
    copied = None if serve_draft is None else read_checkpoint(serve_draft, needed=True)
    own = None if draft is None else folder_config(draft)
    other = own if serve_draft is None else folder_config(serve_draft)
    for option, folder, config, instead in (
        ("train-config", draft, own, given.train_config),
        ("serve-config", serve_draft or draft, other, given.serve_config),
    ):
        if folder is not None and config is None and instead is None:
            raise InputError(f"holds no {CONFIG}", f"give one with --{option}", folder)
    settings = settings_of(given)
    refuse_overwriting(given, [*filter(None, [settings.path]), *settings.contracts])
    check = checked(
        given,
        progress,
        train=given.train or "",
        serve=given.serve or "",
        train_config=own if given.train_config is None else read_config(given.train_config),
        serve_config=other if given.serve_config is None else read_config(given.serve_config),
    )
    return replace(
        check,
        witness=given.witness,
        python=given.python,
        prepare=given.prepare,
        strict=given.strict,
        notes=(*check.notes, *untensored(draft, tensors)),
        draft=tensors,
        serve_draft=copied,
        max_unproven=allowed(given),
        draw=draws(given),
        waivers=settings.waivers,
        baseline=None if given.baseline is None else read_baseline(given.baseline),
    )


def allowed(given: argparse.Namespace) -> int:
    """How many clauses may be unproven."""
    return given.max_unproven if given.fail_on == "unproven" else _ANY


def draws(given: argparse.Namespace) -> bool:
    """Whether one of the formats that are asked for shows graphs."""
    return not DRAWN.isdisjoint({given.format, *(form for form, _ in given.output)})


def capture_request(given: argparse.Namespace, progress: Callable[[str], None]) -> CaptureRequest:
    """What ``capture`` was asked."""
    name = given.why or given.target
    if name != "all" and not CLASS.fullmatch(name):
        raise InputError(f"{name!r} is no class name", "name the class of the target", "--target")
    return CaptureRequest(
        source=given.source,
        layers=given.layers,
        target=None if name == "all" else name,
        ids=None if given.ids is None else _ids(given.ids),
        config=config_at(given.config),
        with_=tuple(pin_of(text, "--with") for text in given.with_),
        access=access(given, progress),
        contracts=contracts(given),
        tensor_parallel=given.tp,
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
        config=config_at(given.config),
        target=None if given.target is None else target(given.target),
        with_=tuple(pin_of(text, "--with") for text in given.with_),
        access=access(given, progress),
        contracts=contracts(given),
    )


def trace_request(given: argparse.Namespace, progress: Callable[[str], None]) -> TraceRequest:
    """What ``trace`` was asked, with its files read."""
    return TraceRequest(
        source=given.source,
        config=config_at(given.config),
        target=None if given.target is None else target(given.target),
        with_=tuple(pin_of(text, "--with") for text in given.with_),
        renames=tuple(rename_of(text) for text in given.rename),
        access=access(given, progress),
        contracts=contracts(given),
        python=given.python,
        prepare=given.prepare,
        real=given.real,
        device=given.device,
        values=given.values,
    )
