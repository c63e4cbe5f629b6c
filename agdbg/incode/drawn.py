"""``agdbg.graph``: the graph of a tensor as an object that draws itself."""

import os
from os.path import basename
from pathlib import Path
from typing import Any

from agdbg.counted import counted
from agdbg.graph.collapse import collapse
from agdbg.graph.model import Badge, BadgeKind, Graph, GraphEdge, GraphNode, NodeState
from agdbg.incode.live import LiveGraph, LiveNode
from agdbg.incode.readers import reader_of
from agdbg.record.lookup import Site

#: Boxes of a drawing that a notebook shows by itself.
SHOWN = 200


class Drawn:
    """A graph that can be written down.

    Attributes:
        graph: the model of it: nodes, edges, notes.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def to_svg(self, *, full: bool = False) -> str:
        """As an SVG file. Big graphs are folded unless ``full``."""
        return self._rendered("graph.svg", full)

    def to_dot(self, *, full: bool = False) -> str:
        """In the DOT language of Graphviz."""
        return self._rendered("graph.dot", full)

    def to_text(self, *, full: bool = False) -> str:
        """As text, one row a node."""
        return self._rendered("graph.txt", full)

    def to_json(self, *, full: bool = False) -> str:
        """As JSON, in the schema of ``agdbg export``."""
        return self._rendered("graph.json", full)

    def save(self, path: str | os.PathLike[str], *, full: bool = False) -> None:
        """Write a file; its suffix says in which format (.svg, .dot, .json, .txt).

        Raises:
            ValueError: there is no format with that suffix.
        """
        from agdbg.render import renderer_for

        Path(path).write_text(renderer_for(path).render(collapse(self.graph, full=full)), encoding="utf-8")

    def _rendered(self, name: str, full: bool) -> str:
        from agdbg.render import renderer_for

        return renderer_for(name).render(collapse(self.graph, full=full))

    def __len__(self) -> int:
        return self.graph.size

    def __repr__(self) -> str:
        return f"<graph of {counted(self.graph.size, 'node')}{': ' if self.graph.title else ''}{self.graph.title}>"

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        found = {"image/svg+xml": self.to_svg, "text/plain": self.to_text}
        wanted = {kind for kind in found if include is None or kind in include} - set(exclude or ())
        return {kind: found[kind]() for kind in found if kind in wanted}


def graph(tensor: Any) -> Drawn:
    """The graph of a tensor as it lies in memory, recorded or not.

    Raises:
        TypeError: it is no tensor of an engine that agdbg can read.
    """
    return Drawn(model_of(reader_of(tensor).read(tensor)))


def model_of(live: LiveGraph) -> Graph:
    """The model of a graph that was read: leaves are badges on the nodes that use them, unless there is nothing else."""
    leaves = {node.id: node for node in live.nodes if node.is_leaf and node.id != live.root}
    shape = f"[{', '.join(map(str, live.shape))}]"
    title = f"graph of a tensor {shape}" if live.root else f"a tensor {shape} without a graph"
    found = Graph(title)
    for node in live.nodes:
        if node.id in leaves:
            continue
        found.nodes.append(_drawn(node, leaves))
        found.edges += [
            GraphEdge(node.id, edge[0], edge[1], index)
            for index, edge in enumerate(node.edges)
            if edge is not None and edge[0] not in leaves
        ]
    found.notes = [_note(node) for node in live.nodes if node.trouble is not None][:5]
    return found


def _drawn(node: LiveNode, leaves: dict[int, LiveNode]) -> GraphNode:
    used = [leaves[edge[0]] for edge in node.edges if edge is not None and edge[0] in leaves]
    badges = tuple(dict.fromkeys(_badge(leaf) for leaf in used))
    state: NodeState = "freed" if node.freed else "pending"
    if node.trouble is not None and node.trouble.kind != "backward-twice":
        trouble, state = node.trouble, "failed"
        badges += (Badge(f"{trouble.slot}: saved at v{trouble.expected}, now v{trouble.current}", "saved"),)
    return GraphNode(node.id, node.op, _place(node.site), node.site.text.strip(), state, badges)


def _badge(leaf: LiveNode) -> Badge:
    kind: BadgeKind = "parameter" if leaf.is_parameter else "leaf"
    return Badge(leaf.leaf or "unnamed leaf", kind)


def _note(node: LiveNode) -> str:
    assert node.trouble is not None
    return f"{node.trouble.kind} at #{node.id}: a backward through it fails."


def _place(site: Site) -> str:
    return f"{basename(site.file)}:{site.line}" if site.line else basename(site.file)
