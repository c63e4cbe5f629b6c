"""Work that takes its time, in a thread beside the loop: reading the trace, drawing, diagnosing. It can be cancelled."""

import queue
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from agdbg.hub.loop import Loop
from agdbg.progress import Cancelled, Listener, heard_by

T = TypeVar("T")
#: What is told of a job: its result, or the error that it ended with.
Done = Callable[[Any, BaseException | None], object]
Work = Callable[[], Any]


class Job:
    """Work that a worker was given."""

    def __init__(self, work: Work, done: Done, listener: Listener | None, interrupted: Callable[[], object]) -> None:
        self._work, self._listener, self._interrupted = work, listener, interrupted
        self.done = done
        self._lock = threading.Lock()
        self._thread: int | None = None
        self._is_cancelled = self._has_begun = self._is_over = False

    def cancel(self) -> None:
        """End it: what has not begun never does, what runs is broken off in its thread at its next step. Again is no harm.

        A step is an instruction of Python. What NumPy or a disk does goes on until that is done.
        """
        with self._lock:
            if self._is_over or self._is_cancelled:
                return
            self._is_cancelled = True
            if self._thread is not None:
                _raise_in(self._thread, Cancelled)  # once: nothing is there to catch a second one

    def run(self) -> tuple[Any, BaseException | None]:
        """In the thread of the worker: do it; the result, or the error."""
        try:
            result, error = self._outcome()
        except Cancelled as cancelled:
            result, error = None, cancelled
        while True:
            try:
                self._finish()
                break
            except Cancelled as cancelled:  # it came when the work was done
                result, error = None, cancelled
        if self._has_begun and isinstance(error, Cancelled):
            self._interrupted()
        return result, error

    def _outcome(self) -> tuple[Any, BaseException | None]:
        with self._lock:
            if self._is_cancelled:
                return None, Cancelled()
            self._thread, self._has_begun = threading.get_ident(), True
        try:
            with heard_by(self._hear):
                return self._work(), None
        except Exception as error:
            return None, error

    def _hear(self, text: str, done: int, total: int) -> None:
        """Python drops an exception that arrives in a destructor, so it is raised here again."""
        if self._is_cancelled:
            raise Cancelled
        if self._listener is not None:
            self._listener(text, done, total)

    def _finish(self) -> None:
        """From here on nothing arrives any more."""
        with self._lock:
            self._is_over = True
        if self._is_cancelled and self._has_begun:
            _settle()


class Worker:
    """One thread that does jobs in the order in which they were given; what they give comes back through the loop.

    It does not keep the process alive: a drawing that takes a minute is cut off when the hub ends.
    """

    def __init__(self, loop: Loop, name: str) -> None:
        self._loop = loop
        self._name = name
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._given = 0  # jobs whose end was not told yet
        self._thread: threading.Thread | None = None

    def do(
        self,
        job: Callable[[], T],
        done: Callable[[T, BaseException | None], object],
        listener: Listener | None = None,
        interrupted: Callable[[], object] = lambda: None,
    ) -> Job:
        """Call ``job`` in the thread, and then ``done(result, error)`` in the loop; one of the two is None.

        ``listener`` hears, in the thread, what the job reports, and ``interrupted`` is called there when it was cancelled.
        """
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
        made = Job(job, done, listener, interrupted)
        self._given += 1
        self._jobs.put(made)
        return made

    @property
    def is_idle(self) -> bool:
        """For the thread of the loop: whether all jobs are done, and that was told."""
        return not self._given

    def close(self) -> None:
        """Take no more jobs."""
        if self._thread is not None:
            self._jobs.put(None)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            result, error = job.run()
            self._loop.post(partial(self._tell, job, result, error))

    def _tell(self, job: Job, result: Any, error: BaseException | None) -> None:
        self._given -= 1
        job.done(result, error)


class _Settled(BaseException):
    """Has no meaning but that it has arrived."""


def _settle() -> None:
    """See to it that nothing is on its way to this thread: only one exception can be, and this one arrives here.

    To take one back, as Python allows, would leave its interpreter in the belief that one is on its way: it looks for it at
    every call from then on, and in CPython 3.11 a function that is traced would never begin.
    """
    try:
        _raise_in(threading.get_ident(), _Settled)
        while True:
            pass
    except _Settled:
        return


def _raise_in(thread: int, error: type[BaseException]) -> None:
    """Let a thread raise an error at its next instruction."""
    import ctypes  # not before something is cancelled

    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))
