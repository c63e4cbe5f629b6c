"""Errors of the host's memory in PyTorch's words: made from those of NumPy, on their way out of the engine."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import errors
from .sites import INTERNAL

_NUMPY = os.path.dirname(np.__file__)


def ran_out(error: Exception) -> Exception | None:
    """PyTorch's error for an array that the engine asked NumPy for in vain, then what graphs hold.

    ``None`` for any other ``error``.
    """
    shape: Any = getattr(error, "shape", None)  # only NumPy's own has one
    if not isinstance(error, MemoryError) or shape is None or not _asked_by_engine(error):
        return None
    from .held import report

    wanted = math.prod(shape) * np.dtype(getattr(error, "dtype", np.uint8)).itemsize
    return errors.make(
        RuntimeError,
        errors.Details("out-of-memory"),
        f"DefaultCPUAllocator: can't allocate memory: you tried to allocate {wanted} bytes. Error code 12 (Cannot allocate memory)",
        *report("cpu"),
    )


def _asked_by_engine(error: BaseException) -> bool:
    """Whether what called NumPy is of the engine: a hook of the program may have made an array of its own."""
    asker, place = "", error.__traceback__
    while place is not None:
        file = place.tb_frame.f_code.co_filename
        asker = (
            asker if file.startswith(_NUMPY) or not os.path.isabs(file) else file
        )  # others are compiled parts of NumPy
        place = place.tb_next
    return asker in INTERNAL


def too_big(error: ValueError, shape: Sequence[int]) -> Exception | None:
    """PyTorch's error where NumPy cannot count the bytes of an array of ``shape``."""
    if "array is too big" not in str(error) and "Maximum allowed dimension exceeded" not in str(error):
        return None
    return RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)}")
