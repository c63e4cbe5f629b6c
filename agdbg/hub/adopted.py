"""A program that runs already, in a process that the hub has not started and whose terminal is its own."""

import json
import os
import select
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agdbg.errors import InputError
from agdbg.hub.output import OUTPUT_FILE
from agdbg.hub.program import Exit, Program
from agdbg.hub.tracedir import TraceDirectory

if TYPE_CHECKING:
    from agdbg.hub.session import Session

_META = "meta.json"
_ITS_OWN = "the program was not started by this hub and has its own terminal: {} there"


class Adopted:
    """Stands where :class:`agdbg.hub.program.Program` does, for a program that has called ``agdbg.listen()``.

    Args:
        pid: its process number.
        trace: the directory of the trace.

    Raises:
        InputError: there is no such process, or this user may not watch it.
    """

    wants_write = False
    master = -1
    terminal_path = ""
    spare = -1

    def __init__(self, pid: int, trace: Path) -> None:
        self.output = trace / OUTPUT_FILE  # nobody writes it: what the program prints goes where it did
        self.pid = pid
        self._trace = trace
        try:
            self.ended = os.pidfd_open(pid)
        except OSError as error:
            raise InputError(f"--adopt {pid}: {error.strerror or error}") from None
        self.wakeup, nobody = os.pipe()
        os.close(nobody)  # at its end from the start: there is no output to wait for

    def start(self) -> None:
        """It has started by itself."""

    def send(self, data: bytes) -> None:
        """Refuse to type.

        Raises:
            InputError: always.
        """
        raise InputError(f"cannot type {len(data)} bytes: {_ITS_OWN.format('type')}")

    def flush_input(self) -> None:
        """Nothing waits."""

    def resize(self, columns: int, rows: int) -> None:
        """Refuse to change the size.

        Raises:
            InputError: always.
        """
        raise InputError(f"cannot make it {columns} x {rows}: {_ITS_OWN.format('change its size')}")

    def mend_keeper(self) -> bool:
        """There is none."""
        return False

    def exit(self) -> Exit | None:
        """How it ended, as far as it has told in its trace: the system tells only a parent. None: it runs."""
        poll = select.poll()
        poll.register(self.ended, select.POLLIN)
        return Exit(_status_in(self._trace), None) if poll.poll(0) else None

    def terminate(self) -> None:
        """Ask it to end: SIGTERM, to this process alone."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it: SIGKILL."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        try:
            signal.pidfd_send_signal(self.ended, number)
        except (ProcessLookupError, PermissionError):
            return

    def close(self) -> None:
        """Look away. May be called again."""
        if self.ended >= 0:
            os.close(self.ended)
            os.close(self.wakeup)
        self.ended = self.wakeup = -1


def _status_in(trace: Path) -> int | None:
    try:
        status = json.loads((trace / _META).read_text(encoding="utf-8"))["exit"]["status"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return status if isinstance(status, int) else None


AnyProgram = Program | Adopted


def adopt(session: "Session", told: dict[str, Any]) -> None:
    """Let a hub look after the program that ``told`` tells of: ``pid``, ``trace``, ``argv``, ``cwd``, ``onOrphan``.

    Raises:
        InputError: it cannot be watched.
    """
    trace = Path(told["trace"])
    program = Adopted(int(told["pid"]), trace)
    directory = TraceDirectory(trace, is_ours=False)
    session.adopt(program, directory, list(told["argv"]), str(told["cwd"]), told["onOrphan"] == "wait")
