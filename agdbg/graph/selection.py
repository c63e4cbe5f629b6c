"""Which nodes a drawing shows, and in which order, as :func:`~agdbg.graph.from_trace.graph_of` has it, by their ids alone.

What costs much is done in arrays or block by block, so that a neighbourhood costs what it holds, and a pass what it reaches.
"""

import numpy as np

from agdbg.events import Kind
from agdbg.graph.from_trace import failed_nodes
from agdbg.graph.reach import reach
from agdbg.graph.row_nodes import UNKNOWN, births_of
from agdbg.graph.rows import GraphRows
from agdbg.graph.told import edges_of, edges_to, node_of
from agdbg.record.facts import PassFact
from agdbg.record.growing import Growing, Mask, Words
from agdbg.record.live import LiveFacts

_THREAD = np.uint64(32)
_IDS = 1 << 48


class Selection:
    """Selects for one moment of a trace that grows.

    Attributes:
        drawn: the pass that is drawn; None: all nodes, or a neighbourhood.
        failed: the nodes that failed in it, or in any.
        kept: the nodes, ascending, that are shown even when they are leaves: those that failed, and roots.
    """

    def __init__(self, facts: LiveFacts, growing: Growing, rows: GraphRows, drawn: PassFact | None) -> None:
        self.drawn = drawn
        self._growing, self._rows, self._nodes = growing, rows, rows.nodes
        self.failed = failed_nodes(facts, drawn)
        roots = self._all_roots() if drawn is None else _words([node for node, _ in drawn.roots if node])
        self.kept = np.union1d(_words(sorted(self.failed)), roots)

    def _all_roots(self) -> Words:
        words = [self._growing.records[self._growing.rows(kind), 3] for kind in (Kind.PASS_STARTED, Kind.ROOT)]
        roots = node_of(np.concatenate(words))
        found: Words = roots[roots != 0]
        return found

    def is_badge(self, nodes: Words) -> Mask:
        """Which of these nodes are leaves that are not shown but hang on the nodes that use them."""
        return (self._nodes.find(nodes) < UNKNOWN) & ~np.isin(nodes, self.kept)

    # ----- what is shown -----

    def all(self) -> Words:
        """All nodes."""
        leaves = self.kept[self._nodes.find(self.kept) < UNKNOWN]
        return self._ordered(
            np.concatenate([self._nodes.nodes.now, leaves]), self._rows.unborn(), self._threads(leaves)
        )

    def of_pass(self) -> Words:
        """The nodes that the pass reaches."""
        assert self.drawn is not None
        roots = _words(sorted({node for node, _ in self.drawn.roots if node}))
        rows, others = reach(self._growing, self._nodes, self._nodes.find(roots).tolist())
        others = np.union1d(others, roots[self._nodes.find(roots) <= UNKNOWN])
        others = others[~self.is_badge(others)]
        is_born = self._nodes.find(others) != UNKNOWN
        return self._ordered(np.concatenate([self._nodes.nodes.now[rows], others[is_born]]), others[~is_born])

    def near(self, node: int, hops: int) -> Words:
        """The nodes that are at most so many edges from a node, in either direction; of a leaf from those that use it.

        Raises:
            ValueError: there is no such node.
        """
        found = edge = self._start(node)
        for _ in range(hops):
            ends = [edges_of(self._growing, edge).target, edges_to(self._growing, edge).source]
            edge = np.setdiff1d(np.concatenate(ends), found)
            edge = edge[~self.is_badge(edge)]
            if not len(edge):
                break
            found = np.union1d(found, edge)
        is_born = self._nodes.find(found) != UNKNOWN
        leaves = self.kept[self._nodes.find(self.kept) < UNKNOWN]
        return self._ordered(found[is_born], found[~is_born], self._threads(leaves))

    def _start(self, node: int) -> Words:
        number = self._nodes.number(node)
        asked = _words([node] if 0 < node < _IDS else [])
        if number > UNKNOWN or (number < UNKNOWN and not self.is_badge(asked).any()):
            return asked
        users = np.unique(edges_to(self._growing, asked).source)
        if not len(users):
            raise ValueError(f"the trace has no node #{node}")
        return asked if number == UNKNOWN else users[~self.is_badge(users)]

    # ----- in which order -----

    def _threads(self, leaves: Words) -> set[int]:
        """The threads that have built the rows and some leaves."""
        return self._nodes.threads | _threads_of(self._growing.records[births_of(self._growing, leaves), 0])

    def _ordered(self, born: Words, unborn: Words, threads: set[int] | None = None) -> Words:
        """First those that were not born; then by sequence number where one thread made all, else by id."""
        records = self._growing.records[births_of(self._growing, born)]
        made_by = _threads_of(records[:, 0]) if threads is None else threads
        order = np.argsort(records[:, 1])
        if len(made_by) < 2:
            sequence = np.where(self._nodes.find(records[:, 1]) < UNKNOWN, np.uint64(0), records[:, 2])
            order = np.lexsort((records[:, 1], sequence))
        return np.concatenate([np.sort(unborn), records[order, 1]])


def _words(numbers: list[int]) -> Words:
    return np.array(numbers, np.uint64)


def _threads_of(heads: Words) -> set[int]:
    return set(np.unique(heads >> _THREAD).tolist())
