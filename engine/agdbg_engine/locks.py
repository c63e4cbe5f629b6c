"""Locks that outlive a fork of the process: that around the sum of a leaf's gradient, that around the count of a write, and
Python's own around what other threads import.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from importlib import import_module


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


def finish_imports() -> None:
    """Wait for the modules of the engine that other threads are importing.

    Much of it is imported at its first use. A child that is forked meanwhile would find a module that is half there, and the lock
    around it held by a thread that is not.
    """
    for name, module in list(sys.modules.items()):
        if name.startswith(_ENGINE) and getattr(getattr(module, "__spec__", None), "_initializing", False):
            import_module(name)


_ENGINE = f"{__package__}."

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=finish_imports)
