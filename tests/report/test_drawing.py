"""Layouts of graphs, and the pictures that are made of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from checker.report.diagrams import dot, mermaid, sheet, svg
from checker.report.drawing import Drawing, DrawnNode, Light, layout
from tests.report import samples

SMALL = Drawing(
    "first step",
    (
        DrawnNode("features", "[S, 9]", source=True),
        DrawnNode("linear", "fc.weight", "fused", samples.SERVE_LINE, Light.DIFFERENT),
        DrawnNode("rms_norm", 'a "quoted" <name>', "", samples.TRAIN_LINE, Light.AFFECTED),
        DrawnNode("add", "[S, 3]"),
    ),
    ((0, 1), (1, 2), (1, 3), (2, 3)),
)


@st.composite
def graphs(draw: st.DrawFn) -> Drawing:
    count = draw(st.integers(1, 12))
    pairs = [(a, b) for b in range(count) for a in range(b)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=20)) if pairs else []
    return Drawing("any", tuple(DrawnNode(str(i)) for i in range(count)), tuple(edges))


@given(graphs())
def test_no_two_nodes_overlap_and_edges_lead_down(drawing: Drawing) -> None:
    placed = layout(drawing)
    assert all(placed.spots[a][1] < placed.spots[b][1] for a, b in drawing.edges)
    for row in range(placed.rows):
        columns = sorted(x for x, y in placed.spots if y == row)
        assert all(b - a >= 1 - 1e-9 for a, b in pairwise(columns))
    assert all(0 <= x <= placed.width - 1 + 1e-9 for x, _ in placed.spots)


@given(graphs())
def test_an_edge_has_a_bend_on_every_row_that_it_passes(drawing: Drawing) -> None:
    placed = layout(drawing)
    for (a, b), bends in placed.bends.items():
        rows = [y for _, y in bends]
        assert rows == [*range(placed.spots[a][1] + 1, placed.spots[b][1])]


@given(graphs())
def test_the_same_graph_is_drawn_alike(drawing: Drawing) -> None:
    assert svg(drawing) == svg(drawing)
    ElementTree.fromstring(svg(drawing))


def nodes(text: str) -> Iterator[tuple[str, str]]:
    name = "{http://www.w3.org/2000/svg}"
    for group in ElementTree.fromstring(text).iter(f"{name}g"):
        yield str(group.get("class")), str(group.findtext(f"{name}text"))


def test_svg_lights_what_differs() -> None:
    assert [*nodes(svg(SMALL))] == [
        ("node plain source", "features"),
        ("node different", "linear (fused)"),
        ("node affected", "rms_norm"),
        ("node plain", "add"),
    ]


def test_svg_links_nodes_to_their_lines() -> None:
    text = svg(SMALL, lambda place: f"#{place.line}")
    assert text.count("<a ") == 2
    assert '<a href="#40" aria-label="linear, fc.weight, wire fused, server/draft.py:40">' in text


def test_a_sheet_holds_every_drawing() -> None:
    root = ElementTree.fromstring(sheet([SMALL, SMALL]))
    name = "{http://www.w3.org/2000/svg}"
    groups = root.findall(f"{name}g")
    tops = [int(str(g.get("transform")).removeprefix("translate(0 ").rstrip(")")) for g in groups]
    highs = [int(str(g.find(f"{name}svg").get("height"))) for g in groups]  # type: ignore[union-attr]
    assert tops[0] + highs[0] <= tops[1]
    assert tops[1] + highs[1] == int(str(root.get("height")))


def test_mermaid_and_dot_hold_any_text() -> None:
    assert 'g0n2["rms_norm<br/>a #quot;quoted#quot; #lt;name><br/>' in mermaid([SMALL])
    assert "g0n1 --> g0n3" in mermaid([SMALL])
    assert '\\"quoted\\"' in dot([SMALL])
    assert "g0n1 -> g0n3" in dot([SMALL])
