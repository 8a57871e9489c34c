"""The few error classes of the program, each with its exit status.

Input errors (what the user gave cannot be used) never mix with findings (what the checked code
does).
"""

from __future__ import annotations


class CheckerError(Exception):
    """Base of every error this program raises on purpose."""

    exit_status = 2


class InputError(CheckerError):
    """Unusable input: says what is wrong, where, and how to mend it, in one line.

    Args:
        message: what is wrong.
        remedy: what the user can do about it.
        place: file, line or key where it was found, if there is one.
    """

    def __init__(self, message: str, remedy: str, place: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.place = place

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        return f"{where}{self.message} ({self.remedy})"
