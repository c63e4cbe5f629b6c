"""The rows of the lane view, for a graph that grows: any page of a million of them at a cost of a few blocks.

Rows are all nodes but the leaves, in the order of their births; leaves are told with the nodes that use them. What is new
is taken in arrays; only the blocks that are looked at are gone through row by row, and kept until they change.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from agdbg.graph.lanes import EXTENT, Extent, Lanes, Row
from agdbg.graph.row_edges import RowEdges
from agdbg.graph.row_nodes import UNKNOWN, RowNodes
from agdbg.record.growing import Growing, Words
from agdbg.record.index import Rows
from agdbg.record.lookup import Strings

#: Blocks that are kept as they were drawn.
KEPT = 32
#: Rows that a search looks at in one go, before it says whether there is one.
_LOOKED_AT = 1 << 16
_LOW, _HIGH = np.uint64((1 << 32) - 1), np.uint64(32)


@dataclass(frozen=True, slots=True)
class GraphRow:
    """One row: its node, its lanes, the rows that it uses without a line to them, and the leaves that it uses."""

    row: int
    node: int
    cells: str
    undrawn: list[int]
    leaves: list[int]


class GraphRows:
    """The rows of what ``growing`` has read; :meth:`update` takes what is new."""

    def __init__(self, growing: Growing, strings: Strings, most: int = 8, extent: Extent = EXTENT) -> None:
        self._strings = strings
        self._block_size = extent.block
        self.nodes = RowNodes(growing, strings)
        self._edges = RowEdges(growing, self.nodes, extent.span)
        self.lanes = Lanes(most, extent)
        self._blocks: dict[int, tuple[list[Row], list[list[int]]]] = {}

    def update(self) -> None:
        """Take the nodes and edges that were recorded since the last time."""
        self._edges.update()

    @property
    def total(self) -> int:
        """How many rows there are."""
        return len(self.nodes)

    def node_at(self, row: int) -> int:
        """The node of a row."""
        return int(self.nodes.nodes.now[row])

    def row_of(self, node: int, before: int | None = None) -> int | None:
        """The row of a node; of a leaf the row of the last node that uses it. None when there is none.

        Args:
            node: its number.
            before: of a leaf, the last node that was built before this record, where any was; None: of all.
        """
        number = self.nodes.number(node)
        if number < UNKNOWN:
            number = int(self._edges.leaf_ends.now[RowNodes.leaf(number)])
            if before is not None and number >= 0 and self.nodes.births.now[number] >= before:
                users = self._edges.users_of(np.array([node], np.uint64))
                earlier = users[self.nodes.births.now[users] < before]
                number = int(earlier[-1]) if len(earlier) else number
        return None if number == UNKNOWN else number

    def is_leaf(self, node: int) -> bool:
        """Whether a node is a leaf, and so has no row of its own."""
        return self.nodes.number(node) < UNKNOWN

    def unborn(self) -> Words:
        """The nodes, ascending, that others use and that were not born: they have no row."""
        return self._edges.unborn()

    # ----- how they look -----

    def page(self, start: int, count: int) -> list[GraphRow]:
        """The rows from ``start`` on, at most ``count``."""
        self._settle()
        found: list[GraphRow] = []
        end, size = min(start + count, self.total), self._block_size
        for number in range(start // size, -(-end // size)):
            rows, leaves = self._block(number)
            first = number * size
            for at in range(max(start, first), min(end, first + size)):
                _, cells, undrawn = rows[at - first]
                found.append(GraphRow(at, self.node_at(at), cells, undrawn, leaves[at - first]))
        return found

    def used(self, rows: Rows) -> list[list[int]]:
        """The rows that each of these, ascending, uses; numbers below 0 stand for leaves and for what was not built."""
        return self._edges.of_rows(rows)

    def without_lanes(self, rows: Rows) -> list[GraphRow]:
        """These rows, ascending, wherever they stand."""
        used = self._edges.of_rows(rows)
        pairs = zip(rows.tolist(), used, strict=True)
        return [GraphRow(row, self.node_at(row), "", [], self._leaves(each)) for row, each in pairs]

    def _settle(self) -> None:
        changed = self._edges.changed
        if changed < self.total:
            self.lanes.update(self._edges.ends.now, changed)
            self._blocks = {
                number: block for number, block in self._blocks.items() if number < changed // self._block_size
            }
        self._edges.settled()

    def _block(self, number: int) -> tuple[list[Row], list[list[int]]]:
        block = self._blocks.pop(number, None) or self._draw(number)
        self._blocks[number] = block
        if len(self._blocks) > KEPT:
            del self._blocks[next(iter(self._blocks))]
        return block

    def _draw(self, number: int) -> tuple[list[Row], list[list[int]]]:
        start = number * self._block_size
        used = self._edges.of_rows(np.arange(start, min(start + self._block_size, self.total)))
        producers = [[each for each in row if each >= 0] for row in used]
        return self.lanes.block(number, producers), [self._leaves(row) for row in used]

    def _leaves(self, used: list[int]) -> list[int]:
        leaves = self.nodes.leaves.now
        return [int(leaves[RowNodes.leaf(each)]) for each in used if each < UNKNOWN]

    # ----- search -----

    def find(self, text: str, start: int, backwards: bool, leaves: Words) -> int | None:
        """The first row from ``start`` on, round the end, of which the op has ``text``, or which uses one of the ``leaves``.

        Only where there is no such row, ``file.py:12`` and the source line are looked at.
        """
        strings = np.array(self._strings.matching(text), np.uint64)
        users = self._edges.users_of(leaves) if len(leaves) else np.zeros(0, np.intp)

        def by_op(first: int, behind: int) -> Rows:
            found = np.flatnonzero(np.isin(self.nodes.wheres(first, behind) >> _HIGH, strings)) + first
            inside = users[users.searchsorted(first) : users.searchsorted(behind)]
            return np.union1d(found, inside) if len(inside) else found

        def by_site(first: int, behind: int) -> Rows:
            return np.flatnonzero(np.isin(self.nodes.wheres(first, behind) & _LOW, strings)) + first

        row = self._nearest(start, backwards, by_op) if len(strings) or len(users) else None
        return self._nearest(start, backwards, by_site) if row is None and len(strings) else row

    def _nearest(self, start: int, backwards: bool, found: Callable[[int, int], Rows]) -> int | None:
        """The first row from ``start`` on, round the end, of those that ``found`` gives for a range of rows, block by block."""
        total = self.total
        turn = min(start + 1, total) if backwards else min(start, total)
        ranges = ((0, turn), (turn, total)) if backwards else ((turn, total), (0, turn))
        for first, behind in ranges:
            blocks = range(first, behind, _LOOKED_AT)
            for begin in reversed(blocks) if backwards else blocks:
                rows = found(begin, min(begin + _LOOKED_AT, behind))
                if len(rows):
                    return int(rows[-1 if backwards else 0])
        return None
