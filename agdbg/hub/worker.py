"""Work that takes its time, in a thread beside the loop: reading the trace, drawing, diagnosing."""

import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from agdbg.hub.loop import Loop

T = TypeVar("T")
#: What is told of a job: its result, or the error that it ended with.
Done = Callable[[Any, Exception | None], object]


class Worker:
    """One thread that does jobs in the order in which they were given; what they give comes back through the loop.

    It does not keep the process alive: a drawing that takes a minute is cut off when the hub ends.
    """

    def __init__(self, loop: Loop, name: str) -> None:
        self._loop = loop
        self._name = name
        self._jobs: queue.SimpleQueue[tuple[Callable[[], Any], Done] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def do(self, job: Callable[[], T], done: Callable[[T, Exception | None], object]) -> None:
        """Call ``job`` in the thread, and then ``done(result, error)`` in the loop; one of the two is None."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
        self._jobs.put((job, done))

    def close(self) -> None:
        """Take no more jobs."""
        if self._thread is not None:
            self._jobs.put(None)

    def _run(self) -> None:
        while (given := self._jobs.get()) is not None:
            job, done = given
            result, error = _outcome(job)
            self._loop.post(lambda done=done, result=result, error=error: done(result, error))  # type: ignore[misc]  # mypy infers no lambda with defaults


def _outcome(job: Callable[[], T]) -> tuple[T | None, Exception | None]:
    try:
        return job(), None
    except Exception as error:
        return None, error
