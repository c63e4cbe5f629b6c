"""Backward called while backward runs: however deep passes are nested, no thread runs out of stack.

A nested pass runs in the thread of its parent. Where the stack is getting deep it is handed to a fresh thread, which has a
stack of its own and otherwise everything that this thread has (modes, context variables), while this one waits.
"""

from __future__ import annotations

import contextvars
import ctypes
import sys
import threading
from collections.abc import Callable

from .grad_mode import mode

MOST_FRAMES = 400
"""A nested pass moves on to another thread from here on."""


def stack_is_deep() -> bool:
    """Whether this thread has used up half of what the interpreter, or we, allow it."""
    most = min(MOST_FRAMES, sys.getrecursionlimit() // 2)
    frame = sys._getframe(1)
    for _ in range(most):
        if frame.f_back is None:
            return False
        frame = frame.f_back
    return True


def elsewhere(function: Callable[[], None]) -> None:
    """Call ``function`` in a fresh thread and wait for it; raises what it raises.

    An interrupt of this thread (Ctrl-C) is passed on to where the work is done, and comes back from there.
    """
    job, parent = _Job(function), _running.job
    if parent is not None:
        parent.child = job
    try:
        interrupt = _wait(job)
    finally:
        if parent is not None:
            parent.child = None
    if job.failed:
        raise job.failed[0]
    if interrupt is not None:  # it came too late to stop anything
        raise interrupt


class _Job:
    """A call that runs in a thread of its own."""

    def __init__(self, function: Callable[[], None]) -> None:
        self.function = function
        self.modes = vars(mode).copy()
        self.context = contextvars.copy_context()
        self.child: _Job | None = None
        """The job that this one waits for."""
        self.failed: list[BaseException] = []
        self.done = threading.Event()
        self._claimed = threading.Lock()
        self._state = threading.Lock()
        self._thread: int | None = None
        self._ended = False
        self._stop: type[BaseException] | None = None

    def body(self) -> None:
        """What the thread runs; only the first of several that were started does anything."""
        if not self._claimed.acquire(blocking=False):
            return
        try:
            self._work()
        except BaseException as error:
            self.failed.append(error)
        finally:
            self.done.set()

    def _work(self) -> None:
        try:
            with self._state:
                self._thread = threading.get_ident()
                if self._stop is not None:
                    raise self._stop
            vars(mode).update(self.modes)
            _running.job = self
            self.context.run(self.function)
        finally:
            with self._state:
                self._ended = True

    def interrupt(self, kind: type[BaseException]) -> bool:
        """Raise a ``kind`` in the thread of this job, or of the innermost it waits for; false when all have ended."""
        child = self.child
        if child is not None and child.interrupt(kind):
            return True
        with self._state:
            if self._ended:
                return False
            if self._thread is None:
                self._stop = kind
            else:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread), ctypes.py_object(kind))
            return True


_LOOK = 0.1
"""Seconds after which a waiting thread looks for signals: one that comes right before it begins to wait does not wake it."""


class _Running(threading.local):
    job: _Job | None = None


_running = _Running()


def _wait(job: _Job) -> BaseException | None:
    """Have ``job`` done; returns what interrupted the waiting, if anything."""
    interrupt: BaseException | None = None
    started = False
    while not job.done.is_set():
        try:
            if not started:  # an interrupted start is repeated: nobody knows how far it came
                threading.Thread(target=job.body, name="backward", daemon=True).start()
                started = True
            job.done.wait(_LOOK)
        except BaseException as error:
            if isinstance(error, RuntimeError) and not started:  # no more threads
                raise
            interrupt = error
            job.interrupt(type(error))
    return interrupt
