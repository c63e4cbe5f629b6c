"""How a recording ended, as far as ``meta.json`` and this machine tell."""

import os
import sys
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from agdbg.record.format import RECORDS_FILE
from agdbg.record.reader import Trace

State = Literal["closed", "stopped", "running", "killed", "unknown"]

_SENTENCES: dict[State, str] = {
    "closed": "",
    "stopped": "recording stopped early ({reason}): what came later is not in the trace",
    "running": "the program has not ended: this is what it has recorded so far",
    "killed": "the program was killed, or ended without a word to Python: what it did last may not be in the trace",
    "unknown": "the trace is not closed: the program was killed or still runs, so there may be more",
}
_SECONDS_OF_DOUBT = 2.0  # the start of the trace is written in whole seconds


@dataclass(frozen=True)
class Ending:
    """The end of a recording.

    Attributes:
        state: ``closed``: all is there; ``stopped``: agdbg gave up while the program went on; ``running``: this
            machine's process still writes it; ``killed``: that process is gone; ``unknown``: one of these two.
        reason: why it stopped; empty in the other states.
    """

    state: State
    reason: str = ""

    def __str__(self) -> str:
        """A sentence, empty when all is well."""
        return _SENTENCES[self.state].format(reason=self.reason)


#: The end of a recording of which nothing is lost.
CLOSED = Ending("closed")


def ending_of(trace: Trace) -> Ending:
    """Find out how the recording of a trace ended."""
    stopped = trace.meta.get("stopped")
    if isinstance(stopped, dict):
        return Ending("stopped", str(stopped.get("reason") or "the reason is not known"))
    return CLOSED if trace.closed else Ending(_state_of_process(trace.path, trace.meta))


def _state_of_process(directory: Path, meta: dict[str, Any]) -> State:
    """Whether the process that began the trace is alive; Linux alone tells."""
    pid, program = meta.get("pid"), meta.get("program")
    started = program.get("started") if isinstance(program, dict) else None
    if sys.platform != "linux" or type(pid) is not int or pid < 1 or not os.path.exists("/proc/self/stat"):
        return "unknown"
    try:
        began = _began(pid)
        return "running" if began is not None and _writes(pid, directory, began, str(started)) else "killed"
    except (OSError, ValueError, IndexError, StopIteration):
        return "unknown"


def _began(pid: int) -> float | None:
    """When a process began, in seconds since the epoch; None when there is none, or one that has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    if fields[0] in "ZX":
        return None
    lines = Path("/proc/stat").read_text(encoding="ascii").splitlines()
    boot = next(int(line.split()[1]) for line in lines if line.startswith("btime "))
    return boot + int(fields[19]) / os.sysconf("SC_CLK_TCK")


def _writes(pid: int, directory: Path, began: float, started: str) -> bool:
    """True when the process has the trace's records open, or, if nobody may look, is older than the trace."""
    try:
        held = {os.path.realpath(f"/proc/{pid}/fd/{number}") for number in os.listdir(f"/proc/{pid}/fd")}
    except PermissionError:
        return began <= datetime.fromisoformat(started).timestamp() + _SECONDS_OF_DOUBT
    return os.path.realpath(directory / RECORDS_FILE) in held
