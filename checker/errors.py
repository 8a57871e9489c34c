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

    def __reduce__(self) -> tuple[type[InputError], tuple[object, ...]]:
        """What makes it anew where it goes from process to process."""
        return InputError, (self.message, self.remedy, self.place)

    @property
    def problems(self) -> tuple[InputError, ...]:
        """All that is wrong; of a plain error itself."""
        return (self,)

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        return f"{where}{self.message} ({self.remedy})"


class InputErrors(InputError):
    """Several things that are wrong; the first one speaks for all where there is one line only."""

    def __init__(self, errors: list[InputError]) -> None:
        first = errors[0]
        super().__init__(first.message, first.remedy, first.place)
        self._errors = tuple(errors)

    def __reduce__(self) -> tuple[type[InputError], tuple[object, ...]]:
        return InputErrors, ([*self._errors],)

    @classmethod
    def of(cls, errors: list[InputError]) -> InputError:
        """One error out of one or more."""
        flat = [problem for error in errors for problem in error.problems]
        return flat[0] if len(flat) == 1 else cls(flat)

    @property
    def problems(self) -> tuple[InputError, ...]:
        return self._errors
