"""When an app in a test has nothing to do, as its event loop knows it."""

import asyncio

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
