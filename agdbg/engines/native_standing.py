"""The time for which threads stand at stops, which is none that the program took: durations leave it out.

A clock that stood still with its thread would say of two threads wrongly what came first. So the times that things began are
those of the clock, and what is taken away from a duration is how long its own thread stood within it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter_ns


class _Stood:
    """When one thread stood, in order, and how long in all before each time; whether it stands now."""

    def __init__(self) -> None:
        self.begins: list[int] = []
        self.ends: list[int] = []
        self.before = [0]
        self.now = False


class Standing:
    """When the threads of the program stood; a thread that never did is not in it.

    Args:
        thread: the number of the running thread.
    """

    def __init__(self, thread: Callable[[], int]) -> None:
        self._thread = thread
        self._stood: dict[int, _Stood] = {}

    def __contains__(self, thread: int) -> bool:
        return thread in self._stood

    @contextmanager
    def here(self) -> Iterator[None]:
        """The running thread stands meanwhile."""
        began = perf_counter_ns()
        stood = self._stood.setdefault(self._thread(), _Stood())
        if stood.now:  # at pdb's prompt somebody runs what stops: that is within the time that counts already
            yield
            return
        stood.now = True
        try:
            yield
        finally:
            ended = perf_counter_ns()
            stood.before.append(stood.before[-1] + ended - began)
            stood.begins.append(began)
            stood.ends.append(ended)
            stood.now = False

    def within(self, thread: int, start_ns: int, end_ns: int) -> int:
        """How long a thread stood between two times of its own at which it ran."""
        stood = self._stood.get(thread)
        if stood is None:
            return 0
        first, last = bisect_right(stood.ends, start_ns), bisect_left(stood.begins, end_ns)
        return stood.before[last] - stood.before[first] if first < last else 0

    def total(self, thread: int) -> int:
        """How long a thread has stood until now; what it stands at just now counts when that is over."""
        stood = self._stood.get(thread)
        return 0 if stood is None else stood.before[-1]

    def just_took(self, ns: int) -> int:
        """How much of ``ns``, which the running thread has just taken for something, it ran."""
        thread = self._thread()
        if not ns or thread not in self._stood:
            return ns
        now = perf_counter_ns()
        return max(1, ns - self.within(thread, now - ns, now))
