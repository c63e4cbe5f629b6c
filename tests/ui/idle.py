"""When an app in a test has nothing to do, as its event loop and its queues of messages know it."""

import asyncio

from textual.pilot import Pilot

GLANCE_S = 0.002
"""How long a test leaves the processor to others before it looks again for what a thread or another program does."""

SOON_S = 0.06
"""Delays of the UI up to this are waited for: output is shown at most every 0.05 s."""


async def until_idle(min_sleep: float = 0.0, max_sleep: float = 1.0) -> None:
    """Wait until no callback of the running loop is ready and none is due soon; give up after ``max_sleep`` seconds.

    What waits for a thread, for another program or for a later time is not waited for.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + max_sleep
    while True:
        await asyncio.sleep(0)
        now = loop.time()
        if loop._ready and now < end:
            continue
        due = [timer.when() for timer in loop._scheduled if not timer.cancelled() and timer.when() < now + SOON_S]
        if not due or now >= end:
            return
        await asyncio.sleep(max(min(due) - now, 0.0))


_of_all = Pilot._wait_for_screen


async def until_handled(pilot, timeout: float = 30.0) -> bool:
    """Wait as a pilot does until every widget has handled what it had been sent, and at once when none has anything to handle.

    A pilot sends each of them a message of its own and waits for all of these, which is most of what a test would do.
    """
    if all(_is_waiting(each) for each in (pilot.app, *pilot.app.screen_stack, *pilot.app.screen.walk_children())):
        return pilot.app._exception is None
    return await _of_all(pilot, timeout)


def _is_waiting(pump) -> bool:
    """Whether nothing was sent to it that it has not handled: it is where it takes the next message."""
    queue = pump._message_queue
    return queue.empty() and any(not each.done() for each in queue.ready_event._waiters)
