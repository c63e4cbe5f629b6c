"""Gives the terminal back when the terminal UI is killed so that it cannot (``kill -9``, no memory): a process of its own.

It waits at a pipe whose other end only the UI has. A byte there says that the UI gives the terminal back itself; an end
without one, that it is gone. The modes of the terminal are put back only where they are still those of the UI: the shell
may have been faster.
"""

import os
import sys
import termios
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

#: Off: mouse, focus, pasted text in brackets, size reports, the keyboard's protocol; on: line wrap, the cursor, the main screen.
RESTORE = (
    b"\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l\x1b[?1004l\x1b[?2004l\x1b[?2048l\x1b[<u"
    b"\x1b[?7h\x1b[0m\x1b[?1049l\x1b[?25h"
)
TOLD = "\r\nagdbg: the terminal UI was killed; this is your terminal again; agdbg attach joins a program that it has left\r\n"
#: Numbers that are no control characters in front of those, as `termios.tcgetattr` has them.
_NUMBERS = 6


def packed(attributes: Sequence[object]) -> str:
    """The modes of a terminal, as `termios.tcgetattr` has them, in one word."""
    numbers, characters = attributes[:_NUMBERS], attributes[_NUMBERS]
    assert isinstance(characters, list)
    codes = [each[0] if isinstance(each, bytes) else each for each in characters]
    return ",".join(map(str, [*numbers, *codes]))


def unpacked(word: str) -> list[Any]:
    """The modes in a word that `packed` has made."""
    numbers = [int(each) for each in word.split(",")]
    return [*numbers[:_NUMBERS], numbers[_NUMBERS:]]


def watch(before: str) -> None:
    """Wait at standard input until the UI has said good-bye or is gone; the terminal is standard output."""
    try:
        during = packed(termios.tcgetattr(1))
    except termios.error:
        during = ""
    if os.read(0, 1):
        return
    with suppress(OSError):  # the terminal is gone as well
        os.write(1, RESTORE)
    with suppress(termios.error, OSError):
        if before and during == packed(termios.tcgetattr(1)):
            termios.tcsetattr(1, termios.TCSANOW, unpacked(before))
    with suppress(OSError):
        os.write(1, TOLD.encode())


class Guard:
    """The process, as the UI sees it.

    Args:
        terminal: a descriptor of the terminal.
        before: its modes as they are to be afterwards; None: not known.
    """

    def __init__(self, terminal: int, before: Sequence[object] | None) -> None:
        waits, self._says = os.pipe()
        try:
            self._pid = os.posix_spawn(
                sys.executable,
                [sys.executable, "-I", "-S", __file__, "" if before is None else packed(before)],
                dict(os.environ),
                file_actions=[(os.POSIX_SPAWN_DUP2, waits, 0), (os.POSIX_SPAWN_DUP2, terminal, 1)],
                setsid=True,  # what ends this process need not end that one
            )
        except BaseException:
            os.close(self._says)
            raise
        finally:
            os.close(waits)

    def dismiss(self) -> None:
        """The terminal is given back: there is nothing more to do."""
        with suppress(OSError):  # it is gone
            os.write(self._says, b"x")
        os.close(self._says)
        with suppress(ChildProcessError):
            os.waitpid(self._pid, 0)


if __name__ == "__main__":
    watch(sys.argv[1])
