"""What happens to open recorders around a fork and at exit: they are flushed, and a child has none."""

import atexit
import os
from typing import Protocol


class Flushed(Protocol):
    """What this file wants of a recorder."""

    def flush(self) -> None:
        """Write what is pending."""

    def before_fork(self) -> None:
        """Flush, and keep other threads from writing until the fork is done."""

    def after_fork_in_parent(self) -> None:
        """Let other threads write again."""

    def after_fork_in_child(self) -> None:
        """Stop for good: the files are the parent's."""


#: Every recorder that still writes.
live: set[Flushed] = set()
_forking: list[Flushed] = []


def _before_fork() -> None:
    for recorder in list(live):
        _forking.append(recorder)
        recorder.before_fork()


def _after_fork_in_parent() -> None:
    while _forking:
        _forking.pop().after_fork_in_parent()


def _after_fork_in_child() -> None:
    while _forking:
        _forking.pop().after_fork_in_child()


@atexit.register
def _flush_all() -> None:
    for recorder in list(live):
        recorder.flush()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
