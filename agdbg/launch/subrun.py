"""Running a program under ``agdbg run`` in a process of its own, so that it may end as it likes."""

import signal
import subprocess
import sys
from pathlib import Path

import agdbg

#: The child imports this very agdbg, wherever it lies, and nothing from the current directory.
_BOOT = """\
import sys
sys.path[: not sys.flags.safe_path] = [{parent!r}]
from agdbg.cli import main
if sys.flags.safe_path:
    del sys.path[0]
sys.exit(main())"""


def run_recorded(program: list[str], trace: Path, *, output_to_stderr: bool = False, mention_trace: bool = True) -> int:
    """Run a script and its arguments headless, recorded to the directory ``trace``; return the exit status.

    It has the standard streams of this process. A negative status is the number of the signal that ended it.

    Args:
        program: the script and its arguments.
        trace: an empty directory.
        output_to_stderr: send what it prints to standard error, because standard output is for the result.
        mention_trace: let it say where the trace is.
    """
    boot = _BOOT.format(parent=str(Path(agdbg.__file__).resolve().parents[1]))
    flags: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    options = ["--headless", "--trace", str(trace), *([] if mention_trace else ["--unmentioned"])]
    command = [sys.executable, *flags, "-c", boot, "run", *options, *program]
    child = subprocess.Popen(command, stdout=sys.stderr.fileno() if output_to_stderr else None)
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:  # Ctrl-C is for the program; what it recorded until then is of use
            continue


def how_it_ended(status: int) -> str:
    """``exited with status 1``, ``was ended by SIGKILL``."""
    if status >= 0:
        return f"exited with status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"
