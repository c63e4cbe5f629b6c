"""The keeper: a tiny process that empties the program's terminal into a file, whatever becomes of the hub.

A program that writes to a terminal which nobody reads stands still. The hub may be busy, or be killed; the keeper has
no other task and waits for nobody. It is run as a script, by its path, and imports next to nothing, so that it is there
in a few milliseconds:

    python -I -S -E keeper.py MASTER LOG POKE PROGRAM SPARE

All are descriptors: the terminal's master side (non-blocking), the file (appending), a socket to the hub
(non-blocking) that gets one byte when the file has grown, a pidfd of the program, and a file in memory for what the
file does not take. The keeper ends, with status 0,
when the program has ended and no process has the terminal open any more.

When the hub is dead, nobody can type to the program any more: whenever it reads, its input has come to its end.

What it has read and not yet written, at most 64 KiB, is lost when it is itself killed.
"""

import os
import select
import signal
import sys

_AT_ONCE = 1 << 16
_SPARE, _BLOCK = 16 << 20, 512  # bytes that are kept in memory, and in a block of what a file takes
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
    """The file. What it does not take, on a full disk say, is kept in memory, where the hub reads it too, at the same offset.

    When the file takes something again, it gets that first. When there is too much of it, what comes is counted, and told
    when the file takes something again, or in memory at the end.
    """

    def __init__(self, fd: int, spare: int) -> None:
        self._fd, self._spare = fd, spare
        self._lost = 0
        self._reason = ""

    def write(self, data: bytes) -> None:
        """Append ``data``, or keep it in memory, or count it. Never raises."""
        if not self._catch_up():
            self._hold(data)
        elif left := self._unwritten(data):
            self._hold(data[-left:])

    def _catch_up(self) -> bool:
        """Let the file have what it did not take before; False when that is not possible."""
        while (held := self._held()) > 0:
            data = os.pread(self._spare, min(held, _AT_ONCE), os.fstat(self._fd).st_size)
            if self._unwritten(data):
                return False
        return not self._lost or self._tell()

    def _held(self) -> int:
        """So many bytes are only in memory."""
        return os.fstat(self._spare).st_size - os.fstat(self._fd).st_size

    def _hold(self, data: bytes, most: int = _SPARE) -> None:
        """Keep in memory what follows in the file once that takes it, or count it."""
        start = max(os.fstat(self._spare).st_size, os.fstat(self._fd).st_size)
        used = os.fstat(self._spare).st_blocks * _BLOCK
        if self._lost or used + len(data) > most:
            self._lost += len(data)
            return
        try:
            while data:
                count = os.pwrite(self._spare, data, start)
                data, start = data[count:], start + count
        except OSError:
            self._lost += len(data)

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
        """Tell of what is not in the file, there if possible, else to those who still look."""
        if self._catch_up():
            return
        lost, self._lost = self._lost, 0
        end = f", {lost} of them were lost here" if lost else ""
        count = lost + max(0, self._held())
        note = f"\r\n[agdbg: {count} bytes of output are not in output.log{end}: {self._reason}]\r\n"
        self._hold(note.encode(), 2 * _SPARE)


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
    master, file, ear, program, spare = map(int, words)
    log, hub = Log(file, spare), Hub(ear)
    keep(master, log, hub, program)
    log.close()
    hub.poke()


if __name__ == "__main__":
    main(sys.argv[1:])
