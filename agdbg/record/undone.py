"""What was taken back later, for records that keep coming: only new UNDONE records cost anything.

Taken back are the run, what it freed, and what it added to the gradient of a leaf: the storage has its old version again.
"""

from collections.abc import Callable, Iterable

import numpy as np

from agdbg.events import Kind, thread_of, unpack_site_op
from agdbg.record.growing import Growing, Mask, Numbers, Words
from agdbg.record.index import Rows
from agdbg.record.reader import Trace

#: What the write of a node that accumulates the gradient of a leaf is called.
_ACCUMULATES = "AccumulateGrad"


class Undone:
    """The rows of RAN, FREED and BUMP records that stepping back took back, as :meth:`update` has seen them.

    Attributes:
        rows: all of them; it grows.
    """

    def __init__(self, growing: Growing) -> None:
        self.rows: set[int] = set()
        self._growing = growing
        self._read = 0
        self._by_node: dict[int, set[int]] = {}

    def update(self, trace: Trace) -> None:
        """Take the UNDONE records that came since the last time; ``trace`` is what the growing indexes have read."""
        undone = self._growing.rows(Kind.UNDONE)[self._read :]
        if not len(undone):
            return
        self._read += len(undone)
        undone = _last_of_each(undone, self._growing.records[undone, 1:4])
        told = self._growing.records[undone]
        for row in self._take(Kind.RAN, undone, told, 2).tolist():
            self.rows.update(written_by_run(trace, self._growing.rows, row))
        self._take(Kind.FREED, undone, told, 1)

    def _take(self, kind: Kind, undone: Rows, told: Words, same: int) -> Numbers:
        """Take back the records of a kind, about the same node, with the ``same`` first words after it, told before."""
        owner, rows = self._growing.index(kind).all(told[:, 1])
        alike: Mask = np.all(self._growing.records[rows, 2 : 2 + same] == told[owner, 2 : 2 + same], axis=1)
        back = alike & (rows < undone[owner])
        for node, row in zip(told[owner[back], 1].tolist(), rows[back].tolist(), strict=True):
            self.rows.add(row)
            self._by_node.setdefault(node, set()).add(row)
        taken: Numbers = rows[back]
        return taken

    def about(self, nodes: Iterable[int]) -> frozenset[int]:
        """Those that are about some nodes."""
        return frozenset().union(*(self._by_node.get(node, ()) for node in nodes)) if self.rows else frozenset()


def _last_of_each(undone: Rows, runs: Words) -> Rows:
    """Of the UNDONE records about one run the last: it takes back what the others do, however often one went back."""
    _, from_end = np.unique(runs[::-1], axis=0, return_index=True)
    return undone[::-1][from_end]


def written_by_run(trace: Trace, rows: Callable[[Kind], Rows], run: int) -> list[int]:
    """The writes to the gradient of a leaf that belong to the run of its node; what hooks wrote elsewhere is not there.

    They are told before the run, and behind the run before it.

    Args:
        trace: the trace.
        rows: gives its rows of a kind, ascending.
        run: the row of the run.
    """
    records = trace.records
    thread = thread_of(int(records[run, 0]))
    bumps: list[int] = []
    for row in _backwards(rows(Kind.BUMP), run, _last_run(records, rows(Kind.RAN), run, thread)):
        if thread_of(int(records[row, 0])) == thread:
            bumps.append(row)
    grads = {int(records[row, 1]) for row in bumps if _op_of(trace, row) == _ACCUMULATES}
    return [row for row in bumps if int(records[row, 1]) in grads]


def _last_run(records: Words, runs: Rows, before: int, thread: int) -> int:
    """The last run of a thread before a row, or -1."""
    return next((row for row in _backwards(runs, before, -1) if thread_of(int(records[row, 0])) == thread), -1)


def _backwards(rows: Rows, before: int, after: int) -> Iterable[int]:
    """Those of ascending rows that are between two rows, the last first."""
    at = int(np.searchsorted(rows, before)) - 1
    while at >= 0 and rows[at] > after:
        yield int(rows[at])
        at -= 1


def _op_of(trace: Trace, row: int) -> str:
    _, op = unpack_site_op(int(trace.records[row, 4]))
    return trace.op(op).name
