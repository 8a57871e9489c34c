"""Table: one edit of the architecture, and the one difference that must come of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from checker.contract.terms import ContractTerms, contract_terms
from checker.graph.builder import Builder
from checker.graph.difference import Difference, Edit, difference
from checker.graph.labels import Labels, Wire
from checker.graph.matching import Kind
from checker.graph.terms import Pool

WIRES = Path(__file__).parents[2] / "contracts" / "eagle3" / "wires.yaml"
SWITCHES: dict[str, Any] = {
    "hidden_size": 64, "target_hidden_size": 96, "aux_count": 3, "num_hidden_layers": 2,
    "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 10, "intermediate_size": 176,
    "vocab_size": 1000, "draft_vocab_size": 500, "rms_norm_eps": 1e-6, "rope_base": 500000,
    "rope_dim": 10, "rope_scaling": None, "attention_scale": None, "sliding_window": None,
    "attention_bias": False,
    "mlp_bias": False, "qk_norm": True, "norm_before_residual": False, "norm_before_fc": True,
    "fc_norm": False, "norm_output": False, "activation": "silu",
}  # fmt: skip
Edits = set[tuple[str, str, str]]


def build(
    pool: Pool, wires: dict[str, Any] | None = None, switches: dict[str, Any] | None = None
) -> ContractTerms:
    document = yaml.safe_load(WIRES.read_text(encoding="utf-8"))
    document["wires"].update(wires or {})
    return contract_terms(document, Builder(pool), {**SWITCHES, **(switches or {})})


def compare(wires: dict[str, Any], switches: dict[str, Any] | None = None) -> Difference:
    pool = Pool()
    narrow = {"aux_count": 1, "target_hidden_size": 64}
    if "fused" in wires:
        switches = {**narrow, **(switches or {})}
    train, serve = build(pool, None, switches), build(pool, wires, switches)
    return difference(train.outputs, serve.outputs, train.labels)


def summary(edits: tuple[Edit, ...]) -> Edits:
    return {(edit.kind.value, edit.wire, edit.aspect) for edit in edits}


MUTATIONS: dict[str, tuple[dict[str, Any], Edits]] = {
    "fc is skipped": (
        {"fused": {"first-step": "fc_input", "next-step": "feedback[step - 1]"}},
        {("missing", "fused", "operator")},
    ),
    "fc runs on the next step": (
        {
            "fused": {
                "first-step": "linear(fc, fc_input)",
                "next-step": "linear(fc, feedback[step - 1])",
            }
        },
        {("extra", "fused", "operator")},
    ),
    "the norm before fc is skipped": (
        {"fc-input": {"first-step": "features"}},
        {("missing", "fc-input", "operator")},
    ),
    "embeddings are not normed": (
        {"embeds-normed": "embeds"},
        {("missing", "embeds-normed", "operator")},
    ),
    "the hidden state is not normed": (
        {"hidden-normed": "fused"},
        {("missing", "hidden-normed", "operator")},
    ),
    "the norms are exchanged": (
        {
            "embeds-normed": "rms_norm(hidden_norm, embeds)",
            "hidden-normed": "rms_norm(input_layernorm, fused)",
        },
        {("parameter", "embeds-normed", "parameter"), ("parameter", "hidden-normed", "parameter")},
    ),
    "hidden comes first": (
        {
            "attention-input": {
                "first-layer": "concat(hidden_normed, embeds_normed)",
                "later-layers": "layer_input",
            }
        },
        {("reordered", "attention-input", "order")},
    ),
    "embeddings twice": (
        {
            "attention-input": {
                "first-layer": "concat(embeds_normed, embeds_normed)",
                "later-layers": "layer_input",
            }
        },
        {("replaced", "hidden-normed", "source")},
    ),
    "the residual is normed": (
        {"residual": {"first-layer": "hidden_normed", "later-layers": "stream[layer - 1]"}},
        {("extra", "residual", "operator")},
    ),
    "the residual is the embedding": (
        {"residual": {"first-layer": "embeds", "later-layers": "stream[layer - 1]"}},
        {("replaced", "residual", "source")},
    ),
    "the residual of the second layer is its input": (
        {"residual": {"first-layer": "fused", "later-layers": "layer_input"}},
        {("extra", "residual", "operator")},
    ),
    "no residual around attention": (
        {"post-attention-residual": "attention_output"},
        {("missing", "residual", "operand")},
    ),
    "no residual around the mlp": (
        {"stream": "residual + mlp"},
        {("missing", "attention-output", "operand")},
    ),
    "values by the keys' projection": (
        {"v-projected": "linear(k_proj, attention_input)"},
        {("parameter", "v-projected", "parameter")},
    ),
    "queries are not normed": (
        {"q": "rope(heads(q_projected, num_attention_heads), positions)"},
        {("missing", "q", "operator")},
    ),
    "keys are not rotated": (
        {"k": "rms_norm(k_norm, heads(k_projected, num_key_value_heads))"},
        {("missing", "k", "operator")},
    ),
    "the key norm comes after rotary": (
        {"k": "rms_norm(k_norm, rope(heads(k_projected, num_key_value_heads), positions))"},
        {("missing", "k", "operator"), ("extra", "k", "operator")},
    ),
    "no positions on the next step": (
        {"positions": 'input("positions")'},
        {("missing", "positions", "operand")},
    ),
    "another scale": (
        {
            "attention": "attention(q, *each(step, step + 1, k), *each(step, step + 1, v),"
            " visible = each(step, step + 1, visible), scale = 1)"
        },
        {("attribute", "attention", "scale")},
    ),
    "the draft's own earlier steps are not seen": (
        {"attention": "attention(q, k, v, visible = ((0, None) if step == 0 else (0, 0),))"},
        {("missing", "attention", "visible")},
    ),
    "no norm after attention": (
        {"post-attention-normed": "post_attention_residual"},
        {("missing", "post-attention-normed", "operator")},
    ),
    "gate and up exchanged": (
        {
            "mlp": "linear(down_proj, apply(activation, linear(up_proj, post_attention_normed))"
            " * linear(gate_proj, post_attention_normed))"
        },
        {("parameter", "mlp", "parameter")},
    ),
    "another activation": (
        {
            "mlp": 'linear(down_proj, apply("gelu", linear(gate_proj, post_attention_normed))'
            " * linear(up_proj, post_attention_normed))"
        },
        {("replaced", "mlp", "operator")},
    ),
    "no gate": (
        {"mlp": "linear(down_proj, linear(up_proj, post_attention_normed))"},
        {("missing", "mlp", "operand")},
    ),
    "the last norm is skipped": (
        {"output": "stream[num_hidden_layers - 1]"},
        {("missing", "output", "operator")},
    ),
    "the last norm is another": (
        {"output": "rms_norm(norm, stream[num_hidden_layers - 1], offset = 1)"},
        {("attribute", "output", "offset")},
    ),
    "the normed state is fed back": (
        {"feedback": "output"},
        {("extra", "feedback", "operator")},
    ),
    "the first layer's stream is fed back": (
        {"feedback": "stream[0]"},
        {("missing", "feedback", "layer")},
    ),
    "the embedding is scaled": (
        {"embeds": "embedding(embed_tokens, tokens) * 8"},
        {("extra", "embeds", "operand")},
    ),
    "the head is the embedding": (
        {"logits": "linear(embed_tokens, output)"},
        {("parameter", "logits", "parameter"), ("shape", "logits", "shape")},
    ),
    "tokens of the first step again": (
        {"tokens": 'input("tokens", 0)'},
        {("replaced", "tokens", "source")},
    ),
}


@pytest.mark.parametrize(("wires", "expected"), MUTATIONS.values(), ids=MUTATIONS)
def test_one_cause_is_one_difference_of_its_wire(wires: dict[str, Any], expected: Edits) -> None:
    found = compare(wires)
    assert summary(found.edits) == expected
    assert not found.exhausted


@pytest.mark.parametrize(("wires", "expected"), MUTATIONS.values(), ids=MUTATIONS)
def test_a_cause_is_found_among_many_others(wires: dict[str, Any], expected: Edits) -> None:
    """Every norm's epsilon and the rotary base differ as well, in all steps and layers."""
    pool = Pool()
    narrow = {"aux_count": 1, "target_hidden_size": 64} if "fused" in wires else {}
    train = build(pool, None, narrow)
    serve = build(pool, wires, {**narrow, "rms_norm_eps": 1e-5, "rope_base": 10000})
    found = difference(train.outputs, serve.outputs, train.labels)
    others = {("attribute", "eps"), ("attribute", "base")}
    assert {e for e in summary(found.edits) if (e[0], e[2]) not in others} == expected


@pytest.mark.parametrize("wires", [wires for wires, _ in MUTATIONS.values()], ids=MUTATIONS)
def test_there_is_an_edit_exactly_if_terms_differ(wires: dict[str, Any]) -> None:
    pool = Pool()
    narrow = {"aux_count": 1, "target_hidden_size": 64}
    train, serve = build(pool, None, narrow), build(pool, wires, narrow)
    for a, c in zip(train.outputs, serve.outputs, strict=True):
        assert bool(difference([a], [c], train.labels).edits) == (a is not c)
        assert bool(difference([c], [a], serve.labels).edits) == (a is not c)


@pytest.mark.parametrize("wires", [wires for wires, _ in MUTATIONS.values()], ids=MUTATIONS)
def test_differences_are_the_same_in_every_run(wires: dict[str, Any]) -> None:
    def flat() -> list[tuple[object, ...]]:
        return [
            (e.kind, e.wire, e.step, e.layer, e.aspect, e.operator, e.detail,
             e.train and e.train.key, e.serve and e.serve.key)
            for e in compare(wires).edits
        ]  # fmt: skip

    assert flat() == flat()


def unload(term: Any, b: Builder, names: Callable[[str], str]) -> Any:
    """The same graph with every parameter under another name, reached by no tensor."""
    done: dict[Any, Any] = {}
    from checker.graph.terms import postorder

    for t in postorder(term):
        if t.op == "param":
            done[t] = b.param(names(str(t.attr("name"))), t.shape, loaded=False)
        elif t.args:
            done[t] = b.rebuild(t, tuple(done[arg] for arg in t.args))
        else:
            done[t] = t
    return done[term]


def test_parameters_that_no_tensor_reaches_are_paired_by_structure() -> None:
    pool = Pool()
    train, serve = build(pool), build(pool)
    b = Builder(pool)
    outputs = [unload(t, b, lambda name: f"unloaded:mid.{name}") for t in serve.outputs]
    found = difference(train.outputs, outputs, train.labels)
    assert found.edits == ()
    names = {(p.attr("name"), s.attr("name")) for p, s in found.pairs}
    assert names == {(n, f"unloaded:mid.{n}") for n, _ in names}
    assert len(names) == len(list(train_params(train)))


def train_params(terms: ContractTerms) -> set[str]:
    from checker.graph.terms import postorder

    return {str(t.attr("name")) for t in postorder(*terms.outputs) if t.op == "param"}


def test_unloaded_parameters_hide_no_other_difference() -> None:
    pool = Pool()
    train = build(pool)
    serve = build(pool, MUTATIONS["the residual is normed"][0])
    b = Builder(pool)
    outputs = [unload(t, b, lambda name: f"unloaded:mid.{name}") for t in serve.outputs]
    found = difference(train.outputs, outputs, train.labels)
    assert summary(found.edits) == {("extra", "residual", "operator")}


def test_an_unknown_hides_what_stands_behind_it_and_no_more() -> None:
    pool = Pool()
    train = build(pool)
    b = Builder(pool)
    serve = build(pool)
    behind = serve.wires[Wire("attention-output", 0, 1)]
    stand_in = b.unknown("no source", behind.shape)
    from checker.graph.terms import postorder

    done: dict[Any, Any] = {behind: stand_in}
    for t in postorder(*serve.outputs):
        if t not in done:
            done[t] = b.rebuild(t, tuple(done[a] for a in t.args)) if t.args else t
    found = difference(train.outputs, [done[t] for t in serve.outputs], train.labels)
    assert {e.kind for e in found.edits} == {Kind.UNKNOWN}
    hidden = {wire.name for wire in found.hidden}
    assert {"q", "q-projected", "attention"} <= hidden
    assert not {"fused", "logits", "mlp", "output"} & hidden


def test_a_choice_that_is_open_is_an_extra_operator() -> None:
    pool = Pool()
    train, b = build(pool), Builder(pool)
    logits = train.logits[0]
    other = b.op("choose", b.input("guard", ()), logits, b.op("neg", logits))
    found = difference([logits], [other], train.labels)
    assert [(e.kind, e.operator, e.aspect) for e in found.edits] == [
        (Kind.EXTRA, "choose", "operator")
    ]


def test_the_budget_ends_in_a_reported_difference() -> None:
    pool = Pool()
    train, serve = build(pool), build(pool, MUTATIONS["the residual is normed"][0])
    found = difference(train.outputs, serve.outputs, train.labels, budget=3)
    assert found.exhausted
    assert found.edits


def test_outputs_have_to_correspond() -> None:
    pool = Pool()
    train = build(pool)
    with pytest.raises(ValueError, match="zip"):
        difference(train.outputs, train.outputs[:1], train.labels)


def test_graphs_without_labels_can_be_compared() -> None:
    pool = Pool()
    train, serve = build(pool), build(pool, MUTATIONS["hidden comes first"][0])
    found = difference(train.outputs, serve.outputs, Labels())
    assert {(e.kind, e.wire, e.step) for e in found.edits} == {(Kind.REORDERED, "", None)}


def test_deep_graphs_are_compared_in_time() -> None:
    pool = Pool()
    switches = {"num_hidden_layers": 6}
    document = yaml.safe_load(WIRES.read_text(encoding="utf-8"))
    both = [
        contract_terms(document, Builder(pool), {**SWITCHES, **switches, **more}, steps=3)
        for more in ({}, {"rms_norm_eps": 1e-5, "norm_before_residual": True})
    ]
    found = difference(both[0].outputs, both[1].outputs, both[0].labels)
    assert {e.wire for e in found.edits if e.aspect == "operator"} == {"residual"}
    assert {e.aspect for e in found.edits} == {"operator", "eps"}
