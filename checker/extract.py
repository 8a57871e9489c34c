"""``extract``: one engine's draft architecture as a tree, every node with its line."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from checker.configs import read_config
from checker.contract.loading import load_contract
from checker.engines import Extraction, Inputs, extract_side, load_engines, load_operators
from checker.errors import InputError
from checker.example import FOLDER
from checker.graph.terms import Pool, Term, unknowns
from checker.pairing import (
    allow_deep_recursion,
    config_of,
    open_side,
    target_config_of,
    without_loading,
)
from checker.report.tree import Node

if TYPE_CHECKING:
    from checker.engines import Engine
    from checker.location import Location
    from checker.report.drawing import Drawing
    from checker.request import ExtractRequest

_OPTIONS = {"trainer": "train.json", "server": "serve.json"}


def extract(request: ExtractRequest) -> Node:
    """The draft of one engine as a tree, for a configuration (the example's where none is given).

    Raises:
        InputError: the source, the configuration or the engine cannot be used.
    """
    return _tree(*_extracted(request))


def graphs(request: ExtractRequest) -> tuple[Drawing, ...]:
    """The same as a graph for each step.

    Raises:
        InputError: the source, the configuration or the engine cannot be used.
    """
    from checker.drawing import drawn

    return drawn(_extracted(request)[0])


def _extracted(request: ExtractRequest) -> tuple[Extraction, str]:
    """The draft of one engine, and what its source is called."""
    allow_deep_recursion()
    added = request.contracts
    engines = load_engines(added)
    role = role_of(engines, request.source)
    opened = open_side(engines, role, request.source, request.with_, request.access)
    file = request.config or read_config(str(FOLDER / _OPTIONS[role]))
    subject = opened.subject(load_operators(added))
    engine = without_loading(subject.engine)
    config = config_of(file, engine, "--config")
    inputs = Inputs(config, target_config_of(request.target, load_contract(added).target))
    extraction = extract_side(replace(subject, engine=engine), Pool(), inputs)
    if extraction.failure is not None:
        failure = extraction.failure
        what = f"raises {failure.type}: {failure.message}" if failure.type else failure.message
        place = str(failure.location) if failure.location else opened.tree.label
        raise InputError(
            f"the draft could not be followed: {what}", "give another --config, or report it", place
        )
    return extraction, opened.tree.label


def role_of(engines: tuple[Engine, ...], source: str) -> str:
    """Whether a source is a trainer or a server: by its distribution, else by what is in it."""
    name = source.partition("==")[0].removeprefix("installed:")
    for engine in engines:
        if engine.distribution == name:
            return engine.role
    from checker.sources import open_source

    if "/" in source or source.startswith((".", "~", "git:")):
        open_source(source, offline=True)  # what is wrong with the place itself is said first
    for engine in engines:
        try:
            open_source(source, package=engine.package, offline=True)
        except InputError:
            continue
        return engine.role
    known = ", ".join(sorted(e.distribution for e in engines))
    raise InputError("no engine that is described is in it", f"give one of: {known}", source)


def _tree(extraction: Extraction, label: str) -> Node:
    steps = []
    for step, logits in enumerate(extraction.logits[:2]):  # a third one differs in its number only
        name = "first step" if step == 0 else "next step"
        writer = _Writer(extraction)
        steps.append(Node(name, "logits", None, (writer.node(logits),)))
    open_ends = unknowns(*extraction.logits)
    detail = f"of {label}" + (f", {len(open_ends)} values unknown" if open_ends else "")
    return Node(extraction.entry, detail, extraction.entry_location, tuple(steps))


class _Writer:
    """Writes a term as a tree; what is used twice is written once and named."""

    def __init__(self, extraction: Extraction) -> None:
        self._origins = extraction.origins
        self._seen: dict[Term, int] = {}

    def node(self, term: Term) -> Node:
        if term.op == "unknown":
            return Node("unknown", str(term.attr("reason")), self._place(term))
        if term.op in ("input", "const"):
            return Node(str(term.attr("name", term.attr("value"))), _shape(term))
        if term in self._seen:
            return Node(f"#{self._seen[term]}", f"{term.op}, see above")
        number = self._seen[term] = len(self._seen) + 1
        children = tuple(self.node(arg) for arg in term.args if arg.op != "param")
        return Node(f"#{number} {term.op}", _detail(term), self._place(term), children)

    def _place(self, term: Term) -> Location | None:
        places = self._origins.get(term)
        return places[0] if places else None


def _detail(term: Term) -> str:
    parts = [str(a.attr("name")).removeprefix("unloaded:") for a in term.args if a.op == "param"]
    parts += [f"{key}={value}" for key, value in term.attrs if value is not None]
    return ", ".join([*parts, _shape(term)])


def _shape(term: Term) -> str:
    return "[" + ", ".join(map(str, term.shape)) + "]"
