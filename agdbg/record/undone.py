"""Which runs and frees were taken back later, for records that keep coming: only new UNDONE records cost anything."""

from collections.abc import Iterable

import numpy as np

from agdbg.events import Kind
from agdbg.record.growing import Growing, Mask, Words
from agdbg.record.index import Rows


class Undone:
    """The rows of RAN and FREED records that stepping back took back, as :meth:`update` has seen them.

    Attributes:
        rows: all of them; it grows.
    """

    def __init__(self, growing: Growing) -> None:
        self.rows: set[int] = set()
        self._growing = growing
        self._read = 0
        self._by_node: dict[int, set[int]] = {}

    def update(self) -> None:
        """Take the UNDONE records that came since the last time."""
        undone = self._growing.rows(Kind.UNDONE)[self._read :]
        if not len(undone):
            return
        self._read += len(undone)
        undone = _last_of_each(undone, self._growing.records[undone, 1:4])
        told = self._growing.records[undone]
        self._take(Kind.RAN, undone, told, 2)
        self._take(Kind.FREED, undone, told, 1)

    def _take(self, kind: Kind, undone: Rows, told: Words, same: int) -> None:
        """Take back the records of a kind, about the same node, with the ``same`` first words after it, told before."""
        owner, rows = self._growing.index(kind).all(told[:, 1])
        alike: Mask = np.all(self._growing.records[rows, 2 : 2 + same] == told[owner, 2 : 2 + same], axis=1)
        back = alike & (rows < undone[owner])
        for node, row in zip(told[owner[back], 1].tolist(), rows[back].tolist(), strict=True):
            self.rows.add(row)
            self._by_node.setdefault(node, set()).add(row)

    def about(self, nodes: Iterable[int]) -> frozenset[int]:
        """Those that are about some nodes."""
        return frozenset().union(*(self._by_node.get(node, ()) for node in nodes)) if self.rows else frozenset()


def _last_of_each(undone: Rows, runs: Words) -> Rows:
    """Of the UNDONE records about one run the last: it takes back what the others do, however often one went back."""
    _, from_end = np.unique(runs[::-1], axis=0, return_index=True)
    return undone[::-1][from_end]
