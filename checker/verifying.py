"""``verify`` as a command: the answer to what was typed, printed and written to files."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from checker.console import complain, paint_for, save_all, say, write
from checker.errors import InputError
from checker.outputs import refuse_overwriting
from checker.report.terminal import Paint
from checker.timings import timed
from checker.words import settings_of

if TYPE_CHECKING:
    import argparse

    from checker.kept import Answer
    from checker.pairing import Opened
    from checker.report.model import Report
    from checker.report.terminal import Progress
    from checker.request import VerifyRequest

_ROUND = 200
"""Milliseconds after which a watch looks up, also when nothing has changed."""


def verify_command(given: argparse.Namespace, progress: Progress) -> int:
    """Checks a pair, or the example's where none is named."""
    if given.watch:
        return watch_command(given, progress)
    if given.train is None and given.serve is None:
        _refuse_unnamed(given)
        found = _verify_example(given, progress)
    else:
        found = answer_to(given, progress)
    progress.clear()
    return printed(found, given)


def _verify_example(given: argparse.Namespace, progress: Progress) -> Answer:
    """The example pair; where its releases cannot be had, the packaged engines, and why is said."""
    from checker.arguments import allowed, draws
    from checker.example import example
    from checker.words import access, contracts

    _refuse_stray(given)
    refuse_overwriting(given, ())
    pair = example(access(given, progress))
    run = {
        "witness": given.witness,
        "python": given.python,
        "prepare": given.prepare,
        "contracts": contracts(given),
        "max_unproven": allowed(given),
        "draw": draws(given),
    }
    try:
        return answer(replace(pair.request, **run), given)
    except InputError as error:
        if pair.packaged is None:
            raise
        progress.clear()
        note = f"the releases of the example cannot be had, packaged engines stand in: {error}"
        say(note)
        return answer(replace(pair.packaged, notes=(*pair.packaged.notes, note), **run), given)


def _refuse_unnamed(given: argparse.Namespace) -> None:
    """Settings that name no side are not finished: an example's answer would pass for theirs."""
    settings = settings_of(given)
    if settings.path is not None:
        remedy = "say train and serve there, or --isolated to check the example pair"
        raise InputError("names neither a trainer nor a server", remedy, settings.path)


def _refuse_stray(given: argparse.Namespace) -> None:
    """Files without sides would be ignored in silence."""
    options = ("draft", "serve_draft", "train_config", "serve_config", "target", "launch", "rename",
               "train_with", "serve_with")  # fmt: skip
    for option in options:
        if getattr(given, option) not in (None, []):
            word = "--" + option.replace("_", "-")
            raise InputError(
                f"{word} without --train and --serve", "name both sides", "command line"
            )


def watch_command(given: argparse.Namespace, progress: Progress) -> int:
    """The same again whenever a file changes that it may depend on, until it is interrupted.

    Raises:
        InputError: there is nothing to watch, or nothing to watch with.
    """
    folders = _folders(given)
    if not folders:
        raise InputError(
            "nothing that is checked can change: no side is a folder",
            "name a checkout with --train or --serve",
            "--watch",
        )
    try:
        import watchfiles
    except ImportError:
        remedy = "pip install 'eagle3-check[watch]'"
        raise InputError("watchfiles is not installed", remedy, "--watch") from None
    endings = (".py", ".json", ".toml", ".yaml", ".safetensors")
    # What a check writes itself is no reason for another one.
    own = {os.path.realpath(path) for path in (*(p for _, p in given.output), given.baseline or "")}
    settings = settings_of(given).path

    def counts(_: object, path: str) -> bool:
        return path.endswith(endings) and os.path.realpath(path) not in own

    # The first round, before anything can have changed, is the first check: what is saved while a
    # check runs is seen after it.
    rounds = watchfiles.watch(
        *folders, watch_filter=counts, rust_timeout=_ROUND, yield_on_timeout=True
    )
    next(rounds)
    _once(given, progress)
    for changes in rounds:
        if not changes:
            continue
        if settings and any(os.path.realpath(p) == os.path.realpath(settings) for _, p in changes):
            say(f"{settings}: has changed: start again to have it read")
        write("\n")
        _once(given, progress)
    return 0


def _once(given: argparse.Namespace, progress: Progress) -> None:
    """One check; what cannot be used is said, and may be mended while the watch goes on."""
    try:
        printed(answer_to(given, progress), given)
    except InputError as error:
        for problem in error.problems:
            say(str(problem))
    sys.stdout.flush()


def _folders(given: argparse.Namespace) -> list[Path]:
    """The folders of what is checked, those in which other ones lie alone."""
    paths = [given.train, given.serve, given.draft, given.serve_draft, given.train_config,
             given.serve_config, given.target]  # fmt: skip
    found = {Path(path).resolve() for path in paths if path and Path(path).exists()}
    sides = {Path(path).resolve() for path in paths[:2] if path and Path(path).is_dir()}
    if not sides:
        return []
    folders = {path if path.is_dir() else path.parent for path in found}
    return sorted(f for f in folders if not any(other in f.parents for other in folders))


def printed(found: Answer, given: argparse.Namespace) -> int:
    """Writes an answer where it belongs; the exit status.

    Raises:
        InputError: a file cannot be written; all others are, and the answer is printed.
    """
    problems = save_all(found.files)
    lines = found.output.splitlines(keepends=True)
    write("".join(lines[-1:]) if given.quiet and given.format == "text" else found.output)
    if any(path == given.baseline for path, _ in found.files):
        say(f"{given.baseline}: what is mended was taken out")
    complain(problems)
    return found.status


def answer_to(given: argparse.Namespace, progress: Progress) -> Answer:
    """The answer to what was typed."""
    from checker.arguments import verify_request

    return answer(verify_request(given, progress), given)


def answer(request: VerifyRequest, given: argparse.Namespace) -> Answer:
    """The answer to a request: one that was given before, or a new one."""
    from checker.answers import answered, verify_question

    paint = paint_for(given, sys.stdout)

    def work(opened: list[Opened]) -> Answer:
        from checker.verification import verify

        if request.train_config is None and request.serve_config is None:
            from checker.exploring import explore

            report = explore(request, opened)
        else:
            report = verify(request, opened)
        return _rendered(report, request, given, paint)

    rendering = [given.format, paint.enabled, given.output, given.fail_on, given.shrinks]
    question = verify_question(request, rendering)
    run = request.witness  # what running code gives is no fact about the sources
    return answered(question, request.access, work, anew=run, kept=not run)


def _rendered(
    report: Report, request: VerifyRequest, given: argparse.Namespace, paint: Paint
) -> Answer:
    """The report in every format that is asked for; colours are for what is printed."""
    from checker.kept import Answer, Marks
    from checker.report.formats import Rendering, render
    from checker.report.model import EXIT_STATUS, UNUSABLE

    files: list[tuple[str, str]] = []
    if request.waivers or request.baseline is not None:
        import datetime

        from checker.waiving import shrunk, waived

        today = datetime.datetime.now().astimezone().date()
        report = waived(report, request.waivers, request.baseline, today)
        if request.baseline is not None and given.shrinks:
            smaller = shrunk(request.baseline, report)
            files += [] if smaller is None else [(request.baseline.path, smaller)]
    rendering = Rendering(request.contracts, paint)
    with timed("report"):
        printed = render(report, given.format, rendering)
        for form, path in given.output:
            files.append((path, render(report, form, replace(rendering, paint=Paint()))))
    status = report.strict_exit_status if request.strict else report.exit_status
    if given.fail_on == "never" and status in EXIT_STATUS.values():
        status = UNUSABLE if report.complaints else 0
    lines = tuple((p.source, p.path, p.line, text) for p, text in report.excerpts.items())
    marks = Marks((report.train.fingerprint, report.serve.fingerprint), lines)
    return Answer(printed, status, tuple(files), marks)
