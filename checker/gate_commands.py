"""The commands that look at more than one configuration or release."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from checker.console import paint_for, say, write
from checker.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from checker.pairing import Opened
    from checker.report.matrix import Matrix
    from checker.report.solution import Solution
    from checker.report.terminal import Progress


def solve_command(given: argparse.Namespace, progress: Progress) -> int:
    """What the server has to be given."""
    from checker.answers import answered, verify_question
    from checker.gate import solve_request
    from checker.kept import Answer

    request = solve_request(given, progress)
    paint = paint_for(given, sys.stdout)

    def work(opened: list[Opened]) -> Answer:
        from checker.contract.loading import load_contract
        from checker.report import json, solution
        from checker.solver import solve

        found = solve(request, opened)
        if given.write is not None:
            _save(found, given.write, force=given.force)
        if given.format == "json":
            return Answer(json.render(found.to_json()), found.exit_status)
        contract = load_contract(request.contracts)
        return Answer(solution.render(found, contract, paint), found.exit_status)

    rendering = [given.format, paint.enabled, given.write is not None]
    question = {**verify_question(request, rendering), "command": "solve"}
    answer = answered(question, request.access, work, anew=given.write is not None)
    progress.clear()
    write(answer.output)
    return answer.status


def diff_command(given: argparse.Namespace, progress: Progress) -> int:
    """What changed between two releases."""
    from checker.answers import answered, verify_question
    from checker.gate import diff_request
    from checker.kept import Answer

    request = diff_request(given, progress)
    paint = paint_for(given, sys.stdout)

    def work(opened: list[Opened]) -> Answer:
        from checker.differences import diff
        from checker.report import changes, json

        found = diff(request, opened)
        as_json = given.format == "json"
        text = json.render(found.to_json()) if as_json else changes.render(found, paint)
        return Answer(text, found.exit_status)

    question = verify_question(request.check, [given.format, paint.enabled])
    releases = {"command": "diff", "releases": [request.old, request.new]}
    answer = answered({**question, **releases}, request.check.access, work)
    progress.clear()
    write(answer.output)
    return answer.status


def matrix_command(given: argparse.Namespace, progress: Progress) -> int:
    """Trainers by servers."""
    from checker.gate import matrix_request
    from checker.matrix import matrix

    found = matrix(matrix_request(given, progress))
    progress.clear()
    _write_matrix(found, given)
    return found.exit_status


def merge_command(given: argparse.Namespace, _: Progress) -> int:
    """Shards as one matrix."""
    found = _read_matrices(given.files)
    _write_matrix(found, given)
    return found.exit_status


def coverage_command(given: argparse.Namespace, _: Progress) -> int:
    """How much of a matrix is decided."""
    from checker.report import json, matrix

    share = matrix.coverage(_read_matrices(given.files))
    as_json = given.format == "json"
    write(json.render(share.to_json()) if as_json else matrix.render_coverage(share))
    return 0


def _read_matrices(names: Sequence[str]) -> Matrix:
    from checker.report.matrix import merged, read_matrix

    parts = []
    for name in names:
        try:
            text = Path(name).read_text("utf-8")
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "is not text"
            raise InputError(f"cannot be read: {reason}", "give a file", name) from None
        parts.append(read_matrix(text, name))
    return merged(parts)


def _write_matrix(found: Matrix, given: argparse.Namespace) -> None:
    from checker.report import json, matrix

    match given.format:
        case "json":
            write(json.render(found.to_json()))
        case "markdown":
            write(matrix.markdown(found))
        case "html":
            from checker.report.matrix_html import page

            write(page(found))
        case _:
            write(matrix.render(found, paint_for(given, sys.stdout)))


def _save(found: Solution, path: str, *, force: bool) -> None:
    """Writes a configuration that was proven, and nothing else."""
    if found.exit_status != 0:
        say(f"{path} is not written: no configuration was proven")
        return
    try:
        with Path(path).open("w" if force else "x", encoding="utf-8") as stream:
            stream.write(found.saved())
    except FileExistsError:
        raise InputError("is there already", "give --force to write over it", path) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be written: {reason}", "name a file", path) from None
