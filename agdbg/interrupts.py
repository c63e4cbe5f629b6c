"""Ctrl-C while a command has nothing yet that must be tidied up: the process ends at once, and prints nothing.

Python's own way, a ``KeyboardInterrupt``, prints a traceback through whatever is being imported just then.
"""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_last: int | None = None
_ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


def hush() -> None:
    """From here on SIGINT ends this process as it ends one that does nothing about it; one that is ignored stays so."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def hear() -> None:
    """From here on SIGINT is a ``KeyboardInterrupt`` again."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def heard() -> Iterator[None]:
    """Let SIGINT be a ``KeyboardInterrupt`` for the time of a command that may have something to tidy up."""
    before = signal.getsignal(signal.SIGINT)
    if before not in (signal.SIG_DFL, signal.default_int_handler):
        yield
        return
    signal.signal(signal.SIGINT, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def note(number: int) -> None:
    """A signal has come that is about to be raised as an error."""
    global _last
    _last = number


def last() -> int | None:
    """The signal that came last. A module that it hit while it was loaded may have made another error of it, as NumPy does."""
    return _last


def _interrupt(number: int, frame: FrameType | None) -> None:
    note(number)
    raise KeyboardInterrupt


@contextmanager
def tidied(tidy: Callable[[], object]) -> Iterator[None]:
    """Let the signals that end a process do so at once and quietly, but for ``tidy``, which is called before."""

    def end(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        tidy()
        os.kill(os.getpid(), number)

    before = {number: signal.getsignal(number) for number in _ENDING}
    heard = [number for number in _ENDING if before[number] in (signal.SIG_DFL, signal.default_int_handler)]
    for number in heard:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, signal.SIG_DFL)
