"""What is taken out of a run as an engine's result."""

from __future__ import annotations

from checker.engines.extraction import _term
from checker.graph.builder import Builder
from checker.graph.dims import symbol
from checker.graph.terms import Pool
from checker.interpreter import joining, shaping
from checker.interpreter.machine import Machine
from checker.interpreter.stubs import Stubs
from checker.interpreter.tensors import fresh_input
from checker.syntax import Workspace

S = symbol("S")


def test_an_axis_put_together_of_two_is_one_axis_of_the_result() -> None:
    m = Machine(Workspace([]), Pool(), Stubs([]))
    assert isinstance(m.builder, Builder)
    halves = [fresh_input(m, name, (S, 6)) for name in "xy"]
    woven = shaping.flatten(m, joining.stack(m, halves, -1), -2)
    assert _term(m, woven).shape == (S, 12)
