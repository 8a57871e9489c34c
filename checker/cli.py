"""The command line: words in, one report out, and an exit status that scripts can use."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import signal
import sys
from typing import TYPE_CHECKING, NoReturn

from checker._version import __version__
from checker.console import paint_for, say, write
from checker.errors import CheckerError, InputError
from checker.report.terminal import Progress

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Sequence

    from checker.contract.model import Contract
    from checker.kept import Answer
    from checker.pairing import Opened

BUG = 2
INTERRUPTED = 130
TERMINATED = 143
_MOST_PROBLEMS = 50
_ROOM = 131_072
"""Values on the stack of the outermost frame: 1 MiB of a chunk of 2 MiB."""
_SETTABLE = ("verify", "hook", "baseline", "gate")
"""Commands that settings stand for words of."""
_SUBJECT = ("train", "serve", "train_with", "serve_with", "draft", "serve_draft", "train_config",
            "serve_config", "target", "rename", "launch", "tp", "pp", "contract")  # fmt: skip
"""Words that make another check than the settings': it says nothing about their baseline."""


_BEFORE_GARBAGE = {"capture": 3_000_000}
"""Objects that may come to lie about before garbage is looked for, where a command makes many and
keeps nearly all of them to its end."""


class _Terminated(KeyboardInterrupt):
    """The process was asked to end, politely."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status; nothing but a line leaves here on failure."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    progress = Progress(sys.stderr)
    try:
        status = _run(sys.argv[1:] if argv is None else argv, progress)
        sys.stdout.flush()
    except CheckerError as error:
        progress.clear()
        problems = error.problems if isinstance(error, InputError) else (error,)
        for problem in problems[:_MOST_PROBLEMS]:
            say(str(problem))
        if isinstance(error, InputError) and len(problems) > _MOST_PROBLEMS:
            last, more = error.problems[-1], len(problems) - _MOST_PROBLEMS
            say(f"{last.place}: and {more} more problems (mend those above first)")
        return error.exit_status
    except KeyboardInterrupt as interrupt:
        progress.clear()
        say("interrupted")
        return TERMINATED if isinstance(interrupt, _Terminated) else INTERRUPTED
    except BrokenPipeError:
        # The reader has gone; what is left in the buffer must not be complained about at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except Exception as error:
        # A bug of ours is one line too, and never looks like a finding.
        progress.clear()
        if os.environ.get("EAGLE3_CHECK_DEBUG"):
            raise
        what = f"{type(error).__name__}: {error}"
        say(f"bug: {what} (please report it; EAGLE3_CHECK_DEBUG=1 shows where)")
        return BUG
    return status


def run() -> NoReturn:
    """The program as a process: it ends at once, without taking graphs and syntax trees apart.

    That would take a fifth of the time of a whole check. Where processes were started, Python ends
    in order, so that none is left behind.
    """
    signal.signal(signal.SIGTERM, _terminated)
    status = _with_room(main)
    if "checker.trace.process" in sys.modules:
        sys.exit(status)
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)


def _terminated(*_: object) -> NoReturn:
    raise _Terminated


def _with_room(work: Callable[[], int]) -> int:
    """Calls from a frame that claims a large stack.

    Python keeps the frames of nested calls in chunks of 16 KiB and gives an empty chunk back to the
    system at once: an interpreter of syntax trees goes back and forth over such an edge all the
    time, which costs an eighth of its time. The chunk of a large frame is larger than that frame,
    and what is called from it finds room in the rest.
    """

    def roomy() -> int:
        return work()

    roomy.__code__ = roomy.__code__.replace(co_stacksize=_ROOM)
    return roomy()


def _run(argv: Sequence[str], progress: Progress) -> int:
    from checker import daily_commands, gate_commands
    from checker.arguments import parser  # each command imports what it needs
    from checker.verifying import verify_command
    from checker.words import settings_of

    grammar = parser(__version__)
    given = grammar.parse_args(argv)
    settings = settings_of(given)
    if given.command in _SETTABLE:
        plain = grammar.parse_args([given.command])
        other = any(getattr(given, word) != getattr(plain, word) for word in _SUBJECT)
        shrinks = given.baseline is not None or not other
        if settings.table:
            try:
                given = grammar.parse_args([argv[0], *settings.words(), *argv[1:]])
            except InputError as error:
                raise settings.blamed(error, argv[1:]) from None
        given.found, given.shrinks = settings, shrinks
    commands: dict[str, Callable[[argparse.Namespace, Progress], int]] = {
        "verify": verify_command,
        "solve": gate_commands.solve_command,
        "diff": gate_commands.diff_command,
        "matrix": gate_commands.matrix_command,
        "merge": gate_commands.merge_command,
        "coverage": gate_commands.coverage_command,
        "capture": _capture,
        "extract": _extract,
        "trace": _trace,
        "expect": _expect,
        "explain": _explain,
        "contracts": _contracts,
        **daily_commands.COMMANDS,
    }
    # Syntax trees and graphs live until the end: looking for garbage among them takes as long as
    # everything else together.
    gc.set_threshold(_BEFORE_GARBAGE.get(given.command, 1_000_000), 50, 100)
    try:
        status = commands[given.command](given, progress)
    except InputError as error:
        if given.command not in _SETTABLE or not settings.table:
            raise
        raise settings.blamed(error, argv[1:]) from error
    if getattr(given, "verbose", False):
        from checker.sources.traffic import traffic

        say(traffic.told())
    if getattr(given, "timings", False):
        from checker.timings import told

        say(told() or "answered from the cache")
    return status


# --- commands ----------------------------------------------------------------------------------


def _extract(given: argparse.Namespace, progress: Progress) -> int:
    from checker.arguments import extract_request
    from checker.extract import extract
    from checker.report import diagrams, json, tree

    request = extract_request(given, progress)
    drawn = {"mermaid": diagrams.mermaid, "dot": diagrams.dot, "svg": diagrams.sheet}
    if given.format in drawn:
        from checker.extract import graphs

        text = drawn[given.format](graphs(request))
    else:
        root = extract(request)
        text = json.render(root.to_json()) if given.format == "json" else tree.render(root)
    progress.clear()
    write(text)
    return 0


def _capture(given: argparse.Namespace, progress: Progress) -> int:
    from checker.answers import answered, capture_question
    from checker.arguments import capture_request
    from checker.kept import Answer

    request = capture_request(given, progress)

    def work(opened: list[Opened]) -> Answer:
        from checker.capturing import capturing
        from checker.report import capture, json

        table = capturing(request, opened)
        if given.format == "json":
            text = json.render(table.to_json())
        elif given.why:
            text = "".join(capture.why(row) for row in table.rows)
        else:
            text = capture.render(table)
        return Answer(text, table.exit_status)

    question = capture_question(request, [given.format, given.why])
    answer = answered(question, request.access, work)
    progress.clear()
    write(answer.output)
    return answer.status


def _trace(given: argparse.Namespace, progress: Progress) -> int:
    from checker.arguments import trace_request
    from checker.report import json, trace
    from checker.tracing import trace as run

    found = run(trace_request(given, progress))
    progress.clear()
    write(json.render(found.to_json()) if given.format == "json" else trace.render(found))
    return found.exit_status


def _expect(given: argparse.Namespace, _: Progress) -> int:
    from checker.acceptance import expectation
    from checker.report import acceptance, json

    found = expectation(given.step_accuracy, given.measured)
    as_json = given.format == "json"
    write(json.render(acceptance.to_json(found)) if as_json else acceptance.render(found))
    return 1 if found.explained is False else 0


def _explain(given: argparse.Namespace, _: Progress) -> int:
    from checker.report.explain import render_clause

    contract = _contract(given)
    clause = contract.clauses.get(given.clause)
    if clause is None:
        raise _unknown("clause", given.clause, contract.clauses)
    write(render_clause(clause, contract, paint_for(given, sys.stdout)))
    return 0


def _contracts(given: argparse.Namespace, _: Progress) -> int:
    from checker.contract import files
    from checker.report import explain
    from checker.words import contracts

    match given.action:
        case "list":
            write(explain.render_list(_contract(given), paint_for(given, sys.stdout)))
        case "show":
            entries = files.entries(contracts(given))
            if given.name not in entries:
                raise _unknown("clause, switch or engine", given.name, entries)
            write(entries[given.name])
        case "schema":
            schemas = files.schemas()
            if given.name is None:
                write("".join(f"{name}\n" for name in schemas))
            elif given.name not in schemas:
                raise _unknown("schema", given.name, schemas)
            else:
                write(schemas[given.name].read_text("utf-8"))
        case "pages":
            for path in explain.write_pages(_contract(given), given.folder):
                write(f"{path}\n")
        case _:
            for path, schema in files.validated(given.files):
                write(f"{path}: valid ({schema})\n")
            if given.fixtures:
                return _tried(given)
    return 0


def _tried(given: argparse.Namespace) -> int:
    """Runs the fixtures of the clauses in the named files, or of all; the exit status."""
    from pathlib import Path

    from checker.contract.added import added
    from checker.trying import misshown

    files = added([Path(name) for name in given.files])
    named = {clause["id"] for file in files for clause in file.data.get("clauses", ())}
    wrong = 0
    for line in misshown(files, frozenset(named) if files else None):
        write(f"{line}\n")
        wrong = 1
    if not wrong:
        write("every fixture shows what its clause says\n")
    return wrong


# --- helpers -------------------------------------------------------------------------------------


def _contract(given: argparse.Namespace) -> Contract:
    from checker.contract.loading import load_contract
    from checker.words import contracts

    return load_contract(contracts(given))


def _unknown(kind: str, name: str, known: Iterable[str]) -> InputError:
    import difflib

    near = difflib.get_close_matches(name, sorted(known), n=1)
    remedy = f"did you mean {near[0]!r}?" if near else "see eagle3-check contracts list"
    return InputError(f"no {kind} {name!r}", remedy)
