"""Locks that outlive a fork of the process: that around the sum of a leaf's gradient and that around the count of a write."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable


def after_fork(renew: Callable[[], None]) -> None:
    """Call ``renew`` in every forked child; nothing where processes cannot fork."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=renew)


def renewed(lock: threading.RLock) -> threading.RLock:
    """``lock``, or in a forked child another one where the thread that held it is not there to release it."""
    if lock.acquire(blocking=False):
        lock.release()
        return lock
    return threading.RLock()
