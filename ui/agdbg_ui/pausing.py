"""A stop at the next node that was asked for: when none comes soon, that is said."""

import asyncio
from collections.abc import Awaitable, Callable

#: How long a pause may take until the screen says what it waits for, in seconds.
PAUSE_S = 0.5


class Pausing:
    """What was asked for, until the next stop, whether the hub's answer comes before that or after.

    Args:
        say: called when no stop has come for a while.
    """

    def __init__(self, say: Callable[[], object]) -> None:
        self._say = say
        self._stops = 0  # an answer to what was asked for before the last of them has nothing to wait for
        self._timer: asyncio.TimerHandle | None = None

    async def ask(self, request: Awaitable[object]) -> None:
        """Send the request; raises what the hub says against it."""
        stops = self._stops
        await request
        if stops == self._stops and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(PAUSE_S, self._say)

    def over(self) -> None:
        """The program has stopped, or is gone."""
        self._stops += 1
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
