"""When events happened, as far as a trace tells: starts and ends of passes and runs have times, batches of records too.

What has none of its own had happened by the time of the next record that has one, or when its batch was written.
"""

from collections.abc import Iterator

import numpy as np

from agdbg.events import Kind
from agdbg.record.growing import Growing, Numbers
from agdbg.record.index import Rows

#: Records that are looked at together; what counts is that the arrays stay small.
_PIECE = 1 << 18
_NEVER = np.iinfo(np.int64).max
#: By kind: the words whose sum is the time at which the record was made.
_TIMES = {Kind.PASS_STARTED: (5,), Kind.PASS_FINISHED: (4,), Kind.RAN: (4, 5)}
#: Kinds of events whose time is their own, and not that of what comes next.
TIMED = frozenset({Kind.PASS_STARTED, Kind.PASS_FINISHED})


class EventTimes:
    """Gives records, in the order in which they are told, times that never decrease: nanoseconds since the trace began."""

    def __init__(self, growing: Growing) -> None:
        self._growing = growing
        self._read = 0
        self._latest = 0

    def update(self, rows: Rows) -> Numbers:
        """The times of the records in these rows, which are all that are wanted of those told since the last time."""
        found = [np.empty(0, np.int64)]
        for start, end in self._pieces():
            times = self._of_piece(start, end)
            self._latest = int(times[-1])
            first, last = np.searchsorted(rows, [start, end])
            found.append(times[rows[first:last] - start])
        self._read = len(self._growing.records)
        return np.concatenate(found)

    def _pieces(self) -> Iterator[tuple[int, int]]:
        """Where to begin and to end: at the beginning of a batch, if the piece has one."""
        start, total = self._read, len(self._growing.records)
        while start < total:
            end = min(start + _PIECE, total)
            clocks = self._within(Kind.CLOCK, start + 1, end)
            if end < total and len(clocks):
                end = int(clocks[-1])
            yield start, end
            start = end

    def _of_piece(self, start: int, end: int) -> Numbers:
        """The time of every record of a piece: between the clocks of its batch and of the one before, whatever it says."""
        earliest, written = self._bounds(start, end)
        times = np.full(end - start, _NEVER)
        for kind, words in _TIMES.items():
            rows = self._within(kind, start, end)
            times[rows - start] = sum(self._growing.records[rows, word].astype(np.int64) for word in words)
        np.clip(times, earliest, written, out=times)
        times = np.minimum.accumulate(times[::-1])[::-1]
        times[times == _NEVER] = 0  # nothing behind it has a time: what is known is that it came after what was before
        found: Numbers = np.maximum.accumulate(np.maximum(times, self._latest))
        return found

    def _bounds(self, start: int, end: int) -> tuple[Numbers, Numbers]:
        """Of every record when the batch before it was written, and its own."""
        clocks = self._growing.rows(Kind.CLOCK)
        first, last = np.searchsorted(clocks, [start, end])
        told = self._growing.records[clocks[max(first - 2, 0) : last], 2].astype(np.int64)
        known = np.concatenate([np.full(max(2 - int(first), 0), 0), told])  # two more than there are in the piece
        counts = np.diff(np.concatenate([[start], clocks[first:last], [end]]))
        written = known[1:].copy()
        if first == 0:
            written[0] = _NEVER  # before the first clock nothing is known
        return np.repeat(known[:-1], counts), np.repeat(np.maximum(written, known[:-1]), counts)

    def _within(self, kind: Kind, start: int, end: int) -> Rows:
        rows = self._growing.rows(kind)
        first, last = np.searchsorted(rows, [start, end])
        return rows[first:last]
