"""Layers that repeat are drawn once, and nothing that differs is left out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checker.location import Location
from checker.report.diagrams import svg
from checker.report.drawing import Drawing, DrawnNode, Light
from checker.report.folding import folded

LINE = Location("server==1", "server/draft.py", 4, 1)


def deep(layers: int, *, shared: bool = False) -> Drawing:
    """A draft of so many layers, each with what is left of the step before."""
    nodes = [DrawnNode("features", "[S, 8]", source=True), DrawnNode("positions", source=True)]
    edges = []
    at = 0
    turn = 1
    if shared:
        nodes.append(DrawnNode("add", "1"))
        edges.append((1, 2))
        turn = 2
    for n in range(layers):
        norm, q, kept, attention, add = range(len(nodes), len(nodes) + 5)
        nodes += [
            DrawnNode("rms_norm", f"layers.{n}.norm.weight", "layer-input", LINE),
            DrawnNode("linear", f"model.layers.{n}.q_proj.weight", "q", LINE),
            DrawnNode("k of the step before", "[S, 2]", source=True),
            DrawnNode("attention", "[S, 8]", "attention", LINE),
            DrawnNode("add", "[S, 8]", "stream", LINE),
        ]
        edges += [(at, norm), (norm, q), (turn, q), (q, attention), (kept, attention)]
        edges += [(at, add), (attention, add)]
        at = add
    nodes.append(DrawnNode("linear", "lm_head.weight", "logits"))
    edges.append((at, len(nodes) - 1))
    return Drawing("first step", tuple(nodes), tuple(edges))


def change(drawing: Drawing, layer: int, label: str, /, **fields: object) -> Drawing:
    """One node of a layer is another one."""
    found = [i for i, node in enumerate(drawing.nodes) if node.label == label]
    nodes = [*drawing.nodes]
    nodes[found[layer]] = replace(nodes[found[layer]], **fields)  # type: ignore[arg-type]
    return replace(drawing, nodes=tuple(nodes))


def stand_ins(drawing: Drawing) -> list[tuple[str, str]]:
    return [(n.label, n.detail) for n in drawing.nodes if n.label.endswith("like this")]


@pytest.mark.parametrize("shared", [False, True])
def test_layers_that_repeat_are_drawn_once(shared: bool) -> None:
    found = folded(deep(20, shared=shared))
    # The first layer stands on the draft's inputs, and those after it on a layer.
    assert stand_ins(found) == [("18 more layers like this", "layers.2 to layers.19")]
    assert len(found.nodes) == len(deep(2, shared=shared).nodes) + 1
    labels = [node.label for node in found.nodes]
    at = labels.index("18 more layers like this")
    assert labels[at - 1] == "add"
    assert (at - 1, at) in found.edges
    assert (at, len(labels) - 1) in found.edges
    assert all(start < end for start, end in found.edges)
    assert len(svg(found)) < len(svg(deep(4, shared=shared)))


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_few_layers_are_drawn_as_they_are(layers: int) -> None:
    assert folded(deep(layers)) == deep(layers)


def test_a_layer_that_differs_is_drawn() -> None:
    lit = change(deep(20), 7, "attention", light=Light.DIFFERENT)
    found = folded(lit)
    assert stand_ins(found) == [
        ("5 more layers like this", "layers.2 to layers.6"),
        ("11 more layers like this", "layers.9 to layers.19"),
    ]
    assert any(node.detail == "layers.7.norm.weight" for node in found.nodes)
    assert [n for n in found.nodes if n.light is Light.DIFFERENT]


@pytest.mark.parametrize(
    "fields",
    [
        {"detail": "[S, 9]"},
        {"label": "softmax"},
        {"location": replace(LINE, line=5)},
        {"wire": "other"},
        {"light": Light.AFFECTED},
    ],
)
def test_a_layer_that_is_another_is_no_repetition(fields: dict[str, object]) -> None:
    found = folded(change(deep(9), 4, "attention", **fields))
    assert [detail for _, detail in stand_ins(found)] == [
        "layers.2 to layers.3",
        "layers.6 to layers.8",
    ]


def test_layers_out_of_order_are_no_repetition() -> None:
    drawing = deep(6)
    for layer, number in ((2, 3), (3, 2)):
        drawing = change(drawing, layer, "rms_norm", detail=f"layers.{number}.norm.weight")
    assert stand_ins(folded(drawing)) == []


def test_what_is_used_elsewhere_is_not_left_out() -> None:
    drawing = deep(8)
    third = [i for i, node in enumerate(drawing.nodes) if node.label == "attention"][3]
    drawing = replace(drawing, edges=(*drawing.edges, (third, len(drawing.nodes) - 1)))
    kept = folded(drawing)
    assert drawing.nodes[third] in kept.nodes
    assert sum(node.label == "attention" for node in kept.nodes) >= 4


@given(st.integers(1, 14), st.sets(st.integers(0, 69)), st.booleans())
def test_all_that_is_lit_is_drawn(layers: int, lit: set[int], shared: bool) -> None:
    drawing = deep(layers, shared=shared)
    nodes = [
        replace(node, light=Light.DIFFERENT, wire=f"lit {i}") if i in lit else node
        for i, node in enumerate(drawing.nodes)
    ]
    found = folded(replace(drawing, nodes=tuple(nodes)))
    said = {node.wire for node in found.nodes if node.light is Light.DIFFERENT}
    assert said == {f"lit {i}" for i in lit if i < len(nodes)}
    assert all(start < end for start, end in found.edges)
    used = {start for start, _ in found.edges}
    assert used | {len(found.nodes) - 1} >= {i for i, n in enumerate(found.nodes) if not n.source}
