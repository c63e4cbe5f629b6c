"""Running a program under ``agdbg run`` in a process of its own, so that it may end as it likes."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from agdbg.errors import EndedBySignal
from agdbg.launch import boot

#: How long a child may take to end by an interrupt that was perhaps sent to the whole process group.
_GRACE_S = 1.0

#: The child does not outlive this process.
_THEN = """\
from agdbg.launch.orphan import end_with_parent
end_with_parent({pid})
"""


def run_recorded(
    program: list[str],
    trace: Path,
    *,
    output_to_stderr: bool = False,
    mention_trace: bool = True,
    options: Sequence[str] = (),
) -> int:
    """Run a script and its arguments headless, recorded to the directory ``trace``; return the exit status.

    It has the standard streams of this process, and ends when this process does. A negative status is the number
    of the signal that ended it.

    Args:
        program: the script and its arguments.
        trace: an empty directory.
        output_to_stderr: send what it prints to standard error, because standard output is for the result.
        mention_trace: let it say where the trace is.
        options: more options of ``agdbg run``.

    Raises:
        EndedBySignal: this process was asked to end, and so was the child, which has ended.
    """
    options = ["--headless", "--trace", str(trace), *([] if mention_trace else ["--unmentioned"]), *options]
    interpreter = boot.command(_THEN.format(pid=os.getpid()) + boot.CLI)
    command = [*interpreter, "run", *options, *program]
    stderr = subprocess.DEVNULL if sys.stderr is None else sys.stderr.fileno()
    child = subprocess.Popen(command, stdout=stderr if output_to_stderr else None)
    return _wait(child)


def _wait(child: "subprocess.Popen[bytes]") -> int:
    """Wait for the child; signals that ask this process to end are for the child first.

    Raises:
        EndedBySignal: such a signal came, and the child has ended.
    """
    ended: EndedBySignal | None = None
    status: int | None = None
    patience: float | None = None
    while status is None:
        try:
            status = child.wait(patience)
        except KeyboardInterrupt:  # Ctrl-C at a terminal goes to both; what was recorded until then is of use
            patience = None if _is_in_foreground() else _GRACE_S
        except subprocess.TimeoutExpired:
            patience = None
            child.send_signal(signal.SIGINT)
        except EndedBySignal as signalled:
            ended = signalled
            child.send_signal(signalled.number)
    if ended is not None:
        raise ended
    return status


def _is_in_foreground() -> bool:
    """True when the keyboard of a terminal interrupts this process and the child."""
    try:
        with open("/dev/tty", "rb") as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except (OSError, AttributeError):
        return False


def how_it_ended(status: int) -> str:
    """``exited with status 1``, ``was ended by SIGKILL``."""
    if status >= 0:
        return f"exited with status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"
