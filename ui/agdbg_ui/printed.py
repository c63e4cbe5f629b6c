"""Program output on its way to the screen: many small pieces become few, and a flood does not fill memory."""

import asyncio
from collections import deque
from collections.abc import Callable

#: Characters kept until the next time the screen is drawn; the whole output is in a file of the trace.
MOST = 1 << 20
#: How often output goes to the screen, in seconds.
EVERY_S = 0.05


class Waiting:
    """Text waiting to be shown; beyond `most` characters the oldest pieces are dropped, and that is said."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._pieces: deque[str] = deque()
        self._size = self._dropped = 0

    def __bool__(self) -> bool:
        return bool(self._pieces)

    def add(self, text: str) -> None:
        """More output."""
        if not text:
            return
        self._pieces.append(text)
        self._size += len(text)
        while self._size > self._most and len(self._pieces) > 1:
            gone = len(self._pieces.popleft())
            self._size -= gone
            self._dropped += gone

    def take(self) -> str:
        """All that waits, and nothing waits any more."""
        text = "".join(self._pieces)
        if self._dropped:
            text = f"\n[{self._dropped:,} characters not shown]\n{text}"
        self._pieces.clear()
        self._size = self._dropped = 0
        return text


class OutputGate:
    """Lets output through at most every `EVERY_S`; nothing runs while there is none.

    Args:
        show: takes the text.
    """

    def __init__(self, show: Callable[[str], object]) -> None:
        self._show = show
        self._waiting = Waiting()
        self._timer: asyncio.TimerHandle | None = None

    def add(self, text: str) -> None:
        """More output."""
        self._waiting.add(text)
        if self._timer is None and self._waiting:
            self._timer = asyncio.get_running_loop().call_later(EVERY_S, self._open)

    def restart(self, text: str) -> None:
        """Show this instead of what waits, which is a part of it."""
        self._waiting.take()
        self.add(text)

    def flush(self) -> None:
        """Show what waits now."""
        self.close()
        self._open()

    def close(self) -> None:
        """Show nothing any more."""
        if self._timer is not None:
            self._timer.cancel()

    def _open(self) -> None:
        self._timer = None
        if self._waiting:
            self._show(self._waiting.take())
