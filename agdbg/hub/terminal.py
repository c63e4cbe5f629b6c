"""The hub's side of the program's terminal: its size, and what is typed."""

import os
import termios

from agdbg.errors import InputError

#: How many bytes of input may wait for a program that does not read them.
INPUT_LIMIT = 1 << 20
_IUTF8 = 0o40000  # Linux: a backspace takes a whole character; termios has no name for it


class Terminal:
    """A new terminal. All methods return at once.

    Attributes:
        master: its master side, non-blocking. The keeper reads it.
        slave: the program's side, until :meth:`hand_over`; -1 then.
        path: of the program's side.

    Args:
        echo: it shows what is typed.

    Raises:
        OSError: there can be no more terminals or descriptors.
    """

    def __init__(self, *, echo: bool = True) -> None:
        self.master, self.slave = os.openpty()
        self.path = os.ttyname(self.slave)
        self._waiting = bytearray()
        os.set_blocking(self.master, False)
        _set_up(self.slave, echo)

    def resize(self, columns: int, rows: int) -> None:
        """Give it another size; the program gets SIGWINCH.

        Raises:
            InputError: no terminal can have that size.
        """
        for name, value in (("columns", columns), ("rows", rows)):
            if not 0 < value < 1 << 16:
                raise InputError(f"{name} {value}: a terminal has between 1 and 65535")
        termios.tcsetwinsize(self.master, (rows, columns))

    def hand_over(self) -> None:
        """Close the program's side: the program has it open by now. One that nobody has open looks like at its end."""
        if self.slave >= 0:
            os.close(self.slave)
        self.slave = -1

    def send(self, data: bytes) -> None:
        """Type ``data``; what the terminal does not take at once waits.

        Raises:
            InputError: too much is waiting, since the program does not read; nothing of ``data`` was taken.
        """
        if len(self._waiting) + len(data) > INPUT_LIMIT:
            raise InputError(
                f"cannot type {len(data)} bytes: {len(self._waiting)} wait already for the program to read them, and "
                f"at most {INPUT_LIMIT} may; type less at once"
            )
        self._waiting += data
        self.flush()

    @property
    def wants_write(self) -> bool:
        """Input is waiting: call :meth:`flush` when :attr:`master` is writable."""
        return bool(self._waiting)

    def flush(self) -> None:
        """Hand on what the terminal takes now. When no process has it open any more, there is nobody to type for."""
        try:
            while self._waiting:
                del self._waiting[: os.write(self.master, self._waiting)]
        except BlockingIOError:
            return
        except OSError:
            self._waiting.clear()

    def close(self) -> None:
        """Close it. When no keeper has it open either, the program gets SIGHUP."""
        self.hand_over()
        os.close(self.master)


def _set_up(terminal: int, echo: bool) -> None:
    """Let the line editor of the terminal know that characters may have more than one byte, and whether to show what is typed."""
    attributes = termios.tcgetattr(terminal)
    attributes[0] |= _IUTF8
    if not echo:
        attributes[3] &= ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSANOW, attributes)
