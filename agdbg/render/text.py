"""A graph as text: one row a node, oldest first, edges as lanes at the left. Reads at 80 columns.

A row is: lanes, id, op, source site, shapes where they were recorded, then what room is left for: producers without a
drawn lane (`<-#3`), badges (`[parameter]`, `(leaf)`, `<saved>`) and the source line.
"""

from textwrap import wrap

from agdbg.graph.lanes import NODE, Row, lane_rows
from agdbg.graph.model import STATES, Badge, Graph, GraphNode, NodeState
from agdbg.graph.topology import topology_of
from agdbg.render.clean import columns, fit, printable, shorten, shorten_start

MOST_LANES, OP_COLUMNS, SITE_COLUMNS, SHAPE_COLUMNS = 8, 22, 18, 20
LEAST_WIDTH = 40

_MARKS: dict[NodeState, str] = {
    "pending": "\N{WHITE CIRCLE}",
    "ran": "\N{BLACK CIRCLE}",
    "freed": "\N{DOTTED CIRCLE}",
    "failed": "\N{HEAVY MULTIPLICATION X}",
}
_BRACKETS = {"parameter": ("[", "]"), "leaf": ("(", ")"), "saved": ("<", ">")}


class TextRenderer:
    """Writes rows of at most `width` terminal columns (wide characters count two)."""

    def __init__(self, width: int = 80) -> None:
        if width < LEAST_WIDTH:
            raise ValueError(f"text needs at least {LEAST_WIDTH} columns, not {width}")
        self._width = width

    def render(self, graph: Graph) -> str:
        """Return the listing of `graph`."""
        rows = list(lane_rows(topology_of(graph), MOST_LANES))
        widths = _Widths(graph, rows)
        lines = [*self._header(graph), *(self._row(graph, row, widths) for row in rows)]
        return "".join(fit(line, self._width).rstrip() + "\n" for line in lines)

    def _header(self, graph: Graph) -> list[str]:
        lines = [shorten(graph.title, self._width)] if graph.title else []
        for note in graph.notes:
            lines += wrap(printable(note), self._width)
        if not graph.nodes:
            return [*lines, "no nodes"]
        states = {node.state for node in graph.nodes}
        legend = [f"{_MARKS[state]} {state}" for state in STATES if state in states]
        total = f"{graph.size:,} nodes" if graph.size != 1 else "1 node"
        boxes = "" if graph.size == len(graph.nodes) else f" in {len(graph.nodes):,} rows"
        return [*lines, "  ".join([total + boxes, *legend]), ""]

    def _row(self, graph: Graph, row: Row, widths: "_Widths") -> str:
        node = graph.nodes[row.node]
        cells = row.cells.replace(NODE, _MARKS[node.state])
        parts = [
            _padded(cells, widths.lanes),
            _padded(f"#{node.id}", widths.id),
            _padded(shorten(node.op, OP_COLUMNS), widths.op),
            _padded(shorten_start(node.site, SITE_COLUMNS), widths.site),
            _padded(_shapes(node), widths.shapes),
            *(f"<-#{graph.nodes[producer].id}" for producer in row.undrawn),
            *(_badge(badge) for badge in node.badges),
            shorten(node.text, self._width),
        ]
        return " ".join(part for part in parts if part)


class _Widths:
    """How wide the columns of a listing must be."""

    def __init__(self, graph: Graph, rows: list[Row]) -> None:
        nodes = graph.nodes
        self.lanes = max((len(row.cells) for row in rows), default=0)
        self.id = max((len(f"#{node.id}") for node in nodes), default=0)
        self.op = max((columns(shorten(node.op, OP_COLUMNS)) for node in nodes), default=0)
        self.shapes = max((columns(_shapes(node)) for node in nodes), default=0)
        self.site = max((columns(shorten_start(node.site, SITE_COLUMNS)) for node in nodes), default=0)


def _shapes(node: GraphNode) -> str:
    return shorten(", ".join(node.shapes), SHAPE_COLUMNS)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - columns(text))


def _badge(badge: Badge) -> str:
    left, right = _BRACKETS[badge.kind]
    return f"{left}{shorten(badge.text, 40)}{right}"
