"""Which answers to what nothing decides are tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.interpreter.machine import Decision
from checker.interpreter.ways import Ways

if TYPE_CHECKING:
    from collections.abc import Callable

    Program = Callable[[Callable[[str], bool]], bool]


def _tried(program: Program) -> list[tuple[bool, ...]]:
    """The answers that a program was run with; it says whether it refuses them."""
    ways, found = Ways(), []
    while (script := ways.next()) is not None:
        asked: list[str] = []

        def answer(name: str, asked: list[str] = asked, given: tuple[bool, ...] = script) -> bool:
            asked.append(name)
            return given[len(asked) - 1] if len(asked) <= len(given) else True

        refused = program(answer)
        ways.learn(script, [Decision(None, name) for name in asked], refused)
        found.append(tuple(answer_at(script, index) for index in range(len(asked))))
    return found


def answer_at(script: tuple[bool, ...], index: int) -> bool:
    """What is answered to a condition."""
    return script[index] if index < len(script) else True


def _chain(answer: Callable[[str], bool]) -> bool:
    return answer("a") and answer("b") and False


def _both(answer: Callable[[str], bool]) -> bool:
    return [answer("a"), answer("b")] == [None]


def _refusing(answer: Callable[[str], bool]) -> bool:
    return not answer("a") and not answer("b") and not answer("c")


def _first_refused(answer: Callable[[str], bool]) -> bool:
    return answer("a") and answer("b")


@pytest.mark.parametrize("program", [_chain, _both, _refusing, _first_refused])
def test_no_way_is_run_twice(program: Program) -> None:
    found = _tried(program)
    assert len(set(found)) == len(found), found


def test_each_condition_is_answered_both_ways() -> None:
    assert set(_tried(_chain)) == {(True, True), (False,), (True, False)}
    assert set(_tried(_both)) == {(True, True), (False, True), (True, False), (False, False)}
    assert (False, False, True) in _tried(_refusing)
    assert {(False,), (True, False)} <= set(_tried(_first_refused))
