"""Sentences for findings, and terms as an engineer would write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from checker.graph.matching import Kind
from checker.graph.render import render

if TYPE_CHECKING:
    from checker.contract.model import Clause, Switch
    from checker.engines import Engine
    from checker.graph.difference import Edit
    from checker.graph.terms import Term
    from checker.judging.graphs import Comparison, Finding
    from checker.judging.judge import Case


def rendered(term: Term, comparison: Comparison, depth: int = 3) -> str:
    """A term, shallow, with wire names where the contract's term is the same."""
    names = _names(comparison)
    names.pop(term, None)
    return render(term, depth=depth, names=names)


def _names(comparison: Comparison) -> dict[Term, str]:
    """A wire's name for whatever either side has in its place."""
    names: dict[Term, str] = {}
    for wire, sides in sorted(comparison.wires.items()):
        text = wire.name if wire.layer < 1 else f"{wire.name}[{wire.layer}]"
        for term in (*sides, comparison.contract.wires.get(wire)):
            if term is not None and term.op not in ("param", "input", "const", "unknown"):
                names.setdefault(term, text)
    return names


def message(findings: list[Finding], comparison: Comparison) -> str:
    """What differs, one sentence per kind of difference, steps and layers put together."""
    sentences: dict[str, set[int]] = {}
    for finding in findings:
        text = sentence(finding, comparison)
        sentences.setdefault(text, set()).add(
            finding.edit.step if finding.edit.step is not None else -1
        )
    steps = {wire.step for wire in comparison.contract.wires}
    parts = []
    for text, seen in sentences.items():
        seen.discard(-1)
        limited = f" ({_steps(seen, steps)})" if seen and seen != steps and len(steps) > 1 else ""
        parts.append(f"{text}{limited}")
    return "; ".join(parts)


def _steps(seen: set[int], all_steps: set[int]) -> str:
    if seen == all_steps - {0}:
        return "next steps"
    return " and ".join("first step" if step == 0 else f"step {step + 1}" for step in sorted(seen))


def sentence(finding: Finding, comparison: Comparison) -> str:
    """What one difference is, said of both sides."""
    edit = finding.edit
    one, other = (
        ("the server", "training") if finding.deviating == "serve" else ("training", "the server")
    )
    what = edit.operator or "operation"
    wire = f" on {edit.wire}" if edit.wire else ""
    match edit.kind:
        case Kind.MISSING if edit.aspect == "layer":
            return f"{one} leaves out layer {edit.layer} that {other} applies"
        case Kind.MISSING if edit.aspect == "visible":
            text = f"{one} hides a step's keys that {other} sees"
        case Kind.EXTRA if edit.aspect == "visible":
            text = f"{one} sees a step's keys that {other} hides"
        case Kind.MISSING:
            text = f"{one} leaves out {_with_parameter(edit.train, what)} that {other} applies"
        case Kind.EXTRA:
            text = f"{one} applies {_with_parameter(edit.serve, what)} that {other} does not"
        case Kind.REORDERED:
            text = f"{one} takes the operands of {what} in another order than {other}"
        case Kind.ATTRIBUTE:
            mine, theirs = _of(edit, edit.serve), _of(edit, edit.train)
            text = f"{one}: {what} has {edit.aspect} {mine} where {other} has {theirs}"
        case Kind.PARAMETER:
            text = f"{one} uses {_name(edit.serve)} where {other} uses {_name(edit.train)}"
        case Kind.SHAPE:
            mine, theirs = _shape(edit.serve), _shape(edit.train)
            text = f"{one}: {_name(edit.train)} is {mine} where {other} has {theirs}"
        case Kind.REPLACED:
            there = (
                rendered(edit.serve, comparison, 2) if edit.serve is not None else "something else"
            )
            here = rendered(edit.train, comparison, 2) if edit.train is not None else "nothing"
            text = f"{one} has {there} where {other} has {here}"
        case _:
            text = edit.detail or f"{what} could not be determined"
    return text + wire


def _with_parameter(term: Term | None, what: str) -> str:
    """An operator with the tensor that names it."""
    if term is None:
        return what
    if term.op in ("param", "input"):
        return _name(term)
    names = [str(a.attr("name")) for a in term.args if a.op == "param"]
    return f"{what}({names[0]})" if names else what


def _of(edit: Edit, term: Term | None) -> str:
    if term is None:
        return "none"
    value = term.attr(edit.aspect)
    if edit.aspect == "visible" and isinstance(value, tuple):
        return " and ".join(_band(band) for band in value if isinstance(band, tuple))
    if isinstance(value, tuple):
        return ", ".join(
            f"{p[0]}={p[1]}" if isinstance(p, tuple) and len(p) == 2 else str(p) for p in value
        )
    return str(value)


def _band(band: tuple[Any, ...]) -> str:
    low, high = band
    if (low, high) == (0, None):
        return "every position up to its own"
    if (low, high) == (0, 0):
        return "its own position"
    if low == 0:
        return f"the last {high + 1 if isinstance(high, int) else high} positions"
    return f"distances {low} to {'any' if high is None else high}"


def _name(term: Term | None) -> str:
    if term is None:
        return "nothing"
    name = term.attr("name")
    return str(name).removeprefix("unloaded:") if name is not None else term.op


def _shape(term: Term | None) -> str:
    return "nothing" if term is None else "[" + ", ".join(map(str, term.shape)) + "]"


def conditions(case: Case, clause: Clause) -> tuple[str, ...]:
    """The trained values of the switches whose consequences the clause owns.

    Said of a switch that is not at its default, or that the served configuration states otherwise.
    """
    found: list[str] = []
    for switch in case.contract.switches.values():
        if clause.id not in switch.clauses:
            continue
        place, value = stated(case.train_config, spelled(switch, case.train.engine))
        there, served = stated(case.serve_config, spelled(switch, case.serve.engine))
        differs = place is not None and there is not None and value != served and not _moved(switch)
        if place is not None and (
            differs or (switch.default is not None and value != switch.default)
        ):
            found.append(f"{place} == {as_json(value)}")
        if differs:
            found.append(f"served {there} == {as_json(served)}")
    return tuple(found)


def spelled(switch: Switch, engine: Engine) -> tuple[str, ...]:
    """The dotted keys under which an engine states a switch: anyone's where it has none."""
    anyone = (key for keys in switch.spellings.values() for key in keys)
    return switch.spellings.get(engine.name) or (switch.name, *anyone)


def _moved(switch: Switch) -> bool:
    """Whether the sides count the switch's values differently, as they do layer ids."""
    return switch.type == "list"


def as_json(value: Any) -> str:
    """A value as a configuration file spells it."""
    import json

    return json.dumps(value)


def stated(config: Mapping[str, Any], spellings: tuple[str, ...]) -> tuple[str | None, Any]:
    """The first of these dotted keys that a configuration states, and its value."""
    for spelling in spellings:
        node: Any = config
        for part in spelling.split("."):
            if not isinstance(node, Mapping) or part not in node:
                break
            node = node[part]
        else:
            return spelling, node
    return None, None
