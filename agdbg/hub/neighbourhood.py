"""The nodes around one, laid out for a screen of characters: boxes in layers, and lines between them."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from agdbg.graph.layout import Layout, layout
from agdbg.graph.model import Graph
from agdbg.graph.model import GraphEdge as Edge
from agdbg.graph.model import GraphNode as Node
from agdbg.protocol.looks import Box, Line, NeighbourhoodBody, Port
from agdbg.protocol.vendor import GraphBody, GraphEdge, GraphNode, Row

#: Nodes that are laid out at most; those that are further away are left out.
MOST = 240
#: Before a leaf that runs next.
NEXT = "▶"
#: What the layout takes for a cell, and for a layer.
_CELL, _LAYER = 8.0, 48.0
_LEAST_CELLS, _MOST_CELLS = 12, 30
#: Of a box with a shape: of a name enough is left when its middle is cut, of a shape its type would be gone.
_MOST_WITH_SHAPE = 44


def laid_out(
    drawn: Callable[[int, int], GraphBody], shapes: Callable[[int], str], node: int, hops: int, following: int = 0
) -> NeighbourhoodBody:
    """The neighbourhood of a node, with fewer hops where it has too many nodes, and of its own neighbours as many as fit.

    Args:
        drawn: the nodes within so many hops, from the so many-th on at most :data:`MOST` of them, and their edges.
        shapes: the shape of what a node gave, or "".
        node: that which stands in the middle.
        hops: how far from it.
        following: the node that runs next, or 0; a leaf is marked where it is a badge.
    """
    reached = hops
    if drawn(hops, 0)["total"] > MOST:
        reached = bisect_right(range(hops), MOST, key=lambda within: drawn(within, 0)["total"]) - 1
    body = _around(drawn, node) if reached < 1 <= hops else drawn(max(reached, 0), 0)
    reached = max(reached, min(hops, 1))
    nodes = body["nodes"]
    there = {each["id"] for each in nodes}
    edges = [each for each in body["edges"] if each["consumer"] in there and each["producer"] in there]
    told = [(_as_row(each), _words(each, shapes(each["id"]), following)) for each in nodes]
    is_cut = reached < hops or body["total"] > len(nodes)
    return placed(Sheet(node, reached, body["total"], is_cut), told, edges)


class Sheet(NamedTuple):
    """What is said of a drawing as a whole; ``depth`` of one at a level, else 0."""

    node: int
    hops: int
    total: int
    is_cut: bool
    depth: int = 0


def placed(
    sheet: Sheet, nodes: Sequence[tuple[Mapping[str, Any], list[str]]], edges: list[GraphEdge]
) -> NeighbourhoodBody:
    """Lay boxes out: each is given with its words, and with ``node``, ``op``, ``state``, ``file`` and ``line``."""
    graph = Graph(
        nodes=[Node(each["node"], each["op"]) for each, _ in nodes],
        edges=[Edge(each["consumer"], each["producer"], each["output"], each["input"]) for each in edges],
    )
    found = layout(graph, lambda at, to, of: (_CELL * _width(nodes[at][1]), _LAYER))
    boxes = [_box(each, words, found, at) for at, (each, words) in enumerate(nodes)]
    return {
        "node": sheet.node,
        "hops": sheet.hops,
        "depth": sheet.depth,
        "total": sheet.total,
        "cut": sheet.is_cut,
        "width": max((box["x"] + box["width"] for box in boxes), default=0),
        "layers": max((box["layer"] for box in boxes), default=-1) + 1,
        "boxes": boxes,
        "lines": [_line(route.edge, edges, found, at) for at, route in enumerate(found.routes)],
        "ports": [_port(edges[edge]) for ports in found.ports_to.values() for edge in ports],
    }


def _as_row(node: GraphNode) -> Mapping[str, Any]:
    return {**node, "node": node["id"]}


def _around(drawn: Callable[[int, int], GraphBody], node: int) -> GraphBody:
    """The node with those of its neighbours, more than fit, that were built next to it."""
    body = drawn(1, 0)
    total = body["total"]
    for start in range(0, total, MOST):
        ids = [each["id"] for each in drawn(1, start)["nodes"]]
        if node in ids:
            return drawn(1, max(min(start + ids.index(node) - MOST // 2, total - MOST), 0))
    return body


def badges_of(node: GraphNode | Row, following: int) -> str:
    """``[weight] [bias]``, with a mark at the leaf that runs next."""
    told = ((NEXT if badge["node"] == following else "", badge["text"]) for badge in node["badges"])
    return " ".join(f"[{mark}{text}]" for mark, text in told)


def _words(node: GraphNode, shape: str, following: int) -> list[str]:
    badges = badges_of(node, following)
    place = f"{node['file'].rsplit('/', 1)[-1]}:{node['line']}" if node["file"] else ""
    return [f"{node['op']} #{node['id']}", badges or shape or place]


def _width(words: Sequence[str]) -> int:
    """Cells of a box, its borders among them."""
    name, below = (len(each) + 4 for each in words)
    most = _MOST_CELLS if words[1].startswith("[") else _MOST_WITH_SHAPE
    return max(min(name, _MOST_CELLS), min(below, most), _LEAST_CELLS)


def _box(node: Mapping[str, Any], words: list[str], placed: Layout, at: int) -> Box:
    return {
        "node": node["node"],
        "op": node["op"],
        "words": words,
        "x": round(placed.boxes[at].x / _CELL),
        "width": _width(words),
        "layer": _layer_of(placed, at),
        "state": node["state"],
        "file": node["file"],
        "line": node["line"],
    }


def _layer_of(placed: Layout, at: int) -> int:
    """Layers of parts that stand below one another do not overlap: which of the tops of boxes it is, from above."""
    tops = _tops(placed)
    return tops[placed.boxes[at].y]


def _tops(placed: Layout) -> dict[float, int]:
    return {top: at for at, top in enumerate(sorted({box.y for box in placed.boxes}))}


def _line(edge: int, edges: list[GraphEdge], placed: Layout, at: int) -> Line:
    route = placed.routes[at]
    xs = [route.start[0], *(x for x, _, _ in route.bends), route.end[0]]
    return {**_port(edges[edge]), "xs": [round(x / _CELL) for x in xs]}


def _port(edge: GraphEdge) -> Port:
    return {
        "consumer": edge["consumer"],
        "producer": edge["producer"],
        "output": edge["output"],
        "input": edge["input"],
    }
