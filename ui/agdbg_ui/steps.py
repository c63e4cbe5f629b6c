"""Steps wait for one another: keys pressed faster than the program stops are not lost, and do not pile up."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from agdbg.protocol.errors import RequestFailed

#: Steps that wait; more is a key held down.
MOST_WAITING = 16
#: How long a step may take until those that wait are forgotten, in seconds: the program runs on then.
PATIENCE_S = 0.5


class Steps:
    """A queue of step commands, each sent when the one before has led to a stop.

    Args:
        send: sends a command and returns when the hub took it.
        keep: called with each task (see `Newest`).
        dropped: called with how many steps were forgotten, and why.
        patience: seconds until a step that does not stop makes those behind it void.

    Attributes:
        patience: the same; a change holds from the next step on.
    """

    def __init__(
        self,
        send: Callable[[str], Awaitable[bool]],
        keep: Callable[[asyncio.Task[None]], object],
        dropped: Callable[[int, str], object] = lambda count, why: None,
        patience: float = PATIENCE_S,
    ) -> None:
        self._send, self._keep, self._dropped, self.patience = send, keep, dropped, patience
        self._waiting: deque[str] = deque()
        self._settled = asyncio.Event()
        self._running = False

    def add(self, command: str) -> None:
        """Send a command after those that wait."""
        if len(self._waiting) < MOST_WAITING:
            self._waiting.append(command)
        if not self._running:
            self._running = True
            self._keep(asyncio.get_running_loop().create_task(self._run()))

    def settle(self) -> None:
        """The program stands still again, or is gone."""
        self._settled.set()

    def drop(self, why: str) -> None:
        """Forget those that wait: they were meant for a program that goes on as it did."""
        count = len(self._waiting)
        self._waiting.clear()
        if count:
            self._dropped(count, why)

    async def _run(self) -> None:
        try:
            while self._waiting:
                self._settled.clear()
                if await self._send(self._waiting.popleft()):
                    async with asyncio.timeout(self.patience):
                        await self._settled.wait()
        except TimeoutError:
            self.drop("the program runs on")
        finally:
            self._running = False


def is_barrier(error: BaseException) -> bool:
    """Whether the hub would step back only when forced: not everything can be taken back there."""
    return isinstance(error, RequestFailed) and error.code == "barrier"
