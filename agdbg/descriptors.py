"""File descriptors inside somebody else's program: it may close ours, and its next file may get the number."""

import contextlib
import os
import sys

_HIGH = 512
"""Descriptors from here on are out of the way of programs that close "all" of theirs by number."""


def identity(fd: int) -> tuple[int, int]:
    """What a descriptor stands for, whatever its number; raises :class:`OSError` for a closed one."""
    status = os.fstat(fd)
    return status.st_dev, status.st_ino


def out_of_the_way(fd: int) -> int:
    """``fd`` under a high number, if the limits of the process allow one; the low one is closed then."""
    if sys.platform == "win32":
        return fd
    import fcntl

    try:
        high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _HIGH)
    except OSError:
        return fd
    with contextlib.suppress(OSError):  # it is closed even so
        os.close(fd)
    return high
