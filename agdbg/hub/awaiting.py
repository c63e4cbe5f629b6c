"""Whether a program waits for what is typed, as far as the system tells: a thread of it reads its terminal and sleeps."""

import os
import platform
from pathlib import Path

#: By machine: the system calls that read a descriptor, and those that wait for some below a number; others are not known.
_CALLS = {"x86_64": ({0, 19}, {23, 270}), "aarch64": ({63, 65}, {72})}
_READS, _SELECTS = _CALLS.get(platform.machine(), (frozenset[int](), frozenset[int]()))
#: What a program may have opened in place of its standard input, as ``getpass`` does.
_ANY = "/dev/tty"


def awaits_input(pid: int, terminal: str) -> bool:
    """Whether a thread of a process stands in a system call that reads the terminal with this path.

    A line editor (readline) first waits in ``select`` for its input, which is known when that is its only descriptor.
    What only children of the process read is not seen.
    """
    process = Path("/proc") / str(pid)
    try:
        threads = [each.name for each in (process / "task").iterdir()]
    except OSError:
        return False
    return any(_link(process / "fd" / str(fd)) in (terminal, _ANY) for fd in map(_read_by, _calls(process, threads)))


def _calls(process: Path, threads: list[str]) -> list[list[str]]:
    """The system call in which each thread stands, and its arguments; empty for one that runs."""
    return [_text(process / "task" / thread / "syscall").split() for thread in threads]


def _read_by(call: list[str]) -> int:
    """The descriptor that a system call waits for; -1: none, or it is not known."""
    try:
        number, argument = int(call[0]), int(call[1], 16)
    except (IndexError, ValueError):  # "running"
        return -1
    if number in _READS:
        return argument
    return 0 if number in _SELECTS and argument == 1 else -1


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:  # it has just ended, or we may not look
        return ""


def _link(file: Path) -> str:
    try:
        return os.readlink(file)
    except OSError:
        return ""
