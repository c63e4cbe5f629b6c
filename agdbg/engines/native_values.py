"""Tensors as clients show them, wherever they are: of one on a device only what the device found and a few elements are fetched."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from agdbg.agent import tensors
from agdbg.agent.values import Value, name_of, preview, summary_text, told_norm, value_of
from agdbg.engines.native_summary import device_of
from agdbg_engine.device import array_module
from agdbg_engine.several import at_home
from agdbg_engine.summaries import Found

_EDGE, _WHOLE = 2, 8
"""So many elements at both ends of a dimension are shown of an array of more than so many: see :func:`preview`."""


@at_home
def described(array: Any) -> Value:
    """As :func:`value_of`, of a buffer on any device."""
    backend = device_of(array)
    if backend is None or array.size <= 1 or array.dtype.kind not in "fiu" or (found := backend.summary(array)) is None:
        return value_of(on_host(array))
    bad = 0 if array.dtype.kind != "f" else found.nans + found.infs
    low, high, mean, norm = _statistics(found, array.size, array.dtype)
    return {
        "summary": summary_text(array, low, high, mean, norm, bad),
        "shape": list(array.shape),
        "dtype": name_of(array.dtype),
        "size": int(array.size),
        "finite": not bad,
        "norm": told_norm(norm),
    }


def _statistics(found: Found, size: int, dtype: Any) -> tuple[Any, Any, float, float]:
    """Smallest, largest, mean and norm as NumPy has them: not numbers where there is one that is none."""
    if found.nans:
        return math.nan, math.nan, math.nan, math.nan
    low, high = (each if dtype.kind == "f" else int(each) for each in (found.low, found.high))
    return low, high, found.total / size, math.inf if found.infs else found.norm


def on_host(array: Any) -> Any:
    """``array``, or a copy of what is on a device."""
    backend = device_of(array)
    return np.asarray(array) if backend is None else backend.to_host(array)


@at_home
def shown(array: Any) -> str:
    """As :func:`preview`: of an array on a device those elements are fetched that are shown, in one copy."""
    if device_of(array) is None:
        return preview(array)
    many = array.size > _WHOLE
    for axis, length in enumerate(array.shape if many else ()):
        if length > 2 * _EDGE + 1:
            ends = [*range(_EDGE + 1), *range(length - _EDGE, length)]  # one more stands for what is left out
            array = array.take(array_module(array).asarray(ends), axis)
    return preview(on_host(array), 0 if many else _WHOLE)


@at_home
def picked(array: Any, positions: Any) -> Any:
    """As :func:`agdbg.agent.tensors.picked`: of an array on a device those elements are fetched, in one copy."""
    backend = device_of(array)
    if backend is None:
        return tensors.picked(array, positions)
    xp, array = array_module(array), array if array.ndim else array.reshape(1)
    places = tuple(xp.asarray(along) for along in np.unravel_index(positions, array.shape))
    return backend.to_host(array[places])


@at_home
def measured(array: Any) -> tensors.Measured:
    """As :func:`agdbg.agent.tensors.measured`: of an array on a device what two of its kernels found is fetched."""
    backend = device_of(array)
    found = None if backend is None else backend.summary(array)
    if backend is None or found is None:
        return tensors.measured(on_host(array))
    others = {"nans": found.nans, "infs": found.infs, "first_bad": found.first_bad}
    count = array.size - found.nans - found.infs
    if not count:
        return tensors.Measured(math.nan, math.nan, math.nan, math.nan, 0.0, 0, histogram=[], **others)
    xp, norm = array_module(array), found.norm
    numbers = xp.abs(array) if array.dtype.kind == "c" else array
    if found.infs:  # which count in the range and the sum
        found = backend.summary(xp.where(xp.isfinite(numbers), numbers, math.nan)) or found
    is_wide = tensors.is_wide(found.low, found.high)
    edges = np.linspace(found.low, found.high, tensors.BINS + 1) if is_wide else np.zeros(0)
    mean = found.total / count
    spread = backend.spread(numbers, mean, edges)
    histogram, std = spread.counts or [count], math.sqrt(spread.squares / count)
    return tensors.Measured(found.low, found.high, mean, std, norm, spread.zeros, histogram=histogram, **others)
