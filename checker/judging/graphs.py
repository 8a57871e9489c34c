"""Comparing the two graphs through the contract's.

Both sides are aligned with the contract's term for the trained configuration, which names every
wire. What only one side does differently from the contract is a difference between the two; what
both do alike is none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from checker.contract.terms import ContractTerms, contract_terms
from checker.graph.builder import Builder
from checker.graph.difference import Difference, Edit, difference
from checker.graph.terms import Pool, Term, postorder
from checker.judging.unloaded import stand_ins, substituted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from checker.engines import Extraction
    from checker.graph.labels import Wire

_MORE_LAYERS: Final = 4
"""Up to how many layers more than were trained a server is compared. That it has more is said."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One difference between the two sides. `deviating` says which of them leaves the contract."""

    edit: Edit
    deviating: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """The two graphs, compared.

    `wires[w]`: what trainer and server compute on a wire (None where nothing stands in its place).
    `hidden`: wires behind something unknown; `uncompared`: wires below something missing or
    replaced. `same`: the two sides are one term. `served` are the server's logits as they were
    compared.
    """

    contract: ContractTerms
    findings: tuple[Finding, ...]
    wires: Mapping[Wire, tuple[Term | None, Term | None]]
    hidden: frozenset[Wire]
    uncompared: frozenset[Wire]
    pairs: tuple[tuple[Term, Term], ...]
    same: bool
    exhausted: bool
    served: tuple[Term, ...] = ()


def compare(
    train: Extraction, serve: Extraction, pool: Pool, wires: Mapping[str, Any]
) -> Comparison:
    """Compares the logits of every step of two complete extractions."""
    train, serve = _as_many_steps(train, serve, pool), _as_many_steps(serve, train, pool)
    switches = rotary(train.switches, [*train.logits, *serve.logits], wires["roles"]["head"])
    switches = _with_all_layers(switches, wires["roles"]["layers"], train, serve)
    contract = contract_terms(wires, Builder(pool), switches, len(train.logits))
    if depth(serve) - depth(train) > _MORE_LAYERS:
        return Comparison(contract, (), {}, frozenset(), frozenset(), (), False, True)
    by_train = difference(contract.logits, train.logits, contract.labels)
    pairs = stand_ins(train.logits, serve.logits, _tensors(train) - _tensors(serve))
    served = (
        substituted(Builder(pool), serve.logits, pairs, serve.origins) if pairs else serve.logits
    )
    same = all(t is s for t, s in zip(train.logits, served, strict=True))
    by_serve = by_train if same else difference(contract.logits, served, contract.labels)
    train_keys = {_key(edit) for edit in by_train.edits}
    serve_keys = {_key(edit) for edit in by_serve.edits}
    findings = [Finding(e, "serve") for e in by_serve.edits if _key(e) not in train_keys]
    findings += [Finding(e, "train") for e in by_train.edits if _key(e) not in serve_keys]
    return Comparison(
        contract,
        tuple(findings),
        {wire: (_partner(by_train, wire), _partner(by_serve, wire)) for wire in contract.wires},
        frozenset((*by_train.hidden, *by_serve.hidden)),
        frozenset((*by_train.uncompared, *by_serve.uncompared)),
        tuple(pairs.items()),
        same,
        by_train.exhausted or by_serve.exhausted,
        tuple(served),
    )


def compare_as_contracted(
    train: Extraction,
    serve: Extraction,
    pool: Pool,
    wires: Mapping[str, Any],
    switches: Mapping[str, Any],
) -> Comparison:
    """Compares the server with what the contract says of a draft with other switches."""
    known = rotary(switches, [*train.logits, *serve.logits], wires["roles"]["head"])
    terms = contract_terms(wires, Builder(pool), known, len(train.logits))
    other = replace(train, switches=dict(switches), logits=list(terms.logits))
    return compare(other, serve, pool, wires)


def _with_all_layers(
    switches: dict[str, Any], key: str, train: Extraction, serve: Extraction
) -> dict[str, Any]:
    """The switches of a draft with every layer that either side runs.

    Layers that only the server runs are named too, so that they are told from changes of those
    that were trained. A value that is stated for each layer goes on as in the last one.
    """
    trained, served = depth(train), depth(serve)
    if switches.get(key) != trained or not 0 < served - trained <= _MORE_LAYERS:
        return switches
    more = served - trained
    return {
        name: value + value[-1:] * more
        if isinstance(value, list) and len(value) == trained
        else value
        for name, value in {**switches, key: served}.items()
    }


def depth(side: Extraction) -> int:
    """How many layers attend in the first step."""
    return sum(term.op == "attention" for term in postorder(*side.logits[:1]))


def _as_many_steps(side: Extraction, other: Extraction, pool: Pool) -> Extraction:
    """A side with unknown logits for steps that only the other side gives."""
    count = len(side.logits)
    missing = other.logits[count:]
    if not missing:
        return side
    reason = (
        f"{count} steps came out of {side.engine.name} where {len(other.logits)} were asked for"
    )
    unknown = [Builder(pool).unknown(reason, term.shape) for term in missing]
    return replace(side, logits=[*side.logits, *unknown])


def _tensors(side: Extraction) -> set[str]:
    """The names of the parameters that a side's function depends on."""
    return {str(t.attr("name")) for t in postorder(*side.logits) if t.op == "param"}


def _key(edit: Edit) -> tuple[Any, ...]:
    """What makes two deviations from the contract one and the same."""
    return (
        edit.kind,
        edit.wire,
        edit.step,
        edit.layer,
        edit.aspect,
        edit.operator,
        edit.serve,
        edit.detail,
    )


def _partner(found: Difference, wire: Wire) -> Term | None:
    pair = found.aligned.get(wire)
    return pair[1] if pair else None


def rotary(values: Mapping[str, Any], logits: Sequence[Term], head: str) -> dict[str, Any]:
    """The values of switches with what the rotary embedding came to, which is on the graph.

    `head` is the switch that says how wide a head is.
    """
    switches = dict(values)
    terms = postorder(*logits)
    rope = next((t for t in terms if t.op == "rope"), None)
    plain = {"base": 10000.0, "dim": switches.get(head), "scaling": None}
    for attribute, value in plain.items():
        found = value if rope is None else rope.attr(attribute)
        switches.setdefault(f"rope_{attribute}", found)
    # what multiplies the angles' cosines and sines multiplies queries and keys
    attention = next((t for t in terms if t.op == "attention"), None)
    scale = None if attention is None else attention.attr("scale")
    switches.setdefault("attention_scale", scale)
    return switches
