"""Which rows a pass reaches: a walk along the edges that reads them block by block, and only where it comes by."""

from collections.abc import Iterable

import numpy as np

from agdbg.events import Kind
from agdbg.graph.row_nodes import UNKNOWN, RowNodes
from agdbg.graph.told import valid
from agdbg.record.growing import Growing, Mask, Words
from agdbg.record.index import Rows

_SHIFT = 12
_BLOCK = 1 << _SHIFT


class _Block:
    """The edges of some consecutive rows, and which of the rows were reached.

    Attributes:
        ends, producers: what the row with the number ``at`` in the block uses is ``producers[ends[at] : ends[at + 1]]``.
        reached: one for each row.
    """

    def __init__(self, growing: Growing, nodes: RowNodes, number: int) -> None:
        self.start = number << _SHIFT
        ids = nodes.nodes.now[self.start : self.start + _BLOCK]
        _, late = growing.index(Kind.EDGE).all(ids)
        edges = valid(growing, nodes.births.now[self.start : self.start + _BLOCK], late)
        self._consumers = nodes.find(edges.source) - self.start
        self._targets, numbers = edges.target, nodes.find(edges.target)
        self._is_row = numbers >= 0
        consumers = self._consumers[self._is_row]
        order = np.argsort(consumers, kind="stable")
        self.producers = _view(numbers[self._is_row][order])
        self.ends = _view(np.searchsorted(consumers[order], np.arange(len(ids) + 1)))
        self.reached = bytearray(len(ids))

    def rows(self) -> Rows:
        """The rows that were reached."""
        rows: Rows = self.start + np.flatnonzero(self._mask())
        return rows

    def others(self) -> Words:
        """The nodes without a row that these use."""
        used: Words = self._targets[self._mask()[self._consumers] & ~self._is_row]
        return np.unique(used)

    def _mask(self) -> Mask:
        mask: Mask = np.frombuffer(self.reached, np.uint8) != 0
        return mask


def _view(numbers: Rows) -> memoryview:
    """The numbers, to be taken one by one as Python has them."""
    return memoryview(numbers)  # type: ignore[arg-type]  # for mypy an array is no buffer


def reach(growing: Growing, nodes: RowNodes, starts: Iterable[int]) -> tuple[Rows, Words]:
    """The rows that can be reached from some, those too, ascending; and the nodes without a row that they use."""
    blocks: dict[int, _Block] = {}
    todo = [row for row in starts if row > UNKNOWN]
    while todo:
        row = todo.pop()
        block = blocks.get(row >> _SHIFT)
        if block is None:
            block = blocks[row >> _SHIFT] = _Block(growing, nodes, row >> _SHIFT)
        at = row & (_BLOCK - 1)
        if not block.reached[at]:
            block.reached[at] = 1
            todo += block.producers[block.ends[at] : block.ends[at + 1]]
    found = [blocks[number] for number in sorted(blocks)]
    rows = np.concatenate([np.empty(0, np.int64), *(block.rows() for block in found)])
    return rows, np.unique(np.concatenate([np.empty(0, np.uint64), *(block.others() for block in found)]))
