"""Memory that a stream still uses when nobody else does: it goes back to its pool when the stream is done with it.

A pool gives memory of the device that is free to whoever asks next on the stream that it belongs to, and other streams may still
read it; pinned memory it gives to anybody at once, and a copy may still go on.
"""

from __future__ import annotations

import weakref
from collections import deque
from typing import Any

from .device import owner
from .streams import Stream

_waiting: deque[tuple[Any, Any]] = deque()
"""Events, each with memory that may be used again when the event has happened."""


def record(array: Any, stream: Stream) -> None:
    """What ``stream`` has been asked for when the memory of ``array`` would be free must be done before it is."""
    whole = owner(array)
    weakref.finalize(whole, hold, stream, whole.data).atexit = False


def hold(stream: Stream, memory: Any) -> None:
    """Keep ``memory`` until ``stream`` has done what it was asked for so far."""
    with stream.at_home():
        _waiting.append((stream.raw.record(), memory))
    release()


def release(wait: bool = False) -> bool:
    """Let go what nobody uses any more, or with ``wait`` everything, which is waited for; whether there was something."""
    found = False
    for _ in range(len(_waiting)):
        try:
            event, memory = _waiting.popleft()
        except IndexError:  # another thread was faster
            break
        if wait:
            event.synchronize()
        if wait or event.done:
            found = True
            del memory
        else:
            _waiting.append((event, memory))
    return found
