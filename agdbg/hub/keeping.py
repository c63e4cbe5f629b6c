"""Having the program's output kept: the hub's side of the keeper."""

import os
import socket
import subprocess
import sys
from pathlib import Path

from agdbg.hub import keeper

#: Processes that run on when the hub has done with them. Dropped, they would each give a ResourceWarning.
_left: "list[subprocess.Popen[bytes]]" = []


def leave(process: "subprocess.Popen[bytes] | None") -> None:
    """Let a process run on; one that has ended leaves no zombie."""
    if process is not None and process.poll() is None:
        _left.append(process)


class Keeping:
    """A keeper, and another one when it was killed.

    Args:
        output: the file to append to; it is made.

    Attributes:
        spare: a file in memory with what that file has not taken, at the same offsets.

    Raises:
        OSError: the file cannot be made.
    """

    def __init__(self, output: Path) -> None:
        self._log = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        self.spare = os.memfd_create(output.name)
        self._handed: tuple[int, int] = (-1, -1)
        self._keeper: subprocess.Popen[bytes] | None = None
        self._wakeup: socket.socket | None = None

    def start(self, master: int, program: int) -> None:
        """Start the keeper.

        Args:
            master: the master side of the terminal.
            program: a pidfd of the program.

        Raises:
            OSError: too many processes or descriptors.
        """
        self._handed = (master, program)
        ours, theirs = socket.socketpair()
        with theirs:
            ours.setblocking(False)
            theirs.setblocking(False)
            try:
                self._keeper = _spawned(master, self._log, theirs.fileno(), program, self.spare)
            except OSError:
                ours.close()
                raise
        self._wakeup = ours

    @property
    def pid(self) -> int:
        """The keeper's process number; 0 before the start."""
        return 0 if self._keeper is None else self._keeper.pid

    @property
    def wakeup(self) -> int:
        """See :attr:`agdbg.hub.program.Program.wakeup`."""
        assert self._wakeup is not None, "the program was not started"
        return self._wakeup.fileno()

    def mend(self) -> bool:
        """See :meth:`agdbg.hub.program.Program.mend_keeper`."""
        if self._keeper is None or self._wakeup is None or not _is_at_end(self._wakeup):
            return False
        status = self._keeper.wait()  # it closes its socket by ending, so this takes no time
        if status > 0:  # the next one would end like it
            raise OSError(f"the process that keeps the program's output failed with status {status}")
        if status == 0:
            return False
        former = self._wakeup
        self.start(*self._handed)
        former.close()
        return True

    def close(self) -> None:
        """Close the hub's descriptors; the keeper has its own."""
        os.close(self._log)
        os.close(self.spare)
        leave(self._keeper)
        if self._wakeup is not None:
            self._wakeup.close()


def _spawned(*handed: int) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-E", keeper.__file__, *map(str, handed)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=handed,
        start_new_session=True,
        cwd="/",
    )


def _is_at_end(ear: socket.socket) -> bool:
    """True when the other side is closed; what it said before is taken."""
    try:
        while ear.recv(1 << 12):
            pass
    except BlockingIOError:
        return False
    return True
