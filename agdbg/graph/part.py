"""One connected part of a drawing: rows of boxes and of the bends of lines that pass between them."""

from dataclasses import dataclass, field
from itertools import pairwise

from agdbg.graph.crossings import Rows, order_rows
from agdbg.graph.layers import Layers
from agdbg.graph.placement import Lines, place_rows
from agdbg.graph.straighten import Straightener
from agdbg.graph.topology import Topology

NODE_GAP, LINE_GAP, LINE_WIDTH = 28.0, 10.0, 8.0
ROW_GAP, ROW_GAP_MOST, ROW_GAP_SLOPE = 38.0, 100.0, 0.08
PULLS = (0.2, 2.0, 8.0, 1e7)
"""Pull of a line between two boxes by the rank of its edge."""

LINE_END, LINE_MIDDLE = 1.0, 4.0
"""Pull of a line between a box and a bend, and between two bends."""


@dataclass(slots=True)
class Part:
    """Vertices are numbered from 0: first the part's `nodes`, then one bend for each row that a line crosses.

    A chain lists the vertices of one routed edge from its consumer up to its producer. After `arrange` the
    left top corner of the part is (0, 0).
    """

    nodes: list[int]
    edges: list[int] = field(default_factory=list)
    chains: list[list[int]] = field(default_factory=list)
    rows: Rows = field(default_factory=list)
    widths: list[float] = field(default_factory=list)
    heights: list[float] = field(default_factory=list)
    centre: list[float] = field(default_factory=list)
    row_top: list[float] = field(default_factory=list)
    row_height: list[float] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0

    def arrange(self, topology: Topology, layers: Layers, sizes: list[tuple[float, float]]) -> None:
        """Build the rows, order them, and give every vertex its place."""
        self.widths = [sizes[node][0] for node in self.nodes]
        self.heights = [sizes[node][1] for node in self.nodes]
        depth = [layers.layer[node] for node in self.nodes]
        self.rows = [[] for _ in range(max(depth) + 1)]
        for vertex, row in enumerate(depth):
            self.rows[row].append(vertex)
        lines = self._connect(topology, layers, depth)
        gaps = [NODE_GAP] * len(self.nodes) + [LINE_GAP] * (len(self.widths) - len(self.nodes))
        self.rows = order_rows(self.rows, lines.above, lines.below)
        self.centre = place_rows(self.rows, lines, self.widths, gaps)
        straightener = Straightener(self.rows, self.widths, gaps, self.centre)
        straightener.align_boxes(len(self.nodes), lines)
        for chain in self.chains:
            if len(chain) > 2:
                straightener.straighten(chain)
        self._to_origin()
        self._stack(lines)

    def _connect(self, topology: Topology, layers: Layers, depth: list[int]) -> Lines:
        local = {node: vertex for vertex, node in enumerate(self.nodes)}
        lines = Lines.for_(len(self.nodes))
        for edge in self.edges:
            consumer, producer = local[topology.consumers[edge]], local[topology.producers[edge]]
            chain = [consumer]
            for row in range(depth[consumer] - 1, depth[producer], -1):
                chain.append(self._add_bend(row, lines))
            chain.append(producer)
            self.chains.append(chain)
            if len(chain) == 2:
                lines.link(producer, consumer, PULLS[layers.rank[edge]])
                continue
            lines.link(chain[1], consumer, LINE_END)
            for lower, upper in pairwise(chain[1:-1]):
                lines.link(upper, lower, LINE_MIDDLE)
            lines.link(producer, chain[-2], LINE_END)
        return lines

    def _add_bend(self, row: int, lines: Lines) -> int:
        vertex = len(self.widths)
        self.rows[row].append(vertex)
        self.widths.append(LINE_WIDTH)
        self.heights.append(0.0)
        lines.add_vertex()
        return vertex

    def _to_origin(self) -> None:
        left = min(self.centre[row[0]] - self.widths[row[0]] / 2 for row in self.rows)
        self.centre = [at - left for at in self.centre]
        self.width = max(self.centre[row[-1]] + self.widths[row[-1]] / 2 for row in self.rows)

    def _stack(self, lines: Lines) -> None:
        """Give rows their heights, with more room where lines run far to the side."""
        top = 0.0
        for at, row in enumerate(self.rows):
            if at:
                top += _row_gap(row, lines.above, self.centre)
            self.row_top.append(top)
            self.row_height.append(max(self.heights[vertex] for vertex in row))
            top += self.row_height[-1]
        self.height = top


def _row_gap(row: list[int], above: list[list[int]], centre: list[float]) -> float:
    furthest = max([abs(centre[vertex] - centre[near]) for vertex in row for near in above[vertex]], default=0.0)
    return min(ROW_GAP + ROW_GAP_SLOPE * furthest, ROW_GAP_MOST)
