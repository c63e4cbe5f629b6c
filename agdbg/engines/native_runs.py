"""The records of the nodes that a pass runs: noted as times while they run, written many at once.

To write one record costs half as much as to run a small node, to note one time a sixteenth. What is noted is written
before anything else is recorded, so that the order in the trace is the order in which things happened.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from agdbg.events import Kind, head
from agdbg.record.format import WORDS
from agdbg_engine import events as engine_events
from agdbg_engine.backward import BackwardPass
from agdbg_engine.node import Node

if TYPE_CHECKING:
    from agdbg.engines.native import NativeSink

_FEW, _MORE, _MANY = 16, 4, 512
"""How many nodes run between two tellings: at first, how many times as many the next time, and at most."""
_SPAN_NS = 4_000_000
"""No more run than take about this long if they run as the last ones did: what has run is soon in the trace, whose batches are
written less often. One telling amid a program that fills the caches costs some 50 us."""
_PATIENCE_S = 1.0
_WORD: np.dtype[np.uint64] = np.dtype("<u8")
_HEAD, _TAG, _PASS, _ORDER, _START, _TOOK = range(6)
"""The words of a RAN record; the seventh, its outcome, is 0 for a run that went well."""


class RunLog(engine_events.RunLog):
    """What ``nodes``, the next ones of ``bp``, took in the running thread, as far as it is not told yet."""

    def __init__(self, sink: NativeSink, bp: BackwardPass, nodes: Sequence[Node]) -> None:
        super().__init__()
        self._sink, self._pass, self._nodes, self._first = sink, bp.tag, nodes, bp.position
        self._thread = sink.ordinal.number
        self._rows = np.empty((0, WORDS), _WORD)
        """Where records are put together, again and again: what is the same in all is there from the start."""
        self._telling = threading.Lock()
        sink.logs.append(self)

    def tell(self) -> int:
        """Write what was noted, unless that is being done: another thread or a finalizer may come in at any point."""
        if len(self.times) < 2 or not self._telling.acquire(blocking=False):
            return _FEW
        try:
            return self._tell()
        finally:
            self._telling.release()

    def close(self) -> None:
        """Write the last; a thread that was telling when the process was forked does not let go in the child."""
        if self._telling.acquire(timeout=_PATIENCE_S):
            try:
                self._tell()
            finally:
                self._telling.release()
        self._sink.logs.remove(self)

    def _tell(self) -> int:
        """Write what was noted; the caller holds the lock."""
        if len(self.times) < 2:
            return _FEW
        times = array("Q", self.times)
        n = len(times) - 1
        try:
            if engine_events.sink is self._sink:
                self._write(self._nodes[self.told : self.told + n], times)
        except RecursionError:  # the program is at its limit: next time
            return _FEW
        except Exception:
            engine_events.drop(self._sink)
        del self.times[:n]
        self.told += n
        return _how_many(n, times[n] - times[0])

    def _write(self, nodes: Sequence[Node], times: array[int]) -> None:
        sink, first = self._sink, self._first + self.told
        try:
            tags = [node.tag for node in nodes]
        except AttributeError:  # older than the recording
            tags = [sink.number(node) for node in nodes]
        if len(nodes) > _FEW and not sink.standing.within(self._thread, times[0], times[-1]):
            sink.recorder.append_block(self._block(first, tags, times))
            sink.tick()
            return
        for i, tag in enumerate(tags):
            sink.append_run(self._thread, tag, self._pass, first + i, times[i], times[i + 1], 0)
        sink.tick()

    def _block(self, first: int, tags: list[int], times: array[int]) -> bytes:
        """The records as :data:`~agdbg.record.format.RAN_RECORD` packs them: for more than a few NumPy is quicker."""
        n = len(tags)
        if n > len(self._rows):
            self._rows = self._blank(max(n, min(_MANY, len(self._nodes))))
        rows, clock = self._rows[:n], np.frombuffer(times, np.uint64, n + 1)
        began = clock[:-1]
        rows[:, _TAG] = np.frombuffer(array("Q", tags), np.uint64)
        rows[:, _ORDER] = np.arange(first, first + n, dtype=np.uint64)
        np.subtract(began, self._sink.recorder.start_ns, out=rows[:, _START])
        np.subtract(clock[1:], began, out=rows[:, _TOOK])
        return rows.tobytes()

    def _blank(self, n: int) -> np.ndarray[tuple[int, int], np.dtype[np.uint64]]:
        """``n`` records that say no more than the thread and the pass."""
        rows = np.zeros((n, WORDS), _WORD)
        rows[:, _HEAD] = head(Kind.RAN, self._thread)
        rows[:, _PASS] = self._pass
        return rows


def _how_many(ran: int, took_ns: int) -> int:
    """How many nodes may run until the next telling, when the last ``ran`` took so long: never many more than that."""
    return max(_FEW, min(_MORE * ran, _MANY, ran * _SPAN_NS // max(took_ns, 1)))
