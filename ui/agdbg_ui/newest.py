"""One job at a time: asking again while it runs makes it run once more, however often it was asked."""

import asyncio
from collections.abc import Awaitable, Callable


class Newest:
    """Keeps one run of a job in flight; whoever asks meanwhile is served by the one run after it.

    Args:
        job: what to do; it reads what is wanted when it starts, so that the newest wish wins.
        keep: called with each task, which must be kept from the garbage collector and its errors shown.
    """

    def __init__(self, job: Callable[[], Awaitable[None]], keep: Callable[[asyncio.Task[None]], object]) -> None:
        self._job, self._keep = job, keep
        self._running = self._again = False
        self._task: asyncio.Task[None] | None = None

    @property
    def busy(self) -> bool:
        """Whether a run is in flight."""
        return self._running

    def ask(self) -> None:
        """Run the job now, or once more when the run in flight is done."""
        if self._running:
            self._again = True
            return
        self._running = True
        self._task = asyncio.get_running_loop().create_task(self._run())
        self._keep(self._task)

    def cancel(self) -> None:
        """The answer to the run in flight is not wanted any more, and what was asked for meanwhile is not either."""
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        try:
            while True:
                self._again = False
                await self._job()
                if not self._again:
                    return
        finally:
            self._running = False


def cancel_all(*owners: object) -> None:
    """Cancel each job that is an attribute of one of these."""
    for owner in owners:
        for job in vars(owner).values():
            if isinstance(job, Newest):
                job.cancel()
