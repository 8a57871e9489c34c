"""What terminals need: colour where it is wanted, and no checked text that they would obey."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Mapping

_CODES = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "dim": "2", "bold": "1"}


@dataclass(frozen=True, slots=True)
class Paint:
    """Colours text, or leaves it as it is."""

    enabled: bool = False

    def __call__(self, style: str, text: str) -> str:
        if not self.enabled or not text:
            return text
        codes = ";".join(_CODES[name] for name in style.split())
        return f"\x1b[{codes}m{text}\x1b[0m"


def wants_colour(choice: str, stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Whether to colour: an explicit choice wins, then NO_COLOR, FORCE_COLOR, then the terminal."""
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return environment["FORCE_COLOR"] != "0"
    return stream.isatty() and environment.get("TERM") != "dumb"


def printable(text: str) -> str:
    """The text with everything escaped that a terminal could take for a command."""
    text = text.expandtabs(4)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class Progress:
    """One line on a terminal that says what is being waited for; silent anywhere else."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._live = stream.isatty()
        self._shown = False

    def __call__(self, text: str) -> None:
        """Shows `text` in place of what was shown before."""
        if self._live:
            import shutil

            width = shutil.get_terminal_size().columns - 1
            self._stream.write(f"\r\x1b[K{printable(text)[:width]}")
            self._stream.flush()
            self._shown = True

    def clear(self) -> None:
        """Takes the line away again."""
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._shown = False
