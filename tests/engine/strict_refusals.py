"""What the strict device refuses, with a note of each refusal and of each copy to the host; and where its arrays lie in memory."""

import contextlib
import sys
from collections import namedtuple


class HostRead(RuntimeError):
    """A value would have been read from the device without anybody asking."""


class Mixed(TypeError):
    """A NumPy array among device arrays."""


class Missing(TypeError):
    """CuPy has no such function, parameter or dtype."""


refusals = []
"""What was refused, in order: texts. Tests clear it and look at it."""

_allowed = 0
_OURS = "agdbg_tests_strict"
"""What the names of the modules of this device begin with."""


def refuse(kind, text):
    frame = sys._getframe(1)
    while frame.f_back is not None and (
        frame.f_globals.get("__name__", "").startswith(_OURS) or "numpy" in frame.f_code.co_filename
    ):
        frame = frame.f_back
    refusals.append(f"{kind.__name__}: {text} (at {frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno})")
    raise kind(text)


@contextlib.contextmanager
def allowed_host_reads():
    """Inside, values may be read: for code that asks for it (``item``, ``nonzero``, masks), where torch waits for the GPU too."""
    global _allowed
    _allowed += 1
    try:
        yield
    finally:
        _allowed -= 1


copies = []
"""What was read from the device, in order: each waits for it and takes a copy to the host."""


def read(what):
    if not _allowed:
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
