"""Which node is which row: nodes that keep coming are numbered in the order of their births, leaves apart."""

import numpy as np

from agdbg.events import ACCUMULATE_SEQUENCE, Kind
from agdbg.record.growing import Growing, GrowingIndex, Grown, Mask, Numbers, Words, distinct
from agdbg.record.index import Rows
from agdbg.record.lookup import Strings

UNKNOWN = -1
"""The number of a node that was not born yet, or never is."""

_FIRST_LEAF = -2
_HIGH = np.uint64(32)


class RowNodes:
    """Numbers for nodes: the row of one that is no leaf, a number below :data:`UNKNOWN` for a leaf.

    Attributes:
        nodes: the node of each row.
        births: the record of the birth of each row; of several the last.
        leaves: the node of each leaf.
        threads: the threads that have built the nodes of the rows.
    """

    def __init__(self, growing: Growing, strings: Strings) -> None:
        self._growing = growing
        self._strings = strings
        self.nodes, self.births, self.leaves = Grown(np.uint64), Grown(), Grown(np.uint64)
        self.threads: set[int] = set()
        self._numbers = GrowingIndex()
        self._is_leaf_op: dict[int, bool] = {}

    def __len__(self) -> int:
        return len(self.nodes)

    def add(self, births: Rows) -> bool:
        """Number the nodes born in these records; true when one of them was born before."""
        ids = self._growing.records[births, 1]
        ascend = bool((ids[1:] > ids[:-1]).all())
        first = np.arange(len(ids)) if ascend else np.sort(np.unique(ids, return_index=True)[1])
        fresh = first[self.find(ids[first]) == UNKNOWN]
        self._number(births[fresh])
        numbers = self.find(ids)
        shown = numbers >= 0
        self.births.now[numbers[shown]] = births[shown]
        return len(fresh) < len(births)

    def _number(self, births: Rows) -> None:
        ids = self._growing.records[births, 1]
        leaf = self._are_leaves(births)
        numbers = np.empty(len(ids), np.int64)
        numbers[~leaf] = len(self.nodes) + np.arange(np.count_nonzero(~leaf))
        numbers[leaf] = _FIRST_LEAF - len(self.leaves) - np.arange(np.count_nonzero(leaf))
        self.nodes.add(ids[~leaf])
        self.births.add(births[~leaf])
        self.leaves.add(ids[leaf])
        self.threads.update(distinct(self._growing.records[births[~leaf], 0] >> _HIGH).tolist())
        self._numbers.add(ids, numbers)

    def _are_leaves(self, births: Rows) -> Mask:
        records = self._growing.records
        ops = records[births, 3] >> _HIGH
        named = [op for op in distinct(ops).tolist() if self._is_leaf(op)]
        by_name = np.isin(ops, np.array(named, np.uint64))
        leaves: Mask = by_name | (records[births, 2] == np.uint64(ACCUMULATE_SEQUENCE))
        return leaves

    def _is_leaf(self, op: int) -> bool:
        if op not in self._is_leaf_op:
            self._is_leaf_op[op] = self._strings.op(op).name.endswith("AccumulateGrad")
        return self._is_leaf_op[op]

    def find(self, ids: Words) -> Numbers:
        """The number of each of these nodes."""
        return self._numbers.find(ids)

    def number(self, node: int) -> int:
        """The number of one node."""
        return self._numbers.last(node)

    @staticmethod
    def leaf(number: int) -> int:
        """The place of a leaf in :attr:`leaves`, from its number."""
        return _FIRST_LEAF - number

    def born(self, row: int) -> list[int]:
        """The words of the birth of a row's node."""
        words: list[int] = self._growing.records[self.births.now[row]].tolist()
        return words

    def wheres(self, start: int, end: int) -> Words:
        """The SITE_OP word of each row of a range."""
        words: Words = self._growing.records[self.births.now[start:end], 3]
        return words


def births_of(growing: Growing, ids: Words) -> Rows:
    """The last births of those of these nodes that were born."""
    rows = growing.index(Kind.BORN).find(ids)
    return rows[rows >= 0]
