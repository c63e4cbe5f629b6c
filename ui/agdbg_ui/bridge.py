"""The session's connection as the console takes it: the console waits in a thread of its own, the screen does not."""

import asyncio
import concurrent.futures
from collections import deque
from collections.abc import Awaitable, Callable
from threading import Condition
from typing import Any

from agdbg.errors import InputError

Body = dict[str, Any]
#: Events that say something to a console; output of the program is shown elsewhere.
_TOLD = frozenset(
    {"stopped", "continued", "thread", "breakpoint", "terminated", "agdbg/ended", "agdbg/restarted"}
)  # fmt: skip
#: How long one look for an event lasts, in seconds.
_LOOK_S = 1.0
#: Events that are kept for a console that nobody uses meanwhile.
_KEPT = 1 << 16


class Bridge:
    """What ``agdbg.console`` needs of a client, on top of the one connection that the screen has.

    Args:
        ask: sends a request and waits for its body, on the loop.
        loop: that loop.

    Attributes:
        events: those that the console has not seen.
        on_late: called on the loop with a request, its arguments and its answer, when that has come and nobody waited any more.
    """

    def __init__(self, ask: Callable[..., Awaitable[Body]], loop: asyncio.AbstractEventLoop) -> None:
        self._ask, self._loop = ask, loop
        self.events: deque[Body] = deque(maxlen=_KEPT)
        self.on_late: Callable[[str, Body, concurrent.futures.Future[Body]], object] = lambda *_: None
        self._news = Condition()
        self._asked: set[concurrent.futures.Future[Body]] = set()
        self._is_left = self._is_closed = False

    # ----- in the thread of the console -----

    def request(self, command: str, /, **arguments: Any) -> Body:
        """Send a request and wait for its body.

        Raises:
            InputError: nobody waits any more; what it asks for goes on.
        """
        future = self._sent(command, arguments)
        future.add_done_callback(self._wake)
        with self._news:
            self._news.wait_for(lambda: future.done() or self._is_left)
            if not future.done():
                self._is_left = self._is_closed
                future.add_done_callback(lambda done: self.on_late(command, arguments, done))
                raise InputError("not waited for any more; it goes on in the program")
        return future.result()

    def send(self, command: str, /, **arguments: Any) -> int:
        """Send a request without waiting."""
        self._sent(command, arguments)
        return 0

    def next_event(self) -> Body | None:
        """The next event, or None when none came for a while.

        Raises:
            InputError: nobody waits any more.
        """
        with self._news:
            if not self.events and not self._is_left:
                self._news.wait(_LOOK_S)
            if self._is_left:
                self._is_left = self._is_closed
                raise InputError("not waited for any more; the program runs on")
            return self.events.popleft() if self.events else None

    def begin_line(self) -> None:
        """A command begins: what was said of leaving is over."""
        with self._news:
            self._is_left = self._is_closed

    def _sent(self, command: str, arguments: Body) -> "concurrent.futures.Future[Body]":
        if self._is_closed:
            raise InputError("the debugger is about to end")
        future = asyncio.run_coroutine_threadsafe(self._asking(command, arguments), self._loop)
        self._asked.add(future)
        future.add_done_callback(self._asked.discard)
        return future

    async def _asking(self, command: str, arguments: Body) -> Body:
        return await self._ask(command, **arguments)

    def _wake(self, done: "concurrent.futures.Future[Body]") -> None:
        with self._news:
            self._news.notify_all()

    # ----- in the thread of the screen -----

    def tell(self, event: str, body: Body) -> None:
        """An event has come."""
        is_note = event == "output" and body.get("category", "console") not in ("stdout", "stderr")
        if event in _TOLD or is_note:
            with self._news:
                self.events.append({"type": "event", "event": event, "body": body})
                self._news.notify_all()

    def leave(self) -> None:
        """Wait no longer for what the program does."""
        with self._news:
            self._is_left = True
            self._news.notify_all()

    def close(self) -> None:
        """The screen ends: whoever waits is told."""
        self._is_closed = True
        self.leave()
        for future in list(self._asked):
            future.cancel()
