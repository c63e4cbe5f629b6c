"""A drawing of a graph, in pages: a pass, the neighbourhood of a node, or all there is."""

from collections.abc import Callable, Iterable

import numpy as np

from agdbg.events import Kind
from agdbg.graph.from_trace import chosen_pass, state_of, title_of
from agdbg.graph.row_nodes import UNKNOWN
from agdbg.graph.rows import GraphRows
from agdbg.graph.selection import Selection
from agdbg.hub.leaf_names import named
from agdbg.protocol.vendor import Badge, GraphBody, GraphEdge, GraphNode
from agdbg.record.facts import NodeFact
from agdbg.record.growing import Growing, Words
from agdbg.record.live import LiveFacts

Badges = Callable[[list[int]], Iterable[Badge]]
_UNBORN = "born before recording"


class Drawings:
    """Draws what ``growing`` has read, and remembers which nodes it drew last: to turn a page costs a page."""

    def __init__(self, growing: Growing, rows: GraphRows, badges: Badges) -> None:
        self._growing, self._rows, self._badges = growing, rows, badges
        self._last: tuple[object, Words] | None = None

    def page(
        self, facts: LiveFacts, start: int, count: int, pass_id: int | None, node: int | None, hops: int
    ) -> GraphBody:
        """The nodes from ``start`` on, at most ``count``, and the edges that they are consumers of.

        Raises:
            ValueError: there is no such pass or node.
        """
        drawn = None if pass_id is None else chosen_pass(facts, pass_id)
        selection = Selection(facts, self._growing, self._rows, drawn)
        shown = self._shown(selection, node, hops)
        numbers = shown[start : start + count].tolist()
        within = None if node is None else set(shown.tolist())
        page = _Page(facts, self._rows, selection, within, numbers)
        near = f"within {hops} {'edge' if hops == 1 else 'edges'} of #{node}"
        return {
            "title": title_of(facts, drawn) if node is None else near,
            "total": len(shown),
            "start": start,
            "nodes": page.nodes(self._badges),
            "edges": page.edges(),
        }

    def _shown(self, selection: Selection, node: int | None, hops: int) -> Words:
        """The nodes; the same as last time while nothing was built that might belong to them."""
        drawn, born, told = selection.drawn, *map(self._growing.rows, (Kind.BORN, Kind.EDGE))
        key = drawn and drawn.id, node, hops, len(born), len(told), selection.kept.tobytes()
        if self._last is None or self._last[0] != key:
            self._last = key, _select(selection, node, hops)
        return self._last[1]


def _select(selection: Selection, node: int | None, hops: int) -> Words:
    if node is not None:
        return selection.near(node, hops)
    return selection.all() if selection.drawn is None else selection.of_pass()


class _Page:
    """Some nodes of a drawing, and what they use; ``within`` are the nodes of a neighbourhood."""

    def __init__(
        self, facts: LiveFacts, rows: GraphRows, selection: Selection, within: set[int] | None, numbers: list[int]
    ) -> None:
        self._facts, self._rows, self._selection, self._within = facts, rows, selection, within
        self._born = {number: facts.node(number) for number in numbers}
        used = {edge.node for fact in self._born.values() if fact for edge in fact.edges if edge.node}
        asked = np.array(sorted({*used, *numbers}), np.uint64)
        self._leaves = set(asked[rows.nodes.find(asked) < UNKNOWN].tolist())
        self._hung = set(asked[selection.is_badge(asked)].tolist())

    def nodes(self, badges: Badges) -> list[GraphNode]:
        """The nodes."""
        leaves = {number: self._leaves_of(number, fact) for number, fact in self._born.items()}
        every = list(dict.fromkeys(leaf for used in leaves.values() for leaf in used))
        told = {badge["node"]: badge for badge in badges(every)}
        return [
            self._node(number, fact, [told[leaf] for leaf in leaves[number]]) for number, fact in self._born.items()
        ]

    def _leaves_of(self, number: int, fact: NodeFact | None) -> list[int]:
        """The leaves that a node uses; a leaf that is drawn itself is its own."""
        used = [number, *(edge.node for edge in fact.edges)] if fact else []
        return list(dict.fromkeys(each for each in used if each in self._leaves))

    def _node(self, number: int, fact: NodeFact | None, badges: list[Badge]) -> GraphNode:
        selection = self._selection
        return {
            "id": number,
            "op": fact.op.name if fact else _UNBORN,
            "file": fact.site.file if fact else "",
            "line": fact.site.line if fact else 0,
            "text": fact.site.text.strip() if fact else "",
            "state": state_of(self._facts, selection.drawn, selection.failed, number) if fact else "pending",
            "badges": named(self._facts, number, badges),
        }

    def edges(self) -> list[GraphEdge]:
        """The edges to what is drawn, in the order of the nodes and of their inputs."""
        return [
            {"consumer": number, "producer": edge.node, "output": edge.nr, "input": index}
            for number, fact in self._born.items()
            for index, edge in enumerate(fact.edges if fact else ())
            if edge.node and edge.node not in self._hung and (self._within is None or edge.node in self._within)
        ]
