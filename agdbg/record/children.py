"""Processes that a recorded program has started and that are not recorded: each leaves a line beside the trace."""

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

CHILDREN_FILE = "children.jsonl"
FORKED, STARTED = "forked", "started"


class Children(NamedTuple):
    """How many there were.

    Attributes:
        forked: children that used the engine.
        started: other processes of Python; what they did nobody knows.
    """

    forked: int = 0
    started: int = 0

    def __str__(self) -> str:
        """A sentence; empty where there were none."""
        used = f"{_counted(self.forked, 'forked process')} used the engine" if self.forked else ""
        others = f"{_counted(self.started, 'process')} of Python {_were(self.started)} started" if self.started else ""
        told = ", and ".join(part for part in (used, others) if part)
        return f"{told}: what {'it' if self.forked + self.started == 1 else 'they'} did is not recorded" if told else ""


def note(directory: Path, how: str, pid: int) -> None:
    """Leave a line for a process. Never raises: the directory may be gone, or the disk full."""
    line = json.dumps({"pid": pid, "how": how}) + "\n"
    with suppress(OSError):
        fd = os.open(directory / CHILDREN_FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            os.write(fd, line.encode())  # at once, so that lines of several processes do not mix
        finally:
            os.close(fd)


def children_of(directory: Path) -> Children:
    """What was noted beside a trace."""
    try:
        lines = (directory / CHILDREN_FILE).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return Children()
    return _summed(lines)


def _summed(lines: Iterable[str]) -> Children:
    seen = {line for line in lines if line.endswith("}")}
    return Children(*(sum(f'"{how}"' in line for line in seen) for how in (FORKED, STARTED)))


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 'es'}"


def _were(count: int) -> str:
    return "was" if count == 1 else "were"
