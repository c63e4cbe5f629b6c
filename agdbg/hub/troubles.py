"""What a person must know of a recording beside what is in it: that it has stopped, and what of it is damaged."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from agdbg.record.format import META_FILE
from agdbg.record.metafile import read_meta

if TYPE_CHECKING:
    from agdbg.protocol.vendor import Trouble

_Look = tuple[int, int, int]


class StoppedWatch:
    """Whether the recording of a program that runs has stopped; ``meta.json`` is read only when it is another one.

    Args:
        directory: of the trace, which may not be there yet.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._seen: _Look | None = None
        self._found: list[Trouble] = []

    def look(self) -> "list[Trouble]":
        """What is known now."""
        try:
            status = os.stat(self._directory / META_FILE)
        except OSError:  # there is none yet
            return self._found
        seen = status.st_mtime_ns, status.st_ino, status.st_size
        if seen != self._seen:
            self._seen, self._found = seen, stopped(read_meta(self._directory)[0], self._directory)
        return self._found


def stopped(meta: dict[str, object], directory: Path) -> "list[Trouble]":
    """That recording has stopped before its program, why, and where what was recorded is; nothing when it has not."""
    told = meta.get("stopped")
    if not isinstance(told, dict):
        return []
    reason = str(told.get("reason") or "the reason is not known")
    return [{"kind": "stopped", "text": f"recording stopped: {reason}; what came later is not in {directory}"}]


def troubles_of(directory: Path) -> "list[Trouble]":
    """All troubles of a recording that grows no more; all of it is read for that.

    Raises:
        TraceError: it is one that this version does not read.
    """
    from agdbg.record import Trace

    trace = Trace.open(directory)
    damaged: list[Trouble] = [{"kind": "damaged", "text": f"the trace is damaged: {each}"} for each in trace.problems]
    return [*stopped(trace.meta, directory), *damaged]
