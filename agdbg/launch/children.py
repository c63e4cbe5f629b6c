"""Which processes of Python a program starts anew, by ``subprocess`` or by ``multiprocessing`` with spawn: agdbg is not in them."""

import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

#: Code that is agdbg's own, or that of a helper of ``multiprocessing`` which runs nothing of the program.
_NOT_THE_PROGRAMS = re.compile(
    r"\b(import|from) agdbg\b|multiprocessing\.(resource|semaphore)_tracker|[/\\]agdbg[/\\]hub[/\\]"
)
_PYTHON = re.compile(r"python[\d.]*(\.exe)?")


def observe(started: Callable[[int], object]) -> Callable[[], None]:
    """Call ``started`` with the number of each such process from now on.

    Both modules start a process by the same function of Python's own, which is replaced.

    Returns:
        A function that ends this.
    """
    try:
        import _posixsubprocess as posix  # another system has none
    except ImportError:
        return lambda: None
    real: Any = posix.fork_exec

    def fork_exec(args: Any, *others: Any) -> int:
        pid: int = real(args, *others)
        with suppress(Exception):  # whatever the arguments are, the process has begun
            if _is_python(args):
                started(pid)
        return pid

    def put(old: Any, new: Any) -> None:
        if posix.fork_exec is old:
            posix.fork_exec = new
        users = sys.modules.get("subprocess")
        if getattr(users, "_fork_exec", None) is old:
            users._fork_exec = new  # type: ignore[union-attr]  # where it has that, it is a module

    put(real, fork_exec)
    return lambda: put(fork_exec, real)


def _is_python(args: Any) -> bool:
    """Whether it is a Python, and not one that agdbg is in or that runs nothing of the program."""
    words = [os.fsdecode(each) for each in args]
    first = words[0] if words else ""
    if first != sys.executable and not _PYTHON.fullmatch(os.path.basename(first)):
        return False
    mine = any(_NOT_THE_PROGRAMS.search(word) for word in words[1:])
    return not mine and not any(os.path.basename(word) == "agdbg" for word in words[1:])
