"""One node as a box: measured first, so that the layout knows its size, and drawn once it has its place."""

from typing import NamedTuple

from agdbg.graph.layout import Box, Size
from agdbg.graph.model import Graph, GraphNode
from agdbg.render.clean import shorten, shorten_start
from agdbg.render.svg_style import BADGE_SIZE, OP_SIZE, PILL_RADIUS, SMALL_SIZE, STATE_NAMES
from agdbg.render.svg_words import escaped, mono_width, number, sans_width

TEXT_LIMIT, OP_LIMIT, BADGE_LIMIT = 38, 36, 44
"""Columns that a source line or site, an op name and a badge may take."""

BADGES_SHOWN, PORTS_SHOWN, PORT_LIMIT = 8, 3, 24
TOOLTIP_LIMIT = 300
PAD, MARK, LINE, PILL, GAP = 11.0, 19.0, 16.0, 17.0, 5.0
LEAST_WIDTH, ROW_WIDTH = 98.0, 270.0
STACK = 5.0
"""How far each of the two cards behind a fold looks out."""

HALO = 6.0
"""Room around a failed node."""


class Pill(NamedTuple):
    """A small label: its look, its text and width, and the id of the node that it links to (0: none)."""

    kind: str
    text: str
    width: float
    link: int = 0


class BoxDrawer:
    """Measures and draws the nodes of one graph; nodes and edges go by their positions in it."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._op_of = {node.id: node.op for node in graph.nodes}
        self._pills: dict[int, list[list[Pill]]] = {}

    def measure(self, at: int, ports_to: list[int], ports_from: list[int]) -> Size:
        """Return the width and height that a node needs."""
        node = self._graph.nodes[at]
        width = max(LEAST_WIDTH, _text_width(node))
        height = 2 * PAD + LINE * _text_lines(node) - 4
        if node.badges or ports_to or ports_from:
            rows = self._pills[at] = self._pill_rows(node, ports_to, ports_from)
            width = max(width, *map(_row_width, rows))
            height += len(rows) * (PILL + GAP) + 3
        margin = _margin(node)
        return round(width + 2 * PAD) + 2 * margin, height + 2 * margin

    def _pill_rows(self, node: GraphNode, ports_to: list[int], ports_from: list[int]) -> list[list[Pill]]:
        edges = self._graph.edges
        badges = [_pill(badge.kind, badge.text) for badge in node.badges[:BADGES_SHOWN]]
        if len(node.badges) > BADGES_SHOWN:
            badges.append(_pill("more", f"and {len(node.badges) - BADGES_SHOWN} more"))
        to = [self._port("\N{UPWARDS ARROW} to", edges[edge].dst) for edge in ports_to[:PORTS_SHOWN]]
        if len(ports_to) > PORTS_SHOWN:
            to.append(_pill("more", f"to {len(ports_to) - PORTS_SHOWN} more"))
        come = [self._port("\N{DOWNWARDS ARROW} from", edges[edge].src) for edge in ports_from[:PORTS_SHOWN]]
        if len(ports_from) > PORTS_SHOWN:
            come.append(_pill("more", f"from {len(ports_from) - PORTS_SHOWN} more"))
        return [*_wrap(badges), *_wrap(to), *_wrap(come)]

    def _port(self, way: str, node: int) -> Pill:
        return _pill("port", f"{way} {shorten(self._op_of[node], PORT_LIMIT)} #{node}", node)

    def draw(self, at: int, box: Box) -> str:
        """Return the node's SVG group, its left top corner where `box` has it."""
        node = self._graph.nodes[at]
        margin = _margin(node)
        x, y = (box.x, box.y + 2 * margin) if node.count > 1 else (box.x + margin, box.y + margin)
        width, height = box.width - 2 * margin, box.height - 2 * margin
        parts = [
            f'<g id="n{node.id}" class="{node.state}" '
            f'transform="translate({number(x)} {number(y)})"><title>{_tooltip(node)}</title>',
            _frame(node, width, height),
            *_text(node, width),
        ]
        if at in self._pills:
            parts += _draw_pills(self._pills[at], PAD + LINE * _text_lines(node) + 2)
        parts.append("</g>")
        return "".join(parts)


def _margin(node: GraphNode) -> float:
    """What a node needs around its box: cards of a fold above and to the right, the halo of a failure."""
    return STACK if node.count > 1 else HALO if node.state == "failed" else 0.0


def _text_lines(node: GraphNode) -> int:
    return 1 + bool(node.shapes) + bool(node.site) + bool(node.text)


def _text_width(node: GraphNode) -> float:
    head = MARK + sans_width(shorten(node.op, OP_LIMIT), OP_SIZE, True) + 10 + sans_width(f"#{node.id}", BADGE_SIZE)
    site = mono_width(shorten_start(node.site, TEXT_LIMIT), SMALL_SIZE)
    source = mono_width(shorten(node.text, TEXT_LIMIT), SMALL_SIZE)
    return max(head, mono_width(_shapes(node), SMALL_SIZE), site, source)


def _shapes(node: GraphNode) -> str:
    return shorten(", ".join(node.shapes), TEXT_LIMIT)


def _text(node: GraphNode, width: float) -> list[str]:
    y = PAD + 10
    parts = [
        f'<use href="#{node.state}" x="{PAD:.0f}" y="{PAD - 1:.0f}"/>'
        f'<text class="op" x="{PAD + MARK:.0f}" y="{y:.0f}">{escaped(shorten(node.op, OP_LIMIT))}</text>'
        f'<text class="id" x="{width - PAD:.0f}" y="{y:.0f}">#{node.id}</text>'
    ]
    if node.shapes:
        y += LINE
        parts.append(f'<text class="src" x="{PAD:.0f}" y="{y:.0f}">{escaped(_shapes(node))}</text>')
    if node.site:
        y += LINE
        site = escaped(shorten_start(node.site, TEXT_LIMIT))
        parts.append(f'<text class="site" x="{PAD:.0f}" y="{y:.0f}">{site}</text>')
    if node.text:
        y += LINE
        source = escaped(shorten(node.text, TEXT_LIMIT))
        parts.append(f'<text class="src" x="{PAD:.0f}" y="{y:.0f}">{source}</text>')
    return parts


def _frame(node: GraphNode, width: float, height: float) -> str:
    size = f'width="{width:.0f}" height="{height:.0f}" rx="7"'
    frame = f'<rect class="box" {size}/>'
    if node.count > 1:
        behind = (f'<rect class="box" x="{at * STACK:.0f}" y="{-at * STACK:.0f}" {size}/>' for at in (2, 1))
        frame = "".join(behind) + frame
    if node.state == "failed":
        halo = f'width="{width + 8:.0f}" height="{height + 8:.0f}" rx="10"'
        frame = f'<rect class="halo" x="-4" y="-4" {halo}/>{frame}'
    return frame


def _tooltip(node: GraphNode) -> str:
    lines = [f"{node.op} #{node.id}: {STATE_NAMES[node.state]}", ", ".join(node.shapes), node.site, node.text]
    lines += [f"in {node.module}"] if node.module else []
    lines += [f"{badge.kind}: {badge.text}" for badge in node.badges]
    return "\n".join(escaped(shorten(line, TOOLTIP_LIMIT)) for line in lines if line)


def _pill(kind: str, text: str, link: int = 0) -> Pill:
    shown = shorten(text, BADGE_LIMIT)
    return Pill(kind, shown, round(sans_width(shown, BADGE_SIZE) + 12), link)


def _wrap(pills: list[Pill]) -> list[list[Pill]]:
    rows: list[list[Pill]] = []
    for pill in pills:
        if rows and _row_width([*rows[-1], pill]) <= ROW_WIDTH:
            rows[-1].append(pill)
        else:
            rows.append([pill])
    return rows


def _row_width(row: list[Pill]) -> float:
    return sum(pill.width for pill in row) + GAP * (len(row) - 1)


def _draw_pills(rows: list[list[Pill]], y: float) -> list[str]:
    parts = []
    for row in rows:
        x = PAD
        for pill in row:
            parts.append(_draw_pill(pill, x, y))
            x += pill.width + GAP
        y += PILL + GAP
    return parts


def _draw_pill(pill: Pill, x: float, y: float) -> str:
    radius = PILL_RADIUS[pill.kind]
    drawn = (
        f'<rect class="pill {pill.kind}" x="{x:.0f}" y="{y:.0f}" width="{pill.width:.0f}" '
        f'height="{PILL:.0f}" rx="{radius}"/>'
        f'<text class="tag" x="{x + pill.width / 2:.1f}" y="{y + 12.5:.1f}">{escaped(pill.text)}</text>'
    )
    return f'<a href="#n{pill.link}">{drawn}</a>' if pill.link else drawn
