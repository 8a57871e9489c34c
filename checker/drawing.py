"""The graphs of both sides as drawings, with the places where they part lit."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from checker.graph.terms import Term, postorder
from checker.report.drawing import Drawing, DrawnNode, Light
from checker.report.folding import folded

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from checker.engines import Extraction
    from checker.judging import Comparison
    from checker.judging.judge import Case

_STEPS = ("first step", "next step")
"""What is drawn: later steps differ from the second in their number only."""
_SUM = "add"
_LEFT_OUT = ("param", "const")
"""Parameters are named by what uses them."""


def drawings(case: Case) -> tuple[tuple[Drawing, Drawing], ...]:
    """The trainer's graph and the server's, for each step of which both came out."""
    trained, served = _drawn(case, 0), _drawn(case, 1)
    return tuple(zip(trained, served, strict=False))


def drawn(side: Extraction) -> tuple[Drawing, ...]:
    """One side's graph for each step."""
    return tuple(_Drawer(side, {}, lambda _: Light.PLAIN).steps(side.logits))


def _drawn(case: Case, index: int) -> tuple[Drawing, ...]:
    side = case.serve if index else case.train
    comparison = case.comparison
    if comparison is None:
        return drawn(side)
    names = {
        pair[index]: wire.name for wire, pair in comparison.wires.items() if pair[index] is not None
    }
    roots = comparison.served if index else case.train.logits
    other = {*postorder(*(case.train.logits if index else comparison.served))}
    parted = {*_parted(comparison, index)}

    def light(term: Term) -> Light:
        if term in parted:
            return Light.DIFFERENT
        return Light.PLAIN if term in other else Light.AFFECTED

    return tuple(_Drawer(side, names, light).steps(roots))


def _parted(comparison: Comparison, index: int) -> Iterator[Term]:
    """What stands on one side where the two part.

    An edit leads from the contract's term to that of the side that leaves the contract. The side of
    which it has no term is shown by what its graph has for the wire.
    """
    for finding in comparison.findings:
        edit = finding.edit
        leaves = (finding.deviating == "serve") == bool(index)
        term = edit.serve if leaves else edit.train
        if term is not None:
            yield term
            continue
        for wire, pair in comparison.wires.items():
            here = wire.name == edit.wire and wire.step == edit.step
            if here and edit.layer in (None, wire.layer) and (other := pair[index]) is not None:
                yield other


@dataclass(frozen=True, slots=True)
class _Drawer:
    """Draws one side: `names` are the wires that its terms are, `light` says how each is shown."""

    side: Extraction
    names: Mapping[Term | None, str]
    light: Callable[[Term], Light]

    def steps(self, roots: Sequence[Term]) -> Iterator[Drawing]:
        """A drawing for each step; what an earlier step has left is where the next one starts."""
        earlier: set[Term] = set()
        for step, root in zip(_STEPS, roots, strict=False):
            yield folded(self._graph(step, root, earlier))
            earlier |= {*postorder(root)}

    def _graph(self, title: str, root: Term, earlier: Collection[Term]) -> Drawing:
        index: dict[Term, int] = {}
        nodes: list[DrawnNode] = []
        edges: list[tuple[int, int]] = []
        below = _nested(root)
        for term in _needed(root, earlier, below):
            index[term] = len(nodes)
            nodes.append(self._node(term, term in earlier))
            if term not in earlier:
                operands = dict.fromkeys(a for a in below.get(term, term.args) if a in index)
                edges += [(index[arg], index[term]) for arg in operands]
        return Drawing(title, tuple(nodes), tuple(edges))

    def _node(self, term: Term, left: bool) -> DrawnNode:
        light, wire = self.light(term), self.names.get(term, "")
        places = self.side.origins.get(term)
        location = places[0] if places else None
        shape = "[" + ", ".join(map(str, term.shape)) + "]"
        if term.op == "input":
            return DrawnNode(str(term.attr("name")), shape, "", None, light, source=True)
        if term.op == "unknown":
            return DrawnNode("unknown", str(term.attr("reason")), wire, None, light, source=True)
        if left:
            label = f"{wire or term.op} of the step before"
            return DrawnNode(label, shape, "", location, light, source=True)
        parameters = [
            str(arg.attr("name")).removeprefix("unloaded:")
            for arg in term.args
            if arg.op == "param"
        ]
        constants = [str(arg.attr("value")) for arg in term.args if arg.op == "const"]
        detail = ", ".join([*parameters, *constants]) or shape
        return DrawnNode(term.op, detail, wire, location, light)


def _nested(root: Term) -> dict[Term, tuple[Term, ...]]:
    """What long sums are drawn from: the sum before each, and what comes on top of that.

    Terms hold sums flat; a residual stream would be drawn with an edge from every layer to every
    other.
    """
    sums = [(term, Counter(term.args)) for term in postorder(root) if term.op == _SUM]
    sums.sort(key=lambda found: -len(found[0].args))
    nested = {}
    for at, (term, whole) in enumerate(sums):
        inner = next((found for found in sums[at + 1 :] if found[1] < whole), None)
        if inner is not None:
            nested[term] = (inner[0], *(whole - inner[1]))
    return nested


def _needed(
    root: Term, earlier: Collection[Term], nested: Mapping[Term, tuple[Term, ...]]
) -> Iterator[Term]:
    """What a step computes and what it starts from, operands first."""
    seen: set[Term] = set()
    stack: list[tuple[Term, bool]] = [(root, False)]
    while stack:
        term, ready = stack.pop()
        if ready:
            yield term
        elif term not in seen:
            seen.add(term)
            stack.append((term, True))
            if term not in earlier:
                operands = nested.get(term, term.args)
                below = [arg for arg in operands if arg.op not in _LEFT_OUT]
                stack.extend((arg, False) for arg in reversed(below) if arg not in seen)
