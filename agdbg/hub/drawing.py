"""A drawing of a graph, in pages: a pass, the neighbourhood of a node, or all there is."""

from collections import deque
from collections.abc import Callable, Iterable

from agdbg.graph.from_trace import graph_of
from agdbg.graph.model import Graph
from agdbg.hub.wording import is_leaf
from agdbg.protocol.vendor import Badge, GraphBody, GraphEdge, GraphNode
from agdbg.record.query import Facts

Badges = Callable[[list[int]], Iterable[Badge]]


class Drawing:
    """The graph of one request; ``key`` tells which one it was."""

    def __init__(self, facts: Facts, pass_id: int | None, node: int | None, hops: int) -> None:
        self.key = pass_id, node, hops
        self._facts = facts
        self._graph = graph_of(facts, "all" if pass_id is None else pass_id)
        self._edges: dict[int, list[GraphEdge]] = {}
        for edge in self._graph.edges:
            told: GraphEdge = {
                "consumer": edge.src,
                "producer": edge.dst,
                "output": edge.output_nr,
                "input": edge.input_index,
            }
            self._edges.setdefault(edge.src, []).append(told)
        if node is not None:
            self._keep_near(node, hops)

    def _keep_near(self, node: int, hops: int) -> None:
        near = _near(self._graph, self._start(node), hops)
        self._graph.nodes = [each for each in self._graph.nodes if each.id in near]
        self._graph.title = f"within {hops} {'edge' if hops == 1 else 'edges'} of #{node}"
        self._edges = {
            consumer: [edge for edge in edges if edge["producer"] in near]
            for consumer, edges in self._edges.items()
            if consumer in near
        }

    def _start(self, node: int) -> list[int]:
        """The nodes to start from: of a leaf all that use it."""
        if any(each.id == node for each in self._graph.nodes):
            return [node]
        uses = [each.id for each in self._graph.nodes if node in self._leaves(each.id)]
        if not uses:
            raise ValueError(f"the trace has no node #{node}")
        return uses

    def page(self, start: int, count: int, badges: Badges) -> GraphBody:
        """The nodes from ``start`` on, at most ``count``, and the edges that they are consumers of."""
        nodes = self._graph.nodes[start : start + count]
        return {
            "title": self._graph.title,
            "total": len(self._graph.nodes),
            "start": start,
            "nodes": [self._node(each.id, each.op, each.state, badges) for each in nodes],
            "edges": [edge for each in nodes for edge in self._edges.get(each.id, [])],
        }

    def _node(self, number: int, op: str, state: str, badges: Badges) -> GraphNode:
        fact = self._facts.node(number)
        return {
            "id": number,
            "op": op,
            "file": fact.site.file if fact else "",
            "line": fact.site.line if fact else 0,
            "text": fact.site.text.strip() if fact else "",
            "state": state,
            "badges": list(badges(self._leaves(number))),
        }

    def _leaves(self, number: int) -> list[int]:
        """The leaves that a node uses; a leaf that is drawn itself is its own."""
        fact = self._facts.node(number)
        used = [self._facts.node(edge.node) for edge in fact.edges] if fact else []
        return list(dict.fromkeys(each.id for each in [fact, *used] if each is not None and is_leaf(each)))


def _near(graph: Graph, start: list[int], hops: int) -> set[int]:
    """The nodes that are at most so many edges away, in either direction."""
    neighbours: dict[int, list[int]] = {}
    for edge in graph.edges:
        neighbours.setdefault(edge.src, []).append(edge.dst)
        neighbours.setdefault(edge.dst, []).append(edge.src)
    near = dict.fromkeys(start, 0)
    todo = deque(start)
    while todo:
        node = todo.popleft()
        for other in neighbours.get(node, ()) if near[node] < hops else ():
            if other not in near:
                near[other] = near[node] + 1
                todo.append(other)
    return set(near)
