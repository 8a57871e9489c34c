"""eagle3-check: does the server compute the function the trainer optimised?

`verify`, `solve`, `diff`, `capture` and `render` are what the command line asks, as functions; what
they give is described by the types beside them. Importing this package imports none of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from checker._version import __version__

if TYPE_CHECKING:
    from checker.api import capture, diff, render, solve, verify
    from checker.contract.model import Severity
    from checker.errors import InputError
    from checker.location import Location
    from checker.report.capture import Table
    from checker.report.changes import Change, Changes, Kind
    from checker.report.model import ClauseResult, Report, Status, Verdict
    from checker.report.solution import Solution

__all__ = [
    "Change", "Changes", "ClauseResult", "InputError", "Kind", "Location", "Report", "Severity",
    "Solution", "Status", "Table", "Verdict", "__version__", "capture", "diff", "render", "solve",
    "verify",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """What is exported is imported when it is first asked for."""
    home: Any
    match name:
        case "capture" | "diff" | "render" | "solve" | "verify":
            from checker import api as home
        case "ClauseResult" | "Report" | "Status" | "Verdict":
            from checker.report import model as home
        case "Change" | "Changes" | "Kind":
            from checker.report import changes as home
        case "Table":
            from checker.report import capture as home
        case "Solution":
            from checker.report import solution as home
        case "Severity":
            from checker.contract import model as home
        case "Location":
            from checker import location as home
        case "InputError":
            from checker import errors as home
        case _:
            message = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(message)
    globals()[name] = found = getattr(home, name)
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
