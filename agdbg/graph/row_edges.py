"""The edges between rows, kept up while they are told: how far down each row is used, and what a row uses."""

from typing import NamedTuple

import numpy as np

from agdbg.events import PROVENANCE_MASK, Kind
from agdbg.graph.row_nodes import UNKNOWN, RowNodes, births_of
from agdbg.record.growing import Growing, Grown, Mask, Numbers, Words
from agdbg.record.index import Rows
from agdbg.record.nodes import EDGE_LIMIT
from agdbg.record.tellings import strongest

_NODE = np.uint64((1 << 48) - 1)
_FLAGS = np.uint64(8)


class Told(NamedTuple):
    """Edges as they were told, one a row, from input ``nr`` of ``source``; target 0: there is none."""

    source: Words
    nr: Words
    target: Words
    provenance: Numbers
    age: Numbers

    def only(self, chosen: Mask) -> "Told":
        """Some of them."""
        source, nr, target, provenance, age = self
        return Told(source[chosen], nr[chosen], target[chosen], provenance[chosen], age[chosen])


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
        self._births_read += len(births)
        self._told_read += len(told)
        again = self._nodes.add(births)
        self.ends.add(np.full(len(self._nodes) - len(self.ends), UNKNOWN))
        self.leaf_ends.add(np.full(len(self._nodes.leaves) - len(self.leaf_ends), UNKNOWN))
        if again or self._is_retold(births, told):
            self._forget()
            births, told = self._growing.rows(Kind.BORN), self._growing.rows(Kind.EDGE)
            births = births_of(self._growing, np.unique(self._growing.records[births, 1]))
        new = self._valid(births, told)
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
        ids = self._growing.records[births, 1]
        both = np.concatenate([self._growing.records[told, 1], ids[late.find(ids) >= 0]])
        if not len(both):
            return False
        suspects = np.unique(both)
        edges = _joined(_inline(self._growing, births_of(self._growing, suspects)), self._late(late.all(suspects)[1]))
        order = np.lexsort((edges.nr, edges.source))
        source, index, target = edges.source[order], edges.nr[order], edges.target[order]
        same = (source[1:] == source[:-1]) & (index[1:] == index[:-1])
        return bool((same & (target[1:] != target[:-1])).any())

    # ----- what was told -----

    def _late(self, rows: Rows) -> Told:
        records = self._growing.records[rows]
        provenance = (records[:, 0] >> _FLAGS & np.uint64(PROVENANCE_MASK)).astype(np.int64)
        late = Told(records[:, 1], records[:, 2], records[:, 3] & _NODE, provenance, rows)
        return late.only(late.nr < EDGE_LIMIT)

    def _valid(self, births: Rows, told: Rows) -> Told:
        """The edges of these records that count."""
        edges = _joined(_inline(self._growing, births), self._late(told))
        if len(told):
            edges = edges.only(strongest(edges.source, edges.nr, edges.provenance, edges.age))
        return edges.only(edges.target != 0)

    def of_rows(self, start: int, end: int) -> list[list[int]]:
        """What each of these rows uses, in the order of its inputs and each once: numbers as in :class:`RowNodes`."""
        ids = self._nodes.nodes.now[start:end]
        _, late = self._growing.index(Kind.EDGE).all(ids)
        edges = self._valid(self._nodes.births.now[start:end], late)
        row = self._nodes.find(edges.source) - start
        order = np.lexsort((edges.nr, row))
        used: list[dict[int, None]] = [{} for _ in range(len(ids))]
        numbers = self._nodes.find(edges.target)
        for at, number in zip(row[order].tolist(), numbers[order].tolist(), strict=True):
            used[at][number] = None
        return [list(each) for each in used]

    def users_of(self, leaves: Words) -> Rows:
        """The rows that were told to use one of these leaves, ascending."""
        births, told = self._nodes.births.now, self._growing.rows(Kind.EDGE)
        edges = _joined(_inline(self._growing, births), self._late(told))
        rows = self._nodes.find(edges.source[np.isin(edges.target, leaves)])
        return np.unique(rows[rows >= 0])


def _inline(growing: Growing, births: Rows) -> Told:
    """The edges in birth records; an input without one there is told elsewhere, or has none."""
    records = growing.records[births]
    source = np.repeat(records[:, 1], 2)
    provenance = np.repeat((records[:, 0] >> _FLAGS & np.uint64(PROVENANCE_MASK)).astype(np.int64), 2)
    index = np.tile(np.array([0, 1], np.uint64), len(births))
    target = records[:, 4:6].reshape(-1) & _NODE
    edges = Told(source, index, target, provenance, np.full(len(source), -1))
    return edges.only(target != 0)


def _joined(one: Told, other: Told) -> Told:
    return Told(
        np.concatenate([one.source, other.source]),
        np.concatenate([one.nr, other.nr]),
        np.concatenate([one.target, other.target]),
        np.concatenate([one.provenance, other.provenance]),
        np.concatenate([one.age, other.age]),
    )
