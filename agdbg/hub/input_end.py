"""The end of a program's input at a terminal, which knows no end: it is typed again when the program has taken the last."""

import os
import select
import termios
from collections.abc import Callable

from agdbg.hub.loop import Loop, Timer

_END = b"\x04"  # Ctrl-D, unless the program has chosen another key
_ENTER = b"\r"
#: Seconds between looks whether the last end was taken: soon after one was, later and later while it lies there.
_SOON_S, _LATE_S = 0.005, 0.25
_LOCAL_FLAGS, _KEYS = 3, 6  # in the list that termios gives


class InputEnd:
    """Keeps one end of input lying at a terminal, whatever mode the terminal is in.

    A key for the end that was typed while the terminal collected lines is none for a program that takes the keys one by one
    later, as readline does: so ends cannot be typed in advance.

    Args:
        loop: calls us.
        slave: the path of the program's side.
        send: types.
        is_typing: says whether something still waits to be typed.
        ends_a_line: the input ended with a whole line.
    """

    def __init__(
        self,
        loop: Loop,
        slave: str,
        send: Callable[[bytes], object],
        is_typing: Callable[[], bool],
        *,
        ends_a_line: bool,
    ) -> None:
        self._loop, self._slave, self._send, self._is_typing = loop, slave, send, is_typing
        self._ends_a_line = ends_a_line
        self._pause = _SOON_S
        self._timer: Timer | None = None

    def begin(self) -> None:
        """Type the end now, and again when it was taken."""
        self._timer = None
        key = b"" if self._is_typing() else self._wanted()
        if key is None:
            return
        if key:
            self._send(key)
        self._pause = _SOON_S if key else min(2 * self._pause, _LATE_S)
        self._timer = self._loop.after(self._pause, self.begin)

    def close(self) -> None:
        """Type no more."""
        if self._timer is not None:
            self._timer.cancel()

    def _wanted(self) -> bytes | None:
        """The key to type; empty while there is something to read, None when there is no such terminal any more."""
        try:
            slave = os.open(self._slave, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            poll = select.poll()
            poll.register(slave, select.POLLIN)
            return b"" if poll.poll(0) else self._key(termios.tcgetattr(slave))
        except (OSError, termios.error):
            return None
        finally:
            os.close(slave)

    def _key(self, attributes: list[int | list[bytes | int]]) -> bytes:
        """The key that ends the input; readers of keys take it only on an empty line, so a last line without an end gets one."""
        flags, keys = attributes[_LOCAL_FLAGS], attributes[_KEYS]
        assert isinstance(flags, int) and isinstance(keys, list)
        collects_lines = bool(flags & termios.ICANON)
        if not collects_lines and not self._ends_a_line:
            self._ends_a_line = True
            return _ENTER
        own = keys[termios.VEOF]
        return own if collects_lines and isinstance(own, bytes) and own.strip(b"\0") else _END
