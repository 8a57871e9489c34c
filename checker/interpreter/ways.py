"""Which answers to conditions that nothing decides are tried, one run after another."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from checker.interpreter.machine import Decision

_CONDITIONS = 24
_MOST_REFUSED = 32
_MOST_TOGETHER = 4

Script = tuple[bool, ...]
"""Answers in the order in which the conditions are met; later ones are answered True."""


@dataclass(slots=True)
class Ways:
    """Ways are tried until the server takes one; then each that differs from it in one answer.

    A condition that only such another way meets is answered otherwise there, too: each one that
    is met at all is tried both ways. At last all answers are turned together. Where the server
    refuses that, the answer at which it does is turned back: so the way leads on.
    """

    first: Sequence[Decision] = ()
    answers: Script = ()
    found: bool = False
    _pending: list[Script] = field(default_factory=lambda: [()])
    _turned: dict[Script, int] = field(default_factory=dict)
    _together: set[Script] = field(default_factory=set)
    _tried: set[Script] = field(default_factory=set)
    _met: set[str] = field(default_factory=set)
    _ends: dict[Script, tuple[Sequence[Decision], bool]] = field(default_factory=dict)

    @property
    def is_exhausted(self) -> bool:
        """Whether no other answers are left: what all ways give holds."""
        return not self._pending

    def next(self) -> Script | None:
        """The answers to try next; None when it is enough."""
        while self._pending and (self.found or len(self._tried) < _MOST_REFUSED):
            script = self._pending.pop()
            known = self._known(script)
            if known is None:
                return script
            self.learn(script, *known)
        return None

    def _known(self, script: Script) -> tuple[Sequence[Decision], bool] | None:
        """What comes of answers of which a way that was tried needs no others."""
        for given, end in self._ends.items():
            if given == _padded(script, len(given)):
                return end
        return None

    def learn(self, script: Script, decisions: Sequence[Decision], refused: bool) -> None:
        """What came of a way: the conditions that it met, and whether the server refuses it."""
        self._tried.add(script)
        given = _padded(script, len(decisions))
        self._ends[given] = decisions, refused
        if self.found:
            if refused and script in self._together and len(self._together) < _MOST_TOGETHER:
                rest = (not given[-1], *(False,) * (_CONDITIONS - len(given))) if given else ()
                self._add([(*given[:-1], *rest)], together=True)
            self._add(self._new(decisions, given, self._turned.get(script, 0)))
        elif refused:
            self._add([(*given[:i], not given[i]) for i in range(len(script), len(given))])
        else:
            self.first, self.answers, self.found = decisions, given, True
            turned = [(*given[:i], not given[i]) for i in range(len(given))]
            self._turned = {way: index for index, way in enumerate(turned)}
            self._pending.clear()
            if len(given) > 1:
                opposite = tuple(not answer for answer in given)
                rest = (False,) * (_CONDITIONS - len(given))
                self._add([(*opposite, *rest)], together=True)
            self._add(turned[::-1])
            self._met.update(decision.text for decision in decisions)

    def _new(self, decisions: Sequence[Decision], given: Script, parted: int) -> list[Script]:
        """Ways that answer otherwise what was not met before; they part where this one does."""
        found = []
        for index, decision in enumerate(decisions):
            if decision.text not in self._met:
                self._met.add(decision.text)
                found.append((*given[:index], not given[index]))
                self._turned.setdefault(found[-1], parted)
        return found

    def _add(self, scripts: list[Script], *, together: bool = False) -> None:
        new = [script for script in scripts if script not in self._tried]
        self._pending += new
        if together:
            self._together.update(new)

    def differing(self, script: Script) -> Decision:
        """The condition of the first way taken on which another one parted from it."""
        return self.first[self._turned.get(script, 0)]


def _padded(script: Script, count: int) -> Script:
    """The first answers, as many as there are conditions."""
    return (*script[:count], *(True,) * (count - len(script)))


__all__ = ["Script", "Ways"]
