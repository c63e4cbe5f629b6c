"""Which modules were entered and not left, at every row of a trace, by thread; for records that keep coming.

A call of a module goes by the row of the record that tells that it was entered.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np
import numpy.typing as npt

from agdbg.events import ModuleEvent, a_of, thread_of


def module_records(records: npt.NDArray[np.uint64], rows: npt.NDArray[np.int64]) -> Iterator[tuple[int, int, int]]:
    """What :meth:`ModuleStacks.add` takes, of these rows."""
    heads, ids = records[rows, 0].tolist(), records[rows, 1].tolist()
    return zip(rows.tolist(), heads, ids, strict=True)


class ModuleStacks:
    """The modules that a thread is in: told the MODULE records as they come, asked about any row that came before.

    One that was left and not entered is ignored, since recording may have begun inside of it; one that was left takes with
    it what was entered inside and not left.
    """

    def __init__(self) -> None:
        self._threads: dict[int, _Stack] = {}
        self._calls: dict[int, tuple[int, int]] = {}
        """By call: the number of the module, and the call around it, -1 for none."""

    def add(self, records: Iterable[tuple[int, int, int]]) -> None:
        """Take more MODULE records: row, head word and id, in the order of their rows."""
        for row, head, module in records:
            event = a_of(head)
            if event == ModuleEvent.ENTERED:
                stack = self._threads.setdefault(thread_of(head), _Stack())
                self._calls[row] = module, stack.innermost
                stack.enter(row, module)
            elif event == ModuleEvent.LEFT and thread_of(head) in self._threads:
                self._threads[thread_of(head)].leave(row, module)

    def at(self, thread: int, row: int) -> int:
        """The number of the innermost module that a thread is in before a row; 0: in none."""
        call = self._call(thread, row)
        return self._calls[call][0] if call >= 0 else 0

    def modules_at(self, thread: int, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The number of the innermost module that a thread is in before each of some rows; 0: in none."""
        stack = self._threads.get(thread)
        if stack is None:
            return np.zeros(len(rows), np.int64)
        changes, modules = stack.changes()
        numbers = np.array([0, *(self._calls[call][0] if call >= 0 else 0 for call in modules)], np.int64)
        return numbers[np.searchsorted(np.array(changes, np.int64), rows)]

    def calls(self, thread: int, row: int) -> list[tuple[int, int]]:
        """The calls that a thread is in before a row, the outermost first: each with the number of its module."""
        found = []
        call = self._call(thread, row)
        while call >= 0:
            module, outer = self._calls[call]
            found.append((call, module))
            call = outer
        return found[::-1]

    def made(self, start: int) -> Iterator[tuple[int, int]]:
        """All calls from the ``start``-th on, in the order in which they were entered: each with the call around it, -1: none."""
        return ((call, outer) for call, (_, outer) in islice(self._calls.items(), start, None))

    def innermost(self, thread: int) -> tuple[list[int], list[int]]:
        """The rows behind which a thread is in another call than before, and the innermost call from there on, -1: none."""
        stack = self._threads.get(thread)
        return stack.changes() if stack is not None else ([], [])

    def module_of(self, call: int) -> int:
        """The number of the module that a call is of."""
        return self._calls[call][0]

    def _call(self, thread: int, row: int) -> int:
        stack = self._threads.get(thread)
        return -1 if stack is None else stack.at(row)


class _Stack:
    """The calls that one thread is in, and after every change the innermost."""

    def __init__(self) -> None:
        self._open: list[tuple[int, int]] = []
        self._rows: list[int] = []
        self._innermost: list[int] = []

    @property
    def innermost(self) -> int:
        """The last call that is not over, or -1."""
        return self._open[-1][0] if self._open else -1

    def enter(self, row: int, module: int) -> None:
        self._open.append((row, module))
        self._note(row)

    def leave(self, row: int, module: int) -> None:
        if all(module != each for _, each in self._open):
            return
        while self._open.pop()[1] != module:
            pass
        self._note(row)

    def _note(self, row: int) -> None:
        self._rows.append(row)
        self._innermost.append(self.innermost)

    def changes(self) -> tuple[list[int], list[int]]:
        """The rows after which the innermost call is another one, and that call."""
        return self._rows, self._innermost

    def at(self, row: int) -> int:
        place = bisect_left(self._rows, row) - 1
        return self._innermost[place] if place >= 0 else -1
