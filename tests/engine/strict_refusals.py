"""What the strict device refuses, with a note of each refusal and of each copy to the host; and where its arrays lie in memory."""

import contextlib
import sys
import threading
from collections import namedtuple


class HostRead(RuntimeError):
    """A value would have been read from the device without anybody asking."""


class Mixed(TypeError):
    """A NumPy array among device arrays."""


class Missing(TypeError):
    """CuPy has no such function, parameter or dtype."""


refusals = []
"""What was refused, in order: texts. Tests clear it and look at it."""


class _Allowed(threading.local):
    depth = 0


_allowed = _Allowed()
asks = lambda frame: False
"""Whether the code of a frame may read though nothing was said: what runs tests that know of no device puts its own here."""
_OURS = "agdbg_tests_strict"
"""What the names of the modules of this device begin with."""


def asker():
    """The frame that asked: the innermost that is neither this device's nor NumPy's."""
    frame = sys._getframe(1)
    while frame.f_back is not None and (
        frame.f_globals.get("__name__", "").startswith(_OURS) or "/numpy/" in frame.f_code.co_filename
    ):
        frame = frame.f_back
    return frame


def refuse(kind, text):
    frame = asker()
    refusals.append(f"{kind.__name__}: {text} (at {frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno})")
    raise kind(text)


@contextlib.contextmanager
def allowed_host_reads():
    """Inside, values may be read: for code that asks for it (``item``, ``nonzero``, masks), where torch waits for the GPU too."""
    _allowed.depth += 1
    try:
        yield
    finally:
        _allowed.depth -= 1


copies = []
"""What was read from the device, in order: each waits for it and takes a copy to the host."""


def read(what):
    if not _allowed.depth and not asks(asker()):
        refuse(HostRead, f"{what} reads from the device")
    copies.append(what)


# ----- memory -----

Flags = namedtuple("Flags", "c_contiguous f_contiguous owndata")


class Pointer:
    """A place in the memory of an array: CuPy's ``array.data``."""

    def __init__(self, array, offset=0, device=None):
        self.array, self.offset, self.device = array, offset, device

    @property
    def ptr(self):
        """The address."""
        return self.array.ctypes.data + self.offset

    def __add__(self, offset):
        return Pointer(self.array, self.offset + offset, self.device)
