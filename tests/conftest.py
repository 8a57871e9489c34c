"""Fails the session if checked code is imported or run, whichever test did it and however it hid.

Raising is not enough: `try: import x` would swallow it. What happened is kept and turns the session
red at its end.
"""

from __future__ import annotations

import re
import signal
import sys
from importlib.abc import MetaPathFinder
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

CHECKED = frozenset({"sglang", "speculators", "transformers", "vllm", "specforge"})
VIOLATIONS: list[str] = []


class ImportGuard(MetaPathFinder):
    """Stands before every other finder and lets nothing through that is checked."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        top = fullname.partition(".")[0]
        if top in CHECKED:
            VIOLATIONS.append(f"import of {fullname}")
            raise ImportError(f"checked code is never imported: {fullname}")
        return None


def audit(event: str, _: tuple[Any, ...]) -> None:
    """The program itself compiles and runs nothing: `ast.parse` is the only way in."""
    if event not in {"compile", "exec"}:
        return
    caller = sys._getframe(1)
    name = caller.f_globals.get("__name__", "")
    if name == "checker" or name.startswith("checker."):
        VIOLATIONS.append(f"{event} in {name}, line {caller.f_lineno}")


if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # in the background of a shell; what tests start and interrupt would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, ImportGuard())
sys.addaudithook(audit)


def show_table(terminalreporter: Any) -> None:
    """Prints the lines that tests have recorded for the table of releases."""
    lines = [
        line
        for outcome in ("passed", "failed")
        for report in terminalreporter.stats.get(outcome, ())
        for name, line in getattr(report, "user_properties", ())
        if name == "line of the table"
    ]
    if lines:
        terminalreporter.section("releases: what they are found to do")
        for line in sorted(set(lines), key=by_release):
            terminalreporter.write_line(line)


def by_release(line: str) -> list[tuple[int, str]]:
    """Lines as releases appeared: numbers in them are compared as numbers."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", line)]


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if VIOLATIONS:
        session.exitstatus = 1


def pytest_terminal_summary(terminalreporter: Any) -> None:
    show_table(terminalreporter)
    if VIOLATIONS:
        terminalreporter.section("checked code was imported or run", red=True)
        for violation in sorted(set(VIOLATIONS)):
            terminalreporter.write_line(violation)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows with every check that is really made."""
    import checker.verification

    made: list[int] = []
    whole = checker.verification.verify

    def counting(*given: object) -> object:
        made.append(1)
        return whole(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(checker.verification, "verify", counting)
    return made
