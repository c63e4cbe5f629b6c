"""What the elements of an array are, in a few numbers: norm, largest, how many are not finite and where the first of them is.

The memory is gone through once, in blocks that stay in the processor's cache. Only an array with a NaN or an infinity in it is
looked at again.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from agdbg_engine.backends import Backend, backend_of, on_host
from agdbg_engine.device import array_module
from agdbg_engine.several import at_home

_BLOCK = 1 << 16
_highest, _lowest = np.maximum.reduce, np.minimum.reduce
_SQUARES = {"f": (1e-15, 1e15), "d": (1e-140, 1e140)}
"""Between these the squares of numbers of a type are neither too big for it nor lose their digits; nowhere else."""


class Summary(NamedTuple):
    """Norm and largest absolute value of the finite elements; ``first_bad`` is a flat index, -1 when all are finite."""

    norm: float
    largest: float
    nans: int
    infs: int
    first_bad: int
    elements: int


def summarised(array: Any) -> Summary | None:
    """The summary of a buffer of NumPy or of another array library; ``None`` for what cannot have a NaN."""
    if not isinstance(array, np.ndarray):
        array = np.asarray(array) if isinstance(array, np.generic | float | complex) else array
    if array.dtype.kind not in "fc":
        return None
    if not isinstance(array, np.ndarray):
        return _elsewhere(array)
    with np.errstate(all="ignore"):
        return _summarised(array)


def _summarised(array: np.ndarray[Any, Any]) -> Summary:
    if not array.size:
        return Summary(0.0, 0.0, 0, 0, -1, 0)
    held = without_repeats(array)
    times = array.size // held.size
    largest, norm = _finite(held)
    if largest < np.inf:
        return Summary(sqrt(times) * norm, largest, 0, 0, -1, array.size)
    good = np.isfinite(held)
    nans = int(np.count_nonzero(np.isnan(held)))
    bad = held.size - int(np.count_nonzero(good))
    if not bad:  # complex numbers whose absolute value is too big for a float
        return Summary(np.inf, np.inf, 0, 0, -1, array.size)
    largest, norm = _finite(held[good]) if bad < held.size else (0.0, 0.0)
    first = np.unravel_index(int(np.argmin(good)), good.shape)
    place = int(np.ravel_multi_index(first, array.shape)) if array.ndim else 0
    return Summary(sqrt(times) * norm, largest, times * nans, times * (bad - nans), place, array.size)


def without_repeats(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """``array`` with one entry along the dimensions in which it was expanded: it may show little memory as very many elements."""
    if 0 not in array.strides:
        return array
    return array[tuple(slice(0, 1) if stride == 0 else slice(None) for stride in array.strides)]


def _finite(array: np.ndarray[Any, Any]) -> tuple[float, float]:
    """The largest absolute value and the norm; NaN or infinity, and no norm, when not all are finite."""
    flat = array.ravel("K")
    blocks = range(0, flat.size, _BLOCK)
    if flat.dtype.char not in _SQUARES:
        return _carefully(flat)
    low, high = _SQUARES[flat.dtype.char]
    largest = squares = 0.0
    for start in blocks:
        block = flat[start : start + _BLOCK]
        top = max(float(_highest(block)), -float(_lowest(block)))
        if not top < np.inf:  # not finite, and NaN compares as false
            return np.nan, 0.0
        largest = max(largest, top)
        squares += float(block.dot(block)) if top <= high else np.inf
    if largest == 0 or low <= largest <= high:
        return largest, sqrt(squares)
    return _carefully(flat)


def _carefully(flat: np.ndarray[Any, Any]) -> tuple[float, float]:
    """As :func:`_finite`, for any type and numbers of any size: in blocks that are widened, and divided by the largest."""
    tops = []
    for start in range(0, flat.size, _BLOCK):
        tops.append(float(np.abs(_wide(flat[start : start + _BLOCK])).max()))
        if not tops[-1] < np.inf:
            break
    largest = max(tops)
    if not tops[-1] < np.inf:
        return np.nan, 0.0
    if largest == 0:
        return 0.0, 0.0
    squares = 0.0
    for start in range(0, flat.size, _BLOCK):
        block = _wide(flat[start : start + _BLOCK]) / largest
        squares += float(np.vdot(block, block).real)
    return largest, largest * sqrt(squares)


def _wide(block: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return block.astype(np.complex128 if block.dtype.kind == "c" else np.float64, copy=False)


def device_of(array: Any) -> Backend | None:
    """The devices that ``array`` is on one of; ``None`` for the host, and for an array library that is no device of the engine."""
    try:
        return None if on_host(array) else backend_of(array)
    except TypeError:
        return None


def asked(array: Any) -> Any:
    """What a device will have found of a floating ``array`` (see ``Backend.ask``); ``None`` where that is to be found at once."""
    backend = device_of(array)
    if backend is None or array.dtype.kind not in "fc" or not array.size:
        return None
    return backend.ask(array)


def answered(words: Sequence[Any], elements: Sequence[int]) -> list[Summary]:
    """What :func:`asked` gave for arrays of so many ``elements``, in as few copies as there are devices."""
    kinds = {backend_of(each) for each in words}
    found: dict[int, Summary] = {}
    for backend in kinds:
        places = [i for i, each in enumerate(words) if backend_of(each) is backend]
        for i, told in zip(places, backend.answers([words[i] for i in places]), strict=True):
            found[i] = Summary(*told[:5], elements[i])
    return [found[i] for i in range(len(words))]


@at_home
def _elsewhere(array: Any) -> Summary:
    """Of an array on a device: found there in one kernel if the device has kernels; only single numbers are brought to the host."""
    xp = array_module(array)
    size = int(array.size)
    if not size:
        return Summary(0.0, 0.0, 0, 0, -1, 0)
    words = asked(array)
    if words is not None:
        return answered([words], [size])[0]
    good = xp.isfinite(array)
    bad, nans = size - int(good.sum()), int(xp.isnan(array).sum())
    sizes = xp.where(good, xp.abs(array), 0).astype("float64")
    largest = float(sizes.max())
    norm = largest * sqrt(float(((sizes / largest) ** 2).sum())) if largest else 0.0
    return Summary(norm, largest, nans, bad - nans, int(good.argmin()) if bad else -1, size)
