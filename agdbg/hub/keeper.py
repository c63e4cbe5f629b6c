"""The keeper: a tiny process that empties the program's terminal into a file, whatever becomes of the hub.

A program that writes to a terminal which nobody reads stands still. The hub may be busy, or be killed; the keeper has
no other task and waits for nobody. It is run as a script, by its path, and imports next to nothing, so that it is there
in a few milliseconds:

    python -I -S -E keeper.py MASTER LOG POKE PROGRAM

All four are descriptors: the terminal's master side (non-blocking), the file (appending), a socket to the hub
(non-blocking) that gets one byte when the file has grown, and a pidfd of the program. The keeper ends, with status 0,
when the program has ended and no process has the terminal open any more.

When the hub is dead, nobody can type to the program any more: whenever it reads, its input has come to its end.

What it has read and not yet written, at most 64 KiB, is lost when it is itself killed.
"""

import os
import select
import signal
import sys

_AT_ONCE = 1 << 16
_PAUSE_MS = 50  # between looks at a terminal that the program has closed, and may open again
_END_OF_INPUT, _END_MS = b"\x04", 500  # Ctrl-D, and how often it is pressed: one ends one read


def keep(master: int, log: "Log", hub: "Hub", program: int) -> None:
    """Move all that comes from ``master`` to the log until there can be no more."""
    ended = False
    while True:
        data = _read(master, hub)
        if data:
            log.write(data)
            hub.poke()
        elif ended:
            return
        else:
            ended = bool(_ready(program, _PAUSE_MS))


def _read(master: int, hub: "Hub") -> bytes:
    """What the terminal has to give, waited for; nothing when no process has its other side open."""
    while True:
        try:
            return os.read(master, _AT_ONCE)
        except BlockingIOError:
            if not hub.wait_beside(master):
                _press(master, _END_OF_INPUT)
        except OSError:  # EIO
            return b""


def _press(master: int, key: bytes) -> None:
    try:
        os.write(master, key)
    except OSError:  # so many are waiting there that no more fit
        return


def _ready(fd: int, milliseconds: int | None) -> object:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return poll.poll(milliseconds)


class Log:
    """The file. When it takes no more, a full disk say, what comes is counted, and told when it does again."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._lost = 0
        self._reason = ""

    def write(self, data: bytes) -> None:
        """Append ``data``, or count what cannot be. Never raises."""
        if self._lost and not self._tell():
            self._lost += len(data)
            return
        self._lost += self._unwritten(data)

    def _tell(self) -> bool:
        """Write how much was lost, all of it or nothing; False when that is not possible either."""
        note = f"\r\n[agdbg: {self._lost} bytes of output were lost here: {self._reason}]\r\n".encode()
        if left := self._unwritten(note):
            self._cut(len(note) - left)
            return False
        self._lost = 0
        return True

    def _unwritten(self, data: bytes) -> int:
        """Append as much of ``data`` as possible, and return how many bytes were not."""
        try:
            while data:
                data = data[os.write(self._fd, data) :]
        except OSError as error:
            self._reason = error.strerror or str(error)
        return len(data)

    def _cut(self, count: int) -> None:
        """Take back the last ``count`` bytes."""
        try:
            os.ftruncate(self._fd, os.fstat(self._fd).st_size - count)
        except OSError:
            return

    def close(self) -> None:
        """Tell of what was lost at the end, if possible."""
        if self._lost:
            self._tell()


class Hub:
    """The hub's ear, as long as there is a hub."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def poke(self) -> None:
        """Let the hub know. One that has not listened to the last pokes needs no other; a dead one gets none."""
        if self._fd < 0:
            return
        try:
            os.write(self._fd, b"+")
        except BlockingIOError:
            return
        except OSError:
            self._fd = -1

    def wait_beside(self, master: int) -> bool:
        """Wait for output; False when there is no hub to wait for, at once after its death and then now and then."""
        poll = select.poll()
        poll.register(master, select.POLLIN)
        if self._fd < 0:
            return bool(poll.poll(_END_MS))
        poll.register(self._fd, 0)  # its end is always told
        if any(fd == self._fd for fd, _ in poll.poll()):
            self._fd = -1
        return self._fd >= 0


def main(words: list[str]) -> None:
    """Keep, heedless of signals that may be meant for the hub."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_IGN)
    master, file, ear, program = map(int, words)
    log, hub = Log(file), Hub(ear)
    keep(master, log, hub, program)
    log.close()
    hub.poke()


if __name__ == "__main__":
    main(sys.argv[1:])
