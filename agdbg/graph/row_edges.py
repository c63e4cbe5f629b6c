"""The edges between rows, kept up while they are told: how far down each row is used, and what a row uses."""

import numpy as np

from agdbg.events import Kind
from agdbg.graph.row_nodes import UNKNOWN, RowNodes, births_of
from agdbg.graph.told import edges_to, joined, told_at_birth, told_late, valid
from agdbg.record.growing import Growing, Grown, Words
from agdbg.record.index import Rows


class RowEdges:
    """What uses what.

    Attributes:
        ends: of each row the last row within the span of :class:`~agdbg.graph.lanes.Extent` that uses it, -1 for none.
        leaf_ends: of each leaf the last row that uses it, -1 for none.
        changed: the first row whose lane, and the first whose own line may look different than when :meth:`settled`
            was called.
    """

    def __init__(self, growing: Growing, nodes: RowNodes, span: int) -> None:
        self._growing = growing
        self._span = span
        self._nodes = nodes
        self.ends, self.leaf_ends = Grown(), Grown()
        self.changed = 0
        self._births_read = self._told_read = 0
        self._forget()

    def _forget(self) -> None:
        self._waiting = np.empty(0, np.uint64), np.empty(0, np.uint64)
        self.ends.now[:] = UNKNOWN
        self.leaf_ends.now[:] = UNKNOWN
        self.changed = 0

    def update(self) -> None:
        """Take the births and edges that were told since the last time."""
        births = self._growing.rows(Kind.BORN)[self._births_read :]
        told = self._growing.rows(Kind.EDGE)[self._told_read :]
        if not len(births) and not len(told):
            return
        self._births_read += len(births)
        self._told_read += len(told)
        again = self._nodes.add(births)
        self.ends.add(np.full(len(self._nodes) - len(self.ends), UNKNOWN))
        self.leaf_ends.add(np.full(len(self._nodes.leaves) - len(self.leaf_ends), UNKNOWN))
        if again or self._is_retold(births, told):
            self._forget()
            births, told = self._growing.rows(Kind.BORN), self._growing.rows(Kind.EDGE)
            births = births_of(self._growing, np.unique(self._growing.records[births, 1]))
        new = valid(self._growing, births, told)
        consumers, producers = self._waiting
        self._extend(np.concatenate([consumers, new.source]), np.concatenate([producers, new.target]))

    def settled(self) -> None:
        """All rows were looked at: what comes from now on is a change."""
        self.changed = len(self._nodes)

    def _extend(self, consumers: Words, producers: Words) -> None:
        """Note edges; those of nodes that are not born yet wait."""
        by, of = self._nodes.find(consumers), self._nodes.find(producers)
        waits = (by == UNKNOWN) | (of == UNKNOWN)
        self._waiting = consumers[waits], producers[waits]
        shown = ~waits & (by >= 0)
        leaf = shown & (of < UNKNOWN)
        np.maximum.at(self.leaf_ends.now, RowNodes.leaf(of[leaf]), by[leaf])
        between = shown & (of >= 0)
        lane = between & (of < by) & (by - of <= self._span)
        np.maximum.at(self.ends.now, of[lane], by[lane])
        touched = min(by[shown].min(initial=self.changed), of[lane].min(initial=self.changed))
        self.changed = int(touched)

    def _is_retold(self, births: Rows, told: Rows) -> bool:
        """Whether an input was told to lead elsewhere than was told before: what was noted of it is not true then."""
        late = self._growing.index(Kind.EDGE)
        if not len(late):
            return False
        ids = self._growing.records[births, 1]
        both = np.concatenate([self._growing.records[told, 1], ids[late.find(ids) >= 0]])
        if not len(both):
            return False
        suspects = np.unique(both)
        edges = joined(
            told_at_birth(self._growing, births_of(self._growing, suspects)),
            told_late(self._growing, late.all(suspects)[1]),
        )
        order = np.lexsort((edges.nr, edges.source))
        source, index, target = edges.source[order], edges.nr[order], edges.target[order]
        same = (source[1:] == source[:-1]) & (index[1:] == index[:-1])
        return bool((same & (target[1:] != target[:-1])).any())

    # ----- what was told -----

    def of_rows(self, rows: Rows) -> list[list[int]]:
        """What each of these rows, ascending, uses, in the order of its inputs and each once: numbers as in :class:`RowNodes`."""
        ids = self._nodes.nodes.now[rows]
        _, late = self._growing.index(Kind.EDGE).all(ids)
        edges = valid(self._growing, self._nodes.births.now[rows], late)
        row = rows.searchsorted(self._nodes.find(edges.source))
        order = np.lexsort((edges.nr, row))
        used: list[dict[int, None]] = [{} for _ in range(len(ids))]
        numbers = self._nodes.find(edges.target)
        for at, number in zip(row[order].tolist(), numbers[order].tolist(), strict=True):
            used[at][number] = None
        return [list(each) for each in used]

    def unborn(self) -> Words:
        """The nodes, ascending, that edges of born nodes lead to, and that were not born."""
        consumers, producers = self._waiting
        waits = (self._nodes.find(consumers) != UNKNOWN) & (self._nodes.find(producers) == UNKNOWN)
        return np.unique(producers[waits])

    def users_of(self, leaves: Words) -> Rows:
        """The rows that use one of these leaves, ascending."""
        rows = self._nodes.find(edges_to(self._growing, leaves).source)
        return np.unique(rows[rows >= 0])
