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

_HOMES = {
    "checker.api": ("capture", "diff", "render", "solve", "verify"),
    "checker.contract.model": ("Severity",),
    "checker.errors": ("InputError",),
    "checker.location": ("Location",),
    "checker.report.capture": ("Table",),
    "checker.report.changes": ("Change", "Changes", "Kind"),
    "checker.report.model": ("ClauseResult", "Report", "Status", "Verdict"),
    "checker.report.solution": ("Solution",),
}


def __getattr__(name: str) -> Any:
    """What is exported is imported when it is first asked for."""
    home = next((module for module, names in _HOMES.items() if name in names), None)
    if home is None:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    import sys

    __import__(home)
    found = getattr(sys.modules[home], name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
