"""Jobs for the worker: what a static run used, with small numbers."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from checker.engines.checkpoint import given_of
from checker.engines.drive import with_schedule
from checker.engines.schedule import plain
from checker.graph.dims import Poly, evaluate
from checker.graph.terms import Term, postorder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from checker.engines import Extraction, Inputs, Subject
    from checker.interpreter.stubs import Stubs
    from checker.sources import Tree

TOKENS = 128
"""Positions that are run: block masks grow by whole blocks of this many."""

SAME = 1e-9
"""In float64 equal functions differ by about 1e-14, different ones by 1e-6 and more."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What all jobs of one comparison share.

    `exact`: everything is float64, once and for all in a process; else it is `dtype`. `record`:
    what comes out of each line of the checked trees is noted.
    """

    inputs: dict[str, int]
    vocabulary: int
    seed: int = 1
    tokens: int = TOKENS
    steps: int = 2
    device: str = "cpu"
    exact: bool = True
    dtype: str = "float32"
    record: bool = False

    def common(self) -> dict[str, Any]:
        """The part of a job that says what is fed in."""
        return {
            "inputs": self.inputs,
            "vocabulary": self.vocabulary,
            "seed": self.seed,
            "tokens": self.tokens,
            "steps": self.steps,
            "device": self.device,
            "exact": self.exact,
            "dtype": self.dtype,
            "record": self.record,
        }


def engine_job(
    subject: Subject, trees: Sequence[Tree], inputs: Inputs, setup: Setup
) -> dict[str, Any]:
    """A job that runs an engine's stages on real tensors.

    The files sent are those that the static run has read: what it did not need is not needed.
    """
    checkpoint = {
        item.name: [item.trained, [int(n) for n in item.shape], item.kind]
        for item in given_of(inputs)
        if item.trained is not None
    }
    return {
        **setup.common(),
        "kind": "engine",
        "role": subject.engine.role,
        "config": inputs.config,
        "target_config": inputs.target_config,
        "launch": dict(inputs.launch),
        "settings": {
            "target_config": inputs.target_config,
            "launch": dict(inputs.launch),
            **inputs.settings,
        },
        "retrained": list(inputs.retrained),
        "checkpoint": checkpoint,
        "eager": [subject.engine.package] if subject.engine.eager else [],
        "schedule": _passes(subject, inputs),
        "stages": [{"name": s.name, "python": s.python} for s in subject.engine.stages],
        "summaries": [asdict(s) for s in subject.stubs.all() if s.native],
        "unrunnable": sorted(unrunnable(subject.stubs)),
        "trees": [
            {
                "label": tree.label,
                "roots": list(tree.roots),
                "files": {
                    path: tree.read(path).decode("utf-8", "replace")
                    for path in sorted(tree.read_digests)
                    if path.endswith(".py")
                },
            }
            for tree in trees
        ],
    }


def unrunnable(stubs: Stubs) -> set[str]:
    """The packages that are described, but not for being run."""
    found: dict[bool, set[str]] = {True: set(), False: set()}
    for summary in stubs.all():
        found[summary.native].update(pattern.partition(".")[0] for pattern in summary.match)
    return found[False] - found[True]


def _passes(subject: Subject, inputs: Inputs) -> list[list[Any]]:
    """Position and tokens of each draft pass; the contract's own where they are not known.

    What stands in their place then is noticed where the graphs are compared, not here.
    """
    passes = (with_schedule(subject, inputs).schedule or plain(0)).passes
    return [
        [step if p.position is None else p.position, str(step) if p.tokens is None else p.tokens]
        for step, p in enumerate(passes)
    ]


def graph_job(
    extraction: Extraction, setup: Setup, wires: Mapping[str, Term] | None = None
) -> dict[str, Any]:
    """A job that runs an extracted graph on the same numbers; `wires` are terms to tell about."""
    named = wires or {}
    terms = postorder(*extraction.logits, *named.values())
    numbers = {term: index for index, term in enumerate(terms)}
    sizes = {"S": setup.tokens}
    return {
        **setup.common(),
        "kind": "graph",
        "nodes": [
            [
                term.op,
                [numbers[a] for a in term.args],
                {k: _plain(v, sizes) for k, v in term.attrs},
                [evaluate(d, sizes) for d in term.shape],
            ]
            for term in terms
        ],
        "parameters": {
            str(t.attr("name")): [int(n) for n in t.shape if isinstance(n, int)]
            for t in terms
            if t.op == "param"
        },
        "logits": [numbers[t] for t in extraction.logits],
        "wires": {name: numbers[term] for name, term in named.items()},
    }


def _plain(value: Any, sizes: dict[str, int]) -> Any:
    if isinstance(value, Poly):
        return evaluate(value, sizes)
    if isinstance(value, tuple):
        return [_plain(v, sizes) for v in value]
    return value


def largest_difference(one: Any, two: Any) -> float:
    """The largest absolute difference between two nested lists of numbers; inf where one is NaN."""
    if isinstance(one, list):
        if not isinstance(two, list) or len(one) != len(two):
            return float("inf")
        return max((largest_difference(a, b) for a, b in zip(one, two, strict=True)), default=0.0)
    difference = abs(one - two)
    return float("inf") if math.isnan(difference) else difference


def unloaded(term: Term) -> bool:
    """Whether a parameter kept its initial value."""
    return term.op == "param" and term.attr("loaded", True) is False
