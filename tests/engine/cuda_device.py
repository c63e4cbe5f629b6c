"""A real GPU in the place of the strict device: the same tests run on CuPy when ``AGDBG_TEST_DEVICE=cuda`` is set.

CuPy's devices go by the name of the strict one here, so that no test need know. What CuPy refuses it refuses by itself.
"""

import contextlib

import numpy as np

from agdbg_engine.backends import register
from agdbg_engine.cuda.backend import BACKEND

cupy = BACKEND.module  # the error says what is missing
ndarray = cupy.ndarray
refusals, copies = [], []
"""Nothing is noted here."""


class HostRead(Exception):
    """CuPy raises :class:`TypeError` where something would be read unasked."""


class Mixed(Exception):
    """Likewise."""


class Missing(Exception):
    """Likewise."""


BACKEND.kind = "strict"
BACKEND.draws = False  # the tests compare with numbers drawn by NumPy
register(BACKEND)  # "cuda" stays another name of the same


def allowed_host_reads():
    """CuPy reads when asked."""
    return contextlib.nullcontext()


PLACE = f"strict:{BACKEND.count() - 1}"
"""The last GPU: not the current one of a thread, where there are several."""


def put(array, index=0):
    """A copy of a NumPy array (or number, list) on GPU ``index``, at its place in a copy of the memory that it is a part of."""
    with BACKEND.on(index):
        return _put(array)


def _put(array):
    if not isinstance(array, np.ndarray):
        return cupy.array(array)
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    whole = owner.flags.c_contiguous and array.dtype == owner.dtype
    if owner is array or not whole or 0 in array.shape or min(array.strides, default=0) < 0:
        return cupy.array(array, order="K")
    place = (array.ctypes.data - owner.ctypes.data) // array.itemsize
    part = cupy.array(owner).reshape(-1)[place:]
    return cupy.lib.stride_tricks.as_strided(part, array.shape, array.strides)


def host(array):
    """The content of a device array."""
    assert type(array) is ndarray, type(array)
    return array.get()
