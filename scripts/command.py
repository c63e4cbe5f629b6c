"""Commands that end when this program is told to: Ctrl-C and SIGTERM end all that they have started, at once.

Without that a test run would go on for a minute: pytest waits for its workers, and each of those for its test.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

INTERRUPTED = 130
PATIENCE = 5.0
"""Seconds that a command has to end what it has started itself in a group of its own."""


def run(command: Sequence[str | Path], cwd: Path, env: Mapping[str, str] | None = None) -> int:
    """Run ``command`` and return its exit status; whatever ends the wait for it ends its group of processes too."""
    process = None
    try:
        with later() as came:  # else a Ctrl-C between the start of the process and the next line would leave it alone
            process = subprocess.Popen(command, cwd=cwd, env=env, start_new_session=True)
        for handle, number, frame in came:
            handle(number, frame)
        return process.wait()
    except BaseException:
        if process is not None:
            end(process)
        raise


@contextlib.contextmanager
def later() -> Iterator[list[tuple[Callable[..., object], int, object]]]:
    """Inside, Ctrl-C and SIGTERM do nothing but to be noted, with what handles them, in the list that is given."""
    came: list[tuple[Callable[..., object], int, object]] = []

    def note(handle: Callable[..., object], number: int, frame: object) -> None:
        came.append((handle, number, frame))

    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number, handle in handlers.items():
        if callable(handle):
            signal.signal(number, partial(note, handle))
    try:
        yield came
    finally:
        for number, handle in handlers.items():
            if callable(handle):
                signal.signal(number, handle)


def end(process: subprocess.Popen[bytes]) -> None:
    """End the group of ``process``: asked first, then without asking."""
    kill = getattr(os, "killpg", None)  # Windows has no groups
    if kill is None:
        process.kill()
        return
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            kill(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE)


@contextlib.contextmanager
def told_to_end() -> Iterator[None]:
    """Inside, SIGTERM raises :class:`SystemExit`, so that commands are ended as by Ctrl-C."""
    before = signal.signal(signal.SIGTERM, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _leave(number: int, frame: object) -> None:
    raise SystemExit(128 + number)
