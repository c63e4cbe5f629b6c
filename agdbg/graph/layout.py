"""The layered drawing: boxes with coordinates, lines between them, ports for lines that would be too long.

Older nodes stand above newer ones, so the data of the forward pass falls and gradients climb. Everything is
iterative, deterministic and, with the bounds on span and sweeps, linear in nodes and edges (up to the
logarithm of a row's length). Lengths are in the units of the sizes that `measure` returns; y grows downwards.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from agdbg.graph.layers import MAX_SPAN, Layers, assign_layers
from agdbg.graph.model import Graph
from agdbg.graph.part import Part
from agdbg.graph.shelves import pack
from agdbg.graph.topology import Topology, topology_of
from agdbg.progress import steps

PART_GAP = 60.0
"""Room between parts of the graph that are not connected."""

LINE_SPREAD = 14.0
"""Room between two lines that leave one box, where the box is wide enough."""

LINE_REACH = 0.36
"""How far from its middle a line may leave a box, as a part of the width."""

Size = tuple[float, float]
Measure = Callable[[int, list[int], list[int]], Size]
"""(node position, edges it has as ports to producers, to consumers) -> (width, height)"""


class Box(NamedTuple):
    """A node's place: left, top, width and height."""

    x: float
    y: float
    width: float
    height: float


class Route(NamedTuple):
    """A line for edge number `edge`, from the top of the consumer to the bottom of the producer.

    `bends` are (x, y below, y above) of the rows that it crosses, from the consumer upwards: the line runs
    straight up through each.
    """

    edge: int
    start: tuple[float, float]
    bends: tuple[tuple[float, float, float], ...]
    end: tuple[float, float]


@dataclass(slots=True)
class Layout:
    """A finished drawing. `boxes` and `layer` go by node position; ports map a node's position to edges."""

    width: float = 0.0
    height: float = 0.0
    boxes: list[Box] = field(default_factory=list)
    layer: list[int] = field(default_factory=list)
    routes: list[Route] = field(default_factory=list)
    ports_to: dict[int, list[int]] = field(default_factory=dict)
    ports_from: dict[int, list[int]] = field(default_factory=dict)


def layout(graph: Graph, measure: Measure, max_span: int = MAX_SPAN) -> Layout:
    """Lay `graph` out; `measure` gives a node's size once it is known which of its edges became ports.

    Raises:
        ValueError: the graph has an edge to a node that it does not have, or two nodes with one id.
    """
    topology = topology_of(graph)
    layers = assign_layers(topology, max_span)
    result = Layout(layer=layers.layer)
    for edge in layers.ports:
        result.ports_to.setdefault(topology.consumers[edge], []).append(edge)
        result.ports_from.setdefault(topology.producers[edge], []).append(edge)
    none: list[int] = []
    sizes = [
        measure(node, result.ports_to.get(node, none), result.ports_from.get(node, none))
        for node in range(topology.size)
    ]
    parts = _parts(topology, layers)
    for part in steps(parts, "laying out", len(parts)):
        part.arrange(topology, layers, sizes)
    _assemble(result, parts, topology.size)
    return result


def _parts(topology: Topology, layers: Layers) -> list[Part]:
    parts: list[Part] = []
    for node, component in enumerate(layers.component):
        if component == len(parts):
            parts.append(Part([]))
        parts[component].nodes.append(node)
    for edge in layers.routed:
        parts[layers.component[topology.consumers[edge]]].edges.append(edge)
    return parts


def _assemble(result: Layout, parts: list[Part], size: int) -> None:
    corners = pack([(part.width, part.height) for part in parts], PART_GAP)
    result.boxes = [Box(0.0, 0.0, 0.0, 0.0)] * size
    for part, (left, top) in zip(parts, corners, strict=True):
        _put_boxes(result.boxes, part, left, top)
        _put_routes(result, part, left, top)
        result.width = max(result.width, left + part.width)
        result.height = max(result.height, top + part.height)


def _put_boxes(boxes: list[Box], part: Part, left: float, top: float) -> None:
    """Put each box in the middle of its row."""
    for row, row_top, row_height in zip(part.rows, part.row_top, part.row_height, strict=True):
        for vertex in row:
            if vertex < len(part.nodes):
                width, height = part.widths[vertex], part.heights[vertex]
                x = left + part.centre[vertex] - width / 2
                boxes[part.nodes[vertex]] = Box(x, top + row_top + (row_height - height) / 2, width, height)


def _put_routes(result: Layout, part: Part, left: float, top: float) -> None:
    starts = _starts(part)
    for at, (edge, chain) in enumerate(zip(part.edges, part.chains, strict=True)):
        consumer, producer = result.boxes[part.nodes[chain[0]]], result.boxes[part.nodes[chain[-1]]]
        row = result.layer[part.nodes[chain[0]]]
        bends = []
        for vertex in chain[1:-1]:
            row -= 1
            above = top + part.row_top[row]
            bends.append((left + part.centre[vertex], above + part.row_height[row], above))
        end = (left + part.centre[chain[-1]], producer.y + producer.height)
        result.routes.append(Route(edge, (left + starts[at], consumer.y), tuple(bends), end))


def _starts(part: Part) -> list[float]:
    """Where each line leaves its consumer: as straight below where it goes as there is room for."""
    leaving: dict[int, list[int]] = {}
    for at, chain in enumerate(part.chains):
        leaving.setdefault(chain[0], []).append(at)
    starts = [0.0] * len(part.chains)
    for vertex, lines in leaving.items():
        goals = [part.centre[part.chains[at][1]] for at in lines]
        reach = LINE_REACH * part.widths[vertex] if len(lines) > 1 else 0.0
        for at, start in zip(lines, _spread(goals, part.centre[vertex], reach), strict=True):
            starts[at] = start
    return starts


def _spread(goals: list[float], centre: float, reach: float) -> list[float]:
    """Move goals into centre +- reach and apart from each other, their order kept."""
    order = sorted(range(len(goals)), key=goals.__getitem__)
    step = min(LINE_SPREAD, 2 * reach / max(len(goals) - 1, 1))
    found = [min(max(goal, centre - reach), centre + reach) for goal in goals]
    least = centre - reach
    for at in order:
        found[at] = least = max(found[at], least)
        least += step
    most = centre + reach
    for at in reversed(order):
        found[at] = most = min(found[at], most)
        most -= step
    return found
