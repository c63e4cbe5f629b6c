"""A graph as one self-contained SVG file: no script, no web font, no other program.

Older nodes stand above newer ones and arrows climb, the way gradients flow. Every state differs by colour, by
stroke and by a mark, so that it can be told in grey print too. Boxes have ids such as `n17`, after their
nodes, and the ports of long edges link to them.
"""

from agdbg.graph.layout import Layout, Route, layout
from agdbg.graph.model import Graph
from agdbg.progress import steps
from agdbg.render.svg_box import BoxDrawer
from agdbg.render.svg_header import Header
from agdbg.render.svg_style import DEFINITIONS, STYLE
from agdbg.render.svg_words import attribute, escaped, number

MARGIN = 28.0
ARROW_GAP = 2.0


class SvgRenderer:
    """Draws every node of the graph that it is given; fold big graphs first (`agdbg.graph.collapse`)."""

    def render(self, graph: Graph) -> str:
        """Return the SVG text of `graph`."""
        drawer = BoxDrawer(graph)
        placed = layout(graph, drawer.measure)
        header = Header(graph, has_ports=bool(placed.ports_to))
        width = max(placed.width, header.width) + 2 * MARGIN
        left = (width - placed.width) / 2
        top = MARGIN + header.height
        height = top + placed.height + MARGIN
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{number(width)}" height="{number(height)}" '
            f'viewBox="0 0 {number(width)} {number(height)}" role="img" '
            f'aria-label="{attribute(graph.title or "autograd graph")}">',
            f"<title>{escaped(graph.title or 'autograd graph')}</title>",
            f"<style>{STYLE}</style>",
            DEFINITIONS,
            '<rect class="page" width="100%" height="100%"/>',
            *header.draw(MARGIN, MARGIN),
            f'<g transform="translate({number(left)} {number(top)})">',
            *_edges(graph, placed),
            *(drawer.draw(at, box) for at, box in steps(enumerate(placed.boxes), "drawing boxes", len(placed.boxes))),
            "</g>",
            "</svg>",
        ]
        return "\n".join(lines) + "\n"


def _edges(graph: Graph, placed: Layout) -> list[str]:
    lines = ['<g class="edges">']
    mixed = graph.certainty is None
    labels = []
    for route in placed.routes:
        edge = graph.edges[route.edge]
        dashed = ' class="inferred"' if mixed and edge.certainty != "observed" else ""
        lines.append(f'<path{dashed} d="{_path(route)}"/>')
        if edge.count > 1:
            labels.append(_label(route, f"\N{MULTIPLICATION SIGN}{edge.count}"))
        elif edge.output_nr:
            labels.append(_label(route, f"output {edge.output_nr}"))
    return [*lines, "</g>", *labels]


def _path(route: Route) -> str:
    """A curve in each gap between rows, a straight line through each row."""
    x, y = route.start
    steps = [f"M{x:.0f} {y:.0f}"]
    for bend, below, above in route.bends:
        steps.append(_curve(x, y, bend, below))
        if above < below:
            steps.append(f"V{above:.0f}")
        x, y = bend, above
    steps.append(_curve(x, y, route.end[0], route.end[1] + ARROW_GAP))
    return "".join(steps)


def _curve(x: float, y: float, to_x: float, to_y: float) -> str:
    if abs(x - to_x) < 1:
        return f"L{to_x:.0f} {to_y:.0f}"
    middle = (y + to_y) / 2
    return f"C{x:.0f} {middle:.0f} {to_x:.0f} {middle:.0f} {to_x:.0f} {to_y:.0f}"


def _label(route: Route, text: str) -> str:
    x, y = (route.bends[-1][0], route.bends[-1][2]) if route.bends else route.start
    x, y = (x + route.end[0]) / 2, (y + route.end[1]) / 2
    return f'<text class="count" x="{x + 5:.0f}" y="{y + 4:.0f}">{escaped(text)}</text>'
