"""Drawings as SVG, Mermaid and Graphviz source."""

from __future__ import annotations

from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING

from checker.report.drawing import Light, layout
from checker.report.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from checker.location import Location
    from checker.report.drawing import Drawing, DrawnNode, Layout

_WIDE, _HIGH = 196, 40
_STEP_X, _STEP_Y = 212, 64
_MARGIN = 12
_LETTERS = 30
"""Letters of a parameter's name that fit into a node; its whole name is the node's tooltip."""

_FRAME = f'<rect class="frame" x="4" y="4" width="{_WIDE - 8}" height="{_HIGH - 8}" rx="4"/>'
"""The inner frame of a node that stands for others."""

STYLE = (
    ".node rect{fill:var(--node,#fff);stroke:var(--line,#667);stroke-width:1}"
    ".node.source rect{fill:var(--source,#eef1f6);stroke-dasharray:4 3}"
    ".node.affected rect{fill:var(--affected,#fff3d6);stroke:var(--affected-line,#a66a00)}"
    ".node.different rect{fill:var(--different,#fbd5d5);stroke:var(--different-line,#b00020);"
    "stroke-width:3}"
    ".node rect.frame{fill:none;stroke-width:1}"
    ".node text{font:12px system-ui,sans-serif;fill:var(--ink,#1b1f24)}"
    ".node .detail{font-size:10.5px;fill:var(--soft,#4a5260)}"
    ".edge{fill:none;stroke:var(--line,#667);stroke-width:1.2}"
    ".edge.affected{stroke:var(--affected-line,#a66a00)}"
    ".edge.different{stroke:var(--different-line,#b00020);stroke-width:2.5}"
    "a:focus-visible rect{stroke-width:4}"
)


def svg(
    drawing: Drawing, link: Callable[[Location], str | None] | None = None, *, styled: bool = True
) -> str:
    """The drawing as one SVG element, inputs on top.

    Args:
        drawing: what is drawn.
        link: what a node's line of source is linked to.
        styled: with its own style sheet; a page that has `STYLE` needs none.
    """
    placed = layout(drawing)
    return "\n".join(_svg(drawing, placed, link, styled)) + "\n"


def sheet(drawings: Iterable[Drawing]) -> str:
    """Several drawings as one SVG file, one below the other, each with its title."""
    parts: list[str] = []
    width = top = 0
    for drawing in drawings:
        placed = layout(drawing)
        wide, high = _size(placed)
        title = f'<text class="title" x="{_MARGIN}" y="{top + 22}">{_text(drawing.title)}</text>'
        parts += [title, f'<g transform="translate(0 {top + 30})">']
        parts += [*_svg(drawing, placed, None, False), "</g>"]
        width, top = max(width, wide), top + 30 + high
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top}"'
    style = f"<style>{STYLE}.title{{font:bold 15px system-ui,sans-serif}}</style>"
    return "\n".join([f'{head} width="{width}" height="{top}">', style, *parts, "</svg>"]) + "\n"


def _size(placed: Layout) -> tuple[int, int]:
    """Width and height of a drawing."""
    width = round((placed.width - 1) * _STEP_X + _WIDE + 2 * _MARGIN)
    return width, max(placed.rows - 1, 0) * _STEP_Y + _HIGH + 2 * _MARGIN


def _svg(
    drawing: Drawing,
    placed: Layout,
    link: Callable[[Location], str | None] | None,
    styled: bool,
) -> Iterator[str]:
    width, height = _size(placed)
    corners = [(round(_MARGIN + x * _STEP_X), _MARGIN + y * _STEP_Y) for x, y in placed.spots]
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="group" viewBox="0 0 {width} {height}"'
        f' width="{width}" height="{height}" aria-label="{_text(drawing.title)}">'
    )
    yield f"<title>{_text(drawing.title)}</title>"
    if styled:
        yield f"<style>{STYLE}</style>"
    for (start, end), bends in sorted(placed.bends.items()):
        light = _of_edge(drawing.nodes[start].light, drawing.nodes[end].light)
        yield _edge(corners[start], corners[end], bends, light)
    for node, (x, y) in zip(drawing.nodes, corners, strict=True):
        yield _node(node, x, y, link)
    yield "</svg>"


def _of_edge(start: Light, end: Light) -> Light:
    """An edge carries a difference where what uses it comes to another value."""
    return Light.PLAIN if end is Light.PLAIN else start


def _edge(
    start: tuple[int, int],
    end: tuple[int, int],
    bends: Iterable[tuple[float, int]],
    light: Light,
) -> str:
    half = _WIDE // 2
    points = [(start[0] + half, start[1] + _HIGH)]
    points += [(round(_MARGIN + x * _STEP_X) + half, _MARGIN + y * _STEP_Y + _HIGH // 2)
               for x, y in bends]  # fmt: skip
    points.append((end[0] + half, end[1]))
    path = f"M{points[0][0]} {points[0][1]}"
    for (x, y), (to_x, to_y) in pairwise(points):
        middle = (y + to_y) // 2
        straight = x == to_x
        path += f"L{to_x} {to_y}" if straight else f"C{x} {middle} {to_x} {middle} {to_x} {to_y}"
    return f'<path class="edge {light.value}" d="{path}"/>'


def _node(node: DrawnNode, x: int, y: int, link: Callable[[Location], str | None] | None) -> str:
    more = " source" if node.source else " stands" if node.stands else ""
    kind = f"node {node.light.value}{more}"
    tip = [node.label, node.detail, node.wire and f"wire {node.wire}", str(node.location or "")]
    name = f"{node.label} ({node.wire})" if node.wire else node.label
    drawn = (
        f'<g class="{kind}" transform="translate({x} {y})">'
        f"<title>{_text(', '.join(filter(None, tip)))}</title>"
        f'<rect width="{_WIDE}" height="{_HIGH}" rx="6"/>{_FRAME if node.stands else ""}'
        f'<text x="8" y="16">{_text(_short(name))}</text>'
        f'<text class="detail" x="8" y="32">{_text(_short(node.detail))}</text></g>'
    )
    target = None if link is None or node.location is None else link(node.location)
    if target is None:
        return drawn
    return (
        f'<a href="{_text(target)}" aria-label="{_text(", ".join(filter(None, tip)))}">{drawn}</a>'
    )


def mermaid(drawings: Iterable[Drawing]) -> str:
    """A flow chart with a box for each drawing."""
    lines = ["flowchart TD"]
    for number, drawing in enumerate(drawings):
        lines.append(f'  subgraph g{number}["{_mermaid(drawing.title)}"]')
        for index, node in enumerate(drawing.nodes):
            text = "<br/>".join(_mermaid(part) for part in _words(node))
            shape = ('(["', '"])') if node.source else ('["', '"]')
            shape = ('[["', '"]]') if node.stands else shape
            lines.append(f"    g{number}n{index}{shape[0]}{text}{shape[1]}")
        lines += [f"    g{number}n{a} --> g{number}n{b}" for a, b in drawing.edges]
        lines.append("  end")
    return "\n".join(lines) + "\n"


def dot(drawings: Iterable[Drawing]) -> str:
    """Graphviz source with a cluster for each drawing."""
    lines = ["digraph {", '  node [shape=box, style=rounded, fontname="sans-serif"]']
    for number, drawing in enumerate(drawings):
        lines += [f"  subgraph cluster_{number} {{", f"    label={_dot([drawing.title])}"]
        for index, node in enumerate(drawing.nodes):
            look = ", style=dashed" if node.source else ", peripheries=2" if node.stands else ""
            lines.append(f"    g{number}n{index} [label={_dot(_words(node))}{look}]")
        lines += [f"    g{number}n{a} -> g{number}n{b}" for a, b in drawing.edges]
        lines.append("  }")
    return "\n".join([*lines, "}"]) + "\n"


def _words(node: DrawnNode) -> list[str]:
    return [part for part in (node.label, node.detail, str(node.location or "")) if part]


def _mermaid(text: str) -> str:
    """Text that no quote or entity ends."""
    return printable(text).replace("&", "#38;").replace('"', "#quot;").replace("<", "#lt;")


def _dot(lines: list[str]) -> str:
    parts = [printable(line).replace("\\", "\\\\").replace('"', '\\"') for line in lines]
    return '"' + "\\n".join(parts) + '"'


def _text(text: str) -> str:
    return escape(printable(text))


def _short(text: str) -> str:
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}…"
