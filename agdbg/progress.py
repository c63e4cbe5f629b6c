"""How far work that takes long has come: whoever does it says so here, and whoever waits for it may listen.

Nothing is said to nobody: without a listener in the thread that works, :func:`report` costs a look.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
#: What is done now, and how much of how much of it is; 0 of 0 where nobody knows.
Listener = Callable[[str, int, int], object]
#: Steps from one report to the next.
_EVERY = 512
_here = threading.local()


class Cancelled(BaseException):
    """The work is not wanted any more. No :class:`Exception`, so that nothing on the way takes it for an error of its own."""


@contextmanager
def heard_by(listener: Listener | None) -> Iterator[None]:
    """Let a listener hear what this thread reports; it may raise :class:`Cancelled`."""
    before, _here.listener = getattr(_here, "listener", None), listener
    try:
        yield
    finally:
        _here.listener = before


def report(text: str, done: int = 0, total: int = 0) -> None:
    """Say what is done now."""
    listener: Listener | None = getattr(_here, "listener", None)
    if listener is not None:
        listener(text, done, total)


def steps(items: Iterable[T], text: str, total: int) -> Iterator[T]:
    """The items, and now and then a report of how many of them are done."""
    for done, item in enumerate(items):
        if not done % _EVERY:
            report(text, done, total)
        yield item
