"""The hub's event loop: sockets, timers, and what other threads have to say. It never wakes up without a reason.

It is neither asyncio nor a selector, because a step goes through it twice: a callback is called some 10 us after its bytes came.
"""

import heapq
import os
import select
import time
from collections import deque
from collections.abc import Callable
from itertools import count
from math import ceil

from agdbg.hub.log import log_error

Callback = Callable[[], object]

_READ, _WRITE = select.POLLIN, select.POLLOUT
_MS = 1000.0
_NOBODY = (None, None)


class Timer:
    """A callback that is called once, later."""

    def __init__(self, callback: Callback) -> None:
        self.callback: Callback | None = callback

    def cancel(self) -> None:
        """Do not call it."""
        self.callback = None


class Loop:
    """Calls callbacks when their time has come. All of it is for one thread, except :meth:`post`."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._files: dict[int, tuple[Callback | None, Callback | None]] = {}
        self._timers: list[tuple[float, int, Timer]] = []
        self._number = count()
        self._posted: deque[Callback] = deque()
        self._at_rest: deque[Callback] = deque()
        self._running = True
        self._wakeup_read, self.wakeup = os.pipe()
        for fd in (self._wakeup_read, self.wakeup):
            os.set_blocking(fd, False)
        self.watch(self._wakeup_read, self._drain)

    # ----- files -----

    def watch(self, fd: int, readable: Callback | None = None, writable: Callback | None = None) -> None:
        """Call ``readable`` and ``writable`` when the file is so; this takes the place of what was said before."""
        events = (_READ if readable else 0) | (_WRITE if writable else 0)
        if events:
            self._files[fd] = readable, writable
            self._poll.register(fd, events)
        elif self._files.pop(fd, None) is not None:
            self._poll.unregister(fd)

    def unwatch(self, fd: int) -> None:
        """Forget a file; do this before it is closed."""
        self.watch(fd)

    # ----- times and threads -----

    def after(self, seconds: float, callback: Callback) -> Timer:
        """Call ``callback`` once, in so many seconds."""
        timer = Timer(callback)
        heapq.heappush(self._timers, (time.monotonic() + seconds, next(self._number), timer))
        return timer

    def post(self, callback: Callback) -> None:
        """Call ``callback`` in the thread of the loop, soon. Any thread may ask for this."""
        self._posted.append(callback)
        try:
            os.write(self.wakeup, b"\0")
        except (BlockingIOError, OSError):  # it is full, so the loop wakes up anyway; or the loop has ended
            return

    def _drain(self) -> None:
        try:
            os.read(self._wakeup_read, 4096)
        except BlockingIOError:
            return

    def at_rest(self, callback: Callback) -> None:
        """Call ``callback`` once, before the loop waits: what there is to be read by then comes first, but puts it off only once.

        It is for what nobody waits for yet: each callback is called alone, so that what comes meanwhile is not held up by others.
        """
        self._at_rest.append(callback)

    # ----- running -----

    def stop(self) -> None:
        """End :meth:`run` after the callbacks of this round."""
        self._running = False

    def run(self) -> None:
        """Call callbacks until :meth:`stop`. One that raises is logged, and the others are called all the same."""
        is_put_off = False
        while self._running:
            ready = self._ready()
            for fd, events in ready:
                self._dispatch(fd, events)
            if self._posted:
                self._call_posted()
            if self._timers:
                self._call_timers()
            if self._at_rest and (is_put_off or not ready):
                _call(self._at_rest.popleft())
                is_put_off = False
            else:
                is_put_off = bool(self._at_rest)
        while self._at_rest:
            _call(self._at_rest.popleft())

    def close(self) -> None:
        """Let go of the files of the loop itself."""
        self._files.clear()
        os.close(self._wakeup_read)
        os.close(self.wakeup)

    def _ready(self) -> list[tuple[int, int]]:
        """The files with news, waited for until there are any, or a timer is due."""
        patience = self._patience()
        try:
            return self._poll.poll(None if patience is None else ceil(patience * _MS))
        except InterruptedError:
            return []

    def _patience(self) -> float | None:
        if self._posted or self._at_rest:
            return 0
        while self._timers and self._timers[0][2].callback is None:
            heapq.heappop(self._timers)
        return max(self._timers[0][0] - time.monotonic(), 0) if self._timers else None

    def _dispatch(self, fd: int, events: int) -> None:
        """Call who waits for a file. What is wrong with it is found by reading and writing alike, as its end is."""
        if events & ~_READ and (writable := self._files.get(fd, _NOBODY)[1]) is not None:
            _call(writable)
        if events & ~_WRITE and (readable := self._files.get(fd, _NOBODY)[0]) is not None:
            _call(readable)

    def _call_posted(self) -> None:
        for _ in range(len(self._posted)):
            _call(self._posted.popleft())

    def _call_timers(self) -> None:
        now = time.monotonic()
        while self._timers and self._timers[0][0] <= now:
            callback = heapq.heappop(self._timers)[2].callback
            if callback is not None:
                _call(callback)


def _call(callback: Callback) -> None:
    try:
        callback()
    except Exception:
        log_error("a callback failed")
