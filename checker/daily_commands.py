"""The commands for daily use."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from checker.console import complain, save, save_all, say, write
from checker.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sized
    from datetime import date

    from checker.report.gated import Gated
    from checker.report.model import ClauseResult, Report
    from checker.report.places import Place
    from checker.report.terminal import Progress
    from checker.request import VerifyRequest

UNREASONED = "was there when the baseline was made"


def gate_command(given: argparse.Namespace, progress: Progress) -> int:
    """What an upgrade does to a draft."""
    from checker.arguments import verify_request
    from checker.gating import gate
    from checker.report.model import EXIT_STATUS, UNUSABLE
    from checker.report.places import Place

    request = verify_request(given, progress, whole=False)
    found = gate(request, given.base, ".")
    progress.clear()
    pins = {f"{m.name}=={m.new}": Place(m.path, m.line) for m in found.moves if m.new}
    found = replace(found, reports=_counted(found.reports, request))
    texts = [(path, _gated(found, form, request, pins)) for form, path in given.output]
    problems = save_all((path, text) for path, text in texts if text is not None)
    text = _gated(found, given.format, request, pins) or ""
    lines = text.splitlines(keepends=True)
    write("".join(lines[-1:]) if given.quiet and given.format == "text" else text)
    if len(found.reports) > 1 and found.report is not None:
        one = [path for form, path in given.output if form not in ("json", "markdown", "text")]
        sides = f"{found.report.train.source} with {found.report.serve.source}"
        if one:
            say(f"{', '.join(one)}: of {len(found.reports)} pairs the worst, {sides}")
    unwritten = [path for path, text in texts if text is None]
    if unwritten:
        say(f"nothing was checked, so nothing was written to {', '.join(unwritten)}")
    complain(problems)
    status = found.exit_status
    if given.fail_on == "never" and status in EXIT_STATUS.values():
        complaints = () if found.report is None else found.report.complaints
        return UNUSABLE if complaints else 0
    return status


def _gated(
    found: Gated, form: str, request: VerifyRequest, pins: Mapping[str, Place]
) -> str | None:
    """The answer in one format; None for a report where nothing was checked."""
    from checker.contract.loading import load_contract
    from checker.report import gated, json
    from checker.report.formats import Rendering, render
    from checker.report.places import Repository

    if form == "json":
        return json.render(found.to_json())
    if form == "markdown":
        return gated.render_markdown(found, load_contract(request.contracts))
    if form == "text":
        return gated.render(found, load_contract(request.contracts))
    if found.report is None:
        return None
    rendering = Rendering(request.contracts, repository=Repository(pins=pins))
    return render(found.report, form, rendering)


def _counted(reports: tuple[Report, ...], request: VerifyRequest) -> tuple[Report, ...]:
    """The reports with what does not count marked; a waiver that one of them needs may stay."""
    from checker.waiving import waived

    today = _today()
    found = [waived(report, request.waivers, request.baseline, today) for report in reports]
    common = [c for c in (found[0].complaints if found else ()) if _everywhere(c, found)]
    return tuple(replace(report, complaints=tuple(common)) for report in found)


def _everywhere(complaint: str, reports: list[Report]) -> bool:
    return all(complaint in report.complaints for report in reports)


def hook_command(given: argparse.Namespace, progress: Progress) -> int:
    """``verify`` of what the settings name, for a hook: says nothing where all is well."""
    from checker.verifying import answer_to, printed

    if given.train is None and given.serve is None:
        raise InputError(
            "no settings name a trainer and a server", "run eagle3-check init", "command line"
        )
    answer = answer_to(given, progress)
    progress.clear()
    return printed(answer if answer.status else replace(answer, output=""), given)


def baseline_command(given: argparse.Namespace, progress: Progress) -> int:
    """Records findings, or takes mended ones out of what was recorded."""
    from checker.arguments import verify_request
    from checker.baseline import DEFAULT, message_of, read_baseline, written
    from checker.request import Waiver
    from checker.verification import verify
    from checker.waiving import is_finding, shrunk, waived
    from checker.words import settings_of

    settings = settings_of(given)
    named = given.baseline is not None
    path, given.baseline = given.baseline or str(Path(settings.folder, DEFAULT)), None
    if given.accept is not None and not given.reason:
        raise InputError("--accept needs a --reason", "say why it is accepted", "command line")
    given.output, given.format = [], "text"
    request = verify_request(given, progress)
    report = verify(request)
    progress.clear()
    report = waived(report, request.waivers, None, _today())
    found = [r for r in report.clauses if is_finding(r) and r.waived is None]
    if not Path(path).exists():
        reason = given.reason or UNREASONED
        save(written((Waiver(r.id, r.fingerprint, reason), _said(r)) for r in found), path)
        write(f"{path}: {_count(found)} recorded\n")
        if not named:
            where = settings.path or "the settings, or give --baseline to verify"
            say(f'to let them not count, write baseline = "{DEFAULT}" in {where}')
        return 0
    old = read_baseline(path)
    smaller = shrunk(old, report)
    if smaller is not None:
        save(smaller, path)
        old_count, old = len(old.known), read_baseline(path)
        write(f"{path}: {old_count - len(old.known)} mended and taken out\n")
    known = {(w.clause, w.fingerprint) for w in old.known}
    new = [r for r in found if (r.id, r.fingerprint) not in known]
    if given.accept is not None:
        accepted = [r for r in new if given.accept in (r.id, r.fingerprint)]
        if not accepted:
            raise InputError(
                f"no new finding is called {given.accept}",
                f"there are: {', '.join(r.id for r in new) or 'none'}",
                "--accept",
            )
        kept = [(w, message_of(old, w)) for w in old.known]
        kept += [(Waiver(r.id, r.fingerprint, given.reason), _said(r)) for r in accepted]
        save(written(kept), path)
        new = [r for r in new if r not in accepted]
        write(f"{path}: {len(accepted)} accepted\n")
    for result in new:
        write(f"not in {path}: {result.id} {result.fingerprint}: {_said(result)}\n")
    if new:
        say("take findings in one by one with --accept ID --reason TEXT, or mend them")
    elif smaller is None and given.accept is None:
        write(f"{path}: {_count(old.known)}, nothing new, nothing mended\n")
    return 1 if new else 0


def _count(found: Sized) -> str:
    return f"{len(found)} finding{'' if len(found) == 1 else 's'}"


def _said(result: ClauseResult) -> str:
    return result.message or result.reason or ""


def _today() -> date:
    import datetime

    return datetime.datetime.now().astimezone().date()


def init_command(given: argparse.Namespace, progress: Progress) -> int:
    """Writes settings for a folder, and says what was seen there."""
    from checker.initial import look, settings_for
    from checker.settings import OWN_FILE
    from checker.words import contracts

    folder = Path(given.folder)
    if not folder.is_dir():
        raise InputError("no such folder", "name a project's folder", given.folder)
    path = Path(given.write) if given.write else folder / OWN_FILE
    if path.exists() and not given.force and not given.dry_run:
        raise InputError("is there already", "give --force to write over it", str(path))
    seen = look(folder, contracts(given))
    progress.clear()
    text = settings_for(seen)
    for line in seen.lines():
        say(line)
    if given.dry_run:
        write(text)
        return 0
    save(text, str(path))
    lacking = [key for key in ("train", "serve") if not re.search(rf"^{key} =", text, re.MULTILINE)]
    left = f"fill in {' and '.join(lacking)}" if lacking else "look it over"
    write(f"{path}: written; {left}, then run eagle3-check verify\n")
    return 0


def doctor_command(given: argparse.Namespace, progress: Progress) -> int:
    """What a maintainer asks first when something does not work."""
    from checker.health import checkup
    from checker.words import contracts, settings_of

    lines = checkup(settings_of(given), contracts(given))
    progress.clear()
    write("".join(f"{line}\n" for line in lines))
    return 0


def cache_command(given: argparse.Namespace, _: Progress) -> int:
    """What is kept, or the end of it."""
    from checker.health import cleared, kept, megabytes
    from checker.report import json
    from checker.sources.store import cache_folder

    if given.action == "clear":
        files, size = cleared()
        write(f"{cache_folder()}: {files} files removed, {megabytes(size)}\n")
        return 0
    found = kept()
    if given.format == "json":
        rows = {name: {"files": files, "bytes": size} for name, (files, size) in found.items()}
        write(json.render({"folder": str(cache_folder()), "kinds": rows}))  # type: ignore[dict-item]
        return 0
    write(f"{cache_folder()}\n")
    for name, (files, size) in found.items():
        write(f"  {name:<12} {files:>7} files  {megabytes(size):>10}\n")
    return 0


def completion_command(given: argparse.Namespace, _: Progress) -> int:
    """A completion script."""
    import shtab

    from checker._version import __version__
    from checker.arguments import parser

    write(shtab.complete(parser(__version__), shell=given.shell) + "\n")
    return 0


COMMANDS = {
    "gate": gate_command,
    "hook": hook_command,
    "baseline": baseline_command,
    "init": init_command,
    "doctor": doctor_command,
    "cache": cache_command,
    "completion": completion_command,
}
