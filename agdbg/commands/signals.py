"""Signals that end a process, turned into an error, so that what is temporary is removed first."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from agdbg import interrupts
from agdbg.errors import EndedBySignal

#: The signals by which a process is asked to end, as far as this system has them; Ctrl-C is Python's own.
ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextmanager
def raised() -> Iterator[None]:
    """Let the signals of :data:`ENDING` raise :class:`EndedBySignal`; one that is ignored stays so (``nohup``)."""
    before = {number: signal.getsignal(number) for number in ENDING}
    heard = [number for number in ENDING if before[number] == signal.SIG_DFL]
    for number in heard:
        signal.signal(number, _raise)
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, before[number])


def _raise(number: int, frame: FrameType | None) -> None:
    interrupts.note(number)
    raise EndedBySignal(number)
