"""A child of agdbg does not outlive it, even when agdbg had no time to end it."""

import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def end_with_parent(parent: int) -> None:
    """Let the system kill this process when its parent, the process ``parent``, is gone. Linux alone can."""
    if sys.platform != "linux":
        return
    try:
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    except (ImportError, OSError, AttributeError):
        return
    if os.getppid() != parent:  # it was gone before
        os._exit(1)
