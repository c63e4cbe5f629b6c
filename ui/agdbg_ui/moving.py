"""Which threads go on: from when that is asked for until they stop, in whatever order answers and events come."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: How long a step may take before the screen says so, in seconds: most end before that.
HUSH_S = 0.1


class Moving:
    """The threads that go on, or were asked to.

    A stop may be told before the answer to what has led to it: that answer then changes nothing. A request that is refused
    leaves a thread that goes on for another reason as it is.

    Args:
        say: called with the number of a thread that goes on for longer than most steps.
        begun: called with the number of a thread that goes on since it was asked to: no event tells that to who has asked.
    """

    def __init__(self, say: Callable[[int], object], begun: Callable[[int], object] = lambda thread: None) -> None:
        self._say, self._begun = say, begun
        self._asked: dict[object, int] = {}
        self._going: dict[int, asyncio.TimerHandle] = {}

    def has(self, thread: int) -> bool:
        """Whether a thread goes on, as far as is known."""
        return thread in self._going or thread in self._asked.values()

    @contextmanager
    def asks(self, thread: int) -> Iterator[None]:
        """A request is on its way by which a thread goes on, unless it is refused: it raises then."""
        mine = object()
        self._asked[mine] = thread
        try:
            yield
        except BaseException:
            self._asked.pop(mine, None)
            raise
        if self._asked.pop(mine, None) is not None:
            self._begun(thread)
            self.goes(thread)

    def goes(self, thread: int) -> None:
        """A thread goes on; that is said only in a while, since most steps have ended by then."""
        if thread not in self._going:
            self._going[thread] = asyncio.get_running_loop().call_later(HUSH_S, self._say, thread)

    def stopped(self, thread: int | None = None) -> None:
        """A thread stands; None: nothing goes on any more."""
        for mine in [mine for mine, each in self._asked.items() if thread in (None, each)]:
            del self._asked[mine]
        for each in [each for each in self._going if thread in (None, each)]:
            self._going.pop(each).cancel()
