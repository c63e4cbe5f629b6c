"""A process beside the program that says where the trace is when the program cannot: SIGKILL, as of a machine without memory, a
crash and ``os._exit`` leave nothing of Python's that could.

It is made before the program begins, by two forks, so that it is no child that the program could wait for by mistake. It has a
session of its own, and sleeps until the program has ended.
"""

import json
import mmap
import os
import select
import shutil
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from agdbg.record.format import META_FILE
from agdbg.tell import MARK

_ERROR_STREAM = 2
#: How long a standard error that is full is waited for, in milliseconds.
_PATIENCE_MS = 1000
_SIZE, _LENGTH = 1 << 16, 4


class Sentry:
    """The program's end of it; :func:`start` makes one. It holds no file: a program may look at those that are open.

    Args:
        memory: what both share.
    """

    def __init__(self, memory: mmap.mmap) -> None:
        self._memory = memory

    def watch(self, trace: Path, shown: str, *, keep: bool) -> None:
        """The program records from now on.

        Args:
            trace: the directory of the trace.
            shown: what people are told of it.
            keep: it stays; False: it is removed when the program has ended.
        """
        told = {"trace": os.fsdecode(os.path.abspath(trace)), "shown": shown, "keep": keep}
        data = json.dumps(told).encode()
        if _LENGTH + len(data) <= _SIZE:
            self._memory[_LENGTH : _LENGTH + len(data)] = data
            self._memory[:_LENGTH] = len(data).to_bytes(
                _LENGTH, "little"
            )  # last: a program may be killed in the middle


def start() -> Sentry | None:
    """Make one for this process; None where the system has no way to wait for a process that is no child, or no room for one.

    Process 1 has none: all orphans are its children.
    """
    if not hasattr(os, "pidfd_open") or os.getpid() == 1:
        return None
    try:
        program = os.pidfd_open(os.getpid())
    except OSError:
        return None
    try:
        memory = mmap.mmap(-1, _SIZE)
        child = os.fork()
    except OSError:
        return None
    else:
        if child == 0:
            _be_one(program, memory)
        os.waitpid(child, 0)
        return Sentry(memory)
    finally:
        os.close(program)


def _be_one(program: int, memory: mmap.mmap) -> NoReturn:
    """In the child: leave a grandchild behind."""
    try:
        os.setsid()
        if os.fork() == 0:
            _close_all_but(_ERROR_STREAM, program)
            _wait(program)
            _speak(memory[_LENGTH : _LENGTH + int.from_bytes(memory[:_LENGTH], "little")])
    finally:  # nothing of the program's is run or flushed, whatever happens
        os._exit(0)


def _close_all_but(*kept: int) -> None:
    """Whoever reads what the program writes learns when it closes that."""
    for fd in map(int, os.listdir("/proc/self/fd")):
        if fd not in kept:
            with suppress(OSError):
                os.close(fd)


def _wait(program: int) -> None:
    poll = select.poll()
    poll.register(program, select.POLLIN)
    poll.poll()


def _speak(told: bytes) -> None:
    """The program has ended; ``told`` is empty if it has not recorded."""
    if not told:
        return
    found = json.loads(told)
    trace = Path(found["trace"])
    if not found["keep"]:  # gone already, unless the program was killed before it came to that
        shutil.rmtree(trace, ignore_errors=True)
        return
    if not _ended_without_a_word(trace):
        return
    lines = ("the program was killed, or ended without a word to Python", f"trace: {found['shown']}")
    poll = select.poll()
    poll.register(_ERROR_STREAM, select.POLLOUT)
    if poll.poll(_PATIENCE_MS):
        os.write(_ERROR_STREAM, "".join(f"{MARK} {line}\n" for line in lines).encode(errors="surrogateescape"))


def _ended_without_a_word(trace: Path) -> bool:
    """Whether the trace was neither closed nor given up, which would have been said."""
    try:
        meta = json.loads((trace / META_FILE).read_bytes())
    except (OSError, ValueError):
        return False
    return not (meta.get("closed") or meta.get("stopped"))
